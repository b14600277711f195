//! A wait with an end, in which several tasks may take part.
//!
//! pingora limits each read from an origin, not the time of a whole head. But it also reads from
//! the client's connection meanwhile, to notice a client that goes away. So the connection ends that
//! read when the wait for the head is over.

use std::{
    fmt,
    pin::Pin,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    task::{Context, Poll, ready},
    time::{Duration, Instant},
};

use tokio::time::{Sleep, sleep_until};

/// A timer that is set when it is first needed. It may end before the wait does, and is then set
/// again. So most requests set no timer.
#[derive(Debug, Default)]
pub(crate) struct Timer(Option<Pin<Box<Sleep>>>);

impl Timer {
    /// Ready at `end`.
    pub(crate) fn poll(&mut self, end: Instant, context: &mut Context<'_>) -> Poll<()> {
        if end <= Instant::now() {
            return Poll::Ready(());
        }
        let timer = self.0.get_or_insert_with(|| Box::pin(sleep_until(end.into())));
        if timer.deadline() > end.into() {
            timer.as_mut().reset(end.into());
        }
        while timer.as_mut().poll(context).is_ready() {
            if Instant::now() >= end {
                return Poll::Ready(());
            }
            timer.as_mut().reset(end.into());
        }
        Poll::Pending
    }
}

#[derive(Debug)]
pub(crate) struct Wait {
    start: Instant,
    /// In milliseconds since `start`; 0 if nothing is waited for.
    end: AtomicU64,
    is_late: AtomicBool,
}

impl Default for Wait {
    fn default() -> Self {
        Self { start: Instant::now(), end: AtomicU64::new(0), is_late: AtomicBool::new(false) }
    }
}

impl Wait {
    pub(crate) fn begin(&self, limit: Duration) {
        let end = self.start.elapsed().saturating_add(limit).as_millis();
        self.end.store(u64::try_from(end).unwrap_or(u64::MAX), Ordering::Release);
    }

    /// Waits for another `limit`, if the wait has begun.
    pub(crate) fn go_on(&self, limit: Duration) {
        if self.end().is_some() {
            self.begin(limit);
        }
    }

    pub(crate) fn finish(&self) {
        self.end.store(0, Ordering::Release);
    }

    pub(crate) fn is_late(&self) -> bool {
        self.is_late.load(Ordering::Acquire)
    }

    /// Ready when the wait reaches its end, and notes that.
    pub(crate) fn poll(&self, timer: &mut Timer, context: &mut Context<'_>) -> Poll<()> {
        let Some(end) = self.end() else { return Poll::Pending };
        ready!(timer.poll(end, context));
        self.note_late();
        Poll::Ready(())
    }

    pub(super) fn end(&self) -> Option<Instant> {
        match self.end.load(Ordering::Acquire) {
            0 => None,
            end => self.start.checked_add(Duration::from_millis(end)),
        }
    }

    pub(super) fn note_late(&self) {
        self.is_late.store(true, Ordering::Release);
    }
}

/// The time without an octet in either direction after which a drain ends a tunnel.
const IDLE: Duration = Duration::from_secs(1);

/// A connection after its switch to another protocol (WebSocket), from the client's side. There is no next
/// answer with which it could end. So a drain ends a tunnel that is idle; one with traffic goes on until
/// the drain's deadline.
pub(super) struct Tunnel {
    /// Ready when the drain begins; `None` from then on.
    drain: Option<Pin<Box<dyn Future<Output = ()> + Send + Sync>>>,
    /// The wait for the next octet, once the drain has begun.
    idle: Wait,
    timer: Timer,
}

impl Tunnel {
    /// A tunnel that lasts until it is idle after `drain` is ready.
    pub(super) fn new(drain: impl Future<Output = ()> + Send + Sync + 'static) -> Self {
        Self { drain: Some(Box::pin(drain)), idle: Wait::default(), timer: Timer::default() }
    }

    pub(super) fn note(&self) {
        self.idle.go_on(IDLE);
    }

    /// Ready when a drain ends the tunnel.
    pub(super) fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if let Some(drain) = &mut self.drain {
            ready!(drain.as_mut().poll(context));
            self.drain = None;
            self.idle.begin(IDLE);
        }
        self.idle.poll(&mut self.timer, context)
    }
}

impl fmt::Debug for Tunnel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tunnel").field("idle", &self.idle).finish_non_exhaustive()
    }
}
