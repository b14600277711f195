//! The thread that empties a queue into its target and tries again where that fails.
//!
//! Each target has a queue and a thread of its own: a reader of standard output that has stopped
//! must not cost the database a record, nor a locked database the log.

use std::time::Duration;

use crate::violations::{
    Error,
    error::Obstacle,
    queue::{Batch, Order, Queue},
};

/// The pause after a first failure; it doubles up to [`LONGEST_PAUSE`].
const SHORTEST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// While the process waits for the end, a failing target is tried again more often.
const CLOSING_PAUSE: Duration = Duration::from_millis(100);

/// Something that keeps records.
pub(super) trait Target: Send {
    /// Writes the batch whole and has it acknowledged, or fails; then the same batch comes again.
    fn append(&mut self, batch: &Batch) -> Result<(), Error>;

    /// Does a bounded piece of what has to be done now and then; says when to be called again.
    fn tend(&mut self) -> Duration;
}

/// Writes until the queue is closed and empty, or given up.
pub(super) fn run(queue: &Queue, target: &mut dyn Target) {
    // Told even when a writer panics, so that nobody waits for it and the counts stay true.
    let _finish = Finish(queue);
    loop {
        let patience = target.tend();
        match queue.take(patience) {
            Order::Rest => {}
            Order::Stop => break,
            Order::Write(batch) => {
                if !write(queue, target, &batch) {
                    break;
                }
            }
        }
    }
}

/// Writes the batch, however often that has to be tried; `false` where it was given up.
fn write(queue: &Queue, target: &mut dyn Target, batch: &Batch) -> bool {
    let mut pause = SHORTEST_PAUSE;
    loop {
        let Err(error) = target.append(batch) else {
            queue.acknowledge();
            queue.report(None);
            return true;
        };
        // A reader that has gone does not come back while we leave.
        let is_final = error.obstacle == Obstacle::Closed && !queue.is_open();
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
