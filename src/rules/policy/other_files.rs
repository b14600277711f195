//! The files that belong to a policy.

use std::{io, path::Path};

/// Reads the bytes of a file that belongs to a policy.
pub(super) type Open<'o> = dyn FnMut(OtherFile, &Path) -> io::Result<Vec<u8>> + 'o;

/// A file that belongs to a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherFile {
    /// The catalogue.
    Catalogue,
    /// What is kept of the lists that it follows. It may be missing.
    Followed,
}
