//! Each lint with a fixture that triggers it, and a near miss that does not.

use crate::{
    advice::lint,
    base::diagnostic::{Diagnostic, Severity},
    rules::policy,
};

const SITE: &str = "sites:\n  - hosts: [a.example]\n    origin: http://127.0.0.1:3000\n";

/// A policy with one site that has these keys.
fn site(keys: &str) -> String {
    format!("{SITE}    {}\n", keys.replace('\n', "\n    "))
}

/// The keys of a site with these groups.
fn groups(groups: &str) -> String {
    format!("robots_txt: {{ groups: [{groups}] }}")
}

/// The findings about a site with these keys, those of the reader included.
fn of_site(keys: &str) -> Vec<Diagnostic> {
    let text = site(keys);
    let (read, mut findings) = policy::read("a.yaml", text.as_bytes());
    let policy = read.unwrap_or_else(|| panic!("{text}\n{findings:#?}"));
    findings.extend(lint::policy(&policy));
    findings
}

/// The findings about a site with these groups.
fn of_groups(text: &str) -> Vec<Diagnostic> {
    of_site(&groups(text))
}

fn of_file(text: &str) -> Vec<Diagnostic> {
    lint::robots_txt(text.as_bytes(), &policy::built_in_catalogue())
}

fn find<'f>(findings: &'f [Diagnostic], code: &str) -> Option<&'f Diagnostic> {
    findings.iter().find(|one| one.code == code)
}

/// How the findings of a text are found, and the whole text that it stands for.
#[derive(Clone, Copy)]
struct Kind {
    findings: fn(&str) -> Vec<Diagnostic>,
    whole: fn(&str) -> String,
}

const GROUPS: Kind = Kind { findings: of_groups, whole: |text| site(&groups(text)) };
const KEYS: Kind = Kind { findings: of_site, whole: site };
const FILE: Kind = Kind { findings: of_file, whole: str::to_owned };

/// Checks that the fixture has a finding of this code and severity, at a place with this text and
/// with these words in message or repair, and that the near miss has none.
fn check(
    (code, severity): (&str, Severity),
    kind: Kind,
    fixture: &str,
    (place, words): (&str, &str),
    near_miss: &str,
) {
    let found = (kind.findings)(fixture);
    let Some(finding) = find(&found, code) else { panic!("{code}: {fixture}\n{found:#?}") };
    let text = format!("{}; {}", finding.message, finding.help.as_deref().unwrap_or_default());
    assert_eq!(finding.severity, severity, "{code}: {fixture}");
    assert!(at(&(kind.whole)(fixture), finding).starts_with(place), "{code}: {finding:?}");
    assert!(text.contains(words), "{code}: '{words}' is not in '{text}'");
    let found = (kind.findings)(near_miss);
    assert!(find(&found, code).is_none(), "{code}: {near_miss}\n{found:#?}");
}

/// The text at the place of a finding.
fn at(whole: &str, finding: &Diagnostic) -> String {
    let index = |number: Option<u32>| usize::try_from(number.unwrap_or(1)).expect("small") - 1;
    let line = whole.lines().nth(index(finding.place.line)).unwrap_or_default();
    line.chars().skip(index(finding.place.column)).collect()
}

use Severity::{Note, Warning};

#[test]
fn regular_expressions_and_lists() {
    for (code, pattern, words, near_miss) in [
        ("policy.regex_pattern", "/(a|b)/", "write an entry for each: \"/a/\", \"/b/\"", "/(a)/"),
        ("policy.regex_pattern", "/x/.*/y", "write \"/x/*/y\"", "/x/*/y"),
        ("policy.list_pattern", "'/a, /b'", "write an entry for each: \"/a\", \"/b\"", "'/a,b'"),
        ("policy.list_pattern", "'/a /b'", "write an entry for each: \"/a\", \"/b\"", "'/a b'"),
    ] {
        let group = |pattern| format!("{{ user_agents: ['*'], disallow: [{pattern}] }}");
        let place = (pattern, words);
        check((code, Warning), GROUPS, &group(pattern), place, &group(near_miss));
    }
    let file = |pattern| format!("User-agent: *\nDisallow: {pattern}\n");
    let words = "'Disallow: /a/' and 'Disallow: /b/'";
    check(
        ("robots.regex_pattern", Warning),
        FILE,
        &file("/(a|b)/"),
        ("/(a|b)/", words),
        &file("/(a)/"),
    );
    let words = "'Disallow: /a' and 'Disallow: /b'";
    check(
        ("robots.list_pattern", Warning),
        FILE,
        &file("/a, /b"),
        ("/a, /b", words),
        &file("/a,b"),
    );
}

