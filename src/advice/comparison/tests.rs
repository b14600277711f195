//! Policies in, rows out; and the rows held against decisions about requests.

use jiff::Timestamp;
use proptest::prelude::*;

use super::{
    row::Verdict,
    treatments::{NAMELESS, STRANGER},
    *,
};
use crate::{
    formats::robots::{self, Access, Matcher, Rule, Target},
    rules::{
        crawlers::{Crawler, Name, Outcome, Standing},
        enforce::{
            Action, Case, Knowledge, Moment, Reason, Rulebook, Site, decide, group_for, is_blank,
        },
        policy::Policy,
    },
};

fn policy(sites: &str) -> (Policy, Rulebook) {
    let text = format!("evidence: {{}}\nsites:\n{sites}");
    let policy: Policy = text.parse().unwrap_or_else(|findings| panic!("{text}{findings}"));
    let rulebook = Rulebook::compile(&policy, Timestamp::UNIX_EPOCH, None);
    (policy, rulebook)
}

fn site(hosts: &str, rest: &str) -> String {
    format!("  - hosts: [{hosts}]\n    origin: http://127.0.0.1:3000\n{rest}")
}

fn compared(before: &str, after: &str) -> Comparison {
    let (before, after) = (policy(before), policy(after));
    let side = |one: &'static (Policy, Rulebook)| Side { policy: &one.0, rulebook: &one.1 };
    policies(side(Box::leak(Box::new(before))), side(Box::leak(Box::new(after))))
}

/// The lines without the last, which says how exact they are.
fn lines(before: &str, after: &str) -> String {
    let found = compared(before, after);
    assert!(!found.is_by_sample);
    let mut lines = text(&found);
    assert!(lines.pop().is_some_and(|line| line.starts_with("exact")));
    lines.join("\n")
}

fn groups(groups: &str, rest: &str) -> String {
    site("a.example", &format!("    robots_txt: {{ groups: [{groups}] }}\n{rest}"))
}

const STAR: &str = r#"{ user_agents: ["*"], disallow: [/private/] }"#;

#[test]
fn crawlers_that_change_alike_share_their_rows() {
    let before = groups(STAR, "");
    let after = groups(
        &format!("{STAR}, {{ user_agents: [GPTBot, CCBot], disallow: [/] }}"),
        "    enforcement: { overrides: [{ user_agents: [GPTBot, CCBot], mode: block }] }\n",
    );
    assert_eq!(
        lines(&before, &after),
        "a.example
  CCBot, GPTBot
    /                            allow -> disallow (block)
        before by no rule, after by 'Disallow: /' (line 6)
    violations get               log -> block"
    );
    assert_eq!(lines(&before, &before), "no difference in meaning");
}

#[test]
fn a_mode_that_no_rule_shows_is_a_row_and_a_summary_begins_with_it() {
    let of = |enforcement: &str| {
        site("a.example", &format!("    enforcement: {{ mode: {enforcement} }}\n"))
    };
    let before = of("log");
    let after = of("log, overrides: [{ user_agents: [Bytespider], mode: block }]");
    assert_eq!(
        lines(&before, &after),
        "a.example\n  Bytespider\n    mode                         log -> block"
    );
    let summary = compared(&before, &after).summary();
    assert_eq!(summary, "Bytespider: mode log -> block");
    let climbs = compared(&before, &of("ladder")).summary();
    let of_ladder = "every client: enforcement.ladder none -> ";
    assert!(climbs.starts_with(of_ladder) && climbs.ends_with("and 2 more"), "{climbs}");
    // A rule that shows the mode needs no row beside it.
    let closed = groups(
        "{ user_agents: [Bytespider], disallow: [/] }",
        "    enforcement: { mode: throttle }\n",
    );
    let found = compared(&before, &closed);
    let of_it = |row: &&Row| row.product_tokens.iter().any(|one| one == "Bytespider");
    assert_eq!(
        found.rows.iter().filter(of_it).map(|row| row.what).collect::<Vec<_>>(),
        ["disallowed"]
    );
}

