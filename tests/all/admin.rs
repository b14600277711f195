//! The admin listener: metrics, and pages for health and readiness.

use std::collections::BTreeSet;

use beadle::base::version;

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
beadle_access_log_degraded gauge
beadle_access_log_drops_total counter
beadle_access_log_lines_total counter
beadle_acme_orders_total counter
beadle_alert_attempts_total counter
beadle_alerts_lost_total counter
beadle_breaker_open gauge
beadle_breaker_openings_total counter
beadle_build_info gauge
beadle_certificate_reads_total counter
beadle_claims_total counter
beadle_clickhouse_failures_total counter
beadle_clickhouse_inserts_total counter
beadle_clickhouse_records_total counter
beadle_clickhouse_refused_rows_total counter
beadle_connections_full gauge
beadle_crawl_delay_requests_total counter
beadle_crawler_requests_total counter
beadle_database_bytes gauge
beadle_database_max_bytes gauge
beadle_decision_duration_seconds histogram
beadle_history_lost_total counter
beadle_ladder_rung gauge
beadle_ladder_steps_total counter
beadle_limited_requests_total counter
beadle_log_blocked gauge
beadle_log_drops_total counter
beadle_origin_failures_total counter
beadle_origin_faults_total counter
beadle_origin_invalid_robots_tag_lines_total counter
beadle_origin_robots_fetches_total counter
beadle_origin_robots_held gauge
beadle_origin_up gauge
beadle_other_forms_total counter
beadle_people_first_active gauge
beadle_people_first_limit gauge
beadle_people_first_requests gauge
beadle_policy_fetches_total counter
beadle_policy_info gauge
beadle_policy_last_reload_success_timestamp_seconds gauge
beadle_policy_last_reload_successful gauge
beadle_policy_reloads_total counter
beadle_put_off_requests_total counter
beadle_record_drops_total counter
beadle_records_degraded gauge
beadle_records_dropped_total counter
beadle_records_folded_total counter
beadle_records_queued gauge
beadle_records_removed_total counter
beadle_records_seen_total counter
beadle_records_stored_total counter
beadle_refusals_total counter
beadle_requests_in_flight gauge
beadle_requests_total counter
beadle_spool_age_seconds gauge
beadle_spool_bytes gauge
beadle_spool_lost_records_total counter
beadle_spool_max_bytes gauge
beadle_spool_records gauge
beadle_violations_total counter
beadle_watch_findings gauge
beadle_watch_requests_total counter
process_cpu_seconds_total counter
process_max_fds gauge
process_open_fds gauge
process_resident_memory_bytes gauge
process_start_time_seconds gauge
process_threads gauge
process_virtual_memory_bytes gauge
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
    beadle.wait_for_metric("beadle_records_stored_total", 9.0);
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
    // A counter without a series is not shown. Neither is a gauge for a kind of site or database that
    // this policy has none of.
    let may_be_missing = |line: &str| {
        let of_some_sites =
            ["_ladder_", "_breaker_", "_people_first_", "_robots_held ", "_spool_", "_watch_"];
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
        ("beadle_records_seen_total", 9.0),
        ("beadle_records_stored_total", 9.0),
        ("beadle_records_dropped_total", 0.0),
        ("beadle_records_queued", 0.0),
        ("beadle_requests_in_flight", 0.0),
        ("beadle_origin_failures_total{site=\"site.example\"}", 0.0),
        ("beadle_policy_last_reload_successful", 1.0),
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
    let other_form =
        "beadle_other_forms_total{action=\"log\",product_token=\"curl\",site=\"site.example\"}";
    assert_eq!(beadle.metric(other_form), 1.0);
    assert_eq!(violation("-", "robots.disallow", "log"), 1.0, "no name in the User-Agent");
    // L134: a name that a client made up never becomes a label.
    assert_eq!(violation("other", "robots.disallow", "log"), 2.0);
    let crawler = |token: &str, action: &str| -> f64 {
        let labels = format!("{{action=\"{action}\",product_token=\"{token}\",site=");
        let lines = text.lines().filter(|line| line.starts_with("beadle_crawler_requests_total"));
        let lines = lines.filter(|line| line.contains(&labels) && line.contains(",standing=\""));
        lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
    };
    for (token, action, count) in [
        ("GPTBot", "block", 2.0),
        ("GPTBot", "pass", 2.0),
        ("bingbot", "log", 1.0),
        ("HouseBot", "log", 1.0),
        ("curl", "log", 2.0),
        ("other", "log", 2.0),
        ("-", "log", 1.0),
    ] {
        assert_eq!(crawler(token, action), count, "{token} {action}\n{text}");
    }
    let of_crawlers = text.lines().filter(|line| line.starts_with("beadle_crawler_requests_total"));
    assert_eq!(of_crawlers.count(), 7, "nothing else, no browser among them\n{text}");
    let fields = text.lines().filter(|line| line.contains("_info{"));
    assert_eq!(fields.count(), 2, "the program and the policy");
    let build = format!(
        "beadle_build_info{{commit=\"{}\",profile=\"{}\",version=\"{}\"}} 1",
        version::COMMIT,
        version::PROFILE,
        version::NUMBER
    );
    assert!(text.contains(&build), "{text}");
    for (series, least) in [
        ("process_resident_memory_bytes", 1e6),
        ("process_start_time_seconds", 1.7e9),
        ("process_open_fds", 5.0),
        ("process_threads", 2.0),
        ("beadle_policy_last_reload_success_timestamp_seconds", 1.7e9),
    ] {
        assert!(beadle.metric(series) > least, "{series}\n{text}");
    }
    assert!(!text.contains("Unheard") && !text.contains("NeverHeard"), "{text}");
    assert!(
        beadle.metric("beadle_origin_invalid_robots_tag_lines_total{site=\"site.example\"}") > 0.0
    );
}

