//! One crawler at one limit: a leaky bucket (GCRA), known by the time at which it is empty.
//!
//! Each request fills in the time of one [`Rate::interval`]. A request passes if the bucket holds no
//! more than [`Rate::tolerance`]. So one time says everything, and nothing runs between requests.
//!
//! **Late requests.** A node of a fleet hears of the requests at other nodes some time after they
//! passed. A bucket that was empty in the meantime had drained them, had it known: so a bucket
//! remembers when it was empty ([`Idle`]), and a late request uses up that time first. The bucket is
//! then as if all requests had come in order. It remembers a number of spans; older ones are taken
//! together in favour of the crawler.

use std::time::Duration;

use crate::clients::conduct::key::Limit;

/// The requests that may come at once at any pace.
pub(super) const AT_ONCE: u32 = 3;
/// The most requests that may come at once, whatever a `Request-rate` says.
const MOST_AT_ONCE: u32 = 1_000;
const MOST_IDLE: usize = 16;

#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    /// The time in which it drains one request.
    pub(super) interval: Duration,
    /// How much it may hold before a request that passes.
    pub(super) tolerance: Duration,
}

impl Rate {
    /// The rate of a limit, for a pace with the tolerance that a polite crawler needs. A limit of the
    /// operator is exact but for a tenth of the time of a request, without which each late request would
    /// cost a part of it.
    pub(super) fn of(Limit { pace, times, burst }: Limit) -> Self {
        let interval = pace.interval();
        if burst > 0 {
            let tolerance = interval.saturating_mul(burst - 1) + interval / 10;
            return Self { interval, tolerance };
        }
        let at_once = pace.requests().saturating_mul(2).clamp(AT_ONCE, MOST_AT_ONCE);
        let interval = (interval.mul_f64(0.9) / times.max(1)).max(Duration::from_micros(1));
        let after_one = at_once.saturating_mul(times).saturating_sub(1);
        Self { interval, tolerance: interval.saturating_mul(after_one) }
    }

    /// The part of one node, where several share the rate and can't tell each other.
    pub(super) fn of_one(self, nodes: u32) -> Self {
        Self { interval: self.interval.saturating_mul(nodes), ..self }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    /// The time at which it is empty without a further request.
    empty_at: Duration,
    /// The latest spans in which it was empty, the oldest first; none outside of a fleet.
    idle: Vec<Idle>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Idle {
    from: Duration,
    until: Duration,
}

impl Cell {
    /// Adds a request at `now`, if the bucket has room. It remembers when it was empty if it
    /// `may_hear_late` of other requests.
    /// Else it does not count, and the error is the time for which the bucket is full.
    pub(super) fn charge(
        &mut self,
        rate: Rate,
        now: Duration,
        may_hear_late: bool,
    ) -> Result<(), Duration> {
        let wait = self.wait(rate, now);
        if !wait.is_zero() {
            return Err(wait);
        }
        if may_hear_late {
            self.add(now, rate.interval);
        } else {
            self.empty_at = self.empty_at.max(now).saturating_add(rate.interval);
        }
        Ok(())
    }

    pub(super) fn wait(&self, rate: Rate, now: Duration) -> Duration {
        self.empty_at.saturating_sub(rate.tolerance).saturating_sub(now)
    }

    /// Adds requests that passed elsewhere at `at`, which may be earlier than others here.
    pub(super) fn take_in(&mut self, rate: Rate, at: Duration, requests: u32) {
        let mut amount = rate.interval.saturating_mul(requests);
        let mut left = Vec::with_capacity(self.idle.len() + 1);
        for span in std::mem::take(&mut self.idle) {
            let from = span.from.max(at);
            let used = amount.min(span.until.saturating_sub(from));
            amount -= used;
            let cuts = match used.is_zero() {
                true => [span, Idle { from: span.until, until: span.until }],
                false => [
                    Idle { from: span.from, until: from },
                    Idle { from: from + used, until: span.until },
                ],
            };
            left.extend(cuts.into_iter().filter(|span| span.from < span.until));
        }
        self.idle = left;
        if !amount.is_zero() {
            self.add(at, amount);
        }
        self.shorten();
    }

    /// Whether the bucket was empty for so long that a new one does as well.
    pub(super) fn is_idle(&self, rate: Rate, now: Duration) -> bool {
        self.empty_at.saturating_add(rate.interval) <= now
    }

    fn add(&mut self, at: Duration, amount: Duration) {
        if at > self.empty_at {
            // A new bucket was always empty. Whatever came before its first request is drained.
            self.idle.push(Idle { from: self.empty_at, until: at });
            self.empty_at = at;
            self.shorten();
        }
        self.empty_at = self.empty_at.saturating_add(amount);
    }

    /// Takes the oldest spans together: their whole length counts as just before the end of the
    /// later one.
    fn shorten(&mut self) {
        while let [first, second, ..] = self.idle[..]
            && self.idle.len() > MOST_IDLE
        {
            let length = (first.until - first.from).saturating_add(second.until - second.from);
            let from = second.until.saturating_sub(length);
            self.idle.splice(..2, [Idle { from, until: second.until }]);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RATE: Rate = Rate { interval: Duration::from_millis(900), tolerance: Duration::ZERO };

    fn at(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    /// The bucket after these requests in the order of their times.
    fn in_order(mut times: Vec<u64>) -> Duration {
        times.sort_unstable();
        times
            .into_iter()
            .fold(Duration::ZERO, |empty_at, time| empty_at.max(at(time)) + RATE.interval)
    }

    #[test]
    fn a_late_request_uses_up_the_time_in_which_the_bucket_was_empty() {
        // Requests here, a late one, and the time at which the bucket is empty.
        for (here, late, empty_at) in [
            (vec![0, 2_000], 500, 2_900), // between the two there is room for it
            (vec![0, 1_000], 500, 2_700), // 100 ms were idle, 800 are left
            (vec![1_000, 1_100], 1_050, 3_700), // none were
            (vec![1_000], 3_000, 3_900),  // the latest of all
            (vec![5_000, 9_000], 0, 9_900), // before all others
            (vec![], 7_000, 7_900),
        ] {
            let mut cell = Cell::default();
            for time in &here {
                cell.take_in(RATE, at(*time), 1);
            }
            cell.take_in(RATE, at(late), 1);
            assert_eq!(cell.empty_at, at(empty_at), "{here:?} {late}");
        }
    }

    proptest! {
        #[test]
        fn in_any_order_the_bucket_is_as_in_order(
            times in prop::collection::vec(0_u64..9_000, 1..MOST_IDLE),
        ) {
            let mut cell = Cell::default();
            times.iter().for_each(|time| cell.take_in(RATE, at(*time), 1));
            prop_assert_eq!(cell.empty_at, in_order(times));
        }

        #[test]
        fn many_spans_are_bounded_and_never_against_the_crawler(
            times in prop::collection::vec(0_u64..200_000, 1..300),
        ) {
            let mut cell = Cell::default();
            times.iter().for_each(|time| cell.take_in(RATE, at(*time), 1));
            prop_assert!(cell.idle.len() <= MOST_IDLE);
            prop_assert!(cell.empty_at <= in_order(times));
        }
    }
}
