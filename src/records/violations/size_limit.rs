//! The rule for the size of a database. It needs no clock of the wall.
//!
//! The size is that of the pages in use and of the write-ahead log; pages that a removal freed take
//! new rows. From [`HIGH`] of the limit, the oldest rows go in small pieces, down to [`LOW`]. At the
//! limit itself, new records are only counted. Records go first. Counts by hour go where they alone
//! take more than their share, or where no record is left.
//!
//! A reader that does not end keeps the log from being emptied. The removal of rows cannot make the log
//! shorter, so none is removed for it; beyond a share of the limit, nothing is written any more.

use std::time::{Duration, Instant};

/// The parts of the limit, in percent, from which and down to which rows go.
const HIGH: u64 = 98;
const LOW: u64 = 95;
/// The part that counts by hour may take, in percent.
const SHARE_OF_COUNTS: u64 = 50;
/// The part that the log may take, and the least bytes of it.
const SHARE_OF_LOG: u64 = 25;
const LEAST_LOG: u64 = 16 << 20;
/// The part that the log may take before upkeep waits for its reader. New records need the rest.
const SHARE_OF_UPKEEP: u64 = 1;
/// The most rows of a kind in one transaction.
pub(super) const PIECE: u64 = 1000;
/// The pause where nothing is left that may go.
const NOTHING_LEFT: Duration = Duration::from_secs(60);

/// The shortest time between two log lines about a full database.
const WARNING_INTERVAL: Duration = Duration::from_secs(600);

/// What counts against the limit, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) pages: u64,
    /// The write-ahead log.
    pub(super) log: u64,
}

/// The parts of the pages in use, in bytes, approximately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Parts {
    pub(super) records: u64,
    /// The history of robots.txt, which no limit of size removes.
    pub(super) history: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Records,
    Counts,
}

impl Extent {
    pub(super) const fn bytes(self) -> u64 {
        self.pages.saturating_add(self.log)
    }
}

impl Kind {
    pub(super) const fn other(self) -> Self {
        match self {
            Self::Records => Self::Counts,
            Self::Counts => Self::Records,
        }
    }
}

#[derive(Debug)]
pub(super) struct SizeLimit {
    pub(super) most: u64,
    is_sweeping: bool,
    next: Instant,
    next_warning: Instant,
}

impl SizeLimit {
    pub(super) const fn new(most: u64, now: Instant) -> Self {
        Self { most, is_sweeping: false, next: now, next_warning: now }
    }

    /// Whether new records are only counted.
    pub(super) const fn is_full(&self, extent: Extent) -> bool {
        extent.bytes() >= self.most
    }

    /// Whether the log is so long that nothing is written until its reader ends.
    pub(super) fn is_log_too_long(&self, log: u64) -> bool {
        log > part(self.most, SHARE_OF_LOG).max(LEAST_LOG)
    }

    /// The length of a log that upkeep may reach while a reader holds it.
    pub(super) fn room_of_upkeep(&self) -> u64 {
        part(self.most, SHARE_OF_UPKEEP)
    }

    pub(super) fn is_due(&mut self, now: Instant, extent: Extent) -> bool {
        let above = if self.is_sweeping { LOW } else { HIGH };
        self.is_sweeping = extent.pages > part(self.most, above);
        self.is_sweeping && now >= self.next && !self.is_log_too_long(extent.log)
    }

    pub(super) fn first(&self, extent: Extent, parts: Parts) -> Kind {
        let counts = extent.pages.saturating_sub(parts.records.saturating_add(parts.history));
        if counts > part(self.most, SHARE_OF_COUNTS) { Kind::Counts } else { Kind::Records }
    }

    /// Schedules the next piece after one of `rows` rows that began at `start`. A writer that has room
    /// has half of the time.
    pub(super) fn removed(&mut self, rows: u64, start: Instant, now: Instant, is_full: bool) {
        self.next = match rows {
            0 => now + NOTHING_LEFT,
            _ if is_full => now,
            _ => now + now.saturating_duration_since(start),
        };
    }

    pub(super) fn put_off(&mut self, now: Instant) {
        self.next = now + NOTHING_LEFT;
    }

    pub(super) fn may_warn(&mut self, now: Instant) -> bool {
        let is_due = now >= self.next_warning;
        if is_due {
            self.next_warning = now + WARNING_INTERVAL;
        }
        is_due
    }

    /// The time until the next piece; `None` between sweeps.
    pub(super) fn rest(&self, now: Instant) -> Option<Duration> {
        self.is_sweeping.then(|| self.next.saturating_duration_since(now))
    }
}

const fn part(size: u64, percent: u64) -> u64 {
    size / 100 * percent
}

#[cfg(test)]
mod tests;
