//! The lines that wait for their writer, with exact counts.

use std::time::Instant;

use crate::records::record::Error;

use super::life::{Phase, is_due};

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

impl State {
    /// Why a line finds no room at present.
    pub(super) fn cause(&self) -> &'static str {
        self.phase.cause(self.trouble.as_ref(), self.writing_since)
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
