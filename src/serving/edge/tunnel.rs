//! A connection after its switch to another protocol (WebSocket), and its end in a drain.
//!
//! There is no next answer with which such a connection could end. So a drain ends a tunnel that is
//! idle. One with traffic goes on until the drain's deadline.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use super::{timer::Timer, wait::Wait};

/// The time without an octet in either direction after which a drain ends a tunnel.
const IDLE: Duration = Duration::from_secs(1);

/// A tunnel, from the client's side.
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

    /// Notes that octets pass.
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
