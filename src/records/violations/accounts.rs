//! The state of a queue: its records, its notes, and exact counts of both.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::{Duration, Instant},
};

use crate::records::{
    lines::{Phase, STALL, is_due},
    record::{Error, Overflow, Tally, Violation},
    violations::{NoteCounts, Record, notes::Notes},
};

/// The most bytes of waiting records.
pub(super) const BYTES: usize = 32 << 20;
/// Violations, counted by state. At every moment `seen == stored + folded + dropped + queued`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All violations.
    pub seen: u64,
    /// Records that were written and acknowledged: committed to the database, or flushed to a log.
    pub stored: u64,
    /// Violations beyond `violations.detail`, or for which a database at `violations.max_size` has no
    /// room. They are only counted.
    pub folded: u64,
    /// Records that found no room, and are only counted ([`Overflow`]).
    pub dropped: u64,
    /// Records that wait or are being written.
    pub queued: u64,
}

/// The records that one destination dropped for one cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drops {
    /// `database`, `log`, or `nothing` where the policy keeps no records.
    pub destination: &'static str,
    /// The code of the failure that stopped the writing ([`Error::code`]); `store.stalled` where a
    /// write did not end, `store.stopped` at the end of the process, `store.overflow` where records
    /// came faster than they could be written.
    pub cause: &'static str,
    /// The number of records.
    pub count: u64,
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
    pub(super) waiting: VecDeque<Arc<Record>>,
    /// The bytes of the waiting and taken records.
    pub(super) bytes: usize,
    /// The records that the writer took and has not acknowledged.
    pub(super) taken: Arc<[Arc<Record>]>,
    pub(super) notes: Notes,
    /// The notes that the writer took and has not acknowledged.
    pub(super) taken_notes: Arc<Notes>,
    /// The notes that found no room or were abandoned.
    pub(super) lost: NoteCounts,
    /// The number of the last batch.
    pub(super) batch: u64,
    /// The requests whose counts the writer took and has not acknowledged.
    pub(super) taken_requests: u64,
    /// The requests whose counts were abandoned.
    pub(super) lost_requests: u64,
    /// The start of the write in progress.
    pub(super) writing_since: Option<Instant>,
    pub(super) seen: u64,
    pub(super) stored: u64,
    /// The records for which a database at its limit of size had no room.
    pub(super) folded: u64,
    pub(super) dropped: u64,
    /// The dropped records by cause.
    pub(super) drops: BTreeMap<&'static str, u64>,
    pub(super) overflow: Tally,
    /// The part of the overflow that is not yet written.
    pub(super) owed: Tally,
    pub(super) owed_since: Option<Instant>,
    /// The number of dropped records that the writer took to write their counts.
    pub(super) taken_owed: u64,
    /// The time of the last log line about a full queue.
    pub(super) warned: Option<Instant>,
    /// The queue length that wakes the writer.
    pub(super) wake_at: usize,
    /// The failure that stops the writing at present.
    pub(super) trouble: Option<Error>,
    /// The time of the last log line about it.
    pub(super) complained: Option<Instant>,
    pub(super) phase: Phase,
}

impl State {
    pub(super) fn has_work(&self) -> bool {
        !(self.waiting.is_empty() && self.notes.is_empty() && self.owed.is_empty())
    }

    /// Whether it is time for another log line about a full queue.
    pub(super) fn may_warn(&mut self) -> bool {
        is_due(&mut self.warned, Instant::now())
    }

    /// Whether it is time for another log line about the failure that stops the writing.
    pub(super) fn may_complain(&mut self) -> bool {
        is_due(&mut self.complained, Instant::now())
    }

    /// How long the write in progress has stalled, if it does.
    pub(super) fn stalled_for(&self) -> Option<Duration> {
        let writing = self.writing_since.map(|since| since.elapsed());
        // The pauses between retries count as writing; their failure is known.
        writing.filter(|writing| self.trouble.is_none() && *writing >= STALL)
    }

    /// Why a record finds no room at present.
    pub(super) fn cause(&self) -> &'static str {
        self.phase.cause(self.trouble.as_ref(), self.writing_since)
    }

    pub(super) fn counts(&self) -> Counts {
        let queued = (self.waiting.len() + self.taken.len()) as u64;
        let Self { seen, stored, folded, dropped, .. } = *self;
        Counts { seen, stored, folded, dropped, queued }
    }

    /// Counts the record as dropped.
    pub(super) fn drop_record(&mut self, violation: &Violation, cause: &'static str) {
        self.dropped += 1;
        *self.drops.entry(cause).or_default() += 1;
        self.overflow.add(violation);
        self.owed.add(violation);
        self.owed_since.get_or_insert_with(Instant::now);
    }

    /// Folds the waiting records, and returns them.
    pub(super) fn fold(&mut self) -> Vec<Arc<Record>> {
        let waiting: Vec<_> = self.waiting.drain(..).collect();
        let weight: usize = waiting.iter().map(|record| record.violation.weight()).sum();
        self.bytes = self.bytes.saturating_sub(weight);
        self.folded += waiting.len() as u64;
        waiting
    }

    pub(super) fn drop_waiting(&mut self, cause: &'static str) -> Vec<Arc<Record>> {
        let waiting: Vec<_> = self.waiting.drain(..).collect();
        for record in &waiting {
            self.bytes = self.bytes.saturating_sub(record.violation.weight());
            self.drop_record(&record.violation, cause);
        }
        waiting
    }

    /// Takes the overflow that is not yet written.
    pub(super) fn settle(&mut self) -> Vec<Overflow> {
        self.owed_since = None;
        self.owed.drain()
    }

    /// Drops and counts all records and notes that are not written.
    pub(super) fn abandon(&mut self) {
        let taken = std::mem::take(&mut self.taken);
        let waiting = std::mem::take(&mut self.waiting);
        let is_stalled = self.stalled_for().is_some();
        self.phase = Phase::Abandoned;
        let cause = if is_stalled { "store.stalled" } else { self.cause() };
        for record in taken.iter().chain(&waiting) {
            self.drop_record(&record.violation, cause);
        }
        self.bytes = 0;
        self.lost_requests += std::mem::take(&mut self.taken_requests);
        let taken = std::mem::take(&mut self.taken_notes);
        self.lost += std::mem::take(&mut self.notes).counts_with(&taken);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::lines::MESSAGE_INTERVAL;

    #[test]
    fn a_lasting_failure_is_said_once_a_minute() {
        let mut state = State::default();
        assert!(state.may_complain());
        assert!(!state.may_complain());
        state.complained = Instant::now().checked_sub(MESSAGE_INTERVAL);
        assert!(state.may_complain());
    }
}
