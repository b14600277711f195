//! The state of a queue: its records, its notes, and exact counts of both.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::{Duration, Instant},
};

use crate::{
    base::text::Text,
    records::{
        lines::{Phase, STALL, is_due},
        record::{Error, Overflow, Tally, Violation},
        tally::{Series, Tallied},
        violations::{NoteCounts, notes::Notes},
    },
};

/// The most bytes of waiting records.
pub(super) const BYTES: usize = 32 << 20;

/// A violation on its way to the store, with what only the counts by hour need.
#[derive(Clone, Debug)]
pub struct Record {
    /// The violation.
    pub violation: Violation,
    /// Its place in the counts; `None` if nothing keeps counts.
    pub tallied: Option<Tallied>,
}

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
    pub(super) batch: u64,
    /// The requests whose counts the writer took and has not acknowledged.
    pub(super) taken_requests: u64,
    /// The requests whose counts were abandoned.
    pub(super) lost_requests: u64,
    pub(super) writing_since: Option<Instant>,
    /// Without those in [`Counts::queued`]. Of folded ones, those for which a database at its limit of size
    /// had no room.
    pub(super) accounts: Counts,
    pub(super) drops: BTreeMap<&'static str, u64>,
    pub(super) overflow: Tally,
    /// The part of the overflow that is not yet written.
    pub(super) owed: Tally,
    pub(super) owed_since: Option<Instant>,
    /// The number of dropped records that the writer took to write their counts.
    pub(super) taken_owed: u64,
    pub(super) warned: Option<Instant>,
    /// The queue length that wakes the writer.
    pub(super) wake_at: usize,
    pub(super) trouble: Option<Error>,
    pub(super) complained: Option<Instant>,
    pub(super) phase: Phase,
}

impl State {
    pub(super) fn has_work(&self) -> bool {
        !(self.waiting.is_empty() && self.notes.is_empty() && self.owed.is_empty())
    }

    pub(super) fn may_warn(&mut self) -> bool {
        is_due(&mut self.warned, Instant::now())
    }

    pub(super) fn may_complain(&mut self) -> bool {
        is_due(&mut self.complained, Instant::now())
    }

    /// How long the write in progress has stalled, if it does.
    pub(super) fn stalled_for(&self) -> Option<Duration> {
        let writing = self.writing_since.map(|since| since.elapsed());
        // The pauses between retries count as writing; their failure is known.
        writing.filter(|writing| self.trouble.is_none() && *writing >= STALL)
    }

    pub(super) fn cause(&self) -> &'static str {
        self.phase.cause(self.trouble.as_ref(), self.writing_since)
    }

    pub(super) fn counts(&self) -> Counts {
        let queued = (self.waiting.len() + self.taken.len()) as u64;
        Counts { queued, ..self.accounts }
    }

    pub(super) fn drop_record(&mut self, violation: &Violation, cause: &'static str) {
        self.accounts.dropped += 1;
        *self.drops.entry(cause).or_default() += 1;
        self.overflow.add(violation);
        self.owed.add(violation);
        self.owed_since.get_or_insert_with(Instant::now);
    }

    pub(super) fn fold(&mut self) -> Vec<Arc<Record>> {
        let waiting: Vec<_> = self.waiting.drain(..).collect();
        let weight: usize = waiting.iter().map(|record| record.violation.weight()).sum();
        self.bytes = self.bytes.saturating_sub(weight);
        self.accounts.folded += waiting.len() as u64;
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

    pub(super) fn settle(&mut self) -> Vec<Overflow> {
        self.owed_since = None;
        self.owed.drain()
    }

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

impl Series {
    /// The series of a violation by a client of this class.
    pub fn of(violation: &Violation, class: &'static str) -> Self {
        let Violation { robots, robots_read, .. } = violation;
        Self {
            site: violation.site.clone(),
            class: Text::word(class),
            product_token: match violation.product_token.as_str() {
                Violation::NAMELESS => Text::default(),
                _ => violation.product_token.clone(),
            },
            purpose: violation.purpose.clone().unwrap_or_default(),
            standing: violation.standing.clone(),
            verdict: violation.verdict.clone(),
            action: violation.action.clone(),
            reason: violation.reason.clone(),
            edition: robots.edition.clone(),
            line: robots.line.unwrap_or(0),
            directive: robots.directive.clone(),
            pattern: robots.pattern.clone(),
            read: Some(robots_read.state),
        }
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
