//! HTTP message signatures (RFC 9421) as crawlers use them to say who they are: Web Bot Auth,
//! draft-ietf-webbotauth-httpsig-protocol-01 and the older forms that are still sent.
//!
//! A request is read ([`read()`]), the keys of its signer are looked up elsewhere under the URL that
//! the signature names ([`AgentUrl::directory_url`]) and read ([`KeySet::read`]), then the signature
//! is verified ([`verify()`]). Nothing here fetches, waits or knows what time it is. A signature that
//! verifies says that the holder of a key sent this request, or sent it before: whoever sees it can
//! send it again until it expires. It is no credential.
//!
//! ```text
//! message    the parts of a request that can be signed, as they were received
//! fields     field lines -> field value -> dictionary (RFC 9651)
//! component  what a signature covers
//! agent      Signature-Agent: the URL under which the signer's keys are
//! read       Signature-Input and Signature -> signatures
//! base       the octets that are signed (RFC 9421 §2.5)
//! keys       a JWK Set -> keys, each named by its thumbprint
//! verify     the octets, the value, the key -> outcome
//! directory  the signature of a directory over itself
//! ```

mod agent;
mod base;
mod component;
mod directory;
mod fields;
mod keys;
mod message;
mod read;
mod reason;
mod verify;

pub use agent::AgentUrl;
pub use directory::{DirectoryResponse, proven_keys};
pub use keys::KeySet;
pub use message::{Fields, Message, Scheme};
pub use read::{Reading, Signature, read};
pub use reason::{Outcome, Reason};
pub use verify::{Limits, signature_base, verify};

#[cfg(test)]
mod tests;
