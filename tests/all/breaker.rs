//! The breaker opens, and closes by itself.

use serde_json::json;

use crate::support::{
    BROWSER,
    origin::Origin,
    program::{Beadle, Setup},
};

const GPTBOT: &str = "GPTBot/1.2 (+https://openai.com/gptbot)";

fn statuses(beadle: &Beadle, target: &str, user_agent: &str, count: usize) -> Vec<u16> {
    (0..count).map(|_| beadle.get(target, user_agent).status).collect()
}

#[test]
fn the_breaker_opens_when_too_many_would_be_refused_and_closes_by_itself() {
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
    // Requests of browsers count too: while they are the majority, refusals are intended.
    assert_eq!(statuses(&beadle, "/page", BROWSER, 12), [200; 12]);
    assert_eq!(statuses(&beadle, "/private/x", GPTBOT, 11), [403; 11]);
    assert_eq!(beadle.get("/private/x", GPTBOT).status, 200, "12 of 24");
    assert_eq!(beadle.get("/private/x", GPTBOT).status, 200, "the breaker is open");
    assert_eq!(beadle.metric(open), 1.0);
    let openings = "beadle_breaker_openings_total{reason=\"share\",site=\"site.example\"}";
    assert_eq!(beadle.metric(openings), 1.0);
    beadle.wait_for_stderr("12 of 24 requests in 60 s would be refused");
    let stderr = beadle.stderr();
    let alarm = stderr.lines().find(|line| line.contains("breaker opened"));
    assert!(alarm.is_some_and(|line| line.contains("ERROR")), "{stderr}");
    let spared = &beadle.records(13)[12];
    assert_eq!(
        [&spared["action"], &spared["reason"], &spared["verdict"], &spared["status"]],
        [&json!("log"), &json!("breaker.open"), &json!("disallow"), &json!(200)]
    );
    // It closes without a request, and counts from zero.
    beadle.wait_for_metric(open, 0.0);
    beadle.wait_for_stderr("breaker closed");
    assert_eq!(beadle.get("/private/x", GPTBOT).status, 403);
}
