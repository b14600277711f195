//! Rules of the origin's robots.txt, alone and merged with the policy's groups.

use std::time::Duration;

use bytes::Bytes;
use http::Method;

use super::world::{Message, World};
use crate::{
    base::diagnostic::Severity,
    formats::robots::{self, OriginFile},
    records::tally::ReadState,
};

const GPTBOT: &str = "GPTBot/1.2";
const AMAZONBOT: &str = "Amazonbot/0.1";
const AS_IT_IS: &str = "source: origin";
const MERGED: &str = "source: merge, groups: [{ user_agents: [\"*\"], disallow: [/ours/] }, \
    { user_agents: [GPTBot], disallow: [/gpt/] }, \
    { user_agents: [CCBot], override: true, disallow: [/cc/] }]";
const GOOD: &str = "User-agent: *\nDisallow: /private/\n";
const THEIRS: &str = "User-agent: *\nDisallow: /theirs/\nAllow: /ours/open\n\n\
    User-agent: ccbot\nDisallow: /\n\nUser-agent: bingbot\nDisallow: /bing/\n\n\
    Sitemap: https://site.example/s.xml\n";

fn site(robots_txt: &str) -> String {
    format!("    robots_txt: {{ {robots_txt} }}\n    enforcement: {{ mode: block }}\n")
}

fn file(text: impl Into<String>) -> OriginFile {
    OriginFile::Present(Bytes::from(text.into()))
}

fn world(robots_txt: &str, file: OriginFile) -> World {
    World::with_origin_file(&site(robots_txt), file)
}

const HOUR: Duration = Duration::from_secs(3_600);

/// The answer for robots.txt while it is not known.
fn assert_withheld(world: &World) {
    for method in [Method::GET, Method::HEAD] {
        let message = Message::get("/robots.txt").method(method).user_agent(GPTBOT);
        let answer = world.send(&message);
        assert_eq!((answer.status, answer.field("retry-after")), (503, "60"));
        assert_eq!(answer.field("cache-control"), "no-store");
    }
}

#[test]
fn rfc9309_2_3_1_4_before_the_first_good_file_robots_txt_is_503_and_nothing_is_judged() {
    for robots_txt in [AS_IT_IS, MERGED] {
        let mut world = world(robots_txt, OriginFile::Unknown);
        assert_withheld(&world);
        assert_eq!(world.send(&Message::get("/robots.txt").method(Method::OPTIONS)).status, 204);
        for target in ["/private/x", "/gpt/x", "/"] {
            let response = world.get(target, GPTBOT);
            assert_eq!((response.status, response.violation), (200, None), "{target}");
        }
        assert_eq!(world.violations(), 0);
        let known = "User-agent: *\nUser-agent: GPTBot\nDisallow: /private/\n";
        world.fetch_from_origin(file(known));
        assert!(world.robots_txt().contains("Disallow: /private/"));
        // What got 503 read no edition that allows anything.
        assert_eq!(world.violation_of(&to("/private/x")).robots_read.state, ReadState::Never);
    }
}

fn to(target: &str) -> Message {
    Message::get(target).user_agent(GPTBOT)
}

#[test]
fn rfc9309_2_3_1_4_an_unknown_file_is_withheld_until_it_is_given_up() {
    let mut world = world(AS_IT_IS, OriginFile::Unknown);
    for hour in [0, 23, 24, 99] {
        world.at(hour * HOUR);
        assert_withheld(&world);
        assert_eq!(world.status("/private/x", GPTBOT), 200);
    }
    // Then the site is open, and says so.
    world.give_up();
    assert!(!world.robots_txt().to_lowercase().contains("disallow"));
    world.get("/robots.txt", GPTBOT);
    world.fetch_from_origin(file(GOOD));
    assert_eq!(world.robots_txt(), GOOD);
    assert_eq!(world.status("/private/x", GPTBOT), 200, "it has read that all is allowed");
    world.get("/robots.txt", GPTBOT);
    assert_eq!((world.status("/private/x", GPTBOT), world.status("/other/x", GPTBOT)), (403, 200));
    // A file that was known is never withheld.
    world.fetch_from_origin(OriginFile::Unknown);
    assert_eq!((world.robots_txt(), world.status("/private/x", GPTBOT)), (GOOD.to_owned(), 403));
}

#[test]
fn a_restart_does_not_begin_the_day_of_an_unknown_file_anew() {
    let mut world = World::with_database(&site(AS_IT_IS));
    let start = world.now();
    for hour in [0, 12, 48] {
        world.at(hour * HOUR);
        world.fetch_from_origin(OriginFile::Unknown);
        assert_withheld(&world);
        world = world.restarted(&site(AS_IT_IS));
        let chronicle = &world.in_force.rulebook.chronicle;
        assert_eq!(chronicle.served_since("site.example"), Some(start));
    }
}

