//! The segments of a folder: one that is written, and sealed ones that wait.

use std::{
    collections::VecDeque,
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    time::SystemTime,
};

use super::{
    contents::{Contents, PREFIX},
    frame::Frame,
    segment::{DAMAGED, OPEN, SEALED, SEGMENT, Sealed, Segment, name, sync_folder, system},
};
use crate::records::record::{Error, Obstacle};

/// A folder of segments, used by one process.
#[derive(Debug)]
pub struct Spool {
    folder: PathBuf,
    limit: u64,
    /// Held as long as the folder is used.
    _lock: File,
    open: Option<Segment>,
    sealed: VecDeque<Sealed>,
    /// The bytes of sealed and of damaged segments.
    bytes: u64,
    next: u64,
}

/// What an earlier run left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// The segments.
    pub segments: u64,
    /// The records in them.
    pub records: u64,
    /// The bytes of a call that a crash interrupted; they were never acknowledged.
    pub torn: u64,
    /// The segments that are damaged although a crash cannot have done that. What is whole in them is
    /// read.
    pub damaged: Vec<PathBuf>,
}

impl Spool {
    /// Opens a folder with at most `limit` bytes of segments; creates a missing one.
    ///
    /// # Errors
    /// Where another process uses the folder, or it cannot be written.
    pub fn open(folder: &Path, limit: u64) -> Result<(Self, Recovery), Error> {
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700).create(folder).map_err(system(folder))?;
        let lock = lock(folder)?;
        let mut spool = Self {
            folder: folder.to_owned(),
            limit,
            _lock: lock,
            open: None,
            sealed: VecDeque::new(),
            bytes: 0,
            next: 1,
        };
        let recovery = spool.recover()?;
        Ok((spool, recovery))
    }

    /// Writes the frames durably, all or none.
    ///
    /// # Errors
    /// Where the limit is reached, or the disk fails. The same frames may be written again.
    pub fn append(&mut self, frames: &[Frame<'_>]) -> Result<(), Error> {
        let mut bytes = Vec::new();
        for (at, frame) in frames.iter().enumerate() {
            frame.write(at + 1 == frames.len(), &mut bytes);
        }
        if bytes.is_empty() {
            return Ok(());
        }
        if self.bytes() + bytes.len() as u64 > self.limit {
            return Err(Error::new(&self.folder, Obstacle::SpoolFull(self.limit)));
        }
        self.keep_in_place()?;
        let open = match &mut self.open {
            Some(open) => open,
            none => none.insert(Segment::create(&self.folder, take(&mut self.next))?),
        };
        open.append(&bytes, frames)?;
        if open.length >= SEGMENT {
            // The frames are safe already; a failure shows again with the next ones.
            let _ = self.seal();
        }
        Ok(())
    }

    /// Seals the segment that is written, if it has frames.
    ///
    /// # Errors
    /// Where the folder cannot be written; the segment stays as it is.
    pub fn seal(&mut self) -> Result<(), Error> {
        self.keep_in_place()?;
        let Some(open) = self.open.as_ref().filter(|open| open.totals.frames > 0) else {
            return Ok(());
        };
        let sealed = open.seal(&self.folder)?;
        self.bytes += sealed.bytes;
        self.sealed.push_back(sealed);
        self.open = None;
        Ok(())
    }

    /// The oldest sealed segments, together of at most `bytes`; one at least, if there is one.
    pub fn oldest(&self, bytes: u64) -> Vec<Sealed> {
        let mut sum = 0;
        let fits = |sealed: &&Sealed| {
            sum += sealed.bytes;
            sum <= bytes || sum == sealed.bytes
        };
        self.sealed.iter().take_while(fits).cloned().collect()
    }

    /// Removes a segment that was taken.
    ///
    /// # Errors
    /// Where the file cannot be removed; the segment stays.
    pub fn remove(&mut self, sealed: &Sealed) -> Result<(), Error> {
        match fs::remove_file(&sealed.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(system(&sealed.path)(error));
            }
            _ => self.forget(sealed),
        }
        self.bytes = self.bytes.saturating_sub(sealed.bytes);
        Ok(())
    }

    /// Sets a damaged segment aside and returns its new name. It counts against the limit until it is
    /// moved away and the program starts again.
    ///
    /// # Errors
    /// Where the file cannot be renamed; the segment stays.
    pub fn set_aside(&mut self, sealed: &Sealed) -> Result<PathBuf, Error> {
        let aside = sealed.path.with_extension(DAMAGED);
        match fs::rename(&sealed.path, &aside) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(system(&sealed.path)(error));
            }
            Err(_) => self.bytes = self.bytes.saturating_sub(sealed.bytes),
            Ok(()) => {}
        }
        self.forget(sealed);
        Ok(aside)
    }

    /// The bytes of all segments.
    pub fn bytes(&self) -> u64 {
        self.bytes + self.open.as_ref().map_or(0, |open| open.length)
    }

    /// The records that wait.
    pub fn records(&self) -> u64 {
        let open = self.open.as_ref().map_or(0, |open| open.totals.records);
        self.sealed.iter().map(|sealed| sealed.records).sum::<u64>() + open
    }

    /// The number of sealed segments that wait.
    pub fn sealed(&self) -> usize {
        self.sealed.len()
    }

    /// The time of the first frame that is not sealed.
    pub fn open_since(&self) -> Option<SystemTime> {
        let open = self.open.as_ref().filter(|open| open.totals.frames > 0);
        open.map(|open| open.since)
    }

    /// The time of the oldest frame that waits.
    pub fn since(&self) -> Option<SystemTime> {
        self.sealed.front().map(|sealed| sealed.since).or_else(|| self.open_since())
    }

    /// The limit of [`Self::bytes`].
    pub const fn limit(&self) -> u64 {
        self.limit
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn forget(&mut self, sealed: &Sealed) {
        self.sealed.retain(|one| one.number != sealed.number);
    }

    /// Writes the present segment anew if its file was moved or deleted.
    fn keep_in_place(&mut self) -> Result<(), Error> {
        let Some(open) = self.open.as_mut().filter(|open| !open.is_in_place()) else {
            return Ok(());
        };
        let (frames, totals) = (open.frames()?, open.totals);
        fs::create_dir_all(&self.folder).map_err(system(&self.folder))?;
        let mut anew = Segment::create(&self.folder, take(&mut self.next))?;
        anew.adopt(&frames, totals)?;
        self.open = Some(anew);
        Ok(())
    }

    fn recover(&mut self) -> Result<Recovery, Error> {
        let failed = || system(&self.folder);
        let mut recovery = Recovery::default();
        let (mut open, mut sealed) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(&self.folder).map_err(failed())? {
            let path = entry.map_err(failed())?.path();
            match path.extension().and_then(|ending| ending.to_str()) {
                Some(OPEN) => open.push(path),
                Some(SEALED) => sealed.extend(Sealed::found(path)),
                Some(DAMAGED) => self.bytes += fs::metadata(&path).map_or(0, |found| found.len()),
                _ => {}
            }
        }
        for path in open {
            sealed.extend(self.seal_found(path, &mut recovery)?);
        }
        sealed.sort_by_key(|one| one.number);
        for one in sealed {
            recovery.segments += 1;
            recovery.records += one.records;
            self.bytes += one.bytes;
            self.next = self.next.max(one.number + 1);
            self.sealed.push_back(one);
        }
        Ok(recovery)
    }

    /// Seals a segment that an earlier run did not seal.
    fn seal_found(
        &mut self,
        path: PathBuf,
        recovery: &mut Recovery,
    ) -> Result<Option<Sealed>, Error> {
        let failed = || system(&path);
        let bytes = fs::read(&path).map_err(failed())?;
        let (end, totals, is_damaged) = Contents::of_open(&bytes);
        let number = path.file_stem().and_then(|stem| stem.to_str()?.parse::<u64>().ok());
        let number = number.unwrap_or(self.next);
        self.next = self.next.max(number + 1);
        if totals.frames == 0 {
            recovery.torn += bytes.len().saturating_sub(PREFIX) as u64;
            fs::remove_file(&path).map_err(failed())?;
            return Ok(None);
        }
        let to = self.folder.join(name(number, totals));
        if !is_damaged {
            recovery.torn += (bytes.len() - end) as u64;
            let file = OpenOptions::new().write(true).open(&path).map_err(failed())?;
            file.set_len(end as u64).and_then(|()| file.sync_all()).map_err(failed())?;
        } else {
            // Its reader finds what is whole, and counts the rest.
            recovery.damaged.push(to.clone());
        }
        fs::rename(&path, &to).map_err(failed())?;
        sync_folder(&self.folder)?;
        Ok(Sealed::found(to))
    }
}

fn take(next: &mut u64) -> u64 {
    *next += 1;
    *next - 1
}

/// Locks the folder for this process.
fn lock(folder: &Path) -> Result<File, Error> {
    let path = folder.join("lock");
    let mut options = OpenOptions::new();
    let file = options.write(true).create(true).truncate(false).mode(0o600).open(&path);
    let file = file.map_err(system(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::new(folder, Obstacle::Locked)),
        Err(TryLockError::Error(error)) => Err(system(&path)(error)),
    }
}
