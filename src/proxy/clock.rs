//! The time by which requests are judged, and how far it can be trusted.
//!
//! When the wall clock is put forward, what was fetched a minute ago looks a day old, and crawlers
//! would be held to rules that they can't know yet. So a leap is noticed against the clock that
//! can't be set, and windows reach back by it until they lie behind it altogether. A machine that
//! slept looks the same; then crawlers are excused a little longer. When the clock is put back, what
//! happened lies ahead of it and would never be over: whoever keeps times asks [`Clock::set_backs`]
//! and takes such times for now.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use jiff::Timestamp;

use crate::enforce::{Leap, Moment};

/// Smaller differences are a clock that is being kept right.
const LEAST_LEAP: Duration = Duration::from_secs(60);
/// No leap is remembered for longer: no window is.
const LONGEST: Duration = Duration::from_secs(8 * 86_400);

/// Both clocks, compared.
#[derive(Debug)]
pub(super) struct Clock(Mutex<State>);

#[derive(Clone, Copy, Debug)]
struct State {
    steady: Instant,
    wall: Timestamp,
    /// The leaps within [`LONGEST`], added up, and when the last one was noticed.
    leap: Option<(Duration, Instant)>,
    set_backs: u64,
}

impl Clock {
    pub(super) fn new() -> Self {
        let (steady, wall) = (Instant::now(), Timestamp::now());
        Self(Mutex::new(State { steady, wall, leap: None, set_backs: 0 }))
    }

    pub(super) fn moment(&self) -> Moment {
        let (steady, wall) = (Instant::now(), Timestamp::now());
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (moment, leapt) = state.look(steady, wall);
        drop(state);
        if let Some(leapt) = leapt {
            let seconds = leapt.as_secs();
            tracing::warn!(
                code = "clock.leapt",
                seconds,
                "the clock was put forward: crawlers are given that much longer to read new rules"
            );
        }
        moment
    }

    /// How often the clock has been put back so far.
    pub(super) fn set_backs(&self) -> u64 {
        self.moment();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).set_backs
    }
}

impl State {
    /// The moment, and by how much the clock has leapt since the last look.
    fn look(&mut self, steady: Instant, wall: Timestamp) -> (Moment, Option<Duration>) {
        let went_by = steady.saturating_duration_since(self.steady);
        let shown = Duration::try_from(wall.duration_since(self.wall)).unwrap_or_default();
        let is_back = wall.saturating_add(LEAST_LEAP).is_ok_and(|wall| wall < self.wall);
        self.set_backs += u64::from(is_back);
        let leapt = shown.checked_sub(went_by).filter(|leapt| *leapt >= LEAST_LEAP);
        (self.steady, self.wall) = (steady, wall);
        self.leap = self.leap.filter(|(_, at)| steady.saturating_duration_since(*at) < LONGEST);
        if let Some(leapt) = leapt {
            let before = self.leap.map_or(Duration::ZERO, |(by, _)| by);
            self.leap = Some((before.saturating_add(leapt), steady));
        }
        let leap = self.leap.map(|(by, at)| Leap { by, ago: steady.saturating_duration_since(at) });
        (Moment { leap, ..Moment::at(wall) }, leapt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);
    const DAY: Duration = Duration::from_secs(86_400);

    #[test]
    fn ours_a_clock_put_forward_makes_the_window_reach_back_by_as_much() {
        let (steady, wall) = (Instant::now(), Timestamp::UNIX_EPOCH + 20_000 * DAY);
        let mut state = State { steady, wall, leap: None, set_backs: 0 };
        let start = |state: &mut State, steady, wall| state.look(steady, wall).0.start_of(DAY);
        assert_eq!(start(&mut state, steady + HOUR, wall + HOUR), wall + HOUR - DAY);
        // Ten years forward: the window begins where it did.
        let leap = 3_650 * DAY;
        let (steady, wall) = (steady + 2 * HOUR, wall + 2 * HOUR);
        assert_eq!(start(&mut state, steady, wall + leap), wall - DAY);
        assert_eq!(start(&mut state, steady + HOUR, wall + leap + HOUR), wall + HOUR - DAY);
        // A day later it lies behind the leap.
        assert_eq!(start(&mut state, steady + DAY, wall + leap + DAY), wall + leap);
        // Back again: nothing that was fetched since is out of the window.
        let back = start(&mut state, steady + DAY + HOUR, wall + DAY + HOUR);
        assert_eq!(back, wall + HOUR);
        assert_eq!(state.set_backs, 1);
    }
}
