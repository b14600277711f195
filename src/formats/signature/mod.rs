//! HTTP message signatures (RFC 9421) that identify crawlers: Web Bot Auth,
//! draft-ietf-webbotauth-httpsig-protocol-01, and its older forms that crawlers still send.
//!
//! [`read`] finds the signatures of a request. The caller fetches the signer's keys from the URL in
//! the signature ([`AgentUrl::directory_url`]) and reads them ([`KeySet::read`]). [`verify`] checks
//! the signature with them. This room does not fetch and has no clock.
//!
//! A verified signature proves that the owner of a key sent this request now or earlier. Until the
//! signature expires, anyone who sees it can send it again. It is not a credential.
//!
//! ```text
//! fields        the parts of a request; field lines -> field value -> dictionary (RFC 9651)
//! agent         Signature-Agent: the URL of the signer's keys
//! signatures    Signature-Input and Signature -> signatures
//! base          one covered part of a request, and the octets that are signed (RFC 9421 §2.5)
//! keys          a JWK Set -> keys, by thumbprint
//! verification  the octets, the value, the key -> verified, invalid or unverified
//! directory     a key directory that its keys sign -> these keys
//! reason        the reasons for the last two of a verification, and for a refused directory
//! ```
//!
//! May use: `text`, `base64`, `ring`, `sfv`, `url`. Must not know: crawlers, the network, clocks.

mod agent;
mod directory;
mod fields;
mod key_set;
mod reason;
mod signature_base;
mod signatures;
mod verification;

pub use self::fields::{Fields, Message, Scheme};
pub use agent::AgentUrl;
pub use directory::{DirectoryResponse, proven_keys};
pub use key_set::KeySet;
pub use reason::Reason;
pub use signatures::{Signature, Signatures, read};
pub use verification::{Limits, Verification, signature_base, verify};

#[cfg(test)]
mod tests;
