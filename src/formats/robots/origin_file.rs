//! The robots.txt of an origin, as far as it is known (RFC 9309 §2.3.1).

use bytes::Bytes;

/// The robots.txt of an origin. Clones share the bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum OriginFile {
    /// No fetch has succeeded yet (§2.3.1.4), so no rule of the origin can be enforced.
    #[default]
    Unknown,
    /// The origin has no file (§2.3.1.3): everything is allowed.
    Absent,
    /// The file as received (§2.3.1.1).
    Present(Bytes),
}

impl OriginFile {
    /// The bytes of the file, if there is one.
    pub const fn bytes(&self) -> Option<&Bytes> {
        match self {
            Self::Present(bytes) => Some(bytes),
            Self::Unknown | Self::Absent => None,
        }
    }
}
