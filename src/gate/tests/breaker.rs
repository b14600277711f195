//! Which refusals open the breaker, and which ones it leaves in place.

use std::{fs::File, time::SystemTime};

use sha2::{Digest, Sha256};

use super::{
    CLAUDEBOT, GPTBOT,
    world::{World, start},
};

const LIST: &str = "https://lists.example/list.json";
const LISTBOT: &str = "ListBot/1.0";
/// An address on the list, and one that is not.
const LISTED: &str = "66.249.64.3";
const UNLISTED: &str = "8.8.8.8";

/// A site with one group, and a search engine ListBot whose addresses are known from a copy of its
/// list. The folder of the copy is needed at the start only.
fn world_with_list(group: &str, enforcement: &str) -> World {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let hash: String =
        Sha256::digest(LIST).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
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
    let others = world.statuses("/private/x", CLAUDEBOT, 25);
    assert_eq!((others[18], others[19], open()), (403, 200, 1.0), "20 of 40: {others:?}");
    assert_eq!(ordered(), (403, 403));
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
