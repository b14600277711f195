//! Tests of the breaker: single clients, wrong rules, clocks, and how many refusals open it.

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

use super::{
    LONG,
    window::{LEAST_CLIENTS, SLICES},
    *,
};
use crate::{clients::conduct::key::Network, rules::crawlers::Name};

mod fleet;

fn rules() -> policy::Breaker {
    policy::Breaker { min_requests: 10, ..policy::Breaker::default() }
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH.saturating_add(SignedDuration::from_secs(seconds)).expect("a time of day")
}

fn edition(disallow: &str) -> Arc<Edition> {
    let text = format!("User-agent: *\nDisallow: {disallow}\n");
    Arc::new(Edition::of_bytes(text.into()))
}

/// A breaker with its rules.
struct Site {
    breaker: Breaker,
    rules: policy::Breaker,
    edition: Arc<Edition>,
}

impl Site {
    fn new(rules: policy::Breaker) -> Self {
        Self { breaker: Breaker::default(), rules, edition: edition("/private/") }
    }

    fn pass(&mut self, now: Timestamp) {
        self.breaker.pass(&self.rules, now);
    }

    /// A refusal of a crawler that only its User-Agent names; 0 has no name.
    fn refuse(&mut self, network: u32, crawler: u32, now: Timestamp) -> Option<Cause> {
        let name = format!("Bot{crawler}");
        let name = (crawler > 0).then_some(Name::Declared(&name));
        self.refuse_name(network, name, now)
    }

    fn refuse_name(
        &mut self,
        network: u32,
        name: Option<Name<'_>>,
        now: Timestamp,
    ) -> Option<Cause> {
        let network = Network::of((network << 8).to_be_bytes().into());
        self.breaker.refuse(&self.rules, &self.edition, Refusal::of(network, name), now)
    }
}

/// The number of refusals after which a breaker opens that the clients of a round send in turn:
/// pairs of network and crawler. `None` if it stays closed in 10,000. `passed` requests came before.
fn opens_after(passed: u32, round: impl Fn(u32) -> (u32, u32)) -> Option<u32> {
    let mut site = Site::new(policy::Breaker::default());
    (0..passed).for_each(|_| site.pass(at(0)));
    (0..10_000)
        .find(|number| {
            let (network, crawler) = round(*number);
            site.refuse(network, crawler, at(0)).is_some()
        })
        .map(|number| number + 1)
}

/// The figures of the manual, in `pace.md`.
#[test]
fn no_single_network_and_no_single_crawler_opens_the_breaker_at_any_rate() {
    const PAGE: &str = include_str!("../../../../docs/src/pace.md");
    let never = |round: fn(u32) -> (u32, u32)| {
        for passed in [0, 10, 100, 600] {
            assert_eq!(opens_after(passed, round), None, "after {passed}");
        }
    };
    never(|_| (1, 1));
    never(|number| (1, 1 + number)); // fresh names from one network
    never(|number| (number, 1)); // one crawler from fresh networks
    never(|number| (1, 1 + number % 2_000));
    never(|number| (number % 4, 1 + number % 4)); // four of each
    never(|number| (number % 4, 1 + number)); // fresh names from four networks
    never(|number| (1, number % 2)); // with and without a name
    let mut rows = Vec::new();
    for (text, clients) in [("5 crawlers, a network each", 5), ("20 crawlers, a network each", 20)]
    {
        for passed in [0, 100, 600, 6_000] {
            let needed = opens_after(passed, |number| (number % clients, 1 + number % clients));
            rows.push(format!("| {text} | {passed} | {} |", needed.expect("it opens")));
        }
    }
    // One stubborn crawler sends a thousand times the requests of the others.
    let needed = opens_after(100, |number| match number % 200 {
        place @ 0..20 => (place, 1 + place),
        _ => (99, 99),
    });
    rows.push(format!(
        "| 20 crawlers beside a stubborn one | 100 | {} |",
        needed.expect("it opens")
    ));
    // People whose clients send no name.
    let needed = opens_after(100, |number| (number, 0));
    rows.push(format!(
        "| clients without a name, a network each | 100 | {} |",
        needed.expect("it")
    ));
    for row in rows {
        assert!(PAGE.contains(&row), "the manual lacks {row}");
    }
}

