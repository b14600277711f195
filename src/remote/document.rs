//! A policy as bytes, with its signature.

use std::fmt;

use super::key::Signature;

/// The largest policy, in octets.
pub const MAX_BYTES: usize = 1 << 20;

/// A policy as the server sent it, with a valid signature if there is a key.
#[derive(Clone, PartialEq, Eq)]
pub struct Document {
    /// The bytes of the policy.
    pub bytes: Vec<u8>,
    pub(super) signature: Option<Signature>,
}

impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Document of {} octets", self.bytes.len())
    }
}
