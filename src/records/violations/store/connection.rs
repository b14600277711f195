//! An open database: its location, opening and its refusals, transactions and their errors.

use std::{
    fs::OpenOptions,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{
    Connection, OpenFlags, Params, Row, Transaction, TransactionBehavior, config::DbConfig,
};

use super::{
    damage::{has_traces, log_of, move_aside},
    migrations::{self, CURRENT},
};
use crate::records::{
    clickhouse::{Client, Reader},
    counts::CountsInMemory,
    lines::{FILE_MODE, Stamp, check_folder, database_failure},
    record::{Error, Obstacle},
};

/// How long to wait for another process's lock.
const BUSY: Duration = Duration::from_millis(250);
/// How long a reader, or an operator's command, waits for one.
pub(super) const READER_BUSY: Duration = Duration::from_secs(5);
/// `PRAGMA auto_vacuum`: free pages stay until they are asked for.
pub(super) const INCREMENTAL: i64 = 2;
/// The largest database that is checked whole when it is opened; that takes less than a second.
const CHECKED_SIZE: u64 = 64 << 20;
/// The prepared statements that a connection keeps.
const STATEMENTS: usize = 64;
/// The sequence numbers of a small block of records. To summarise it takes some milliseconds.
pub(super) const BLOCK: i64 = 4096;
/// The milliseconds that a follower of shared records goes back at most.
const REACH: u64 = 600_000;
/// The tables that are checked in a larger one: a start needs them.
const CHECKED_TABLES: [&str; 4] = ["editions", "edition_periods", "fetches", "held_robots"];

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
        store.shared = self.shared.clone().map(|client| Reader { client });
        Ok(store)
    }
}

impl From<&Path> for Location {
    fn from(local: &Path) -> Self {
        Self { local: local.to_owned(), shared: None }
    }
}

/// An open database. One of a fleet also asks the server that all nodes share. A question fails where the
/// database or that server cannot be read.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    pub(super) connection: Connection,
    /// What all nodes share: questions to records and counts go there.
    pub(super) shared: Option<Reader>,
    pub(super) counts: CountsInMemory,
    /// Whether it had no tables before it was opened.
    pub(super) is_new: bool,
    /// [`BLOCK`]; tests have smaller ones.
    pub(super) block: i64,
}

