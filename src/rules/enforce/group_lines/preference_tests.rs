//! What the published file and the responses say of the preferences.

use jiff::Timestamp;
use proptest::prelude::*;

use crate::{
    formats::{
        robots::{OriginFile, Target},
        usage::{Carrier, Category, Preference, Statement},
    },
    rules::{
        enforce::{History, Rulebook},
        policy::Policy,
    },
};

fn policy(source: &str, groups: &str, rest: &str) -> Policy {
    let text = format!(
        "sites: [{{ hosts: [a.example], origin: \"http://127.0.0.1:1\", robots_txt: {{ source: \
         {source}, groups: [{groups}] }}, {rest} }}]"
    );
    text.parse().unwrap_or_else(|findings| panic!("{findings:?}"))
}

fn compiled(policy: &Policy, origin: Option<&'static str>) -> Rulebook {
    let mut history = History::after(None, Timestamp::UNIX_EPOCH);
    let file = origin.map(|text| OriginFile::Present(text.into()));
    history.origins.extend(file.map(|file| ("a.example".to_owned(), file)));
    Rulebook::compile_with(policy, &mut history)
}

/// The groups of the published file, each as names and lines.
fn published(policy: &Policy, origin: Option<&'static str>) -> Vec<String> {
    let rulebook = compiled(policy, origin);
    let text = String::from_utf8(rulebook.sites()[0].edition().bytes().to_vec()).expect("text");
    let blocks = text.split("\n\n").filter(|block| block.contains("User-agent"));
    let is_line = |line: &&str| !line.starts_with('#');
    blocks.map(|one| one.lines().filter(is_line).collect::<Vec<_>>().join("; ")).collect()
}

const USAGE: &str =
    "Content-Usage: train-ai=n, search=y; Content-Usage: /press/ train-ai=y, search=y";
const SIGNAL: &str =
    "Content-Signal: ai-train=no, search=yes; Content-Signal: /press/ ai-train=yes, search=yes";

#[test]
fn each_group_says_the_preferences_and_control_tokens_are_closed() {
    let rest = "preferences: [{ train-ai: no, search: yes }, { paths: [/press/], train-ai: yes }, \
                { user_agents: [GPTBot], train-ai: y }]";
    let groups = "{ user_agents: [\"*\"], disallow: [/private/], allow: [/open/] }, { user_agents: \
                  [Bytespider], disallow: [/] }";
    let trains = |usage: &str, other: &str| {
        usage.replacen("train-ai=n", "train-ai=y", 1) + "; " + &other.replacen("=no", "=yes", 1)
    };
    let closed = "Disallow: /private/; Allow: /press/; Disallow: /";
    let mut expected = vec![
        format!("User-agent: Bytespider; Disallow: /; {USAGE}; {SIGNAL}"),
        format!("User-agent: Applebot-Extended; {closed}; {USAGE}; {SIGNAL}"),
        format!("User-agent: Google-Extended; {closed}; {USAGE}; {SIGNAL}"),
        format!(
            "User-agent: GPTBot; Disallow: /private/; Allow: /open/; {}",
            trains(USAGE, SIGNAL)
        ),
        format!("User-agent: *; Disallow: /private/; Allow: /open/; {USAGE}; {SIGNAL}"),
    ];
    let mut found = published(&policy("policy", groups, rest), None);
    let last = found.last().cloned();
    assert_eq!(last, expected.last().cloned(), "'*' comes last");
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}

