//! Which refusals open the breaker, and which ones it leaves in place.

use std::{
    fs::File,
    time::{Duration, SystemTime},
};

use http::Method;
use sha2::{Digest, Sha256};

use super::{
    BROWSER, CLAUDEBOT, GPTBOT, ONE, TWO, WILDBOT,
    world::{Message, World, start},
};

use crate::base::escape::hex;

const LIST: &str = "https://lists.example/list.json";
const LISTBOT: &str = "ListBot/1.0";
/// An address on the list, and one that is not.
const LISTED: &str = "66.249.64.3";
const UNLISTED: &str = "8.8.8.8";

/// A site with one group, and a search engine ListBot whose addresses are known from a copy of its
/// list. The folder of the copy is needed at the start only.
fn world_with_list(group: &str, enforcement: &str) -> World {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let hash: String = hex(Sha256::digest(LIST).iter().take(8));
    let copy = folder.path().join(format!("ranges-{hash}"));
    std::fs::write(&copy, "66.249.64.0/27\n").expect("the folder is ours");
    let copy = File::options().write(true).open(copy).expect("the folder is ours");
    copy.set_modified(SystemTime::from(start())).expect("the folder is ours");
    let sections = format!(
        "crawlers:\n  - {{ product_token: ListBot, operator: Lists, purpose: search, \
         ip_ranges: [\"{LIST}\"] }}\nevidence:\n  user_agents: [ListBot]\n  folder: {}\n",
        folder.path().display()
    );
    World::with_sections(
        &sections,
        &format!(
            "    robots_txt:\n      groups:\n        {group}\n    enforcement: {{ {enforcement} }}\n"
        ),
    )
}

#[test]
fn a_breaker_opens_at_once_when_a_confirmed_search_engine_would_be_refused() {
    let world = world_with_list(
        "- { user_agents: [ListBot, GPTBot], disallow: [/private/] }",
        "mode: block, breaker: {}",
    );
    assert_eq!(world.status("/private/x", GPTBOT), 403);
    assert_eq!(world.status_from(UNLISTED, "/private/x", LISTBOT), 403, "an impostor");
    assert_eq!(world.status_from(LISTED, "/private/x", LISTBOT), 200);
    assert_eq!(world.status("/private/x", GPTBOT), 200, "the breaker is open");
    let openings = "beadle_breaker_openings_total{reason=\"search-engine\",site=\"site.example\"}";
    assert_eq!(world.metric(openings), 1.0);
}

#[test]
fn overrides_and_impostors_neither_open_the_breaker_nor_pass_while_it_is_open() {
    let world = world_with_list(
        "- { user_agents: [\"*\"], disallow: [/private/] }",
        "mode: block, impostors: block, overrides: [{ user_agents: [GPTBot], mode: block }], \
         breaker: { share: 50%, min_requests: 10, window: 60s, pause: 1h }",
    );
    let open = || world.metric("beadle_breaker_open{site=\"site.example\"}");
    let impostor = || world.status_from(UNLISTED, "/page", LISTBOT);
    let ordered = || (world.status("/private/x", GPTBOT), impostor());
    for _ in 0..10 {
        assert_eq!(ordered(), (403, 403));
    }
    assert_eq!(open(), 0.0);
    let others: Vec<u16> = (0..25).map(|number| refused_client(&world, number % 5)).collect();
    assert_eq!((others[18], others[19], open()), (403, 200, 1.0), "20 of 40: {others:?}");
    assert_eq!(ordered(), (403, 403));
}

/// The status of a request to a closed page, by one of many crawlers in many networks.
fn refused_client(world: &World, number: u32) -> u16 {
    let (address, user_agent) = (format!("203.0.{number}.7"), format!("Wild{number}Bot/1.0"));
    world.status_from(&address, "/private/x", &user_agent)
}

#[test]
fn no_single_crawler_and_no_single_network_ends_enforcement() {
    let closed = "- { user_agents: [\"*\"], disallow: [/private/] }";
    let open = |world: &World| world.metric("beadle_breaker_open{site=\"site.example\"}");
    let address = |number: u32| format!("198.{}.{}.1", 18 + number / 256, number % 256);
    let attack = |name: &str, client: &dyn Fn(u32) -> Message| {
        let world = world_with_list(closed, "mode: block, breaker: {}");
        for number in 0..1_200 {
            assert_eq!(world.send(&client(number)).status, 403, "{name}: request {number}");
        }
        assert_eq!(open(&world), 0.0, "{name}");
    };
    let violation = |user_agent: &str| Message::get("/private/x").user_agent(user_agent);
    attack("one crawler", &|_| violation(WILDBOT));
    attack("HEAD", &|_| violation(WILDBOT).method(Method::HEAD));
    attack("fresh names", &|number| violation(&format!("Fresh{number}Bot/1.0")));
    attack("many networks", &|number| violation(GPTBOT).from(&address(number)));
    // A wrong rule that hits many.
    let world = world_with_list(closed, "mode: block, breaker: {}");
    let statuses: Vec<u16> = (0..205).map(|number| refused_client(&world, number % 20)).collect();
    assert_eq!((statuses[198], statuses[204], open(&world)), (403, 200, 1.0));
}

