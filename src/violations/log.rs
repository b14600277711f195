//! Where JSON lines go: a file, appended to, or standard output.
//!
//! A write that fails half-way goes on where it stopped, so that no line is torn and none is
//! written twice. A file that was moved away (log rotation) is begun anew under its name.

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

use crate::violations::{Error, error::Obstacle, jsonl, queue::Batch, writer::Target};

/// Records name people's addresses, so the file is not for everybody.
pub(super) const FILE_MODE: u32 = 0o640;

/// A log has no work of its own to do.
const REST: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(super) struct Log {
    path: PathBuf,
    file: File,
    /// Which file stands behind the path, where it can be moved away.
    identity: Option<(u64, u64)>,
    lines: Vec<u8>,
    /// How much of the lines is written.
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

    /// A process that was killed may have left a line unfinished: the next must not join it.
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

    fn follow_rotation(&mut self) -> Result<(), Error> {
        if self.identity.is_none() || self.identity == identity(&self.path) {
            return Ok(());
        }
        (self.file, self.identity) = open(&self.path)?;
        self.end_torn_line()?;
        // The new file gets the line whole that the old one has only the beginning of.
        let done = self.lines.iter().take(self.written).rposition(|&byte| byte == b'\n');
        self.written = done.map_or(0, |at| at + 1);
        Ok(())
    }
}

impl Target for Log {
    fn append(&mut self, batch: &Batch) -> Result<(), Error> {
        self.follow_rotation()?;
        if self.lines.is_empty() {
            for violation in batch.records.iter() {
                jsonl::push(&mut self.lines, violation);
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

    fn tend(&mut self) -> Duration {
        REST
    }
}

fn open(path: &Path) -> Result<(File, Option<(u64, u64)>), Error> {
    check_folder(path)?;
    // To open a pipe would wait for its reader.
    if fs::metadata(path).is_ok_and(|found| found.is_dir() || found.file_type().is_fifo()) {
        return Err(Error::new(path, Obstacle::NoRegularFile));
    }
    let file = OpenOptions::new().read(true).append(true).create(true).mode(FILE_MODE).open(path);
    let file = file.map_err(|error| Error::from_io(path, &error))?;
    let found = file.metadata().map_err(|error| Error::from_io(path, &error))?;
    let identity = found.is_file().then(|| (found.dev(), found.ino()));
    Ok((file, identity))
}

/// Which file stands behind a path at present.
pub(super) fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

/// Fails where the folder of a file does not exist: it may be a slip of the pen.
pub(super) fn check_folder(path: &Path) -> Result<(), Error> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => {
            Err(Error::new(path, Obstacle::NoFolder))
        }
        _ => Ok(()),
    }
}
