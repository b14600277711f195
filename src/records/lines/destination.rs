//! Where lines go.

use std::path::PathBuf;

/// The target of lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogTarget {
    /// A file, appended to.
    File(PathBuf),
    /// Standard output.
    Stdout,
}
