//! The limiter: how fast each crawler comes, over all its addresses.
//!
//! A leaky bucket (GCRA) for each host (or site, where the pace is the ladder's), product token and
//! standing of the claim: who only borrows a name doesn't use up the pace of the crawler that it
//! belongs to. What is refused is not counted, so a crawler that waits as long as it was told is let
//! in.
//!
//! Whoever keeps the pace must never see a 429, so there is some play. Three requests may come at
//! once, because a redirect is followed at once and networks deliver late what was sent in time;
//! and the bucket drains a tenth faster than the pace says, because a crawler sleeps by a clock of
//! its own, now longer, now shorter. `Request-rate: 10/1m` allows ten at once by its own words, and
//! twenty where two of its minutes meet: ten at the end of one, ten as the next begins.

use std::{
    collections::HashMap,
    num::NonZeroU32,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use governor::{
    Quota, RateLimiter,
    clock::{Clock, DefaultClock},
    middleware::NoOpMiddleware,
    state::keyed::HashMapStateStore,
};

use crate::{crawlers::Outcome, enforce::AppliedPace, escape, robots::Pace};

/// So many requests may come at once at any pace.
const AT_ONCE: u32 = 3;
/// So many at most, whatever a `Request-rate` says.
const MOST_AT_ONCE: u32 = 1_000;
/// How many crawlers one pace is kept for. When there are more, those at rest are forgotten, and all
/// if these are less than half.
const MOST_KEYS: usize = 8_192;
/// How many different paces there may be. Reloads bring new ones.
const MOST_PACES: usize = 256;

/// Whose requests are counted together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    /// The host, of a pace that its robots.txt asks for; else the site.
    place: String,
    /// In lower case.
    product_token: String,
    outcome: Outcome,
}

impl Key {
    /// The key of a claim to be the crawler `product_token`.
    pub(super) fn new(place: &str, product_token: &str, outcome: Outcome) -> Self {
        let product_token = product_token.to_ascii_lowercase();
        Self { place: place.to_owned(), product_token, outcome }
    }
}

/// It came too soon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooSoon {
    /// After so many whole seconds its next request will be let in; at least 1.
    pub(super) retry_after: u64,
}

type Bucket<C> = RateLimiter<Key, HashMapStateStore<Key>, C, NoOpMiddleware<<C as Clock>::Instant>>;

/// The buckets of all crawlers. Its clock only goes forward.
#[derive(Debug)]
pub(super) struct Limiter<C: Clock = DefaultClock> {
    clock: C,
    by_pace: RwLock<HashMap<Pace, Arc<Bucket<C>>>>,
}

impl Default for Limiter {
    fn default() -> Self {
        Self::new(DefaultClock::default())
    }
}

impl<C: Clock + Clone> Limiter<C> {
    /// One that goes by `clock`.
    pub(super) fn new(clock: C) -> Self {
        Self { clock, by_pace: RwLock::default() }
    }

    /// Counts a request of a crawler that is measured by `pace`.
    ///
    /// # Errors
    /// It comes too soon and is not counted.
    pub(super) fn check(&self, key: &Key, pace: Pace) -> Result<(), TooSoon> {
        self.bucket(pace).check_key(key).map_err(|refusal| {
            let wait = refusal.wait_time_from(self.clock.now());
            let begun = u64::from(wait.subsec_nanos() > 0);
            TooSoon { retry_after: wait.as_secs().saturating_add(begun).max(1) }
        })
    }

    fn bucket(&self, pace: Pace) -> Arc<Bucket<C>> {
        let known = self.by_pace.read().unwrap_or_else(PoisonError::into_inner).get(&pace).cloned();
        if let Some(bucket) = &known {
            if bucket.len() < MOST_KEYS {
                return Arc::clone(bucket);
            }
            bucket.retain_recent();
            if bucket.len() < MOST_KEYS / 2 {
                return Arc::clone(bucket);
            }
        }
        let mut by_pace = self.by_pace.write().unwrap_or_else(PoisonError::into_inner);
        if by_pace.len() >= MOST_PACES {
            by_pace.retain(|_, bucket| {
                bucket.retain_recent();
                !bucket.is_empty()
            });
            if by_pace.len() >= MOST_PACES {
                by_pace.clear();
            }
        }
        // Another thread may have been faster.
        let is_new = |bucket: &&Arc<Bucket<C>>| {
            known.as_ref().is_none_or(|known| !Arc::ptr_eq(known, bucket))
        };
        if let Some(bucket) = by_pace.get(&pace).filter(is_new) {
            return Arc::clone(bucket);
        }
        let clock = self.clock.clone();
        let bucket = Arc::new(RateLimiter::hashmap_with_clock(quota(pace), clock));
        by_pace.insert(pace, Arc::clone(&bucket));
        bucket
    }
}

