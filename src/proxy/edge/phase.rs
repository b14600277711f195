//! What the hooks of a request and the connection tell each other.

use std::{
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
    time::Duration,
};

use super::wait::Wait;

/// The state of a connection, shared with the hooks of its requests.
#[derive(Debug, Default)]
pub(in crate::proxy) struct Phase {
    ended: AtomicU32,
    has_switched: AtomicBool,
    is_refused: AtomicBool,
    wait: Wait,
}

impl Phase {
    /// Notes the end of a request.
    pub(in crate::proxy) fn end_request(&self) {
        self.ended.fetch_add(1, Ordering::AcqRel);
    }

    /// Waits for the head of the origin's response, at most `limit`.
    pub(in crate::proxy) fn wait_for_head(&self, limit: Duration) {
        self.wait.begin(limit);
    }

    /// Waits for another `limit`, if the wait has begun.
    pub(in crate::proxy) fn wait_on(&self, limit: Duration) {
        if self.wait.end().is_some() {
            self.wait.begin(limit);
        }
    }

    /// Ends the wait.
    pub(in crate::proxy) fn end_wait(&self) {
        self.wait.finish();
    }

    /// Whether the head took too long.
    pub(in crate::proxy) fn is_late(&self) -> bool {
        self.wait.is_late()
    }

    /// Notes that the connection switches to another protocol with the answer in progress.
    pub(in crate::proxy) fn switch(&self) {
        self.end_wait();
        self.has_switched.store(true, Ordering::Release);
    }

    /// Whether the body in progress was refused.
    pub(in crate::proxy) fn is_refused(&self) -> bool {
        self.is_refused.load(Ordering::Acquire)
    }

    /// The wait for the head of the origin's response.
    pub(super) const fn wait(&self) -> &Wait {
        &self.wait
    }

    /// Notes that the message in progress is refused.
    pub(super) fn refuse(&self) {
        self.is_refused.store(true, Ordering::Release);
    }

    /// The number of requests that have ended.
    pub(super) fn ended(&self) -> u32 {
        self.ended.load(Ordering::Acquire)
    }

    /// Whether the connection has switched to another protocol.
    pub(super) fn has_switched(&self) -> bool {
        self.has_switched.load(Ordering::Acquire)
    }
}