#[test]
fn health_and_readiness_have_a_page_each() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, "").start();
    for (path, text) in [("/healthz", "ok\n"), ("/readyz", "ready\n")] {
        let answer = beadle.admin_page(path);
        assert_eq!((answer.status, answer.text().as_str()), (200, text), "{path}");
    }
    for path in ["/nothing", "/metrics/../healthz"] {
        let answer = beadle.admin_page(path);
        assert_eq!(answer.status, 404, "{path}");
        assert!(answer.text().contains("<h1>No such page</h1>"), "{path}: {}", answer.text());
    }
    let post = Request::new("POST", "/metrics").host("localhost");
    assert_eq!(post.send(beadle.admin).status, 405);
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

#[test]
fn s146_another_host_gets_nothing_but_health() {
    let origin = Origin::plain();
    let admin = "{ address: $ADMIN, hosts: [beadle.internal, \"*.ops.example\"] }";
    let beadle = Setup::site(origin.port, "").admin(admin).start();
    let port = beadle.admin;
    let own = format!("127.0.0.1:{port}");
    for (host, status) in [
        ("localhost", 200),
        ("LocalHost:1", 200),
        ("127.0.0.1", 200),
        (own.as_str(), 200),
        ("[::1]", 200),
        ("beadle.internal", 200),
        ("Beadle.Internal.:9090", 200),
        ("prometheus.ops.example", 200),
        ("ops.example", 421),
        ("site.example", 421),
        ("evil.example:9090", 421),
        ("localhost.evil.example", 421),
        ("192.0.2.1", 421),
        ("", 421),
    ] {
        for path in ["/", "/metrics", "/nothing"] {
            let found = if path == "/nothing" && status == 200 { 404 } else { status };
            let answer = Request::get(path).host(host).send(port);
            assert_eq!(answer.status, found, "{host:?} {path}");
            assert!(status == 200 || !answer.text().contains("beadle_"), "{host:?} {path}");
        }
        for path in ["/healthz", "/readyz"] {
            assert_eq!(Request::get(path).host(host).send(port).status, 200, "{host:?} {path}");
        }
    }
    for (bytes, status) in [
        (&b"GET /metrics HTTP/1.0\r\n\r\n"[..], 421),
        (b"GET /readyz HTTP/1.0\r\n\r\n", 200),
        (b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", 421),
        (b"GET http://evil.example/metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", 421),
        (b"GET http://localhost/metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", 200),
        (b"GET http://localhost/metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n", 200),
        (b"GET /metrics HTTP/1.1\r\nHost: \xff\r\n\r\n", 421),
        (b"GET /metrics HTTP/1.1\r\nHost: a b\r\n\r\n", 421),
        (b"GET /metrics?limit=-1&since=9999 HTTP/1.1\r\nHost: localhost\r\n\r\n", 200),
        (b"POST /metrics HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 0\r\n\r\n", 421),
    ] {
        let mut client = Client::connect(port);
        client.write(bytes);
        let answer = client.head().expect("an answer").status;
        assert_eq!(answer, status, "{}", bytes.escape_ascii());
    }
    let mut client = Client::connect(port);
    let _ = client.try_write(&Request::get("/").field("X", "y".repeat(1 << 20)).bytes());
    let status = client.head().map_or(431, |answer| answer.status);
    assert_eq!(status, 431, "a large header");
}

#[test]
fn a_refused_host_learns_which_key_admits_it() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, "").start();
    let text = Request::get("/metrics").host("Beadle.internal:9090").send(beadle.admin).text();
    assert_eq!(
        text,
        "The admin listener does not answer for the host 'beadle.internal'.\n\
         To admit it, add it to server.admin.hosts in the policy, and restart Beadle.\n"
    );
    let text = Request::get("/metrics").host("a\u{202e}b").send(beadle.admin).text();
    assert_eq!(text, "'a\\u{202e}b' is not a valid host.\n");
    let long = "x".repeat(10_000);
    let text = Request::get("/metrics").host(&long).send(beadle.admin).text();
    assert!(text.contains("…(+9800 bytes)") && text.len() < 500, "{text}");
    // As the refusal says.
    let admin = "{ address: $ADMIN, hosts: [beadle.internal] }";
    let beadle = Setup::site(origin.port, "").admin(admin).start();
    let answer = Request::get("/metrics").host("Beadle.internal:9090").send(beadle.admin);
    assert_eq!(answer.status, 200);
}

