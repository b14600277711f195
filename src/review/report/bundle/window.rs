//! The window before a request in which fetched rules may be used, and times for people.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    records::record::{ClockLeap, time},
    rules::{enforce, policy},
};

/// How long a jump of the clock counts: longer than any window.
const LEAP_LIFETIME: Duration =
    policy::MAX_CACHE_WINDOW.saturating_add(Duration::from_secs(86_400));

/// A jump of the clock, as it is written.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Leap {
    #[serde(with = "time::required")]
    pub(super) at: Timestamp,
    pub(super) milliseconds: u64,
}

impl Leap {
    pub(super) fn of(leap: &ClockLeap) -> Self {
        let milliseconds = u64::try_from(leap.by.as_millis()).unwrap_or(u64::MAX);
        Self { at: leap.at, milliseconds }
    }
}

/// The start of the window before `at`. It reaches back by the jumps of the clock, as for the
/// decision itself.
pub(super) fn start(at: Timestamp, window: Duration, leaps: &[Leap]) -> Timestamp {
    let ages = leaps.iter().filter_map(|leap| {
        let ago = Duration::try_from(at.duration_since(leap.at)).ok()?;
        (ago < LEAP_LIFETIME).then_some((ago, Duration::from_millis(leap.milliseconds)))
    });
    let leap = ages.fold(None, |sum: Option<enforce::Leap>, (ago, by)| {
        let sum = sum.unwrap_or(enforce::Leap { by: Duration::ZERO, ago });
        Some(enforce::Leap { by: sum.by.saturating_add(by), ago: sum.ago.min(ago) })
    });
    enforce::Moment { leap, ..enforce::Moment::at(at) }.start_of(window)
}

/// A time for people: `2026-11-22 10:00 UTC`.
pub(super) fn plain(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_reaches_back_by_the_jumps_of_the_clock_within_it() {
        let at = |second| Timestamp::from_second(second).expect("a time");
        let day = Duration::from_secs(86_400);
        let leaps = [(1_000_000, 50), (1_000_100, 7)]
            .map(|(second, by)| Leap { at: at(second), milliseconds: by * 1000 });
        for (second, expected) in [
            (999_999, 999_999 - 86_400),
            (1_000_001, 1_000_001 - 86_400 - 50),
            (1_000_101, 1_000_101 - 86_400 - 57),
            (1_200_000, 1_200_000 - 86_400),
        ] {
            assert_eq!(start(at(second), day, &leaps), at(expected), "{second}");
        }
    }
}
