//! Fairness in time: a crawler is judged by an edition of robots.txt that it can know (RFC 9309
//! §2.4).

use std::{sync::atomic::Ordering, time::Duration};

use http::{Method, header};

use super::{
    BINGBOT, BROWSER, GOOGLEBOT, GPTBOT, ONE, THREE, TWO, WILDBOT,
    world::{Message, World},
};
use crate::{
    records::record::{RobotsRead, Violation},
    rules::enforce::Moment,
};

/// A site that disallows /both/ and these paths for all crawlers.
fn disallowing(paths: &str, robots_txt: &str, enforcement: &str) -> String {
    format!(
        "    robots_txt: {{ groups: [{{ user_agents: [\"*\"], disallow: [/both/{paths}] }}]{robots_txt} }}\n    \
         enforcement: {{ mode: block{enforcement} }}\n"
    )
}

fn old() -> String {
    disallowing("", "", "")
}

fn new() -> String {
    disallowing(", /new/", "", "")
}

/// The record of a refused request.
fn violation(world: &World, target: &str, user_agent: &str, address: &str) -> Box<Violation> {
    world.violation_of(&Message::get(target).user_agent(user_agent).from(address))
}

/// The state and the edition of what the client had read.
fn read(read: &RobotsRead) -> (&'static str, Option<&str>) {
    (read.state.as_str(), read.edition.as_ref().map(|edition| edition.as_str()))
}

#[test]
fn rfc9309_2_4_a_crawler_with_the_old_file_is_judged_by_the_old_file() {
    let mut world = World::of(&old());
    let first = world.fetch_robots_txt(GPTBOT, ONE);
    world.fetch_robots_txt(BINGBOT, ONE);
    world.reload(&new());
    let second = world.fetch_robots_txt(BINGBOT, ONE);
    assert_ne!(first, second);
    // One has the old file, one has none, and one has none and is in no catalogue.
    for (name, user_agent) in
        [("GPTBot", GPTBOT), ("Amazonbot", "Amazonbot/0.1"), ("other", WILDBOT)]
    {
        assert_eq!(world.status_from(ONE, "/new/x", user_agent), 200, "{user_agent}");
        assert_eq!(world.grace(name), 1.0, "{user_agent}");
    }
    assert_eq!(world.violations(), 0, "grace is no violation");
    // A crawler that has read the new file.
    let record = violation(&world, "/new/read", BINGBOT, ONE);
    assert_eq!(record.robots.edition.as_str(), second);
    assert_eq!(read(&record.robots_read), ("current", Some(&*second)));
    assert!(record.robots_read.at.is_some_and(|at| at < record.time), "{record:?}");
    // Both editions disallow these.
    for (user_agent, path, expected) in [
        (GPTBOT, "/both/older", ("older", Some(&*first))),
        ("Amazonbot/0.1", "/both/never", ("never", None)),
        (WILDBOT, "/both/wild", ("never", None)),
    ] {
        let record = violation(&world, path, user_agent, ONE);
        assert_eq!(record.reason.as_str(), "robots.disallow");
        assert_eq!(record.robots.edition.as_str(), second);
        assert_eq!(read(&record.robots_read), expected, "{path}");
    }
    // After it reads the new file, that file counts.
    assert_eq!(world.fetch_robots_txt(GPTBOT, ONE), second);
    let record = violation(&world, "/new/y", GPTBOT, ONE);
    assert_eq!(world.grace("GPTBot"), 1.0);
    assert_eq!(record.robots_read.state.as_str(), "current");
}

#[test]
fn what_another_node_allows_now_is_no_violation_here() {
    const OPEN: &str = "User-agent: *\nDisallow: /both/\n";
    let mut world = World::of(&disallowing(", /new/", "", ", grace: enforce"));
    world.fetch_robots_txt(GPTBOT, ONE);
    assert_eq!(world.status_from(ONE, "/new/x", GPTBOT), 403);
    world.learn(OPEN, true);
    assert_eq!(world.status_from(ONE, "/new/x", GPTBOT), 200);
    assert_eq!(world.status_from(ONE, "/both/x", GPTBOT), 403, "that one disallows it, too");
    assert_eq!((world.grace("GPTBot"), world.violations()), (1.0, 2));
    world.learn(OPEN, false);
    assert_eq!(world.status_from(ONE, "/new/x", GPTBOT), 403);
}

#[test]
fn a_node_that_hears_nothing_excuses_what_its_rules_disallow_if_the_policy_says_so() {
    let world = World::of(&new());
    world.fetch_robots_txt(GPTBOT, ONE);
    let end = Moment::at(world.now()).steady;
    for (until, excuses, status) in [
        (end + Duration::from_secs(1), true, 403),
        // Nothing has to notice that the time is over: the process may have been paused.
        (end, true, 200),
        (end, false, 403),
    ] {
        world.keep_contact(until, excuses);
        assert_eq!(world.status_from(ONE, "/new/x", GPTBOT), status, "{until:?} {excuses}");
    }
    assert_eq!((world.grace("GPTBot"), world.violations()), (1.0, 2));
}