#[test]
fn the_breaker_opens_by_the_share_in_the_window_and_closes_after_the_pause() {
    let mut site = Site::new(rules());
    // The time, passed requests, refused requests of many clients, number of alarms, and the state
    // afterwards.
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
        (3_000, 100, 90, 0, false),
    ] {
        (0..passed).for_each(|_| site.pass(at(time)));
        let alarms = (0..refused).filter_map(|number| site.refuse(number, 1 + number, at(time)));
        assert_eq!(alarms.count(), opens, "at {time}");
        assert_eq!(site.breaker.is_open(&site.rules, at(time)), is_open, "at {time}");
    }
}

#[test]
fn a_network_that_counted_little_does_not_count_more_when_people_leave() {
    let mut site = Site::new(policy::Breaker::default());
    (0..10_000).for_each(|_| site.pass(at(0)));
    for second in 30..120 {
        for _ in 0..100 {
            assert_eq!(site.refuse(1, 1, at(second)), None);
        }
    }
}

#[test]
fn clients_that_the_same_rules_refused_long_before_do_not_open_it() {
    let catalogue = policy::built_in_catalogue();
    let names: Vec<Name<'_>> = catalogue.iter().take(10).map(Name::Known).collect();
    let long = LONG.as_secs();
    let all = |site: &mut Site, networks: u32, now: i64| -> usize {
        let mut alarms = 0;
        for round in 0..100 {
            for (number, name) in (0..).zip(&names) {
                let network = networks + (number + round) % 10;
                alarms += usize::from(site.refuse_name(network, Some(*name), at(now)).is_some());
            }
        }
        alarms
    };
    // Refused now and then: too few to open it.
    let mut site = Site::new(policy::Breaker::default());
    for (number, name) in (0..).zip(&names) {
        assert_eq!(site.refuse_name(number, Some(*name), at(0)), None);
    }
    assert_eq!(all(&mut site, 0, long), 0, "the clients are the same");
    assert_eq!(all(&mut site, 100, long + 1), 0, "the crawlers are the same");
    site.edition = edition("/private/ # a comment");
    assert_eq!(all(&mut site, 0, long + 2), 0, "the rules are the same");
    site.edition = edition("/");
    assert_eq!(all(&mut site, 0, long + 3), 1, "the rules are new");
    // Refusals that opened the breaker are not taken for right.
    assert_eq!(all(&mut site, 0, 2 * long + 3), 1);
    // Others still open it.
    let mut site = Site::new(policy::Breaker::default());
    assert_eq!(site.refuse(7, 7, at(0)), None);
    let others = (0..2_000).find_map(|n| site.refuse(100 + n % 9, 100 + n % 9, at(long)));
    assert!(others.is_some());
}

#[test]
fn a_confirmed_search_engine_opens_the_breaker_at_once_and_once_for_the_same_rules() {
    let Site { mut breaker, rules, edition: first } = Site::new(rules());
    let alarm = breaker.spare(&rules, &first, "Googlebot", at(0)).expect("it was closed");
    assert_eq!(alarm.as_str(), "search-engine");
    assert_eq!(alarm.to_string(), "Googlebot, a confirmed search engine, would be refused");
    assert!(breaker.spare(&rules, &first, "bingbot", at(1)).is_none(), "there is one alarm");
    assert!(breaker.is_open(&rules, at(599)) && !breaker.is_open(&rules, at(600)));
    assert_eq!(breaker.spare(&rules, &first, "Googlebot", at(601)), None, "the same rules");
    assert!(!breaker.is_open(&rules, at(601)));
    assert!(breaker.spare(&rules, &first, "bingbot", at(602)).is_some(), "another one");
    assert!(breaker.spare(&rules, &edition("/"), "Googlebot", at(9_000)).is_some(), "new rules");
}

#[test]
fn an_alarm_has_the_numbers_and_the_crawlers() {
    let mut site = Site::new(rules());
    let crawler = |number: u32| if number < 4 { 9 } else { number };
    let alarm = (0..40).find_map(|number| site.refuse(number, crawler(number), at(0)));
    assert_eq!(
        alarm.expect("all are refused").to_string(),
        "10 of 10 requests in 60 s would be refused, of 9 crawlers from 13 networks, most of bot9, \
         bot10, bot11, bot12, bot4"
    );
}

