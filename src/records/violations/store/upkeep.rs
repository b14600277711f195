//! The upkeep of a database between batches: what is too old goes, and what is too much.

use std::time::Instant;

use jiff::Timestamp;

use super::{appender::Appender, files::Checkpoint};
use crate::records::{
    record::{Error, Obstacle},
    violations::{
        Removed,
        size_limit::{Extent, PIECE, SizeLimit},
    },
};

/// The length of a write-ahead log that summaries do not make longer.
const LONG_LOG: u64 = 64 << 20;

impl Appender {
    pub(super) fn remove_old(&mut self) -> Result<(), Error> {
        self.remove_by_age()?;
        match self.measure() {
            Ok(extent) => self.remove_by_size(extent),
            Err(error) if error.is_damage() => Err(error),
            // Everything else shows when the database is written.
            Err(_) => Ok(()),
        }
    }

    fn remove_by_age(&mut self) -> Result<(), Error> {
        let now = Instant::now();
        let Some(age) = self.limits.age.as_mut().filter(|age| age.rest(now).is_zero()) else {
            return Ok(());
        };
        let Some(store) = &mut self.store else {
            age.put_off(now);
            return Ok(());
        };
        if let Some(piece) = age.piece(now, Timestamp::now(), store.extent()?) {
            let removal = store.prune(piece)?;
            age.removed(piece, removal.most(), now);
            self.limits.fill.count(Removed { by_age: removal.records, ..Removed::default() });
            self.empty_log()?;
        }
        Ok(())
    }

    fn remove_by_size(&mut self, extent: Extent) -> Result<(), Error> {
        let start = Instant::now();
        let (Some(size), Some(store)) = (&mut self.limits.size, &mut self.store) else {
            return Ok(());
        };
        if !size.is_due(start, extent) {
            return Ok(());
        }
        let first = size.first(extent, store.parts()?);
        let mut removal = store.remove_oldest(first, PIECE)?;
        if removal.most() == 0 {
            removal = store.remove_oldest(first.other(), PIECE)?;
        }
        if removal.most() == 0 {
            tracing::warn!(
                code = "store.at_limit",
                bytes = extent.bytes(),
                max_size = size.most,
                "the history of robots.txt alone exceeds violations.max_size: raise it"
            );
        }
        size.removed(removal.most(), start, Instant::now(), size.is_full(extent));
        self.limits.fill.count(Removed { by_size: removal.records, ..Removed::default() });
        self.empty_log()?;
        self.measure().map(drop)
    }

    pub(super) fn summarise(&mut self) -> Result<(), Error> {
        let start = Instant::now();
        if !self.pace.is_due(start) {
            return Ok(());
        }
        if self.is_log_held {
            self.empty_log()?;
        }
        let size = self.limits.size.as_ref();
        let log = self.files.log.length;
        // A log that a reader holds only grows.
        let has_room = log < size.map_or(LONG_LOG, SizeLimit::room_of_upkeep).min(LONG_LOG);
        let is_written = match &mut self.store {
            Some(store) if has_room || !self.is_log_held => store.summarise()?,
            _ => false,
        };
        if is_written {
            self.empty_log()?;
        }
        self.pace.did(is_written, start, Instant::now());
        Ok(())
    }

    /// Measures the database, and tells its queue whether it has room.
    fn measure(&mut self) -> Result<Extent, Error> {
        let Some(store) = &mut self.store else { return Ok(Extent::default()) };
        let extent = Extent { pages: store.bytes_in_use()?, log: self.files.log.length };
        let (limit, now) = (self.limits.size.as_mut(), Instant::now());
        let is_full = limit.as_ref().is_some_and(|size| size.is_full(extent));
        let has_become_full = self.limits.fill.note(extent.bytes(), is_full);
        if let Some(size) = limit.filter(|_| has_become_full)
            && size.may_warn(now)
        {
            tracing::warn!(
                code = "store.at_limit",
                bytes = extent.bytes(),
                log = extent.log,
                max_size = size.most,
                "the database has reached violations.max_size: until the oldest records are removed, \
                 violations are counted without a record"
            );
        }
        Ok(extent)
    }

    /// Fails while a reader keeps the log from being emptied, and the log is too long.
    pub(super) fn check_log(&mut self) -> Result<(), Error> {
        if !self.is_log_too_long() {
            return Ok(());
        }
        self.empty_log()?;
        if !self.is_log_too_long() {
            return Ok(());
        }
        let obstacle = Obstacle::LogHeld(self.files.log.length);
        Err(Error { path: self.path.clone(), obstacle })
    }

    fn is_log_too_long(&self) -> bool {
        let size = self.limits.size.as_ref();
        size.is_some_and(|size| size.is_log_too_long(self.files.log.length))
    }

    /// Copies the log into the database, and empties it if no reader needs it. Waits a moment for
    /// readers, but not again for one that was waited for in vain.
    pub(super) fn empty_log(&mut self) -> Result<(), Error> {
        let Some(store) = &mut self.store else { return Ok(()) };
        if self.is_log_held {
            self.is_log_held = !store.checkpoint(Checkpoint::Passive)?.is_complete();
        }
        if !self.is_log_held {
            self.is_log_held = !store.checkpoint(Checkpoint::Truncate)?.is_complete();
        }
        self.files.follow(&self.path);
        Ok(())
    }
}
