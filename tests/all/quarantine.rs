//! The quarantine: a file of the origin that suddenly closes the whole site, or has lost its rules,
//! waits for the operator.

use std::sync::atomic::{AtomicBool, Ordering};

use super::origin_robots::{AS_IT_IS, CLOSED, GOOD, GPTBOT, OTHER, Reply, World};
use crate::support::{program::PROGRAM, wait_for};

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
        // It is discarded, and then accepted after all.
        let discarded = world.beadle.verb(&["robots", "discard"]);
        assert!(discarded.status.success(), "{discarded:?}");
        wait_for("the end of the alarm", || (world.held() == 0.0).then_some(()));
        let remark = String::from_utf8(world.beadle.verb(&["robots"]).stderr).expect("UTF-8");
        assert!(remark.contains("was discarded at"), "{remark}");
        world.assert_serves(GOOD, "discarded");
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

#[test]
fn rules_that_vanish_are_held_until_the_operator_accepts_that() {
    let world = World::new(AS_IT_IS, Reply::file(GOOD));
    world.publish(Reply::status("404 Not Found"));
    world.assert_serves(GOOD, "held");
    assert_eq!((world.status("/x"), world.status("/private/x"), world.held()), (200, 403, 1.0));
    let alarm = world.lines("its rules are gone");
    assert!(alarm[0].contains("ERROR") && alarm[0].contains("beadle robots accept"), "{alarm:?}");
    world.wait_for_rows("SELECT CAST(bytes AS TEXT) FROM held_robots", &[""]);
    // The desk and the health page say why.
    for page in ["/robots/site.example", "/robots/site.example/quarantine", "/"] {
        let page = world.beadle.admin_page(page).text();
        assert!(page.contains("its rules are gone"), "{page}");
    }
    // The rules come back.
    world.publish(Reply::file(OTHER));
    world.assert_serves(OTHER, "back");
    world.wait_for_rows("SELECT CAST(bytes AS TEXT) FROM held_robots", &[]);
    // They vanish again, also over a restart.
    world.publish(Reply::file(""));
    world.wait_for_rows("SELECT CAST(bytes AS TEXT) FROM held_robots", &[""]);
    let since = world.beadle.rows("SELECT CAST(since AS TEXT) FROM held_robots");
    let world = world.restarted("KILL");
    world.assert_serves(OTHER, "after a restart");
    assert_eq!(world.held(), 1.0);
    world.refetch();
    assert_eq!(world.beadle.rows("SELECT CAST(since AS TEXT) FROM held_robots"), since);
    accept(&world);
    world.wait_until_open();
    assert_eq!(world.held(), 0.0);
    world.wait_for_rows("SELECT CAST(bytes AS TEXT) FROM held_robots", &[]);
    let world = world.restarted("TERM");
    assert_eq!((world.held(), world.status("/other/x")), (0.0, 200));
}

#[test]
fn a_page_in_place_of_the_file_is_an_error_on_the_desk() {
    let world = World::new(AS_IT_IS, Reply::file("<!doctype html><title>App</title>"));
    world.wait_until_open();
    let lines = world.lines("a document without rules");
    assert!(lines.iter().all(|line| line.contains("ERROR")), "{lines:?}");
    for page in ["/robots/site.example", "/"] {
        let page = world.beadle.admin_page(page).text();
        assert!(page.contains("a document without rules"), "{page}");
    }
    // Findings about a file are there as well.
    world.publish(Reply::file("User-agent: GPTBot, CCBot\nDisallow: /x\n"));
    world.lines("'GPTBot, CCBot' is a list");
    let page = world.beadle.admin_page("/robots/site.example").text();
    assert!(page.contains("is a list") && !page.contains("a document without"), "{page}");
}

#[test]
fn vanish_after_zero_lets_rules_vanish_at_once() {
    let world = World::new("source: origin, vanish_after: 0s", Reply::file(GOOD));
    world.publish(Reply::status("404 Not Found"));
    world.wait_until_open();
    assert_eq!(world.held(), 0.0);
}
