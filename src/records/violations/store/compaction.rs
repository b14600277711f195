//! Free pages, given back to the file system.
//!
//! A new database can give pages back in small steps, between which the program writes. One that an
//! earlier version made learns that once, when it is rebuilt; nobody else may use it then.

use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

use rusqlite::OpenFlags;

use super::{
    connection::{INCREMENTAL, READER_BUSY, Store},
    files::Checkpoint,
};
use crate::records::{
    lines::{Stamp, folder_of},
    record::Error,
};

/// The pages that are given back at once: 1 MiB.
const STEP: u64 = 256;
const LONGEST_PAUSE: Duration = Duration::from_millis(250);

/// How a database is made smaller, and the free disk space that this takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompactionPlan {
    /// In steps, while others use it; else it is rebuilt as a whole, and nobody else may use it.
    pub is_in_steps: bool,
    /// The bytes that are needed meanwhile.
    pub needs: u64,
    /// The bytes of free pages.
    pub free: u64,
}

impl Store {
    /// How the database is made smaller.
    pub fn compaction_plan(&mut self) -> Result<CompactionPlan, Error> {
        let free = self.number(
            "SELECT freelist_count * page_size \
                                FROM pragma_freelist_count, pragma_page_size",
        )?;
        let is_in_steps = self.number("PRAGMA auto_vacuum")? == INCREMENTAL.unsigned_abs();
        let log = STEP * self.number("PRAGMA page_size")? * 4;
        // A rebuilt database is written twice: to a temporary file, and to the write-ahead log.
        let whole = if is_in_steps { 0 } else { 2 * self.bytes_in_use()? };
        Ok(CompactionPlan { is_in_steps, needs: log + whole, free })
    }

    /// Gives back the pages that are free now, step by step. Waits up to five seconds while another
    /// process writes.
    ///
    /// # Errors
    /// Where the database cannot be written. The steps until then stay.
    pub fn compact(&mut self) -> Result<(), Error> {
        self.attempt(|connection| connection.busy_timeout(READER_BUSY))?;
        let mut left = self.number("PRAGMA freelist_count")?;
        while left > 0 {
            let start = Instant::now();
            let step = left.min(STEP);
            self.attempt(|connection| {
                let mut statement =
                    connection.prepare(&format!("PRAGMA incremental_vacuum({step})"))?;
                let mut rows = statement.query([])?;
                while rows.next()?.is_some() {}
                Ok(())
            })?;
            // The file becomes shorter when the log is copied into it.
            self.checkpoint(Checkpoint::Passive)?;
            left -= step;
            thread::sleep(start.elapsed().min(LONGEST_PAUSE));
        }
        self.checkpoint(Checkpoint::Truncate).map(drop)
    }

    /// Rebuilds a database that nobody else uses, without free pages; from then on it can give pages
    /// back in steps.
    ///
    /// # Errors
    /// Where another process uses the database, or it cannot be written. It then stays as it is.
    pub fn rebuild(path: &Path) -> Result<(), Error> {
        drop(Self::open_found(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?);
        let mut store = Self::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, READER_BUSY)?;
        let folder = folder_of(path).to_string_lossy().into_owned();
        store.attempt(|connection| {
            // Before anything is read: fails where another process has the database open.
            connection.pragma_update(None, "locking_mode", "exclusive")?;
            connection.execute_batch("BEGIN IMMEDIATE; ROLLBACK")?;
            connection.pragma_update(None, "synchronous", "full")?;
            // The temporary file belongs on the disk whose free space was looked at.
            connection.pragma_update(None, "temp_store_directory", folder)?;
            connection.pragma_update(None, "auto_vacuum", INCREMENTAL)?;
            connection.execute_batch("VACUUM")
        })?;
        store.checkpoint(Checkpoint::Truncate).map(drop)
    }

    /// The bytes of the file and its log.
    pub fn bytes_on_disk(&self) -> u64 {
        let log = super::damage::log_of(self.path());
        Stamp::of(self.path()).length + Stamp::of(&log).length
    }
}
