//! The inspection of a database in use. SQLite keeps pages in memory, and notices no damage to them.
//!
//! A write to the file by another program is a reason to inspect it: it may be damage. An inspection
//! reads the file with a connection of its own, as a start does. Its cost is bounded: the time between
//! two is twenty times what one takes, up to ten seconds.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use super::connection::Store;
use crate::records::record::{Error, Obstacle};

/// The time between two inspections without a reason.
const REGULAR: Duration = Duration::from_secs(3_600);
/// The least time between two inspections.
const LEAST: Duration = Duration::from_secs(1);
/// How much longer the time between two inspections is than the first one took.
const SHARE: u32 = 20;
/// The most time to an inspection that has a reason. A busy machine makes one take long.
const MOST: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, Debug)]
pub(super) struct Inspection {
    /// Whether another program wrote to the file.
    pub(super) has_reason: bool,
    earliest: Instant,
    regular: Instant,
}

impl Inspection {
    /// The schedule after an inspection that took until `now`.
    pub(super) fn after(start: Instant, now: Instant) -> Self {
        let rest = (now.saturating_duration_since(start) * SHARE).clamp(LEAST, MOST);
        Self { has_reason: false, earliest: now + rest, regular: now + REGULAR }
    }

    pub(super) fn is_due(&self, now: Instant) -> bool {
        now >= self.earliest && (self.has_reason || now >= self.regular)
    }
}

/// Fails where the database is damaged, is empty, or is none any more.
pub(super) fn inspect(path: &Path) -> Result<(), Error> {
    let inspected = Store::inspect(path);
    let is_bad = |error: &Error| {
        error.is_damage() || matches!(error.obstacle, Obstacle::NoDatabase | Obstacle::Truncated)
    };
    // Everything else shows when the database is written.
    inspected.or_else(|error| if is_bad(&error) { Err(error) } else { Ok(()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inspection_takes_a_bounded_share_of_the_time() {
        let start = Instant::now();
        let seconds = Duration::from_secs;
        for (took, earliest) in [(seconds(0), seconds(1)), (seconds(2), seconds(12))] {
            let now = start + took;
            let mut inspection = Inspection::after(start, now);
            assert!(!inspection.is_due(now + seconds(3_599)));
            assert!(inspection.is_due(now + seconds(3_600)));
            inspection.has_reason = true;
            assert!(!inspection.is_due(start + earliest - seconds(1)));
            assert!(inspection.is_due(start + earliest));
        }
    }
}