#[test]
fn rules_that_never_decide() {
    for (code, severity, fixture, at, near_miss) in [
        (
            "lint.unreachable_rule",
            Note,
            "user-agent: *\ndisallow: /\nallow: /*\n",
            ("/", "'Allow: /*' (line 3)"),
            "user-agent: *\ndisallow: /\nallow: /a\n",
        ),
        (
            "lint.unreachable_rule",
            Note,
            "user-agent: *\ndisallow: /a\n\nuser-agent: *\nallow: /a*\n",
            ("/a", "'Allow: /a*' (line 5)"),
            "user-agent: *\ndisallow: /a\n\nuser-agent: x\nallow: /a*\n",
        ),
        (
            "lint.repeated_rule",
            Note,
            "user-agent: *\ndisallow: /a\ndisallow: /a\n",
            ("/a", "line 2"),
            "user-agent: *\ndisallow: /a\n\nuser-agent: x\ndisallow: /a\n",
        ),
        (
            "lint.redundant_rule",
            Note,
            "user-agent: *\ndisallow: /a/\ndisallow: /a/*.php$\n",
            ("/a/*.php$", "'Disallow: /a/' (line 2)"),
            // The exception between the two makes the longer rule necessary.
            "user-agent: *\ndisallow: /a/\ndisallow: /a/b/*.php$\nallow: /a/b/\n",
        ),
        (
            "lint.idle_allow",
            Note,
            "user-agent: *\ndisallow: /a/\nallow: /b/\n",
            ("/b/", "no shorter rule disallows"),
            "user-agent: *\ndisallow: /*.php$\nallow: /b/longer/\n",
        ),
        (
            "lint.empty_rule",
            Note,
            "user-agent: *\ndisallow: /a/\ndisallow:\n",
            ("disallow:", "an empty 'Disallow'"),
            "user-agent: *\ndisallow:\n",
        ),
    ] {
        check((code, severity), FILE, fixture, at, near_miss);
    }
    let of = |allow: &str| format!("{{ user_agents: ['*'], allow: ['{allow}'], disallow: [/] }}");
    let at = ("/] }", "'Allow: /*' (line 4)");
    check(("lint.unreachable_rule", Warning), GROUPS, &of("/*"), at, &of("/a"));
}

#[test]
fn the_reader_says_first_that_allow_wins() {
    let found = of_groups("{ user_agents: ['*'], allow: [/a], disallow: [/a] }");
    let codes: Vec<_> = found.iter().map(|one| one.code).collect();
    assert_eq!(codes, ["policy.allow_wins"]);
}

#[test]
fn a_rule_that_one_of_its_crawlers_needs_stays() {
    // Of the two names, only the first one has the shorter rule.
    let file = "user-agent: a\nuser-agent: b\ndisallow: /x/y\n\nuser-agent: a\ndisallow: /x\n";
    assert!(find(&of_file(file), "lint.redundant_rule").is_none());
    let both = file
        .replace("user-agent: a\ndisallow: /x\n", "user-agent: a\nuser-agent: b\ndisallow: /x\n");
    assert!(find(&of_file(&both), "lint.redundant_rule").is_some());
}

