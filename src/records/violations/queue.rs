//! The bounded queue between the requests and one writer, with exact counts.
//!
//! One lock guards the queue and its counts, so that the counts add up at every
//! moment. A thread keeps it for some tens of nanoseconds and never during a write. The queue is
//! bounded in records and in bytes, because hostile requests make long records.

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::records::{
    lines::Phase,
    record::{Error, Overflow},
    tally::{Rollups, Tallied, Tally},
    violations::{
        Drops, Health, NoteCounts, Record,
        accounts::{BYTES, State},
        fill::Fill,
        notes::{Note, Notes},
    },
};

/// The most records in one transaction or write.
const BATCH: usize = 256;
/// How long a record waits for others to share its transaction.
const LINGER: Duration = Duration::from_millis(100);
/// How long counts wait that no record takes along.
const COUNTS_INTERVAL: Duration = Duration::from_millis(400);
/// How often the overflow is written while the queue stays full.
const OVERFLOW_INTERVAL: Duration = Duration::from_secs(10);

/// Why a record is dropped that a target without room for records does not take.
const SPOOL_FULL: &str = "store.spool_full";

/// The work of one write. The queue counts the records as queued until they are acknowledged.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// Counted from 1.
    pub(super) number: u64,
    pub(super) records: Arc<[Arc<Record>]>,
    pub(super) notes: Arc<Notes>,
    pub(super) overflow: Vec<Overflow>,
    pub(super) rollups: Rollups,
}

#[derive(Debug)]
pub(super) enum Order {
    Write(Box<Batch>),
    /// Nothing came in for a while.
    Rest,
    /// Everything is written and the queue is closed.
    Stop,
}

#[derive(Debug)]
pub(super) struct Queue {
    /// The name of its target in log lines: `database` or `log`.
    pub(super) target: &'static str,
    capacity: usize,
    state: Mutex<State>,
    wake: Condvar,
    finished: Condvar,
    tally: Arc<Tally>,
    fill: Arc<Fill>,
}

impl Queue {
    pub(super) fn new(
        target: &'static str,
        capacity: usize,
        tally: Arc<Tally>,
        fill: Arc<Fill>,
    ) -> Self {
        let state = State { waiting: VecDeque::with_capacity(capacity), ..State::default() };
        let (wake, finished) = (Condvar::new(), Condvar::new());
        Self { target, capacity, state: Mutex::new(state), wake, finished, tally, fill }
    }

    pub(super) fn push(&self, record: Arc<Record>) {
        let weight = record.violation.weight();
        let mut state = self.lock();
        state.accounts.seen += 1;
        if let Some(stalled) = state.stalled_for()
            && state.may_complain()
        {
            let (destination, seconds) = (self.target, stalled.as_secs());
            let code = "store.stalled";
            tracing::error!(code, destination, seconds, "a write does not end");
        }
        if self.fill.is_full() && state.phase == Phase::Open {
            state.accounts.folded += 1;
            drop(state);
            self.count_alone(&record, Tally::fold_record);
            return;
        }
        let is_shut = self.fill.is_shut();
        let has_room = !is_shut
            && state.waiting.len() + state.taken.len() < self.capacity
            && state.bytes + weight <= BYTES
            && state.phase == Phase::Open;
        if has_room {
            state.bytes += weight;
            state.waiting.push_back(record);
            let is_awaited = state.waiting.len() == state.wake_at;
            drop(state); // the woken thread needs the lock
            if is_awaited {
                self.wake.notify_one();
            }
            return;
        }
        let is_news = self.capacity > 0 && state.owed.is_empty() && state.may_warn();
        let cause = match self.capacity {
            0 => "store.no_destination",
            _ if is_shut && state.phase == Phase::Open => SPOOL_FULL,
            _ => state.cause(),
        };
        state.drop_record(&record.violation, cause);
        drop(state);
        self.count_alone(&record, Tally::drop_record);
        if is_news {
            tracing::error!(
                code = "store.overflow",
                destination = self.target,
                cause,
                "the queue of violations is full: further violations are only counted"
            );
        }
    }

    fn count_alone(&self, record: &Record, count: fn(&Tally, Timestamp, &Tallied)) {
        if let Some(tallied) = &record.tallied {
            count(&self.tally, record.violation.time, tallied);
        }
    }

