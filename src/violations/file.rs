//! Rules for the files of this room: their mode, their folder, and the file behind a path.

use std::{fs, os::unix::fs::MetadataExt, path::Path};

use crate::violations::{Error, Obstacle};

/// The mode of new files. Records contain addresses of people, so others may not read them.
pub(super) const FILE_MODE: u32 = 0o640;

/// The device and inode of the file behind a path at present.
pub(super) fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
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