/// The pace with the play that a polite crawler needs.
fn quota(pace: Pace) -> Quota {
    let at_once = pace.requests().saturating_mul(2).clamp(AT_ONCE, MOST_AT_ONCE);
    let interval = pace.interval().mul_f64(0.9).max(Duration::from_micros(1));
    let at_once = NonZeroU32::new(at_once).expect("it is at least three");
    Quota::with_period(interval).expect("a microsecond is not nothing").allow_burst(at_once)
}

/// The text for a crawler that came too soon.
#[derive(Clone, Copy, Debug)]
pub(super) struct Notice<'a> {
    /// Who it says it is.
    pub(super) product_token: &'a str,
    /// The pace, and the record that asks for it.
    pub(super) held: AppliedPace<'a>,
    /// The URL of robots.txt.
    pub(super) robots_txt: &'a str,
    /// What it is told to wait.
    pub(super) too_soon: TooSoon,
    /// The decision's id.
    pub(super) id: &'a str,
}

impl Notice<'_> {
    /// The text, a few lines of it; control characters in foreign text are escaped.
    pub(super) fn text(&self) -> String {
        let shown = |text: &str| escape::bounded(text.as_bytes(), 2_048);
        let (who, pace) = (shown(self.product_token), self.held.pace);
        let why = match self.held.record {
            Some(record) => {
                let line = shown(&format!("{}: {}", record.name, record.value));
                let robots_txt = shown(self.robots_txt);
                format!(
                    "The rules ask for {pace}:\n  {line}\n  (line {} of {robots_txt})",
                    record.line
                )
            }
            None => format!(
                "It broke the rules of {} so often that it may make only {pace}.",
                shown(self.robots_txt)
            ),
        };
        let seconds = self.too_soon.retry_after;
        format!(
            "{who} comes too fast.\n\n{why}\n\nCome back in {seconds} s.\n\nDecision {}\n",
            shown(self.id)
        )
    }
}

#[cfg(test)]
mod tests {
    use governor::clock::FakeRelativeClock;
    use proptest::prelude::*;

    use super::*;
    use crate::robots::{PaceRecord, Record};

    fn limiter() -> (FakeRelativeClock, Limiter<FakeRelativeClock>) {
        let clock = FakeRelativeClock::default();
        (clock.clone(), Limiter::new(clock))
    }

    fn pace(text: &str) -> Pace {
        Pace::parse(text).expect("a pace")
    }

    fn key(product_token: &str) -> Key {
        Key::new("a.example", product_token, Outcome::Confirmed)
    }

    fn milliseconds(number: u64) -> Duration {
        Duration::from_millis(number)
    }

    #[test]
    fn ours_five_requests_a_second_against_a_delay_of_one_are_told_when_to_come() {
        let (clock, limiter) = limiter();
        let mut passed = 0;
        for _ in 0..50 {
            match limiter.check(&key("bot"), pace("1/1s")) {
                Ok(()) => passed += 1,
                Err(too_soon) => assert_eq!(too_soon.retry_after, 1),
            }
            clock.advance(milliseconds(200));
        }
        assert!((11..=15).contains(&passed), "{passed} of 50 in 10 s");
    }

    #[test]
    fn ours_who_waits_as_it_was_told_is_let_in() {
        for text in ["1/1s", "1/10s", "1/7s", "10/1m", "1/1h", "7/3s", "1/1d"] {
            let (clock, limiter) = limiter();
            for round in 0..20 {
                let refused = (0..2_000).find_map(|_| {
                    clock.advance(milliseconds(1));
                    limiter.check(&key("bot"), pace(text)).err()
                });
                let Some(TooSoon { retry_after }) = refused else { panic!("{text}, {round}") };
                clock.advance(Duration::from_secs(retry_after));
                assert_eq!(limiter.check(&key("bot"), pace(text)), Ok(()), "{text} {retry_after}");
            }
        }
    }

    #[test]
    fn ours_three_may_come_at_once_and_twenty_where_the_record_says_ten() {
        for (text, at_once) in [("1/10s", 3), ("2/10s", 4), ("10/1m", 20), ("5000/1d", 1_000)] {
            let (_, limiter) = limiter();
            let passed = (0..6_000).filter(|_| limiter.check(&key("bot"), pace(text)).is_ok());
            assert_eq!(passed.count(), at_once, "{text}");
        }
    }

    #[test]
    fn ours_crawlers_sites_and_borrowers_are_counted_apart() {
        let (_, limiter) = limiter();
        let slow = pace("1/1h");
        let exhaust = |key: &Key| while limiter.check(key, slow).is_ok() {};
        exhaust(&Key::new("a.example", "Bot", Outcome::Contradicted));
        assert!(limiter.check(&Key::new("a.example", "bot", Outcome::Contradicted), slow).is_err());
        for other in [
            Key::new("a.example", "bot", Outcome::Confirmed),
            Key::new("b.example", "bot", Outcome::Contradicted),
            Key::new("a.example", "bot2", Outcome::Contradicted),
        ] {
            assert_eq!(limiter.check(&other, slow), Ok(()), "{other:?}");
        }
        let of_new_policy =
            limiter.check(&Key::new("a.example", "bot", Outcome::Contradicted), pace("1/1s"));
        assert_eq!(of_new_policy, Ok(()), "another pace begins anew");
    }

