//! The breaker: stops refusing where refusals would hit far more than they are meant for.
//!
//! Rules that were written in haste, or an origin's file that is not what it should be, can turn a
//! site away from everybody who indexes it. So all requests of a site are counted, with those that
//! would be refused, in a sliding window. The breaker opens when there are
//! [`policy::Breaker::min_requests`] and the refusals are [`policy::Breaker::share`] of them, or at
//! once when the caller says that a search engine that is proven to be one would be refused. While it
//! is open, for [`policy::Breaker::pause`], nothing is refused; then it counts anew.
//!
//! **Clocks.** Time is what the caller says. A clock that was set back begins the window, or the
//! pause, anew; one that leapt ahead ends them. Neither keeps a breaker open for longer than its
//! pause, as the clock goes from then on.

use std::{collections::VecDeque, fmt, time::Duration};

use jiff::Timestamp;

use crate::policy;

/// The window moves on by a twelfth of its length.
const SLICES: u32 = 12;

/// Why a breaker opened. Shown, it is the text of the alarm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// So many of so many requests of the window would have been refused.
    Share {
        /// The refusals.
        refusals: u64,
        /// All requests.
        requests: u64,
        /// The window.
        window: Duration,
    },
    /// A search engine that is proven to be this one would have been refused.
    SearchEngine {
        /// Its product token.
        product_token: String,
    },
}

impl Why {
    /// The stable code, for metrics and logs.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Share { .. } => "share",
            Self::SearchEngine { .. } => "search-engine",
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Share { refusals, requests, window } => {
                let seconds = window.as_secs();
                write!(f, "{refusals} of {requests} requests in {seconds} s would be refused")
            }
            Self::SearchEngine { product_token } => {
                write!(f, "{product_token}, which is proven to be who it says, would be refused")
            }
        }
    }
}

/// A breaker opened: an alarm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// Why.
    pub why: Why,
}

/// The breaker of one site.
#[derive(Debug, Default)]
pub struct Breaker {
    opened_at: Option<Timestamp>,
    /// The slices of the window that hold anything, the oldest first.
    slices: VecDeque<Slice>,
}

#[derive(Debug)]
struct Slice {
    since: Timestamp,
    requests: u64,
    refusals: u64,
}

impl Breaker {
    /// Whether it is open, so that nothing is refused. Ends a pause that is over.
    pub fn is_open(&mut self, rules: &policy::Breaker, now: Timestamp) -> bool {
        let Some(opened_at) = self.opened_at else { return false };
        if now < opened_at {
            self.opened_at = Some(now);
        } else if now.duration_since(opened_at).unsigned_abs() >= rules.pause {
            self.opened_at = None;
        }
        self.opened_at.is_some()
    }

    /// Counts a request, and whether it would be refused. While the breaker is open nothing is
    /// counted.
    pub fn note(
        &mut self,
        rules: &policy::Breaker,
        is_refusal: bool,
        now: Timestamp,
    ) -> Option<Opened> {
        if self.is_open(rules, now) {
            return None;
        }
        self.count(rules, is_refusal, now);
        let (requests, refusals) = self.counts();
        let opens = is_refusal
            && requests >= rules.min_requests
            && rules.share.is_reached(refusals, requests);
        let why = Why::Share { refusals, requests, window: rules.window };
        opens.then(|| self.open(why, now))
    }

    /// Opens it because a search engine that is proven to be one would be refused. `None` where it
    /// is open already.
    pub fn spare(
        &mut self,
        rules: &policy::Breaker,
        product_token: &str,
        now: Timestamp,
    ) -> Option<Opened> {
        let is_open = self.is_open(rules, now);
        let why = || Why::SearchEngine { product_token: product_token.to_owned() };
        (!is_open).then(|| self.open(why(), now))
    }

    fn open(&mut self, why: Why, now: Timestamp) -> Opened {
        self.slices.clear();
        self.opened_at = Some(now);
        Opened { why }
    }

    fn count(&mut self, rules: &policy::Breaker, is_refusal: bool, now: Timestamp) {
        let slice = rules.window / SLICES;
        // Threads read the clock and come here in any order: only a real step back begins anew.
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
    fn ours_a_walk_through_the_window_and_the_pause() {
        let mut breaker = Breaker::default();
        // When, how many requests that pass, how many that are refused, how often it opens, and
        // whether it is open then.
        for (time, passed, refused, opens, is_open) in [
            (0, 0, 9, 0, false),   // too few to say
            (30, 20, 0, 0, false), // 9 of 29
            (59, 0, 10, 0, false), // 19 of 39
            (61, 0, 1, 0, false),  // the first nine are past: 11 of 31
            (62, 0, 8, 0, false),  // 19 of 39 again
            (63, 0, 1, 1, true),   // 20 of 40
            (64, 0, 500, 0, true), // an alarm is given once
            (662, 0, 500, 0, true),
            (663, 0, 9, 0, false), // half-open: it counts anew
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
    fn ours_a_search_engine_opens_it_at_once() {
        let mut breaker = Breaker::default();
        let opened = breaker.spare(&rules(), "Googlebot", at(0)).expect("it was closed");
        assert_eq!(opened.why.as_str(), "search-engine");
        assert_eq!(
            opened.why.to_string(),
            "Googlebot, which is proven to be who it says, would be refused"
        );
        assert!(breaker.spare(&rules(), "bingbot", at(1)).is_none(), "an alarm is given once");
        assert!(breaker.is_open(&rules(), at(599)) && !breaker.is_open(&rules(), at(600)));
    }

    #[test]
    fn ours_an_alarm_says_how_many() {
        let mut breaker = Breaker::default();
        let opened =
            (0..10).find_map(|_| breaker.note(&rules(), true, at(0))).expect("all refused");
        assert_eq!(opened.why.to_string(), "10 of 10 requests in 60 s would be refused");
    }

    #[test]
    fn ours_a_clock_that_jumps_does_no_harm() {
        const TEN_YEARS: i64 = 10 * 365 * 86_400;
        let mut breaker = Breaker::default();
        assert!((0..10).any(|_| breaker.note(&rules(), true, at(TEN_YEARS)).is_some()));
        assert!(breaker.is_open(&rules(), at(0)), "set back: the pause begins anew");
        assert!(!breaker.is_open(&rules(), at(600)), "and ends");
        (0..9).for_each(|_| drop(breaker.note(&rules(), true, at(TEN_YEARS))));
        assert!(breaker.note(&rules(), true, at(601)).is_none(), "the window begins anew");
        for extreme in [Timestamp::MIN, Timestamp::MAX, Timestamp::MIN] {
            breaker.note(&rules(), true, extreme);
            breaker.spare(&rules(), "x", extreme);
        }
    }

    proptest! {
        #[test]
        fn ours_it_never_opens_while_less_than_the_share_is_refused(
            steps in proptest::collection::vec((0_u64..3, 0_i64..20), 0..500)
        ) {
            // Two pass before each refusal, so no window has more than a third and one.
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
        fn ours_an_open_breaker_closes_after_its_pause(
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
