//! The sending thread, from the start to a bounded end.

use std::{
    sync::Arc,
    thread::{self, JoinHandle},
    time::Instant,
};

use parking_lot::Mutex;

use crate::records::{
    record::{Error, Obstacle},
    spool::Spool,
};

use super::{
    Settings,
    sender::Sender,
    state::{Shared, Status},
};

/// The sending thread, and how it goes.
#[derive(Debug)]
pub struct Forwarding {
    shared: Arc<Shared>,
    sender: Mutex<Option<JoinHandle<()>>>,
}

impl Forwarding {
    pub(super) fn start(spool: Spool, settings: Settings) -> Result<Self, Error> {
        let shared = Arc::new(Shared::new(spool));
        let sender = Sender::new(Arc::clone(&shared), settings);
        let thread = thread::Builder::new().name("beadle-sender".to_owned());
        let thread = thread.spawn(move || sender.run());
        let sender = thread.map_err(|error| Error {
            path: "beadle-sender".into(),
            obstacle: Obstacle::Failed(error.to_string()),
        })?;
        Ok(Self { shared, sender: Mutex::new(Some(sender)) })
    }

    pub(super) fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }

    /// How it goes.
    pub fn status(&self) -> Status {
        self.shared.status()
    }

    /// Sends what waits until the deadline, as long as the server takes it. The rest stays in the spool
    /// for the next start. A second call does nothing.
    pub fn close(&self, until: Instant) {
        let Some(sender) = self.sender.lock().take() else { return };
        if self.shared.close(until) && sender.join().is_err() {
            tracing::error!(code = "spool.panicked", "the sender to ClickHouse panicked");
        }
        let Status { waiting, bytes, .. } = self.status();
        if waiting > 0 {
            tracing::warn!(
                code = "spool.left",
                records = waiting,
                bytes,
                "records stay in the spool: the next start sends them"
            );
        }
    }
}
