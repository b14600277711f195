//! The clock: the time of requests, corrected for changes of the wall clock.
//!
//! If the wall clock leaps forward, a fetch of a minute ago looks a day old. Beadle would then
//! judge crawlers by rules that they can't know yet. So the clock compares the wall clock with a
//! monotonic clock, and windows reach back by the leap until it is past. A suspended machine looks
//! the same; crawlers then get a little more time. If the wall clock is set back, stored times lie
//! ahead of it and would not expire. The publisher watches [`Clock::set_backs`] and moves these
//! times to now. It stores the leaps ([`Clock::take_leaps`]), so that a restart does not take them
//! for time that went by.
//!
//! In a fleet that is not enough: what happened here before the clock was set back has to keep its
//! order with what others tell later. So the clock of a node is held ([`Clock::hold`]): it goes on
//! from the time of before until the wall clock has made up for it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use arc_swap::ArcSwap;
use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;

use crate::{
    records::record::ClockLeap,
    rules::enforce::{Leap, Moment},
};

/// The least difference that counts as a leap. Time synchronisation causes smaller ones.
const LEAST_LEAP: Duration = Duration::from_secs(60);
/// The difference that needs no comparison: between the readings of both clocks, a thread may wait.
const TOLERANCE: SignedDuration = SignedDuration::from_millis(100);
/// The most time between two comparisons, so that slow drift never adds up to a leap.
const INTERVAL: Duration = Duration::from_secs(1);
/// How long a leap counts. It exceeds every cache window.
const LEAP_LIFETIME: Duration = Duration::from_secs(8 * 86_400);

const MOST_JUMPS: usize = 1_024;

/// The wall clock and a monotonic clock.
#[derive(Debug)]
pub struct Clock {
    /// The fixed start of [`Moment::steady`].
    start: Instant,
    last: ArcSwap<State>,
    /// Its lock serialises comparisons after a change.
    jumps: Mutex<Jumps>,
    is_held: AtomicBool,
}

#[derive(Debug, Default)]
struct Jumps {
    all: Vec<ClockLeap>,
    /// How many of them were taken ([`Clock::take_leaps`]).
    stored: usize,
}

#[derive(Clone, Copy, Debug)]
struct State {
    steady: Instant,
    wall: Timestamp,
    /// How far the wall clock was set back while it was held.
    behind: Duration,
    /// The leaps of the last [`LEAP_LIFETIME`].
    leaps: Option<Leaps>,
    set_backs: u64,
}

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
        let state = State { leaps, ..State::new(start, now) };
        Self { start, last: ArcSwap::from_pointee(state), jumps, is_held: AtomicBool::new(false) }
    }

    /// From now on, the time never goes back.
    pub fn hold(&self) {
        self.is_held.store(true, Ordering::Relaxed);
    }

    /// How far the wall clock is behind this one, because it was set back.
    pub fn behind(&self) -> Duration {
        self.moment();
        self.last.load().behind
    }

    /// The moment of a given time. For explanations, which compare no clocks.
    pub fn moment_at(&self, now: Timestamp) -> Moment {
        Moment { leap: self.last.load().leap_at(self.start), ..Moment::at(now) }
    }

    pub(crate) fn take_leaps(&self) -> Vec<ClockLeap> {
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
        self.moment_of(Instant::now(), Timestamp::now())
    }

    /// The moment of these readings of the monotonic clock and the wall clock.
    pub fn moment_of(&self, steady: Instant, wall: Timestamp) -> Moment {
        let state = self.last.load();
        let (now, leap) = match state.agrees(steady, wall) {
            true => (later(wall, state.behind), state.leap_at(steady)),
            false => self.compare(steady, wall),
        };
        Moment { now, steady: steady.saturating_duration_since(self.start), leap }
    }

    /// How often the clock was set back so far.
    pub fn set_backs(&self) -> u64 {
        self.moment();
        self.last.load().set_backs
    }

    /// Compares both clocks and stores the result. Returns the time, and the leap that counts.
    fn compare(&self, steady: Instant, wall: Timestamp) -> (Timestamp, Option<Leap>) {
        let mut jumps = self.jumps.lock();
        let mut state = **self.last.load();
        if let Some(ago) = state.steady.checked_duration_since(steady) {
            // Another thread has compared later readings, perhaps of a clock that was set meanwhile.
            let now = later(state.wall, state.behind);
            return (now.checked_sub(ago).unwrap_or(now), state.leap_at(steady));
        }
        let before = state.behind;
        let leapt = state.compare(steady, wall, self.is_held.load(Ordering::Relaxed));
        self.last.store(Arc::new(state));
        if state.behind > before {
            let seconds = state.behind.as_secs_f64();
            tracing::warn!(
                code = "clock.set_back",
                seconds,
                "clock set back: this node of a fleet goes on by the time of before"
            );
        }
        if let Some(leapt) = leapt {
            jumps.push(ClockLeap { at: wall, by: leapt });
            let seconds = leapt.as_secs();
            tracing::warn!(
                code = "clock.leapt",
                seconds,
                "clock set forward: crawlers get that much more time to fetch new rules"
            );
        }
        (later(wall, state.behind), state.leap_at(steady))
    }
}

