//! An open target of lines: a file, appended to, or standard output.
//!
//! A write that fails half-way continues where it stopped, so that no line is torn or written
//! twice. The file is reopened after log rotation. Several outputs may share standard output.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::{
        fd::AsFd,
        unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt},
    },
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use parking_lot::Mutex;

use crate::records::record::{Error, Obstacle};

use super::file::{FILE_MODE, check_folder, identity};

/// The output whose line on standard output has no end yet.
static UNFINISHED: Mutex<Option<u64>> = Mutex::new(None);

static OUTPUTS: AtomicU64 = AtomicU64::new(0);

/// The target of lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogTarget {
    /// A file, appended to.
    File(PathBuf),
    /// Standard output.
    Stdout,
}

/// An open target.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    file: File,
    /// The device and inode of the file, if it is a regular file.
    identity: Option<(u64, u64)>,
    /// The number of this output, if it shares standard output with others.
    shared: Option<u64>,
    /// The number of bytes of the lines in progress that are written.
    written: usize,
}

impl Output {
    /// Opens the target. A file is created where there is none.
    pub fn open(target: &LogTarget) -> Result<Self, Error> {
        let path = match target {
            LogTarget::File(path) => path,
            LogTarget::Stdout => return Self::stdout(),
        };
        let (file, identity) = open(path)?;
        let mut output = Self::new(path, file);
        output.identity = identity;
        output.end_torn_line()?;
        Ok(output)
    }

    fn stdout() -> Result<Self, Error> {
        let path = Path::new("stdout");
        let descriptor = io::stdout().as_fd().try_clone_to_owned();
        let descriptor = descriptor.map_err(|error| Error::from_io(path, &error))?;
        let number = OUTPUTS.fetch_add(1, Ordering::Relaxed);
        Ok(Self { shared: Some(number), ..Self::new(path, descriptor.into()) })
    }

    /// An output to an open file, which is not reopened.
    pub(crate) fn new(path: &Path, file: File) -> Self {
        Self { path: path.to_owned(), file, identity: None, shared: None, written: 0 }
    }

    /// Writes whole lines. After a failure, the next call has to bring the same lines; it goes on
    /// where this one stopped.
    pub fn write(&mut self, lines: &[u8]) -> Result<(), Error> {
        self.follow_rotation(lines)?;
        match self.shared {
            Some(number) => self.take_turn(number, lines)?,
            None => self.write_rest(lines)?,
        }
        self.written = 0;
        Ok(())
    }

    /// The bytes of the lines in progress that are written.
    pub const fn written(&self) -> usize {
        self.written
    }

    fn write_rest(&mut self, lines: &[u8]) -> Result<(), Error> {
        while let Some(rest) = lines.get(self.written..).filter(|rest| !rest.is_empty()) {
            match self.file.write(rest) {
                Ok(0) => return Err(Error::new(&self.path, Obstacle::Full)),
                Ok(length) => self.written += length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::from_io(&self.path, &error)),
            }
        }
        Ok(())
    }

    /// Writes to standard output while no other output does.
    fn take_turn(&mut self, number: u64, lines: &[u8]) -> Result<(), Error> {
        let mut unfinished = UNFINISHED.lock();
        if *unfinished != Some(number) {
            // Another output has ended the line of this one, or this one ends its line.
            self.return_to_line_start(lines);
            if unfinished.is_some() {
                let ended = self.file.write_all(b"\n");
                ended.map_err(|error| Error::from_io(&self.path, &error))?;
            }
        }
        let written = self.write_rest(lines);
        let is_torn = self.written > 0 && lines.get(self.written - 1) != Some(&b'\n');
        *unfinished = is_torn.then_some(number);
        written
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

    fn follow_rotation(&mut self, lines: &[u8]) -> Result<(), Error> {
        if self.identity.is_none() || self.identity == identity(&self.path) {
            return Ok(());
        }
        (self.file, self.identity) = open(&self.path)?;
        self.end_torn_line()?;
        self.return_to_line_start(lines);
        Ok(())
    }

    /// A line of which only the beginning is written is written whole.
    fn return_to_line_start(&mut self, lines: &[u8]) {
        let done = lines.iter().take(self.written).rposition(|&byte| byte == b'\n');
        self.written = done.map_or(0, |at| at + 1);
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
