//! The time of the fleet: that of the shared server, as a node estimates it.
//!
//! A node sends a question at one time of its steady clock and has the answer at another; the server
//! read its clock in between. The shortest of the last round trips tells most. The estimate is off by
//! half of that round trip at most, whatever the node's own wall clock says.

use std::{collections::VecDeque, time::Duration};

/// The most samples, and how far apart they are at least.
const MOST: usize = 64;
const APART: Duration = Duration::from_secs(2);
/// A change of the difference between both clocks, in milliseconds, that no estimate explains.
const STEP: u64 = 2_000;

/// The samples of the server's clock.
#[derive(Clone, Debug, Default)]
pub struct Clocks {
    samples: VecDeque<Sample>,
    /// The difference at the last look ([`Self::has_stepped`]).
    seen: Option<i64>,
}

#[derive(Clone, Copy, Debug)]
struct Sample {
    round_trip: Duration,
    at: Duration,
    /// The server's clock, less the steady clock, in microseconds.
    ahead: i64,
}

impl Clocks {
    /// Notes an answer: sent and received by the steady clock, and the server's time in
    /// microseconds since 1970.
    pub fn note(&mut self, sent: Duration, received: Duration, server: i64) {
        let round_trip = received.saturating_sub(sent);
        let middle = micros(sent.saturating_add(round_trip / 2));
        let sample = Sample { round_trip, at: received, ahead: server.saturating_sub(middle) };
        match self.samples.back_mut() {
            Some(last) if received.saturating_sub(last.at) < APART => {
                if round_trip <= last.round_trip {
                    *last = Sample { at: last.at, ..sample };
                }
            }
            _ => self.samples.push_back(sample),
        }
        if self.samples.len() > MOST {
            self.samples.pop_front();
        }
    }

    /// Forgets all samples: another server may have another clock.
    pub fn forget(&mut self) {
        self.samples.clear();
    }

    /// The time of the fleet, in milliseconds since 1970. `None` before the first answer.
    pub fn now(&self, steady: Duration) -> Option<i64> {
        let best = self.samples.iter().min_by_key(|sample| sample.round_trip)?;
        Some(best.ahead.saturating_add(micros(steady)).div_euclid(1_000))
    }

    /// The time of the fleet, less this node's wall clock: what to add to a time of its own.
    pub fn shift(&self, steady: Duration, wall: i64) -> Option<i64> {
        self.now(steady).map(|now| now.saturating_sub(wall))
    }

    /// Whether one of both clocks was set since the last look at their difference. Own times from before
    /// then have no order with times that are converted from now on.
    pub fn has_stepped(&mut self, shift: i64) -> bool {
        let seen = self.seen.replace(shift);
        seen.is_some_and(|seen| seen.abs_diff(shift) > STEP)
    }
}

fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn without_an_answer_there_is_no_time() {
        let mut clocks = Clocks::default();
        assert_eq!(clocks.now(Duration::ZERO), None);
        clocks.note(Duration::from_millis(10), Duration::from_millis(30), 1_000_000);
        assert_eq!(clocks.now(Duration::from_millis(20)), Some(1_000));
        assert_eq!(clocks.shift(Duration::from_millis(20), 61_000), Some(-60_000));
        clocks.forget();
        assert_eq!(clocks.now(Duration::from_millis(20)), None);
    }

    #[test]
    fn a_step_of_either_clock_is_seen_once_and_drift_is_none() {
        let mut clocks = Clocks::default();
        let seen = [-500, 500, 2_500, 2_400, 4_401, 4_401, -3_600_000, -3_600_000];
        let seen = seen.map(|shift| clocks.has_stepped(shift));
        assert_eq!(seen, [false, false, false, false, true, false, true, false]);
        // Another server may have another clock.
        clocks.forget();
        assert!(clocks.has_stepped(0));
    }

    proptest! {
        #[test]
        fn the_estimate_is_off_by_half_of_the_shortest_round_trip_at_most(
            trips in prop::collection::vec((0_u64..2_000, 0_u64..2_000, 0_u64..10_000), 1..90),
            ahead in -1_000_000_000_i64..1_000_000_000,
        ) {
            let (mut clocks, mut steady) = (Clocks::default(), 0);
            let mut shortest = VecDeque::new();
            for (there, back, pause) in trips {
                let server = ahead + i64::try_from(1_000 * (steady + there)).unwrap();
                let received = steady + there + back;
                let last = clocks.samples.back().map(|last| last.at);
                clocks.note(Duration::from_millis(steady), Duration::from_millis(received), server);
                match (last, shortest.back_mut()) {
                    (Some(last), Some(best))
                        if Duration::from_millis(received).saturating_sub(last) < APART =>
                    {
                        *best = there.saturating_add(back).min(*best);
                    }
                    _ => shortest.push_back(there + back),
                }
                if shortest.len() > MOST {
                    shortest.pop_front();
                }
                steady = received + pause;
            }
            let now = clocks.now(Duration::from_millis(steady)).unwrap();
            let truth = (ahead + i64::try_from(1_000 * steady).unwrap()).div_euclid(1_000);
            let most = i64::try_from(shortest.iter().min().unwrap() / 2 + 1).unwrap();
            prop_assert!((now - truth).abs() <= most, "{} {} {}", now, truth, most);
        }
    }
}
