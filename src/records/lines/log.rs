//! The access log's lines: taken from requests, written by a thread.
//!
//! One lock guards the waiting lines and their counts. A request keeps it for the copy of one line.
//! At every moment, lines = written + dropped + waiting.

use std::{
    io,
    sync::Arc,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::{
    base::metrics::Metrics,
    records::record::{Error, Obstacle},
};

use super::{
    life::{Phase, is_due},
    output::{LogTarget, Output},
};

/// The most bytes that wait: half a minute of a thousand requests a second.
const MOST_BYTES: usize = 16 << 20;
/// The bytes that are worth a write at once.
const BATCH: usize = 128 << 10;
/// How long a line waits for others to share its write.
const LINGER: Duration = Duration::from_millis(100);
/// The pause after a first failure; it doubles up to [`LONGEST_PAUSE`].
const SHORTEST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// The pause while the process shuts down.
const CLOSING_PAUSE: Duration = Duration::from_millis(100);

/// Takes lines; shared by all requests.
#[derive(Debug)]
pub struct Log {
    queue: Arc<Queue>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug)]
struct Queue {
    state: Mutex<State>,
    most_bytes: usize,
    wake: Condvar,
    finished: Condvar,
    metrics: Arc<Metrics>,
}

#[derive(Debug, Default)]
struct State {
    lines: Vec<u8>,
    waiting: u64,
    /// The lines that the writer took and has not written, and the bytes of all that it took.
    taken: u64,
    taken_bytes: usize,
    /// The number of waiting bytes that wakes the writer.
    wake_at: usize,
    phase: Phase,
    writing_since: Option<Instant>,
    trouble: Option<Error>,
    /// The lines that were dropped and in no message yet.
    untold: u64,
    /// The time of the last message about dropped lines, and about a failure.
    told: [Option<Instant>; 2],
}

impl State {
    fn cause(&self) -> &'static str {
        self.phase.cause(self.trouble.as_ref(), self.writing_since)
    }

    /// Whether it is time for another message about dropped lines. Returns their number since the
    /// last one.
    fn drops_to_tell(&mut self, now: Instant) -> Option<u64> {
        let is_due = self.untold > 0 && is_due(&mut self.told[0], now);
        is_due.then(|| std::mem::take(&mut self.untold))
    }

    fn may_complain(&mut self, now: Instant) -> bool {
        is_due(&mut self.told[1], now)
    }
}

impl Log {
    /// Opens the target and starts the writer.
    pub fn start(target: &LogTarget, metrics: Arc<Metrics>) -> Result<Self, Error> {
        Self::with_room(Output::open(target)?, MOST_BYTES, metrics)
    }

    /// A log to an open output, in which `most_bytes` may wait.
    pub(super) fn with_room(
        mut output: Output,
        most_bytes: usize,
        metrics: Arc<Metrics>,
    ) -> Result<Self, Error> {
        let (state, wake, finished) = (Mutex::default(), Condvar::new(), Condvar::new());
        let queue = Arc::new(Queue { state, most_bytes, wake, finished, metrics });
        let writer = thread::Builder::new().name("beadle-access".to_owned()).spawn({
            let queue = Arc::clone(&queue);
            move || queue.run(&mut output)
        });
        let failed = |error: io::Error| Obstacle::Failed(error.to_string());
        let path = "access log".into();
        let writer = writer.map_err(|error| Error { path, obstacle: failed(error) })?;
        Ok(Self { queue, writer: Mutex::new(Some(writer)) })
    }

    /// Takes a line with its end, or counts it if there is no room. Never waits for a disk.
    pub fn push(&self, line: &[u8]) {
        self.queue.push(line);
    }

    /// Takes nothing more and writes the waiting lines, for `limit` at most. Drops and counts the
    /// rest.
    pub fn close(&self, limit: Duration) {
        let deadline = Instant::now() + limit;
        self.queue.close();
        let Some(writer) = self.writer.lock().take() else { return };
        if self.queue.wait_finished(deadline) && writer.join().is_err() {
            tracing::error!(code = "store.panicked", "the writer of the access log panicked");
        }
    }
}

/// A log that was not closed still gets a moment to write.
impl Drop for Log {
    fn drop(&mut self) {
        self.close(Duration::from_secs(1));
    }
}

impl Queue {
    fn push(&self, line: &[u8]) {
        let mut state = self.state.lock();
        let before = state.lines.len();
        let has_room = state.phase == Phase::Open
            && before + state.taken_bytes + line.len() <= self.most_bytes;
        if has_room {
            state.lines.extend_from_slice(line);
            state.waiting += 1;
            let is_awaited = before < state.wake_at && state.lines.len() >= state.wake_at;
            drop(state); // the woken thread needs the lock
            if is_awaited {
                self.wake.notify_one();
            }
            return;
        }
        self.lose(&mut state, 1);
    }

    fn lose(&self, state: &mut State, lines: u64) {
        let cause = state.cause();
        state.untold += lines;
        self.metrics.access_log_drops(cause).inc_by(lines);
        if let Some(lines) = state.drops_to_tell(Instant::now()) {
            tracing::error!(
                code = "access_log.dropped",
                cause,
                lines,
                "lines of the access log are not written and only counted"
            );
        }
    }

