//! Opening a database: what is refused, and how an older one, or an empty file, is brought up to date.

use std::{fs::OpenOptions, os::unix::fs::OpenOptionsExt, path::Path, time::Duration};

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::{Store, from_sqlite};
use crate::violations::{
    Error, Obstacle,
    log::{FILE_MODE, check_folder},
};

/// "BEAD": tells our databases from those of other programs.
const APPLICATION_ID: i64 = 0x4245_4144;
/// What makes a database of version n - 1 one of version n (`PRAGMA user_version`).
const MIGRATIONS: [&str; 3] = [
    include_str!("schema.sql"),
    "ALTER TABLE violations ADD COLUMN evidence TEXT",
    include_str!("editions.sql"),
];
/// How long to wait for another process's lock.
const BUSY: Duration = Duration::from_millis(250);
/// How long a reader, or an operator's command, may wait for one.
pub(super) const READER_BUSY: Duration = Duration::from_secs(5);
/// Up to this size a database is checked whole when it is opened; that takes less than a second.
const CHECKED_SIZE: u64 = 64 << 20;

impl Store {
    /// Opens the database to write to it, created where there is none.
    ///
    /// # Errors
    /// Where it cannot be written, is damaged, or is not ours: it is left as it is.
    pub fn open(path: &Path) -> Result<Self, Error> {
        check_folder(path)?;
        if path.exists() && !path.is_file() {
            return Err(Error::new(path, Obstacle::NoRegularFile));
        }
        // Created here for its mode; SQLite takes an empty file for an empty database.
        match OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(path) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                return Err(Error::from_io(path, &error));
            }
            _ => {}
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut store = Self::connect(path, flags, BUSY)?;
        store.check()?;
        store.attempt(|connection| {
            connection.pragma_update(None, "journal_mode", "wal")?;
            connection.pragma_update(None, "synchronous", "full")?;
            connection.pragma_update(None, "journal_size_limit", 64 << 20)
        })?;
        store.migrate()?;
        store.check_writable()?;
        Ok(store)
    }

    /// Opens an existing database to ask it.
    ///
    /// # Errors
    /// Where it does not exist, cannot be read, is not ours, or was not yet brought up to date.
    pub fn open_read_only(path: &Path) -> Result<Self, Error> {
        Self::open_found(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
    }

    /// Opens an existing database to change something in it beside the process that serves, for
    /// which it may wait ([`Self::accept`]).
    ///
    /// # Errors
    /// Where it does not exist, cannot be read, is not ours, or was not yet brought up to date.
    pub fn open_existing(path: &Path) -> Result<Self, Error> {
        let mut store = Self::open_found(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        store.attempt(|connection| connection.pragma_update(None, "synchronous", "full"))?;
        Ok(store)
    }

    fn open_found(path: &Path, access: OpenFlags) -> Result<Self, Error> {
        match std::fs::metadata(path) {
            Ok(found) if !found.is_file() => return Err(Error::new(path, Obstacle::NoRegularFile)),
            Ok(found) if found.len() == 0 => return Err(Error::new(path, Obstacle::NoFile)),
            Ok(_) => {}
            Err(error) => return Err(Error::from_io(path, &error)),
        }
        let store = Self::connect(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX, READER_BUSY)?;
        match store.version()? {
            0 => Err(Error::new(path, Obstacle::Foreign)),
            older if older < MIGRATIONS.len() => Err(Error::new(path, Obstacle::Older)),
            _ => Ok(store),
        }
    }

    fn connect(path: &Path, flags: OpenFlags, busy: Duration) -> Result<Self, Error> {
        let failed = |error| from_sqlite(path, error);
        let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
        connection.busy_timeout(busy).map_err(failed)?;
        Ok(Self { path: path.to_owned(), connection })
    }

    fn version(&self) -> Result<usize, Error> {
        let failed = |error| from_sqlite(&self.path, error);
        let number = |sql| self.connection.query_row(sql, [], |row| row.get::<_, i64>(0));
        let version = number("PRAGMA user_version").map_err(failed)?;
        let application = number("PRAGMA application_id").map_err(failed)?;
        let tables = number("SELECT count(*) FROM sqlite_schema").map_err(failed)?;
        let is_ours = application == APPLICATION_ID || (tables == 0 && version == 0);
        match u32::try_from(version) {
            Ok(version) if is_ours && version as usize > MIGRATIONS.len() => {
                Err(Error::new(&self.path, Obstacle::Newer(version)))
            }
            Ok(version) if is_ours => Ok(version as usize),
            _ => Err(Error::new(&self.path, Obstacle::Foreign)),
        }
    }

    /// Fails where the database is not ours, or damaged.
    fn check(&mut self) -> Result<(), Error> {
        self.version()?;
        let size = std::fs::metadata(&self.path).map_or(0, |found| found.len());
        if size > CHECKED_SIZE {
            return Ok(());
        }
        let found: String = self.attempt(|connection| {
            connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
        })?;
        match found.as_str() {
            "ok" => Ok(()),
            _ => Err(Error::new(&self.path, Obstacle::Corrupt(found))),
        }
    }

    fn migrate(&mut self) -> Result<(), Error> {
        if self.version()? == MIGRATIONS.len() {
            return Ok(());
        }
        self.attempt(|connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Exclusive)?;
            // Another process may have been faster.
            let version: usize = transaction
                .query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0))
                .map(|version| version.unsigned_abs() as usize)?;
            for migration in MIGRATIONS.iter().skip(version) {
                transaction.execute_batch(migration)?;
            }
            transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
            transaction.pragma_update(None, "user_version", MIGRATIONS.len() as i64)?;
            transaction.commit()
        })
    }

    /// Fails where nothing can be written: SQLite falls back to reading without a word, and to
    /// begin a transaction is not enough to notice. A lock means that somebody can write.
    fn check_writable(&mut self) -> Result<(), Error> {
        let write =
            format!("BEGIN IMMEDIATE; PRAGMA user_version = {}; ROLLBACK", MIGRATIONS.len());
        match self.attempt(|connection| connection.execute_batch(&write)) {
            Err(Error { obstacle: Obstacle::Locked, .. }) => Ok(()),
            written => written,
        }
    }
}
