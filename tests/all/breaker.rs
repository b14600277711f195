//! What spares those who are not meant: the breaker, what it leaves alone, and who does not climb.

use serde_json::json;

use crate::support::{
    BROWSER,
    client::{Request, Response},
    origin::{After, Origin},
    program::{Beadle, Setup},
};

const GPTBOT: &str = "GPTBot/1.2 (+https://openai.com/gptbot)";
const CLAUDEBOT: &str = "ClaudeBot/1.0 (+claudebot@anthropic.com)";

fn get_from(beadle: &Beadle, address: &str, target: &str, user_agent: &str) -> Response {
    let request = Request::get(target).user_agent(user_agent);
    request.field("X-Forwarded-For", address).send(beadle.port)
}

fn statuses(beadle: &Beadle, target: &str, user_agent: &str, count: usize) -> Vec<u16> {
    (0..count).map(|_| beadle.get(target, user_agent).status).collect()
}

#[test]
fn where_too_many_would_be_refused_nobody_is_until_the_breaker_closes() {
    let origin = Origin::plain();
    let breaker = "{ share: 50%, min_requests: 10, window: 60s, pause: 5s }";
    let site = format!(
        "    robots_txt: {{ groups: [{{ user_agents: [\"*\"], disallow: [/private/] }}] }}\n    \
         enforcement: {{ mode: block, breaker: {breaker} }}\n"
    );
    let beadle = Setup::site(origin.port, &site).start();
    let open = "beadle_breaker_open{site=\"site.example\"}";
    assert!(
        beadle.admin_page("/metrics").text().contains(&format!("{open} 0")),
        "shown from the start"
    );
    // People are counted too: while they are more, refusals are what they are meant to be.
    assert_eq!(statuses(&beadle, "/page", BROWSER, 12), [200; 12]);
    assert_eq!(statuses(&beadle, "/private/x", GPTBOT, 11), [403; 11]);
    assert_eq!(beadle.get("/private/x", GPTBOT).status, 200, "12 of 24");
    assert_eq!(beadle.get("/private/x", GPTBOT).status, 200, "nobody is refused");
    assert_eq!(beadle.metric(open), 1.0);
    let openings = "beadle_breaker_openings_total{reason=\"share\",site=\"site.example\"}";
    assert_eq!(beadle.metric(openings), 1.0);
    beadle.wait_for_stderr("12 of 24 requests in 60 s would be refused");
    let stderr = beadle.stderr();
    let alarm = stderr.lines().find(|line| line.contains("the breaker is open"));
    assert!(alarm.is_some_and(|line| line.contains("ERROR")), "{stderr}");
    let spared = &beadle.records(13)[12];
    assert_eq!(
        [&spared["action"], &spared["reason"], &spared["verdict"], &spared["status"]],
        [&json!("log"), &json!("breaker.open"), &json!("disallow"), &json!(200)]
    );
    // It closes although nobody comes, and counts anew.
    beadle.wait_for_metric(open, 0.0);
    beadle.wait_for_stderr("the breaker is closed");
    assert_eq!(beadle.get("/private/x", GPTBOT).status, 403);
}

#[test]
fn a_breaker_opens_at_once_where_a_confirmed_search_engine_would_be_refused() {
    let origin = Origin::plain();
    let list = list();
    let beadle = start_with_list(
        &origin,
        &list,
        "- { user_agents: [ListBot, GPTBot], disallow: [/private/] }",
        "mode: block, breaker: {}",
    );
    assert_eq!(beadle.get("/private/x", GPTBOT).status, 403);
    assert_eq!(
        get_from(&beadle, "8.8.8.8", "/private/x", "ListBot/1.0").status,
        403,
        "an impostor"
    );
    assert_eq!(get_from(&beadle, "66.249.64.3", "/private/x", "ListBot/1.0").status, 200);
    assert_eq!(beadle.get("/private/x", GPTBOT).status, 200, "nobody is refused");
    beadle.wait_for_stderr("ListBot, which is proven to be who it says, would be refused");
    let openings = "beadle_breaker_openings_total{reason=\"search-engine\",site=\"site.example\"}";
    assert_eq!(beadle.metric(openings), 1.0);
}