    /// Writes until the log is closed and empty, or abandoned.
    fn run(&self, output: &mut Output) {
        // Runs even when the writer panics, so that no thread waits for it and the counts stay
        // exact.
        let _finish = Finish(self);
        let mut lines = Vec::new();
        while self.take(&mut lines) && self.write(output, &lines) {
            // A long outage leaves a large buffer.
            lines = if lines.capacity() > 8 * BATCH { Vec::new() } else { lines };
            lines.clear();
        }
    }

    /// Waits for lines, then a moment for more of them, and takes them in exchange for the empty
    /// `lines`. `false` if there is nothing more to come.
    fn take(&self, lines: &mut Vec<u8>) -> bool {
        let mut state = self.state.lock();
        state.wake_at = 1;
        self.wake.wait_while(&mut state, |s| s.lines.is_empty() && s.phase == Phase::Open);
        state.wake_at = BATCH;
        let is_small = |s: &mut State| s.lines.len() < BATCH && s.phase == Phase::Open;
        self.wake.wait_while_for(&mut state, is_small, LINGER);
        if state.lines.is_empty() || state.phase == Phase::Abandoned {
            return false;
        }
        std::mem::swap(&mut state.lines, lines);
        state.taken = std::mem::take(&mut state.waiting);
        state.taken_bytes = lines.len();
        state.writing_since = Some(Instant::now());
        true
    }

    /// Writes lines, with any number of retries; `false` if the log was abandoned.
    fn write(&self, output: &mut Output, lines: &[u8]) -> bool {
        let mut pause = SHORTEST_PAUSE;
        let mut acknowledged = 0;
        loop {
            let failure = output.write(lines).err();
            let done = if failure.is_some() { output.written() } else { lines.len() };
            let written = lines.get(acknowledged..done).unwrap_or_default();
            let ended = written.iter().filter(|&&octet| octet == b'\n').count() as u64;
            acknowledged = acknowledged.max(done);
            let mut state = self.state.lock();
            // The lines of an abandoned log are counted as dropped.
            if state.phase != Phase::Abandoned {
                state.taken = state.taken.saturating_sub(ended);
                self.metrics.access_log_written(ended);
            }
            let Some(error) = failure else {
                (state.taken_bytes, state.writing_since) = (0, None);
                self.report(&mut state, None);
                return state.phase != Phase::Abandoned;
            };
            // A reader that has gone does not return during shutdown.
            let is_final = error.obstacle == Obstacle::Closed && state.phase != Phase::Open;
            self.report(&mut state, Some(error));
            let phase = state.phase;
            let wait = if phase == Phase::Open { pause } else { CLOSING_PAUSE };
            if is_final || !self.pause(&mut state, phase, wait) {
                return false;
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Waits before a retry; `false` if the log was abandoned meanwhile.
    fn pause(&self, state: &mut MutexGuard<'_, State>, phase: Phase, wait: Duration) -> bool {
        self.wake.wait_while_for(state, |s| s.phase == phase, wait);
        state.phase != Phase::Abandoned
    }

    /// Sets or clears the failure that stops the writing. Logs each change, and a lasting failure
    /// once a minute.
    fn report(&self, state: &mut State, trouble: Option<Error>) {
        let is_change = state.trouble != trouble;
        if !is_change && (trouble.is_none() || !state.may_complain(Instant::now())) {
            return;
        }
        self.metrics.access_log_degraded(trouble.is_some());
        let waiting = state.waiting + state.taken;
        match &trouble {
            Some(error) => tracing::error!(
                code = error.code(), waiting, %error,
                "cannot write the access log: retrying"
            ),
            None => {
                let code = "store.recovered";
                tracing::info!(code, waiting, "writing the access log again");
            }
        }
        state.trouble = trouble;
    }

    /// Takes nothing more; the writer writes the rest and stops.
    fn close(&self) {
        let mut state = self.state.lock();
        if state.phase == Phase::Open {
            state.phase = Phase::Closing;
            self.wake.notify_all();
        }
    }

    /// Waits for the writer to stop, until `deadline`, and returns whether it did.
    fn wait_finished(&self, deadline: Instant) -> bool {
        let mut state = self.state.lock();
        let patience = deadline.saturating_duration_since(Instant::now());
        self.finished.wait_while_for(&mut state, |s| s.phase != Phase::Finished, patience);
        let is_finished = state.phase == Phase::Finished;
        if !is_finished {
            self.abandon(&mut state);
            self.wake.notify_all();
        }
        is_finished
    }

    fn abandon(&self, state: &mut State) {
        let lost = std::mem::take(&mut state.waiting) + std::mem::take(&mut state.taken);
        state.lines = Vec::new();
        state.phase = Phase::Abandoned;
        if lost > 0 {
            state.told[0] = None;
            self.lose(state, lost);
        }
    }
}

/// Marks the writer as stopped, for whatever reason; what is left counts as dropped.
struct Finish<'a>(&'a Queue);

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        if state.phase != Phase::Abandoned {
            self.0.abandon(&mut state);
        }
        state.phase = Phase::Finished;
        drop(state);
        self.0.finished.notify_all();
    }
}
