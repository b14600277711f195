//! A copy of a database in use, as of one moment.

use std::{
    fs::File,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use rusqlite::{
    Connection, ErrorCode, OpenFlags,
    backup::{Backup, StepResult},
};

use super::connection::Store;
use crate::records::{
    lines::database_failure,
    record::{Error, Obstacle},
};

/// The pages that are copied at once: 4 MiB.
const STEP: i32 = 1024;
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// A copy that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatabaseCopy {
    /// Its size.
    pub bytes: u64,
    /// The records in it.
    pub records: u64,
}

impl Store {
    /// Copies the database, with its write-ahead log, into an empty file, and checks the copy. The
    /// copy is that of the moment at which this begins. The program that writes goes on; what it
    /// writes meanwhile stays in its log.
    pub fn copy_to(&mut self, to: &Path) -> Result<DatabaseCopy, Error> {
        let records = self.attempt(|connection| {
            connection.execute_batch("BEGIN")?;
            count(connection)
        })?;
        let copied = self.copy_pages(to);
        // The end of a transaction that only read.
        let _ = self.connection.execute_batch("ROLLBACK");
        copied?;
        let bytes = finish(to, records)?;
        Ok(DatabaseCopy { bytes, records })
    }

    fn copy_pages(&self, to: &Path) -> Result<(), Error> {
        let failed = |error: rusqlite::Error| match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => self.failure(error),
            _ => database_failure(to, error),
        };
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut target = Connection::open_with_flags(to, flags).map_err(failed)?;
        // An unfinished copy is thrown away, so nothing has to be undone.
        target.pragma_update(None, "journal_mode", "off").map_err(failed)?;
        target.pragma_update(None, "synchronous", "off").map_err(failed)?;
        let copying = Backup::new(&self.connection, &mut target).map_err(failed)?;
        loop {
            let start = Instant::now();
            match copying.step(STEP).map_err(failed)? {
                StepResult::Done => return Ok(()),
                // The disk is the writer's, too.
                StepResult::More => thread::sleep(start.elapsed().min(LONGEST_PAUSE)),
                _ => return Err(Error::new(to, Obstacle::Locked)),
            }
        }
    }
}

/// Turns the copied pages into a file that needs no other one, checks it, and returns its size.
fn finish(copy: &Path, records: u64) -> Result<u64, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let failed = |error| database_failure(copy, error);
    let connection = Connection::open_with_flags(copy, flags).map_err(failed)?;
    // The writer's first start turns write-ahead logging on again.
    connection.pragma_update(None, "journal_mode", "delete").map_err(failed)?;
    let check = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0));
    let found: String = check.map_err(failed)?;
    if found != "ok" {
        return Err(Error::new(copy, Obstacle::Corrupt(found)));
    }
    let kept = count(&connection).map_err(failed)?;
    if kept != records {
        let message = format!("it has {kept} records instead of {records}");
        return Err(Error::new(copy, Obstacle::Corrupt(message)));
    }
    drop(connection);
    let failed = |error: std::io::Error| Error::from_io(copy, &error);
    let file = File::open(copy).map_err(failed)?;
    file.sync_all().map_err(failed)?;
    Ok(file.metadata().map_err(failed)?.len())
}

fn count(connection: &Connection) -> rusqlite::Result<u64> {
    let count = |row: &rusqlite::Row<'_>| row.get(0).map(i64::unsigned_abs);
    connection.query_row("SELECT count(*) FROM violations", [], count)
}
