//! The clock: the time of requests, corrected for changes of the wall clock.
//!
//! If the wall clock leaps forward, a fetch of a minute ago looks a day old. Beadle would then
//! judge crawlers by rules that they can't know yet. So the clock compares the wall clock with a
//! monotonic clock, and windows reach back by the leap until it is past. A suspended machine looks
//! the same; crawlers then get a little more time. If the wall clock is set back, stored times lie
//! ahead of it and would not expire. The publisher watches [`Clock::set_backs`] and moves these
//! times to now. It stores the leaps ([`Clock::take_leaps`]), so that a restart does not take them
//! for time that went by.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use arc_swap::ArcSwap;
use jiff::Timestamp;
use parking_lot::Mutex;

use crate::{
    enforce::{Leap, Moment},
    violations::ClockLeap,
};

/// The least difference that counts as a leap. Time synchronisation causes smaller ones.
const LEAST_LEAP: Duration = Duration::from_secs(60);
/// The difference that needs no comparison.
const TOLERANCE: Duration = Duration::from_secs(1);
/// The most time between two comparisons, so that slow drift never adds up to a leap.
const INTERVAL: Duration = Duration::from_secs(1);
/// How long a leap counts. It exceeds every cache window.
const LEAP_LIFETIME: Duration = Duration::from_secs(8 * 86_400);

/// The most jumps that are kept.
const MOST_JUMPS: usize = 1_024;

/// The wall clock and a monotonic clock.
#[derive(Debug)]
pub struct Clock {
    /// The fixed start of [`Moment::steady`].
    start: Instant,
    /// The last comparison.
    last: ArcSwap<State>,
    /// Its lock serialises comparisons after a change.
    jumps: Mutex<Jumps>,
}

/// The latest jumps.
#[derive(Debug, Default)]
struct Jumps {
    all: Vec<ClockLeap>,
    /// How many of them were taken ([`Clock::take_leaps`]).
    stored: usize,
}

/// One comparison.
#[derive(Clone, Copy, Debug)]
struct State {
    steady: Instant,
    wall: Timestamp,
    /// The leaps of the last [`LEAP_LIFETIME`].
    leaps: Option<Leaps>,
    set_backs: u64,
}

/// Several leaps as one.
#[derive(Clone, Copy, Debug)]
struct Leaps {
    total: Duration,
    /// The time at which the last one was `ago`.
    at: Instant,
    ago: Duration,
}

impl Default for Clock {
    fn default() -> Self {
        Self::after(&[], Timestamp::now())
    }
}

impl Clock {
    /// A clock that starts at `now`, after these jumps. They count as long as without a restart.
    pub fn after(leaps: &[ClockLeap], now: Timestamp) -> Self {
        let start = Instant::now();
        let jumps = Mutex::new(Jumps { all: leaps.to_vec(), stored: leaps.len() });
        let age = |leap: &ClockLeap| Duration::try_from(now.duration_since(leap.at)).ok();
        let ages = leaps.iter().map(|leap| (age(leap).unwrap_or_default(), leap.by));
        let recent = ages.filter(|(ago, _)| *ago < LEAP_LIFETIME);
        let leaps = recent.fold(None, |sum: Option<Leaps>, (ago, by)| {
            let sum = sum.unwrap_or(Leaps { total: Duration::ZERO, at: start, ago });
            let total = sum.total.saturating_add(by);
            Some(Leaps { total, ago: sum.ago.min(ago), ..sum })
        });
        let state = State { steady: start, wall: now, leaps, set_backs: 0 };
        Self { start, last: ArcSwap::from_pointee(state), jumps }
    }

    /// The moment of a given time. For explanations, which compare no clocks.
    pub fn moment_at(&self, now: Timestamp) -> Moment {
        Moment { leap: self.last.load().leap_at(self.start), ..Moment::at(now) }
    }

    /// The jumps since the last call.
    pub fn take_leaps(&self) -> Vec<ClockLeap> {
        let mut jumps = self.jumps.lock();
        let (all, stored) = (jumps.all.len(), jumps.stored);
        jumps.stored = all;
        jumps.all.iter().skip(stored).copied().collect()
    }

    /// The jumps of this run and of earlier ones.
    pub fn leaps(&self) -> Vec<ClockLeap> {
        self.jumps.lock().all.clone()
    }

    /// The present moment. Takes no lock while both clocks agree.
    pub fn moment(&self) -> Moment {
        let (steady, wall) = (Instant::now(), Timestamp::now());
        let state = self.last.load();
        let leap = match state.agrees(steady, wall) {
            true => state.leap_at(steady),
            false => self.compare(steady, wall),
        };
        Moment { now: wall, steady: steady.saturating_duration_since(self.start), leap }
    }

    /// How often the clock was set back so far.
    pub fn set_backs(&self) -> u64 {
        self.moment();
        self.last.load().set_backs
    }

