//! The quarantine: a file of the origin that suddenly closes the whole site waits for the operator.

use std::sync::atomic::{AtomicBool, Ordering};

use super::origin_robots::{AS_IT_IS, CLOSED, GOOD, GPTBOT, OTHER, Reply, World};
use crate::support::program::PROGRAM;

/// `robots accept`, with the policy named before or after the word, in turn.
fn accept_verb(world: &World) -> std::process::Output {
    static TURN: AtomicBool = AtomicBool::new(false);
    if TURN.fetch_not(Ordering::Relaxed) {
        return world.beadle.verb(&["robots", "accept"]);
    }
    let mut verb = std::process::Command::new(PROGRAM);
    verb.args(["robots", "accept", "--config"]).arg(world.beadle.policy_file());
    verb.output().expect("the program can be started")
}

fn accept(world: &World) {
    let output = accept_verb(world);
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn a_file_that_suddenly_closes_the_site_is_quarantined() {
    let world = World::new(AS_IT_IS, Reply::file(GOOD));
    world.publish(Reply::file(CLOSED));
    world.assert_serves(GOOD, "held");
    assert_eq!((world.status("/x"), world.status("/private/x")), (200, 403));
    assert_eq!(world.held(), 1.0);
    let alarm = world.lines("it suddenly closes the whole site to every crawler");
    assert!(alarm[0].contains("ERROR") && alarm[0].contains("beadle robots accept"), "{alarm:?}");
    world.wait_for_rows("SELECT CAST(bytes AS TEXT) FROM held_robots", &[CLOSED]);
    // The origin reverts the file.
    world.publish(Reply::file(OTHER));
    world.assert_serves(OTHER, "taken back");
    assert_eq!(world.held(), 0.0);
    world.wait_for_rows("SELECT CAST(bytes AS TEXT) FROM held_robots", &[]);
    let nothing = accept_verb(&world);
    assert_eq!(nothing.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&nothing.stderr).contains("no robots.txt is in quarantine"));
    // The origin closes the site again, and the operator accepts it.
    world.publish(Reply::file(CLOSED));
    world.wait_for_rows("SELECT CAST(bytes AS TEXT) FROM held_robots", &[CLOSED]);
    accept(&world);
    world.wait_until_served(CLOSED);
    assert_eq!(world.held(), 0.0);
    world.beadle.get("/robots.txt", GPTBOT);
    assert_eq!(world.status("/x"), 403);
    world.wait_for_rows("SELECT CAST(bytes AS TEXT) FROM held_robots", &[]);
    // The file stays accepted.
    world.refetch();
    world.assert_serves(CLOSED, "asked again");
    let world = world.restarted("TERM");
    world.assert_serves(CLOSED, "after a restart");
    assert_eq!(world.held(), 0.0);
}

#[test]
fn a_quarantined_file_survives_a_restart_and_can_be_accepted() {
    for origin_is_down in [true, false] {
        let mut world = World::new(AS_IT_IS, Reply::file(GOOD));
        world.publish(Reply::file(CLOSED));
        world.wait_for_rows("SELECT CAST(bytes AS TEXT) FROM held_robots", &[CLOSED]);
        if origin_is_down {
            world.stop_origin();
        }
        let world = world.restarted("KILL");
        world.assert_serves(GOOD, "after a restart");
        let open = if origin_is_down { 502 } else { 200 };
        assert_eq!((world.status("/x"), world.status("/private/x")), (open, 403));
        assert_eq!(world.held(), 1.0);
        accept(&world);
        world.wait_until_served(CLOSED);
        assert_eq!(world.held(), 0.0);
        world.wait_for_rows("SELECT CAST(bytes AS TEXT) FROM held_robots", &[]);
    }
}

#[test]
fn a_file_accepted_between_two_runs_is_in_force_at_the_start() {
    let mut world = World::new(AS_IT_IS, Reply::file(GOOD));
    world.publish(Reply::file(CLOSED));
    world.wait_for_rows("SELECT CAST(bytes AS TEXT) FROM held_robots", &[CLOSED]);
    world.beadle.stop();
    accept(&world);
    let world = world.restarted("TERM");
    world.wait_until_served(CLOSED);
    assert_eq!(world.held(), 0.0);
}

#[test]
fn accept_full_disallow_publishes_a_closing_file_at_once() {
    let world = World::new("source: origin, accept_full_disallow: true", Reply::file(GOOD));
    world.publish(Reply::file(CLOSED));
    world.assert_serves(CLOSED, "it is taken at once");
    assert_eq!(world.held(), 0.0);
    // The setting also publishes a file that is already quarantined.
    let mut world = World::new(AS_IT_IS, Reply::file(GOOD));
    world.publish(Reply::file(CLOSED));
    world.assert_serves(GOOD, "held");
    world.robots_txt = "source: origin, accept_full_disallow: true".to_owned();
    world.refetch();
    world.assert_serves(CLOSED, "taken");
    assert_eq!(world.held(), 0.0);
    world.wait_for_rows("SELECT CAST(bytes AS TEXT) FROM held_robots", &[]);
}

#[test]
fn a_first_file_that_closes_the_site_is_published_with_a_warning() {
    let mut world = World::new(AS_IT_IS, Reply::file(CLOSED));
    world.assert_serves(CLOSED, "at the start");
    assert_eq!((world.status("/x"), world.held()), (403, 0.0));
    let line = world.lines("closes the whole site to every crawler").pop().unwrap_or_default();
    assert!(line.contains("WARN"), "{line}");
    // The quarantine ends when the policy no longer uses the origin's file.
    world.publish(Reply::file(GOOD));
    world.publish(Reply::file(CLOSED));
    world.wait_for_rows("SELECT CAST(bytes AS TEXT) FROM held_robots", &[CLOSED]);
    world.robots_txt = "groups: [{ user_agents: [\"*\"], disallow: [/ours/] }]".to_owned();
    world.refetch();
    assert_eq!((world.status("/x"), world.held()), (200, 0.0));
    world.wait_for_rows("SELECT CAST(bytes AS TEXT) FROM held_robots", &[]);
}
