//! How long a connection to an origin may be silent, in both directions together.
//!
//! pingora limits each read alone, by a time that is set before the response is known. A WebSocket
//! may be silent in one direction for hours, and only the response says that a stream of events
//! begins. So on such a connection the limit belongs to the socket.

use std::{
    io,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    task::{Context, Poll, ready},
    time::{Duration, Instant},
};

use crate::serving::edge::Timer;

/// The limit of one connection, and when it was last in use.
#[derive(Debug)]
pub(super) struct Silence {
    start: Instant,
    /// Both in milliseconds; `last` since `start`.
    limit: AtomicU64,
    last: AtomicU64,
    is_over: AtomicBool,
}

impl Silence {
    pub(super) fn at_most(limit: Duration) -> Self {
        let (last, limit) = (AtomicU64::new(0), AtomicU64::new(millis(limit)));
        Self { start: Instant::now(), limit, last, is_over: AtomicBool::new(false) }
    }

    /// Sets another limit.
    pub(super) fn limit(&self, limit: Duration) {
        self.limit.store(millis(limit), Ordering::Release);
    }

    /// Notes octets in one direction or the other.
    pub(super) fn end(&self) {
        self.last.store(millis(self.start.elapsed()), Ordering::Release);
    }

    /// Whether the connection was silent for too long.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// An error if the connection has been silent for too long; else pending.
    pub(super) fn poll(&self, timer: &mut Timer, context: &mut Context<'_>) -> Poll<io::Error> {
        let last = self.last.load(Ordering::Acquire);
        let end = last.saturating_add(self.limit.load(Ordering::Acquire));
        ready!(timer.poll(self.start + Duration::from_millis(end), context));
        self.is_over.store(true, Ordering::Release);
        Poll::Ready(io::Error::new(io::ErrorKind::TimedOut, "silent for too long"))
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
