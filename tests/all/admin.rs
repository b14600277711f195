//! The admin listener: metrics, and pages for health and readiness.

use std::collections::BTreeSet;

use crate::support::{
    client::{Client, Request},
    origin::Origin,
    program::{Beadle, Setup},
};

const RULES: &str = "
    robots_txt: { groups: [{ user_agents: [\"*\"], disallow: [/private/] }, { user_agents: [HouseBot, GPTBot], disallow: [/private/, /house/] }] }
    enforcement: { mode: log, overrides: [{ user_agents: [GPTBot], mode: block }] }
";

/// Every metric with its type: a contract with dashboards and alerts. A new one is added here.
const METRICS: &str = "\
beadle_breaker_open gauge
beadle_breaker_openings_total counter
beadle_claims_total counter
beadle_crawl_delay_requests_total counter
beadle_decision_duration_seconds histogram
beadle_history_lost gauge
beadle_ladder_rung gauge
beadle_ladder_steps_total counter
beadle_origin_failures_total counter
beadle_origin_invalid_robots_tag_lines_total counter
beadle_origin_robots_fetches_total counter
beadle_origin_robots_held gauge
beadle_policy_info gauge
beadle_policy_reloads_total counter
beadle_records_degraded gauge
beadle_records_dropped gauge
beadle_records_queued gauge
beadle_records_seen gauge
beadle_records_stored gauge
beadle_refusals_total counter
beadle_requests_in_flight gauge
beadle_requests_total counter
beadle_violations_total counter
";

fn traffic(beadle: &Beadle) {
    for (target, user_agent) in [
        ("/", "Mozilla/5.0 (X11; Linux x86_64) Firefox/130.0"),
        ("/private/x", "Mozilla/5.0 (X11; Linux x86_64) Firefox/130.0"),
        ("/private/x", "GPTBot/1.2"),
        ("/private/x", "GPTBot/1.2"),
        ("/private/x", "bingbot/2.0"),
        ("/private/x", "HouseBot/1.0"),
        ("/private/x", "NeverHeardOfBot/1.0"),
        ("/private/x", "AnotherUnheardBot/1.0"),
        ("/private/%2e/x", "curl/8.5.0"),
        ("//private/x", "curl/8.5.0"),
        ("/private/x", ""),
        ("/x", "GPTBot/1.2"),
        ("/robots.txt", "GPTBot/1.2"),
    ] {
        beadle.get(target, user_agent);
    }
    Request::get("/").host("unknown.example").send(beadle.port);
    Request::new("TRACE", "/").send(beadle.port);
    let mut client = Client::connect(beadle.port);
    client.write(b"GET foo:bar HTTP/1.1\r\nHost: site.example\r\n\r\n");
    client.response("GET").expect("an answer");
    beadle.signal("HUP");
    beadle.wait_for_stderr("policy unchanged");
    beadle.wait_for_metric("beadle_records_stored", 9.0);
    beadle.wait_for_metric("beadle_requests_in_flight", 0.0);
}

#[test]
fn metrics_keep_the_names_that_dashboards_use() {
    let origin = Origin::with_fields(&["Robots-Tag: no index,,"]);
    let beadle = Setup::site(origin.port, RULES).start();
    traffic(&beadle);
    let page = beadle.admin_page("/metrics");
    assert_eq!(page.status, 200);
    assert_eq!(page.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    let text = page.text();
    let types: BTreeSet<&str> =
        text.lines().filter_map(|line| line.strip_prefix("# TYPE ")).collect();
    let found: String = types.iter().map(|line| format!("{line}\n")).collect();
    // A counter without a series is not shown. Neither is a gauge for a kind of site that this
    // policy has none of.
    let may_be_missing = |line: &str| {
        let of_some_sites = ["_ladder_", "_breaker_", "_robots_held "];
        line.ends_with("counter") || of_some_sites.iter().any(|part| line.contains(part))
    };
    let counted: String = METRICS
        .lines()
        .filter(|line| found.contains(line) || !may_be_missing(line))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(found, counted);
    for (series, value) in [
        ("beadle_requests_total{action=\"pass\",class=\"browser\",site=\"site.example\"}", 2.0),
        ("beadle_requests_total{action=\"block\",class=\"crawler\",site=\"site.example\"}", 2.0),
        ("beadle_requests_total{action=\"pass\",class=\"crawler\",site=\"site.example\"}", 2.0),
        ("beadle_requests_total{action=\"log\",class=\"automation\",site=\"site.example\"}", 5.0),
        ("beadle_requests_total{action=\"log\",class=\"none\",site=\"site.example\"}", 1.0),
        ("beadle_refusals_total{reason=\"proxy.unknown_host\"}", 1.0),
        ("beadle_refusals_total{reason=\"proxy.trace\"}", 1.0),
        ("beadle_refusals_total{reason=\"proxy.ambiguous_target\"}", 1.0),
        ("beadle_policy_reloads_total{outcome=\"unchanged\"}", 1.0),
        ("beadle_records_seen", 9.0),
        ("beadle_records_stored", 9.0),
        ("beadle_records_dropped", 0.0),
        ("beadle_records_queued", 0.0),
        ("beadle_requests_in_flight", 0.0),
        ("beadle_origin_failures_total", 0.0),
        ("beadle_decision_duration_seconds_count", 13.0),
    ] {
        assert_eq!(beadle.metric(series), value, "{series}\n{text}");
    }
    let violation = |token: &str, reason: &str, action: &str| {
        beadle.metric(&format!(
            "beadle_violations_total{{action=\"{action}\",product_token=\"{token}\",\
             reason=\"{reason}\",site=\"site.example\"}}"
        ))
    };
    assert_eq!(violation("GPTBot", "robots.disallow", "block"), 2.0);
    assert_eq!(violation("bingbot", "robots.disallow", "log"), 1.0);
    assert_eq!(violation("HouseBot", "robots.disallow", "log"), 1.0, "the policy's own name");
    assert_eq!(violation("curl", "robots.disallow.evasion", "log"), 1.0);
    assert_eq!(violation("none", "robots.disallow", "log"), 1.0, "no name in the User-Agent");
    // L134: a name that a client made up never becomes a label.
    assert_eq!(violation("other", "robots.disallow", "log"), 2.0);
    assert!(!text.contains("Unheard") && !text.contains("NeverHeard"), "{text}");
    assert!(
        beadle.metric("beadle_origin_invalid_robots_tag_lines_total{site=\"site.example\"}") > 0.0
    );
}

#[test]
fn health_and_readiness_have_a_page_each() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, "").start();
    for (path, status, text) in [
        ("/healthz", 200, "ok\n"),
        ("/readyz", 200, "ready\n"),
        ("/nothing", 404, ""),
        ("/metrics/../healthz", 404, ""),
    ] {
        let answer = beadle.admin_page(path);
        assert_eq!((answer.status, answer.text().as_str()), (status, text), "{path}");
    }
    assert_eq!(Request::new("POST", "/metrics").send(beadle.admin).status, 405);
    assert!(beadle.admin_page("/").text().contains("/metrics"));
    assert_eq!(beadle.get("/metrics", "x").text(), "origin: /metrics", "that path is the origin's");
}

#[test]
fn s146_trouble_at_the_admin_listener_does_not_reach_the_proxy() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, "").start();
    // Idle connections, and bytes that are no request.
    let idle: Vec<Client> = (0..50).map(|_| Client::connect(beadle.admin)).collect();
    let mut garbage = Client::connect(beadle.admin);
    garbage.write(b"\x16\x03\x01 garbage\r\n\r\n");
    drop(garbage.rest());
    beadle.assert_healthy("garbage at the admin listener");
    assert_eq!(beadle.admin_page("/readyz").status, 200);
    drop(idle);
}