    pub(super) fn push_note(&self, note: Note) {
        let mut state = self.lock();
        if state.phase != Phase::Open {
            let mut late = Notes::default();
            late.take(note);
            state.lost += late.counts();
            return;
        }
        let lost = state.notes.take(note);
        let is_news = lost != NoteCounts::default() && state.lost == NoteCounts::default();
        state.lost += lost;
        let is_awaited = state.wake_at == 1;
        drop(state);
        if is_awaited {
            self.wake.notify_one();
        }
        if is_news {
            tracing::error!(
                code = "store.history_lost",
                destination = self.target,
                editions = lost.editions,
                fetches = lost.fetches,
                "too many editions or fetches of robots.txt wait for the database: further ones \
                 are only counted"
            );
        }
    }

    /// Waits for work, at most for `patience`, and then a moment for more of it.
    pub(super) fn take(&self, patience: Duration) -> Order {
        self.tally.tell_folded(Some(Timestamp::now()));
        let until = Instant::now() + patience;
        let mut state = self.lock();
        state.wake_at = 1;
        // A request that is only counted wakes nobody.
        loop {
            let rest = until.saturating_duration_since(Instant::now());
            let is_idle = |s: &mut State| !s.has_work() && s.phase == Phase::Open;
            self.wait(&mut state, rest.min(COUNTS_INTERVAL), is_idle);
            if !is_idle(&mut state) || rest.is_zero() || !self.tally.is_empty() {
                break;
            }
        }
        let is_idle = !state.has_work() && self.tally.is_empty();
        match state.phase {
            Phase::Open if is_idle => return Order::Rest,
            Phase::Closing if is_idle => return Order::Stop,
            Phase::Open | Phase::Closing => {}
            Phase::Abandoned | Phase::Finished => return Order::Stop,
        }
        if self.fill.is_full() {
            let folded = state.fold();
            MutexGuard::unlocked(&mut state, || {
                folded.iter().for_each(|record| self.count_alone(record, Tally::fold_record));
            });
        }
        if self.fill.is_shut() {
            let dropped = state.drop_waiting(SPOOL_FULL);
            MutexGuard::unlocked(&mut state, || {
                dropped.iter().for_each(|record| self.count_alone(record, Tally::drop_record));
            });
        }
        state.wake_at = BATCH;
        let is_small = |s: &mut State| s.waiting.len() < BATCH && s.phase == Phase::Open;
        if state.has_work() {
            self.wait(&mut state, LINGER, is_small);
        }
        let length = state.waiting.len().min(BATCH);
        state.taken = state.waiting.drain(..length).collect();
        let is_due = state.waiting.is_empty()
            || state.owed_since.is_some_and(|since| since.elapsed() >= OVERFLOW_INTERVAL);
        let overflow = if is_due { state.settle() } else { Vec::new() };
        state.taken_owed = overflow.iter().map(|one| one.count).sum();
        let notes = Arc::new(std::mem::take(&mut state.notes));
        state.taken_notes = Arc::clone(&notes);
        state.batch += 1;
        state.writing_since = Some(Instant::now());
        let (number, records) = (state.batch, Arc::clone(&state.taken));
        drop(state);
        let rollups = self.take_counts(&records);
        Order::Write(Box::new(Batch { number, records, notes, overflow, rollups }))
    }

    /// Takes the counts, with those of the records that are taken.
    fn take_counts(&self, records: &[Arc<Record>]) -> Rollups {
        if !self.tally.keeps_rollups {
            return Rollups::default();
        }
        let tallied = records
            .iter()
            .filter_map(|record| Some((record.violation.time, record.tallied.as_ref()?)));
        let counts = self.tally.take(tallied.clone());
        let requests = counts.requests();
        let mut state = self.lock();
        match state.phase {
            Phase::Open | Phase::Closing => state.taken_requests = requests,
            Phase::Abandoned | Phase::Finished => state.lost_requests += requests,
        }
        drop(state);
        counts.rollups(tallied)
    }

    pub(super) fn acknowledge(&self) {
        let mut state = self.lock();
        // Empty if the queue was abandoned meanwhile, so no record counts twice.
        let taken = std::mem::take(&mut state.taken);
        state.accounts.stored += taken.len() as u64;
        state.taken_notes = Arc::default();
        state.taken_owed = 0;
        state.taken_requests = 0;
        let stalled = state.stalled_for();
        state.writing_since = None;
        drop(state);
        if let Some(stalled) = stalled {
            let (code, destination) = ("store.recovered", self.target);
            let seconds = stalled.as_secs();
            tracing::info!(code, destination, seconds, "a write that did not end has ended");
        }
        let weight: usize = taken.iter().map(|record| record.violation.weight()).sum();
        let mut state = self.lock();
        state.bytes = state.bytes.saturating_sub(weight);
    }

