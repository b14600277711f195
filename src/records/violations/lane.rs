//! A queue with its writer, from the start to a bounded end.

use std::{
    io,
    sync::Arc,
    thread::{self, JoinHandle},
    time::Instant,
};

use parking_lot::Mutex;

use crate::records::{
    record::{Error, Obstacle},
    tally::Tally,
    violations::{
        Health,
        fill::Fill,
        queue::Queue,
        writer::{self, Target},
    },
};

/// A queue and its writer.
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
            move || writer::run(&queue, &mut target)
        });
        let failed = |error: io::Error| Obstacle::Failed(error.to_string());
        let writer =
            writer.map_err(|error| Error { path: name.into(), obstacle: failed(error) })?;
        Ok(Self { queue, writer: Mutex::new(Some(writer)) })
    }

    /// A lane without a writer and without room: it only counts.
    pub(super) fn closed(tally: Arc<Tally>) -> Self {
        let queue = Arc::new(Queue::new("nothing", 0, tally, Arc::default()));
        Self { queue, writer: Mutex::new(None) }
    }

    /// Whether its records are written.
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
