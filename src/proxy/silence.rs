//! How long a connection to an origin may be silent, in both directions together.
//!
//! pingora limits each read alone, by a time that is set before the response is known. A WebSocket
//! may be silent in one direction for hours, and only the response says that a stream of events
//! begins. So on such a connection the limit belongs to the socket.

use std::{
    io,
    pin::Pin,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    task::{Context, Poll},
    time::{Duration, Instant},
};

use tokio::time::{Sleep, sleep_until};

/// The limit of one connection, and when it was last in use.
#[derive(Debug)]
pub(super) struct Silence {
    start: Instant,
    /// Both in milliseconds; `last` since `start`.
    limit: AtomicU64,
    last: AtomicU64,
    is_over: AtomicBool,
}

/// The timer of a connection. It may end before the limit, and is then set again.
#[derive(Debug, Default)]
pub(super) struct Timer(Option<Pin<Box<Sleep>>>);

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
        loop {
            let last = self.last.load(Ordering::Acquire);
            let end = last.saturating_add(self.limit.load(Ordering::Acquire));
            let end = self.start + Duration::from_millis(end);
            if end <= Instant::now() {
                self.is_over.store(true, Ordering::Release);
                let error = io::Error::new(io::ErrorKind::TimedOut, "silent for too long");
                return Poll::Ready(error);
            }
            let timer = timer.0.get_or_insert_with(|| Box::pin(sleep_until(end.into())));
            if timer.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            timer.as_mut().reset(end.into());
        }
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
