use super::*;
use crate::rules::policy::{self, Enforcement, Grace, Site};

fn site(rest: &str) -> (Option<Site>, Vec<&'static str>) {
    let head = "sites:\n  - hosts: [a.example]\n    origin: http://127.0.0.1:3000\n";
    let (policy, findings) = policy::read("beadle.yaml", format!("{head}{rest}").as_bytes());
    let site = policy.and_then(|policy| policy.sites.into_iter().next());
    (site, findings.into_iter().map(|finding| finding.code).collect())
}

const GROUPS: &str = "groups: [{ user_agents: [GPTBot], disallow: [/] }, \
                      { user_agents: [CCBot], disallow: [/], override: true }]";

#[test]
fn a_site_names_the_source_of_its_rules() {
    let (site, findings) = site(&format!(
        "    robots_txt: {{ source: merge, {GROUPS}, cache_window: 0s, max_age: 1s, \
         accept_full_disallow: true, vanish_after: 7d }}\n    enforcement: {{ grace: enforce }}\n"
    ));
    assert_eq!(findings, ["policy.short_cache_window"]);
    let Site { robots_txt, enforcement: Enforcement { grace, .. }, .. } = site.expect("fine");
    assert_eq!(robots_txt.source, Source::Merge);
    assert_eq!(robots_txt.overriding, [false, true]);
    assert_eq!(robots_txt.cache_window, Duration::ZERO);
    assert!(robots_txt.accept_full_disallow);
    assert_eq!(robots_txt.vanish_after, Duration::from_secs(7 * 86_400));
    assert_eq!(grace, Grace::Enforce);
}

#[test]
fn by_default_the_policy_is_the_source_and_a_day_the_window() {
    let (site, findings) = site("");
    assert_eq!(findings, ["policy.no_rules"]);
    let Site { robots_txt, enforcement, .. } = site.expect("a warning");
    assert_eq!((robots_txt.source, enforcement.grace), (Source::Policy, Grace::Count));
    assert_eq!(robots_txt.cache_window, Duration::from_secs(86_400));
    assert_eq!(robots_txt.vanish_after, Duration::from_secs(86_400));
    assert!(!robots_txt.accept_full_disallow && robots_txt.overriding.is_empty());
}

#[test]
fn settings_that_the_source_makes_idle_are_reported() {
    for (robots_txt, expected) in [
        ("source: policy", &["policy.no_rules"][..]),
        ("source: origin", &[]),
        ("source: origin, groups: [], cache_window: 7d", &[]),
        ("source: merge", &[]),
        (&format!("source: merge, {GROUPS}"), &[]),
        (&format!("source: policy, {GROUPS}"), &["policy.nothing_to_override"]),
        (&format!("source: origin, {GROUPS}"), &["policy.not_published"]),
        ("source: origin, records: [{ License: https://e.com/l }]", &["policy.not_published"]),
        ("source: both", &["policy.bad_value"]),
        ("source: merge, cache_window: 8d", &["policy.bad_value"]),
        ("source: merge, vanish_after: 8d", &["policy.bad_value"]),
        ("source: origin, vanish_after: 0s", &[]),
    ] {
        let (site, findings) = site(&format!("    robots_txt: {{ {robots_txt} }}\n"));
        assert_eq!(findings, expected, "{robots_txt}");
        let is_refused = ["policy.not_published", "policy.bad_value"];
        assert_eq!(site.is_none(), findings.iter().any(|code| is_refused.contains(code)));
    }
}

#[test]
fn an_origin_that_may_close_everything_is_no_finding() {
    let block = "    enforcement: { mode: block }\n";
    let closed = "groups: [{ user_agents: [\"*\"], disallow: [/] }]";
    let (_, findings) = site(&format!("    robots_txt: {{ source: merge, {closed} }}\n{block}"));
    assert!(findings.contains(&"policy.blocks_everybody"), "{findings:?}");
    let (site, findings) = site(&format!("    robots_txt: {{ source: origin }}\n{block}"));
    assert!(site.is_some(), "{findings:?}");
}

#[test]
fn a_sitemap_may_name_the_requested_host() {
    let sitemaps = |url: &str| {
        let (site, findings) = site(&format!("    robots_txt: {{ sitemaps: [\"{url}\"] }}\n"));
        let robots_txt = site.map(|site| site.robots_txt);
        let urls = robots_txt.map(|own| (own.file.records[0].value.clone(), own.host_sitemaps));
        urls.ok_or(findings)
    };
    let literal = |url: &str| Ok((url.to_owned(), Vec::new()));
    assert_eq!(sitemaps("https://b.example/s.xml"), literal("https://b.example/s.xml"));
    assert_eq!(sitemaps("https://b.example/{n}.xml"), literal("https://b.example/{n}.xml"));
    let url = "https://{host}/map/{host}.xml";
    let own = "https://a.example/map/a.example.xml".to_owned();
    assert_eq!(sitemaps(url), Ok((own, vec![url.to_owned()])));
    // Neither is a host: nothing replaces them.
    for url in ["https://{hostname}/s.xml", "{host}/s.xml", "https://{Host}/s.xml"] {
        let findings = sitemaps(url).expect_err(url);
        assert!(findings.contains(&"policy.bad_value"), "{url}: {findings:?}");
    }
}
