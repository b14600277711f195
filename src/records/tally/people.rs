//! Requests of people: one number for each site and hour.

use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::rollup::Hour;

/// The requests of people to one site that are not yet written, by hour.
#[derive(Debug, Default)]
pub struct People {
    /// The hours in the order of their first requests: nearly always one.
    counts: Mutex<Vec<(Hour, u64)>>,
    is_watched: AtomicBool,
}

impl People {
    /// Counts a request.
    pub(super) fn add(&self, hour: Hour) {
        let mut counts = self.counts.lock();
        match counts.iter_mut().rfind(|(of, _)| *of == hour) {
            Some((_, requests)) => *requests += 1,
            None => counts.push((hour, 1)),
        }
    }

    /// Takes the counts.
    pub(super) fn drain(&self) -> Vec<(Hour, u64)> {
        std::mem::take(&mut self.counts.lock())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.counts.lock().is_empty()
    }

    /// Whether its counts are not drained yet by anyone; from now on, they are.
    pub(super) fn watch(&self) -> bool {
        !self.is_watched.load(Ordering::Relaxed) && !self.is_watched.swap(true, Ordering::AcqRel)
    }
}