    #[test]
    fn ours_neither_names_nor_paces_fill_the_memory() {
        let (clock, limiter) = limiter();
        for number in 0..MOST_KEYS + 100 {
            assert!(limiter.check(&key(&number.to_string()), pace("1/1s")).is_ok());
        }
        assert!(limiter.bucket(pace("1/1s")).len() <= MOST_KEYS);
        for number in 1..=2 * MOST_PACES {
            clock.advance(Duration::from_secs(1));
            assert!(limiter.check(&key("bot"), pace(&format!("1/{number}"))).is_ok());
        }
        assert!(limiter.by_pace.read().unwrap().len() <= MOST_PACES);
    }

    #[test]
    fn ours_the_text_names_the_crawler_the_pace_and_the_line() {
        let record = Record { name: "Crawl-delay".into(), value: "10".into(), line: 4 };
        let pace = PaceRecord::of(&record).expect("a delay").pace;
        let text = |record| {
            let held = AppliedPace {
                pace,
                record,
                is_enforced: true,
                edition: crate::enforce::EditionId::of(b""),
            };
            Notice {
                product_token: "Evil\u{1b}Bot",
                held,
                robots_txt: "https://a.example/robots.txt",
                too_soon: TooSoon { retry_after: 7 },
                id: "1",
            }
            .text()
        };
        assert_eq!(
            text(Some(&record)),
            "Evil\\x1bBot comes too fast.\n\nThe rules ask for 1 request every 10 s:\n  \
             Crawl-delay: 10\n  (line 4 of https://a.example/robots.txt)\n\nCome back in 7 s.\n\n\
             Decision 1\n"
        );
        assert!(text(None).contains("so often that it may make only 1 request every 10 s."));
    }

    proptest! {
        /// A request each second, sent by the crawler's clock and delivered up to 200 ms early or
        /// late; or one that sleeps a second, give or take 200 ms, from one to the next.
        #[test]
        fn ours_a_polite_crawler_is_never_throttled(
            jitter in proptest::collection::vec(0_u64..400, 1..600),
            redirect in 0_usize..600,
        ) {
            let (clock, limiter) = limiter();
            let one = pace("1/1s");
            let (mut now, mut slept) = (0, 200);
            let mut until = |time: u64| {
                clock.advance(milliseconds(time.saturating_sub(now)));
                now = now.max(time);
            };
            for (number, jitter) in jitter.iter().enumerate() {
                until(number as u64 * 1_000 + jitter);
                prop_assert_eq!(limiter.check(&key("by the clock"), one), Ok(()), "{}", number);
                if number == redirect {
                    prop_assert_eq!(limiter.check(&key("by the clock"), one), Ok(()));
                }
            }
            for jitter in &jitter {
                slept += 800 + jitter;
                until(600_000 + slept);
                prop_assert_eq!(limiter.check(&key("by sleeping"), one), Ok(()));
            }
        }

        /// Ten in each minute, whenever they like.
        #[test]
        fn ours_who_keeps_a_request_rate_is_never_throttled(
            minutes in proptest::collection::vec(proptest::collection::vec(0_u64..60_000, 0..=10), 1..20),
        ) {
            let (clock, limiter) = limiter();
            let mut now = 0;
            for (number, mut minute) in minutes.into_iter().enumerate() {
                minute.sort_unstable();
                for moment in minute {
                    let time = number as u64 * 60_000 + moment;
                    clock.advance(milliseconds(time - now));
                    now = time;
                    prop_assert_eq!(limiter.check(&key("bot"), pace("10/1m")), Ok(()), "{}", time);
                }
            }
        }

        #[test]
        fn ours_no_pace_breaks_the_limiter(
            requests in 1_u32..20,
            seconds in 1_u64..5_000,
            extreme in any::<(u32, u64)>(),
            step in 0_u64..10,
        ) {
            let usual = Pace::new(requests, Duration::from_secs(seconds)).expect("it is one");
            let extreme = Pace::new(extreme.0, Duration::from_secs(extreme.1));
            for (pace, is_usual) in [(Some(usual), true), (extreme, false)] {
                let Some(pace) = pace else { continue };
                let (clock, limiter) = limiter();
                let mut refused = 0;
                for _ in 0..100 {
                    clock.advance(milliseconds(step));
                    if let Err(too_soon) = limiter.check(&key("bot"), pace) {
                        prop_assert!((1..=86_401).contains(&too_soon.retry_after));
                        refused += 1;
                    }
                }
                prop_assert!(refused > 0 || !is_usual, "{pace}");
            }
        }
    }
}
