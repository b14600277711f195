//! The time of a request, by two clocks.

use std::time::Duration;

use jiff::Timestamp;

/// The time at which a request is judged.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// The time of day.
    pub now: Timestamp,
    /// The time since a fixed start, by a clock that is never set. It measures how fast requests
    /// come.
    pub steady: Duration,
    /// The recent jump of the clock, if there was one.
    pub leap: Option<Leap>,
}

/// A clock that was put forward: by it, what just happened lies far in the past.
#[derive(Clone, Copy, Debug)]
pub struct Leap {
    /// How far the clock was put forward.
    pub by: Duration,
    /// The time since then.
    pub ago: Duration,
}

impl Moment {
    /// A moment by a single clock, which is taken to be right: `steady` is the time since the Unix
    /// epoch.
    pub fn at(now: Timestamp) -> Self {
        // Before the epoch there is no time to measure.
        let seconds = u64::try_from(now.as_second()).unwrap_or_default();
        let nanoseconds = u32::try_from(now.subsec_nanosecond()).unwrap_or_default();
        Self { now, steady: Duration::new(seconds, nanoseconds), leap: None }
    }

    /// The start of a window that ends now.
    pub fn start_of(self, window: Duration) -> Timestamp {
        let leap =
            self.leap.filter(|leap| leap.ago < window).map_or(Duration::ZERO, |leap| leap.by);
        self.now.checked_sub(window.saturating_add(leap)).unwrap_or(Timestamp::MIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_clock_is_the_steady_one_too() {
        let at = |second| Moment::at(Timestamp::from_second(second).expect("a time"));
        assert_eq!(at(7).steady, Duration::from_secs(7));
        assert_eq!(at(-7).steady, Duration::ZERO);
    }
}
