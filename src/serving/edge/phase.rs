//! What the hooks of a request and the connection tell each other.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicUsize, Ordering},
};

use pingora::proxy::Session;
use tokio::sync::watch;

use super::wait::Wait;

/// The state of a connection, shared with the hooks of its requests.
#[derive(Debug, Default)]
pub(crate) struct Phase {
    ended: AtomicU32,
    /// Of a connection that has switched to another protocol.
    draining: OnceLock<Draining>,
    /// The status for a refused body; 0 without one.
    refused: AtomicU16,
    /// The wait for the head of the origin's response.
    pub(crate) wait: Wait,
}

impl Phase {
    pub(crate) fn end_request(&self) {
        self.ended.fetch_add(1, Ordering::AcqRel);
    }

    /// Notes that the connection switches to another protocol with the answer in progress. It lasts
    /// until it ends, or is idle while the proxy drains.
    pub(crate) fn switch(&self, draining: Draining) {
        self.wait.finish();
        // It switches once.
        let _ = self.draining.set(draining);
    }

    /// The status for the body in progress, if it was refused.
    pub(crate) fn refusal(&self) -> Option<u16> {
        Some(self.refused.load(Ordering::Acquire)).filter(|status| *status > 0)
    }

    pub(super) fn refuse(&self, status: u16) {
        self.refused.store(status, Ordering::Release);
    }

    pub(super) fn ended(&self) -> u32 {
        self.ended.load(Ordering::Acquire)
    }

    /// The drain to come, for a connection that has switched to another protocol.
    pub(super) fn draining(&self) -> Option<&Draining> {
        self.draining.get()
    }
}

/// The phase of the session: of its connection, or of its stream of HTTP/2.
pub(crate) fn phase(session: &Session) -> Option<&Phase> {
    let data = session.digest()?.proxy_digest.as_ref()?.user_data.as_ref()?;
    data.downcast_ref::<Arc<Phase>>().map(AsRef::as_ref)
}

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

    pub(crate) fn late_requests(&self) -> usize {
        self.late_requests.load(Ordering::Acquire)
    }
}

impl Draining {
    pub(super) async fn begins(mut self) {
        // An error means that the proxy is gone.
        let _ = self.0.wait_for(|is_draining| *is_draining).await;
    }
}
