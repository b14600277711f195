use super::*;

#[test]
fn the_exposition_names_what_was_counted() {
    let metrics = Metrics::new();
    metrics.requests("a.example", "crawler", "block").inc();
    metrics.violation("a.example", OTHER_TOKEN, "robots.disallow", "log");
    metrics.pace("a.example", "GPTBot", false);
    metrics.ladder_step("a.example", "GPTBot", "confirmed", "up", 1);
    metrics.ladder_step("a.example", "bingbot", "confirmed", "up", 1);
    metrics.ladder_step("a.example", "bingbot", "confirmed", "down", 0);
    metrics.ladder_step("a.example", OTHER_TOKEN, "unverifiable", "up", 1);
    metrics.breaker_opened("a.example", "share");
    metrics.policy("aaa");
    metrics.policy("bbb");
    let text = metrics.exposition(RecordCounts {
        seen: 3,
        stored: 2,
        folded: 0,
        dropped: 1,
        queued: 0,
        drops: vec![("log", "store.stalled", 4)],
        degraded: vec![("log", true), ("database", false)],
        history_lost: vec![("edition", 5)],
    });
    for line in [
        r#"beadle_requests_total{action="block",class="crawler",site="a.example"} 1"#,
        r#"beadle_policy_info{fingerprint="bbb"} 1"#,
        r#"beadle_crawl_delay_requests_total{outcome="broken",product_token="GPTBot",site="a.example"} 1"#,
        r#"beadle_ladder_rung{product_token="GPTBot",site="a.example",standing="confirmed"} 1"#,
        r#"beadle_ladder_steps_total{direction="up",site="a.example"} 3"#,
        r#"beadle_breaker_openings_total{reason="share",site="a.example"} 1"#,
        r#"beadle_breaker_open{site="a.example"} 1"#,
        "beadle_records_seen 3",
        "beadle_records_dropped 1",
        "# TYPE beadle_decision_duration_seconds histogram",
    ] {
        assert!(text.contains(line), "{line} is missing in\n{text}");
    }
    assert!(!text.contains("aaa"));
    assert!(!text.contains("bingbot"), "a crawler without a rung is not shown");
    metrics.requests("b.example", "crawler", "block").inc();
    metrics.origin_robots_fetch("a.example", "rules");
    metrics.origin_robots_held("a.example", true);
    assert!(
        metrics
            .exposition(RecordCounts::default())
            .contains(r#"beadle_origin_robots_held{site="a.example"} 1"#)
    );
    metrics.forget_site("a.example");
    let text = metrics.exposition(RecordCounts::default());
    assert!(text.contains("b.example") && !text.contains("a.example"), "{text}");
}
