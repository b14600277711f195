//! The lines that wait for their writer, with exact counts.

use std::time::{Duration, Instant};

use crate::record::Error;

/// The shortest time between two messages about the same trouble.
const MESSAGE_INTERVAL: Duration = Duration::from_secs(60);
/// The longest that a write usually takes. A longer one stalls: the disk hangs, or the reader of the
/// output has stopped.
const STALL: Duration = Duration::from_secs(5);

/// The state behind the lock of a log.
#[derive(Debug, Default)]
pub(super) struct State {
    /// The waiting lines.
    pub(super) lines: Vec<u8>,
    pub(super) waiting: u64,
    /// The lines that the writer took and has not written, and the bytes of all that it took.
    pub(super) taken: u64,
    pub(super) taken_bytes: usize,
    /// The number of waiting bytes that wakes the writer.
    pub(super) wake_at: usize,
    pub(super) phase: Phase,
    /// The start of the write in progress.
    pub(super) writing_since: Option<Instant>,
    /// The failure that stops the writing at present.
    pub(super) trouble: Option<Error>,
    /// The lines that were dropped and in no message yet.
    pub(super) untold: u64,
    /// The time of the last message about dropped lines, and about a failure.
    pub(super) told: [Option<Instant>; 2],
}

/// The life of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    #[default]
    Open,
    /// The log takes nothing more; the writer still writes the rest.
    Closing,
    /// The writer writes nothing more.
    Abandoned,
    /// The writer has stopped.
    Finished,
}

impl State {
    /// Why a line finds no room at present.
    pub(super) fn cause(&self) -> &'static str {
        let is_stalled = self.writing_since.is_some_and(|since| since.elapsed() >= STALL);
        match &self.trouble {
            Some(error) => error.code(),
            None if self.phase != Phase::Open => "store.stopped",
            None if is_stalled => "store.stalled",
            None => "store.overflow",
        }
    }

    /// Whether it is time for another message about dropped lines. Returns their number since the
    /// last one.
    pub(super) fn drops_to_tell(&mut self, now: Instant) -> Option<u64> {
        let is_due = self.untold > 0 && is_due(&mut self.told[0], now);
        is_due.then(|| std::mem::take(&mut self.untold))
    }

    /// Whether it is time for another message about a failure that lasts.
    pub(super) fn may_complain(&mut self, now: Instant) -> bool {
        is_due(&mut self.told[1], now)
    }
}

/// Whether the last message is long enough ago; if so, its time becomes now.
fn is_due(last: &mut Option<Instant>, now: Instant) -> bool {
    let is_due = last.is_none_or(|at| now.duration_since(at) >= MESSAGE_INTERVAL);
    if is_due {
        *last = Some(now);
    }
    is_due
}
