//! Limits of the operator: how exact they are, for one node and several.

use std::net::IpAddr;

use jiff::{SignedDuration, Timestamp};

use super::*;
use crate::rules::{
    enforce::AppliedLimit,
    policy::{Policy, RateLimit},
};

fn limit_of(text: &str) -> RateLimit {
    let text = format!(
        "sites: [{{ hosts: [a.example], origin: \"http://127.0.0.1:1\", enforcement: {{ \
         rate_limits: [{{ {text} }}] }} }}]"
    );
    let policy: Policy = text.parse().expect("a policy");
    policy.sites[0].enforcement.rate_limits[0].clone()
}

fn counted<'l>(
    limit: &'l RateLimit,
    name: &'l str,
    outcome: Outcome,
    address: &str,
) -> (Key, AppliedLimit<'l>) {
    let name = CATALOGUE.find(name).map(Name::Known).or(Some(Name::Declared(name)));
    let applied = AppliedLimit { number: 0, limit, name, outcome };
    let address = address.parse::<IpAddr>().expect("an address");
    (Key::of_limit("a.example", &applied, address), applied)
}

fn passes(limiter: &Limiter, counted: (Key, AppliedLimit<'_>), now: u64) -> bool {
    passes_with(limiter, Fleet::NONE, counted, now)
}

fn passes_with(
    limiter: &Limiter,
    fleet: Fleet<'_>,
    counted: (Key, AppliedLimit<'_>),
    now: u64,
) -> bool {
    limiter.count(&[counted], fleet, Turn::Now, milliseconds(now)).is_ok()
}

fn moment(now: u64) -> Moment {
    let since = SignedDuration::from_millis(i64::try_from(now).expect("a short time"));
    let start = Timestamp::from_second(1_790_000_000).expect("a time");
    Moment { now: start + since, steady: milliseconds(now), leap: None }
}

/// What passes of two hundred requests a second in 60 s, from many addresses, at nodes that hear of each
/// other every 200 ms.
fn passed(limit: &RateLimit, addresses: u64, nodes: usize) -> u64 {
    let all: Vec<(Limiter, Collector)> = (0..nodes).map(|_| Default::default()).collect();
    let mut passed = 0;
    for number in 0..12_000_u64 {
        // The load balancer sends each to another node.
        let (now, node) = (5 * number, number as usize % nodes);
        if now % 200 == 0 && nodes > 1 {
            for from in 0..nodes {
                for count in all[from].1.take(moment(now)).pace {
                    let others = (0..nodes).filter(|to| *to != from);
                    others.for_each(|to| all[to].0.learn(count.clone(), moment(now)));
                }
            }
        }
        let address = format!("192.0.{}.1", number % addresses);
        let counted = counted(limit, "GPTBot", Outcome::Unknown, &address);
        let (limiter, collector) = &all[node];
        let fleet = if nodes > 1 { telling(collector) } else { Fleet::NONE };
        passed += u64::from(passes_with(limiter, fleet, counted, now));
    }
    passed
}

#[test]
fn what_passes_is_what_the_limit_says() {
    for (requests, in_a_minute) in [("1/10s", 6), ("60/1m", 60), ("600/1m", 600)] {
        for addresses in [1, 200] {
            let limit = limit_of(&format!("user_agents: [GPTBot], requests: {requests}"));
            let passed = passed(&limit, addresses, 1);
            let least = in_a_minute * 95 / 100;
            let range = least..=in_a_minute + 1;
            assert!(range.contains(&passed), "{requests}, {addresses} addresses: {passed}");
        }
    }
}

/// A flood passes at each node what it could pass there until the others are heard of.
#[test]
fn several_nodes_share_a_limit_but_for_the_time_until_they_hear() {
    for (requests, in_a_minute, most) in [("1/10s", 6, 10), ("60/1m", 60, 63), ("600/1m", 600, 630)]
    {
        let limit = limit_of(&format!("user_agents: [GPTBot], requests: {requests}"));
        let passed = passed(&limit, 200, 3);
        let range = in_a_minute * 95 / 100..=most;
        assert!(range.contains(&passed), "{requests}: {passed}");
    }
}

#[test]
fn neither_strangers_nor_impostors_use_up_what_the_crawler_has() {
    let (limiter, limit) =
        (Limiter::default(), limit_of("user_agents: [GPTBot], requests: 2/1h, burst: 2"));
    for (outcome, expected) in [
        (Outcome::Unknown, 2),
        // Many strangers get no more than one crawler.
        (Outcome::Unverifiable, 0),
        (Outcome::Contradicted, 2),
        (Outcome::Confirmed, 2),
        (Outcome::Confirmed, 0),
    ] {
        let of = |number: u8| {
            let address = format!("192.0.{number}.7");
            passes(&limiter, counted(&limit, "GPTBot", outcome, &address), u64::from(number))
        };
        assert_eq!((0..50).filter(|number| of(*number)).count(), expected, "{outcome:?}");
    }
    // Invented names count by network, and never for a crawler that is known.
    for (name, address, expected) in [
        ("OneBot", "192.0.2.1", true),
        ("OneBot", "192.0.2.9", true),
        ("TwoBot", "192.0.2.1", false),
        ("OneBot", "198.51.100.1", true),
        ("ClaudeBot", "192.0.2.1", true),
    ] {
        let counted = counted(&limit, name, Outcome::Unverifiable, address);
        assert_eq!(passes(&limiter, counted, 0), expected, "{name} {address}");
    }
}

#[test]
fn a_request_beyond_one_limit_counts_for_none() {
    let limiter = Limiter::default();
    let (slow, fast) = (
        limit_of("user_agents: [GPTBot], requests: 1/1m"),
        limit_of("user_agents: [\"*\"], requests: 1/1s"),
    );
    let of = |limit, scope: &str| {
        let (key, applied) = counted(limit, "GPTBot", Outcome::Unknown, "192.0.2.1");
        (Key { scope: scope.to_owned(), ..key }, applied)
    };
    let both = [of(&fast, "fast"), of(&slow, "slow")];
    let at = |seconds: u64| {
        let limited =
            limiter.count(&both, Fleet::NONE, Turn::Now, Duration::from_secs(seconds)).err();
        limited.map(|one| (one.applied.limit.pace, one.retry_after))
    };
    assert_eq!(at(0), None);
    for second in 1..=53 {
        assert_eq!(at(second), Some((slow.pace, 54 - second)), "{second}");
    }
    assert_eq!(at(54), None);
}

#[test]
fn requests_that_wait_have_turns_at_the_rate_and_the_next_ones_are_refused() {
    let (limiter, limit) =
        (Limiter::default(), limit_of("user_agents: [GPTBot], requests: 60/1m, wait: 5s"));
    let at = |turn, now| {
        let counted = counted(&limit, "GPTBot", Outcome::Unknown, "192.0.2.1");
        let time = limiter.count(&[counted], Fleet::NONE, turn, milliseconds(now));
        time.map(|time| time.as_millis()).map_err(|one| one.retry_after)
    };
    // A tenth of a second is the tolerance of a limit.
    let turns: Vec<_> = (0..8).map(|_| at(Turn::Later, 0)).collect();
    assert_eq!(turns, [Ok(0), Ok(900), Ok(1_900), Ok(2_900), Ok(3_900), Ok(4_900), Err(6), Err(6)]);
    // One that may not wait is refused as long as others wait.
    assert_eq!((at(Turn::Now, 4_000), at(Turn::Now, 5_900)), (Err(2), Ok(0)));
}

#[test]
fn a_node_that_is_alone_takes_its_part() {
    let (limiter, limit) =
        (Limiter::default(), limit_of("user_agents: [GPTBot], requests: 60/1m, burst: 3"));
    let passed = |nodes: u32, seconds: std::ops::Range<u64>| {
        let times = seconds.flat_map(|second| (0..5).map(move |part| 1_000 * second + 200 * part));
        let counted = || counted(&limit, "GPTBot", Outcome::Unknown, "192.0.2.1");
        let passes = |now: &u64| {
            limiter
                .count(&[counted()], Fleet { nodes, ..Fleet::NONE }, Turn::Now, milliseconds(*now))
                .is_ok()
        };
        times.filter(passes).count()
    };
    assert_eq!(passed(1, 0..60), 62);
    // The bucket stays the same.
    assert_eq!(passed(3, 60..120), 20);
    assert_eq!(passed(1, 120..180), 60);
}
