//! The life of a queue between requests and the thread that writes, and what it says of its troubles.

use std::time::{Duration, Instant};

use crate::records::record::Error;

/// The shortest time between two messages about the same trouble.
pub const MESSAGE_INTERVAL: Duration = Duration::from_secs(60);
/// The longest that a write usually takes. A longer one stalls: the disk hangs, or the reader of the
/// output has stopped.
pub const STALL: Duration = Duration::from_secs(5);

/// The life of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// It takes and writes.
    #[default]
    Open,
    /// It takes nothing more; the writer still writes the rest.
    Closing,
    /// The writer writes nothing more.
    Abandoned,
    /// The writer has stopped.
    Finished,
}

impl Phase {
    /// Why there is no room in a queue at present, as metrics name it: the failure that stops the
    /// writing, the end, a write that began at `writing_since` and stalls, or too much at once.
    pub fn cause(self, trouble: Option<&Error>, writing_since: Option<Instant>) -> &'static str {
        let is_stalled = || writing_since.is_some_and(|since| since.elapsed() >= STALL);
        match trouble {
            Some(error) => error.code(),
            None if self != Self::Open => "store.stopped",
            None if is_stalled() => "store.stalled",
            None => "store.overflow",
        }
    }
}

/// Whether the last message is long enough ago; if so, its time becomes now.
pub fn is_due(last: &mut Option<Instant>, now: Instant) -> bool {
    let is_due = last.is_none_or(|at| now.duration_since(at) >= MESSAGE_INTERVAL);
    if is_due {
        *last = Some(now);
    }
    is_due
}
