//! What a crawler's behaviour brings it: a pace, and a place on the ladder.

use std::{
    thread::sleep,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::support::{
    BROWSER,
    client::{Request, Response},
    origin::{After, Origin},
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
fn a_crawler_that_comes_too_soon_is_told_when_to_come_over_all_its_addresses() {
    let origin = Origin::plain();
    let beadle = start(&origin, "mode: throttle");
    let began = Instant::now();
    let mut refused = Vec::new();
    for number in 0_u32..15 {
        let address = ["192.0.2.7", "198.51.100.9"][number as usize % 2];
        let answer = get_from(&beadle, address, "/page", BINGBOT);
        match answer.status {
            200 => {}
            429 => refused.push(answer),
            other => panic!("{other}"),
        }
        let next = Duration::from_millis(200) * (number + 1);
        sleep(next.saturating_sub(began.elapsed()));
    }
    // Three at once, then one each 900 ms.
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
    // Who waits as it was told is let in, and robots.txt is open to everybody all the time.
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
fn neither_a_polite_crawler_nor_one_that_promised_nothing_is_ever_throttled() {
    let origin = Origin::plain();
    let beadle = start(&origin, "mode: throttle");
    // Each sends by its own clock; the network delivers up to 200 ms early or late.
    let (began, jitters) = (Instant::now(), [200, 390, 0, 310, 90, 400, 10, 220_u64]);
    for (second, jitter) in (0..).zip(jitters) {
        let at = Duration::from_millis(second * 1_000 + jitter);
        // A second that was missed on a slow machine is not made up for.
        if began.elapsed() > at + Duration::from_millis(200) {
            continue;
        }
        sleep(at.saturating_sub(began.elapsed()));
        let address = if second % 2 == 0 { "192.0.2.7" } else { "198.51.100.9" };
        assert_eq!(get_from(&beadle, address, "/page", BINGBOT).status, 200, "after {second} s");
        assert_eq!(statuses(&beadle, "/page", GOOGLEBOT, 5), [200; 5]);
    }
    assert_eq!(measured(&beadle, "broken"), 0.0);
}

#[test]
fn other_modes_only_count_who_comes_too_soon() {
    let origin = Origin::plain();
    for (enforcement, on_page, on_private) in [
        ("mode: log", 200, 200),
        ("mode: block", 200, 403),
        ("mode: throttle, crawl_delay: log", 200, 200),
    ] {
        let mut beadle = start(&origin, enforcement);
        assert_eq!(statuses(&beadle, "/page", BINGBOT, 12), [on_page; 12], "{enforcement}");
        assert_eq!(beadle.get("/private/x", BINGBOT).status, on_private, "{enforcement}");
        assert!(measured(&beadle, "broken") >= 6.0, "{enforcement}");
        assert!(measured(&beadle, "kept") >= 3.0, "{enforcement}");
        beadle.stop();
        let records = beadle.log();
        assert_eq!(records.len(), 1, "the violation only: {records:?}");
    }
}

#[test]
fn a_redirect_that_is_followed_at_once_costs_a_polite_crawler_nothing() {
    let origin = Origin::playing(|exchange| {
        match exchange.request.target.ends_with(b"/") {
            true => exchange.answer("200 OK", &[], b"here"),
            false => exchange.answer("301 Moved Permanently", &["Location: /there/"], b""),
        }
        After::Keep
    });
    let beadle = start(&origin, "mode: throttle");
    // Each page takes two requests: without what redirects make up for, the fourth would be refused.
    for second in 0..5 {
        let began = Instant::now();
        assert_eq!(beadle.get("/there", BINGBOT).status, 301, "after {second} s");
        assert_eq!(beadle.get("/there/", BINGBOT).status, 200, "after {second} s");
        sleep(Duration::from_secs(1).saturating_sub(began.elapsed()));
    }
    assert_eq!(measured(&beadle, "kept"), 10.0);
    // Who asks for redirects only gets twice as many requests as others, and no more.
    let began = Instant::now();
    let answers = statuses(&beadle, "/there", BINGBOT, 40);
    let passed = answers.iter().filter(|status| **status == 301).count();
    let most = 2 * (3 + began.elapsed().as_millis() as usize / 900 + 1);
    assert!(passed <= most, "{passed} passed, not {most}: {answers:?}");
}

#[test]
fn a_violation_that_comes_too_soon_is_recorded_with_the_rule_that_it_broke() {
    let origin = Origin::plain();
    let beadle = start(&origin, "mode: throttle");
    let answers = statuses(&beadle, "/private/x", BINGBOT, 12);
    let records = beadle.records(answers.len());
    let record = records.iter().find(|record| record["status"] == json!(429)).expect("one");
    assert_eq!(
        [&record["verdict"], &record["reason"], &record["action"]],
        [&json!("disallow"), &json!("robots.crawl_delay"), &json!("throttle")]
    );
    let robots = &record["robots"];
    assert_eq!(
        [&robots["directive"], &robots["pattern"]],
        [&json!("disallow"), &json!("/private/")]
    );
}

#[test]
fn what_comes_too_soon_in_grace_is_counted_as_grace() {
    let origin = Origin::plain();
    let beadle = start(&origin, "mode: throttle");
    beadle.replace_policy(&beadle.policy_text().replace("[/private/]", "[/private/, /page]"));
    beadle.wait_for_metric("beadle_policy_reloads_total{outcome=\"applied\"}", 1.0);
    let answers = statuses(&beadle, "/page", BINGBOT, 12);
    assert!(answers.contains(&200) && answers.contains(&429), "{answers:?}");
    let grace = "beadle_grace_total{product_token=\"bingbot\",site=\"site.example\"}";
    assert_eq!(beadle.metric(grace), 12.0);
    let record = beadle.records(1).remove(0);
    assert_eq!(
        [&record["verdict"], &record["status"], &record["robots"]["pattern"]],
        [&json!("disallow"), &json!(429), &json!("/page")]
    );
}

#[test]
fn each_host_of_a_site_has_a_pace_of_its_own() {
    let origin = Origin::plain();
    let beadle = Setup::sites(&format!(
        "  - hosts: [site.example, www.site.example]\n    origin: http://127.0.0.1:{}\n    \
         robots_txt: {{ groups: [{{ user_agents: [\"*\"], disallow: [/private/], crawl_delay: 3600 \
         }}] }}\n    enforcement: {{ mode: throttle }}\n",
        origin.port
    ))
    .start();
    let from = |host: &str, user_agent: &str| -> Vec<u16> {
        let request = || Request::get("/page").user_agent(user_agent).host(host);
        (0..4).map(|_| request().send(beadle.port).status).collect()
    };
    for host in ["site.example", "www.site.example"] {
        assert_eq!(from(host, BINGBOT), [200, 200, 200, 429], "{host}");
    }
    // Two names at once are held to the pace of the one that promised it.
    let both = "bingbot/2.0 GPTBot/1.2";
    assert_eq!(from("site.example", both), [429; 4]);
    assert_eq!(from("site.example", "AhrefsBot/7.0 GPTBot/1.2"), [200, 200, 200, 429]);
}

#[test]
fn explain_tells_the_pace_and_the_rung() {
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

/// Coming down takes a minute at least: the tests of the ladder itself walk through that.
#[test]
fn a_crawler_that_goes_on_violating_climbs_from_observe_to_throttle_to_block() {
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
    // Most of what it asks for it may have: 4 of 8 are not enough.
    for _ in 0..4 {
        assert_eq!(beadle.get("/page", GPTBOT).status, 200);
        assert_eq!(beadle.get("/private/x", GPTBOT).status, 200);
    }
    assert_eq!(of_gptbot(), 0.0);
    // 6 of 10 are.
    assert_eq!(statuses(&beadle, "/private/x", GPTBOT, 2), [200; 2]);
    assert_eq!(of_gptbot(), 1.0);
    beadle.wait_for_stderr("6 of its 10 requests within 3600 s violated the rules");
    // On the rung throttle three may come at once, and then one a minute.
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
    // Who is told to wait and goes on violating is refused at last: 8 of 13 are more than 60 %.
    assert_eq!(statuses(&beadle, "/private/x", GPTBOT, 8), [429; 8]);
    assert_eq!(beadle.get("/private/x", GPTBOT).status, 403);
    assert_eq!(of_gptbot(), 2.0);
    assert_eq!(
        beadle.metric("beadle_ladder_steps_total{direction=\"up\",site=\"site.example\"}"),
        2.0
    );
    let steps = wait_for("both steps on standard error", || {
        let stderr = beadle.stderr();
        let steps = stderr.lines().filter(|line| line.contains("a crawler climbs"));
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
    // An override decides instead of the ladder; robots.txt and people are never in question.
    assert_eq!(statuses(&beadle, "/private/x", CLAUDEBOT, 10), [200; 10]);
    assert_eq!(statuses(&beadle, "/robots.txt", GPTBOT, 5), [200; 5]);
    assert_eq!(statuses(&beadle, "/private/x", BROWSER, 5), [200; 5]);
    // A reload forgets nobody; one that takes the ladder away does.
    beadle.replace_policy(
        &beadle.policy_text().replace("mode: ladder,", "block: { status: 451 }, mode: ladder,"),
    );
    beadle.wait_for_metric("beadle_policy_reloads_total{outcome=\"applied\"}", 1.0);
    assert_eq!(beadle.get("/private/x", GPTBOT).status, 451);
    beadle.replace_policy(&beadle.policy_text().replace("mode: ladder,", "mode: log,"));
    beadle.wait_for_metric("beadle_policy_reloads_total{outcome=\"applied\"}", 2.0);
    assert_eq!((beadle.get("/private/x", GPTBOT).status, of_gptbot()), (200, 0.0));
}