#[test]
fn a_rule_for_the_star_names_its_exceptions() {
    let before = groups(STAR, "    enforcement: { mode: log }\n");
    let overrides =
        "    enforcement: { mode: block, overrides: [{ user_agents: [AhrefsBot], mode: log }] }\n";
    let found = compared(&before, &groups(STAR, overrides));
    let rows: Vec<&Row> = found.rows.iter().collect();
    let of_star = rows.iter().find(|row| row.product_tokens.iter().any(|token| token == "*"));
    let of_star = of_star.expect("a row for the star");
    assert_eq!((of_star.what, of_star.path.as_deref()), ("blocked", Some("*")));
    assert!(of_star.except.iter().any(|token| token == "AhrefsBot"), "{:?}", of_star.except);
    // A confirmed search engine is not blocked by rules for every crawler.
    let of_search = rows.iter().find(|row| row.product_tokens.iter().any(|one| one == "Googlebot"));
    let state = of_search.map(|row| row.after.clone());
    let text = "confirmed: log, unknown: block, contradicted: block";
    assert_eq!(state, Some(State::Value(text.to_owned())));
}

#[test]
fn hosts_that_join_leave_and_move_are_rows() {
    let of_origin = site("a.example", "    robots_txt: { source: origin }\n");
    let before = of_origin.clone() + &site("e.example, b.example", "") + &site("c.example", "");
    let after = of_origin + &site("d.example, b.example", "") + &site("e.example", "");
    let found = compared(&before, &after);
    let hosts: Vec<String> = found
        .rows
        .iter()
        .filter(|row| row.what == "host")
        .map(|row| format!("{:?} {:?} {:?}", row.site.as_deref(), row.before, row.after))
        .collect();
    assert_eq!(
        hosts,
        [
            r#"Some("b.example") Value("e.example") Value("d.example")"#,
            r#"Some("c.example") Value("c.example") None"#,
            r#"Some("d.example") None Value("d.example")"#,
        ]
    );
    assert!(found.remarks.iter().any(|remark| remark.contains("is not known here")));
}

