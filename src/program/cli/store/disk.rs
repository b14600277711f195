//! The free space of a disk.

use std::path::Path;

use super::size;
use crate::{base::escape, program::console::Error, records::lines::folder_of};

/// Refuses where the disk of a file has fewer free bytes than `needs`. A file system that does not
/// tell its free space refuses nothing here.
pub(super) fn need(file: &Path, needs: u64) -> Result<(), Error> {
    let Ok(found) = rustix::fs::statvfs(folder_of(file)) else {
        return Ok(());
    };
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    if free >= needs {
        return Ok(());
    }
    Err(Error::Refused(format!(
        "'{}': the disk has {} free, and this needs {} (make room)",
        escape::path(file),
        size::shown(free),
        size::shown(needs)
    )))
}
