//! A damaged database: how it is told from a foreign file, and how it is moved aside.
//!
//! Nothing here writes into a file, and no file is overwritten.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

use jiff::Timestamp;

use super::migrations::APPLICATION_ID;
use crate::records::{
    lines::Stamp,
    record::{Error, Obstacle},
};

/// What happens to a damaged database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDamage {
    /// It stays as it is, and records wait in memory until the operator repairs or moves it.
    #[default]
    Keep,
    /// It is moved aside, and a new one is started.
    Rotate,
}

const MAGIC: &[u8] = b"SQLite format 3\0";
const HEADER: usize = 100;
/// The length of the first page, where nothing else is set.
const PAGE: usize = 4096;
/// The place of the application id in the header.
const APPLICATION_ID_AT: usize = 68;
/// The first table of our schema, which SQLite keeps as text at the beginning of the file.
const FIRST_TABLE: &[u8] = b"CREATE TABLE violations";
/// How much of a file is searched for it.
const SEARCHED: u64 = 64 << 10;

pub(super) fn log_of(database: &Path) -> PathBuf {
    beside(database, "-wal")
}

fn beside(database: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(database);
    name.push(ending);
    name.into()
}

/// Whether a file that SQLite does not accept may be a database of ours: a part of its header is lost,
/// or its first page is zeros, as after a loss of power.
pub(super) fn has_traces(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(SEARCHED).read_to_end(&mut start));
    let id = (APPLICATION_ID as i32).to_be_bytes();
    let has_id = start.get(APPLICATION_ID_AT..).is_some_and(|rest| rest.starts_with(&id));
    let is_cut = !start.is_empty() && start.len() < HEADER && MAGIC.starts_with(head(&start));
    let has_table = start.windows(FIRST_TABLE.len()).any(|part| part == FIRST_TABLE);
    let has_head = start.starts_with(MAGIC);
    let is_zeroed = start.len() >= HEADER && start.iter().take(PAGE).all(|&octet| octet == 0);
    read.is_ok() && (has_id || is_cut || has_table || has_head || is_zeroed)
}

/// Whether there is no database of Beadle, and none can be created: the policy names the wrong file.
/// A database that may be ours never stops the program, whatever state it is in.
pub(super) fn is_none_of_ours(error: &Error) -> bool {
    match error.obstacle {
        Obstacle::NoFolder
        | Obstacle::NoFile
        | Obstacle::NoRegularFile
        | Obstacle::NoDatabase
        | Obstacle::Foreign
        | Obstacle::Newer(_) => true,
        Obstacle::Corrupt(_) | Obstacle::Empty | Obstacle::Locked | Obstacle::LogHeld(_) => false,
        Obstacle::Older
        | Obstacle::Denied
        | Obstacle::ReadOnly
        | Obstacle::NotWritten(_)
        | Obstacle::Full
        | Obstacle::Closed
        | Obstacle::Displaced
        | Obstacle::Truncated
        | Obstacle::SpoolFull(_)
        | Obstacle::Server(_)
        | Obstacle::Failed(_) => Stamp::of(&error.path).length == 0,
    }
}

fn head(start: &[u8]) -> &[u8] {
    start.get(..MAGIC.len()).unwrap_or(start)
}

/// The database and its write-ahead log. The log comes first: SQLite deletes a log beside an empty
/// database. A killed process leaves both where they can be found.
pub(super) const WHOLE: [&str; 2] = ["-wal", ""];

/// Moves the files with these endings to a free name beside the database, and returns that name.
pub(super) fn move_aside(path: &Path, why: &str, endings: &[&str]) -> Result<PathBuf, Error> {
    let failed = |error: std::io::Error| Error::from_io(path, &error);
    let time = Timestamp::now().strftime("%Y%m%dT%H%M%SZ");
    let aside = (1..)
        .map(|number| match number {
            1 => beside(path, &format!(".{why}-{time}")),
            _ => beside(path, &format!(".{why}-{time}-{number}")),
        })
        .find(|name| [name, &log_of(name)].iter().all(|name| fs::symlink_metadata(name).is_err()));
    let aside = aside.unwrap_or_else(|| beside(path, why));
    for ending in endings {
        let from = beside(path, ending);
        if Stamp::of(&from).length > 0 {
            fs::rename(&from, beside(&aside, ending)).map_err(failed)?;
        }
    }
    // The index of the log holds nothing of its own; SQLite creates it anew.
    let _ = fs::remove_file(beside(path, "-shm"));
    Ok(aside)
}
