//! Origins of a site as a policy writes them.

use super::*;
use crate::rules::policy::{self, Policy};

fn policy(site: &str) -> String {
    format!("sites:\n  - hosts: [a.example]\n{site}")
}

fn read(site: &str) -> Policy {
    policy(site).parse().expect(site)
}

const URL: &str = "http://127.0.0.1:3000";

#[test]
fn an_origin_is_a_url_a_list_or_a_mapping() {
    let one = |origin: &str| {
        let policy = read(&format!("    origin: {origin}\n"));
        (policy.sites[0].backend.urls(), policy.sites[0].reading)
    };
    assert_eq!(one(URL), (URL.to_owned(), Reading::default()));
    assert_eq!(one(&format!("['{URL}']")), one(URL));
    assert_eq!(one(&format!("{{ url: '{URL}' }}")), one(URL));
    assert_eq!(one(&format!("{{ urls: ['{URL}'] }}")), one(URL));
    let found = one(&format!("{{ url: '{URL}', case_insensitive: true, decode_depth: 2 }}"));
    assert_eq!(found.1, Reading { case_insensitive: true, decode_depth: 2, ..Reading::default() });
    let two = "http://a.internal:1, http://b.internal:1";
    let several = "['http://a.internal:1', 'http://b.internal:1']";
    assert_eq!(one(several).0, two);
    assert_eq!(one(&format!("{{ urls: {several}, balance: least-connections }}")).0, two);
}

#[test]
fn forms_are_all_those_of_a_list_or_what_a_probe_finds() {
    let site = |origin: &str| {
        let policy = read(&format!("    origin: {{ url: '{URL}', {origin} }}\n"));
        let site = &policy.sites[0];
        (site.forms(), site.reading.steps, site.backend.probe_path.clone())
    };
    let path = Some("/docs/start".to_owned());
    assert_eq!(site(""), ("all".to_owned(), Steps::ALL, None));
    assert_eq!(site("forms: all, probe_path: /docs/start"), ("all".to_owned(), Steps::ALL, path));
    let (forms, steps, path) = site("forms: probe, probe_path: /docs/start");
    assert_eq!((&*forms, steps, path.as_deref()), ("probe", Steps::ALL, Some("/docs/start")));
    let merged = Steps::NONE.with(Steps::MERGE_SLASHES);
    assert_eq!(site("forms: merge_slashes"), ("merge_slashes".to_owned(), merged, None));
    let two = site("forms: [trim_dots, merge_slashes]");
    assert_eq!(two, ("merge_slashes, trim_dots".to_owned(), merged.with(Steps::TRIM_DOTS), None));
    assert_eq!(site("forms: []"), (String::new(), Steps::NONE, None));
    assert_eq!(crate::rules::keys::STEPS, Steps::NAMED.map(|(name, _)| name));
}

#[test]
fn health_and_balance_have_defaults() {
    let backend = |origin: &str| read(&format!("    origin: {origin}\n")).sites[0].backend.clone();
    let plain = backend(URL);
    let health = Health { failures: 3, pause: Duration::from_secs(10), check: None };
    assert_eq!((plain.balance, &plain.health), (Balance::RoundRobin, &health));
    assert!(plain.via && plain.rewrite_location && !plain.underscore_fields);
    let set = backend(&format!(
        "{{ url: '{URL}', balance: least-connections, health: {{ path: /up, failures: 2 }} }}"
    ));
    assert_eq!(set.balance, Balance::LeastConnections);
    let seconds = Duration::from_secs;
    let check = HealthCheck { path: "/up".to_owned(), interval: seconds(5), timeout: seconds(2) };
    assert_eq!(set.health, Health { failures: 2, pause: seconds(10), check: Some(check) });
}

#[test]
fn a_site_has_time_limits_over_those_of_the_server() {
    let limits = |site: &str| {
        let text = format!(
            "server: {{ timeouts: {{ origin_connect: 2s, origin_read: 9s }} }}\n{}",
            policy(&format!("    origin: {URL}\n{site}"))
        );
        text.parse::<Policy>().expect(site).sites[0].backend.timeouts
    };
    let seconds = Duration::from_secs;
    let of_server = Timeouts {
        origin_connect: seconds(2),
        origin_read: seconds(9),
        origin_write: seconds(60),
        tunnel_idle: seconds(3_600),
        ..Timeouts::default()
    };
    assert_eq!(limits(""), of_server);
    let own = limits("    timeouts: { origin_read: 5m, tunnel_idle: 1d }\n");
    assert_eq!(
        own,
        Timeouts { origin_read: seconds(300), tunnel_idle: seconds(86_400), ..of_server }
    );
}

#[test]
fn via_is_a_hint_where_the_origin_is_nginx() {
    for (site, is_hinted) in [
        ("", false),
        ("decode_depth: 2", true),
        ("decode_depth: 2 }\n    via: false #", false),
        ("decode_depth: 2 }\n    via: true #", false),
    ] {
        let text = policy(&format!("    origin: {{ url: '{URL}', {site} }}\n"));
        let (read, findings) = policy::read("test.yaml", text.as_bytes());
        assert!(read.is_some(), "{findings:?}");
        let hints = findings.iter().filter(|one| one.code == "policy.via");
        assert_eq!(hints.count(), usize::from(is_hinted), "{site}");
    }
}

#[test]
fn what_is_no_set_of_origins_is_refused() {
    for (origin, message) in [
        ("[]", "0 origins"),
        ("['http://a:1', 'http://A:1/']", "http://a:1 stands here twice"),
        ("['http://a:1', 'https://b:1']", "origins with and without TLS"),
        ("['http://a:1', 'a:2']", "'a:2' is not an origin"),
        ("{ url: 'http://a:1', urls: ['http://b:1'] }", "beside 'url'"),
        ("{ url: 'http://a:1', health: { path: up } }", "no path"),
        ("{ url: 'http://a:1', forms: probe }", "'sites[0].origin.probe_path' is missing"),
        ("{ url: 'http://a:1', forms: [merge_slash] }", "unknown value 'merge_slash'"),
        ("{ url: 'http://a:1', probe_path: /docs/ }", "'/docs/' is no page below a folder"),
        ("{ url: 'http://a:1', probe_path: /start }", "'/start' is no page below a folder"),
        ("{ balance: round-robin }", "'sites[0].origin.url' is missing"),
    ] {
        let text = policy(&format!("    origin: {origin}\n"));
        let (read, findings) = policy::read("test.yaml", text.as_bytes());
        assert!(read.is_none(), "{origin}");
        let found: Vec<_> = findings.iter().map(|one| one.message.as_str()).collect();
        assert!(found.iter().any(|one| one.contains(message)), "{origin}: {found:?}");
    }
}