#[test]
fn what_the_operator_orders_neither_opens_a_breaker_nor_is_lifted_by_one() {
    let (origin, list) = (Origin::plain(), list());
    let beadle = start_with_list(
        &origin,
        &list,
        "- { user_agents: [\"*\"], disallow: [/private/] }",
        "mode: block, impostors: block, overrides: [{ user_agents: [GPTBot], mode: block }], \
         breaker: { share: 50%, min_requests: 10, window: 60s, pause: 1h }",
    );
    let open = || beadle.metric("beadle_breaker_open{site=\"site.example\"}");
    let impostor = || get_from(&beadle, "8.8.8.8", "/page", "ListBot/1.0").status;
    let ordered = || (beadle.get("/private/x", GPTBOT).status, impostor());
    for _ in 0..10 {
        assert_eq!(ordered(), (403, 403));
    }
    assert_eq!(open(), 0.0);
    let others = statuses(&beadle, "/private/x", CLAUDEBOT, 25);
    assert_eq!((others[18], others[19], open()), (403, 200, 1.0), "20 of 40: {others:?}");
    assert_eq!(ordered(), (403, 403));
}

#[test]
fn a_confirmed_search_engine_does_not_climb_by_rules_for_everybody() {
    let (origin, list) = (Origin::plain(), list());
    let beadle = start_with_list(
        &origin,
        &list,
        "- { user_agents: [\"*\"], disallow: [/private/] }",
        "mode: ladder, ladder: { min_violations: 2, throttle: 1/1h }, breaker: \"off\"",
    );
    for _ in 0..12 {
        assert_eq!(get_from(&beadle, "66.249.64.3", "/private/x", "ListBot/1.0").status, 200);
    }
    let steps =
        || beadle.metric("beadle_ladder_steps_total{direction=\"up\",site=\"site.example\"}");
    assert_eq!(steps(), 0.0);
    // Who only borrows its name does, and so does who hides among names.
    let borrowed = || get_from(&beadle, "8.8.8.8", "/private/x", "ListBot/1.0").status;
    let borrowed: Vec<u16> = (0..6).map(|_| borrowed()).collect();
    assert_eq!(borrowed, [200, 200, 200, 200, 403, 403]);
    let crowd: Vec<String> = (0..12).map(|number| format!("Crowd{number}Bot/1.0")).collect();
    assert_eq!(
        statuses(&beadle, "/private/x", &crowd.join(" "), 6),
        [200, 200, 200, 200, 403, 403]
    );
    assert_eq!(steps(), 4.0);
}

/// Serves a list of the addresses of a search engine.
fn list() -> Origin {
    Origin::playing(|exchange| {
        let prefixes = br#"{"prefixes":[{"ipv4Prefix":"66.249.64.0/27"}]}"#;
        exchange.answer("200 OK", &["Content-Type: application/json"], prefixes);
        After::Keep
    })
}

/// A site with one group, and a search engine ListBot whose addresses are known.
fn start_with_list(origin: &Origin, list: &Origin, group: &str, enforcement: &str) -> Beadle {
    let site = format!(
        "    robots_txt:\n      groups:\n        {group}\n    enforcement: {{ {enforcement} }}\n"
    );
    let sections = format!(
        "crawlers:\n  - {{ product_token: ListBot, operator: Lists, purpose: search, \
         ip_ranges: [\"http://127.0.0.1:{}/list.json\"] }}\n\
         evidence:\n  user_agents: [ListBot]\n  allow_addresses: [127.0.0.0/8]\n",
        list.port
    );
    let beadle = Setup::site(origin.port, &site)
        .sections(&sections)
        .server("  trusted_proxies: [127.0.0.1]\n")
        .start();
    beadle.wait_for_metric(
        "beadle_evidence_fetches_total{evidence=\"ip-range\",outcome=\"fresh\"}",
        1.0,
    );
    beadle
}
