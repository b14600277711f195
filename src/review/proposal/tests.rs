//! Requests of an operator as tables: the lines that the policy file gets, and what is declined.

use jiff::Timestamp;

use super::*;
use crate::{
    advice::comparison::{self, Side},
    rules::{enforce::Rulebook, policy::Mode},
};

const POLICY: &str = r#"sites:
  - hosts: [a.example]
    origin: http://127.0.0.1:1
    robots_txt:
      groups:
        - { user_agents: ["*"], allow: [/x/open], disallow: [/x/, "/*?s="] }
        - { user_agents: [Googlebot], disallow: [/g/] }
        - { user_agents: [CCBot], disallow: [/c/], crawl_delay: 5 }
  - hosts: [b.example]
    origin: http://127.0.0.1:2
    enforcement: &e { mode: log }
  - hosts: [c.example]
    origin: http://127.0.0.1:3
    enforcement: *e
tests:
  - { product_token: bingbot, url: "https://a.example/x/1", action: log }
"#;

fn proposed(site: &str, name: &str, act: Act) -> Result<Proposal, Declined> {
    let policy: Policy = POLICY.parse().expect("a policy");
    let (file, name_of_file) = (Path::new("beadle.yaml"), "beadle.yaml");
    let current = Current { file, name: name_of_file, bytes: POLICY.as_bytes(), policy: &policy };
    propose(current, &Request { site, name, act })
}

/// The lines that come in and go out.
fn lines(proposal: &Proposal) -> Vec<&str> {
    let lines = proposal.patch.lines().skip(2);
    lines.filter(|line| line.starts_with(['+', '-'])).collect()
}

fn mode(mode: Mode, path: Option<&str>) -> Act {
    Act::Mode { mode, until: None, path: path.map(str::to_owned) }
}

#[test]
fn a_request_is_a_line_of_the_policy() {
    let until = Some("2026-12-04T14:00:00Z".parse().expect("a time"));
    let limit = Act::Limit {
        requests: "60/1m".to_owned(),
        burst: Some(5),
        paths: vec!["/*?q=".to_owned(), "/x/".to_owned()],
        until,
    };
    let head = ["+    enforcement:", "+      overrides:"];
    for (name, act, expected) in [
        (
            "GPTBot",
            mode(Mode::Block, None),
            &[
                head[0],
                head[1],
                "+        - { user_agents: [GPTBot], mode: block }  # beadle block",
            ][..],
        ),
        (
            "purpose:ai-training",
            Act::Mode { mode: Mode::Off, until, path: None },
            &[
                head[0],
                head[1],
                "+        - { user_agents: [\"purpose:ai-training\"], mode: \"off\", until: \
                 2026-12-04T14:00:00Z }  # beadle block",
            ],
        ),
        (
            "bingbot",
            limit,
            &[
                head[0],
                "+      rate_limits:",
                "+        - { user_agents: [bingbot], requests: 60/1m, burst: 5, paths: [\"/*?q=\", \
                 /x/], until: 2026-12-04T14:00:00Z }  # beadle limit",
            ],
        ),
        (
            "GPTBot",
            Act::Quiet { until: None },
            &[head[0], "+      quiet:", "+        - { user_agents: [GPTBot] }  # beadle quiet"],
        ),
        (
            "*",
            Act::Quiet { until },
            &[
                head[0],
                "+      quiet:",
                "+        - { user_agents: [\"*\"], until: 2026-12-04T14:00:00Z }  # beadle quiet",
            ],
        ),
        // A crawler that leaves the group for `*` keeps its rules.
        (
            "GPTBot",
            mode(Mode::Block, Some("/y/")),
            &[
                "+        - { user_agents: [GPTBot], allow: [/x/open], disallow: [/y/, /x/, \"/*?s=\"] \
                 }  # beadle block",
                head[0],
                head[1],
                "+        - { user_agents: [GPTBot], mode: block }  # beadle block",
            ],
        ),
        // Its own group, or the group that it falls back to.
        (
            "CCBot",
            mode(Mode::Log, Some("/y/")),
            &[
                "+        - { user_agents: [CCBot], disallow: [/y/] }  # beadle block",
                head[0],
                head[1],
                "+        - { user_agents: [CCBot], mode: log }  # beadle block",
            ],
        ),
        (
            "Googlebot-Image",
            mode(Mode::Log, Some("/y/")),
            &[
                "+        - { user_agents: [Googlebot-Image], disallow: [/y/, /g/] }  # beadle block",
                head[0],
                head[1],
                "+        - { user_agents: [Googlebot-Image], mode: log }  # beadle block",
            ],
        ),
    ] {
        let proposal = proposed("a.example", name, act).expect(name);
        assert_eq!(lines(&proposal), expected);
    }
}