#[test]
fn a_site_can_enforce_a_new_file_at_once() {
    for (robots_txt, enforcement) in [("", ", grace: enforce"), (", cache_window: 0s", "")] {
        let mut world = World::of(&disallowing("", robots_txt, enforcement));
        let first = world.fetch_robots_txt(GPTBOT, ONE);
        world.reload(&disallowing(", /new/", robots_txt, enforcement));
        let record = violation(&world, "/new/x", GPTBOT, ONE);
        assert_eq!(read(&record.robots_read), ("older", Some(&*first)));
        assert_eq!(record.reason.as_str(), "robots.disallow");
        assert_eq!(world.status_from(ONE, "/new/never", WILDBOT), 403);
        assert_eq!(world.grace("GPTBot"), 0.0);
    }
}

#[test]
fn grace_ends_with_the_window() {
    for (settings, window) in [
        ("", Duration::from_secs(86_400)),
        (", cache_window: 2s, max_age: 1s", Duration::from_secs(2)),
    ] {
        let mut world = World::of(&disallowing("", settings, ""));
        world.fetch_robots_txt(GPTBOT, ONE);
        world.reload(&disallowing(", /new/", settings, ""));
        assert_eq!(world.status_from(ONE, "/new/x", GPTBOT), 200);
        world.pass(window - Duration::from_millis(100));
        for status in [200, 403] {
            for user_agent in [GPTBOT, WILDBOT] {
                assert_eq!(world.status_from(ONE, "/new/x", user_agent), status, "{settings}");
            }
            world.pass(Duration::from_millis(100));
        }
    }
}

#[test]
fn rfc9110_13_a_304_is_a_fetch_and_a_head_is_none() {
    let mut world = World::of(&old());
    let first = world.fetch_robots_txt(GPTBOT, ONE);
    world.fetch_robots_txt(BINGBOT, ONE);
    world.reload(&new());
    let second = world.fetch_robots_txt(BROWSER, ONE);
    let request = |method: Method, user_agent: &str, tag: &str| {
        let message = Message::get("/robots.txt").user_agent(user_agent).from(ONE);
        let tag = format!("\"{tag}\"");
        world.send(&message.method(method).field(header::IF_NONE_MATCH, &tag)).status
    };
    assert_eq!(request(Method::HEAD, GPTBOT, &first), 200);
    assert_eq!(request(Method::HEAD, GPTBOT, &second), 304);
    assert_eq!(world.status_from(ONE, "/new/x", GPTBOT), 200, "HEAD shows no rules");
    assert_eq!(request(Method::GET, BINGBOT, &second), 304);
    // 304 means that it has the new file.
    let record = violation(&world, "/new/y", BINGBOT, ONE);
    assert_eq!(record.robots_read.edition.as_ref().map(|one| one.as_str()), Some(&*second));
}

#[test]
fn networks_of_a_crawler_read_the_file_separately() {
    let mut world = World::of(&old());
    world.fetch_robots_txt(GPTBOT, ONE);
    world.reload(&new());
    world.fetch_robots_txt(GPTBOT, TWO);
    for (address, target, user_agent, status) in [
        // This network has the old file, at all its addresses.
        (ONE, "/new/x", GPTBOT, 200),
        ("192.0.2.200", "/new/x", GPTBOT, 200),
        // This one has the new file; a third may have either.
        ("198.51.100.99", "/new/x", GPTBOT, 403),
        (THREE, "/new/x", GPTBOT, 200),
        (THREE, "/both/x", GPTBOT, 403),
    ] {
        assert_eq!(world.status_from(address, target, user_agent), status, "{address} {target}");
    }
    // A browser's fetch does not count for a crawler.
    world.fetch_robots_txt(BROWSER, ONE);
    assert_eq!(world.status_from(ONE, "/new/x", GPTBOT), 200);
    assert_eq!(world.status_from(ONE, "/new/x", BROWSER), 200);
}

#[test]
fn what_another_network_fetched_in_a_crawlers_name_still_excuses_it_after_that_network_refetched() {
    let mut world = World::with_database(&new());
    world.fetch_robots_txt(GPTBOT, ONE);
    world.reload(&old());
    // This may have been for the first network as well.
    world.fetch_robots_txt(GPTBOT, TWO);
    world.reload(&new());
    assert_eq!(world.status_from(ONE, "/new/x", GPTBOT), 200);
    world.fetch_robots_txt(GPTBOT, TWO);
    assert_eq!(world.status_from(ONE, "/new/x", GPTBOT), 200, "it may have the copy of before");
    assert_eq!(world.status_from(TWO, "/new/x", GPTBOT), 403, "this one has the new file");
    let world = world.restarted(&new());
    assert_eq!(world.status_from(ONE, "/new/x", GPTBOT), 200, "a restart changes nothing");
    assert_eq!(world.status_from(TWO, "/new/x", GPTBOT), 403);
    world.fetch_robots_txt(GPTBOT, ONE);
    assert_eq!(world.status_from(ONE, "/new/x", GPTBOT), 403);
}

