//! The policy reference has every key of the parser, and no other; its defaults are the program's.
//!
//! The program itself tells its keys: it answers an unknown key with all that it knows there.

use std::{
    collections::{BTreeMap, BTreeSet},
    process::Command,
};

use beadle::rules::policy::{self, Timeouts};

use crate::{
    page::{blocks, page},
    support::program::{PROGRAM, json_lines},
};

/// A key that no section knows.
const ODD: &str = "qqqqqqqqqqqq: 1";
const SITE: &str = "sites:\n  - hosts: [a.example]\n    origin: http://127.0.0.1:3000\n";

/// The headings of the reference, with an unknown key in each section.
fn probes() -> Vec<(&'static str, String)> {
    let top = |section: &str| format!("{section}\n{SITE}");
    let site = |key: &str| format!("{SITE}    {key}\n");
    vec![
        ("Top level", top(ODD)),
        ("`server`", top(&format!("server: {{ {ODD} }}"))),
        ("`server.listen[]`", top(&format!("server: {{ listen: [{{ {ODD} }}] }}"))),
        ("`server.admin`", top(&format!("server: {{ admin: {{ {ODD} }} }}"))),
        ("`server.decide`", top(&format!("server: {{ decide: {{ {ODD} }} }}"))),
        ("`server.listen[].tls`", top(&format!("server: {{ listen: [{{ tls: {{ {ODD} }} }}] }}"))),
        ("`server.access_log`", top(&format!("server: {{ access_log: {{ {ODD} }} }}"))),
        (
            "`server.listen[].tls.certificates[]`",
            top(&format!("server: {{ listen: [{{ tls: {{ certificates: [{{ {ODD} }}] }} }}] }}")),
        ),
        (
            "`server.listen[].tls.acme`",
            top(&format!("server: {{ listen: [{{ tls: {{ acme: {{ {ODD} }} }} }}] }}")),
        ),
        ("`server.limits`", top(&format!("server: {{ limits: {{ {ODD} }} }}"))),
        ("`server.timeouts`", top(&format!("server: {{ timeouts: {{ {ODD} }} }}"))),
        ("`violations`", top(&format!("violations: {{ {ODD} }}"))),
        (
            "`violations.clickhouse`",
            top(&format!(
                "violations: {{ database: 'clickhouse://h/d', clickhouse: {{ {ODD} }} }}"
            )),
        ),
        ("`evidence`", top(&format!("evidence: {{ {ODD} }}"))),
        ("`fleet`", top(&format!("fleet: {{ {ODD} }}"))),
        ("`alerts[]`", top(&format!("alerts: [{{ {ODD} }}]"))),
        ("`reports[]`", top(&format!("reports: [{{ {ODD} }}]"))),
        ("`email`", top(&format!("email: {{ {ODD} }}"))),
        ("`catalogue`", top(&format!("catalogue: {{ {ODD} }}"))),
        ("`catalogue.follow[]`", top(&format!("catalogue: {{ follow: [{{ {ODD} }}] }}"))),
        ("`crawlers[]`", top(&format!("crawlers: [{{ {ODD} }}]"))),
        ("`crawler_sets.*`", top(&format!("crawler_sets: {{ a: {{ {ODD} }} }}"))),
        ("`tests[]`", top(&format!("tests: [{{ {ODD} }}]"))),
        ("`sites[]`", site(ODD)),
        ("`sites[].origin`", format!("sites:\n  - hosts: [a.example]\n    origin: {{ {ODD} }}\n")),
        (
            "`sites[].origin.health`",
            format!("sites:\n  - hosts: [a.example]\n    origin: {{ health: {{ {ODD} }} }}\n"),
        ),
        ("`sites[].timeouts`", site(&format!("timeouts: {{ {ODD} }}"))),
        ("`sites[].robots_txt`", site(&format!("robots_txt: {{ {ODD} }}"))),
        (
            "`sites[].robots_txt.groups[]`",
            site(&format!("robots_txt: {{ groups: [{{ {ODD} }}] }}")),
        ),
        ("`sites[].robots_tag[]`", site(&format!("robots_tag: [{{ {ODD} }}]"))),
        ("`sites[].preferences[]`", site(&format!("preferences: [{{ {ODD} }}]"))),
        ("`sites[].enforcement`", site(&format!("enforcement: {{ {ODD} }}"))),
        (
            "`sites[].enforcement.overrides[]`",
            site(&format!("enforcement: {{ overrides: [{{ {ODD} }}] }}")),
        ),
        (
            "`sites[].enforcement.people_first`",
            site(&format!("enforcement: {{ people_first: {{ {ODD} }} }}")),
        ),
        (
            "`sites[].enforcement.rate_limits[]`",
            site(&format!("enforcement: {{ rate_limits: [{{ {ODD} }}] }}")),
        ),
        (
            "`sites[].enforcement.quiet[]`",
            site(&format!("enforcement: {{ quiet: [{{ {ODD} }}] }}")),
        ),
        ("`sites[].enforcement.block`", site(&format!("enforcement: {{ block: {{ {ODD} }} }}"))),
        ("`sites[].enforcement.ladder`", site(&format!("enforcement: {{ ladder: {{ {ODD} }} }}"))),
        ("`sites[].watch`", site(&format!("watch: {{ {ODD} }}"))),
        (
            "`sites[].enforcement.breaker`",
            site(&format!("enforcement: {{ breaker: {{ {ODD} }} }}")),
        ),
    ]
}

