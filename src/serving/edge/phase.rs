//! What the hooks of a request and the connection tell each other.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU16, AtomicU32, Ordering},
};

use pingora::proxy::Session;

use super::{drain::Draining, wait::Wait};

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

    /// Notes that the body in progress is refused.
    pub(super) fn refuse(&self, status: u16) {
        self.refused.store(status, Ordering::Release);
    }

    /// The number of requests that have ended.
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
