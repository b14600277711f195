//! The breakers of several nodes that tell each other what they counted.

use super::*;

/// What one node counted at a time: requests that passed, and refusals of clients (network, crawler).
fn count(time: i64, passed: u64, refused: &[(u32, u32)]) -> BreakerCount {
    let refused = refused.iter().map(|(network, crawler)| RefusedCount {
        network: Network::of((network << 8).to_be_bytes().into()),
        product_token: (*crawler > 0).then(|| format!("Bot{crawler}")),
        is_declared: true,
        requests: 1,
    });
    BreakerCount { site: "a.example".to_owned(), at: at(time), passed, refused: refused.collect() }
}

impl Site {
    fn learn(&mut self, count: &BreakerCount, now: i64) {
        self.breaker.learn_count(&self.rules, &self.edition, count, at(now));
    }

    fn is_open(&mut self, now: i64) -> bool {
        self.breaker.is_open(&self.rules, at(now))
    }
}

#[test]
fn refusals_at_two_nodes_open_it_and_old_ones_do_not_count() {
    let clients = |from: u32| (from..from + 5).map(|n| (n, 1 + n)).collect::<Vec<_>>();
    // The time of the others' counts, when they are heard of, and whether refusals here then open it.
    for (time, heard, opens) in [(0, 1, true), (0, 59, true), (0, 61, false), (90, 60, true)] {
        let mut site = Site::new(rules());
        site.pass(at(heard));
        site.learn(&count(time, 4, &clients(100)), heard);
        assert!(!site.is_open(heard), "the next refusal decides");
        let alarms = clients(0)
            .into_iter()
            .filter_map(|(network, crawler)| site.refuse(network, crawler, at(heard)));
        assert_eq!(alarms.count() > 0, opens, "{time} {heard}");
    }
}

#[test]
fn an_opening_elsewhere_opens_it_for_the_same_pause() {
    let mut site = Site::new(rules());
    let open = |site: &mut Site, time, now| {
        site.breaker.learn_opening(&site.rules, &site.edition, (at(time), None), at(now))
    };
    assert!(open(&mut site, 100, 110), "it was closed");
    assert!(!open(&mut site, 100, 120) && site.is_open(699), "it comes twice");
    // What was counted before and meanwhile, and comes late, does not count.
    site.learn(&count(650, 0, &[(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (7, 7)]), 701);
    assert!(!site.is_open(701));
    assert!((0..9).all(|n| site.refuse(n, 1 + n, at(702)).is_none()));
    assert!(!open(&mut site, 90, 705), "an earlier one");
    assert!(!open(&mut site, 110, 9_000), "its pause is over");
    // A search engine that opened it there does not open it here again.
    let engine = (at(9_000), Some("Googlebot"));
    assert!(site.breaker.learn_opening(&site.rules, &site.edition, engine, at(9_001)));
    assert_eq!(site.breaker.spare(&site.rules, &site.edition, "Googlebot", at(9_700)), None);
}

#[test]
fn counts_of_others_leave_the_window_like_its_own() {
    let mut site = Site::new(rules());
    for second in 0..600 {
        site.learn(&count(second - 3, 1, &[(1, 1)]), second);
        assert!(site.breaker.window.slices() <= 1 + SLICES as usize);
    }
    assert!(site.breaker.memory().iter().all(|clients| *clients == 1));
    site.pass(at(1_000));
    assert_eq!(site.breaker.memory()[0], 0);
}

proptest! {
    /// Each node hears at once.
    #[test]
    fn without_a_lag_the_fleet_opens_as_one_node(
        requests in prop::collection::vec((0_usize..3, prop::option::of(0_u32..8), 0_i64..8), 1..300),
    ) {
        let mut nodes: Vec<Site> = (0..3).map(|_| Site::new(rules())).collect();
        let (mut twin, mut now) = (Site::new(rules()), 0);
        for (node, refused, gap) in requests {
            now += gap;
            let told = match refused {
                Some(client) => {
                    let was_heeded = !nodes[node].is_open(now);
                    let alarm = nodes[node].refuse(client, 1 + client, at(now));
                    twin.refuse(client, 1 + client, at(now));
                    let others = (0..3).filter(|other| *other != node && alarm.is_some());
                    for other in others {
                        let Site { breaker, rules, edition } = &mut nodes[other];
                        breaker.learn_opening(rules, edition, (at(now), None), at(now));
                    }
                    (alarm.is_none() && was_heeded).then(|| count(now, 0, &[(client, 1 + client)]))
                }
                None => {
                    twin.pass(at(now));
                    nodes[node].breaker.pass(&rules(), at(now)).then(|| count(now, 1, &[]))
                }
            };
            for other in (0..3).filter(|other| *other != node) {
                told.iter().for_each(|count| nodes[other].learn(count, now));
            }
            let expected = twin.is_open(now);
            for node in &mut nodes {
                prop_assert_eq!(node.is_open(now), expected, "at {}", now);
            }
        }
    }
}