    /// Compares both clocks and stores the result.
    fn compare(&self, steady: Instant, wall: Timestamp) -> Option<Leap> {
        let mut jumps = self.jumps.lock();
        let mut state = **self.last.load();
        let leapt = state.compare(steady, wall);
        self.last.store(Arc::new(state));
        if let Some(leapt) = leapt {
            jumps.push(ClockLeap { at: wall, by: leapt });
            let seconds = leapt.as_secs();
            tracing::warn!(
                code = "clock.leapt",
                seconds,
                "clock set forward: crawlers get that much more time to fetch new rules"
            );
        }
        state.leap_at(steady)
    }
}

impl Jumps {
    fn push(&mut self, leap: ClockLeap) {
        if self.all.len() >= MOST_JUMPS {
            self.all.remove(0);
            self.stored = self.stored.saturating_sub(1);
        }
        self.all.push(leap);
    }
}

impl State {
    /// Whether both clocks agree since the last comparison, and that one is recent.
    fn agrees(&self, steady: Instant, wall: Timestamp) -> bool {
        let elapsed = steady.saturating_duration_since(self.steady);
        let shown = wall.duration_since(self.wall).as_millis();
        let differs = shown.abs_diff(i128::try_from(elapsed.as_millis()).unwrap_or(i128::MAX));
        elapsed < INTERVAL && differs < TOLERANCE.as_millis()
    }

    /// The leap that counts at this time.
    fn leap_at(&self, steady: Instant) -> Option<Leap> {
        let leaps = self.leaps?;
        let ago = leaps.ago(steady);
        (ago < LEAP_LIFETIME).then_some(Leap { by: leaps.total, ago })
    }

    /// Compares both clocks with the last comparison. Returns the leap of the wall clock.
    fn compare(&mut self, steady: Instant, wall: Timestamp) -> Option<Duration> {
        let elapsed = steady.saturating_duration_since(self.steady);
        let shown = Duration::try_from(wall.duration_since(self.wall)).unwrap_or_default();
        let is_back = wall.saturating_add(LEAST_LEAP).is_ok_and(|wall| wall < self.wall);
        self.set_backs += u64::from(is_back);
        let leapt = shown.checked_sub(elapsed).filter(|leapt| *leapt >= LEAST_LEAP);
        (self.steady, self.wall) = (steady, wall);
        let is_recent = |leaps: &Leaps| leaps.ago(steady) < LEAP_LIFETIME;
        self.leaps = self.leaps.filter(is_recent);
        if let Some(leapt) = leapt {
            let before = self.leaps.map_or(Duration::ZERO, |leaps| leaps.total);
            self.leaps = Some(Leaps {
                total: before.saturating_add(leapt),
                at: steady,
                ago: Duration::ZERO,
            });
        }
        leapt
    }
}

impl Leaps {
    /// The time since the last one.
    fn ago(&self, steady: Instant) -> Duration {
        self.ago.saturating_add(steady.saturating_duration_since(self.at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);
    const DAY: Duration = Duration::from_secs(86_400);

    #[test]
    fn a_clock_set_forward_extends_the_window_by_the_leap() {
        let (steady, wall) = (Instant::now(), Timestamp::UNIX_EPOCH + 20_000 * DAY);
        let mut state = State { steady, wall, leaps: None, set_backs: 0 };
        let start = |state: &mut State, steady, wall| {
            state.compare(steady, wall);
            let moment = Moment { leap: state.leap_at(steady), ..Moment::at(wall) };
            moment.start_of(DAY)
        };
        assert_eq!(start(&mut state, steady + HOUR, wall + HOUR), wall + HOUR - DAY);
        // Ten years forward: the start of the window stays.
        let leap = 3_650 * DAY;
        let (steady, wall) = (steady + 2 * HOUR, wall + 2 * HOUR);
        assert_eq!(start(&mut state, steady, wall + leap), wall - DAY);
        assert_eq!(start(&mut state, steady + HOUR, wall + leap + HOUR), wall + HOUR - DAY);
        // A day later the window starts at the leap.
        assert_eq!(start(&mut state, steady + DAY, wall + leap + DAY), wall + leap);
        // Set back: all fetches since then stay in the window.
        let back = start(&mut state, steady + DAY + HOUR, wall + DAY + HOUR);
        assert_eq!(back, wall + HOUR);
        assert_eq!(state.set_backs, 1);
    }

    #[test]
    fn a_restart_keeps_the_leaps() {
        let now = Timestamp::UNIX_EPOCH + 20_000 * DAY;
        let leap = |hours: u32, by: Duration| ClockLeap { at: now - hours * HOUR, by };
        for (leaps, start) in [
            (vec![], now - DAY),
            (vec![leap(1, 2 * DAY)], now - 3 * DAY),
            (vec![leap(30, DAY), leap(1, 2 * DAY)], now - 4 * DAY),
            (vec![leap(25, DAY)], now - DAY),
            (vec![leap(9 * 24, DAY)], now - DAY),
        ] {
            let clock = Clock::after(&leaps, now);
            assert_eq!(clock.moment_at(now).start_of(DAY), start, "{leaps:?}");
            assert_eq!(clock.take_leaps(), []);
        }
        // The clock was set back since.
        let ahead = ClockLeap { at: now + DAY, by: DAY };
        assert_eq!(Clock::after(&[ahead], now).moment_at(now).start_of(DAY), now - 2 * DAY);
    }
}
