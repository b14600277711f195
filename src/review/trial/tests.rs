//! What the tests of a policy find.

use crate::{
    base::diagnostic::Severity,
    rules::{
        enforce::{Action, Reason},
        keys,
        policy::{self, Policy},
    },
};

use super::*;

const SITES: &str = r#"
sites:
  - hosts: [www.example.com]
    origin: http://127.0.0.1:3000
    robots_txt:
      groups:
        - { user_agents: ["*"], disallow: [/private/], allow: [/private/open] }
        - { user_agents: [GPTBot], disallow: [/] }
    robots_tag: [{ paths: [/drafts/], rules: { "*": [noindex, nosnippet] } }]
    enforcement:
      mode: log
      overrides:
        - { user_agents: [GPTBot], mode: block }
        - { user_agents: [bingbot], standing: [confirmed], mode: block }
      block_confirmed_search: true
  - hosts: ["*.example.org"]
    default: true
    origin: http://127.0.0.1:3001
    robots_txt: { source: merge, groups: [{ user_agents: [CCBot], disallow: [/] }] }
  - hosts: [origin.example]
    origin: http://127.0.0.1:3002
    robots_txt: { source: origin }
violations: { database: missing.db }
"#;

fn policy(tests: &str) -> Policy {
    format!("{SITES}\ntests:\n{tests}\n").parse().expect("a policy")
}

/// The differences of each test as `key: found`.
fn differences(tests: &str) -> Vec<String> {
    let trials = run(&policy(tests)).expect("it runs");
    let each = trials.iter().map(|trial| {
        let differences = trial.differences();
        let text: Vec<_> = differences.iter().map(|d| format!("{}: {}", d.key, d.found)).collect();
        assert_eq!(trial.is_passed(), text.is_empty());
        text.join(", ")
    });
    each.collect()
}

#[test]
fn a_test_is_judged_as_a_request() {
    for (test, expected) in [
        ("product_token: GPTBot, url: /x, site: www.example.com, expect: disallow", ""),
        ("user_agent: GPTBot/1.2, url: 'https://www.example.com/x', action: block, line: 5", ""),
        ("user_agent: GPTBot/1.2, url: 'https://www.example.com/x', action: log", "action: block"),
        ("product_token: bingbot, url: 'http://www.example.com:8080/private/', line: 3", "line: 9"),
        ("product_token: bingbot, url: 'http://www.example.com/private/open', expect: allow", ""),
        ("product_token: bingbot, url: 'http://www.example.com/', line: 3", "line: "),
        (
            "user_agent: Mozilla/5.0 Firefox, url: 'http://www.example.com/private/', action: pass",
            "",
        ),
        (
            "product_token: bingbot, url: 'http://www.example.com/%70rivate/', \
             reason: robots.disallow",
            "",
        ),
        (
            "product_token: bingbot, url: 'http://www.example.com/x//..//private/', \
             reason: robots.disallow",
            "reason: robots.form",
        ),
        ("product_token: bingbot, url: /drafts/, site: www.example.com, robots_tag: ''", {
            "robots_tag: *;noindex;nosnippet"
        }),
        (
            "product_token: bingbot, url: /drafts/, site: www.example.com, \
          x_robots_tag: 'nosnippet,noindex'",
            "",
        ),
        ("product_token: bingbot, url: 'https://www.example.com/', x_robots_tag: ''", ""),
        // A path belongs to the default site; so does a host that no site names.
        ("product_token: CCBot, url: /x, expect: disallow", ""),
        ("product_token: CCBot, url: 'http://a.example.org/x', expect: disallow", ""),
        ("product_token: CCBot, url: 'http://else.example/x', expect: disallow", ""),
        ("product_token: CCBot, url: /x, site: example.org, expect: disallow", ""),
        // Nothing is known of an origin's own file.
        ("product_token: CCBot, url: 'http://origin.example/', expect: allow", ""),
    ] {
        assert_eq!(differences(&format!("  - {{ {test} }}")), [expected], "{test}");
    }
}

#[test]
fn a_standing_is_that_of_the_test() {
    let test = |standing: &str, action: &str| {
        let url = "url: 'http://www.example.com/private/'";
        differences(&format!(
            "  - {{ product_token: bingbot, {url}, {standing} action: {action} }}"
        ))
    };
    assert_eq!(test("standing: confirmed,", "block"), [""]);
    assert_eq!(test("standing: unknown,", "block"), ["action: log"]);
    assert_eq!(test("standing: contradicted,", "log"), [""]);
    assert_eq!(test("", "log"), [""]);
    // No evidence is kept here, so an address proves nothing.
    assert_eq!(test("client_ip: 192.0.2.7,", "log"), [""]);
}

#[test]
fn after_a_change_a_crawler_may_still_use_the_file_without_rules() {
    let test = |after: &str, expectation: &str| {
        let test = format!("product_token: GPTBot, url: 'http://www.example.com/x', {expectation}");
        differences(&format!("  - {{ {test}{after} }}"))
    };
    assert_eq!(test("", "reason: robots.disallow, action: block"), [""]);
    for after in ["0s", "2h", "23h"] {
        let grace = "reason: robots.disallow.grace, action: pass, expect: disallow";
        assert_eq!(test(&format!(", after: {after}"), grace), [""], "{after}");
    }
    for after in ["24h", "25h", "8d"] {
        let violation = "reason: robots.disallow, action: block";
        assert_eq!(test(&format!(", after: {after}"), violation), [""], "{after}");
    }
}