#[test]
fn a_named_group_that_drops_what_star_disallows() {
    let star = "{ user_agents: ['*'], disallow: [/wp-admin/] }";
    let with = |group: &str| format!("{star}, {group}");
    let code = "lint.dropped_rules";
    let repair = "'disallow: [\"/wp-admin/\"]'";
    for near_miss in [
        "{ user_agents: [bingbot], crawl_delay: 5, disallow: [/wp-admin/] }",
        "{ user_agents: [bingbot], crawl_delay: 5, disallow: [/] }",
        "{ user_agents: [bingbot], crawl_delay: 5, allow: [/] }",
        "{ user_agents: [bingbot], crawl_delay: 5, allow: [/wp-admin/] }",
        "{ user_agents: [bingbot], disallow: [/wp-admin/private/] }",
    ] {
        let fixture = with("{ user_agents: [bingbot], crawl_delay: 5 }");
        check((code, Warning), GROUPS, &fixture, ("bingbot", repair), &with(near_miss));
    }
    let fixture = with("{ user_agents: [bingbot], disallow: [/x] }");
    check(
        (code, Note),
        GROUPS,
        &fixture,
        ("bingbot", "'Disallow: /wp-admin/' (line 4)"),
        &with("{ user_agents: [bingbot], disallow: [/w] }"),
    );
    // A group without any rule is more likely forgotten than meant, beside a closed `*`, too.
    for star in [star, "{ user_agents: ['*'], disallow: [/] }"] {
        let with = |group: &str| format!("{star}, {group}");
        check(
            (code, Warning),
            GROUPS,
            &with("{ user_agents: [bingbot] }"),
            ("bingbot", "without the group, '*' applies"),
            &with("{ user_agents: [bingbot], allow: [/] }"),
        );
    }
    // A group beside a `*` that closes everything lists who may come.
    let only = "{ user_agents: ['*'], disallow: [/] }, { user_agents: [bingbot], crawl_delay: 5 }";
    assert!(find(&of_groups(only), code).is_none());
    check(
        (code, Note),
        FILE,
        "User-agent: *\nDisallow: /a\n\nUser-agent: bingbot\nCrawl-delay: 1\n",
        ("bingbot", "'Allow: /'"),
        "User-agent: *\nDisallow: /a\n\nUser-agent: bingbot\nDisallow:\n",
    );
}

#[test]
fn a_group_that_replaces_the_origins_rules_by_none() {
    let merge = |group: &str| format!("robots_txt: {{ source: merge, groups: [{group}] }}");
    check(
        ("lint.dropped_rules", Warning),
        KEYS,
        &merge("{ user_agents: [bingbot], crawl_delay: 5, override: true }"),
        ("bingbot", "add the paths to 'disallow'"),
        &merge(
            "{ user_agents: [bingbot], crawl_delay: 5, override: true, disallow: [/wp-admin/] }",
        ),
    );
    check(
        ("lint.dropped_rules", Note),
        KEYS,
        &merge("{ user_agents: [bingbot], crawl_delay: 5 }"),
        ("bingbot", "the '*' of the origin's file"),
        &merge("{ user_agents: [bingbot], crawl_delay: 5, allow: [/] }"),
    );
}

#[test]
fn a_closed_site_lets_some_crawlers_in() {
    let names = "'*', AdsBot-Google, AdsBot-Google-Mobile, AdsBot-Google-Mobile-Apps, FeedFetcher-Google, Google-Safety, \
                 iTMS, Mediapartners-Google";
    let site = |names: &str, enforcement: &str| {
        format!(
            "robots_txt: {{ groups: [{{ user_agents: [{names}], disallow: [/] }}] }}\nenforcement: \
             {{ {enforcement} }}"
        )
    };
    let block = "mode: block, allow_block_all: true";
    let all = format!("{block}, star_binds: [crawler, user-triggered, automation, none]");
    let code = "lint.not_closed";
    check((code, Warning), KEYS, &site("'*'", &all), ("'*'", "AdsBot-Google"), &site(names, &all));
    check((code, Warning), KEYS, &site(names, block), ("'*'", "star_binds"), &site(names, &all));
    check(
        (code, Note),
        KEYS,
        &site("'*'", "mode: log"),
        ("'*'", "AdsBot-Google"),
        &site(names, &all),
    );
    check(
        (code, Note),
        FILE,
        "User-agent: *\nDisallow: /\n",
        ("*", "AdsBot-Google"),
        "User-agent: *\nDisallow: /a\n",
    );
    // The repair names exactly those that are missing.
    let found = of_site(&site("'*'", &all));
    let help = find(&found, code).and_then(|one| one.help.clone()).expect("a repair");
    assert_eq!(format!("'*', {}", help.split_once(": ").expect("a list").1), names);
}