#[test]
fn a_stored_edition_is_published_while_the_origin_does_not_answer() {
    for robots_txt in [AS_IT_IS, MERGED] {
        let mut world = World::with_database(&site(robots_txt));
        world.fetch_from_origin(file("User-agent: GPTBot\nDisallow: /private/\n"));
        let mut world = world.restarted(&site(robots_txt));
        world.fetch_from_origin(OriginFile::Unknown);
        assert!(world.robots_txt().contains("Disallow: /private/"));
        assert_eq!(world.status("/private/x", GPTBOT), 403);
    }
}

#[test]
fn what_only_fills_in_is_not_stored_unless_a_client_has_it() {
    for (is_fetched, stored) in [(false, 0), (true, 2)] {
        let mut world = World::with_database(&site(AS_IT_IS));
        assert_eq!(world.status("/private/x", GPTBOT), 200);
        if is_fetched {
            world.fetch_from_origin(OriginFile::Unknown);
            world.give_up();
            world.get("/robots.txt", GPTBOT);
            world.fetch_from_origin(file(GOOD));
        }
        assert_eq!(world.memory().editions.len(), stored);
    }
}

#[test]
fn after_a_file_is_given_up_the_policys_own_groups_apply() {
    let mut world = world(MERGED, OriginFile::Unknown);
    world.give_up();
    assert_eq!((world.status("/gpt/x", GPTBOT), world.status("/theirs/x", GPTBOT)), (403, 200));
    assert!(world.robots_txt().contains("Disallow: /ours/"));
    // They follow the policy.
    world.reload(&site(&MERGED.replace("/gpt/", "/new/")));
    let text = world.robots_txt();
    assert!(text.contains("Disallow: /new/") && !text.contains("/gpt/"), "{text}");
    world.fetch_from_origin(OriginFile::Absent);
    assert_eq!(world.status("/ours/x", AMAZONBOT), 403);
}

#[test]
fn a_list_in_one_user_agent_line_excuses_the_crawlers_in_it() {
    let list = "User-agent: *\nDisallow: /private/\n\nUser-agent: GPTBot, CCBot\nDisallow: /gpt/\n";
    let mut world = world(AS_IT_IS, file(list));
    for (user_agent, target, expected) in [
        (GPTBOT, "/private/x", 200),
        (GPTBOT, "/private%2Fx", 200),
        ("CCBot/2.0", "/private/x", 200),
        (AMAZONBOT, "/private/x", 403),
        // By RFC 9309 the list names no crawler, so it binds none.
        (GPTBOT, "/gpt/x", 200),
    ] {
        assert_eq!(world.status(target, user_agent), expected, "{user_agent} {target}");
    }
    // A crawler may use the list for as long as any other edition.
    world.get("/robots.txt", GPTBOT);
    world.fetch_from_origin(file(GOOD));
    assert_eq!((world.status("/private/x", GPTBOT), world.grace("GPTBot")), (200, 1.0));
    world.get("/robots.txt", GPTBOT);
    assert_eq!(world.status("/private/x", GPTBOT), 403);
}

#[test]
fn a_merged_file_has_the_rules_of_both_for_each_crawler() {
    let world = world(MERGED, file(THEIRS));
    let text = world.robots_txt();
    assert!(text.contains("Sitemap: https://site.example/s.xml"), "{text}");
    for (user_agent, target, expected) in [
        (AMAZONBOT, "/ours/x", 403),
        (AMAZONBOT, "/theirs/x", 403),
        (AMAZONBOT, "/ours/open", 200),
        (AMAZONBOT, "/gpt/x", 200),
        (GPTBOT, "/gpt/x", 403),
        // For a crawler only its own group counts (RFC 9309 §2.2.1).
        (GPTBOT, "/theirs/x", 200),
        ("bingbot/2.0", "/bing/x", 403),
        ("bingbot/2.0", "/ours/x", 200),
        // The policy's group replaces the origin's.
        ("CCBot/2.0", "/cc/x", 403),
        ("CCBot/2.0", "/x", 200),
    ] {
        assert_eq!(world.status(target, user_agent), expected, "{user_agent} {target}\n{text}");
    }
}

