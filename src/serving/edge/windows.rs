//! The octets of bodies that clients of HTTP/2 may send ahead of the origins (RFC 9113 §5.2).
//!
//! A connection holds what its streams have sent and no origin has read. So the sum of all windows
//! is bounded, and a connection gets a large one with its first body.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The window of a stream. At 50 ms to the client it allows 20 MiB a second.
pub(super) const OF_STREAM: u32 = 1 << 20;
/// The window of a connection before its first body: the one of the standard (RFC 9113 §6.9.2).
pub(super) const FIRST: u32 = 65_535;
/// The largest window of a connection. An origin that reads nothing of one body leaves room for others.
const OF_CONNECTION: usize = 8 << 20;
/// The windows of all connections together, beside their first ones.
const OF_ALL: usize = 256 << 20;

/// What is left of the windows of all connections, an octet for a permit.
#[derive(Debug)]
pub(super) struct Windows(Arc<Semaphore>);

/// The window of one connection beside the first one, if there was room; ends on drop.
#[derive(Debug)]
pub(super) struct Window(Option<OwnedSemaphorePermit>);

impl Windows {
    pub(super) fn new() -> Self {
        Self(Arc::new(Semaphore::new(OF_ALL)))
    }

    /// A window of at most a quarter of what is left, so that later connections get one, too.
    pub(super) fn open(&self) -> Window {
        let octets = (self.0.available_permits() / 4).min(OF_CONNECTION);
        Window(Arc::clone(&self.0).try_acquire_many_owned(octets as u32).ok())
    }
}

impl Window {
    /// The size that the client is told.
    pub(super) fn size(&self) -> u32 {
        FIRST.max(self.octets() as u32)
    }

    fn octets(&self) -> usize {
        self.0.as_ref().map_or(0, OwnedSemaphorePermit::num_permits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_bounded_together_and_come_back() {
        let windows = Windows::new();
        let open: Vec<Window> = (0..1_000).map(|_| windows.open()).collect();
        assert_eq!(open[0].octets(), OF_CONNECTION);
        assert!(open.iter().all(|window| window.size() >= FIRST));
        let sum: usize = open.iter().map(Window::octets).sum();
        assert!(sum <= OF_ALL, "{sum}");
        drop(open);
        assert_eq!(windows.0.available_permits(), OF_ALL);
    }
}
