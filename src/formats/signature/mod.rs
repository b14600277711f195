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
//! May use: `text`, `base64`, `ring`, `sfv`, `url`. Must not know: crawlers, the network, clocks.

mod agent; // Signature-Agent: the URL of the signer's keys
mod directory; // a key directory that its keys sign -> these keys
mod fields; // the parts of a request; field lines -> field value -> dictionary (RFC 9651)
mod key_set; // a JWK Set -> keys, by thumbprint
mod reason; // why a signature, a URL or a directory is not accepted
mod signature_base; // the covered parts of a request, and the octets that are signed (RFC 9421 §2.5)
mod signatures; // Signature-Input and Signature -> signatures
mod verification; // the octets, the value, the key -> verified, invalid or unverified

pub use agent::AgentUrl;
pub use directory::{DirectoryResponse, proven_keys};
pub use fields::{Fields, Message, Scheme};
pub use key_set::KeySet;
pub use reason::Reason;
pub use signatures::{Signature, Signatures, read};
pub use verification::{Limits, Verification, signature_base, verify};

#[cfg(test)]
mod tests;