#[test]
fn a_confirmed_search_engine_is_spared_alone_after_the_breaker_opened_for_it() {
    let world = world_with_list(
        "- { user_agents: [ListBot, GPTBot], disallow: [/private/] }",
        "mode: block, breaker: { pause: 10s }",
    );
    assert_eq!(world.status_from(LISTED, "/private/x", LISTBOT), 200);
    assert_eq!(world.status("/private/x", GPTBOT), 200, "the breaker is open");
    world.pass(Duration::from_secs(11));
    let message = Message::get("/private/x").user_agent(LISTBOT).from(LISTED);
    let response = world.send(&message);
    let record = response.violation.expect("a record");
    assert_eq!((response.status, record.reason.as_str()), (200, "robots.disallow.spared"));
    assert_eq!(world.status("/private/x", GPTBOT), 403, "the others are refused");
}

#[test]
fn fresh_invented_names_climb_together() {
    let world = World::of(
        "    robots_txt: { groups: [{ user_agents: [\"*\"], disallow: [/private/] }] }\n    \
         enforcement: { mode: ladder, ladder: { throttle: 1/1s } }\n",
    );
    let mut refused = 0;
    for number in 0..2_000 {
        let name = format!("Fresh{number}Bot/1.0");
        let status = world.status_from(ONE, "/private/x", &name);
        refused += u32::from(status == 403);
    }
    assert_eq!(refused, 1_980, "ten climb to throttle, ten more to block");
    assert_eq!(world.status_from(TWO, "/private/x", "Fresh1Bot/1.0"), 200, "another network");
    assert_eq!(world.status_from(ONE, "/page", BROWSER), 200);
}

#[test]
fn head_requests_do_not_make_the_share_of_violations_smaller() {
    let world = World::of(
        "    robots_txt: { groups: [{ user_agents: [\"*\"], disallow: [/private/] }] }\n    \
         enforcement: { mode: ladder, ladder: { throttle: 1/1s }, breaker: \"off\" }\n",
    );
    let mut statuses = Vec::new();
    for _ in 0..30 {
        let head = || Message::get("/").user_agent(GPTBOT).method(Method::HEAD);
        (0..10).for_each(|_| drop(world.send(&head())));
        world.pass(Duration::from_secs(12));
        statuses.push(world.status("/private/x", GPTBOT));
    }
    assert_eq!((statuses[18], statuses[29]), (200, 403), "{statuses:?}");
    // Pages do: a crawler that obeys most of the time is not blocked.
    for number in 0..200 {
        world.pass(Duration::from_secs(2));
        let target = if number % 20 == 0 { "/private/x" } else { "/page" };
        assert_eq!(world.status(target, CLAUDEBOT), 200);
    }
}

#[test]
fn a_confirmed_search_engine_does_not_climb_by_rules_for_all() {
    let world = world_with_list(
        "- { user_agents: [\"*\"], disallow: [/private/] }",
        "mode: ladder, ladder: { min_violations: 2, throttle: 1/1h }, breaker: \"off\"",
    );
    for _ in 0..12 {
        assert_eq!(world.status_from(LISTED, "/private/x", LISTBOT), 200);
    }
    let steps =
        || world.metric("beadle_ladder_steps_total{direction=\"up\",site=\"site.example\"}");
    assert_eq!(steps(), 0.0);
    // Impostors climb, and so do clients with several names.
    let borrowed: Vec<u16> =
        (0..6).map(|_| world.status_from(UNLISTED, "/private/x", LISTBOT)).collect();
    assert_eq!(borrowed, [200, 200, 200, 200, 403, 403]);
    let crowd: Vec<String> = (0..12).map(|number| format!("Crowd{number}Bot/1.0")).collect();
    assert_eq!(world.statuses("/private/x", &crowd.join(" "), 6), [200, 200, 200, 200, 403, 403]);
    assert_eq!(steps(), 4.0);
}