#[test]
fn paces_records_tags_and_settings_are_rows() {
    let before =
        groups(STAR, "    robots_tag: [{ paths: [/drafts/], rules: { \"*\": [noindex] } }]\n");
    let after = site(
        "a.example",
        r#"    robots_txt:
      cache_window: 6h
      sitemaps: [https://a.example/map.xml]
      groups: [{ user_agents: ["*"], disallow: [/private/], crawl_delay: 5 }]
    robots_tag:
      - { paths: ["/drafts*"], content_types: [text/html], rules: { "*": [noindex], GPTBot: [noarchive] } }
      - { paths: [/drafts/], rules: { "*": [noindex] } }
    enforcement: { mode: throttle, grace: enforce, other_forms: refuse }
"#,
    );
    let shown = lines(&before, &after);
    for line in [
        "pace                         none -> 1 request every 5 s, enforced",
        "records                      none -> Crawl-delay: 5",
        "records                      none -> Sitemap: https://a.example/map.xml",
        "/drafts tags                 none -> noindex (text/html)",
        "/drafts tags                 none -> noarchive, noindex (text/html)",
        "robots_txt.cache_window      1d -> 6h",
        "enforcement.grace            count -> enforce",
        "enforcement.other_forms      none -> refuse",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
    assert!(!shown.contains("/drafts/ tags"), "{shown}");
}

#[test]
fn times_below_a_second_are_told_apart() {
    let of = |window: &str| {
        let robots = format!("    robots_txt: {{ cache_window: {window}, groups: [{STAR}] }}\n");
        site("a.example", &robots)
    };
    let shown = lines(&of("500ms"), &of("700ms"));
    assert!(shown.contains("robots_txt.cache_window      500ms -> 700ms"), "{shown}");
}

#[test]
fn limits_are_rows_of_the_crawlers_that_they_name() {
    let enforced = |enforcement: &str| {
        let text = format!("    enforcement: {{ {enforcement} }}\n");
        groups(STAR, &text)
    };
    let before = enforced(
        r#"rate_limits: [{ user_agents: [GPTBot, CCBot], requests: 60/1m },
          { user_agents: ["*"], concurrent: 2, together: true }, { user_agents: [GPTBot], requests: 1/1s }]"#,
    );
    let after = enforced(
        r#"rate_limits: [{ user_agents: ["*"], requests: 6/1m, burst: 3, mode: log, paths: [/search, "/*?page="] },
          { user_agents: ["*"], concurrent: 2, together: true },
          { user_agents: [CCBot], requests: 1/10s, publish: true },
          { user_agents: [CCBot, GPTBot], requests: 30/1m }],
          people_first: { latency: 800ms, crawlers_at_once: 8, wait: 2s }"#,
    );
    let shown = lines(&before, &after);
    let expected = "  *
    enforcement.rate_limits      2 requests at a time, all of them together, throttle -> 2 requests at a time, all of them together, throttle; 6 requests in 60 s, each crawler, to some paths: /search, /*?page=, burst 3, log
  CCBot
    enforcement.rate_limits      none -> 1 request in 10 s, each crawler, burst 1, published, throttle
  CCBot, GPTBot
    enforcement.rate_limits      60 requests in 60 s, each crawler, burst 1, throttle -> 30 requests in 60 s, each crawler, burst 1, throttle
  GPTBot
    enforcement.rate_limits      1 request in 1 s, each crawler, burst 1, throttle -> none
  every client
    enforcement.people_first     none -> 800 ms, 5% errors, 8 crawlers at once, wait 2s, search first, status 503";
    assert!(shown.contains(expected), "{shown}");
    assert_eq!(lines(&after, &after), "no difference in meaning");
}

#[test]
fn two_files_are_compared_for_the_crawlers_that_they_name() {
    let file = |text: &str| robots::parse(text.as_bytes()).0;
    let before = file("User-agent: *\nDisallow: /a\n");
    let after = file(
        "User-agent: *\nDisallow: /a\nUser-agent: x\nDisallow: /\nUser-agent: y\nDisallow: /\n\
         Content-Signal: ai-train=no\nSitemap: https://a.example/s.xml\n",
    );
    let found = files(None, &before, &after);
    assert_eq!(
        text(&found).join("\n"),
        "x, y
  /                            allow -> disallow
      before by no rule, after by 'Disallow: /' (line 4)
y
  records                      none -> Content-Signal: ai-train=no
every client
  records                      none -> Sitemap: https://a.example/s.xml
exact: every path as sent is compared"
    );
    let row = serde_json::to_value(&found.rows[0]).expect("JSON");
    assert_eq!(
        row,
        serde_json::json!({
            "site": null, "product_tokens": ["x", "y"], "path": "/", "what": "disallowed",
            "before": { "verdict": "allow", "directive": null, "pattern": null, "line": null },
            "after": { "verdict": "disallow", "directive": "disallow", "pattern": "/", "line": 4 },
            "example": "/",
        })
    );
    assert!(files(None, &before, &before).is_empty());
}

// === rows against decisions

/// User-Agents, each with the label of its client.
const CLIENTS: [(&str, &str); 7] = [
    ("Googlebot", "Googlebot/2.1"),
    ("GPTBot", "GPTBot/1.2"),
    ("AhrefsBot", "AhrefsBot/7.0"),
    ("AcmeBot", "AcmeBot/1.0 (+https://acme.example/bot)"),
    ("ChatGPT-User", "ChatGPT-User/1.0"),
    ("*", "SomeNewBot/1.0 (+https://new.example/bot)"),
    (NAMELESS, ""),
];

fn small_policy() -> impl Strategy<Value = String> {
    let name =
        || prop::sample::select(vec!["\"*\"", "Googlebot", "GPTBot", "AcmeBot", "ChatGPT-User"]);
    let pattern = || "\"[/*][ab*]{0,3}[$]?\"";
    let patterns = || prop::collection::vec(pattern(), 0..3).prop_map(|all| all.join(", "));
    let group = (name(), patterns(), patterns()).prop_map(|(name, disallow, allow)| {
        format!("{{ user_agents: [{name}], disallow: [{disallow}], allow: [{allow}] }}")
    });
    let mode = || prop::sample::select(vec!["\"off\"", "log", "throttle", "block"]);
    let standing = || {
        prop::sample::select(vec![
            "",
            ", standing: [confirmed]",
            ", standing: [contradicted, unknown]",
        ])
    };
    let one = (name(), mode(), standing()).prop_map(|(name, mode, standing)| {
        format!("{{ user_agents: [{name}], mode: {mode}{standing} }}")
    });
    let binds =
        prop::sample::select(vec!["[crawler, automation, none]", "[crawler]", "[user-triggered]"]);
    (
        prop::collection::vec(group, 1..4),
        prop_oneof![3 => mode(), 1 => Just("ladder")],
        prop::collection::vec(one, 0..3),
        binds,
    )
        .prop_map(|(groups, mode, overrides, binds)| {
            let (groups, overrides) = (groups.join(", "), overrides.join(", "));
            site(
                "a.example",
                &format!(
                    "    robots_txt: {{ groups: [{groups}] }}\n    enforcement: {{ mode: {mode}, \
                     overrides: [{overrides}], star_binds: {binds}, allow_block_all: true }}\n"
                ),
            )
        })
}

struct Known(Outcome);

impl Knowledge for Known {
    fn moment(&self) -> Moment {
        Moment::at(Timestamp::UNIX_EPOCH)
    }

    fn standing(&self, crawler: &Crawler) -> Standing {
        match crawler.publishes_evidence() {
            true => Standing { outcome: self.0, evidence: None },
            false => Standing::UNVERIFIABLE,
        }
    }
}

/// What the decision does to a request: `allow`, `log` or `block`.
fn decided(rulebook: &Rulebook, user_agent: &str, path: &str, outcome: Outcome) -> &'static str {
    let (_, site) = rulebook.site(Some("a.example")).expect("the only site");
    let claim = rulebook.catalogue().identify(user_agent.as_bytes(), &site.names);
    let target = Target::new(path.as_bytes());
    let is_nameless = is_blank(user_agent.as_bytes());
    let case = Case { claim: &claim, is_nameless, target: &target };
    let decision = decide(site, case, &Known(outcome));
    match (decision.access, decision.action) {
        _ if decision.reason == Reason::Off => "allow",
        (Access::Allow, _) => "allow",
        (_, Action::Block) => "block",
        _ => "log",
    }
}

/// The rule that decides for a client, and whether it obeys `*`.
fn rule_for<'r>(
    rulebook: &'r Rulebook,
    site: &'r Site,
    user_agent: &str,
    path: &str,
) -> (Option<&'r Rule>, bool) {
    let matcher: &Matcher = site.edition().matcher();
    let claim = rulebook.catalogue().identify(user_agent.as_bytes(), &site.names);
    let binds = &site.enforcement.star_binds;
    let star = matcher.star();
    let scope = match claim.tokens().next() {
        Some(name) => group_for(matcher, binds, name),
        None => star.filter(|_| binds.contains(&crate::rules::crawlers::Class::None)),
    };
    let target = Target::new(path.as_bytes());
    let rule = scope.and_then(|scope| matcher.verdict_letter(scope, &target).rule);
    (rule, scope.is_some() && scope == star)
}

/// The word of an action for this standing.
fn word(action: &str, user_agent_publishes: bool, outcome: Outcome) -> String {
    let word = match action.contains(' ') {
        false => action,
        true => {
            let mut each = action.split(", ").filter_map(|one| one.split_once(": "));
            let outcome = if user_agent_publishes { outcome } else { Outcome::Unverifiable };
            each.find(|(name, _)| *name == outcome.as_str()).map_or("", |(_, word)| word)
        }
    };
    match word {
        "off" => "allow",
        "throttle" | "ladder" => "log",
        other => other,
    }
    .to_owned()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 16))]

    #[test]
    fn a_request_is_treated_differently_if_and_only_if_the_rows_say_so(
        before in small_policy(),
        after in small_policy(),
        paths in prop::collection::vec("/[abx]{0,4}", 1..12),
    ) {
        let (before, after) = (policy(&before), policy(&after));
        let found = policies(
            Side { policy: &before.0, rulebook: &before.1 },
            Side { policy: &after.0, rulebook: &after.1 },
        );
        prop_assert!(!found.is_by_sample);
        // Where `*` binds no other crawler, a row names each of its own.
        let star_is_of_all = [&before.1, &after.1].into_iter().all(|book| {
            let site = &book.sites()[0];
            let matcher: &Matcher = site.edition().matcher();
            let other = Name::Declared(STRANGER);
            let scope = group_for(matcher, &site.enforcement.star_binds, other);
            scope.is_some() && scope == matcher.star()
        });
        for (label, user_agent) in CLIENTS {
            let is_listed = |book: &Rulebook| {
                let site = &book.sites()[0];
                book.catalogue().find(label).is_some()
                    || site.names.iter().any(|name| name.as_str() == label)
                    || label == NAMELESS
            };
            let label = if is_listed(&before.1) || is_listed(&after.1) { label } else { "*" };
            let publishes = before.1.catalogue().find(label).is_some_and(Crawler::publishes_evidence);
            for path in &paths {
                let [(old, is_star_before), (new, is_star_after)] = [&before.1, &after.1].map(|book| {
                    rule_for(book, &book.sites()[0], user_agent, path)
                });
                let is_covered = |row: &&Row| {
                    let has = |token: &str| row.product_tokens.iter().any(|one| one == token);
                    has(label) || (has("*") && star_is_of_all && is_star_before && is_star_after
                        && label != NAMELESS && !row.except.iter().any(|one| one == label))
                };
                let is_rule = |verdict: &Verdict, rule: Option<&Rule>| {
                    verdict.pattern.as_deref() == rule.map(|rule| rule.pattern.as_str())
                        && verdict.directive == rule.map(|rule| rule.directive.as_str())
                };
                let rows: Vec<&Row> = found.rows.iter().filter(is_covered).collect();
                let verdicts = rows.iter().find_map(|row| match (&row.before, &row.after) {
                    (State::Verdict(b), State::Verdict(a)) if is_rule(b, old) && is_rule(a, new) => {
                        Some((b, a))
                    }
                    _ => None,
                });
                let is_closed = |rule: Option<&Rule>| {
                    rule.is_some_and(|rule| rule.directive == robots::Directive::Disallow)
                };
                let actions = rows.iter().find_map(|row| match (&row.before, &row.after) {
                    (State::Value(b), State::Value(a))
                        if row.path.as_deref() == Some("*") && row.what != "paced" => Some((b, a)),
                    _ => None,
                });
                for outcome in [Outcome::Confirmed, Outcome::Contradicted, Outcome::Unknown] {
                    let said = |verdict: &Verdict| match &verdict.action {
                        Some(action) => word(action, publishes, outcome),
                        None => "allow".to_owned(),
                    };
                    let predicted = match (verdicts, actions) {
                        (Some((b, a)), _) => Some((said(b), said(a))),
                        (None, Some((b, a))) if is_closed(old) && is_closed(new) => {
                            Some((word(b, publishes, outcome), word(a, publishes, outcome)))
                        }
                        _ => None,
                    };
                    let actual = (
                        decided(&before.1, user_agent, path, outcome),
                        decided(&after.1, user_agent, path, outcome),
                    );
                    match predicted {
                        Some((b, a)) => prop_assert_eq!(
                            (b.as_str(), a.as_str()), actual, "{} {} {:?}", label, path, outcome
                        ),
                        None => prop_assert_eq!(
                            actual.0, actual.1, "{} {} {:?}", label, path, outcome
                        ),
                    }
                }
            }
        }
    }
}
