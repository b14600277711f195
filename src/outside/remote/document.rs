//! A policy as bytes, its signature, and the operator's key that verifies it (Ed25519, RFC 8032).

use std::fmt;

use base64::{Engine, engine::general_purpose::STANDARD};
use ring::signature::{ED25519, UnparsedPublicKey};

const KEY: usize = 32;
const SIGNATURE: usize = 64;
/// What stands before an Ed25519 key in a SubjectPublicKeyInfo (RFC 8410 §4).
const ALGORITHM: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0];
/// The first and the last line of a public key as PEM (RFC 7468 §13).
const PEM: [&str; 2] = ["-----BEGIN PUBLIC KEY-----", "-----END PUBLIC KEY-----"];

/// The largest policy, in octets.
pub const MAX_BYTES: usize = 32 << 20;

/// A policy as the server sent it, with a valid signature if there is a key.
#[derive(Clone, PartialEq, Eq)]
pub struct Document {
    pub(crate) bytes: Vec<u8>,
    pub(super) signature: Option<Signature>,
}

impl Document {
    pub(crate) const fn unsigned(bytes: Vec<u8>) -> Self {
        Self { bytes, signature: None }
    }

    /// The number in the first line that begins with `# serial:`. It is a comment, so that a document is
    /// bytes here. 0 without such a line, `None` without a number in it.
    pub(super) fn serial(&self) -> Option<u64> {
        let mut lines = self.bytes.split(|&octet| octet == b'\n');
        match lines.find_map(|line| line.strip_prefix(b"# serial:")) {
            None => Some(0),
            Some(number) => std::str::from_utf8(number).ok()?.trim().parse().ok(),
        }
    }
}

impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Document of {} octets", self.bytes.len())
    }
}

/// A public key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicKey([u8; KEY]);

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Signature([u8; SIGNATURE]);

impl PublicKey {
    /// Reads a key: PEM as `openssl pkey -pubout` writes it, or its 32 octets, raw or in Base64.
    pub fn read(file: &[u8]) -> Option<Self> {
        if let Ok(raw) = file.try_into() {
            return Some(Self(raw));
        }
        let text = std::str::from_utf8(file).ok()?.trim();
        let body = text.strip_prefix(PEM[0]).map(|rest| rest.strip_suffix(PEM[1]));
        let octets = decoded(match body {
            None => text,
            Some(body) => body?,
        })?;
        let key = octets.strip_prefix(&ALGORITHM).unwrap_or(&octets);
        key.try_into().ok().map(Self)
    }

    /// Whether the signature is that of this key over the bytes.
    pub(super) fn verifies(&self, bytes: &[u8], signature: &Signature) -> bool {
        UnparsedPublicKey::new(&ED25519, self.0).verify(bytes, &signature.0).is_ok()
    }
}

impl Signature {
    /// Reads a signature: its 64 octets, raw or in Base64.
    pub(super) fn read(file: &[u8]) -> Option<Self> {
        if let Ok(raw) = file.try_into() {
            return Some(Self(raw));
        }
        decoded(std::str::from_utf8(file).ok()?)?.try_into().ok().map(Self)
    }

    pub(super) fn text(&self) -> String {
        STANDARD.encode(self.0)
    }
}

fn decoded(text: &str) -> Option<Vec<u8>> {
    let text: String = text.split_ascii_whitespace().collect();
    STANDARD.decode(text).ok()
}
