//! A connection after its switch to another protocol (WebSocket), and its end in a drain.
//!
//! There is no next answer with which such a connection could end. So a drain ends a tunnel that is
//! idle. One with traffic goes on until the drain's deadline.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::time::{Instant, Sleep, sleep};

/// The time without an octet in either direction after which a drain ends a tunnel.
const IDLE: Duration = Duration::from_secs(1);

/// A tunnel, from the client's side.
pub(super) struct Tunnel {
    stage: Stage,
    /// Whether an octet has passed since the timer was set.
    has_moved: bool,
}

enum Stage {
    /// Ready when the drain begins.
    Open(Pin<Box<dyn Future<Output = ()> + Send + Sync>>),
    Draining(Pin<Box<Sleep>>),
}

impl Tunnel {
    /// A tunnel that lasts until it is idle after `drain` is ready.
    pub(super) fn new(drain: impl Future<Output = ()> + Send + Sync + 'static) -> Self {
        Self { stage: Stage::Open(Box::pin(drain)), has_moved: false }
    }

    /// Notes that octets pass.
    pub(super) const fn note(&mut self) {
        self.has_moved = true;
    }

    /// Ready when a drain ends the tunnel.
    pub(super) fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if let Stage::Open(drain) = &mut self.stage {
            if drain.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            self.stage = Stage::Draining(Box::pin(sleep(IDLE)));
            self.has_moved = false;
        }
        let Stage::Draining(timer) = &mut self.stage else { return Poll::Pending };
        loop {
            if timer.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            if !std::mem::take(&mut self.has_moved) {
                return Poll::Ready(());
            }
            timer.as_mut().reset(Instant::now() + IDLE);
        }
    }
}

impl fmt::Debug for Tunnel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_draining = matches!(self.stage, Stage::Draining(_));
        f.debug_struct("Tunnel").field("is_draining", &is_draining).finish_non_exhaustive()
    }
}