#[test]
fn a_database_that_is_lost_in_use_costs_no_grace_after_many_changes() {
    let mut world = World::with_database(&new());
    let address = |number: u8| format!("192.0.{number}.1");
    // More editions than are kept apart; some differ in nothing but their order.
    for number in 0..90_u8 {
        let (rare, twin) = (number % 7, if number % 2 == 0 { "/a/, /b/" } else { "/b/, /a/" });
        let paths = format!(", /new/, /{number}/, /rare{rare}/, {twin}");
        world.reload(&disallowing(&paths, "", ""));
        if number % 3 > 0 {
            world.fetch_robots_txt(GPTBOT, &address(number));
            world.fetch_robots_txt(BINGBOT, &address(number / 3));
        }
    }
    let last = disallowing(", /new/, /0/, /50/, /88/, /89/, /rare0/, /rare3/", "", "");
    world.reload(&last);
    world.fetch_robots_txt(GPTBOT, &address(100));
    let verdicts = |world: &World| {
        let mut all = Vec::new();
        for number in (0..90).step_by(7).chain([88, 89, 100, 101]) {
            for target in ["/new/x", "/0/x", "/50/x", "/88/x", "/89/x", "/rare0/x", "/rare3/x"] {
                for user_agent in [GPTBOT, BINGBOT] {
                    let status = world.status_from(&address(number), target, user_agent);
                    all.push(format!("{number} {target} {status}"));
                }
            }
        }
        all
    };
    let before = verdicts(&world);
    for status in ["200", "403"] {
        let count = before.iter().filter(|verdict| verdict.ends_with(status)).count();
        assert!(count > 20, "{count} are {status}");
    }
    world.lose_database();
    let world = world.restarted(&last);
    assert_eq!(verdicts(&world), before);
}

#[test]
fn a_family_reads_the_file_under_one_of_its_names() {
    let site = |paths: &str| {
        format!(
            "    robots_txt: {{ groups: [{{ user_agents: [OwnBot, \"*\"], disallow: [/both/{paths}] }}] }}\n    \
             enforcement: {{ mode: block, overrides: [{{ user_agents: [Googlebot-Image], mode: block }}] }}\n"
        )
    };
    let mut world = World::with_database(&site(""));
    world.fetch_robots_txt(GOOGLEBOT, ONE);
    world.fetch_robots_txt("OwnBot/1.0 (+https://own.example)", ONE);
    world.reload(&site(", /new/"));
    let world = world.restarted(&site(", /new/"));
    for (user_agent, reader) in [("Googlebot-Image/1.0", "Googlebot/2.1"), ("ownbot/2", "OWNBOT")] {
        let state =
            |path: String| violation(&world, &path, user_agent, ONE).robots_read.state.as_str();
        assert_eq!(world.status_from(ONE, "/new/x", user_agent), 200, "{user_agent}");
        assert_eq!(state(format!("/both/{reader}")), "older");
        world.fetch_robots_txt(reader, ONE);
        assert_eq!(state(format!("/new/{reader}")), "current");
    }
}

#[test]
fn two_names_in_one_user_agent_get_the_stricter_verdict() {
    let mut world = World::of(&old());
    world.fetch_robots_txt(GPTBOT, ONE);
    world.reload(&new());
    world.fetch_robots_txt(BINGBOT, ONE);
    let record = violation(&world, "/new/x", "GPTBot/1.2 bingbot/2.0", ONE);
    assert_eq!(record.product_token.as_str(), "bingbot");
    // Another spelling of the path, or no User-Agent, gives no more grace.
    world.fetch_robots_txt(GPTBOT, ONE);
    for target in ["/n%65w/y", "/a/../new/y", "//new/y"] {
        assert_eq!(world.status_from(ONE, target, GPTBOT), 403, "{target}");
    }
    assert_eq!(world.status_from(TWO, "/new/z", ""), 200);
    assert_eq!(world.grace("-"), 1.0);
    assert_eq!(world.status_from(TWO, "/both/z", ""), 403);
}

#[test]
fn a_violation_looks_up_the_fetches_once() {
    let mut world = World::of(&old());
    world.fetch_robots_txt(GPTBOT, ONE);
    world.reload(&new());
    world.fetch_robots_txt(GPTBOT, ONE);
    let look_ups = || world.handles.conduct.ledger.look_ups.load(Ordering::Relaxed);
    // The decision needs them because there are two editions, the record because it names them.
    let before = look_ups();
    let record = violation(&world, "/new/x", GPTBOT, ONE);
    assert_eq!(record.robots_read.state.as_str(), "current");
    assert_eq!(look_ups(), before + 1);
}
