//! A policy as bytes, with its signature.

use std::fmt;

use super::key::Signature;

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
