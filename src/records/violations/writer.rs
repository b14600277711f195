//! The thread that empties a queue into its target and retries after a failure.
//!
//! Each target has its own queue and thread. So a stopped reader of standard output costs the
//! database no record, and a locked database costs the log none.

use std::time::Duration;

use crate::records::{
    record::{Error, Obstacle},
    violations::queue::{Batch, Order, Queue},
};

/// The pause after a first failure; it doubles up to [`LONGEST_PAUSE`].
const SHORTEST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// The pause while the process shuts down.
const CLOSING_PAUSE: Duration = Duration::from_millis(100);
/// The time to the next upkeep after one that failed.
const REST_AFTER_FAILURE: Duration = Duration::from_secs(1);

/// A place that keeps records.
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

/// Writes until the queue is closed and empty, or abandoned.
pub(super) fn run(queue: &Queue, target: &mut dyn Target) {
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
