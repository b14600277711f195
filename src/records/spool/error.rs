//! Failures of the folder.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use crate::base::escape;

/// A folder or a file of it that cannot be used.
#[derive(Debug)]
pub struct Error {
    /// The folder or the file.
    pub path: PathBuf,
    /// The reason.
    pub fault: Fault,
}

/// The reason why a folder cannot be used.
#[derive(Debug)]
pub enum Fault {
    /// Occurs when the segments have reached the limit; has the limit in bytes.
    Full(u64),
    /// Occurs when another process uses the folder.
    InUse,
    /// Occurs when the system fails.
    System(io::Error),
}

impl Error {
    pub(super) fn system(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        |error| Self { path, fault: Fault::System(error) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = escape::path(&self.path);
        match &self.fault {
            Fault::Full(limit) => write!(f, "'{path}' has reached its limit of {limit} bytes"),
            Fault::InUse => write!(f, "another process uses '{path}' (end that process)"),
            Fault::System(error) => write!(f, "'{path}': {error}"),
        }
    }
}

impl std::error::Error for Error {}
