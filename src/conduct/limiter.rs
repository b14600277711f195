//! The limiter: the request rate of each crawler.
//!
//! There is a leaky bucket (GCRA) for each host and crawler; for the pace of the ladder, for each
//! site. A confirmed crawler has one bucket for all its addresses. Without confirmation, each
//! network has its own, so a stranger under the same name does not use up the pace of an honest
//! crawler. All of them together keep [`NETWORKS`] times the pace. A refused request does not count
//! for its network, so a crawler that waits for `Retry-After` passes.
//!
//! A crawler that keeps its pace must never see a 429, so the limit has some tolerance. Three
//! requests may come at once, because crawlers follow redirects at once and networks delay
//! requests. The bucket drains a tenth faster than the pace, because the clock of a crawler is not
//! exact. `Request-rate: 10/1m` allows ten at once, and twenty at the boundary of two minutes.

use std::{cell::Cell, collections::HashMap, num::NonZeroU32, sync::Arc, time::Duration};

use governor::{
    Quota, RateLimiter, clock::Clock, middleware::NoOpMiddleware, state::keyed::HashMapStateStore,
};
use parking_lot::RwLock;

use crate::{
    crawlers::{Name, Outcome},
    robots::Pace,
};

use super::network::Network;

/// The multiple of a pace that all networks under one unconfirmed name may keep together.
const NETWORKS: u32 = 4;
/// The requests that may come at once at any pace.
const AT_ONCE: u32 = 3;
/// The most requests that may come at once, whatever a `Request-rate` says.
const MOST_AT_ONCE: u32 = 1_000;
/// The most crawlers in the buckets of one pace. Beyond it, the limiter forgets idle crawlers, and
/// all if fewer than half are idle.
const MOST_KEYS: usize = 8_192;
/// The most different limits. Reloads add new ones.
const MOST_LIMITS: usize = 512;

/// The key of a bucket: its requests count together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    /// The host for a pace of its robots.txt; the site for a pace of the ladder.
    scope: String,
    /// In lower case; `None` for all names that only User-Agents declare.
    product_token: Option<String>,
    outcome: Outcome,
    /// `None` for all networks.
    network: Option<Network>,
}

impl Key {
    /// The key of a claim. A confirmed crawler counts as one, over all its networks. A client can
    /// invent names without limit, so these count together for each network.
    pub(super) fn new(scope: &str, name: Name<'_>, outcome: Outcome, network: Network) -> Self {
        let is_declared = matches!(name, Name::Declared(_));
        let product_token = (!is_declared).then(|| name.as_str().to_ascii_lowercase());
        let network = (outcome != Outcome::Confirmed).then_some(network);
        Self { scope: scope.to_owned(), product_token, outcome, network }
    }

    /// The key of all networks under the same name, if this is the key of one. Invented names have
    /// nothing in common.
    fn of_all_networks(&self) -> Option<Self> {
        let is_one_of_many = self.network.is_some() && self.product_token.is_some();
        is_one_of_many.then(|| Self { network: None, ..self.clone() })
    }

    /// The key of a confirmed crawler.
    #[cfg(test)]
    pub(super) fn of_confirmed(product_token: &str) -> Self {
        let product_token = Some(product_token.to_ascii_lowercase());
        let outcome = Outcome::Confirmed;
        Self { scope: "a.example".to_owned(), product_token, outcome, network: None }
    }
}

/// A request that came too soon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooSoon {
    /// Whole seconds until the next request of the crawler passes; at least 1.
    pub retry_after: u64,
}

impl TooSoon {
    /// The next request passes after this time.
    fn after(wait: Duration) -> Self {
        let partial = u64::from(wait.subsec_nanos() > 0);
        Self { retry_after: wait.as_secs().saturating_add(partial).max(1) }
    }
}

type Bucket = RateLimiter<
    Key,
    HashMapStateStore<Key>,
    PassedTime,
    NoOpMiddleware<<PassedTime as Clock>::Instant>,
>;

