//! The state of a queue: its records, its notes, and exact counts of both.

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use crate::violations::{Error, Overflow, Violation, notes::Notes, overflow::Tally};

/// The most bytes of waiting records.
pub(super) const BYTES: usize = 32 << 20;
/// The shortest time between two log lines about a full queue.
const WARNING_INTERVAL: Duration = Duration::from_secs(60);

/// The records of a queue, counted by state. At every moment `seen == stored + dropped + queued`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Records that were handed over.
    pub seen: u64,
    /// Records that were written and acknowledged: committed to the database, or flushed to a log.
    pub stored: u64,
    /// Records that found no room, and are only counted ([`Overflow`]).
    pub dropped: u64,
    /// Records that wait or are being written.
    pub queued: u64,
}

/// Whether records are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    /// Records are written.
    Ok,
    /// Records are not written at present; holds the reason and its repair.
    Degraded(String),
}

/// The state behind the lock of a queue.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) waiting: VecDeque<Arc<Violation>>,
    /// The bytes of the waiting and taken records.
    pub(super) bytes: usize,
    /// The records that the writer took and has not acknowledged.
    pub(super) taken: Arc<[Arc<Violation>]>,
    pub(super) notes: Notes,
    /// The number of editions that the writer took and has not acknowledged.
    pub(super) taken_editions: usize,
    /// The number of editions that found no room or were abandoned.
    pub(super) lost_editions: usize,
    pub(super) seen: u64,
    pub(super) stored: u64,
    pub(super) dropped: u64,
    pub(super) overflow: Tally,
    /// The part of the overflow that is not yet written.
    pub(super) owed: Tally,
    pub(super) owed_since: Option<Instant>,
    /// The time of the last log line about a full queue.
    pub(super) warned: Option<Instant>,
    /// The queue length that wakes the writer.
    pub(super) wake_at: usize,
    /// The failure that stops the writing at present.
    pub(super) trouble: Option<Error>,
    pub(super) phase: Phase,
}

/// The life of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    #[default]
    Open,
    /// The queue takes nothing more; the writer still writes the rest.
    Closing,
    /// The writer writes nothing more.
    Abandoned,
    /// The writer has stopped.
    Finished,
}

impl State {
    pub(super) fn has_work(&self) -> bool {
        !(self.waiting.is_empty() && self.notes.is_empty() && self.owed.is_empty())
    }

    /// Whether it is time for another log line about a full queue.
    pub(super) fn may_warn(&mut self) -> bool {
        let is_old = self.warned.is_none_or(|at| at.elapsed() >= WARNING_INTERVAL);
        if is_old {
            self.warned = Some(Instant::now());
        }
        is_old
    }

    pub(super) fn counts(&self) -> Counts {
        let queued = (self.waiting.len() + self.taken.len()) as u64;
        Counts { seen: self.seen, stored: self.stored, dropped: self.dropped, queued }
    }

    /// Counts the record as dropped.
    pub(super) fn drop_record(&mut self, violation: &Violation) {
        self.dropped += 1;
        self.overflow.add(violation);
        self.owed.add(violation);
        self.owed_since.get_or_insert_with(Instant::now);
    }

    /// Takes the overflow that is not yet written.
    pub(super) fn settle(&mut self) -> Vec<Overflow> {
        self.owed_since = None;
        self.owed.drain()
    }

    /// Drops and counts all records that are not written.
    pub(super) fn abandon(&mut self) {
        let taken = std::mem::take(&mut self.taken);
        let waiting = std::mem::take(&mut self.waiting);
        for violation in taken.iter().chain(&waiting) {
            self.drop_record(violation);
        }
        self.bytes = 0;
        self.lost_editions += std::mem::take(&mut self.taken_editions);
        self.lost_editions += std::mem::take(&mut self.notes).editions().len();
        self.phase = Phase::Abandoned;
    }
}
