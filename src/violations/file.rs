//! Rules for the files of this room: their mode, their folder, and the file behind a path.

use std::{fs, os::unix::fs::MetadataExt, path::Path, time::SystemTime};

use crate::violations::{Error, Obstacle};

/// The mode of new files. Records contain addresses of people, so others may not read them.
pub(super) const FILE_MODE: u32 = 0o640;

/// The device and inode of the file behind a path at present.
pub(super) fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

/// One state of the file behind a path. A missing file has the length 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stamp {
    /// The device and inode; `None` without a file.
    pub(super) identity: Option<(u64, u64)>,
    pub(super) length: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    pub(super) fn of(path: &Path) -> Self {
        let Ok(found) = fs::metadata(path) else { return Self::default() };
        let modified = found.modified().ok();
        Self { identity: Some((found.dev(), found.ino())), length: found.len(), modified }
    }
}

/// Fails where the folder of a file does not exist; the path may be a typing error.
pub(super) fn check_folder(path: &Path) -> Result<(), Error> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
            Err(Error::new(path, Obstacle::NoFolder))
        }
        _ => Ok(()),
    }
}