#[test]
fn carriers_control_tokens_and_sources_can_be_chosen() {
    let wish = "preferences: [{ train-ai: no }]";
    let only = format!("{wish}, carriers: [content-usage], control_tokens: false");
    let one = ["User-agent: *; Disallow:; Content-Usage: train-ai=n"];
    assert_eq!(published(&policy("policy", "", &only), None), one);
    // The rules of the origin bind as well.
    let origin = "User-agent: *\nDisallow: /cgi/\n\nUser-agent: Bytespider\nDisallow: /no/\n";
    let found = published(&policy("merge", "", &only), Some(origin));
    assert_eq!(
        found,
        [
            "User-agent: Bytespider; Disallow: /no/; Content-Usage: train-ai=n",
            "User-agent: *; Disallow: /cgi/; Content-Usage: train-ai=n",
        ]
    );
    let named = "{ user_agents: [Google-Extended], disallow: [/own/] }";
    let found =
        published(&policy("policy", named, &format!("{wish}, carriers: [content-signal]")), None);
    assert!(
        found.contains(
            &"User-agent: Google-Extended; Disallow: /own/; Content-Signal: ai-train=no".to_owned()
        ),
        "a group of the policy decides: {found:?}"
    );
    let text = "sites: [{ hosts: [a.example], origin: \"http://127.0.0.1:1\", robots_txt: { source: \
                origin }, preferences: [{ train-ai: no }], license: \"https://a.example/l.xml\" }]";
    let rulebook = compiled(&text.parse().expect("a policy"), Some(origin));
    let site = &rulebook.sites()[0];
    assert_eq!(site.edition().bytes(), origin.as_bytes());
    assert_eq!(
        site.usage.as_ref().map(|one| one.at(b"/x").content_usage),
        Some(Some("train-ai=n".to_owned()))
    );
}

#[test]
fn responses_say_what_holds_for_every_crawler() {
    let rest = "tdm: true, license: \"https://a.example/l.xml\", preferences: [{ train-ai: no, search: \
                no }, { paths: [/press/, \"/*.pdf$\"], train-ai: yes }, { user_agents: [Bingbot], search: \
                yes }]";
    let rulebook = compiled(&policy("policy", "", rest), None);
    let usage = rulebook.sites()[0].usage.as_ref().expect("it says something");
    let at = |path: &str| {
        let said = usage.at(path.as_bytes());
        (said.content_usage, said.tdm_reservation)
    };
    // Bing may show it, so no field says that a search may not.
    assert_eq!(at("/"), (Some("train-ai=n".to_owned()), Some(true)));
    assert_eq!(at("/press/x"), (Some("train-ai=y".to_owned()), Some(false)));
    assert_eq!(at("/a.pdf?x"), (Some("train-ai=n".to_owned()), Some(true)));
    assert_eq!(
        usage.tdmrep.as_deref(),
        Some(
            "[{\"location\":\"/*.pdf$\",\"tdm-reservation\":0},{\"location\":\"/press/\",\
             \"tdm-reservation\":0},{\"location\":\"/\",\"tdm-reservation\":1}]"
        )
    );
    let link = "<https://a.example/l.xml>; rel=\"license\"; type=\"application/rsl+xml\"";
    assert_eq!(usage.link.as_deref(), Some(link));
    let text = String::from_utf8(rulebook.sites()[0].edition().bytes().to_vec()).expect("text");
    assert_eq!(text.matches("License: https://a.example/l.xml").count(), 1);
}

#[test]
fn each_mistake_is_an_error_with_its_repair() {
    for (wishes, code) in [
        ("{ train-ai: maybe }", "policy.bad_value"),
        ("{ paths: [/x] }", "policy.bad_value"),
        ("{ paths: [x], train-ai: no }", "policy.bad_value"),
        ("{ train_ai: no }", "policy.unknown_key"),
        ("{ train-ai: no }], tdm: [/x], carriers: [content-usage", "policy.wrong_type"),
        ("{ train-ai: no }], tdm: /x, carriers: [content-usage", "policy.bad_value"),
        ("{ train-ai: no }, { train-ai: yes }", "policy.contradiction"),
        ("{ paths: [/a, /b], search: no }, { paths: [/b], search: yes }", "policy.contradiction"),
        (
            "{ user_agents: [GPTBot, CCBot], search: no }, { user_agents: [CCBot], search: yes }",
            "policy.contradiction",
        ),
    ] {
        let text = format!(
            "sites: [{{ hosts: [a.example], origin: \"http://127.0.0.1:1\", preferences: [{wishes}] }}]"
        );
        let findings = text.parse::<Policy>().expect_err(wishes);
        let found = findings.0.iter().find(|one| one.code == code);
        assert!(found.is_some_and(|one| one.help.is_some()), "{wishes}: {findings:?}");
    }
}

