//! The target of JSON lines: a file, appended to, or standard output.
//!
//! A write that fails half-way continues where it stopped, so that no line is torn or written
//! twice. The file is reopened after log rotation.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::{
        fd::AsFd,
        unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt},
    },
    path::{Path, PathBuf},
    time::Duration,
};

use crate::violations::{
    Error, Obstacle,
    file::{FILE_MODE, check_folder, identity},
    jsonl,
    queue::Batch,
    writer::Target,
};

/// How long to wait between calls of [`Target::tend`]; a log has no work there.
const REST: Duration = Duration::from_secs(60);

/// An open log.
#[derive(Debug)]
pub(super) struct Log {
    path: PathBuf,
    file: File,
    /// The device and inode of the file, if it is a regular file.
    identity: Option<(u64, u64)>,
    lines: Vec<u8>,
    /// The number of bytes of `lines` that are written.
    written: usize,
}

impl Log {
    /// Opens the file to append to it, created where there is none.
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let (file, identity) = open(path)?;
        let mut log = Self::new(path, file);
        log.identity = identity;
        log.end_torn_line()?;
        Ok(log)
    }

    /// Standard output, unbuffered.
    pub(super) fn stdout() -> Result<Self, Error> {
        let path = Path::new("stdout");
        let descriptor = io::stdout().as_fd().try_clone_to_owned();
        let descriptor = descriptor.map_err(|error| Error::from_io(path, &error))?;
        Ok(Self::new(path, descriptor.into()))
    }

    pub(super) fn new(path: &Path, file: File) -> Self {
        Self { path: path.to_owned(), file, identity: None, lines: Vec::new(), written: 0 }
    }

    /// Ends a line that a killed process left unfinished, so that the next line starts on its own.
    fn end_torn_line(&mut self) -> Result<(), Error> {
        let failed = |error: io::Error| Error::from_io(&self.path, &error);
        let length = self.file.metadata().map_err(failed)?.len();
        if self.identity.is_none() || length == 0 {
            return Ok(());
        }
        let mut last = [0];
        self.file.read_exact_at(&mut last, length - 1).map_err(failed)?;
        if last != *b"\n" {
            self.file.write_all(b"\n").map_err(failed)?;
        }
        Ok(())
    }

    /// Reopens the file after log rotation.
    fn follow_rotation(&mut self) -> Result<(), Error> {
        if self.identity.is_none() || self.identity == identity(&self.path) {
            return Ok(());
        }
        (self.file, self.identity) = open(&self.path)?;
        self.end_torn_line()?;
        // A line that the old file has only the beginning of goes whole into the new file.
        let done = self.lines.iter().take(self.written).rposition(|&byte| byte == b'\n');
        self.written = done.map_or(0, |at| at + 1);
        Ok(())
    }
}

impl Target for Log {
    fn append(&mut self, batch: &Batch) -> Result<(), Error> {
        self.follow_rotation()?;
        if self.lines.is_empty() {
            for record in batch.records.iter() {
                jsonl::push(&mut self.lines, &record.violation);
            }
            for overflow in &batch.overflow {
                jsonl::push_overflow(&mut self.lines, overflow);
            }
        }
        while let Some(rest) = self.lines.get(self.written..).filter(|rest| !rest.is_empty()) {
            match self.file.write(rest) {
                Ok(0) => return Err(Error::new(&self.path, Obstacle::Full)),
                Ok(length) => self.written += length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::from_io(&self.path, &error)),
            }
        }
        self.lines.clear();
        self.written = 0;
        Ok(())
    }

    fn tend(&mut self) -> Result<Duration, Error> {
        Ok(REST)
    }
}

fn open(path: &Path) -> Result<(File, Option<(u64, u64)>), Error> {
    check_folder(path)?;
    // Opening a pipe would wait for its reader.
    if fs::metadata(path).is_ok_and(|found| found.is_dir() || found.file_type().is_fifo()) {
        return Err(Error::new(path, Obstacle::NoRegularFile));
    }
    let file = OpenOptions::new().read(true).append(true).create(true).mode(FILE_MODE).open(path);
    let file = file.map_err(|error| Error::from_io(path, &error))?;
    let found = file.metadata().map_err(|error| Error::from_io(path, &error))?;
    let identity = found.is_file().then(|| (found.dev(), found.ino()));
    Ok((file, identity))
}