#[test]
fn a_failure_is_a_finding_at_its_place() {
    let failing = "  - { name: closed, product_token: GPTBot, url: /x, site: www.example.com, \
                   action: log, line: 3 }\n  - { product_token: GPTBot, url: /x, expect: allow }";
    let found = findings(&policy(failing), "a.yaml");
    let texts: Vec<_> = found.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "a.yaml:26:5: warning: the test 'closed' failed: action is block, not log; line is 5, not \
          3 [policy.test_failed]\n    help: line 5 of robots.txt decides: repair the policy or the \
          test ('beadle test' shows more)"
        ]
    );
    let text = format!("{SITES}\ntest_failures: refuse\ntests:\n{failing}\n");
    let found = findings(&text.parse().expect("a policy"), "a.yaml");
    assert_eq!(found.iter().map(|one| one.severity).collect::<Vec<_>>(), [Severity::Error]);
}

#[test]
fn a_request_that_no_client_can_send_fails() {
    let test = "  - { name: odd, product_token: GPTBot, url: \"/a\\u0001\", expect: disallow }";
    let trials = run(&policy(test)).expect("it runs");
    assert!(!trials[0].is_passed() && trials[0].differences().is_empty());
    assert!(matches!(&trials[0].found, Found::Fault { fault } if fault.contains("400")));
    assert_eq!(findings(&policy(test), "a.yaml").len(), 1);
}

#[test]
fn the_words_of_a_test_are_those_of_decisions() {
    assert_eq!(keys::ACTIONS, Action::ALL.map(Action::as_str));
    // These need an earlier request, or an origin.
    let of_several = [
        Reason::TooSoon,
        Reason::Slowed,
        Reason::Limit,
        Reason::PeopleFirst,
        Reason::BreakerOpen,
        Reason::Unknown,
    ];
    let single = Reason::ALL.into_iter().filter(|reason| !of_several.contains(reason));
    let mut words: Vec<_> = single.map(Reason::as_str).collect();
    words.sort_unstable();
    let mut known = keys::REASONS.to_vec();
    known.sort_unstable();
    assert_eq!(words, known);
}

#[test]
fn a_broken_test_is_refused_with_the_repair() {
    let known = policy::built_in_catalogue();
    let nameless = known.iter().find(|crawler| !crawler.is_identifiable());
    let nameless = nameless.expect("some crawlers have no name of their own").product_token();
    for (test, part) in [
        ("url: /x, expect: allow", "product_token: GPTBot"),
        ("product_token: GPTBot, user_agent: x, url: /x, expect: allow", "remove one of the two"),
        ("product_token: GPTBt, url: /x, expect: allow", "did you mean 'GPTBot'?"),
        ("product_token: Nameless, url: /x, expect: allow", "write 'user_agent'"),
        ("product_token: GPTBot, expect: allow", "'tests[0].url' is missing"),
        ("product_token: GPTBot, url: x, expect: allow", "neither a URL nor a path"),
        ("product_token: GPTBot, url: /x", "expects nothing"),
        ("product_token: GPTBot, url: /x, expect: dissallow", "did you mean 'disallow'?"),
        ("product_token: GPTBot, url: /x, action: refuse", "one of pass, log, throttle, block"),
        (
            "product_token: GPTBot, url: /x, reason: robots.disalow",
            "did you mean 'robots.disallow'?",
        ),
        ("product_token: GPTBot, url: /x, expect: allow, site: www.exampel.com", {
            "did you mean 'www.example.com'?"
        }),
        ("product_token: GPTBot, url: 'http://www.exampel.com/', expect: allow", {
            "did you mean 'www.example.com'?"
        }),
        ("product_token: GPTBot, url: 'http://www.example.com/', site: x, expect: allow", {
            "the URL has a host"
        }),
        ("product_token: GPTBot, url: /x, expect: allow, client_ip: 1.2.3", "is not an address"),
        ("product_token: GPTBot, url: /x, expect: allow, client_ip: 1.2.3.4, standing: unknown", {
            "a standing of its own"
        }),
        ("product_token: GPTBot, url: /x, expect: allow, after: 9d", "from 0s to 8d"),
        ("product_token: GPTBot, url: /x, expect: allow, linee: 9", "did you mean 'line'?"),
        ("product_token: GPTBot, url: /x, expect: allow, line: nine", "a whole number"),
    ] {
        let sites = SITES.replace("    default: true\n", "");
        // A path needs a site there.
        let test = test.replace("Nameless", nameless.as_str());
        let test = test.replace("url: /x", "url: /x, site: www.example.com");
        let test =
            test.replace(", site: www.example.com, expect: allow, site:", ", expect: allow, site:");
        let text = format!("{sites}\ntests:\n  - {{ {test} }}\n");
        let (read, findings) = policy::read("a.yaml", text.as_bytes());
        assert!(read.is_none(), "{test}");
        let texts: Vec<_> = findings.iter().map(ToString::to_string).collect();
        assert!(texts.iter().any(|text| text.contains(part)), "{test}: {texts:?}");
    }
    let sites = SITES.replace("    default: true\n", "");
    let text =
        format!("{sites}\ntests:\n  - {{ product_token: GPTBot, url: /x, expect: allow }}\n");
    let (_, findings) = policy::read("a.yaml", text.as_bytes());
    let has_repair = |help: &String| help.starts_with("add 'site', one of www.example.com");
    assert!(findings.iter().filter_map(|one| one.help.as_ref()).any(has_repair), "{findings:?}");
    let text = format!("{SITES}\ntest_failures: enforce\ntests: nothing\n");
    let (_, findings) = policy::read("a.yaml", text.as_bytes());
    let texts: Vec<_> = findings.iter().map(ToString::to_string).collect();
    assert!(texts.iter().any(|text| text.contains("write one of warn, refuse")), "{texts:?}");
    assert!(texts.iter().any(|text| text.contains("'test_failures: refuse' lets")), "{texts:?}");
}
