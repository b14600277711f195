//! The octets of bodies that clients of HTTP/2 may send ahead of the origins (RFC 9113 §5.2).
//!
//! A connection holds what its streams have sent and no origin has read. So the sum of all windows
//! is bounded, and a connection gets a large one with its first body.

use std::sync::Arc;

use parking_lot::Mutex;

/// The window of a stream. At 50 ms to the client it allows 20 MiB a second.
pub(super) const OF_STREAM: u32 = 1 << 20;
/// The window of a connection before its first body: the one of the standard (RFC 9113 §6.9.2).
pub(super) const FIRST: u32 = 65_535;
/// The largest window of a connection. An origin that reads nothing of one body leaves room for others.
const OF_CONNECTION: u32 = 8 << 20;
/// The windows of all connections together, beside their first ones.
const OF_ALL: u32 = 256 << 20;

/// The windows of all connections.
#[derive(Debug)]
pub(super) struct Windows {
    left: Mutex<u32>,
}

/// The window of one connection; ends on drop.
#[derive(Debug)]
pub(super) struct Window {
    windows: Arc<Windows>,
    octets: u32,
}

impl Windows {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { left: Mutex::new(OF_ALL) })
    }

    /// A window of at most a quarter of what is left, so that later connections get one, too.
    pub(super) fn open(self: &Arc<Self>) -> Window {
        let mut left = self.left.lock();
        let octets = (*left / 4).min(OF_CONNECTION);
        *left -= octets;
        Window { windows: Arc::clone(self), octets }
    }
}

impl Window {
    /// The size that the client is told.
    pub(super) fn size(&self) -> u32 {
        self.octets.max(FIRST)
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        *self.windows.left.lock() += self.octets;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_bounded_together_and_come_back() {
        let windows = Windows::new();
        let open: Vec<Window> = (0..1_000).map(|_| windows.open()).collect();
        assert_eq!(open[0].size(), OF_CONNECTION);
        assert!(open.iter().all(|window| window.size() >= FIRST));
        let sum: u64 = open.iter().map(|window| u64::from(window.octets)).sum();
        assert!(sum <= u64::from(OF_ALL), "{sum}");
        drop(open);
        assert_eq!(*windows.left.lock(), OF_ALL);
    }
}
