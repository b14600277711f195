use super::*;

#[test]
fn the_exposition_names_what_was_counted() {
    let metrics = Metrics::new();
    metrics.requests("a.example", "crawler", "block").inc();
    metrics.crawler_requests("a.example", NO_TOKEN, "unverifiable", "pass").inc();
    metrics.origin_failures("a.example").inc();
    metrics.policy_accepted(7);
    metrics.policy_refused();
    metrics.violation("a.example", OTHER_TOKEN, "robots.disallow", "log");
    metrics.pace("a.example", "GPTBot", false);
    metrics.ladder_step("a.example", "GPTBot", "confirmed", "up", 1);
    metrics.ladder_step("a.example", "bingbot", "confirmed", "up", 1);
    metrics.ladder_step("a.example", "bingbot", "confirmed", "down", 0);
    metrics.ladder_step("a.example", OTHER_TOKEN, "unverifiable", "up", 1);
    metrics.breaker_opened("a.example", "share");
    metrics.policy("aaa");
    metrics.policy("bbb");
    let text = metrics.exposition(|of| {
        of.seen.put(&[], 3);
        of.dropped.put(&[], 1);
        of.queued.put(&[], 0);
        of.drops.put(&["log", "store.stalled"], 4);
        of.history_lost.put(&["edition"], 5);
        of.removed.put(&["size"], 7);
        of.spool_bytes.put(&[], 512);
        of.spool_age.put(&[], 7);
        of.database_bytes.put(&[], 8192);
        of.database_max_bytes.put(&[], 16384);
    });
    let build = format!(
        "beadle_build_info{{commit=\"{}\",profile=\"{}\",version=\"{}\"}} 1",
        crate::base::version::COMMIT,
        crate::base::version::PROFILE,
        crate::base::version::NUMBER
    );
    for line in [
        r#"beadle_records_removed_total{cause="size"} 7"#,
        "beadle_spool_bytes 512",
        "beadle_spool_age_seconds 7",
        "beadle_database_bytes 8192",
        "beadle_database_max_bytes 16384",
        r#"beadle_requests_total{action="block",class="crawler",site="a.example"} 1"#,
        r#"beadle_policy_info{fingerprint="bbb"} 1"#,
        r#"beadle_crawl_delay_requests_total{outcome="broken",product_token="GPTBot",site="a.example"} 1"#,
        r#"beadle_ladder_rung{product_token="GPTBot",site="a.example",standing="confirmed"} 1"#,
        r#"beadle_ladder_steps_total{direction="up",site="a.example"} 3"#,
        r#"beadle_breaker_openings_total{reason="share",site="a.example"} 1"#,
        r#"beadle_breaker_open{site="a.example"} 1"#,
        r#"beadle_crawler_requests_total{action="pass",product_token="-",site="a.example",standing="unverifiable"} 1"#,
        r#"beadle_origin_failures_total{site="a.example"} 1"#,
        "# TYPE beadle_records_seen_total counter",
        "beadle_records_seen_total 3",
        "beadle_records_dropped_total 1",
        "# TYPE beadle_records_queued gauge",
        r#"beadle_record_drops_total{cause="store.stalled",destination="log"} 4"#,
        r#"beadle_history_lost_total{kind="edition"} 5"#,
        "beadle_policy_last_reload_successful 0",
        "beadle_policy_last_reload_success_timestamp_seconds 7",
        &build,
        "# TYPE process_resident_memory_bytes gauge",
        "# TYPE beadle_decision_duration_seconds histogram",
    ] {
        assert!(text.contains(line), "{line} is missing in\n{text}");
    }
    assert!(!text.contains("\"aaa\""));
    assert!(!text.contains("bingbot"), "a crawler without a rung is not shown");
    metrics.requests("b.example", "crawler", "block").inc();
    metrics.origin_robots_fetch("a.example", "rules");
    metrics.origin_robots_held("a.example").set(1);
    assert!(
        metrics.exposition(|_| ()).contains(r#"beadle_origin_robots_held{site="a.example"} 1"#)
    );
    metrics.forget_site("a.example");
    let text = metrics.exposition(|_| ());
    assert!(text.contains("b.example") && !text.contains("a.example"), "{text}");
}

#[test]
fn each_exposition_shows_the_counts_as_they_are() {
    let metrics = Metrics::new();
    for seen in [3, 3, 5] {
        let text = metrics.exposition(|of| of.seen.put(&[], seen));
        assert!(text.contains(&format!("\nbeadle_records_seen_total {seen}\n")), "{text}");
    }
}

#[test]
fn counts_and_states_are_read_back() {
    let metrics = Metrics::new();
    metrics.breaker_open("a.example").set(1);
    metrics.breaker_open("b.example").set(0);
    metrics.origin_robots_held("b.example").set(1);
    metrics.crawler_requests("a.example", "GPTBot", "unknown", "log").inc_by(3);
    assert_eq!(metrics.open_breakers(), ["a.example"]);
    assert_eq!(metrics.robots_in_quarantine(), ["b.example"]);
    let requests = metrics.requests_of_crawlers();
    assert_eq!(
        requests,
        [CrawlerRequests {
            site: "a.example".to_owned(),
            product_token: "GPTBot".to_owned(),
            standing: "unknown".to_owned(),
            requests: 3,
        }]
    );
    metrics.violation("a.example", "GPTBot", "robots.disallow", "log");
    metrics.impostor_violation("a.example", "Googlebot", "robots.disallow", "log");
    metrics.other_form("a.example", "CCBot", "log");
    let violations = metrics.violations_of_crawlers();
    let violations = violations.iter().map(|one| (&*one.product_token, one.is_impostor));
    assert_eq!(violations.collect::<Vec<_>>(), [("GPTBot", false), ("Googlebot", true)]);
}
