//! The section `fleet`, and fingerprints of policies of several nodes.

use super::*;
use crate::rules::policy;

const SITE: &str = "sites: [{ hosts: [a.example], origin: \"http://127.0.0.1:3\" }]";

/// The fleet, or the message and the repair of the first refusal.
fn fleet(section: &str) -> Result<Fleet, String> {
    let text = format!("fleet: {section}\n{SITE}\n");
    let (policy, findings) = policy::read("test.yaml", text.as_bytes());
    policy.and_then(|policy| policy.fleet).ok_or_else(|| {
        let first = findings.first().expect("a refused policy has findings");
        format!("{} ({})", first.message, first.help.as_deref().unwrap_or_default())
    })
}

#[test]
fn a_fleet_needs_only_the_shared_server() {
    let least = fleet("{ shared: redis://a }").unwrap();
    assert_eq!(least.shared.to_string(), "redis://a:6379/0");
    assert_eq!((least.prefix.as_str(), least.alone), ("beadle", Alone::Excuse));
    assert_eq!((least.node, least.password_file, least.ca_file), (None, None, None));
    let all = "{ shared: rediss://u@a, node: edge-1, password_file: p, ca_file: c, prefix: x, \
               alone: judge }";
    let all = fleet(all).unwrap();
    assert_eq!((all.node.as_deref(), all.prefix.as_str()), (Some("edge-1"), "x"));
    assert_eq!(all.password_file, Some(PathBuf::from("p")));
    assert_eq!((all.ca_file, all.alone), (Some(PathBuf::from("c")), Alone::Judge));
    let policy: policy::Policy = format!("{SITE}\n").parse().unwrap();
    assert_eq!(policy.fleet, None);
}

#[test]
fn a_broken_fleet_is_refused_with_the_repair() {
    for (section, part) in [
        ("{}", "'fleet.shared' is missing (write 'shared: redis://…'"),
        ("{ shared: http://a }", "not the URL of a Valkey or Redis server"),
        ("{ shared: \"redis://u:T0PSECRET@a\" }", "password_file"),
        ("{ shared: redis://a, ca_file: c }", "rediss://"),
        ("{ shared: redis://a, node: \"a b\" }", "'a b' is not a name (write at most 64"),
        ("{ shared: redis://a, node: \"\" }", "is not a name"),
        ("{ shared: redis://a, prefix: \"{x}\" }", "at most 32"),
        ("{ shared: redis://a, alone: block }", "one of excuse, judge"),
        ("{ shared: redis://a, nod: x }", "did you mean 'node'?"),
    ] {
        let refusal = fleet(section).expect_err(section);
        assert!(refusal.contains(part), "{section}: {refusal}");
        assert!(!refusal.contains("T0PSECRET"), "{refusal}");
    }
}

#[test]
fn nodes_with_the_same_rules_have_the_same_fingerprint() {
    let fingerprint = |text: &str| {
        let policy: policy::Policy = text.parse().expect(text);
        policy.fleet.expect("it has a fleet").fingerprint
    };
    let of = |text: &str| fingerprint(&format!("{text}\n{SITE}\n"));
    let first = of("fleet: { shared: redis://a, node: one }");
    for same in [
        "fleet: { shared: redis://b, node: two }",
        "# A comment.\nfleet:\n  shared: rediss://a\n  ca_file: c\n  password_file: p",
        "violations: {}\nserver: {}\nfleet: { shared: redis://a }",
    ] {
        assert_eq!(of(same).len(), 12);
        if !same.starts_with("violations") {
            assert_eq!(of(same), first, "{same}");
        }
    }
    let with = |section: &str| of(&format!("{section}\nfleet: {{ shared: redis://a }}"));
    assert_eq!(
        with("server: { listen: [127.0.0.1:1], threads: 2 }\nviolations: { database: a.db }"),
        with("violations: { database: b.db }\nserver: { listen: [127.0.0.1:2], threads: 3 }"),
    );
    for other in [
        "server: { trusted_proxies: [10.0.0.0/8] }",
        "crawlers: [{ product_token: AcmeBot }]",
        "violations: { retention: 1d }",
    ] {
        assert_ne!(with(other), first, "{other}");
    }
    assert_ne!(of("fleet: { shared: redis://a, alone: judge }"), first);
    assert_ne!(
        fingerprint(&format!("fleet: {{ shared: redis://a }}\n{SITE}\nstrict: false")),
        first
    );
}
