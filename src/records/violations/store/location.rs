//! The location of a database: a file of this machine, and a server that many nodes share.

use std::path::{Path, PathBuf};

use super::connection::Store;
use crate::records::{
    clickhouse::{Client, Reader},
    record::{Error, Obstacle},
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
    /// Whether a server has the records, and this machine no file of its own: it never served.
    pub fn is_elsewhere(&self) -> bool {
        self.shared.is_some() && !self.local.try_exists().unwrap_or(true)
    }

    /// Opens the database to read it. A machine that never served can ask the server for what others
    /// did.
    ///
    /// # Errors
    /// See [`Store::open_read_only`]. A server that is away fails at the first question.
    pub fn open(&self) -> Result<Store, Error> {
        let mut store = match Store::open_read_only(&self.local) {
            Err(Error { obstacle: Obstacle::NoFile, .. }) if self.is_elsewhere() => {
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