#[test]
fn groups_of_one_name() {
    check(
        ("lint.contradicting_groups", Note),
        FILE,
        "User-agent: x\nDisallow: /a\n\nUser-agent: X\nAllow: /a\n",
        ("X", "one allows '/a'"),
        "User-agent: x\nDisallow: /a\n\nUser-agent: X\nAllow: /b\n",
    );
    check(
        ("lint.contradicting_groups", Note),
        FILE,
        "User-agent: x\nDisallow: /a\n\nUser-agent: x\nDisallow:\n",
        ("x", "an empty rule"),
        "User-agent: x\nDisallow: /a\n\nUser-agent: y\nDisallow:\n",
    );
    check(
        ("lint.joined_groups", Note),
        FILE,
        "User-agent: x\nCrawl-delay: 5\n\nUser-agent: y\nDisallow: /b\n",
        ("y", "'Crawl-delay' is none"),
        "User-agent: x\nDisallow:\nCrawl-delay: 5\n\nUser-agent: y\nDisallow: /b\n",
    );
    check(
        ("lint.repeated_group", Note),
        FILE,
        "User-agent: x\nDisallow: /a\n\nUser-agent: x\nDisallow: /b\n",
        ("x", "lines 1, 4"),
        "User-agent: x\nDisallow: /a\nDisallow: /b\n",
    );
}

#[test]
fn what_some_parsers_misread() {
    for (fixture, place, words, near_miss) in [
        (
            "User-agent: Googlebot\nDisallow: /a\n\nUser-agent: Googlebot-Image\nDisallow: /b\n",
            "Googlebot-Image",
            "write the group of 'googlebot-image' first",
            "User-agent: Googlebot-Image\nDisallow: /b\n\nUser-agent: Googlebot\nDisallow: /a\n",
        ),
        (
            "User-agent: *\nDisallow: /\n\nUser-agent: bingbot\n",
            "bingbot",
            "robots-parser and urllib (Python 3.11) forget it",
            "User-agent: *\nDisallow: /\n\nUser-agent: bingbot\nDisallow:\n",
        ),
        (
            "User-agent: *\nAllow: /\nDisallow: /a/\n",
            "/a/",
            "take the first rule that matches: 'Allow: /' (line 2)",
            "User-agent: *\nDisallow: /a/\nAllow: /b/\nAllow: /\n",
        ),
        (
            "User-agent: *\nDisallow: /a\nAllow: /a\n",
            "/a",
            "'Allow' first of equally long ones",
            "User-agent: *\nAllow: /a\nDisallow: /a\n",
        ),
        (
            "User-agent: *\nDisallow: /%7ea\n",
            "/%7ea",
            "write '/~a'",
            "User-agent: *\nDisallow: /~a\nDisallow: /%2F\n",
        ),
        (
            "User-agent: *\nDisallow: /a$\n",
            "/a$",
            "has no wildcards",
            "User-agent: *\nDisallow: /a$b\n",
        ),
        (
            "User-agent: Google\nDisallow: /a\n",
            "Google",
            "begins with 'Google': Protego, robotexclusionrulesparser, robots-txt-guard and urllib",
            "User-agent: Googlebot\nDisallow: /a\n",
        ),
        (
            "User-agent: MJ12bot\nDisallow: /a\n",
            "MJ12bot",
            "gpyrobotstxt and robotspy read it as 'MJ'",
            "User-agent: bingbot\nDisallow: /a\n",
        ),
    ] {
        check(("lint.misread", Note), FILE, fixture, (place, words), near_miss);
    }
}

#[test]
fn what_some_parsers_misread_of_a_policy() {
    let text = "{ user_agents: [\"*\"], allow: [/], disallow: [/%7Eu, \"/*.pdf$\"] }, \
                { user_agents: [Googlebot], disallow: [/a] }, \
                { user_agents: [MJ12bot, AI2Bot, Googlebot-Image, Google], disallow: [/b, \"/*?a=\"] }, \
                { user_agents: [bingbot], allow: [/] }";
    let notes = |found: Vec<Diagnostic>| {
        let found = found.into_iter().filter(|one| one.code == "lint.misread");
        found.map(|one| one.message).collect::<Vec<_>>()
    };
    // The published file is arranged: only what no arrangement helps is left, and each kind once.
    let found = notes(of_groups(text));
    assert_eq!(found.len(), 3, "{found:?}");
    for (note, words) in
        found.iter().zip(["has no wildcards", "begins with 'Google'", "has digits"])
    {
        assert!(note.contains(words), "{note}");
    }
    let two = format!(
        "{}  - hosts: [b.example]\n    origin: http://127.0.0.1:3000\n    {}\n",
        site(&groups(text)),
        groups(text)
    );
    let (policy, _) = policy::read("a.yaml", two.as_bytes());
    assert_eq!(notes(lint::policy(&policy.expect("a policy"))), found, "once for all sites");
    assert!(
        notes(of_groups("{ user_agents: [\"*\", Googlebot-Image], disallow: [/a] }")).is_empty()
    );
}

