//! The bounded queue between the requests and one writer, with exact accounts.
//!
//! One lock holds the queue and its counts together, so that at every moment
//! `seen == stored + dropped + queued`, whoever looks. It is held for some tens of nanoseconds and
//! never while anything is written. Bounded in records and in bytes: hostile requests make long
//! records.

use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::violations::{Error, Overflow, Violation, notes::Notes, overflow::Tally};

/// The most records in one transaction, or one write.
pub(super) const BATCH: usize = 256;
/// How long a record waits for others to share its transaction.
const LINGER: Duration = Duration::from_millis(100);
/// The most bytes of records that wait.
const BYTES: usize = 32 << 20;
/// While the queue stays full, what it could not hold is written down this often.
const OVERFLOW_INTERVAL: Duration = Duration::from_secs(10);
/// However often it fills, that is logged this often at most.
const WARNING_INTERVAL: Duration = Duration::from_secs(60);

/// Where the records are. At every moment `seen == stored + dropped + queued`.
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

/// Whether records are kept as they should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    /// They are.
    Ok,
    /// They are not at present; the reason, with its repair.
    Degraded(String),
}

/// What the writer takes at a time. The queue counts the records as queued until it is told.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) records: Arc<[Arc<Violation>]>,
    pub(super) notes: Notes,
    pub(super) overflow: Vec<Overflow>,
}

/// What the writer has to do next.
#[derive(Debug)]
pub(super) enum Order {
    Write(Batch),
    /// Nothing came in for a while.
    Rest,
    /// Everything is written and nothing more will come.
    Stop,
}

#[derive(Debug)]
pub(super) struct Queue {
    /// What stands behind it, for the log: `database`, `log`.
    pub(super) target: &'static str,
    capacity: usize,
    state: Mutex<State>,
    wake: Condvar,
    finished: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Arc<Violation>>,
    bytes: usize,
    /// What the writer has taken and not yet answered for.
    taken: Arc<[Arc<Violation>]>,
    notes: Notes,
    /// How many editions the writer has taken and not yet answered for.
    taken_editions: usize,
    /// How many editions found no room, or were given up.
    lost_editions: usize,
    seen: u64,
    stored: u64,
    dropped: u64,
    overflow: Tally,
    /// The part of it that is not yet written down.
    owed: Tally,
    owed_since: Option<Instant>,
    /// When it was last logged that the queue is full.
    warned: Option<Instant>,
    /// The length of the queue that the writer wants to be woken for.
    wake_at: usize,
    trouble: Option<Error>,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Open,
    /// Nothing more comes in; what waits is still written.
    Closing,
    /// What was not written will not be.
    Abandoned,
    /// The writer has gone.
    Finished,
}

impl Queue {
    pub(super) fn new(target: &'static str, capacity: usize) -> Self {
        let state = State { waiting: VecDeque::with_capacity(capacity), ..State::default() };
        let (wake, finished) = (Condvar::new(), Condvar::new());
        Self { target, capacity, state: Mutex::new(state), wake, finished }
    }

    /// Takes the record, or counts it.
    pub(super) fn push(&self, violation: Arc<Violation>) {
        let weight = violation.weight();
        let mut state = self.lock();
        state.seen += 1;
        let has_room = state.waiting.len() + state.taken.len() < self.capacity
            && state.bytes + weight <= BYTES
            && state.phase == Phase::Open;
        if has_room {
            state.bytes += weight;
            state.waiting.push_back(violation);
            let is_awaited = state.waiting.len() == state.wake_at;
            drop(state); // whoever wakes wants the lock
            if is_awaited {
                self.wake.notify_one();
            }
            return;
        }
        let is_news = self.capacity > 0 && state.owed.is_empty() && state.may_warn();
        state.drop_record(&violation);
        drop(state);
        if is_news {
            tracing::error!(
                code = "store.overflow",
                lane = self.target,
                "the queue of violations is full: further ones are counted, not kept"
            );
        }
    }

    /// Takes a note; `note` says how many editions had to make room for it.
    pub(super) fn push_note(&self, note: impl FnOnce(&mut Notes) -> usize) {
        let mut state = self.lock();
        if state.phase != Phase::Open {
            return;
        }
        let lost = note(&mut state.notes);
        let is_news = lost > 0 && state.lost_editions == 0;
        state.lost_editions += lost;
        let is_awaited = state.wake_at == 1;
        drop(state);
        if is_awaited {
            self.wake.notify_one();
        }
        if is_news {
            tracing::error!(
                code = "store.editions_lost",
                lane = self.target,
                "too many editions of robots.txt wait to be written: the oldest are not kept"
            );
        }
    }

    /// Waits until there is something to write, at most for `patience`, and then a moment for
    /// more of it.
    pub(super) fn take(&self, patience: Duration) -> Order {
        let mut state = self.lock();
        state.wake_at = 1;
        state = self.wait(state, patience, |s| !s.has_work() && s.phase == Phase::Open);
        match state.phase {
            Phase::Open if !state.has_work() => return Order::Rest,
            Phase::Closing if !state.has_work() => return Order::Stop,
            Phase::Open | Phase::Closing => {}
            Phase::Abandoned | Phase::Finished => return Order::Stop,
        }
        state.wake_at = BATCH;
        let is_small = |s: &mut State| s.waiting.len() < BATCH && s.phase == Phase::Open;
        state = self.wait(state, LINGER, is_small);
        let length = state.waiting.len().min(BATCH);
        state.taken = state.waiting.drain(..length).collect();
        let is_due = state.waiting.is_empty()
            || state.owed_since.is_some_and(|since| since.elapsed() >= OVERFLOW_INTERVAL);
        let overflow = if is_due { state.settle() } else { Vec::new() };
        let notes = std::mem::take(&mut state.notes);
        state.taken_editions = notes.editions().len();
        Order::Write(Batch { records: Arc::clone(&state.taken), notes, overflow })
    }

