//! All connections of clients, and their end in a drain.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::sync::watch;

/// The connections, and whether they drain.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    is_draining: AtomicBool,
    /// The same, for connections that wait for it. Each open connection holds a receiver.
    draining: watch::Sender<bool>,
    /// The requests since the drain began.
    late_requests: AtomicUsize,
}

/// The beginning of a drain, for an open connection.
#[derive(Clone, Debug)]
pub(crate) struct Draining(watch::Receiver<bool>);

impl Connections {
    /// Whether no connection is open.
    pub(crate) fn is_empty(&self) -> bool {
        self.draining.receiver_count() == 0
    }

    /// From now on, each connection ends with its next answer.
    pub(crate) fn drain(&self) {
        self.is_draining.store(true, Ordering::Release);
        self.draining.send_replace(true);
    }

    /// The beginning of the drain, to wait for. A connection counts as open while it holds one.
    pub(crate) fn draining(&self) -> Draining {
        Draining(self.draining.subscribe())
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::Acquire)
    }

    /// Counts a request, if the drain has begun.
    pub(crate) fn note_request(&self) {
        if self.is_draining() {
            self.late_requests.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// The requests since the drain began.
    pub(crate) fn late_requests(&self) -> usize {
        self.late_requests.load(Ordering::Acquire)
    }
}

impl Draining {
    /// Waits until the proxy drains.
    pub(super) async fn begins(mut self) {
        // An error means that the proxy is gone.
        let _ = self.0.wait_for(|is_draining| *is_draining).await;
    }
}