#[test]
fn rfc9309_2_5_a_merged_file_over_the_size_limit_is_not_published() {
    let many = |word: &str| (0..8_000).map(|n| format!("/{word}/{n:024}")).collect::<Vec<_>>();
    let ours = format!(
        "source: merge, groups: [{{ user_agents: [\"*\"], disallow: [{}] }}]",
        many("ours").join(", ")
    );
    let finding = |world: &World| world.in_force.rulebook.sites()[0].finding.clone();
    let theirs = many("theirs").join("\nDisallow: ");
    let theirs = file(format!("User-agent: *\nDisallow: {theirs}\n"));
    // Without an earlier edition, the beginning of the origin's file counts.
    let first = World::with_origin_file(&site(&ours), theirs.clone());
    let text = first.robots_txt();
    assert!(text.len() < robots::LEAST_BYTES && text.len() > robots::LEAST_BYTES - 4_096);
    assert!(text.contains("/theirs/000") && text.contains("/ours/000000000000000000007999"));
    assert!(finding(&first).is_some_and(|one| one.message.contains("left out")));
    let mut world = world(&ours, file(GOOD));
    assert!(world.robots_txt().contains("Disallow: /private/\n"));
    assert_eq!(finding(&world), None);
    world.fetch_from_origin(theirs);
    let finding = finding(&world).expect("one");
    assert_eq!(finding.severity, Severity::Error);
    assert!(format!("{finding:#}").contains("KiB"), "{finding:#}");
    assert!(world.robots_txt().contains("Disallow: /private/\n"), "the one before stays");
    world.get("/robots.txt", GPTBOT);
    assert_eq!(world.status("/private/x", GPTBOT), 403);
}

#[test]
fn rfc9309_2_4_a_change_at_the_origin_gives_grace_like_one_of_the_policy() {
    for (robots_txt, has) in [(AS_IT_IS, ""), (MERGED, "/gpt/")] {
        let theirs = "User-agent: *\nUser-agent: GPTBot\nDisallow: /private/\n";
        let mut world = world(robots_txt, file(theirs));
        world.get("/robots.txt", GPTBOT);
        world.get("/robots.txt", AMAZONBOT);
        world.fetch_from_origin(file(theirs.replace("/private/", "/private/\nDisallow: /new/")));
        assert!(world.robots_txt().contains(has));
        let statuses = ["/new/x", "/private/x"].map(|target| world.status(target, GPTBOT));
        assert_eq!(statuses, [200, 403]);
        assert_eq!(world.grace("GPTBot"), 1.0);
        world.get("/robots.txt", GPTBOT);
        assert_eq!(world.status("/new/x", GPTBOT), 403);
        assert_eq!(world.status("/new/x", AMAZONBOT), 200);
        let source = if has.is_empty() { "origin" } else { "merge" };
        assert_eq!(world.in_force.rulebook.sites()[0].source.as_str(), source);
    }
}

#[test]
fn the_same_rules_in_another_order_cost_no_crawler_its_reading() {
    let theirs = "User-agent: GPTBot\nDisallow: /a/\nDisallow: /%7eb/x\n\n\
        User-agent: *\nDisallow: /\n\nUser-agent: gptbot\nAllow: /a/b\n";
    let arranged = robots::arrange(&robots::parse(theirs.as_bytes()).0).file.to_string();
    let mut world = world(AS_IT_IS, file(theirs));
    let first = world.fetch_robots_txt(GPTBOT, "192.0.2.1");
    for (text, state) in [(arranged.clone(), "current"), (arranged + "Disallow: /new\n", "older")] {
        world.fetch_from_origin(file(text));
        let record = world.violation_of(&Message::get("/a/x").user_agent(GPTBOT).from("192.0.2.1"));
        assert_ne!(record.robots.edition.as_str(), first);
        assert_eq!(record.robots_read.state.as_str(), state);
        assert_eq!(record.robots_read.edition.as_ref().map(|id| id.as_str()), Some(&*first));
    }
}

#[test]
fn rfc9309_2_3_1_3_a_missing_file_means_no_rules() {
    let mut world = world(AS_IT_IS, file(GOOD));
    world.get("/robots.txt", GPTBOT);
    for _ in 0..2 {
        assert_eq!(world.status("/private/x", GPTBOT), 403);
        world.fetch_from_origin(OriginFile::Absent);
        let text = world.robots_txt();
        assert!(!text.contains("Disallow"), "{text}");
        assert_eq!(world.status("/private/x", GPTBOT), 200);
        world.fetch_from_origin(file(GOOD));
        // A crawler that fetched nothing may go by the edition without rules.
        let statuses = [AMAZONBOT, GPTBOT].map(|name| world.status("/private/x", name));
        assert_eq!(statuses, [200, 403]);
    }
}
