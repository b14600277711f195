//! The breaker opens, and closes by itself.

use serde_json::json;

use crate::support::{
    BROWSER,
    client::Request,
    origin::Origin,
    program::{Beadle, Setup},
};

const GPTBOT: &str = "GPTBot/1.2 (+https://openai.com/gptbot)";

fn statuses(beadle: &Beadle, target: &str, user_agent: &str, count: usize) -> Vec<u16> {
    (0..count).map(|_| beadle.get(target, user_agent).status).collect()
}

/// The status of a violation by one of many crawlers, each with a network of its own.
fn violation(beadle: &Beadle, number: u32) -> u16 {
    let request = Request::get("/private/x").user_agent(&format!("Wild{number}Bot/1.0"));
    request.field("X-Forwarded-For", format!("203.0.{number}.7")).send(beadle.port).status
}

#[test]
fn the_breaker_opens_when_too_many_would_be_refused_and_closes_by_itself() {
    let origin = Origin::plain();
    let breaker = "{ share: 50%, min_requests: 10, window: 60s, pause: 5s }";
    let site = format!(
        "    robots_txt: {{ groups: [{{ user_agents: [\"*\"], disallow: [/private/] }}] }}\n    \
         enforcement: {{ mode: block, breaker: {breaker} }}\n"
    );
    let beadle = Setup::site(origin.port, &site).server("  trusted_proxies: [127.0.0.1]\n").start();
    let open = "beadle_breaker_open{site=\"site.example\"}";
    assert!(
        beadle.admin_page("/metrics").text().contains(&format!("{open} 0")),
        "shown from the start"
    );
    // Requests of browsers count too: while they are the majority, refusals are intended.
    assert_eq!(statuses(&beadle, "/page", BROWSER, 12), [200; 12]);
    // One crawler does not open it, however often it comes.
    assert_eq!(statuses(&beadle, "/private/x", GPTBOT, 300), [403; 300]);
    assert_eq!(beadle.metric(open), 0.0);
    // A fifth of the refusals that open it counts: two. Ten other crawlers come once.
    let refused: Vec<u16> = (0..9).map(|number| violation(&beadle, number)).collect();
    assert_eq!(refused, [403; 9]);
    assert_eq!(violation(&beadle, 9), 200, "12 of 24");
    assert_eq!(beadle.get("/private/x", GPTBOT).status, 200, "the breaker is open");
    assert_eq!(beadle.metric(open), 1.0);
    let openings = "beadle_breaker_openings_total{reason=\"share\",site=\"site.example\"}";
    assert_eq!(beadle.metric(openings), 1.0);
    beadle.wait_for_stderr(
        "12 of 24 requests in 60 s would be refused, of 11 crawlers from 11 networks, most of \
         GPTBot, wild0bot",
    );
    let stderr = beadle.stderr();
    let alarm = stderr.lines().find(|line| line.contains("breaker opened"));
    assert!(alarm.is_some_and(|line| line.contains("ERROR")), "{stderr}");
    let spared = &beadle.records(311)[310];
    assert_eq!(
        [&spared["action"], &spared["reason"], &spared["verdict"], &spared["status"]],
        [&json!("log"), &json!("breaker.open"), &json!("disallow"), &json!(200)]
    );
    // It closes without a request, and counts from zero.
    beadle.wait_for_metric(open, 0.0);
    beadle.wait_for_stderr("breaker closed");
    assert_eq!(beadle.get("/private/x", GPTBOT).status, 403);
}
