//! How long a connection to an origin may be silent, in both directions together.
//!
//! pingora limits each read alone, by a time that is set before the response is known. A WebSocket
//! may be silent in one direction for hours, and only the response says that a stream of events
//! begins. So on such a connection the limit belongs to the socket.

use std::{
    io,
    sync::atomic::{AtomicU64, Ordering},
    task::{Context, Poll},
    time::Duration,
};

use crate::serving::edge::{Timer, Wait};

/// The limit of one connection, and the wait for its next octet.
#[derive(Debug)]
pub(super) struct Silence {
    /// In milliseconds.
    limit: AtomicU64,
    wait: Wait,
}

impl Silence {
    pub(super) fn at_most(limit: Duration) -> Self {
        let silence = Self { limit: AtomicU64::new(0), wait: Wait::default() };
        silence.limit(limit);
        silence
    }

    /// Sets another limit.
    pub(super) fn limit(&self, limit: Duration) {
        let limit = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        self.limit.store(limit, Ordering::Release);
        self.end();
    }

    /// Notes octets in one direction or the other.
    pub(super) fn end(&self) {
        self.wait.begin(Duration::from_millis(self.limit.load(Ordering::Acquire)));
    }

    /// Whether the connection was silent for too long.
    pub(super) fn is_over(&self) -> bool {
        self.wait.is_late()
    }

    /// An error if the connection has been silent for too long; else pending.
    pub(super) fn poll(&self, timer: &mut Timer, context: &mut Context<'_>) -> Poll<io::Error> {
        let error = |()| io::Error::new(io::ErrorKind::TimedOut, "silent for too long");
        self.wait.poll(timer, context).map(error)
    }
}
