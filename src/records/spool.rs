//! Frames of bytes that wait on the disk until someone takes them, in a SQLite database of their own.
//!
//! [`Spool::append`] writes frames durably, all of one call or none. SQLite does not notice each change of
//! what it keeps, so a frame has a checksum: a damaged one is set aside as a file, and counted. Where the
//! database itself is damaged, it is set aside, and what can be read of it moves into a new one. The bytes
//! of all frames have a limit.
//!
//! May use: record, lines. Must not know: what a frame means, who takes it, any clock.

use std::{
    fs::{self, DirBuilder, OpenOptions},
    io::{ErrorKind, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, params};

use crate::records::{
    lines::{database_failure, identity},
    record::{Error, Obstacle},
};

/// The bytes of frames that are taken at once.
pub const PORTION: u64 = 4 << 20;

const NAME: &str = "spool.db";
/// The ending of what was set aside.
const DAMAGED: &str = "damaged";
/// The ending of the files of versions that kept segments.
const SEGMENT: &str = "segment";
/// The mode of the files: they have what clients sent.
const MODE: u32 = 0o600;
/// How long to wait for a process that is about to end.
const BUSY: Duration = Duration::from_secs(1);
/// The most frames that are looked for in a damaged database whose beginning cannot be read.
const MOST: i64 = 100_000;
/// The bytes of a row beside those of its frame.
const ROW: u64 = 32;
/// A file of so many bytes is made smaller when nothing waits in it.
const LARGE: u64 = 16 << 20;

const TABLES: &str = "PRAGMA locking_mode = exclusive; PRAGMA journal_mode = truncate; \
    PRAGMA synchronous = full; BEGIN EXCLUSIVE; CREATE TABLE IF NOT EXISTS frames ( \
    number INTEGER PRIMARY KEY AUTOINCREMENT, \
    at INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER)), kind INTEGER NOT NULL, \
    records INTEGER NOT NULL, checksum INTEGER NOT NULL, bytes BLOB NOT NULL); COMMIT";
const MEASURE: &str = "SELECT coalesce(sum(records), 0), coalesce(sum(length(bytes) + ?), 0), \
    min(at), coalesce(max(number), 0) FROM frames";
const ADD: &str =
    "INSERT INTO frames (kind, records, checksum, bytes) VALUES (?, ?, ?, ?) RETURNING at";
const SINCE: &str = "SELECT at FROM frames ORDER BY number LIMIT 1";
/// In a database that is written anew, numbers go on: whoever took frames removes them by number.
const GO_ON: &str = "INSERT INTO sqlite_sequence (name, seq) VALUES ('frames', ?)";
const REMOVE: &str = "DELETE FROM frames WHERE number <= ? RETURNING records, length(bytes) + ?";
const FRAMES: &str = "SELECT number, kind, records, checksum, bytes FROM frames \
    WHERE number >= ? ORDER BY number";

/// Bytes of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// What the bytes are; the spool does not know.
    pub kind: u8,
    /// The number of records in them, for exact counts of what is lost.
    pub records: u32,
    /// The bytes.
    pub bytes: &'a [u8],
}

/// A frame that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Its place in the order of writing.
    pub number: i64,
    /// As [`Frame::kind`].
    pub kind: u8,
    /// As [`Frame::records`].
    pub records: u32,
    /// The bytes, as they were written unless [`Self::is_damaged`].
    pub bytes: Vec<u8>,
    /// Whether the bytes are others than those that were written.
    pub is_damaged: bool,
    /// Whether an earlier run of the program wrote it, so that it may have been taken before.
    pub is_old: bool,
}

/// Frames in a folder, used by one process.
#[derive(Debug)]
pub struct Spool {
    folder: PathBuf,
    file: PathBuf,
    limit: u64,
    /// `None` until it is opened, also after the database was set aside.
    connection: Option<Connection>,
    /// The file that the connection writes to.
    identity: Option<(u64, u64)>,
    records: u64,
    bytes: u64,
    /// The bytes of files that were set aside.
    aside: u64,
    since: Option<SystemTime>,
    /// The last frame of earlier runs.
    old: i64,
    /// The records of a damaged database that could not be read.
    lost: u64,
}