#[test]
fn s146_slow_clients_of_the_admin_listener_are_few_and_short() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, "").start();
    let descriptors = || {
        let folder = format!("/proc/{}/fd", beadle.pid());
        std::fs::read_dir(folder).map_or(0, Iterator::count)
    };
    let before = descriptors();
    // Silent ones, and ones with half a request.
    let mut slow: Vec<Client> = (0..150).map(|_| Client::connect(beadle.admin)).collect();
    for client in slow.iter_mut().step_by(2) {
        client.write(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n");
    }
    beadle.assert_healthy("150 slow clients");
    assert!(descriptors() < before + 100, "{before}, then {}", descriptors());
    // The first ones are closed at their deadline, and the place is the next one's.
    for client in &mut slow[..64] {
        drop(client.rest());
    }
    drop(slow);
    assert_eq!(beadle.admin_page("/metrics").status, 200);
    // A connection that is used stays open meanwhile.
    let mut client = Client::connect(beadle.admin);
    for _ in 0..3 {
        let answer = Request::get("/readyz").host("localhost").send_over(&mut client);
        assert_eq!(answer.status, 200);
        assert!(answer.keeps_alive());
    }
    let mut off = Setup::site(origin.port, "").admin("\"off\"").spawn();
    off.wait_for_stderr("listening");
    assert!(!off.stderr().contains("admin listening"));
    off.stop();
}

#[test]
fn unfinished_forms_of_one_address_leave_places_for_checks() {
    let (origin, token) = (Origin::plain(), "correct-horse-battery");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("token");
    std::fs::write(&file, token).expect("the folder is ours");
    let admin = format!("{{ address: $ADMIN, token_file: {} }}", file.display());
    let beadle = Setup::site(origin.port, "").admin(&admin).start();
    let mut open: Vec<Client> = Vec::new();
    for _ in 0..80 {
        let mut client = Client::connect_from([127, 0, 0, 9], beadle.admin);
        // Beyond its places the address gets no connection.
        let head = "POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: \
                    application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\ntoken=";
        let _ = client.try_write(head.as_bytes());
        open.push(client);
    }
    assert_eq!(Request::get("/healthz").host("localhost").send(beadle.admin).status, 200);
    let first = open.first_mut().expect("a client");
    assert_eq!(first.response("POST").expect("an answer").status, 408);
}
