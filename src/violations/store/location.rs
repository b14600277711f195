//! The location of a database: a file of this machine, and a server that many nodes share.

use std::path::{Path, PathBuf};

use super::connection::Store;
use crate::{
    clickhouse::{Client, Reader},
    record::Obstacle,
    violations::Error,
};

/// The milliseconds that a follower of shared records goes back at most.
const REACH: u64 = 600_000;

/// The location of a database.
#[derive(Clone, Debug)]
pub struct Location {
    /// The file of this machine. Without a server, it has everything.
    pub local: PathBuf,
    /// The server with the records, counts and editions of all nodes.
    pub shared: Option<Client>,
}

impl Location {
    /// Opens the database to read it. Where a server has the records, the file of this machine may be
    /// missing.
    ///
    /// # Errors
    /// See [`Store::open_read_only`]. A server that is away fails at the first question.
    pub fn open(&self) -> Result<Store, Error> {
        let mut store = match Store::open_read_only(&self.local) {
            // A machine that never served can ask for what others did.
            Err(Error { obstacle: Obstacle::NoFile, .. }) if self.shared.is_some() => {
                Store::in_memory(&self.local)?
            }
            found => found?,
        };
        store.shared = self.shared.clone().map(Reader::new);
        Ok(store)
    }
}

impl From<&Path> for Location {
    fn from(local: &Path) -> Self {
        Self { local: local.to_owned(), shared: None }
    }
}

impl Store {
    /// The sequence number from which a follower goes on that is too far behind: so many numbers before
    /// the latest one, or some minutes where numbers are times.
    pub fn reach_back(&self, latest: u64, numbers: u64) -> u64 {
        let back = if self.shared.is_some() { Reader::numbers_of(REACH) } else { numbers };
        latest.saturating_sub(back)
    }
}
