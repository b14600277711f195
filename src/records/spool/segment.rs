//! A segment that is written, and the name of a sealed one, which has its totals.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    time::SystemTime,
};

use super::{
    contents::{Contents, PREFIX, Totals},
    frame::Frame,
};
use crate::records::record::Error;

/// The size from which a segment is sealed.
pub const SEGMENT: u64 = 4 << 20;

/// What stands before the first frame.
const MAGIC: &[u8; PREFIX] = b"BEADSPL1";
/// The mode of the files: they have what clients sent.
const MODE: u32 = 0o600;

/// The endings of file names: being written, sealed, damaged.
pub(super) const OPEN: &str = "open";
pub(super) const SEALED: &str = "segment";
pub(super) const DAMAGED: &str = "damaged";

/// A sealed segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// Its place in the order of writing.
    pub number: u64,
    /// The records in it.
    pub records: u64,
    /// Its bytes.
    pub bytes: u64,
    /// The time of its first frame, as its file has it.
    pub since: SystemTime,
    /// Whether it was sealed by an earlier run of the program, so that it may have been taken before.
    pub is_old: bool,
    frames: u64,
    pub(super) path: PathBuf,
}

/// A segment that is written.
#[derive(Debug)]
pub(super) struct Segment {
    number: u64,
    path: PathBuf,
    file: File,
    pub(super) since: SystemTime,
    /// The bytes that are durable.
    pub(super) length: u64,
    pub(super) totals: Totals,
    /// Whether a failed write may have left bytes behind those.
    is_torn: bool,
}

impl Segment {
    pub(super) fn create(folder: &Path, number: u64) -> Result<Self, Error> {
        let path = folder.join(format!("{number:016}.{OPEN}"));
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true).mode(MODE);
        let file = options.open(&path).map_err(system(&path))?;
        let since = file.metadata().and_then(|found| found.modified());
        let since = since.map_err(system(&path))?;
        let mut segment = Self {
            number,
            path,
            file,
            since,
            length: 0,
            totals: Totals::default(),
            is_torn: false,
        };
        segment.write(MAGIC)?;
        sync_folder(folder)?;
        Ok(segment)
    }

    /// Writes frames durably, all or none.
    pub(super) fn append(&mut self, bytes: &[u8], frames: &[Frame<'_>]) -> Result<(), Error> {
        self.write(bytes)?;
        self.totals.frames += frames.len() as u64;
        self.totals.records += frames.iter().map(|frame| u64::from(frame.records)).sum::<u64>();
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let failed = system(&self.path);
        let start = SeekFrom::Start(self.length);
        let was_torn = std::mem::replace(&mut self.is_torn, true);
        let torn = if was_torn { self.file.set_len(self.length) } else { Ok(()) };
        let written = torn.and_then(|()| {
            self.file.seek(start)?;
            self.file.write_all(bytes)?;
            self.file.sync_data()
        });
        written.map_err(failed)?;
        self.length += bytes.len() as u64;
        self.is_torn = false;
        Ok(())
    }

    /// Whether the file is still at its place. Otherwise its bytes are lost when it is closed.
    pub(super) fn is_in_place(&self) -> bool {
        let inode = |found: fs::Metadata| (found.dev(), found.ino());
        match (fs::metadata(&self.path).map(inode), self.file.metadata().map(inode)) {
            (Ok(there), Ok(ours)) => there == ours,
            _ => false,
        }
    }

    /// What was written, without the prefix.
    pub(super) fn frames(&mut self) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        let read = self.file.seek(SeekFrom::Start(PREFIX as u64)).and_then(|_| {
            let length = self.length.saturating_sub(PREFIX as u64);
            (&mut self.file).take(length).read_to_end(&mut bytes)
        });
        read.map_err(system(&self.path))?;
        Ok(bytes)
    }

    /// Takes over what a lost segment had.
    pub(super) fn adopt(&mut self, bytes: &[u8], totals: Totals) -> Result<(), Error> {
        self.write(bytes)?;
        self.totals = totals;
        Ok(())
    }

    /// Gives the segment its name with the totals.
    pub(super) fn seal(&self, folder: &Path) -> Result<Sealed, Error> {
        if self.is_torn {
            self.file.set_len(self.length).map_err(system(&self.path))?;
        }
        let path = folder.join(name(self.number, self.totals));
        fs::rename(&self.path, &path).map_err(system(&self.path))?;
        sync_folder(folder)?;
        let (Totals { frames, records }, bytes) = (self.totals, self.length);
        let (number, since) = (self.number, self.since);
        Ok(Sealed { number, records, bytes, since, is_old: false, frames, path })
    }
}

impl Sealed {
    /// The file as an earlier run left it; `None` if its name is not that of a segment.
    pub(super) fn found(path: PathBuf) -> Option<Self> {
        let mut parts = path.file_stem()?.to_str()?.split('-').map(|part| part.parse().ok());
        let mut next = || parts.next().flatten();
        let (number, frames, records) = (next()?, next()?, next()?);
        let found = fs::metadata(&path).ok()?;
        let (bytes, since) = (found.len(), found.modified().ok()?);
        Some(Self { number, records, bytes, since, is_old: true, frames, path })
    }

    /// Reads the frames. A file that is gone has lost all of them.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn read(&self) -> Result<Contents, Error> {
        match fs::read(&self.path) {
            Ok(bytes) => Ok(self.contents(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(self.lost()),
            Err(error) => Err(system(&self.path)(error)),
        }
    }

    /// The contents of a segment that cannot be read: everything is lost.
    pub fn lost(&self) -> Contents {
        self.contents(Vec::new())
    }

    fn contents(&self, bytes: Vec<u8>) -> Contents {
        let totals = Totals { frames: self.frames, records: self.records };
        Contents::of_sealed(bytes, totals)
    }
}

/// The name of a sealed segment.
pub(super) fn name(number: u64, Totals { frames, records }: Totals) -> String {
    format!("{number:016}-{frames}-{records}.{SEALED}")
}

/// A failure of the system at this file.
pub(super) fn system(path: &Path) -> impl FnOnce(io::Error) -> Error + use<> {
    let path = path.to_owned();
    move |error| Error::from_io(&path, &error)
}

/// Makes names in the folder durable.
pub(super) fn sync_folder(folder: &Path) -> Result<(), Error> {
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(system(folder))
}