fn later(time: Timestamp, by: Duration) -> Timestamp {
    time.checked_add(by).unwrap_or(time)
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
    const fn new(steady: Instant, wall: Timestamp) -> Self {
        Self { steady, wall, behind: Duration::ZERO, leaps: None, set_backs: 0 }
    }

    fn jump(&self, steady: Instant, wall: Timestamp) -> SignedDuration {
        let elapsed = steady.saturating_duration_since(self.steady);
        let elapsed = SignedDuration::try_from(elapsed).unwrap_or(SignedDuration::MAX);
        wall.duration_since(self.wall).saturating_sub(elapsed)
    }

    /// Whether both clocks agree since the last comparison, and that one is recent.
    fn agrees(&self, steady: Instant, wall: Timestamp) -> bool {
        let elapsed = steady.saturating_duration_since(self.steady);
        elapsed < INTERVAL && self.jump(steady, wall).abs() < TOLERANCE
    }

    fn leap_at(&self, steady: Instant) -> Option<Leap> {
        let leaps = self.leaps?;
        let ago = leaps.ago(steady);
        (ago < LEAP_LIFETIME).then_some(Leap { by: leaps.total, ago })
    }

    /// Compares both clocks with the last comparison. Returns the leap of the wall clock.
    fn compare(&mut self, steady: Instant, wall: Timestamp, is_held: bool) -> Option<Duration> {
        let jump = self.jump(steady, wall);
        // Less comes from the readings, and would add up.
        let by = if jump.abs() < TOLERANCE { Duration::ZERO } else { jump.unsigned_abs() };
        let mut leapt = None;
        if jump.is_positive() {
            let made_up = by.min(self.behind);
            self.behind -= made_up;
            leapt = Some(by - made_up).filter(|leapt| *leapt >= LEAST_LEAP);
        } else if is_held {
            self.behind = self.behind.saturating_add(by);
        } else {
            let is_back = wall.saturating_add(LEAST_LEAP).is_ok_and(|wall| wall < self.wall);
            self.set_backs += u64::from(is_back);
        }
        (self.steady, self.wall) = (steady, wall);
        let is_recent = |leaps: &Leaps| leaps.ago(steady) < LEAP_LIFETIME;
        self.leaps = self.leaps.filter(is_recent);
        if let Some(leapt) = leapt {
            let before = self.leaps.map_or(Duration::ZERO, |leaps| leaps.total);
            let (total, ago) = (before.saturating_add(leapt), Duration::ZERO);
            self.leaps = Some(Leaps { total, at: steady, ago });
        }
        leapt
    }
}

impl Leaps {
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
        let mut state = State::new(steady, wall);
        let start = |state: &mut State, steady, wall| {
            state.compare(steady, wall, false);
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
    fn a_held_clock_never_goes_back() {
        let (start, wall) = (Instant::now(), Timestamp::UNIX_EPOCH + 20_000 * DAY);
        let clock = Clock::after(&[], wall);
        clock.hold();
        let second = |second: u32| Duration::from_secs(second.into());
        // Seconds since the start, how far the wall clock is off, and how far the held one then is.
        for (at, off, expected) in [
            (0, 0, 0),
            (10, -30, 0),
            (11, -30, 0),
            (20, -3_600, 0),
            (30, -86_400, 0),
            (40, -3_600, 0),
            (50, 0, 0),
            (60, 3_600, 3_600),
            (70, 0, 3_600),
            (80, 3_600, 3_600),
            (90, 1_800, 3_600),
        ] {
            let read = wall + second(at) + SignedDuration::from_secs(off);
            let now = clock.moment_of(start + second(at), read).now;
            let error = now.duration_since(wall + second(at) + second(expected));
            assert!(error.abs() < TOLERANCE, "{at} {off}: {error}");
        }
        assert_eq!((clock.take_leaps().len(), clock.last.load().set_backs), (1, 0));
        // A reading from before a step that another thread has noticed.
        let late = clock.moment_of(start + second(89), wall + second(89) + second(3_600)).now;
        assert!(late.duration_since(wall + second(89) + second(3_600)).abs() < TOLERANCE);
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
