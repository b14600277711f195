//! The limiters of several nodes that hear of each other late.

use jiff::{SignedDuration, Timestamp};

use super::*;

/// The nodes, and the counts that are on their way: due at, to which node.
struct Nodes {
    nodes: Vec<(Limiter, Collector)>,
    on_the_way: Vec<(u64, usize, PaceCount)>,
}

impl Nodes {
    fn new(nodes: usize) -> Self {
        let nodes = (0..nodes).map(|_| Default::default()).collect();
        Self { nodes, on_the_way: Vec::new() }
    }

    /// A request at a node, of which the others hear after `lag`; all times in milliseconds.
    fn check(&mut self, node: usize, key: &Key, pace: Pace, (now, lag): (u64, u64)) -> bool {
        let due = self.on_the_way.extract_if(.., |(due, ..)| *due <= now);
        for (_, to, count) in due.collect::<Vec<_>>() {
            self.nodes[to].0.learn(count, moment(now));
        }
        let (limiter, collector) = &self.nodes[node];
        let passes = limiter.check(key, pace, telling(collector), milliseconds(now)).is_ok();
        for count in collector.take(moment(now)).pace {
            let others = (0..self.nodes.len()).filter(|other| *other != node);
            self.on_the_way.extend(others.map(|other| (now + lag, other, count.clone())));
        }
        passes
    }
}

/// A moment by the wall clock and a steady one with another start.
fn moment(now: u64) -> Moment {
    let since = SignedDuration::from_millis(i64::try_from(now).expect("a short time"));
    let start = Timestamp::from_second(1_790_000_000).expect("a time");
    Moment { now: start + since, steady: milliseconds(now), leap: None }
}

#[test]
fn what_passed_elsewhere_counts_here_and_is_told_once() {
    let (mut fleet, key) = (Nodes::new(2), known_key("a.example", Outcome::Unknown, 1));
    let passes = |fleet: &mut Nodes, node, now| fleet.check(node, &key, pace("1/10s"), (now, 50));
    assert!((0..3).all(|_| passes(&mut fleet, 0, 0)));
    assert!(passes(&mut fleet, 1, 49), "not heard of yet");
    assert!(!passes(&mut fleet, 1, 50));
    assert!(!passes(&mut fleet, 1, 12_000), "four times nine seconds, three at once");
    assert!(passes(&mut fleet, 1, 18_000));
    assert!(fleet.nodes.iter().all(|(_, told)| told.take(moment(18_000)).is_empty()));
}

/// Several crawlers knock a hundred times a second at all nodes.
#[test]
fn a_fast_crawler_passes_more_often_than_at_one_node_by_the_stated_bound_at_most() {
    let at_once = u64::from(AT_ONCE);
    for (nodes, lag) in [(2, 0), (2, 200), (3, 1_000), (10, 200), (10, 5_000)] {
        let (mut fleet, key) = (Nodes::new(nodes), key("bot"));
        let times = (0..60_000).step_by(10);
        let passed = times
            .flat_map(|now| (0..nodes).map(move |node| (now, node)))
            .filter(|(now, node)| fleet.check(*node, &key, pace("1/1s"), (*now, lag)))
            .count() as u64;
        let alone = at_once + 60_000 / 900;
        let bound = alone + (nodes as u64 - 1) * (at_once + lag.div_ceil(900));
        assert!((alone..=bound).contains(&passed), "{passed} of {bound}: {nodes} nodes, {lag} ms");
    }
}

#[test]
fn counts_without_an_effect_make_no_bucket() {
    let limiter = Limiter::default();
    let limit = Limit { pace: pace("1/1s"), times: 1, burst: 0 };
    let count = |at: u64| PaceCount { key: key("bot"), limit, at: moment(at).now, requests: 2 };
    limiter.learn(count(1_000), moment(60_000));
    assert!(!limiter.knows(&key("bot"), limit));
    // A time ahead of this clock counts as now.
    limiter.learn(count(90_000), moment(60_000));
    let waits = limiter.check(&key("bot"), limit.pace, Fleet::NONE, milliseconds(60_000));
    assert!(limiter.knows(&key("bot"), limit) && waits.is_ok());
}

proptest! {
    /// One crawler sends a request each second, 200 ms early or late, each to any node.
    #[test]
    fn a_crawler_that_keeps_its_pace_over_all_nodes_is_never_throttled(
        nodes in 2_usize..6,
        requests in prop::collection::vec((0_u64..400, any::<prop::sample::Index>(), 0_u64..60_000), 1..200),
        is_confirmed in any::<bool>(),
    ) {
        let outcome = if is_confirmed { Outcome::Confirmed } else { Outcome::Unknown };
        let (mut fleet, key) = (Nodes::new(nodes), known_key("a.example", outcome, 1));
        for (number, (jitter, node, lag)) in requests.into_iter().enumerate() {
            let now = number as u64 * 1_000 + jitter;
            prop_assert!(fleet.check(node.index(nodes), &key, pace("1/1s"), (now, lag)), "{}", number);
        }
    }
}