impl Store {
    /// Opens the database to write to it; creates a missing one.
    ///
    /// # Errors
    /// Where it cannot be written, is damaged, or belongs to another program. It stays as it is.
    pub fn open(path: &Path) -> Result<Self, Error> {
        check_folder(path)?;
        if path.exists() && !path.is_file() {
            return Err(Error::new(path, Obstacle::NoRegularFile));
        }
        save_orphaned_log(path)?;
        // Created here for its mode; SQLite takes an empty file for an empty database.
        match OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(path) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                return Err(Error::from_io(path, &error));
            }
            _ => {}
        }
        let mut store = Self::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, BUSY)?;
        // Until it is known to be whole, closing it must not write into it.
        store.keep_as_it_is();
        store.check()?;
        let is_new = store.version()? == 0;
        store.attempt(|connection| {
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
            if is_new {
                // Only a database without tables takes this.
                connection.pragma_update(None, "auto_vacuum", INCREMENTAL)?;
            }
            connection.pragma_update(None, "journal_mode", "wal")?;
            connection.pragma_update(None, "synchronous", "full")?;
            connection.pragma_update(None, "journal_size_limit", 64 << 20)
        })?;
        store.is_new = is_new;
        if store.version()? < CURRENT {
            store.attempt(migrations::migrate)?;
        }
        store.check_writable()?;
        Ok(store)
    }

    /// Opens an existing database to read it.
    pub fn open_read_only(path: &Path) -> Result<Self, Error> {
        Self::open_found(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
    }

    /// Opens an existing database to change something beside the serving process, and to wait for
    /// that process ([`Self::decide`]).
    pub fn open_existing(path: &Path) -> Result<Self, Error> {
        let mut store = Self::open_found(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        store.attempt(|connection| connection.pragma_update(None, "synchronous", "full"))?;
        Ok(store)
    }

    /// Checks a database that another connection uses, as a start does.
    pub(super) fn inspect(path: &Path) -> Result<(), Error> {
        let mut store = Self::connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY, BUSY)?;
        store.check()?;
        match store.version()? {
            0 => Err(Error::new(path, Obstacle::Truncated)),
            _ => Ok(()),
        }
    }

    pub(super) fn open_found(path: &Path, access: OpenFlags) -> Result<Self, Error> {
        match std::fs::metadata(path) {
            Ok(found) if !found.is_file() => return Err(Error::new(path, Obstacle::NoRegularFile)),
            Ok(found) if found.len() > 0 => {}
            // A first start would find the same, unless there was a database once.
            _ if Stamp::of(&log_of(path)).length > 0 => {
                let message = "the file is gone or empty, but its -wal file is not".to_owned();
                return Err(Error::new(path, Obstacle::Corrupt(message)));
            }
            Ok(_) => return Err(Error::new(path, Obstacle::NoFile)),
            Err(error) => return Err(Error::from_io(path, &error)),
        }
        let store = Self::connect(path, access, READER_BUSY)?;
        match store.version()? {
            0 => Err(Error::new(path, Obstacle::Empty)),
            older if older < CURRENT => Err(Error::new(path, Obstacle::Older)),
            _ => Ok(store),
        }
    }

    pub(super) fn connect(path: &Path, access: OpenFlags, busy: Duration) -> Result<Self, Error> {
        let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)
            .map_err(|error| database_failure(path, error))?;
        Self::over(connection, path, busy)
    }

    /// An empty database in memory, in place of a file that does not exist.
    pub(super) fn in_memory(path: &Path) -> Result<Self, Error> {
        let connection =
            Connection::open_in_memory().map_err(|error| database_failure(path, error))?;
        let mut store = Self::over(connection, path, READER_BUSY)?;
        store.attempt(migrations::migrate)?;
        Ok(store)
    }

    fn over(connection: Connection, path: &Path, busy: Duration) -> Result<Self, Error> {
        connection.busy_timeout(busy).map_err(|error| database_failure(path, error))?;
        // A batch takes twenty statements. With fewer places than that, each would be parsed anew.
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        Ok(Self {
            path: path.to_owned(),
            connection,
            shared: None,
            counts: CountsInMemory::default(),
            is_new: false,
            block: BLOCK,
        })
    }

    fn version(&self) -> Result<u32, Error> {
        match migrations::version(&self.connection).map_err(|error| self.failure(error))? {
            Some(newer) if newer > CURRENT => Err(Error::new(&self.path, Obstacle::Newer(newer))),
            Some(version) => Ok(version),
            None => Err(Error::new(&self.path, Obstacle::Foreign)),
        }
    }

    /// The sequence number from which a follower goes on that is too far behind: so many numbers before
    /// the latest one, or some minutes where numbers are times.
    pub fn reach_back(&self, latest: u64, numbers: u64) -> u64 {
        let back = if self.shared.is_some() { Reader::numbers_of(REACH) } else { numbers };
        latest.saturating_sub(back)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Leaves the write-ahead log as it is when the database is closed.
    pub(super) fn keep_as_it_is(&self) {
        let option = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
        // Every SQLite of the last ten years knows this option.
        let _ = self.connection.set_db_config(option, true);
    }

    /// Fails if the database belongs to another program or is damaged.
    fn check(&mut self) -> Result<(), Error> {
        let version = match self.version() {
            Err(Error { obstacle: Obstacle::NoDatabase, .. }) if has_traces(&self.path) => {
                let message = "its header is lost".to_owned();
                return Err(Error::new(&self.path, Obstacle::Corrupt(message)));
            }
            version => version?,
        };
        let checks: Vec<String> = match Stamp::of(&self.path).length {
            ..=CHECKED_SIZE => vec!["PRAGMA quick_check(1)".to_owned()],
            // An older version lacks some of the tables.
            _ if version < CURRENT => Vec::new(),
            _ => CHECKED_TABLES.map(|table| format!("PRAGMA quick_check({table})")).into(),
        };
        for check in checks {
            let found: String =
                self.attempt(|connection| connection.query_row(&check, [], |row| row.get(0)))?;
            if found != "ok" {
                return Err(Error::new(&self.path, Obstacle::Corrupt(found)));
            }
        }
        Ok(())
    }

    /// Fails if the database cannot be written. SQLite silently falls back to reading, and
    /// beginning a transaction does not reveal it. A lock means that another process can write.
    fn check_writable(&mut self) -> Result<(), Error> {
        let write = format!("BEGIN IMMEDIATE; PRAGMA user_version = {CURRENT}; ROLLBACK");
        match self.attempt(|connection| connection.execute_batch(&write)) {
            Err(Error { obstacle: Obstacle::Locked, .. }) => Ok(()),
            written => written,
        }
    }

    /// Does the work on the connection, and names the database in its error.
    pub(super) fn attempt<T>(
        &mut self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<T, Error> {
        work(&mut self.connection).map_err(|error| database_failure(&self.path, error))
    }

    /// Does the work in one transaction: all of it, or none.
    pub(super) fn write<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, Error> {
        self.attempt(|connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = work(&transaction)?;
            transaction.commit()?;
            Ok(done)
        })
    }

    /// Holds the present state of the database while several statements read it; `None` within
    /// another transaction.
    pub(super) fn snapshot(&self) -> rusqlite::Result<Option<Transaction<'_>>> {
        let is_free = self.connection.is_autocommit();
        is_free.then(|| self.connection.unchecked_transaction()).transpose()
    }

    pub(super) fn all<T>(
        &self,
        sql: &str,
        bound: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, Error> {
        let found = || self.connection.prepare_cached(sql)?.query_map(bound, read)?.collect();
        let found: rusqlite::Result<_> = found();
        found.map_err(|error| self.failure(error))
    }

    pub(super) fn failure(&self, error: rusqlite::Error) -> Error {
        database_failure(&self.path, error)
    }
}

/// Saves the write-ahead log of a database that is gone, because SQLite deletes it when a new
/// database is created there. Fails where the database is still there, and was emptied.
fn save_orphaned_log(path: &Path) -> Result<(), Error> {
    let (database, log) = (Stamp::of(path), Stamp::of(&log_of(path)));
    if database.length > 0 || log.length == 0 {
        return Ok(());
    }
    if database.identity.is_some() {
        let message = "the file is empty, but its -wal file is not".to_owned();
        return Err(Error::new(path, Obstacle::Corrupt(message)));
    }
    let aside = log_of(&move_aside(path, "left", &["-wal"])?);
    tracing::warn!(
        code = "store.log_left", log = %aside.display(),
        "the write-ahead log of a database that is gone was moved aside"
    );
    Ok(())
}
