//! The schedule of removals, which limits the damage of a wrong clock.
//!
//! Old records go in passes some minutes apart. Each pass runs in small transactions, between which
//! new records are written. A pass removes at most a twentieth of all records, and no pass runs
//! right after the wall clock jumped. Fetches and editions of robots.txt go in the same passes, a
//! cache window after the records: a record is proved by every edition that its crawler could hold.

use std::time::{Duration, Instant};

use jiff::Timestamp;

const INTERVAL: Duration = Duration::from_secs(600);
/// The time from the start to the first pass.
const FIRST: Duration = Duration::from_secs(60);
/// The most records in one transaction.
const PIECE: u64 = 1000;
/// A pass may remove one in this many of all records, and a [`PIECE`] at least.
const SHARE: u64 = 20;
/// The most that the wall clock may differ from the monotonic clock between two passes.
const LEEWAY: Duration = Duration::from_secs(3600);

#[derive(Debug)]
pub(super) struct Retention {
    keep: Duration,
    /// How long a replaced edition stays after the records of its time.
    window: Duration,
    next: Instant,
    /// Both clocks at their last comparison.
    compared: (Instant, Timestamp),
    /// How many records the present pass may still remove; `None` between passes.
    allowance: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) before: Timestamp,
    /// Editions that were replaced before this time may go, and so may fetches. It is a window
    /// before `before`: the crawler of the oldest record could still use later ones.
    pub(super) replaced_before: Timestamp,
    pub(super) limit: u64,
}

impl Retention {
    /// A schedule that keeps records for `keep`, and replaced editions for `window` longer.
    pub(super) fn new(keep: Duration, window: Duration, now: Instant, wall: Timestamp) -> Self {
        Self { keep, window, next: now + FIRST, compared: (now, wall), allowance: None }
    }

    pub(super) fn rest(&self, now: Instant) -> Duration {
        self.next.saturating_duration_since(now)
    }

    /// The piece that may go now, of about `records` records.
    pub(super) fn piece(&mut self, now: Instant, wall: Timestamp, records: u64) -> Option<Piece> {
        if now < self.next {
            return None;
        }
        if self.allowance.is_none() && self.has_clock_moved(now, wall) {
            tracing::warn!(
                code = "store.clock_moved",
                "the clock jumped: this pass removes no old violations"
            );
            self.next = now + INTERVAL;
            return None;
        }
        let allowance = self.allowance.unwrap_or_else(|| (records / SHARE).max(PIECE));
        self.allowance = Some(allowance);
        let back = |time: Duration| wall.checked_sub(time).unwrap_or(Timestamp::MIN);
        let before = back(self.keep);
        let replaced_before = back(self.keep.saturating_add(self.window));
        Some(Piece { before, replaced_before, limit: allowance.min(PIECE) })
    }

    pub(super) fn removed(&mut self, piece: Piece, count: u64, now: Instant) {
        let left = self.allowance.unwrap_or(0).saturating_sub(count);
        let is_over = count < piece.limit || left == 0;
        self.allowance = (!is_over).then_some(left);
        if is_over {
            self.next = now + INTERVAL;
        }
    }

    pub(super) fn put_off(&mut self, now: Instant) {
        self.allowance = None;
        self.next = now + INTERVAL;
    }

    fn has_clock_moved(&mut self, now: Instant, wall: Timestamp) -> bool {
        let (then, wall_then) = self.compared;
        self.compared = (now, wall);
        let went_by = now.saturating_duration_since(then);
        let shown = Duration::try_from(wall.duration_since(wall_then)).unwrap_or(Duration::MAX);
        shown.abs_diff(went_by) > LEEWAY
    }
}

#[cfg(test)]
mod tests;