#[test]
fn names_and_records_without_effect() {
    check(
        ("lint.control_token", Note),
        FILE,
        "User-agent: Google-Extended\nDisallow: /\n",
        ("Google-Extended", "never appears in a User-Agent"),
        "User-agent: Googlebot\nDisallow: /\n",
    );
    check(
        ("lint.ignored_delay", Note),
        FILE,
        "User-agent: Googlebot\nCrawl-delay: 5\nDisallow: /a\n",
        ("5", "Googlebot does not follow"),
        "User-agent: Googlebot\nUser-agent: bingbot\nCrawl-delay: 5\nDisallow: /a\n",
    );
}

#[test]
fn permissions_for_closed_paths() {
    let code = "lint.unusable_permission";
    for (record, near_miss) in [
        ("Content-Signal: \"search=yes, ai-train=no\"", "Content-Signal: \"search=no\""),
        ("Content-Usage: \"train-ai=y\"", "Content-Usage: \"train-ai=n\""),
        ("Content-Usage: \"/a train-ai=y\"", "Content-Usage: \"train-ai=n\""),
    ] {
        let group = |record: &str| {
            format!("{{ user_agents: ['*'], disallow: [/], records: [{{ {record} }}] }}")
        };
        let at = ("Content-", "'Disallow: /' (line 4)");
        check((code, Warning), GROUPS, &group(record), at, &group(near_miss));
        let open = group(record).replace("disallow: [/]", "disallow: [/b]");
        assert!(find(&of_groups(&open), code).is_none(), "{open}");
    }
    check(
        (code, Note),
        FILE,
        "User-agent: *\nDisallow: /\nContent-Signal: search=yes\n",
        ("search=yes", "search=yes"),
        "User-agent: *\nDisallow: /\nAllow: /press/\nContent-Signal: search=yes\n",
    );
}

#[test]
fn preferences_that_part_with_the_rules() {
    let with = |groups: &str, wishes: &str| {
        format!("robots_txt: {{ groups: [{groups}] }}\npreferences: [{wishes}]")
    };
    let star = "{ user_agents: ['*'], disallow: [/private/] }";
    let trainers = "{ user_agents: ['purpose:ai-training'], disallow: [/], allow: [/press/] }";
    check(
        ("lint.unenforced_preference", Note),
        KEYS,
        &with(star, "{ search: yes }, { train-ai: no }"),
        ("{ train-ai: no }", "may fetch '/': "),
        &with(
            &format!("{star}, {trainers}"),
            "{ train-ai: no }, { paths: [/press/], train-ai: yes }",
        ),
    );
    let said =
        |said: &str| format!("{{ user_agents: ['*'], records: [{{ Content-Usage: '{said}' }}] }}");
    check(
        ("lint.contradicting_preference", Warning),
        KEYS,
        &with(&said("train-ai=y"), "{ train-ai: no }"),
        ("Content-Usage", "different things of train-ai"),
        &with(&said("/press/ train-ai=y"), "{ train-ai: no }"),
    );
}

#[test]
fn secrets() {
    check(
        ("lint.secret", Warning),
        FILE,
        "User-agent: *\nDisallow: /share/1b4e28ba-2fa1-11d2-883f-0016d3cca427\n",
        ("/share/", "1b4e28ba"),
        "User-agent: *\nDisallow: /share/\nDisallow: /*?token=\n",
    );
}

