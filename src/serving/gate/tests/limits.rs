//! The rate limits that an operator sets.

use std::time::Duration;

use crate::{records::tally, rules::enforce::Reason};

use super::{
    BINGBOT, BROWSER, GOOGLEBOT, GPTBOT,
    world::{Message, World},
};

const CHATGPT_USER: &str = "Mozilla/5.0 (compatible; ChatGPT-User/1.0; +https://openai.com/bot)";

fn limited(limits: &str) -> World {
    World::of(&format!(
        "    robots_txt: {{ groups: [{{ user_agents: [\"*\"], disallow: [/private/] }}] }}\n    \
         enforcement:\n      overrides: [{{ user_agents: [CCBot], mode: \"off\" }}]\n      \
         rate_limits: [{limits}]\n"
    ))
}

/// How many of many requests pass, one after the other within a second.
fn passed(world: &World, target: &str, user_agent: &str) -> usize {
    let statuses = world.statuses(target, user_agent, 20);
    assert!(statuses.iter().all(|status| [200, 429].contains(status)), "{statuses:?}");
    statuses.iter().filter(|status| **status == 200).count()
}

#[test]
fn what_is_limited_in_the_gate_is_limited_in_the_counts() {
    for reason in Reason::ALL {
        assert_eq!(tally::is_limited(reason.as_str()), reason.is_limit(), "{reason:?}");
    }
}

#[test]
fn a_limit_counts_the_clients_that_it_names_and_no_people() {
    let all = "{ user_agents: [\"*\"], requests: 2/1h, burst: 2 }";
    let named = "{ user_agents: [GPTBot, ChatGPT-User], requests: 2/1h, burst: 2 }";
    let purpose = "{ user_agents: [\"purpose:ai-training\"], requests: 2/1h, burst: 2 }";
    for (limit, user_agent, expected) in [
        (all, GPTBOT, 2),
        (all, GOOGLEBOT, 2),
        (all, "SomeBot/1.0", 2),
        (all, "", 2),
        (all, BROWSER, 20),
        // A person asks for the page.
        (all, CHATGPT_USER, 20),
        // Enforcement is off for it.
        (all, "CCBot/2.0 (https://commoncrawl.org/faq/)", 20),
        (named, GPTBOT, 2),
        (named, CHATGPT_USER, 2),
        (named, GOOGLEBOT, 20),
        (purpose, GPTBOT, 2),
        (purpose, GOOGLEBOT, 20),
    ] {
        let world = limited(limit);
        assert_eq!(passed(&world, "/page", user_agent), expected, "{limit} {user_agent}");
        assert_eq!(passed(&world, "/robots.txt", user_agent), 20, "{limit} {user_agent}");
        assert_eq!(world.violations(), 0, "a limit is no rule of robots.txt");
    }
}

#[test]
fn each_crawler_has_the_limit_for_itself_or_all_have_it_together() {
    for (together, of_second) in [(false, 3), (true, 0)] {
        let world = limited(&format!(
            "{{ user_agents: [\"*\"], requests: 3/1h, burst: 3, together: {together} }}"
        ));
        assert_eq!(passed(&world, "/page", GPTBOT), 3);
        assert_eq!(passed(&world, "/page", BINGBOT), of_second, "{together}");
        // Another address of the same crawler is no other crawler.
        assert_eq!(world.status_from("203.0.113.9", "/page", GPTBOT), 429);
        // The names that a client invents count for its network.
        assert_eq!(passed(&world, "/page", "OneBot/1.0"), of_second, "{together}");
        assert_eq!(passed(&world, "/page", "TwoBot/1.0"), 0, "{together}");
    }
}

#[test]
fn paths_count_in_any_form_and_other_paths_do_not() {
    let world = limited("{ user_agents: [\"*\"], requests: 1/1h, paths: [/search, \"/*?page=\"] }");
    assert_eq!(passed(&world, "/page", GPTBOT), 20);
    assert_eq!(world.status("//search", GPTBOT), 200);
    for target in ["/search?q=x", "/%73earch", "/a/../search", "//search", "/list?page=2"] {
        assert_eq!(world.status(target, GPTBOT), 429, "{target}");
    }
    assert_eq!(passed(&world, "/page", GPTBOT), 20);
}

#[test]
fn the_limit_with_the_longest_wait_answers_and_a_refused_request_counts_for_none() {
    let world = limited(
        "{ user_agents: [\"*\"], requests: 1/10s }, { user_agents: [GPTBot], requests: 1/1m }",
    );
    let texts = |one: &str, two: &str, three: &str| Some([one, two, three].map(str::to_owned));
    let retry_after = |seconds: u64| {
        world.at(Duration::from_secs(seconds));
        let answer = world.send(&Message::get("/page").user_agent(GPTBOT));
        let field = |name: &str| answer.field(name).to_owned();
        let fields = || ["retry-after", "ratelimit", "ratelimit-policy"].map(field);
        (answer.status == 429).then(fields)
    };
    assert_eq!(retry_after(0), None);
    // The first limit would let it pass at 11 s.
    assert_eq!(retry_after(11), texts("43", "\"1\";r=0;t=43", "\"1\";q=1;w=60"));
    assert_eq!(retry_after(60), None);
    assert_eq!(retry_after(61), texts("53", "\"1\";r=0;t=53", "\"1\";q=1;w=60"));
}

#[test]
fn the_mode_log_counts_and_refuses_nothing() {
    let world = limited("{ user_agents: [GPTBot], requests: 1/1h, mode: log }");
    assert_eq!(passed(&world, "/page", GPTBOT), 20);
    let labels = "{mode=\"log\",product_token=\"GPTBot\",site=\"site.example\"}";
    assert_eq!(world.metric(&format!("beadle_limited_requests_total{labels}")), 19.0);
}

#[test]
fn a_violation_beyond_a_limit_is_recorded_and_gets_429() {
    let world = limited("{ user_agents: [GPTBot], requests: 1/1h }");
    assert_eq!(world.statuses("/private/x", GPTBOT, 3), [200, 429, 429]);
    assert_eq!(world.violations(), 3);
}

#[test]
fn a_request_that_makes_room_for_people_uses_up_nothing() {
    let world = World::of(
        "    robots_txt: { groups: [{ user_agents: [\"*\"], disallow: [/private/], crawl_delay: 10 }] }
    enforcement:
      mode: throttle
      people_first: { crawlers_at_once: 1 }
      rate_limits: [{ user_agents: [bingbot], requests: 4/1h, burst: 4 }]
",
    );
    let at_origin = world.receive(&Message::get("/page").user_agent(BINGBOT)).0;
    assert!(at_origin.answer.is_none());
    assert_eq!(world.statuses("/page", BINGBOT, 5), [503; 5]);
    let put_off = "beadle_put_off_requests_total{product_token=\"bingbot\",site=\"site.example\"}";
    assert_eq!(world.metric(put_off), 5.0);
    // A violation that is only logged stays one.
    assert_eq!((world.status("/private/x", GPTBOT), world.violations()), (503, 1));
    drop(at_origin);
    // Its pace lets three pass at once. What comes too soon uses up none of the limit.
    assert_eq!(world.statuses("/page", BINGBOT, 4), [200, 200, 429, 429]);
    world.pass(Duration::from_secs(20));
    assert_eq!(world.statuses("/page", BINGBOT, 1), [200]);
    world.pass(Duration::from_secs(20));
    let answer = world.get("/page", BINGBOT);
    assert_eq!((answer.status, answer.field("ratelimit-policy")), (429, "\"0\";q=4;w=3600"));
}