fn word(said: Option<Preference>) -> &'static str {
    match said {
        Some(Preference::Allow) => "yes",
        Some(Preference::Disallow) => "no",
        None => "",
    }
}

fn any_preference() -> impl Strategy<Value = Option<Preference>> {
    prop_oneof![Just(None), Just(Some(Preference::Allow)), Just(Some(Preference::Disallow))]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]

    /// What crawlers read in the file is what the entries say, by a naive reading of these.
    #[test]
    fn crawlers_read_what_the_policy_says(
        entries in prop::collection::vec(
            (0_usize..4, prop::bool::ANY, any_preference(), any_preference()),
            1..6,
        ),
        has_group in prop::bool::ANY,
    ) {
        const PATHS: [&str; 4] = ["", "/a/", "/a/b/", "/*.pdf$"];
        let mut known = std::collections::BTreeMap::new();
        for (path, is_named, train, search) in entries {
            known.insert((path, is_named), (train, search));
        }
        known.retain(|_, said| *said != (None, None));
        prop_assume!(!known.is_empty());
        let items = known.iter().map(|((path, is_named), (train, search))| {
            let mut item = Vec::new();
            if *path > 0 { item.push(format!("paths: [\"{}\"]", PATHS[*path])); }
            if *is_named { item.push("user_agents: [GPTBot]".to_owned()); }
            if train.is_some() { item.push(format!("train-ai: {}", word(*train))); }
            if search.is_some() { item.push(format!("search: {}", word(*search))); }
            format!("{{ {} }}", item.join(", "))
        });
        let rest = format!("preferences: [{}]", items.collect::<Vec<_>>().join(", "));
        let groups = if has_group { "{ user_agents: [GPTBot, CCBot], disallow: [/z/] }" } else { "" };
        let rulebook = compiled(&policy("policy", groups, &rest), None);
        let matcher = rulebook.sites()[0].edition().matcher();
        for name in ["GPTBot", "CCBot", "OtherBot"] {
            let of = |path: usize| {
                let all = known.get(&(path, false)).copied().unwrap_or_default();
                let own = known.get(&(path, true)).copied().filter(|_| name == "GPTBot");
                let own = own.unwrap_or_default();
                (own.0.or(all.0), own.1.or(all.1))
            };
            let is_there = |path: usize| of(path) != (None, None);
            for (target, by) in [("/", &[][..]), ("/a/", &[1]), ("/a/b/c", &[2, 1]), ("/a/b/x.pdf", &[3, 2, 1]), ("/x.pdf", &[3])] {
                // The longest path decides; a path that begins it and the whole site say the rest.
                let decider = by.iter().copied().find(|path| is_there(*path));
                let around = if decider == Some(2) { of(1) } else { Default::default() };
                let (whole, path) = (of(0), decider.map(of).unwrap_or_default());
                let expected = Statement::default()
                    .with(Category::TrainAi, path.0.or(around.0).or(whole.0))
                    .with(Category::Search, path.1.or(around.1).or(whole.1));
                let scope = matcher.group(name).or_else(|| matcher.star());
                for carrier in Carrier::ALL {
                    let read = scope.map(|scope| {
                        matcher.usage_as_written(scope, carrier, &Target::new(target.as_bytes())).statement
                    });
                    prop_assert_eq!(read.unwrap_or_default(), expected, "{} {}", name, target);
                }
            }
        }
    }
}
