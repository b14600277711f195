//! Failures of a database or a log, each with its repair.
//!
//! Beadle never overwrites a file that it finds. It moves a damaged database aside only if the policy
//! says so.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use derive_more::Display;

use crate::base::escape;

/// A database or a log that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The file as the operator gave it.
    pub path: PathBuf,
    /// The reason.
    pub obstacle: Obstacle,
}

/// The reason why a database or a log cannot be used, as a text behind the path.
#[derive(Clone, Debug, PartialEq, Eq, Display)]
pub enum Obstacle {
    /// Occurs when the file's folder does not exist.
    #[display(": the folder does not exist")]
    NoFolder,
    /// Occurs when the file does not exist yet.
    #[display(" does not exist (correct the path, or start 'beadle serve' once)")]
    NoFile,
    /// Occurs when a folder, a pipe or a device stands where a file is needed.
    #[display(" is not a regular file (name a file)")]
    NoRegularFile,
    /// Occurs when the file holds something other than a SQLite database.
    #[display(" is not a SQLite database (name another file, or move this one away)")]
    NoDatabase,
    /// Occurs when the database belongs to another program.
    #[display(" is the database of another program (name another file)")]
    Foreign,
    /// Occurs when the database has no tables: its first start has not succeeded.
    #[display(
        " has no tables yet ('beadle serve' creates them at its start: make room if the disk is \
         full, and see the log)"
    )]
    Empty,
    /// Occurs when a newer version of this program wrote it; holds that version's number.
    #[display(
        " was written by a newer version, as schema {_0} (run that version, or name another \
         file)"
    )]
    Newer(u32),
    /// Occurs when an older version of this program wrote it, and it is opened read-only.
    #[display(" was written by an older version (start 'beadle serve' on it once to update it)")]
    Older,
    /// Occurs when the database is damaged; holds SQLite's message.
    #[display(
        " is damaged: {} (restore a copy, or move it away together with its -wal and -shm \
         files; 'violations.on_damage: rotate' does so, once an hour at most; 'sqlite3 FILE \
         .recover' may save records)",
        escape::text(_0.as_bytes())
    )]
    Corrupt(String),
    /// Occurs when the file or its folder cannot be written or read.
    #[display(
        " cannot be read or written (give this process's user the right to the file and its \
         folder)"
    )]
    Denied,
    /// Occurs when the file system is mounted read-only.
    #[display(
        " is on a file system that is mounted read-only (mount it for writing: 'findmnt \
         --target'; or name another path)"
    )]
    ReadOnly,
    /// Occurs when the system takes no write and SQLite does not say why; holds its message.
    #[display(
        " takes no write: {} (see the user's quota, the limit of file sizes, and the disk: \
         quota, ulimit -f, dmesg)",
        escape::text(_0.as_bytes())
    )]
    NotWritten(String),
    /// Occurs when another process locks the database for too long.
    #[display(" is locked by another process")]
    Locked,
    /// Occurs when a reader that does not end keeps the write-ahead log from being emptied; holds the
    /// log's length.
    #[display(" has {} MiB, because a program does not stop reading", _0 >> 20)]
    LogHeld(u64),
    /// Occurs when the disk is full.
    #[display(": the disk is full, or a quota is used up (make room)")]
    Full,
    /// Occurs when the reader of the output has gone.
    #[display(": the reader has gone (start it again)")]
    Closed,
    /// Occurs when the file was moved or deleted while it was in use.
    #[display(" was moved or deleted while in use (a new file is started)")]
    Displaced,
    /// Occurs when the database or its write-ahead log was truncated while it was in use.
    #[display(
        " or its -wal file was truncated while in use: records may be missing (it is checked \
         and opened again; keep other programs off these files)"
    )]
    Truncated,
    /// Occurs when the spool has no room for further records; has its limit in bytes.
    #[display(
        " has {} MiB, which ClickHouse has not taken: further records are only counted (start \
         ClickHouse, or raise violations.clickhouse.spool_size)",
        _0 >> 20
    )]
    SpoolFull(u64),
    /// Occurs when a database server cannot be used; holds a sentence with the repair.
    Server(String),
    /// Occurs when the system fails in another way; holds its message.
    #[display(" cannot be used: {} (check the path and the disk)", escape::text(_0.as_bytes()))]
    Failed(String),
}

impl Error {
    pub(crate) fn new(path: &Path, obstacle: Obstacle) -> Self {
        Self { path: path.to_owned(), obstacle }
    }

    pub(crate) fn from_io(path: &Path, error: &io::Error) -> Self {
        Self::new(
            path,
            match error.kind() {
                io::ErrorKind::NotFound => Obstacle::NoFile,
                io::ErrorKind::IsADirectory => Obstacle::NoRegularFile,
                io::ErrorKind::PermissionDenied => Obstacle::Denied,
                io::ErrorKind::ReadOnlyFilesystem => Obstacle::ReadOnly,
                io::ErrorKind::StorageFull
                | io::ErrorKind::QuotaExceeded
                | io::ErrorKind::FileTooLarge => Obstacle::Full,
                io::ErrorKind::BrokenPipe => Obstacle::Closed,
                _ => Obstacle::Failed(error.to_string()),
            },
        )
    }

    /// The stable name of the kind of failure, for a log or a metric.
    pub fn code(&self) -> &'static str {
        match self.obstacle {
            Obstacle::NoFolder => "store.no_folder",
            Obstacle::NoFile => "store.no_file",
            Obstacle::NoRegularFile => "store.no_regular_file",
            Obstacle::NoDatabase => "store.no_database",
            Obstacle::Foreign => "store.foreign",
            Obstacle::Empty => "store.empty",
            Obstacle::Newer(_) => "store.newer",
            Obstacle::Older => "store.older",
            Obstacle::Corrupt(_) => "store.corrupt",
            Obstacle::Denied => "store.denied",
            Obstacle::ReadOnly => "store.read_only",
            Obstacle::NotWritten(_) => "store.not_written",
            Obstacle::Locked => "store.locked",
            Obstacle::LogHeld(_) => "store.log_held",
            Obstacle::Full => "store.full",
            Obstacle::Closed => "store.closed",
            Obstacle::Displaced => "store.displaced",
            Obstacle::Truncated => "store.truncated",
            Obstacle::SpoolFull(_) => "store.spool_full",
            Obstacle::Server(_) => "store.server",
            Obstacle::Failed(_) => "store.failed",
        }
    }

    /// Whether the file is damaged. No retry helps; the operator repairs or replaces it.
    pub(crate) fn is_damage(&self) -> bool {
        self.damage().is_some()
    }

    /// What SQLite says about a damaged database, escaped.
    pub(crate) fn damage(&self) -> Option<String> {
        let Obstacle::Corrupt(detail) = &self.obstacle else { return None };
        Some(escape::text(detail.as_bytes()))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, obstacle } = self;
        let folder = escape::path(path.parent().unwrap_or_else(|| Path::new(".")));
        let path = escape::path(path);
        match obstacle {
            Obstacle::Server(sentence) => return f.write_str(sentence),
            Obstacle::LogHeld(_) => write!(f, "'{path}-wal'{obstacle} '{path}'")?,
            _ => write!(f, "'{path}'{obstacle}")?,
        }
        match obstacle {
            Obstacle::NoFolder => write!(f, " (create it: mkdir -p '{folder}')"),
            Obstacle::Locked => write!(f, " (end that process: lsof '{path}')"),
            Obstacle::LogHeld(_) => write!(f, " (end that program: lsof '{path}')"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for Error {}
