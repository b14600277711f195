//! Rules for files that the program writes while it serves: their mode, their folder, and the file
//! behind a path.

use std::{fs, os::unix::fs::MetadataExt, path::Path, time::SystemTime};

use crate::records::record::{Error, Obstacle};

/// The mode of new files. They contain addresses of people, so others may not read them.
pub const FILE_MODE: u32 = 0o640;

/// The device and inode of the file behind a path at present.
pub fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

/// One state of the file behind a path. A missing file has the length 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// The device and inode; `None` without a file.
    pub identity: Option<(u64, u64)>,
    /// The length in bytes.
    pub length: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    /// The present state.
    pub fn of(path: &Path) -> Self {
        let Ok(found) = fs::metadata(path) else { return Self::default() };
        let modified = found.modified().ok();
        Self { identity: Some((found.dev(), found.ino())), length: found.len(), modified }
    }
}

/// The folder of a file; `.` for a name alone.
pub fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or_else(|| Path::new("."))
}

/// Checks that the folder of a file exists; the path may be a typing error.
pub fn check_folder(path: &Path) -> Result<(), Error> {
    if !folder_of(path).is_dir() {
        return Err(Error::new(path, Obstacle::NoFolder));
    }
    Ok(())
}
