//! How full a database is, and may become: told by its writer, asked by its queue.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use derive_more::AddAssign;
use parking_lot::Mutex;

use super::{retention::Retention, size_limit::SizeLimit};

/// The records that the database removed since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, AddAssign)]
pub struct Removed {
    /// Those older than the retention.
    pub by_age: u64,
    /// The oldest ones of a database that reached its limit of size.
    pub by_size: u64,
    /// Those of a database that was moved, deleted, emptied or damaged while it was in use.
    pub by_loss: u64,
}

/// The state of a database that its queue and metrics ask for. Other targets are never full.
#[derive(Debug, Default)]
pub(super) struct Fill {
    is_full: AtomicBool,
    is_shut: AtomicBool,
    bytes: AtomicU64,
    removed: Mutex<Removed>,
}

impl Fill {
    /// Notes the size, and returns whether the database has become full.
    pub(super) fn note(&self, bytes: u64, is_full: bool) -> bool {
        self.bytes.store(bytes, Ordering::Relaxed);
        !self.is_full.swap(is_full, Ordering::Relaxed) && is_full
    }

    /// Whether further records are only counted.
    pub(super) fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }

    /// Notes whether the target takes no record at present, but still takes counts and notes.
    pub(super) fn shut(&self, is_shut: bool) {
        self.is_shut.store(is_shut, Ordering::Relaxed);
    }

    /// Whether further records are dropped.
    pub(super) fn is_shut(&self) -> bool {
        self.is_shut.load(Ordering::Relaxed)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(super) fn count(&self, removed: Removed) {
        *self.removed.lock() += removed;
    }

    pub(super) fn removed(&self) -> Removed {
        *self.removed.lock()
    }
}

/// The limits of a database, and who is told how full it is. The default has none.
#[derive(Debug, Default)]
pub(super) struct Limits {
    pub(super) age: Option<Retention>,
    pub(super) size: Option<SizeLimit>,
    pub(super) fill: Arc<Fill>,
}

impl Limits {
    pub(super) fn put_off(&mut self, now: Instant) {
        self.age.iter_mut().for_each(|age| age.put_off(now));
        self.size.iter_mut().for_each(|size| size.put_off(now));
    }

    pub(super) fn rest(&self, now: Instant) -> Duration {
        let age = self.age.as_ref().map(|age| age.rest(now));
        let size = self.size.as_ref().and_then(|size| size.rest(now));
        age.into_iter().chain(size).min().unwrap_or(Duration::MAX)
    }
}
