//! The limiter as crawlers see it: polite ones, fast ones, and many under one name.

use std::{cell::Cell, sync::LazyLock};

use proptest::prelude::*;

use super::{cell::AT_ONCE, *};
use crate::{
    clients::conduct::{collector::Collector, key::Network},
    rules::{
        crawlers::{Catalogue, Name, Outcome},
        policy,
    },
};

mod fleet;
mod limits;

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(policy::built_in_catalogue);

/// A limiter with a manual clock.
#[derive(Default)]
struct Timed {
    limiter: Limiter,
    now: Cell<Duration>,
}

impl Timed {
    fn check(&self, key: &Key, pace: Pace) -> Result<(), u64> {
        self.limiter.check(key, pace, Fleet::NONE, self.now.get())
    }

    fn advance(&self, by: Duration) {
        self.now.set(self.now.get() + by);
    }
}

/// A fleet that tells its other nodes each request that passes.
fn telling(collector: &Collector) -> Fleet<'_> {
    Fleet { collector: Some(collector), ..Fleet::NONE }
}

fn pace(text: &str) -> Pace {
    Pace::parse(text).expect("a pace")
}

fn key(product_token: &str) -> Key {
    Key::of_confirmed(product_token)
}

/// The key of a crawler of the catalogue.
fn known_key(scope: &str, outcome: Outcome, network: u8) -> Key {
    let bot = CATALOGUE.find("bingbot").map(Name::Known).expect("a known crawler");
    Key::new(scope, bot, outcome, network_of(network))
}

fn network_of(number: u8) -> Network {
    Network::of([192, 0, number, 1].into())
}

fn milliseconds(number: u64) -> Duration {
    Duration::from_millis(number)
}

#[test]
fn a_fast_crawler_gets_one_request_a_second_and_the_time_to_wait() {
    let limiter = Timed::default();
    let mut passed = 0;
    for _ in 0..50 {
        match limiter.check(&key("bot"), pace("1/1s")) {
            Ok(()) => passed += 1,
            Err(seconds) => assert_eq!(seconds, 1),
        }
        limiter.advance(milliseconds(200));
    }
    assert!((11..=15).contains(&passed), "{passed} of 50 in 10 s");
}

#[test]
fn a_crawler_that_waits_for_retry_after_passes() {
    for text in ["1/1s", "1/10s", "1/7s", "10/1m", "1/1h", "7/3s", "1/1d"] {
        let limiter = Timed::default();
        for round in 0..20 {
            let refused = (0..2_000).find_map(|_| {
                limiter.advance(milliseconds(1));
                limiter.check(&key("bot"), pace(text)).err()
            });
            let Some(retry_after) = refused else { panic!("{text}, {round}") };
            limiter.advance(Duration::from_secs(retry_after));
            assert_eq!(limiter.check(&key("bot"), pace(text)), Ok(()), "{text} {retry_after}");
        }
    }
}

#[test]
fn three_requests_may_come_at_once_and_twenty_for_ten_a_minute() {
    for (text, at_once) in [("1/10s", 3), ("2/10s", 4), ("10/1m", 20), ("5000/1d", 1_000)] {
        let limiter = Timed::default();
        let passed = (0..6_000).filter(|_| limiter.check(&key("bot"), pace(text)).is_ok());
        assert_eq!(passed.count(), at_once, "{text}");
    }
}

#[test]
fn crawlers_hosts_and_outcomes_count_separately() {
    let limiter = Timed::default();
    let slow = pace("1/1h");
    let exhaust = |key: &Key| while limiter.check(key, slow).is_ok() {};
    let impostor = known_key("a.example", Outcome::Contradicted, 1);
    exhaust(&impostor);
    assert!(limiter.check(&impostor, slow).is_err());
    for other in [
        known_key("a.example", Outcome::Confirmed, 1),
        known_key("b.example", Outcome::Contradicted, 1),
        Key::of_confirmed("bot2"),
    ] {
        assert_eq!(limiter.check(&other, slow), Ok(()), "{other:?}");
    }
    let of_new_policy = limiter.check(&impostor, pace("1/1s"));
    assert_eq!(of_new_policy, Ok(()), "another pace starts again");
}

#[test]
fn unconfirmed_claims_count_by_network_up_to_four_times_the_pace() {
    let limiter = Timed::default();
    let one = pace("1/10s");
    let passed = |key: &Key| (0..50).filter(|_| limiter.check(key, one).is_ok()).count();
    let of = |outcome, network| known_key("a.example", outcome, network);
    let by_network: Vec<usize> = (0..7).map(|n| passed(&of(Outcome::Unknown, n))).collect();
    assert_eq!(by_network, [3, 3, 3, 3, 0, 0, 0], "three at once, four times over all");
    let confirmed: Vec<usize> = (0..3).map(|n| passed(&of(Outcome::Confirmed, n))).collect();
    assert_eq!(confirmed, [3, 0, 0], "a confirmed crawler counts as one");
    // Names that clients invent are no way round.
    let invented = |number: u32, network| {
        let name = format!("Fresh{number}Bot");
        Key::new("a.example", Name::Declared(&name), Outcome::Unverifiable, network_of(network))
    };
    let by_name: usize = (0..50).map(|number| passed(&invented(number, 1))).sum();
    assert_eq!((by_name, passed(&invented(1, 2))), (3, 3));
}

