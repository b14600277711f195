//! Pace and ladder: how fast a crawler may come, and how it climbs by violations.

use std::{
    thread::sleep,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::support::{
    BROWSER,
    client::{Request, Response},
    origin::Origin,
    program::{Beadle, Setup, json_lines},
    wait_for,
};

const BINGBOT: &str = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)";
const GOOGLEBOT: &str = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";
const GPTBOT: &str = "GPTBot/1.2 (+https://openai.com/gptbot)";
const CLAUDEBOT: &str = "ClaudeBot/1.0 (+claudebot@anthropic.com)";

const RULES: &str = "
    robots_txt:
      groups:
        - { user_agents: [\"*\"], disallow: [/private/], crawl_delay: 1 }
";

fn start(origin: &Origin, enforcement: &str) -> Beadle {
    let site = format!("{RULES}    enforcement: {{ {enforcement} }}\n");
    Setup::site(origin.port, &site).server("  trusted_proxies: [127.0.0.1]\n").start()
}

fn get_from(beadle: &Beadle, address: &str, target: &str, user_agent: &str) -> Response {
    let request = Request::get(target).user_agent(user_agent);
    request.field("X-Forwarded-For", address).send(beadle.port)
}

fn statuses(beadle: &Beadle, target: &str, user_agent: &str, count: usize) -> Vec<u16> {
    (0..count).map(|_| beadle.get(target, user_agent).status).collect()
}

fn measured(beadle: &Beadle, outcome: &str) -> f64 {
    beadle.metric(&format!(
        "beadle_crawl_delay_requests_total{{outcome=\"{outcome}\",product_token=\"bingbot\",site=\"site.example\"}}"
    ))
}

// === the pace

#[test]
fn a_crawler_that_is_too_fast_gets_429_over_all_addresses_of_a_network() {
    let origin = Origin::plain();
    let beadle = start(&origin, "mode: throttle");
    let began = Instant::now();
    let mut refused = Vec::new();
    for number in 0_u32..15 {
        let address = ["192.0.2.7", "192.0.2.99"][number as usize % 2];
        let answer = get_from(&beadle, address, "/page", BINGBOT);
        match answer.status {
            200 => {}
            429 => refused.push(answer),
            other => panic!("{other}"),
        }
        let next = Duration::from_millis(200) * (number + 1);
        sleep(next.saturating_sub(began.elapsed()));
    }
    // Three at once, then one every 900 ms.
    let most = 3 + began.elapsed().as_millis() / 900 + 1;
    let passed = origin.received().len();
    assert!((3..=most as usize).contains(&passed), "{passed} passed, not {most}");
    assert_eq!(refused.len() + passed, 15);
    let answer = refused.last().expect("some were refused");
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert_eq!(answer.header("vary"), Some("User-Agent"));
    let said = "The rules ask for 1 request every 1 s:\n  Crawl-delay: 1\n  (line ";
    assert!(answer.text().contains(said), "{}", answer.text());
    // A crawler that waits is served. robots.txt and browsers are never throttled.
    sleep(Duration::from_secs(1));
    assert_eq!(beadle.get("/page", BINGBOT).status, 200);
    assert_eq!(statuses(&beadle, "/robots.txt", BINGBOT, 20), [200; 20]);
    assert_eq!(statuses(&beadle, "/page", BROWSER, 10), [200; 10]);
    let records = beadle.records(refused.len());
    let record = records.last().expect("a record");
    let id = record["id"].as_str().expect("text");
    assert!(answer.text().contains(id), "{id}: {}", answer.text());
    let robots_txt = beadle.get("/robots.txt", BROWSER).text();
    let line = 1 + robots_txt.lines().position(|line| line == "Crawl-delay: 1").expect("it");
    for (field, value) in [
        ("verdict", json!("allow")),
        ("reason", json!("robots.crawl_delay")),
        ("action", json!("throttle")),
        ("status", json!(429)),
        ("product_token", json!("bingbot")),
    ] {
        assert_eq!(record[field], value, "{record}");
    }
    let robots = &record["robots"];
    assert_eq!(
        (&robots["directive"], &robots["pattern"], &robots["line"], &robots["group"]),
        (&json!("crawl-delay"), &json!("1"), &json!(line), &json!(["*"]))
    );
    assert_eq!(measured(&beadle, "broken"), refused.len() as f64);
    assert_eq!(measured(&beadle, "kept"), (passed + 1) as f64);
    let throttled = "{action=\"throttle\",class=\"crawler\",site=\"site.example\"}";
    beadle.wait_for_metric(&format!("beadle_requests_total{throttled}"), refused.len() as f64);
    let listed = beadle.verb(&["violations", "--action", "throttle", "--format", "json"]);
    assert_eq!(json_lines(&listed).len(), refused.len());
}

#[test]
fn a_polite_crawler_behind_five_redirects_never_gets_429() {
    let moved = "HTTP/1.1 301 Moved Permanently\r\nLocation: /next\r\nContent-Length: 0\r\n\r\n";
    let origin = Origin::answering(moved);
    let beadle = start(&origin, "mode: throttle");
    // One page each second, and five more requests that follow its redirects.
    for _ in 0..4 {
        assert_eq!(statuses(&beadle, "/page", BINGBOT, 6), [301; 6]);
        sleep(Duration::from_secs(1));
    }
    assert_eq!(measured(&beadle, "broken"), 0.0);
    // A stranger under its name uses up its own pace.
    let stranger = || get_from(&beadle, "198.51.100.9", "/page", BINGBOT).status;
    let refused = (0..120).filter(|_| stranger() == 429).count();
    assert!(refused > 0, "it is much too fast");
    assert_eq!(get_from(&beadle, "192.0.2.7", "/page", BINGBOT).status, 301);
}

#[test]
fn fresh_invented_names_are_refused_together() {
    let origin = Origin::plain();
    let beadle = start(&origin, "mode: ladder, ladder: { throttle: 1/1s }");
    let fresh = |number: u32| format!("Fresh{number}Bot/1.0 (+https://fresh.example)");
    let refused =
        (0..300).filter(|number| beadle.get("/private/x", &fresh(*number)).status == 403).count();
    assert_eq!(refused, 280, "twenty climb to block");
    assert_eq!(get_from(&beadle, "192.0.2.7", "/private/x", &fresh(1)).status, 200);
    assert_eq!(beadle.metric("beadle_breaker_open{site=\"site.example\"}"), 0.0);
}

#[test]
fn explain_shows_the_pace_and_the_rung() {
    let origin = Origin::plain();
    let explained = |enforcement: &str, user_agent: &str| -> Value {
        let beadle = start(&origin, enforcement);
        let output = beadle.verb(&["explain", "--format", "json", "-A", user_agent, "/private/x"]);
        let row = json_lines(&output).remove(0);
        json!([row["action"], row["rung"], row["crawl_delay"], row["crawl_delay_enforced"]])
    };
    for (enforcement, user_agent, expected) in [
        ("mode: log", BINGBOT, json!(["log", null, 1.0, false])),
        ("mode: throttle", BINGBOT, json!(["log", null, 1.0, true])),
        ("mode: throttle", GOOGLEBOT, json!(["log", null, null, null])),
        ("mode: ladder", BINGBOT, json!(["log", "observe", 1.0, true])),
        ("mode: ladder", GPTBOT, json!(["log", "observe", null, null])),
    ] {
        assert_eq!(explained(enforcement, user_agent), expected, "{enforcement} {user_agent}");
    }
    let beadle = start(&origin, "mode: ladder");
    assert!(beadle.stderr().contains("mode=\"ladder\""), "{}", beadle.stderr());
    let output = beadle.verb(&["explain", "-A", BINGBOT, "/page"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        text.contains(
            "  ladder    as on the rung observe, where every crawler begins; where it is now: "
        ),
        "{text}"
    );
    assert!(text.contains("  pace      1 request every 1 s (robots.txt line "), "{text}");
    let output = beadle.verb(&["explain", "-A", GPTBOT, "/page"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let none = "  pace      none: GPTBot has not said that it keeps to Crawl-delay (line ";
    assert!(text.contains(none), "{text}");
}

// === the ladder

/// A step down takes at least a minute; the unit tests of the ladder show it.
#[test]
fn a_crawler_that_keeps_violating_climbs_from_observe_to_throttle_to_block() {
    let origin = Origin::plain();
    let ladder = "mode: ladder, ladder: { min_violations: 2, share: 60%, throttle: 1/1m }, \
                  breaker: \"off\", overrides: [{ user_agents: [ClaudeBot], mode: log }]";
    let beadle = start(&origin, ladder);
    let rung = |token: &str, standing: &str| {
        let labels =
            format!("{{product_token=\"{token}\",site=\"site.example\",standing=\"{standing}\"}}");
        beadle.metric(&format!("beadle_ladder_rung{labels}"))
    };
    let of_gptbot = || rung("GPTBot", "unknown") + rung("GPTBot", "unverifiable");
    // 4 violations of 8 requests are not enough.
    for _ in 0..4 {
        assert_eq!(beadle.get("/page", GPTBOT).status, 200);
        assert_eq!(beadle.get("/private/x", GPTBOT).status, 200);
    }
    assert_eq!(of_gptbot(), 0.0);
    // 6 of 10 are enough.
    assert_eq!(statuses(&beadle, "/private/x", GPTBOT, 2), [200; 2]);
    assert_eq!(of_gptbot(), 1.0);
    beadle.wait_for_stderr("6 of its 10 requests within 3600 s violated the rules");
    // The rung throttle allows three at once and then one a minute.
    assert_eq!(statuses(&beadle, "/page", GPTBOT, 4), [200, 200, 200, 429]);
    let answer = beadle.get("/page", GPTBOT);
    assert_eq!(answer.status, 429);
    let wait = answer.header("retry-after").and_then(|text| text.parse().ok()).unwrap_or(0);
    assert!((40..=60).contains(&wait), "{wait}");
    assert!(
        answer.text().contains("so often that it may make only 1 request every 60 s"),
        "{}",
        answer.text()
    );
    let page = "/page";
    let slowed = wait_for("the record", || {
        beadle.log().into_iter().find(|record| record["path"] == json!(page))
    });
    assert_eq!(
        [&slowed["action"], &slowed["reason"], &slowed["verdict"], &slowed["status"]],
        [&json!("throttle"), &json!("ladder.throttle"), &json!("allow"), &json!(429)]
    );
    // A throttled crawler that keeps violating is blocked: 8 of 13 are more than 60 %.
    assert_eq!(statuses(&beadle, "/private/x", GPTBOT, 8), [429; 8]);
    assert_eq!(beadle.get("/private/x", GPTBOT).status, 403);
    assert_eq!(of_gptbot(), 2.0);
    assert_eq!(
        beadle.metric("beadle_ladder_steps_total{direction=\"up\",site=\"site.example\"}"),
        2.0
    );
    let steps = wait_for("both steps on standard error", || {
        let stderr = beadle.stderr();
        let steps = stderr.lines().filter(|line| line.contains("crawler moved up the ladder"));
        let steps: Vec<String> = steps.map(str::to_owned).collect();
        (steps.len() >= 2).then_some(steps)
    });
    assert_eq!(steps.len(), 2, "{steps:?}");
    for (step, (from, to)) in steps.iter().zip([("observe", "throttle"), ("throttle", "block")]) {
        for part in [
            "WARN".to_owned(),
            "product_token=\"GPTBot\"".to_owned(),
            format!("from=\"{from}\" to=\"{to}\""),
            "violated the rules".to_owned(),
        ] {
            assert!(step.contains(&part), "{part}: {step}");
        }
    }
    // An override decides instead of the ladder. robots.txt and browsers are never refused.
    assert_eq!(statuses(&beadle, "/private/x", CLAUDEBOT, 10), [200; 10]);
    assert_eq!(statuses(&beadle, "/robots.txt", GPTBOT, 5), [200; 5]);
    assert_eq!(statuses(&beadle, "/private/x", BROWSER, 5), [200; 5]);
    // A reload keeps the rungs; without a ladder in the policy they are gone.
    beadle.replace_policy(
        &beadle.policy_text().replace("mode: ladder,", "block: { status: 451 }, mode: ladder,"),
    );
    beadle.wait_for_metric("beadle_policy_reloads_total{outcome=\"applied\"}", 1.0);
    assert_eq!(beadle.get("/private/x", GPTBOT).status, 451);
    beadle.replace_policy(&beadle.policy_text().replace("mode: ladder,", "mode: log,"));
    beadle.wait_for_metric("beadle_policy_reloads_total{outcome=\"applied\"}", 2.0);
    assert_eq!((beadle.get("/private/x", GPTBOT).status, of_gptbot()), (200, 0.0));
}
