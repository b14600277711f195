//! What stops a file that SQLite reads and writes.

use std::path::Path;

use rusqlite::{ErrorCode, ffi};

use super::file::folder_of;
use crate::records::record::{Error, Obstacle};

const NOT_WRITTEN: [i32; 3] =
    [ffi::SQLITE_IOERR_WRITE, ffi::SQLITE_IOERR_FSYNC, ffi::SQLITE_IOERR_TRUNCATE];

pub(crate) fn database_failure(path: &Path, error: rusqlite::Error) -> Error {
    let code = error.sqlite_error().map(|error| error.extended_code);
    let obstacle = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Obstacle::Locked,
        Some(ErrorCode::DiskFull) => Obstacle::Full,
        // The index of the write-ahead log gets its room before it is used.
        _ if code == Some(ffi::SQLITE_IOERR_SHMSIZE) => Obstacle::Full,
        Some(ErrorCode::NotADatabase) => Obstacle::NoDatabase,
        Some(ErrorCode::DatabaseCorrupt) => Obstacle::Corrupt(error.to_string()),
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            match is_mounted_read_only(path) {
                true => Obstacle::ReadOnly,
                false => Obstacle::Denied,
            }
        }
        // SQLite hides the reason of the system: a quota, a limit of file sizes, a failing disk.
        _ if code.is_some_and(|code| NOT_WRITTEN.contains(&code)) => {
            Obstacle::NotWritten(error.to_string())
        }
        _ => Obstacle::Failed(error.to_string()),
    };
    Error::new(path, obstacle)
}

fn is_mounted_read_only(path: &Path) -> bool {
    let found = rustix::fs::statvfs(folder_of(path));
    found.is_ok_and(|found| found.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY))
}
