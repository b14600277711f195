//! The ladders of several nodes that tell each other what they counted.

use super::*;

const TOKEN: &str = "gptbot";
const UNKNOWN: Outcome = Outcome::Unknown;

/// The rung of the crawler, here of one that only its User-Agent names.
fn rung(ladder: &Ladder) -> Rung {
    ladder.rung(Name::Declared(TOKEN), UNKNOWN, network(1))
}

fn note(ladder: &mut Ladder, is_violation: bool, now: Timestamp) -> Option<Move> {
    ladder.note(
        ("a.example", &rules()),
        Name::Declared(TOKEN),
        (UNKNOWN, network(1)),
        is_violation,
        now,
    )
}

fn count(ladder: &Ladder) -> LadderCount {
    let count = ladder.count(Name::Declared(TOKEN), (UNKNOWN, network(1)));
    count.expect("it sent a request")
}

fn step(rung: Rung, at: Timestamp) -> RungStep {
    let (site, product_token) = ("a.example".to_owned(), TOKEN.to_owned());
    let key = LadderKey { site, product_token, outcome: UNKNOWN, network: Some(network(1)) };
    RungStep { key, rung, returns: 0, at }
}

#[test]
fn violations_at_two_nodes_move_a_crawler_up_at_both() {
    let [mut one, mut other] = [Ladder::default(), Ladder::default()];
    (0..2).for_each(|_| drop(note(&mut one, true, at(0))));
    assert_eq!(other.learn_count(&rules(), 1, &count(&one), at(1)), None);
    assert_eq!(rung(&other), Rung::Observe, "the next violation decides");
    let moved = note(&mut other, true, at(2)).expect("the third violation");
    assert_eq!((moved.step.violations, moved.step.to), (3, Rung::Throttle));
    assert_eq!(one.learn_step(&rules(), &moved.told(), at(3)), Some(Rung::Observe));
    assert_eq!((rung(&one), rung(&other)), (Rung::Throttle, Rung::Throttle));
    // What came before the step is not counted again.
    assert_eq!(other.learn_count(&rules(), 1, &count(&one), at(3)), None);
    (0..2).for_each(|_| drop(note(&mut other, true, at(4))));
    assert_eq!(rung(&other), Rung::Throttle);
    assert!(note(&mut other, true, at(4)).is_some());
}

#[test]
fn of_two_steps_the_later_one_counts() {
    use Rung::{Block, Observe, Throttle};
    for (steps, expected) in [
        (vec![(Throttle, 10), (Throttle, 11)], Throttle),
        (vec![(Block, 20), (Throttle, 10)], Block),
        (vec![(Throttle, 10), (Block, 20), (Throttle, 10)], Block),
        (vec![(Block, 20), (Observe, 30), (Block, 20)], Observe),
        (vec![(Observe, 30)], Observe),
    ] {
        let mut ladder = Ladder::default();
        for (rung, time) in &steps {
            ladder.learn_step(&rules(), &step(*rung, at(*time)), at(40));
        }
        assert_eq!(rung(&ladder), expected, "{steps:?}");
    }
}

#[test]
fn a_node_that_starts_watches_a_blocked_crawler_for_a_whole_period() {
    let mut ladder = Ladder::default();
    ladder.learn_step(&rules(), &step(Rung::Block, at(0)), at(90_000));
    assert!(ladder.settle(&rules(), at(90_001)).is_empty());
    assert_eq!(ladder.settle(&rules(), at(93_600)).len(), 1);
    // Counts of a period that is over make no climber.
    let mut later = Ladder::default();
    let old = LadderCount {
        key: step(Rung::Block, at(0)).key,
        number: 0,
        period: at(0),
        requests: 9,
        violations: 9,
    };
    assert_eq!(later.learn_count(&rules(), 1, &old, at(3_600)), None);
    assert!(later.declared.is_empty());
}

#[test]
fn a_sum_whose_time_comes_out_otherwise_counts_once() {
    let (mut here, mut there) = (Ladder::default(), Ladder::default());
    let shifted = |count: LadderCount, millisecond: i64| {
        let shift = SignedDuration::from_millis(millisecond);
        LadderCount { period: count.period + shift, ..count }
    };
    // Between two messages, the estimate of the common time changed a little.
    (0..2).for_each(|_| drop(note(&mut there, true, at(10))));
    for millisecond in [0, 1, -1, 60, 0] {
        here.learn_count(&rules(), 1, &shifted(count(&there), millisecond), at(11));
    }
    let moved = note(&mut here, true, at(12)).expect("the third violation");
    assert_eq!(moved.step.violations, 3);
}

#[test]
fn a_step_of_a_clock_that_is_ahead_is_followed_by_later_ones() {
    let mut ladder = Ladder::default();
    ladder.learn_step(&rules(), &step(Rung::Throttle, at(60)), at(0));
    let moved = (0..3).find_map(|_| note(&mut ladder, true, at(1))).expect("three violations");
    assert!(moved.step.at > at(60) && moved.step.to == Rung::Block);
    assert_eq!(count(&ladder).period, moved.step.at);
}

proptest! {
    /// Each node hears at once.
    #[test]
    fn without_a_lag_the_fleet_climbs_as_one_node(
        requests in prop::collection::vec((0_usize..3, any::<bool>(), 0_i64..900), 1..300),
    ) {
        let mut nodes: [Ladder; 3] = Default::default();
        let (mut twin, mut now) = (Ladder::default(), 0);
        for (node, is_violation, gap) in requests {
            now += gap;
            let moved = note(&mut nodes[node], is_violation, at(now));
            let told = count(&nodes[node]);
            for other in (0..3).filter(|other| *other != node) {
                if let Some(moved) = &moved {
                    nodes[other].learn_step(&rules(), &moved.told(), at(now));
                }
                nodes[other].learn_count(&rules(), node as u64, &told, at(now));
            }
            note(&mut twin, is_violation, at(now));
            for node in &nodes {
                prop_assert_eq!(rung(node), rung(&twin), "at {}", now);
            }
        }
    }

    /// Sums come late, twice, in any order or not at all; the last one comes.
    #[test]
    fn every_request_counts_once(
        requests in prop::collection::vec((0_usize..2, any::<bool>()), 1..40),
        heard in prop::collection::vec(any::<prop::sample::Index>(), 0..80),
    ) {
        // So many that nothing moves.
        let rules = policy::Ladder { min_violations: 1_000, ..policy::Ladder::default() };
        let mut nodes: [Ladder; 2] = Default::default();
        let mut told = Vec::new();
        let claim = (UNKNOWN, network(1));
        for (node, is_violation) in &requests {
            let name = Name::Declared(TOKEN);
            nodes[*node].note(("a.example", &rules), name, claim, *is_violation, at(0));
            told.push((*node as u64, count(&nodes[*node])));
        }
        let mut third = Ladder::default();
        let last = |node| told.iter().rfind(|(from, _)| *from == node);
        let picked = heard.iter().map(|index| &told[index.index(told.len())]);
        for (node, count) in picked.chain(last(0)).chain(last(1)) {
            third.learn_count(&rules, *node, count, at(1));
        }
        let violations = requests.iter().filter(|(_, is_violation)| *is_violation).count() as u64;
        let climber = &third.declared[&network(1)].climber;
        prop_assert_eq!(climber.counts(), (requests.len() as u64, violations));
    }
}