#[test]
fn modes_and_overrides_without_effect() {
    let site = |text: &str, enforcement: &str| {
        format!("{}\nenforcement: {{ {enforcement} }}", groups(text))
    };
    let open = "{ user_agents: ['*'] }";
    let closed = "{ user_agents: ['*'], disallow: [/a] }";
    let named = "{ user_agents: [GPTBot, Google-Extended], disallow: [/] }";
    let paced = "{ user_agents: [GPTBot], crawl_delay: 5 }";
    let block = |name: &str| format!("overrides: [{{ user_agents: [{name}], mode: block }}]");
    let throttle = "overrides: [{ user_agents: [GPTBot], mode: throttle }]";
    for (code, fixture, at, near_miss) in [
        (
            "lint.idle_mode",
            site(open, "mode: block"),
            ("block", "no group disallows anything"),
            site(closed, "mode: block"),
        ),
        (
            "lint.unrestricted_override",
            site(named, &block("CCBot")),
            ("CCBot", "CCBot is restricted by no group"),
            site(closed, &block("CCBot")),
        ),
        // A pace is never refused with 403.
        (
            "lint.unrestricted_override",
            site(paced, &block("GPTBot")),
            ("GPTBot", "GPTBot is kept from no path"),
            site(paced, throttle),
        ),
        (
            "lint.idle_mode",
            site(paced, &block("'*'")),
            ("'*'", "no group disallows anything"),
            site(closed, &block("'*'")),
        ),
        (
            "lint.unrestricted_override",
            site(named, &block("CCBot")),
            ("CCBot", "'mode: block'"),
            site(named, &block("GPTBot")),
        ),
        (
            "lint.unenforceable_override",
            site(named, &block("GPTBot, Google-Extended")),
            ("Google-Extended", "Google-Extended is never found"),
            site(named, &block("GPTBot")),
        ),
        (
            "lint.no_pace",
            site(closed, "mode: throttle"),
            ("throttle", "no group sets a pace"),
            site(paced, "mode: throttle"),
        ),
        (
            "lint.no_pace",
            site(named, throttle),
            ("GPTBot", "add 'crawl_delay: 5'"),
            site(paced, throttle),
        ),
    ] {
        check((code, Warning), KEYS, &fixture, at, &near_miss);
    }
    // The origin may restrict them.
    let merged = format!("robots_txt: {{ source: merge }}\nenforcement: {{ {} }}", block("CCBot"));
    assert!(find(&of_site(&merged), "lint.unrestricted_override").is_none());
}

#[test]
fn hosts_that_share_a_file_of_their_origin() {
    let found = |hosts: &str, source: &str, sections: &str| {
        let keys = format!("robots_txt: {{ source: {source} }}");
        let text = site(&keys).replace("[a.example]", hosts);
        let (policy, findings) = policy::read("a.yaml", format!("{sections}{text}").as_bytes());
        let policy = policy.unwrap_or_else(|| panic!("it is fine: {findings:?}"));
        let findings = lint::policy(&policy);
        find(&findings, "lint.shared_origin_file").map(|one| one.message.contains("'a.example'"))
    };
    let fleet = "fleet: { node: a, shared: \"redis://127.0.0.1\" }\n";
    for source in ["origin", "merge"] {
        assert_eq!(found("[a.example]", source, fleet), None);
        // Each has a site of its own.
        assert_eq!(found("[a.example, b.example]", source, fleet), None);
        assert_eq!(found("['*.a.example', a.example]", source, fleet), Some(true));
        assert_eq!(found("['*.a.example']", source, fleet), Some(true));
        assert_eq!(found("['*.a.example']", source, ""), None);
    }
    assert_eq!(found("[a.example, '*.b.example']", "policy", fleet), None);
}

#[test]
fn a_tag_that_no_crawler_sees() {
    let site = |groups: &str, path: &str| {
        format!(
            "robots_txt: {{ groups: [{groups}] }}\nrobots_tag:\n  - paths: [{path}]\n    rules: {{ '*': \
             [noindex] }}"
        )
    };
    let star = "{ user_agents: ['*'], disallow: [/drafts/] }";
    let code = "lint.unseen_tag";
    let at = ("/drafts/old/", "'Disallow: /drafts/' (line 4)");
    for near_miss in [
        site(star, "/tag/"),
        site(star, "/d"),
        site(&format!("{star}, {{ user_agents: [Googlebot], allow: [/] }}"), "/drafts/old/"),
        site(&star.replace("] }", "], allow: [/drafts/old/] }"), "/drafts/"),
        site(star, "/drafts/").replace("noindex", "nosnippet"),
        site("{ user_agents: [Googlebot], disallow: [/drafts/] }", "/drafts/"),
    ] {
        check((code, Warning), KEYS, &site(star, "/drafts/old/"), at, &near_miss);
    }
}