#[test]
fn a_closed_path_is_the_only_change_for_a_crawler_that_leaves_the_group_for_star() {
    let proposal = proposed("a.example", "GPTBot", mode(Mode::Log, Some("/y/"))).expect("a change");
    let before: Policy = POLICY.parse().expect("a policy");
    let [old, new] = [&before, &proposal.policy]
        .map(|policy| Rulebook::compile(policy, Timestamp::UNIX_EPOCH, None));
    let before = Side { policy: &before, rulebook: &old };
    let meaning = comparison::policies(before, Side { policy: &proposal.policy, rulebook: &new });
    let rows = meaning.rows.iter().map(|row| (row.path.as_deref(), row.what));
    let rows: Vec<_> = rows.collect();
    assert_eq!(rows, [(Some("/y/"), "disallowed")], "{meaning:?}");
}

#[test]
fn what_makes_no_sense_is_declined_with_the_repair() {
    let until = Some(Timestamp::UNIX_EPOCH);
    for (site, name, act, says) in [
        (
            "a.example",
            "GPTBot",
            Act::Mode { mode: Mode::Block, until, path: Some("/".to_owned()) },
            "has no end",
        ),
        ("a.example", "purpose:search", mode(Mode::Log, Some("/")), "for one crawler"),
        ("a.example", "GPTBot", Act::Nothing, "wrote nothing for GPTBot at a.example"),
        ("b.example", "GPTBot", mode(Mode::Log, Some("/")), "publishes no groups of its own"),
        ("b.example", "GPTBot", mode(Mode::Log, None), "an alias or an anchor"),
        ("c.example", "GPTBot", mode(Mode::Log, None), "an alias or an anchor"),
        ("a.example", "purpose:money", mode(Mode::Log, None), "unknown purpose"),
        // The policy's own test.
        ("a.example", "bingbot", mode(Mode::Block, None), "action is block, not log"),
    ] {
        let text = match proposed(site, name, act.clone()).expect_err(says) {
            Declined::Senseless(why) => why,
            Declined::ByHand { line, why, entry } => {
                assert!(line > 0 && entry.contains(name), "{line} {entry}");
                why
            }
            Declined::Refused(findings) => format!("{findings:?}"),
        };
        assert!(text.contains(says), "{site} {name} {act:?}: {text}");
    }
}

#[test]
fn a_row_of_the_past_is_a_sentence() {
    let row = PastRow {
        product_token: "GPTBot".to_owned(),
        requests: 1204,
        violations: 310,
        impostor_requests: 12,
        impostor_violations: 3,
        beyond_limit: Some(7),
    };
    let limit = |paths| Act::Limit { requests: "1/1m".to_owned(), burst: None, paths, until: None };
    for (row, act, expected) in [
        (
            row.clone(),
            mode(Mode::Block, None),
            "GPTBot: 1,204 requests, 310 of them violations that would be refused; 12 more of \
             impostors, 3 of them violations",
        ),
        (
            PastRow { impostor_requests: 0, ..row.clone() },
            mode(Mode::Log, None),
            "GPTBot: 1,204 requests, 310 of them violations",
        ),
        (
            PastRow { impostor_requests: 0, ..row.clone() },
            limit(Vec::new()),
            "GPTBot: 1,204 requests, at least 7 of them beyond the limit",
        ),
        (
            PastRow { impostor_requests: 0, beyond_limit: None, ..row },
            limit(vec!["/x".to_owned()]),
            "GPTBot: 1,204 requests; the counts know no paths",
        ),
        (
            PastRow { requests: 1, ..PastRow::default() },
            mode(Mode::Block, Some("/x")),
            ": 1 request; the counts don't tell which of them the new rule closes",
        ),
    ] {
        assert_eq!(row.text(&act), expected);
    }
}
