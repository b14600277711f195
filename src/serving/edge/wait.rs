//! A wait with an end, in which several tasks may take part.
//!
//! pingora limits each read from an origin, not the time of a whole head. But it also reads from
//! the client's connection meanwhile, to notice a client that goes away. So the connection ends that
//! read when the wait for the head is over.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    task::{Context, Poll, ready},
    time::{Duration, Instant},
};

use super::timer::Timer;

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
    /// Begins a wait of at most `limit`.
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

    /// Whether a wait has reached its end.
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

    /// Notes that the wait has reached its end.
    pub(super) fn note_late(&self) {
        self.is_late.store(true, Ordering::Release);
    }
}
