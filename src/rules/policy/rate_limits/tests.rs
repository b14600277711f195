use std::time::Duration;

use super::*;
use crate::rules::policy::{Policy, read};

fn text(limit: &str) -> String {
    format!(
        "sites:\n  - hosts: [a.example]\n    origin: http://127.0.0.1:1\n    enforcement:\n      \
         rate_limits:\n        - {limit}\n"
    )
}

#[test]
fn a_limit_has_its_requests_and_defaults() {
    let policy: Policy =
        text("{ user_agents: [GPTBot, \"*\"], requests: 60/1m }").parse().expect("a policy");
    let limit = &policy.sites[0].enforcement.rate_limits[0];
    let pace = limit.pace.expect("requests in a time");
    assert_eq!((pace.requests(), pace.per()), (60, Duration::from_secs(60)));
    assert!(limit.all && limit.tokens.len() == 1 && limit.paths.is_empty() && !limit.together);
    assert_eq!((limit.burst, limit.concurrent, limit.mode), (1, None, PaceMode::Throttle));
    assert_eq!(limit.to_string(), "60 requests in 60 s, each crawler");
    let waits = text("{ user_agents: [GPTBot], requests: 60/1m, wait: 2500ms }");
    let policy: Policy = waits.parse().expect("a policy");
    let limit = &policy.sites[0].enforcement.rate_limits[0];
    let shown = "60 requests in 60 s, each crawler, after a wait of at most 2.5 s";
    assert_eq!(limit.to_string(), shown);
    let ends = text("{ user_agents: [GPTBot], requests: 60/1m, until: 2026-12-04T15:00:00+01:00 }");
    let policy: Policy = ends.parse().expect("a policy");
    let limit = &policy.sites[0].enforcement.rate_limits[0];
    let shown = "60 requests in 60 s, each crawler, until 2026-12-04T14:00:00Z";
    assert_eq!(limit.to_string(), shown);
    let text = text("{ user_agents: [\"*\"], concurrent: 8, together: true, paths: [/search] }");
    let policy: Policy = text.parse().expect("a policy");
    let limit = &policy.sites[0].enforcement.rate_limits[0];
    assert_eq!((limit.pace, limit.concurrent), (None, Some(8)));
    let shown = "8 requests at a time, all of them together, to some paths";
    assert_eq!(limit.to_string(), shown);
}

#[test]
fn a_bad_limit_is_an_error_with_its_repair() {
    for (limit, message, help) in [
        ("{ user_agents: [GPTBot] }", "requests' is missing", "1/10s"),
        ("{ requests: 1/10s }", "user_agents' is missing", "[set:ai]"),
        ("{ user_agents: [GPTBot], requests: 0/1m }", "'0/1m' is not a pace", "10/1m"),
        ("{ user_agents: [GPTBot], requests: 60/0s }", "'60/0s' is not a pace", "10/1m"),
        ("{ user_agents: [GPTBot], requests: 60/31d }", "more than a day", "60/1d"),
        ("{ user_agents: [GPTBot], requests: 60 }", "60 is not a pace", "10/1m"),
        ("{ user_agents: [GPTBot], requests: 60/1m, burst: 0 }", "0", "from 1 to 10000"),
        ("{ user_agents: [GPTBot], concurrent: 0 }", "0", "from 1 to 10000"),
        ("{ user_agents: [\"purpose:money\"], requests: 1/1m }", "unknown purpose", "purposes are"),
        (
            "{ user_agents: [Google-Extended], requests: 1/1m }",
            "no request has the name Google-Extended",
            "crawlers that fetch pages",
        ),
        (
            "{ user_agents: [GPTBot], requests: 1/1m, until: tomorrow }",
            "'tomorrow' is no time",
            "Z",
        ),
        (
            "{ user_agents: [GPTBot], requests: 1/1m, publish: true, until: 2026-12-04T14:00:00Z }",
            "a time that ends",
            "remove 'until'",
        ),
        ("{ user_agents: [GPTBot], requests: 1/1m, wait: 11s }", "11s", "10s"),
        (
            "{ user_agents: [GPTBot], concurrent: 2, wait: 1s }",
            "'concurrent' alone gives no turns",
            "add 'requests'",
        ),
        (
            "{ user_agents: [GPTBot], requests: 1/1m, wait: 1s, mode: log }",
            "no request waits in the mode log",
            "mode: throttle",
        ),
        ("{ user_agents: [GPTBot], requests: 1/1m, mode: block }", "block", "throttle"),
        ("{ user_agents: [GPTBot], requests: 1/1m, paths: [search] }", "'search'", "/search"),
        (
            "{ user_agents: [GPTBot], requests: 600/1m, publish: true }",
            "more than a request a second",
            "add 'burst: 10' to publish 'Request-rate: 10/1'",
        ),
        (
            "{ user_agents: [GPTBot], requests: 1/1m, paths: [/x], publish: true }",
            "no line for a limit of some paths",
            "the limit holds anyway",
        ),
        (
            "{ user_agents: [\"*\"], requests: 1/1m, together: true, publish: true }",
            "no line for a limit of all crawlers together",
            "remove 'together' or 'publish'",
        ),
        (
            "{ user_agents: [GPTBot], concurrent: 2, publish: true }",
            "no line for a limit of requests at one time",
            "the limit holds anyway",
        ),
    ] {
        let (policy, findings) = read("beadle.yaml", text(limit).as_bytes());
        assert!(policy.is_none(), "{limit}");
        let shown = format!("{findings:?}");
        assert!(shown.contains(message) && shown.contains(help), "{limit}: {shown}");
    }
    // A purpose may hold names that no request has.
    let skipped = text("{ user_agents: [\"purpose:ai-training\"], requests: 1/1m }");
    assert!(skipped.parse::<Policy>().is_ok());
}

#[test]
fn robots_txt_says_a_limit_in_whole_seconds_and_where_exact_as_a_rate() {
    for (requests, lines) in [
        ("1/10s", "Crawl-delay: 10, Request-rate: 1/10"),
        ("60/1m", "Crawl-delay: 1, Request-rate: 1/1"),
        ("40/1m", "Crawl-delay: 2"),
        ("40/1m, burst: 2", "Crawl-delay: 2, Request-rate: 2/3"),
        ("600/1m, burst: 10", "Request-rate: 10/1"),
        ("600/1m", ""),
        ("2/1d", "Crawl-delay: 43200, Request-rate: 1/43200"),
    ] {
        let policy: Policy = text(&format!("{{ user_agents: [GPTBot], requests: {requests} }}"))
            .parse()
            .expect(requests);
        let records = policy.sites[0].enforcement.rate_limits[0].records();
        let found: Vec<String> =
            records.iter().map(|one| format!("{}: {}", one.name, one.value)).collect();
        assert_eq!(found.join(", "), lines, "{requests}");
        assert!(records.iter().all(|one| one.is_limit));
    }
}

#[test]
fn nothing_is_published_beside_the_file_of_the_origin() {
    let limit = text("{ user_agents: [GPTBot], requests: 1/10s, publish: true }");
    let limit =
        limit.replace("    enforcement", "    robots_txt: { source: origin }\n    enforcement");
    let (policy, findings) = read("beadle.yaml", limit.as_bytes());
    assert!(policy.is_none());
    let finding = findings.iter().find(|one| one.code == "policy.not_published").expect("one");
    assert!(finding.help.as_deref().is_some_and(|help| help.contains("source: merge")));
}
