//! The name of an edition, a part of the hash of its bytes, and the editions that a client may know.

use std::fmt;

use jiff::Timestamp;
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
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let is_written = text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit());
        u64::from_str_radix(text, 16).ok().filter(|_| is_written).map(Self)
    }
}

impl fmt::Display for EditionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The editions that a client may know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KnownEditions {
    /// Any that was in force within the window: no fetch within it is known.
    Any,
    /// One of these: the editions that the client may have fetched last.
    Of(Vec<EditionId>),
    /// One of these, or any that was in force at some node after this time: until then, the fetches
    /// at all nodes are known.
    OrSince(Vec<EditionId>, Timestamp),
}

impl KnownEditions {
    /// Whether one of these editions is among them, the last of which was in force until `until`.
    pub(super) fn has_any(
        &self,
        mut ids: impl Iterator<Item = EditionId>,
        until: Timestamp,
    ) -> bool {
        match self {
            Self::Any => true,
            Self::Of(known) => ids.any(|id| known.contains(&id)),
            Self::OrSince(known, since) => until > *since || ids.any(|id| known.contains(&id)),
        }
    }

    /// The editions by name, and the time after which any edition counts. `start` is the start of
    /// the window.
    pub(super) fn parts(&self, start: Timestamp) -> (&[EditionId], Timestamp) {
        match self {
            Self::Any => (&[], start),
            Self::Of(known) => (known, Timestamp::MAX),
            Self::OrSince(known, since) => (known, *since),
        }
    }
}