#[test]
fn tags_for_more_crawlers_than_clients_take_lines() {
    let tags = |purpose: &str, more: &str| {
        let star = groups("{ user_agents: ['*'], disallow: [/drafts/] }");
        format!("{star}\nrobots_tag:\n  - rules: {{ 'purpose:{purpose}': [noindex] }}{more}")
    };
    let at = ("rules: { 'purpose:search'", "robots_tag_legacy: false");
    let off = "\nrobots_tag_legacy: false";
    for near_miss in [tags("ai-training", ""), tags("search", off)] {
        check(("lint.many_tag_lines", Warning), KEYS, &tags("search", ""), at, &near_miss);
    }
}

#[test]
fn tags_for_more_octets_than_servers_that_ask_can_read() {
    const DECIDE: &str = "server: { listen: [127.0.0.1:8080], decide: 127.0.0.1:9091, trusted_proxies: [127.0.0.1] }\n";
    let found = |server: &str, names: usize, more: &str| {
        let each = (0..names).map(|number| {
            format!("\n      SomeCrawler{number}: [noindex, nosnippet, noarchive, noimageindex]")
        });
        let tags = format!("robots_tag:\n  - rules:{}{more}", each.collect::<String>());
        let (read, _) = policy::read("a.yaml", format!("{server}{}", site(&tags)).as_bytes());
        let findings = lint::policy(&read.expect("a policy"));
        find(&findings, "lint.many_tag_lines").map(|finding| finding.message.clone())
    };
    let message = found(DECIDE, 60, "").expect("a finding");
    assert!(message.contains("replies of at most 3,500, so it is left out"), "{message}");
    assert_eq!(found("", 60, ""), None, "a client takes as many lines");
    assert_eq!(found(DECIDE, 40, ""), None);
    assert_eq!(found(DECIDE, 60, "\nrobots_tag_legacy: false"), None);
}

#[test]
fn many_findings_of_a_code_are_counted() {
    let mut file = "user-agent: *\ndisallow: /a\n".to_owned();
    (0..40).for_each(|number| file.push_str(&format!("disallow: /a/{number}/\n")));
    let found = of_file(&file);
    assert_eq!(found.iter().filter(|one| one.code == "lint.redundant_rule").count(), 25);
    let more = find(&found, "lint.more_findings").expect("a note");
    assert_eq!(more.message, "15 more findings 'lint.redundant_rule' are not listed");
}

#[test]
fn too_many_rules_are_not_all_compared() {
    let mut file = "user-agent: *\n".to_owned();
    // Short literals tell little, so each rule is compared with each other one.
    for number in 0..3_000 {
        file.push_str(&format!("disallow: /*{:02x}*{:02x}\n", number / 64, number % 64));
    }
    assert!(find(&of_file(&file), "lint.not_compared").is_some());
}