thread_local! {
    /// The time of the request that this thread weighs.
    static NOW: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// The clock of the buckets: the time that the caller passes to [`Limiter::check`].
#[derive(Clone, Copy, Debug, Default)]
struct PassedTime;

impl Clock for PassedTime {
    type Instant = Duration;

    fn now(&self) -> Duration {
        NOW.get()
    }
}

/// The buckets of all crawlers.
#[derive(Debug, Default)]
pub(super) struct Limiter {
    by_limit: RwLock<HashMap<Limit, Arc<Bucket>>>,
}

/// The limit of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Limit {
    pace: Pace,
    /// The multiple of the pace.
    times: u32,
}

impl Limiter {
    /// Counts a request of a crawler against `pace`. `now` is the time of a monotonic clock.
    ///
    /// # Errors
    /// The request comes too soon and does not count.
    pub(super) fn check(&self, key: &Key, pace: Pace, now: Duration) -> Result<(), TooSoon> {
        self.charge(key, Limit { pace, times: 1 }, now).map_err(TooSoon::after)?;
        let Some(key) = key.of_all_networks() else { return Ok(()) };
        // The network has paid for this request already. So it waits for its own next one at least.
        self.charge(&key, Limit { pace, times: NETWORKS }, now)
            .map_err(|wait| TooSoon::after(wait.max(pace.interval())))
    }

    /// Counts a request in one bucket. The error is the time until the next one passes.
    fn charge(&self, key: &Key, limit: Limit, now: Duration) -> Result<(), Duration> {
        NOW.set(now);
        self.bucket(limit).check_key(key).map_err(|refusal| refusal.wait_time_from(now))
    }

    fn bucket(&self, limit: Limit) -> Arc<Bucket> {
        let known = self.by_limit.read().get(&limit).cloned();
        if let Some(bucket) = &known {
            if bucket.len() < MOST_KEYS {
                return Arc::clone(bucket);
            }
            bucket.retain_recent();
            if bucket.len() < MOST_KEYS / 2 {
                return Arc::clone(bucket);
            }
        }
        let mut by_limit = self.by_limit.write();
        if by_limit.len() >= MOST_LIMITS {
            by_limit.retain(|_, bucket| {
                bucket.retain_recent();
                !bucket.is_empty()
            });
            if by_limit.len() >= MOST_LIMITS {
                by_limit.clear();
            }
        }
        // Another thread may have been faster.
        let is_new =
            |bucket: &&Arc<Bucket>| known.as_ref().is_none_or(|known| !Arc::ptr_eq(known, bucket));
        if let Some(bucket) = by_limit.get(&limit).filter(is_new) {
            return Arc::clone(bucket);
        }
        let bucket = Arc::new(RateLimiter::hashmap_with_clock(quota(limit), PassedTime));
        by_limit.insert(limit, Arc::clone(&bucket));
        bucket
    }
}

/// The limit with the tolerance that a polite crawler needs.
fn quota(Limit { pace, times }: Limit) -> Quota {
    let at_once = pace.requests().saturating_mul(2).clamp(AT_ONCE, MOST_AT_ONCE);
    let interval = (pace.interval().mul_f64(0.9) / times.max(1)).max(Duration::from_micros(1));
    let at_once = NonZeroU32::new(at_once.saturating_mul(times)).unwrap_or(NonZeroU32::MIN);
    Quota::with_period(interval).expect("a microsecond is not zero").allow_burst(at_once)
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::*;
    use crate::{crawlers::Catalogue, policy};

    static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(policy::built_in_catalogue);

    /// A limiter with a manual clock.
    #[derive(Default)]
    struct Timed {
        limiter: Limiter,
        now: Cell<Duration>,
    }

    impl Timed {
        fn check(&self, key: &Key, pace: Pace) -> Result<(), TooSoon> {
            self.limiter.check(key, pace, self.now.get())
        }

        fn advance(&self, by: Duration) {
            self.now.set(self.now.get() + by);
        }
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
                Err(too_soon) => assert_eq!(too_soon.retry_after, 1),
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
                let Some(TooSoon { retry_after }) = refused else { panic!("{text}, {round}") };
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
        let (honest, stranger) = (
            known_key("a.example", Outcome::Unknown, 1),
            known_key("a.example", Outcome::Unknown, 2),
        );
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
        let limit = Limit { pace: pace("1/1s"), times: 1 };
        assert!(limiter.limiter.bucket(limit).len() <= MOST_KEYS);
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
