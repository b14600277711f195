//! The breaker of a site: if refusals exceed the limit, Beadle stops refusing.
//!
//! A mistake in the rules or in the origin's robots.txt can close a site to every search engine. So
//! the breaker counts all requests and the refusals among them in a sliding window. It opens after
//! at least [`policy::Breaker::min_requests`] requests if the share of refusals reaches
//! [`policy::Breaker::share`]. It opens at once before Beadle refuses a confirmed search engine. An
//! open breaker lets every request pass for [`policy::Breaker::pause`]; then the count starts
//! again.
//!
//! **Clocks.** The caller passes the time. A clock that is set back restarts the window or the
//! pause. A clock that leaps ahead ends it. In both cases a breaker stays open for one pause at
//! most, by the clock's new time.

use std::{collections::VecDeque, fmt, time::Duration};

use jiff::Timestamp;

use crate::policy;

/// The number of steps in which the window moves.
const SLICES: u32 = 12;

/// The reason why a breaker opened. Its text is the text of the alarm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// The share of refusals in the window reached the limit.
    Share {
        /// The refusals.
        refusals: u64,
        /// All requests.
        requests: u64,
        /// The window.
        window: Duration,
    },
    /// Beadle would have refused a confirmed search engine.
    SearchEngine {
        /// Its product token.
        product_token: String,
    },
}

impl Cause {
    /// The stable code, for metrics and logs.
    pub(super) const fn as_str(&self) -> &'static str {
        match self {
            Self::Share { .. } => "share",
            Self::SearchEngine { .. } => "search-engine",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Share { refusals, requests, window } => {
                let seconds = window.as_secs();
                write!(f, "{refusals} of {requests} requests in {seconds} s would be refused")
            }
            Self::SearchEngine { product_token } => {
                write!(f, "{product_token}, a confirmed search engine, would be refused")
            }
        }
    }
}

/// The alarm of a breaker that opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Alarm {
    /// The reason.
    pub cause: Cause,
}

/// The breaker of one site.
#[derive(Debug, Default)]
pub(super) struct Breaker {
    opened_at: Option<Timestamp>,
    /// The slices of the window with requests, the oldest first.
    slices: VecDeque<Slice>,
}

#[derive(Debug)]
struct Slice {
    since: Timestamp,
    requests: u64,
    refusals: u64,
}

impl Breaker {
    /// Whether the breaker is open. Closes it after its pause.
    pub(super) fn is_open(&mut self, rules: &policy::Breaker, now: Timestamp) -> bool {
        let Some(opened_at) = self.opened_at else { return false };
        if now < opened_at {
            self.opened_at = Some(now);
        } else if now.duration_since(opened_at).unsigned_abs() >= rules.pause {
            self.opened_at = None;
        }
        self.opened_at.is_some()
    }

    /// Counts a request, and whether Beadle would refuse it. An open breaker counts nothing.
    pub(super) fn note(
        &mut self,
        rules: &policy::Breaker,
        is_refusal: bool,
        now: Timestamp,
    ) -> Option<Alarm> {
        if self.is_open(rules, now) {
            return None;
        }
        self.count(rules, is_refusal, now);
        let (requests, refusals) = self.counts();
        let opens = is_refusal
            && requests >= rules.min_requests
            && rules.share.is_reached(refusals, requests);
        let cause = Cause::Share { refusals, requests, window: rules.window };
        opens.then(|| self.open(cause, now))
    }

    /// Opens the breaker before Beadle refuses a confirmed search engine. `None` if it is open
    /// already.
    pub(super) fn spare(
        &mut self,
        rules: &policy::Breaker,
        product_token: &str,
        now: Timestamp,
    ) -> Option<Alarm> {
        let is_open = self.is_open(rules, now);
        let cause = || Cause::SearchEngine { product_token: product_token.to_owned() };
        (!is_open).then(|| self.open(cause(), now))
    }

    fn open(&mut self, cause: Cause, now: Timestamp) -> Alarm {
        self.slices.clear();
        self.opened_at = Some(now);
        Alarm { cause }
    }

    fn count(&mut self, rules: &policy::Breaker, is_refusal: bool, now: Timestamp) {
        let slice = rules.window / SLICES;
        // Threads may arrive here out of order. Only a larger step back restarts the window.
        let is_set_back = |newest: &Slice| {
            now < newest.since && newest.since.duration_since(now).unsigned_abs() > slice
        };
        if self.slices.back().is_some_and(is_set_back) {
            self.slices.clear();
        }
        let is_past = |one: &Slice| now.duration_since(one.since) >= signed(rules.window);
        while self.slices.front().is_some_and(is_past) {
            self.slices.pop_front();
        }
        let is_full = |newest: &Slice| now.duration_since(newest.since) >= signed(slice);
        if self.slices.back().is_none_or(is_full) {
            self.slices.push_back(Slice { since: now, requests: 0, refusals: 0 });
        }
        if let Some(newest) = self.slices.back_mut() {
            newest.requests = newest.requests.saturating_add(1);
            newest.refusals = newest.refusals.saturating_add(u64::from(is_refusal));
        }
    }