#[test]
fn rate_limits_without_effect_or_with_too_much() {
    let limits = |limits: &str| {
        format!("robots_txt: {{ source: policy }}\nenforcement: {{ rate_limits: [{limits}] }}")
    };
    let strict = "{ user_agents: ['*'], requests: 1/1s }";
    let cases: [(_, _, &str, _, &str); 8] = [
        (
            "lint.laxer_limit",
            Warning,
            &format!("{strict}, {{ user_agents: [GPTBot], requests: 2/1s }}"),
            "rate_limits[0] in line 5, 1 request in 1 s, each crawler",
            &format!("{strict}, {{ user_agents: [GPTBot], requests: 1/2s }}"),
        ),
        (
            "lint.laxer_limit",
            Warning,
            &format!("{strict}, {strict}"),
            "make it the stricter one",
            &format!("{strict}, {{ user_agents: ['*'], requests: 10/1s, together: true }}"),
        ),
        (
            "lint.laxer_limit",
            Warning,
            "{ user_agents: ['*'], concurrent: 2, paths: [/s] }, { user_agents: [GPTBot], concurrent: 4, \
             paths: [/search] }",
            "2 requests at a time",
            "{ user_agents: ['*'], concurrent: 2, paths: [/s] }, { user_agents: [GPTBot], concurrent: 4, \
             paths: [/] }",
        ),
        // A limit that only counts stops nothing.
        (
            "lint.laxer_limit",
            Warning,
            &format!("{strict}, {{ user_agents: [GPTBot], requests: 2/1s, mode: log }}"),
            "never reached",
            "{ user_agents: ['*'], requests: 1/1s, mode: log }, { user_agents: [GPTBot], requests: 2/1s }",
        ),
        (
            "lint.search_limit",
            Warning,
            "{ user_agents: ['*'], requests: 1/10s }",
            "get 360 requests an hour each",
            strict,
        ),
        (
            "lint.search_limit",
            Note,
            "{ user_agents: ['purpose:search'], requests: 6/1m, together: true, mode: log }",
            "get 360 requests an hour together",
            "{ user_agents: [bingbot], requests: 1/10s }",
        ),
        (
            "lint.published_limit",
            Note,
            "{ user_agents: [bingbot, Googlebot], requests: 1/10s, publish: true }",
            "says 'Crawl-delay: 10 and Request-rate: 1/10'; promised to follow: bingbot",
            "{ user_agents: [bingbot], requests: 1/10s }",
        ),
        (
            "lint.published_limit",
            Note,
            "{ user_agents: [Googlebot], requests: 1/1s, publish: true }",
            "none of these crawlers promises",
            "{ user_agents: [Googlebot], requests: 1/1s }",
        ),
    ];
    for (code, severity, fixture, words, near_miss) in cases {
        let at = fixture.split("}, ").last().unwrap_or_default();
        let at = if code == "lint.laxer_limit" { at } else { fixture };
        check((code, severity), KEYS, &limits(fixture), (at, words), &limits(near_miss));
    }
}

#[test]
fn limits_that_search_engines_would_have_felt() {
    let hours = [
        ("a.example", "bingbot", 4_100),
        ("a.example", "bingbot", 9),
        ("a.example", "Googlebot", 1_000),
        ("b.example", "Googlebot", 9_000), // another site
        ("a.example", "GPTBot", 9_000),
    ];
    for (limit, expected) in [
        ("user_agents: ['*'], requests: 600/1h", Some((Warning, "bingbot made 4100 requests"))),
        (
            "user_agents: [Googlebot], requests: 10/1m",
            Some((Warning, "Googlebot made 1000 requests")),
        ),
        ("user_agents: ['*'], requests: 1/1s, mode: log", Some((Note, "hour, and 3600 may pass"))),
        ("user_agents: ['*'], requests: 2/1s", None),
        ("user_agents: [GPTBot], requests: 10/1h", None),
        ("user_agents: ['*'], requests: 10/1h, paths: [/search]", None),
    ] {
        let text = site(&format!("enforcement: {{ rate_limits: [{{ {limit} }}] }}"));
        let (policy, _) = policy::read("a.yaml", text.as_bytes());
        let found = lint::busy_hours(&policy.expect("a policy"), hours.into_iter());
        let found = found.first().map(|one| (one.severity, one.message.as_str()));
        assert_eq!(found.map(|(severity, _)| severity), expected.map(|(severity, _)| severity));
        let (message, words) = (found.map_or("", |one| one.1), expected.map_or("", |one| one.1));
        assert!(message.contains(words), "{limit}: {message}");
    }
}

#[test]
fn a_limit_that_counts_no_request() {
    for (names, is_unreachable) in [("'set:control'", true), ("'set:control', GPTBot", false)] {
        let limits = format!("rate_limits: [{{ user_agents: [{names}], requests: 1/1s }}]");
        let text = site(&format!("enforcement: {{ {limits} }}"));
        let text = format!("crawler_sets: {{ control: [Google-Extended] }}\n{text}");
        let (policy, _) = policy::read("a.yaml", text.as_bytes());
        let found = lint::policy(&policy.expect("a policy"));
        assert_eq!(find(&found, "lint.unreachable_limit").is_some(), is_unreachable, "{text}");
    }
}