/// The keys that the parser knows where this policy has an unknown one.
fn known(policy: &str) -> BTreeSet<String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("beadle.yaml"), policy).expect("it is writable");
    let output = Command::new(PROGRAM)
        .args(["check", "--format", "json", "beadle.yaml"])
        .current_dir(folder.path())
        .output()
        .expect("the program can be started");
    let findings = json_lines(&output);
    let finding = findings.iter().find(|one| one["code"] == "policy.unknown_key");
    let help = finding.and_then(|one| one["help"].as_str()).unwrap_or_default();
    // However the sentence begins, the keys are what the commas part.
    let keys = help.split(", ").filter_map(|part| part.split_whitespace().last());
    let keys: BTreeSet<String> = keys.map(str::to_owned).collect();
    assert!(keys.len() >= 2, "no list of keys for\n{policy}\n{findings:?}");
    keys
}

/// A section of the reference: the keys of its table with their types, and its example.
#[derive(Debug)]
struct Section {
    keys: BTreeMap<String, String>,
    example: String,
}

/// The sections of the reference, by their headings.
fn sections(text: &str) -> BTreeMap<String, Section> {
    let parts = text.split("\n## ").skip(1);
    let section = |part: &str| {
        let (heading, rest) = part.split_once('\n')?;
        let table = rest.lines().skip_while(|line| !line.starts_with("| key | type | default |"));
        let rows = table.skip(2).take_while(|line| line.starts_with('|'));
        let keys: BTreeMap<String, String> = rows
            .map(|row| {
                let mut cells = row.trim_matches('|').split(" | ").map(str::trim);
                let key = cells.next().unwrap_or_default().trim_matches('`').to_owned();
                (key, cells.next().unwrap_or_default().to_owned())
            })
            .collect();
        let example = blocks(rest).into_iter().find(|block| block.language == "yaml");
        let example = example.map(|block| block.text.to_owned()).unwrap_or_default();
        (!keys.is_empty()).then(|| (heading.to_owned(), Section { keys, example }))
    };
    parts.filter_map(section).collect()
}

#[test]
fn every_key_of_the_policy_is_in_the_reference_and_no_other() {
    let page = page("policy.md");
    let sections = sections(&page.text);
    let probes = probes();
    for (heading, policy) in &probes {
        let Some(section) = sections.get(*heading) else { panic!("no section '## {heading}'") };
        let written: BTreeSet<String> = section.keys.keys().cloned().collect();
        assert_eq!(written, known(policy), "left: the reference, right: the program; {heading}");
        for (key, kind) in &section.keys {
            let has_example = section.example.contains(&format!("{key}:"));
            assert!(has_example, "the example of {heading} has no '{key}'");
            // A mapping has a section of its own, which must be among the probes.
            let name = heading.trim_matches('`');
            let path = if name == "Top level" { key.clone() } else { format!("{name}.{key}") };
            let is_section = kind.contains("(#")
                && !kind.contains("(#name-crawlers)")
                && !kind.contains("(records.md#");
            let found = probes.iter().any(|(other, _)| {
                let other = other.trim_matches('`');
                [path.clone(), format!("{path}[]"), format!("{path}.*")].contains(&other.to_owned())
            });
            assert!(found == is_section, "{path}: {kind}");
        }
    }
    assert_eq!(sections.len(), probes.len(), "{:?}", sections.keys());
}

#[test]
fn the_defaults_of_the_reference_are_those_of_the_program() {
    let text = page("policy.md").text;
    let Timeouts {
        client_keepalive,
        client_read,
        client_write,
        origin_connect,
        origin_read,
        origin_write,
        origin_keepalive,
        origin_lookup,
        tunnel_idle,
        drain,
    } = Timeouts::default();
    for (key, default) in [
        ("client_keepalive", client_keepalive),
        ("client_read", client_read),
        ("client_write", client_write),
        ("origin_connect", origin_connect),
        ("origin_read", origin_read),
        ("origin_write", origin_write),
        ("origin_keepalive", origin_keepalive),
        ("origin_lookup", origin_lookup),
        ("drain", drain),
    ] {
        let row = format!("| `{key}` | time | `{default:?}` |");
        assert!(text.contains(&row), "{row}");
    }
    assert_eq!(tunnel_idle.as_secs(), 3_600);
    assert!(text.contains("| `tunnel_idle` | time | `1h` |"));
    let least = "alerts: [{ url: \"https://a.example\", format: slack }]\n\
                 sites: [{ hosts: [a.example], origin: \"http://127.0.0.1:1\" }]";
    let policy: policy::Policy = least.parse().expect("a policy");
    let (robots_txt, alert) = (&policy.sites[0].robots_txt, &policy.alerts[0]);
    let days = policy.violations.retention.as_secs() / 86_400;
    let hours = robots_txt.max_age.as_secs() / 3_600;
    let window = robots_txt.cache_window.as_secs() / 3_600;
    let (violations, impostors) = (alert.violations_per_minute, alert.impostors_per_minute);
    let admin = policy.server.admin.as_ref().expect("it is on by default");
    for row in [
        format!("(#serverlisten) | `{}` |", policy.server.listen[0].address),
        format!("(#serveradmin) | `{}` |", admin.address),
        format!("| `retention` | time, `1h` to `3650d` | `{days}d` |"),
        format!(
            "| `max_size` | size, `16MiB` to `16TiB` | `{}GiB` |",
            policy.violations.max_size >> 30
        ),
        format!("| `violations_per_minute` | number | `{violations}` |"),
        format!("| `impostors_per_minute` | number | `{impostors}` |"),
        format!("| `max_age` | time, `1s` to `1d` | `{hours}h` |"),
        format!("| `cache_window` | time, `0s` to `7d` | `{window}h` |"),
    ] {
        assert!(text.contains(&row), "{row}");
    }
}

#[test]
fn every_purpose_is_in_the_reference() {
    let text = page("policy.md").text;
    for purpose in beadle::rules::crawlers::Purpose::ALL {
        assert!(text.contains(&format!("`{purpose}`")), "{purpose}");
    }
}