    /// The records taken are written and acknowledged.
    pub(super) fn acknowledge(&self) {
        let mut state = self.lock();
        // Empty where they were given up meanwhile, so that none is counted twice.
        let taken = std::mem::take(&mut state.taken);
        state.stored += taken.len() as u64;
        state.taken_editions = 0;
        drop(state);
        let weight: usize = taken.iter().map(|violation| violation.weight()).sum();
        let mut state = self.lock();
        state.bytes = state.bytes.saturating_sub(weight);
    }

    /// Says what hinders the writing, or that nothing does any more; logged when it changes.
    pub(super) fn report(&self, trouble: Option<Error>) {
        let mut state = self.lock();
        if state.trouble == trouble {
            return;
        }
        state.trouble.clone_from(&trouble);
        let queued = state.counts().queued;
        drop(state);
        let lane = self.target;
        match trouble {
            Some(error) => tracing::error!(
                code = error.code(), lane, queued, %error,
                "violations cannot be written: trying again"
            ),
            None => tracing::info!(
                code = "store.recovered",
                lane,
                queued,
                "violations are being written again"
            ),
        }
    }

    /// Waits before another attempt; `false` once there shall be none.
    pub(super) fn pause(&self, delay: Duration) -> bool {
        let state = self.lock();
        let phase = state.phase;
        self.wait(state, delay, |s| s.phase == phase).phase != Phase::Abandoned
    }

    pub(super) fn is_open(&self) -> bool {
        self.lock().phase == Phase::Open
    }

    /// Lets nothing more in; the writer writes what waits and stops.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        if state.phase == Phase::Open {
            state.phase = Phase::Closing;
            self.wake.notify_all();
        }
    }

    /// Waits for the writer to stop, until `deadline`; then what is left is counted as dropped.
    /// Says whether it did.
    pub(super) fn wait_finished(&self, deadline: Instant) -> bool {
        let state = self.lock();
        let patience = deadline.saturating_duration_since(Instant::now());
        let is_running = |s: &mut State| s.phase != Phase::Finished;
        let (mut state, _) = self
            .finished
            .wait_timeout_while(state, patience, is_running)
            .unwrap_or_else(PoisonError::into_inner);
        let is_finished = state.phase == Phase::Finished;
        if !is_finished {
            state.abandon();
            self.wake.notify_all();
        }
        is_finished
    }

    /// The writer goes, for whatever reason; nobody will write what is left.
    pub(super) fn finish(&self) {
        let mut state = self.lock();
        state.abandon();
        state.phase = Phase::Finished;
        let dropped = state.owed.sum();
        let editions = std::mem::take(&mut state.lost_editions);
        drop(state);
        self.finished.notify_all();
        if dropped > 0 {
            tracing::error!(
                code = "store.lost",
                lane = self.target,
                dropped,
                "violations were not kept"
            );
        }
        if editions > 0 {
            tracing::error!(
                code = "store.editions_lost",
                lane = self.target,
                editions,
                "editions of robots.txt were not kept: the history lacks them"
            );
        }
    }

    pub(super) fn counts(&self) -> Counts {
        self.lock().counts()
    }

    /// What was not kept since the start, the most first.
    pub(super) fn overflow(&self) -> Vec<Overflow> {
        self.lock().overflow.ranked()
    }

    pub(super) fn health(&self) -> Health {
        let state = self.lock();
        match &state.trouble {
            Some(error) => Health::Degraded(error.to_string()),
            None if state.owed_since.is_some() => {
                Health::Degraded(format!("the {}'s queue is full (see its disk)", self.target))
            }
            None => Health::Ok,
        }
    }

    /// A panic elsewhere leaves the counts as they were: each change of them is complete.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(
        &self,
        state: MutexGuard<'a, State>,
        patience: Duration,
        condition: impl FnMut(&mut State) -> bool,
    ) -> MutexGuard<'a, State> {
        let waited = self.wake.wait_timeout_while(state, patience, condition);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

impl State {
    fn has_work(&self) -> bool {
        !(self.waiting.is_empty() && self.notes.is_empty() && self.owed.is_empty())
    }

    /// Whether the last word about a full queue is long enough ago for another.
    fn may_warn(&mut self) -> bool {
        let is_old = self.warned.is_none_or(|at| at.elapsed() >= WARNING_INTERVAL);
        if is_old {
            self.warned = Some(Instant::now());
        }
        is_old
    }

    fn counts(&self) -> Counts {
        let queued = (self.waiting.len() + self.taken.len()) as u64;
        Counts { seen: self.seen, stored: self.stored, dropped: self.dropped, queued }
    }

    fn drop_record(&mut self, violation: &Violation) {
        self.dropped += 1;
        self.overflow.add(violation);
        self.owed.add(violation);
        self.owed_since.get_or_insert_with(Instant::now);
    }

    fn settle(&mut self) -> Vec<Overflow> {
        self.owed_since = None;
        self.owed.drain()
    }

    fn abandon(&mut self) {
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
