//! The files of an open database, watched for changes that SQLite does not notice.
//!
//! SQLite goes on writing to a file that was moved or deleted. It takes the missing part of a
//! truncated write-ahead log for pages of zeros, and may copy them into the database.

use std::path::Path;

use derive_more::Display;

use super::{
    connection::Store,
    damage::{log_of, move_aside},
    values,
};
use crate::records::{
    lines::Stamp,
    record::{Error, Obstacle},
};

/// The bytes of a write-ahead log before its first page, and before each page.
const LOG_HEADER: u64 = 32;
const PAGE_HEADER: u64 = 24;
/// How often a loss is looked for before it counts as one.
const CHECKS: usize = 3;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Files {
    database: Stamp,
    pub(super) log: Stamp,
}

impl Files {
    pub(super) fn of(path: &Path) -> Self {
        Self { database: Stamp::of(path), log: Stamp::of(&log_of(path)) }
    }

    /// Whether the path leads to the same database file `now`. No file is not the same.
    pub(super) fn is_same_database(&self, now: &Self) -> bool {
        self.database.identity.is_some() && self.database.identity == now.database.identity
    }

    /// Takes what a write of ours did to the files. Where the path leads elsewhere by now, or the
    /// database is shorter, what was known of them stays: the next look has to find out.
    pub(super) fn follow(&mut self, path: &Path) {
        let now = Self::of(path);
        if self.is_same_database(&now) && now.database.length >= self.database.length {
            *self = now;
        }
    }

    /// Whether there was a database, and the path leads to none or to another one `now`.
    pub(super) fn is_other_database(&self, now: &Self) -> bool {
        self.database.identity.is_some() && !self.is_same_database(now)
    }

    pub(super) fn is_written(&self, now: &Self) -> bool {
        self.database != now.database
    }

    /// Whether a file is shorter `now`. SQLite itself shortens both: a `VACUUM` the database, a
    /// checkpoint the log.
    fn has_shrunk(&self, now: &Self) -> bool {
        now.database.length < self.database.length || now.log.length < self.log.length
    }

    /// Whether the log is another file `now`. Nothing that uses the database replaces it.
    fn has_other_log(&self, now: &Self) -> bool {
        self.log.identity.is_some() && self.log.identity != now.log.identity
    }
}

impl Store {
    /// Fails if the files were truncated since `before`, as far as their lengths show. A log that
    /// was cut is moved aside if the database has all of it: SQLite would take the older pages in
    /// it for the newest.
    pub(super) fn check_lengths(&mut self, before: &Files, now: &Files) -> Result<(), Error> {
        if !before.has_shrunk(now) && !before.has_other_log(now) {
            return Ok(());
        }
        // Another process may write or empty the log in between; what is cut stays cut.
        for _ in 0..CHECKS {
            if self.loss(before)?.is_none() {
                return Ok(());
            }
        }
        if self.loss(before)? == Some(Loss::OfCopiedLog) {
            move_aside(self.path(), "cut", &["-wal"])?;
        }
        Err(Error::new(self.path(), Obstacle::Truncated))
    }

    fn loss(&mut self, before: &Files) -> Result<Option<Loss>, Error> {
        let Ok(checkpoint) = self.checkpoint(Checkpoint::Passive) else {
            return Ok(Some(Loss::Other)); // it could not read the log
        };
        let page: u64 = self.number("PRAGMA page_size")?;
        let pages: u64 = self.number("PRAGMA page_count")?;
        let log = match checkpoint.pages_in_log {
            0 => 0,
            logged => LOG_HEADER + logged * (PAGE_HEADER + page),
        };
        let now = Files::of(self.path());
        let is_log_cut = now.log.length < log || before.has_other_log(&now);
        let is_cut = checkpoint.is_complete() && now.database.length < pages * page;
        Ok(match () {
            () if is_log_cut && checkpoint.is_complete() => Some(Loss::OfCopiedLog),
            () if is_log_cut || is_cut => Some(Loss::Other),
            () => None,
        })
    }

    pub(super) fn checkpoint(&mut self, kind: Checkpoint) -> Result<Copied, Error> {
        let sql = format!("PRAGMA wal_checkpoint({kind})");
        self.attempt(|connection| {
            connection.query_row(&sql, [], |row| {
                let count = |column| row.get(column).map(|pages: i64| pages.max(0).unsigned_abs());
                Ok(Copied { pages_in_log: count(1)?, pages_copied: count(2)? })
            })
        })
    }

    pub(super) fn number(&mut self, sql: &str) -> Result<u64, Error> {
        self.attempt(|connection| {
            connection.prepare_cached(sql)?.query_row([], |row| values::count(row, 0))
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loss {
    OfCopiedLog,
    Other,
}

#[derive(Clone, Copy, Debug, Display)]
pub(super) enum Checkpoint {
    /// Copies what no reader needs, without waiting.
    #[display("PASSIVE")]
    Passive,
    /// Waits for readers, copies everything and empties the log.
    #[display("TRUNCATE")]
    Truncate,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Copied {
    pages_in_log: u64,
    pages_copied: u64,
}

impl Copied {
    pub(super) fn is_complete(self) -> bool {
        self.pages_copied >= self.pages_in_log
    }
}