#[test]
fn a_clock_change_never_keeps_the_breaker_open() {
    const TEN_YEARS: i64 = 10 * 365 * 86_400;
    let mut site = Site::new(rules());
    assert!((0..10).any(|n| site.refuse(n, 1 + n, at(TEN_YEARS)).is_some()));
    assert!(site.breaker.is_open(&site.rules, at(0)), "set back: the pause restarts");
    assert!(!site.breaker.is_open(&site.rules, at(600)), "the pause ends");
    (0..9).for_each(|n| drop(site.refuse(n, 1 + n, at(TEN_YEARS))));
    assert!(site.refuse(9, 10, at(601)).is_none(), "the window restarts");
    for extreme in [Timestamp::MIN, Timestamp::MAX, Timestamp::MIN] {
        site.refuse(1, 1, extreme);
        site.pass(extreme);
        site.breaker.spare(&site.rules, &site.edition, "x", extreme);
    }
}

#[test]
fn clients_do_not_fill_the_memory() {
    let mut site = Site::new(policy::Breaker { share: share("100%"), ..rules() });
    site.pass(at(0));
    for number in 0..20_000 {
        assert_eq!(site.refuse(number, 1 + number, at(0)), None, "one request passed");
    }
    let size = site.breaker.memory();
    assert!(size.iter().all(|parties| *parties <= 4_096), "{size:?}");
}

fn share(text: &str) -> policy::Share {
    let policy = format!(
        "sites: [{{ hosts: [a.example], origin: \"http://127.0.0.1:1\", enforcement: {{ mode: block, \
         breaker: {{ share: {text} }} }} }}]"
    );
    let policy: policy::Policy = policy.parse().expect("a policy");
    policy.sites[0].enforcement.breaker.expect("it has one").share
}

proptest! {
    #[test]
    fn the_breaker_never_opens_below_the_share(
        steps in proptest::collection::vec((0_u64..3, 0_i64..20, 0_u32..9), 0..500)
    ) {
        // Two requests pass before each refusal, so refusals stay near one third of every
        // window.
        let (mut site, mut now) = (Site::new(rules()), 0);
        for (passing, later, client) in steps {
            now += later;
            (0..passing + 2).for_each(|_| site.pass(at(now)));
            prop_assert_eq!(site.refuse(client, client, at(now)), None);
            prop_assert!(site.breaker.window.slices() <= 1 + SLICES as usize);
        }
    }

    /// A breaker opens only if the refusals of the window would open it without any one client.
    #[test]
    fn the_breaker_opens_only_for_many_clients(
        steps in proptest::collection::vec((0_u32..12, 0_u32..12, 0_usize..40, 0_i64..9), 0..200)
    ) {
        let (mut site, mut now) = (Site::new(rules()), 0);
        let mut refused: Vec<(i64, u32, u32)> = Vec::new();
        for (network, crawler, count, later) in steps {
            now += later;
            for _ in 0..count {
                refused.push((now, network, 1 + crawler));
                if let Some(alarm) = site.refuse(network, 1 + crawler, at(now)) {
                    let recent = refused.iter().filter(|one| one.0 > now - 70);
                    let (mut networks, mut crawlers): (Vec<_>, Vec<_>) =
                        recent.map(|one| (one.1, one.2)).unzip();
                    for clients in [&mut networks, &mut crawlers] {
                        clients.sort_unstable();
                        clients.dedup();
                        prop_assert!(clients.len() as u64 >= LEAST_CLIENTS, "{:?}", alarm);
                    }
                    return Ok(());
                }
            }
        }
    }

    #[test]
    fn an_open_breaker_closes_after_its_pause(
        jumps in proptest::collection::vec(-100_000_i64..100_000, 0..20)
    ) {
        let Site { mut breaker, rules, edition } = Site::new(rules());
        let mut now = 0;
        breaker.spare(&rules, &edition, "Googlebot", at(now));
        for jump in jumps {
            now += jump;
            breaker.is_open(&rules, at(now));
        }
        prop_assert!(!breaker.is_open(&rules, at(now + 600)));
    }
}
