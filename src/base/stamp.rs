//! The identity of one version of a file, to notice a change without reading it.
//!
//! Checking stamps several times a second costs less than file system events, and works across links,
//! mounts and replaced folders.

use std::{os::unix::fs::MetadataExt, path::Path, time::SystemTime};

/// The identity of one version of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    inode: u64,
    length: u64,
    modified: SystemTime,
}

impl Stamp {
    /// `None` if there is no file.
    pub fn of(file: &Path) -> Option<Self> {
        let metadata = std::fs::metadata(file).ok()?;
        let modified = metadata.modified().ok()?;
        Some(Self { inode: metadata.ino(), length: metadata.len(), modified })
    }
}