    fn counts(&self) -> (u64, u64) {
        self.slices.iter().fold((0, 0), |(requests, refusals), slice| {
            (requests.saturating_add(slice.requests), refusals.saturating_add(slice.refusals))
        })
    }
}

fn signed(duration: Duration) -> jiff::SignedDuration {
    jiff::SignedDuration::try_from(duration).unwrap_or(jiff::SignedDuration::MAX)
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;
    use proptest::prelude::*;

    use super::*;

    fn rules() -> policy::Breaker {
        policy::Breaker { min_requests: 10, ..policy::Breaker::default() }
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH
            .saturating_add(SignedDuration::from_secs(seconds))
            .expect("a time of day")
    }

    #[test]
    fn the_breaker_opens_by_the_share_in_the_window_and_closes_after_the_pause() {
        let mut breaker = Breaker::default();
        // The time, passed requests, refused requests, number of alarms, and the state afterwards.
        for (time, passed, refused, opens, is_open) in [
            (0, 0, 9, 0, false),   // too few requests
            (30, 20, 0, 0, false), // 9 of 29
            (59, 0, 10, 0, false), // 19 of 39
            (61, 0, 1, 0, false),  // the first nine have left the window: 11 of 31
            (62, 0, 8, 0, false),  // 19 of 39 again
            (63, 0, 1, 1, true),   // 20 of 40
            (64, 0, 500, 0, true), // there is one alarm
            (662, 0, 500, 0, true),
            (663, 0, 9, 0, false), // the count starts again
            (664, 0, 1, 1, true),
            (5_000, 100, 90, 0, false),
        ] {
            let requests = [vec![false; passed], vec![true; refused]].concat();
            let notes = requests
                .into_iter()
                .filter_map(|is_refusal| breaker.note(&rules(), is_refusal, at(time)));
            assert_eq!(notes.count(), opens, "at {time}");
            assert_eq!(breaker.is_open(&rules(), at(time)), is_open, "at {time}");
        }
    }

    #[test]
    fn a_confirmed_search_engine_opens_the_breaker_at_once() {
        let mut breaker = Breaker::default();
        let alarm = breaker.spare(&rules(), "Googlebot", at(0)).expect("it was closed");
        assert_eq!(alarm.cause.as_str(), "search-engine");
        assert_eq!(
            alarm.cause.to_string(),
            "Googlebot, a confirmed search engine, would be refused"
        );
        assert!(breaker.spare(&rules(), "bingbot", at(1)).is_none(), "there is one alarm");
        assert!(breaker.is_open(&rules(), at(599)) && !breaker.is_open(&rules(), at(600)));
    }

    #[test]
    fn an_alarm_has_the_numbers() {
        let mut breaker = Breaker::default();
        let alarm = (0..10).find_map(|_| breaker.note(&rules(), true, at(0))).expect("all refused");
        assert_eq!(alarm.cause.to_string(), "10 of 10 requests in 60 s would be refused");
    }

    #[test]
    fn a_clock_change_never_keeps_the_breaker_open() {
        const TEN_YEARS: i64 = 10 * 365 * 86_400;
        let mut breaker = Breaker::default();
        assert!((0..10).any(|_| breaker.note(&rules(), true, at(TEN_YEARS)).is_some()));
        assert!(breaker.is_open(&rules(), at(0)), "set back: the pause restarts");
        assert!(!breaker.is_open(&rules(), at(600)), "the pause ends");
        (0..9).for_each(|_| drop(breaker.note(&rules(), true, at(TEN_YEARS))));
        assert!(breaker.note(&rules(), true, at(601)).is_none(), "the window restarts");
        for extreme in [Timestamp::MIN, Timestamp::MAX, Timestamp::MIN] {
            breaker.note(&rules(), true, extreme);
            breaker.spare(&rules(), "x", extreme);
        }
    }

    proptest! {
        #[test]
        fn the_breaker_never_opens_below_the_share(
            steps in proptest::collection::vec((0_u64..3, 0_i64..20), 0..500)
        ) {
            // Two requests pass before each refusal, so refusals stay near one third of every
            // window.
            let (mut breaker, mut now) = (Breaker::default(), 0);
            for (passing, later) in steps {
                now += later;
                for _ in 0..passing + 2 {
                    prop_assert_eq!(breaker.note(&rules(), false, at(now)), None);
                }
                prop_assert_eq!(breaker.note(&rules(), true, at(now)), None);
                prop_assert!(breaker.slices.len() <= 1 + SLICES as usize);
            }
        }

        #[test]
        fn an_open_breaker_closes_after_its_pause(
            jumps in proptest::collection::vec(-100_000_i64..100_000, 0..20)
        ) {
            let (mut breaker, mut now) = (Breaker::default(), 0);
            breaker.spare(&rules(), "Googlebot", at(now));
            for jump in jumps {
                now += jump;
                breaker.is_open(&rules(), at(now));
            }
            prop_assert!(!breaker.is_open(&rules(), at(now + 600)));
        }
    }
}