/// A stranger under its name sends ten requests a second.
#[test]
fn a_stranger_does_not_use_up_the_pace_of_a_polite_crawler() {
    let limiter = Timed::default();
    let (honest, stranger) =
        (known_key("a.example", Outcome::Unknown, 1), known_key("a.example", Outcome::Unknown, 2));
    let mut passed = 0;
    for tenth in 0..6_000_u32 {
        passed += u32::from(limiter.check(&stranger, pace("1/1s")).is_ok());
        if tenth % 10 == 0 {
            assert_eq!(limiter.check(&honest, pace("1/1s")), Ok(()), "after {tenth}/10 s");
        }
        limiter.advance(milliseconds(100));
    }
    assert!((600..=680).contains(&passed), "{passed} of the stranger's in 600 s");
}

/// Twenty networks under one name, each at the pace.
#[test]
fn a_crawler_over_many_networks_makes_at_most_four_times_the_pace() {
    let limiter = Timed::default();
    let mut passed = 0;
    for _ in 0..600 {
        for network in 0..20 {
            let key = known_key("a.example", Outcome::Unknown, network);
            passed += u32::from(limiter.check(&key, pace("1/1s")).is_ok());
        }
        limiter.advance(Duration::from_secs(1));
    }
    assert!((2_300..=2_700).contains(&passed), "{passed} in 600 s");
}

#[test]
fn neither_names_nor_limits_fill_the_memory() {
    let limiter = Timed::default();
    for number in 0..MOST_KEYS + 100 {
        assert!(limiter.check(&key(&number.to_string()), pace("1/1s")).is_ok());
    }
    let limit = Limit { pace: pace("1/1s"), times: 1, burst: 0 };
    assert!(limiter.limiter.cells(limit, Duration::ZERO).by_key.lock().len() <= MOST_KEYS);
    for number in 1..=2 * MOST_LIMITS {
        limiter.advance(Duration::from_secs(1));
        assert!(limiter.check(&key("bot"), pace(&format!("1/{number}"))).is_ok());
    }
    assert!(limiter.limiter.by_limit.read().len() <= MOST_LIMITS);
}

proptest! {
    /// One crawler sends a request each second, delivered up to 200 ms early or late. Another
    /// one sleeps for a second, give or take 200 ms, after each request.
    #[test]
    fn a_polite_crawler_is_never_throttled(
        jitter in proptest::collection::vec(0_u64..400, 1..600),
        redirect in 0_usize..600,
    ) {
        let limiter = Timed::default();
        let one = pace("1/1s");
        let (mut now, mut slept) = (0, 200);
        let mut until = |time: u64| {
            limiter.advance(milliseconds(time.saturating_sub(now)));
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

    /// Ten requests at any times of each minute.
    #[test]
    fn a_crawler_within_its_request_rate_is_never_throttled(
        minutes in proptest::collection::vec(proptest::collection::vec(0_u64..60_000, 0..=10), 1..20),
    ) {
        let limiter = Timed::default();
        let mut now = 0;
        for (number, mut minute) in minutes.into_iter().enumerate() {
            minute.sort_unstable();
            for moment in minute {
                let time = number as u64 * 60_000 + moment;
                limiter.advance(milliseconds(time - now));
                now = time;
                prop_assert_eq!(limiter.check(&key("bot"), pace("10/1m")), Ok(()), "{}", time);
            }
        }
    }

    #[test]
    fn no_pace_breaks_the_limiter(
        requests in 1_u32..20,
        seconds in 1_u64..5_000,
        extreme in any::<(u32, u64)>(),
        step in 0_u64..10,
    ) {
        let usual = Pace::new(requests, Duration::from_secs(seconds)).expect("it is one");
        let extreme = Pace::new(extreme.0, Duration::from_secs(extreme.1));
        for (pace, is_usual) in [(Some(usual), true), (extreme, false)] {
            let Some(pace) = pace else { continue };
            let limiter = Timed::default();
            let mut refused = 0;
            for _ in 0..100 {
                limiter.advance(milliseconds(step));
                if let Err(seconds) = limiter.check(&key("bot"), pace) {
                    prop_assert!((1..=86_401).contains(&seconds));
                    refused += 1;
                }
            }
            prop_assert!(refused > 0 || !is_usual, "{pace}");
        }
    }
}
