//! A fleet judges as one: the simulation of the benchmarks, reduced.

use std::time::Duration;

use self::world::Setting;
use crate::support::conditions::is_full_size;

#[path = "../../benches/fleet/chance.rs"]
mod chance;
#[path = "../../benches/fleet/log.rs"]
mod log;
#[path = "../../benches/fleet/node.rs"]
mod node;
#[path = "../../benches/fleet/scenarios.rs"]
mod scenarios;
#[path = "../../benches/fleet/world.rs"]
mod world;

const CALM: Setting = Setting {
    nodes: 3,
    lag: Duration::from_millis(500),
    loss: 0.0,
    has_cuts: false,
    clocks: Duration::ZERO,
    sets: &[],
    seed: 1,
};

/// Late and lost news, clocks that are wrong by a minute, and nodes that are cut off.
const STORM: Setting =
    Setting { loss: 0.05, has_cuts: true, clocks: Duration::from_secs(60), ..CALM };

#[test]
fn a_flood_passes_more_often_than_at_one_node_by_the_stated_bound_at_most() {
    for nodes in [2, 5] {
        let found = scenarios::overshoot(Setting { nodes, ..CALM });
        let scenarios::Overshoot { alone, passed, bound } = found;
        assert!((alone..=alone + bound).contains(&passed), "{nodes} nodes: {found:?}");
    }
}

#[test]
fn no_request_of_an_obedient_crawler_is_a_violation_whatever_is_lost() {
    let judged = scenarios::judged(STORM, 20, 600);
    assert_eq!(judged.wronged, 0, "{judged:?}");
    assert!(judged.obedient > 1_000 && judged.excused > 0, "{judged:?}");
    // It is no fleet that excuses everything.
    assert!(judged.found * 2 > judged.forbidden, "{judged:?}");
    let calm = scenarios::judged(CALM, 10, 200);
    assert_eq!((calm.wronged, calm.found), (0, calm.forbidden), "{calm:?}");
}

#[test]
fn a_clock_that_is_set_back_and_forth_makes_no_violation() {
    let scenarios: [(&str, &[i64]); 6] = [
        ("10 s", &[0, -10_000]),
        ("30 s", &[0, -30_000]),
        ("5 min", &[0, -300_000]),
        ("1 h", &[0, -3_600_000]),
        ("1 d", &[0, -86_400_000]),
        ("all", &[0, -10_000, -300_000, -86_400_000, 0, 30_000, 3_600_000]),
    ];
    let seconds = if is_full_size() { 5_400 } else { 300 };
    for (number, (name, sets)) in (1..).zip(scenarios) {
        let setting = Setting { sets, seed: number, ..CALM };
        let judged = scenarios::judged(setting, 20, seconds);
        eprintln!("{name}: {judged:?}");
        assert_eq!((judged.wronged, judged.found), (0, judged.forbidden), "{name}: {judged:?}");
        let stormy = scenarios::judged(Setting { sets, seed: number, ..STORM }, 20, seconds);
        eprintln!("{name}: {stormy:?}");
        assert_eq!(stormy.wronged, 0, "{name}: {stormy:?}");
    }
}

#[test]
fn a_rung_is_known_at_all_nodes_after_the_lag_and_two_exchanges() {
    let (_, longest) = scenarios::spread(CALM, 3).figures().expect("they climb");
    assert!(longest <= 0.5 + 0.4 + 0.1, "{longest} s");
}