impl Spool {
    /// Opens a folder with frames of at most `limit` bytes; creates a missing one.
    pub fn open(folder: &Path, limit: u64) -> Result<Self, Error> {
        let system = |error| Error::from_io(folder, &error);
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700).create(folder).map_err(system)?;
        let (mut aside, mut segments) = (0, 0);
        for entry in fs::read_dir(folder).map_err(system)? {
            let entry = entry.map_err(system)?;
            match entry.path().extension().and_then(|ending| ending.to_str()) {
                Some(DAMAGED) => aside += entry.metadata().map_err(system)?.len(),
                Some(SEGMENT) => segments += 1,
                _ => {}
            }
        }
        let mut spool = Self {
            folder: folder.to_owned(),
            file: folder.join(NAME),
            limit,
            connection: None,
            identity: None,
            records: 0,
            bytes: 0,
            aside,
            since: None,
            old: 0,
            lost: 0,
        };
        spool.attempt(|_| Ok(()))?;
        if spool.records > 0 {
            let code = "spool.recovered";
            let records = spool.records;
            tracing::info!(code, records, "the spool of an earlier run has records to send");
        }
        if segments > 0 {
            tracing::error!(
                code = "spool.older", segments, folder = %folder.display(),
                "an older version left records to send: run that version once until it has sent them"
            );
        }
        Ok(spool)
    }

    /// Writes the frames durably, all or none.
    pub fn append(&mut self, frames: &[Frame<'_>]) -> Result<(), Error> {
        if self.bytes() + size(frames) > self.limit {
            return Err(Error::new(&self.folder, Obstacle::SpoolFull(self.limit)));
        }
        self.add(frames)
    }

    fn add(&mut self, frames: &[Frame<'_>]) -> Result<(), Error> {
        let at = self.attempt(|connection| {
            let transaction = connection.transaction()?;
            let (mut add, mut at) = (transaction.prepare_cached(ADD)?, None);
            for Frame { kind, records, bytes } in frames {
                let row = params![kind, records, crc32fast::hash(bytes), bytes];
                at = Some(add.query_row(row, |row| row.get(0))?);
            }
            drop(add);
            transaction.commit().map(|()| at)
        })?;
        self.bytes += size(frames);
        self.records += frames.iter().map(|frame| u64::from(frame.records)).sum::<u64>();
        self.since = self.since.or_else(|| at.map(time));
        Ok(())
    }

    /// The oldest frames, together of at most `bytes`; one at least, if there is one.
    pub fn oldest(&mut self, bytes: u64) -> Result<Vec<Waiting>, Error> {
        let old = self.old;
        self.attempt(|connection| {
            let (mut found, mut sum) = (Vec::new(), 0);
            let mut statement = connection.prepare_cached(FRAMES)?;
            let mut rows = statement.query([0])?;
            while let Some(row) = rows.next()? {
                let frame = Waiting::of(row, old)?;
                sum += frame.size();
                if sum > bytes && !found.is_empty() {
                    break;
                }
                found.push(frame);
            }
            Ok(found)
        })
    }

    /// Removes the oldest frames, which were taken.
    ///
    /// # Errors
    /// Where the disk fails; the frames stay.
    pub fn remove(&mut self, taken: &[Waiting]) -> Result<(), Error> {
        let Some(last) = taken.last().map(|frame| frame.number) else { return Ok(()) };
        let (records, bytes, at) = self.attempt(|connection| {
            let transaction = connection.transaction()?;
            let (mut records, mut bytes) = (0, 0);
            let mut remove = transaction.prepare_cached(REMOVE)?;
            let mut rows = remove.query(params![last, ROW as i64])?;
            while let Some(row) = rows.next()? {
                records += row.get::<_, i64>(0)?.unsigned_abs();
                bytes += row.get::<_, i64>(1)?.unsigned_abs();
            }
            drop(rows);
            drop(remove);
            let at = transaction.query_row(SINCE, [], |row| row.get(0)).optional()?;
            transaction.commit().map(|()| (records, bytes, at))
        })?;
        self.records = self.records.saturating_sub(records);
        self.bytes = self.bytes.saturating_sub(bytes);
        self.since = at.map(time);
        let length = || fs::metadata(&self.file).map_or(0, |found| found.len());
        if self.since.is_none() && length() > LARGE {
            // The frames are gone already. A file that stays large is no reason to send nothing.
            let _ = self.attempt(|connection| connection.execute_batch("VACUUM"));
        }
        Ok(())
    }

    /// Sets the bytes of a damaged frame aside, and returns their file. It counts against the limit until
    /// it is moved away and the program starts again.
    pub fn set_aside(&mut self, frame: &Waiting) -> Result<PathBuf, Error> {
        let path = self.folder.join(format!("{:016}.{DAMAGED}", frame.number));
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(true).mode(MODE).open(&path);
        let written = file.and_then(|mut file| {
            file.write_all(&frame.bytes)?;
            file.sync_all()
        });
        written.map_err(|error| Error::from_io(&path, &error))?;
        self.aside += frame.bytes.len() as u64;
        Ok(path)
    }

    /// The bytes of all frames, with those that were set aside.
    pub const fn bytes(&self) -> u64 {
        self.bytes + self.aside
    }

    /// Whether frames of a [`PORTION`] wait.
    pub const fn has_portion(&self) -> bool {
        self.bytes >= PORTION
    }

    /// The records that wait.
    pub const fn records(&self) -> u64 {
        self.records
    }

    /// The time of the oldest frame that waits.
    pub const fn since(&self) -> Option<SystemTime> {
        self.since
    }

    /// The limit of [`Self::bytes`].
    pub const fn limit(&self) -> u64 {
        self.limit
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The records that a damaged database lost since the last call.
    pub fn take_lost(&mut self) -> u64 {
        std::mem::take(&mut self.lost)
    }

    /// Does the work on the database. One that is damaged, or is not at its place any more, is written anew
    /// first.
    fn attempt<T>(
        &mut self,
        work: impl Fn(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<T, Error> {
        if self.connection.is_some() && identity(&self.file) != self.identity {
            self.renew(&Error::new(&self.file, Obstacle::Displaced))?;
        }
        match self.try_once(&work) {
            Err(error) if error.is_damage() || error.obstacle == Obstacle::NoDatabase => {
                self.renew(&error)?;
                self.try_once(&work)
            }
            done => done,
        }
    }

    fn try_once<T>(
        &mut self,
        work: impl Fn(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<T, Error> {
        let failed = |error| database_failure(&self.file, error);
        if self.connection.is_none() {
            let connection = self.connection.insert(connect(&self.file)?);
            self.identity = identity(&self.file);
            let measured = connection.query_row(MEASURE, [ROW as i64], |row| {
                let count = |column| row.get(column).map(i64::unsigned_abs);
                Ok((count(0)?, count(1)?, row.get::<_, Option<i64>>(2)?.map(time), row.get(3)?))
            });
            (self.records, self.bytes, self.since, self.old) = measured.map_err(failed)?;
        }
        let connection = self.connection.as_mut().expect("it was opened above");
        work(connection).map_err(|error| database_failure(&self.file, error))
    }

    /// Moves what can be read of the database into a new one. What stands at its place is set aside.
    fn renew(&mut self, error: &Error) -> Result<(), Error> {
        let (records, old) = (self.records, self.connection.take());
        let mut names = (1..).map(|number| self.folder.join(format!("spool-{number}.{DAMAGED}")));
        let aside = names.find(|path| !path.exists()).unwrap_or_default();
        // A journal of it would change the new one.
        let journal = [self.file.with_extension("db-journal"), aside.with_extension("journal")];
        for [from, to] in [[&self.file, &aside], journal.each_ref()] {
            let moved = fs::rename(from, to);
            if let Some(error) = moved.err().filter(|error| error.kind() != ErrorKind::NotFound) {
                return Err(Error::from_io(from, &error));
            }
        }
        self.aside += fs::metadata(&aside).map_or(0, |found| found.len());
        (self.records, self.bytes, self.since) = (0, 0, None);
        let moved = old.map_or(Ok(()), |old| self.move_from(&old));
        let lost = records.saturating_sub(self.records);
        self.lost += lost;
        tracing::error!(
            code = "spool.damaged", %error, records = lost, aside = %aside.display(),
            "the database of the spool is written anew: what can be read of the old one is sent"
        );
        moved
    }

    fn move_from(&mut self, old: &Connection) -> Result<(), Error> {
        // Both ends are found without reading what is between them.
        let end = |sql: &str| old.query_row(sql, [], |row| row.get(0));
        let last = end("SELECT coalesce(max(number), 0) FROM frames").unwrap_or(0);
        let first = end("SELECT min(number) FROM frames").unwrap_or(last - MOST);
        self.try_once(|connection| connection.execute(GO_ON, [last]).map(drop))?;
        let (mut read, mut sum) = (Vec::new(), 0);
        for number in first..=last {
            let found = old.query_row(FRAMES, [number], |row| Waiting::of(row, 0));
            if let Ok(frame) = found.as_ref()
                && (frame.number, frame.is_damaged) == (number, false)
            {
                sum += frame.size();
                read.extend(found);
            }
            if sum >= PORTION || number == last {
                self.add(&read.iter().map(Waiting::frame).collect::<Vec<_>>())?;
                (sum, read) = (0, Vec::new());
            }
        }
        // What was moved counts as frames of an earlier run.
        self.connection = None;
        self.try_once(|_| Ok(()))
    }
}

impl Waiting {
    fn of(row: &Row<'_>, old: i64) -> rusqlite::Result<Self> {
        let (number, bytes): (_, Vec<u8>) = (row.get(0)?, row.get(4)?);
        Ok(Self {
            number,
            kind: row.get(1)?,
            records: row.get(2)?,
            is_damaged: crc32fast::hash(&bytes) != row.get::<_, u32>(3)?,
            bytes,
            is_old: number <= old,
        })
    }

    fn size(&self) -> u64 {
        size(&[self.frame()])
    }

    fn frame(&self) -> Frame<'_> {
        Frame { kind: self.kind, records: self.records, bytes: &self.bytes }
    }
}

fn connect(file: &Path) -> Result<Connection, Error> {
    let failed = |error| database_failure(file, error);
    let mut options = OpenOptions::new();
    let made = options.write(true).create(true).truncate(false).mode(MODE).open(file);
    made.map_err(|error| Error::from_io(file, &error))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags).map_err(failed)?;
    connection.busy_timeout(BUSY).map_err(failed)?;
    connection.execute_batch(TABLES).map_err(failed)?;
    Ok(connection)
}

fn size(frames: &[Frame<'_>]) -> u64 {
    frames.iter().map(|frame| frame.bytes.len() as u64 + ROW).sum()
}

fn time(millisecond: i64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(millisecond.max(0).unsigned_abs())
}

#[cfg(test)]
mod tests;
