//! What one client may take: time for a body, and frames that do nothing.

use std::time::{Duration, Instant};

/// The octets of bodies that a client of HTTP/2 may send before it must wait for the origin
/// (RFC 9113 §6.9.2).
pub(super) const FIRST_WINDOW: u64 = 65_535;

/// The time for a body beside that of its octets.
const BODY_GRACE: Duration = Duration::from_secs(10);

/// The frames that do nothing and may come at once.
const MOST_FRAMES: f64 = 1_000.0;
/// The frames that do nothing and may come each second.
const FRAMES_A_SECOND: f64 = 200.0;

/// The pace of a body: only the time in which Beadle waits for the client counts.
#[derive(Debug, Default)]
pub(super) struct Pace {
    octets: u64,
    waited: Duration,
    /// The begin of the present wait.
    since: Option<Instant>,
}

impl Pace {
    /// Notes octets that end a wait.
    pub(super) fn note(&mut self, octets: usize) {
        self.octets += octets as u64;
        self.waited += self.since.take().map_or(Duration::ZERO, |since| since.elapsed());
    }

    /// The end of the present wait: when the client has been slower than `rate`.
    pub(super) fn end(&mut self, rate: u64) -> Instant {
        let allowed = BODY_GRACE + Duration::from_millis(self.octets * 1_000 / rate);
        self.since() + allowed.saturating_sub(self.waited)
    }

    /// The begin of the present wait; now, if there was none.
    pub(super) fn since(&mut self) -> Instant {
        *self.since.get_or_insert_with(Instant::now)
    }
}

/// A budget that fills itself up.
#[derive(Debug)]
pub(super) struct Budget {
    left: f64,
    at: Option<Instant>,
}

impl Default for Budget {
    fn default() -> Self {
        Self { left: MOST_FRAMES, at: None }
    }
}

impl Budget {
    /// Takes `count` out of the budget; false if it is exhausted.
    pub(super) fn take(&mut self, count: u32, now: Instant) -> bool {
        let since = self.at.replace(now).map_or(Duration::ZERO, |at| now.duration_since(at));
        let filled = self.left + since.as_secs_f64() * FRAMES_A_SECOND;
        self.left = filled.min(MOST_FRAMES) - f64::from(count);
        self.left >= 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_fills_itself_up() {
        let (mut budget, start) = (Budget::default(), Instant::now());
        assert!(budget.take(1_000, start));
        assert!(!budget.take(1, start));
        let mut budget = Budget::default();
        assert!(budget.take(1_000, start));
        assert!(budget.take(200, start + Duration::from_secs(1)));
        assert!(!budget.take(201, start + Duration::from_secs(2)));
    }

    #[test]
    fn a_body_has_ten_seconds_and_the_time_of_its_octets() {
        let mut pace = Pace::default();
        let start = pace.since();
        assert_eq!(pace.end(100), start + BODY_GRACE);
        pace.note(1_000);
        let later = pace.since();
        let more = pace.end(100) - later;
        assert!(more <= Duration::from_secs(20) && more > Duration::from_secs(15), "{more:?}");
    }
}
