//! The thread that empties a queue into its target and retries after a failure, from the start to a bounded
//! end.
//!
//! Each target has its own queue and thread. So a stopped reader of standard output costs the
//! database no record, and a locked database costs the log none.

use std::{
    sync::Arc,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use parking_lot::Mutex;

use crate::records::{
    record::{Error, Obstacle},
    tally::Tally,
    violations::{
        Health,
        fill::Fill,
        queue::{Batch, Order, Queue},
    },
};

/// The pause after a first failure; it doubles up to [`LONGEST_PAUSE`].
const SHORTEST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
const CLOSING_PAUSE: Duration = Duration::from_millis(100);
/// The time to the next upkeep after one that failed.
const REST_AFTER_FAILURE: Duration = Duration::from_secs(1);

pub(super) trait Target: Send {
    /// Writes the whole batch durably, or fails; after a failure the same batch comes again.
    fn append(&mut self, batch: &Batch) -> Result<(), Error>;

    /// Does a bounded piece of regular upkeep, and returns the time until the next call. Fails where
    /// nothing could be written at present.
    fn tend(&mut self) -> Result<Duration, Error>;

    /// A failure that lasts while batches are written: of a part of the target, or for records alone.
    fn trouble(&self) -> Option<Error> {
        None
    }
}

#[derive(Debug)]
pub(super) struct Lane {
    pub(super) queue: Arc<Queue>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl Lane {
    /// Starts a thread that writes to the target. The target tells by `fill` whether it has room.
    pub(super) fn start(
        name: &'static str,
        capacity: usize,
        mut target: impl Target + 'static,
        tally: Arc<Tally>,
        fill: Arc<Fill>,
    ) -> Result<Self, Error> {
        let queue = Arc::new(Queue::new(name, capacity, tally, fill));
        let writer = thread::Builder::new().name(format!("beadle-{name}")).spawn({
            let queue = Arc::clone(&queue);
            move || run(&queue, &mut target)
        });
        let writer = writer.map_err(|error| Error {
            path: name.into(),
            obstacle: Obstacle::Failed(error.to_string()),
        })?;
        Ok(Self { queue, writer: Mutex::new(Some(writer)) })
    }

    /// A lane without a writer and without room: it only counts.
    pub(super) fn closed(tally: Arc<Tally>) -> Self {
        let queue = Arc::new(Queue::new("nothing", 0, tally, Arc::default()));
        Self { queue, writer: Mutex::new(None) }
    }

    pub(super) fn health(&self) -> Health {
        match &*self.writer.lock() {
            None => Health::Ok,
            Some(writer) if writer.is_finished() => Health::Degraded(format!(
                "the {}'s writer has stopped (restart)",
                self.queue.target
            )),
            Some(_) => self.queue.health(),
        }
    }

    /// Waits for the writer until `deadline`; a writer that is stuck in a write is left behind.
    pub(super) fn join(&self, deadline: Instant) {
        let writer = self.writer.lock().take();
        let Some(writer) = writer else { return };
        if self.queue.wait_finished(deadline) && writer.join().is_err() {
            let destination = self.queue.target;
            tracing::error!(code = "store.panicked", destination, "a writer panicked");
        }
    }
}

/// Writes until the queue is closed and empty, or abandoned.
fn run(queue: &Queue, target: &mut dyn Target) {
    // Runs even when a target panics, so that no thread waits for it and the counts stay exact.
    let _finish = Finish(queue);
    loop {
        let (patience, trouble) = match target.tend() {
            Ok(patience) => (patience, target.trouble()),
            Err(error) => (REST_AFTER_FAILURE, Some(error)),
        };
        let is_troubled = trouble.is_some();
        queue.report(trouble);
        match queue.take(patience) {
            Order::Rest => {}
            Order::Stop => {
                // What was lost may be back.
                if is_troubled {
                    queue.report(target.tend().err());
                }
                break;
            }
            Order::Write(batch) => {
                if !write(queue, target, &batch) {
                    break;
                }
            }
        }
    }
}

/// Writes the batch, with any number of retries; `false` if the queue was abandoned.
fn write(queue: &Queue, target: &mut dyn Target, batch: &Batch) -> bool {
    let mut pause = SHORTEST_PAUSE;
    loop {
        let Err(error) = target.append(batch) else {
            queue.acknowledge();
            queue.report(target.trouble());
            return true;
        };
        // A reader that has gone does not return during shutdown, and no damage heals.
        let is_lasting = error.obstacle == Obstacle::Closed || error.is_damage();
        let is_final = is_lasting && !queue.is_open();
        queue.report(Some(error));
        if is_final || !queue.pause(if queue.is_open() { pause } else { CLOSING_PAUSE }) {
            return false;
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

struct Finish<'a>(&'a Queue);

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        self.0.finish();
    }
}