    /// Sets or clears the failure that stops the writing. Logs each change, and a lasting failure
    /// once a minute.
    pub(super) fn report(&self, trouble: Option<Error>) {
        let mut state = self.lock();
        if state.trouble == trouble && (trouble.is_none() || !state.may_complain()) {
            return;
        }
        state.complained = Some(Instant::now());
        state.trouble.clone_from(&trouble);
        let queued = state.counts().queued;
        drop(state);
        let destination = self.target;
        match trouble {
            Some(error) => tracing::error!(
                code = error.code(), destination, queued, %error,
                "cannot write violations: retrying"
            ),
            None => {
                let code = "store.recovered";
                tracing::info!(code, destination, queued, "writing violations again");
            }
        }
    }

    /// Waits before a retry; `false` if the queue was abandoned meanwhile.
    pub(super) fn pause(&self, delay: Duration) -> bool {
        let mut state = self.lock();
        let phase = state.phase;
        self.wait(&mut state, delay, |s| s.phase == phase);
        state.phase != Phase::Abandoned
    }

    pub(super) fn is_open(&self) -> bool {
        self.lock().phase == Phase::Open
    }

    /// Takes nothing more; the writer writes the rest and stops.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        if state.phase == Phase::Open {
            state.phase = Phase::Closing;
            self.wake.notify_all();
        }
    }

    /// Waits for the writer to stop, until `deadline`, and returns whether it did. Records that
    /// are left then count as dropped.
    pub(super) fn wait_finished(&self, deadline: Instant) -> bool {
        let mut state = self.lock();
        let patience = deadline.saturating_duration_since(Instant::now());
        let is_running = |s: &mut State| s.phase != Phase::Finished;
        self.finished.wait_while_for(&mut state, is_running, patience);
        let is_finished = state.phase == Phase::Finished;
        if !is_finished {
            // Said here: a writer that is stuck in a write says nothing before the process ends.
            self.abandon(&mut state);
            self.wake.notify_all();
        }
        is_finished
    }

    /// Marks the writer as stopped, for whatever reason; what is left counts as lost.
    pub(super) fn finish(&self) {
        let mut state = self.lock();
        if state.phase != Phase::Abandoned {
            self.abandon(&mut state);
        }
        state.phase = Phase::Finished;
        drop(state);
        self.tally.tell_folded(None);
        self.finished.notify_all();
    }

    /// Drops what is not written, and says how much was lost since the start.
    fn abandon(&self, state: &mut State) {
        state.abandon();
        state.lost_requests += self.tally.take([]).requests();
        let (violations, lost) = (state.owed.sum() + state.taken_owed, state.lost);
        let requests = state.lost_requests;
        if violations > 0 || requests > 0 || lost != NoteCounts::default() {
            tracing::error!(
                code = "store.lost",
                destination = self.target,
                violations,
                requests,
                editions = lost.editions,
                fetches = lost.fetches,
                hosts = lost.hosts,
                clock_leaps = lost.clock_leaps,
                quarantine = lost.quarantine,
                "records were lost: the destination lacks them"
            );
        }
    }

    /// The dropped records since the start, by cause.
    pub(super) fn drops(&self) -> Vec<Drops> {
        let drops = |(&cause, &count)| Drops { destination: self.target, cause, count };
        self.lock().drops.iter().map(drops).collect()
    }

    pub(super) fn health(&self) -> Health {
        let state = self.lock();
        if let Some(stalled) = state.stalled_for() {
            let seconds = stalled.as_secs();
            return Health::Degraded(format!(
                "a write to the {} has not ended for {seconds} s (see its disk, or the reader of \
                 standard output)",
                self.target
            ));
        }
        match &state.trouble {
            Some(error) => Health::Degraded(error.to_string()),
            None if state.owed_since.is_some() => {
                Health::Degraded(format!("the {}'s queue is full (see its disk)", self.target))
            }
            None => Health::Ok,
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    fn wait(
        &self,
        state: &mut MutexGuard<'_, State>,
        patience: Duration,
        condition: impl FnMut(&mut State) -> bool,
    ) {
        self.wake.wait_while_for(state, condition, patience);
    }
}
