//! The name of an edition: a part of the hash of its bytes.

use std::fmt;

use sha2::{Digest, Sha256};

/// The name of an edition: the first 64 bits of the SHA-256 of its bytes, written as 16 hexadecimal
/// digits. The same bytes have the same name, wherever and whenever they are published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EditionId(u64);

impl EditionId {
    /// The name of the edition that consists of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self::of_digest(&Sha256::digest(bytes))
    }

    pub(super) fn of_digest(digest: &[u8]) -> Self {
        Self(digest.iter().take(8).fold(0, |id, &octet| id << 8 | u64::from(octet)))
    }

    /// Reads the written form: 16 hexadecimal digits and nothing else.
    pub fn parse(text: &str) -> Option<Self> {
        let is_written = text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit());
        u64::from_str_radix(text, 16).ok().filter(|_| is_written).map(Self)
    }
}

impl fmt::Display for EditionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
