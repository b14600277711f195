//! Arranged files: their order, and the same verdicts as before.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn file(text: &str) -> RobotsTxt {
    parse(text.as_bytes()).0
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(arrange(&file(text)).file.to_string(), expected);
}

#[test]
fn a_crawler_in_several_groups_gets_one() {
    check(
        "User-agent: A\nUser-agent: B\nDisallow: /1\nCrawl-delay: 1\n\
         User-agent: a\nDisallow: /long\nCrawl-delay: 2\n",
        "User-agent: A\nDisallow: /long\nDisallow: /1\nCrawl-delay: 1\nCrawl-delay: 2\n\n\
         User-agent: B\nDisallow: /1\nCrawl-delay: 1\n",
    );
    check(
        "User-agent: A\nUser-agent: B\nDisallow: /1\nUser-agent: B\nUser-agent: A\nAllow: /2\n",
        "User-agent: A\nUser-agent: B\nAllow: /2\nDisallow: /1\n",
    );
}

#[test]
fn a_longer_name_comes_before_its_parts_and_the_star_last() {
    check(
        "User-agent: *\nDisallow: /\nUser-agent: Googlebot\nDisallow: /g\n\
         User-agent: Bingbot\nDisallow: /b\nUser-agent: googlebot-image\nDisallow: /i\n",
        "User-agent: Bingbot\nDisallow: /b\n\nUser-agent: googlebot-image\nDisallow: /i\n\n\
         User-agent: Googlebot\nDisallow: /g\n\nUser-agent: *\nDisallow: /\n",
    );
    check(
        "User-agent: bot\nUser-agent: *\nUser-agent: abot\nUser-agent: aabot\nDisallow: /\n",
        "User-agent: aabot\nUser-agent: abot\nUser-agent: bot\nUser-agent: *\nDisallow: /\n",
    );
}

/// Whether no name stands before a longer one that contains it.
fn is_in_order(file: &RobotsTxt) -> bool {
    let names: Vec<String> = file
        .groups
        .iter()
        .flat_map(|group| &group.user_agents)
        .map(|one| if is_star(&one.name) { String::new() } else { one.name.to_ascii_lowercase() })
        .collect();
    let mut rest = names.as_slice();
    while let [name, later @ ..] = rest {
        if later.iter().any(|later| later.len() > name.len() && later.contains(name.as_str())) {
            return false;
        }
        rest = later;
    }
    true
}

#[test]
fn the_order_holds_for_the_whole_catalogue_and_more_names() {
    let catalogue = include_str!("../../../../config/crawlers.yaml");
    let tokens = catalogue.split("product_token: ").skip(1);
    let names: Vec<&str> = tokens
        .filter_map(|rest| Some(rest.split([',', '}', '\n']).next()?.trim().trim_matches('"')))
        .collect();
    assert!(names.len() > 1_000, "{}", names.len());
    let set: String = names.iter().map(|name| format!("User-agent: {name}\n")).collect();
    let alone: String =
        names.iter().map(|name| format!("User-agent: {name}\nDisallow: /\n")).collect();
    for text in [
        format!(
            "User-agent: *\nDisallow: /1\nUser-agent: Googlebot\nDisallow: /2\n\
             User-agent: Googlebot-Image\nDisallow: /3\n{set}Disallow: /\n"
        ),
        format!("User-agent: *\n{set}Disallow: /\n"),
        format!("User-agent: *\nDisallow: /1\n{alone}"),
    ] {
        let arranged = arrange(&file(&text)).file;
        assert!(is_in_order(&arranged), "{arranged}");
        let last = arranged.groups.last().and_then(|group| group.user_agents.last());
        assert!(last.is_some_and(|last| is_star(&last.name)), "{arranged}");
    }
}

#[test]
fn a_file_with_too_many_circles_keeps_its_groups_and_has_the_star_last() {
    let circle = |number: usize| {
        format!(
            "User-agent: a{number:03}\nUser-agent: xb{number:03}\nDisallow: /1\n\
             User-agent: b{number:03}\nUser-agent: xa{number:03}\nDisallow: /2\n"
        )
    };
    for (number, is_ordered) in [(100, true), (101, false)] {
        let circles: String = (0..number).map(circle).collect();
        let arranged = arrange(&file(&format!("User-agent: *\nDisallow: /\n{circles}"))).file;
        assert_eq!(is_in_order(&arranged), is_ordered);
        assert_eq!(arranged.groups.len(), 1 + if is_ordered { 3 } else { 2 } * number);
        assert!(is_star(&arranged.groups[arranged.groups.len() - 1].user_agents[0].name));
    }
}

#[test]
fn a_file_as_long_as_crawlers_read_is_arranged_at_once() {
    // Work that grows with the square of the groups would take minutes.
    let many: String =
        (0..3_000).map(|at| format!("User-agent: n{at}\nDisallow: /{at}\n")).collect();
    let nested: String = (1..500)
        .map(|length| format!("User-agent: {}\nDisallow: /{length}\n", "a".repeat(length)))
        .collect();
    for text in [many, nested] {
        assert!(is_in_order(&arrange(&file(&text)).file));
    }
}

#[test]
fn a_group_is_split_only_to_break_a_circle() {
    // C waits for the circle and is no part of it; the records move along.
    check(
        "# mine\nUser-agent: C\nUser-agent: Y\nDisallow: /c\n\
         # set:x, 2 crawlers\nUser-agent: Abot\nUser-agent: Bbot-News\nUser-agent: XC\nDisallow: /1\n\
         Crawl-delay: 1\nUser-agent: Abot-News\nUser-agent: Bbot\nDisallow: /2\nCrawl-delay: 2\n",
        "# 2 of: set:x, 2 crawlers\nUser-agent: Bbot-News\nUser-agent: XC\nDisallow: /1\n\
         Crawl-delay: 1\n\n# mine\nUser-agent: C\nUser-agent: Y\nDisallow: /c\n\n\
         User-agent: Abot-News\nUser-agent: Bbot\nDisallow: /2\nCrawl-delay: 2\n\n\
         # 1 of: set:x, 2 crawlers\nUser-agent: Abot\nDisallow: /1\nCrawl-delay: 1\n",
    );
    // Another group waits for the name that shares a group with the star.
    check(
        "User-agent: *\nUser-agent: AB\nDisallow: /1\nUser-agent: A\nDisallow: /2\n",
        "User-agent: AB\nDisallow: /1\n\nUser-agent: A\nDisallow: /2\n\nUser-agent: *\nDisallow: /1\n",
    );
}

#[test]
fn the_longest_rule_comes_first_and_allow_before_disallow() {
    check(
        "User-agent: *\nAllow: /a/b\nDisallow:\nDisallow: /\nDisallow: /x/y\nAllow: /a\n\
         Disallow: /a\nDisallow: /*.php$\nDisallow: x\n",
        "User-agent: *\nDisallow: /*.php$\nAllow: /a/b\nDisallow: /x/y\nAllow: /a\nDisallow: /a\n\
         Disallow: /\nDisallow: x\n",
    );
}

#[test]
fn a_group_without_rules_has_an_empty_one() {
    check(
        "User-agent: *\nDisallow: /\nUser-agent: A\nUser-agent: B\nAllow:\nDisallow:\nCrawl-delay: 1\n",
        "User-agent: A\nUser-agent: B\nDisallow:\nCrawl-delay: 1\n\nUser-agent: *\nDisallow: /\n",
    );
    check("User-agent: *\n", "User-agent: *\nDisallow:\n");
}

#[test]
fn rfc9309_2_2_2_patterns_are_in_normal_form() {
    for (pattern, expected) in [
        ("/%7Euser/%c3%a9", "/~user/%C3%A9"),
        ("/caf\u{e9} x", "/caf%C3%A9%20x"),
        ("/a|b{2}", "/a%7Cb%7B2%7D"),
        ("/a**b*", "/a*b*"),
        ("/%2a%24x$y$", "/%2A%24x$y$"),
        ("/%2fa%3A", "/%2Fa%3A"),
        ("/%2%35", "/%25"),
        ("/%zz%", "/%zz%"),
        // It would be another pattern if it were read once more.
        ("/%%36%31", "/%%36%31"),
    ] {
        let text = format!("User-agent: *\nDisallow: {pattern}\n");
        check(&text, &format!("User-agent: *\nDisallow: {expected}\n"));
    }
    check("User-agent: *\nDisallow: /~a\nDisallow: /%7Ea\n", "User-agent: *\nDisallow: /~a\n");
}

#[test]
fn a_file_that_would_be_too_long_keeps_its_groups() {
    // Each of the names needs the rules of its own.
    let rules: String = (0..9_000).map(|number| format!("Disallow: /{number:05}\n")).collect();
    let names: String = (0..100).map(|number| format!("User-agent: n{number:03}\n")).collect();
    let own = |number: usize| {
        format!("User-agent: n{number:03}\nDisallow: /{number}\nDisallow: /longer\n")
    };
    let text = format!("{names}{rules}{}", (0..100).map(own).collect::<String>());
    let arranged = arrange(&file(&text)).file;
    assert_eq!(arranged.groups.len(), 101);
    assert_eq!(arranged.groups[100].rules[0].pattern, "/longer");
    assert!(arranged.to_string().len() <= LEAST_BYTES);
}

/// Names that contain each other, in several forms and spellings.
const NAMES: [&str; 16] = [
    "*", "a", "ab", "abc", "bc", "c", "B", "AB/1.0", "b 7", "b 8", "xab", "ab-x", "c (x)", "* all",
    "c, a", "abcd",
];

fn tricky_file() -> impl Strategy<Value = RobotsTxt> {
    let user_agent = prop::sample::select(&NAMES[..])
        .prop_map(|name| UserAgent { name: name.to_owned(), line: 0 });
    let rule = (any::<bool>(), "([/*]([ab*;]|%2[aAfF]|%6[12]|%24|//|[?])?[ab*$]{0,2}[$]?)?");
    let rule = rule.prop_map(|(allow, pattern)| {
        let directive = if allow { Directive::Allow } else { Directive::Disallow };
        Rule { directive, pattern, line: 0 }
    });
    let record = (0..3_u8, 1..5_u32).prop_map(|(kind, value)| match kind {
        0 => Record {
            name: "Crawl-delay".into(),
            value: value.to_string(),
            line: 0,
            ..Record::default()
        },
        1 => Record {
            name: "Request-rate".into(),
            value: format!("{value}/10 0600-1200"),
            line: 0,
            ..Record::default()
        },
        _ => Record {
            name: "request-rate".into(),
            value: format!("{value}/9"),
            line: 0,
            ..Record::default()
        },
    });
    let group = (
        prop::collection::vec(user_agent, 1..5),
        prop::collection::vec(rule, 0..5),
        prop::collection::vec(record, 0..2),
    );
    let group = group.prop_map(|(user_agents, rules, records)| Group {
        user_agents,
        rules,
        records,
        ..Group::default()
    });
    prop::collection::vec(group, 0..6)
        .prop_map(|groups| RobotsTxt { groups, ..RobotsTxt::default() })
}

fn is_star(name: &str) -> bool {
    name::is_star(name)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 2))]

    #[test]
    fn the_verdicts_and_the_pace_stay(
        robots in tricky_file(),
        paths in prop::collection::vec("/([ab;]|%2[aAfF]|%6[12]|%24|//|[?$*]|/[.][.]/){0,5}", 8),
    ) {
        let arranged = arrange(&robots);
        let written = arranged.file.to_string();
        let (before, after) = (Matcher::new(&robots), matcher(&written));
        let mut crawlers = BTreeSet::from(["stranger", "mj", "b 9"]);
        crawlers.extend(NAMES.iter().flat_map(|name| name::forms(name)).flatten());
        for crawler in crawlers {
            let scope = |matcher: &Matcher| matcher.group(crawler).or_else(|| matcher.star());
            prop_assert_eq!(before.group(crawler).is_some(), after.group(crawler).is_some());
            let (Some(one), Some(other)) = (scope(&before), scope(&after)) else {
                prop_assert_eq!(scope(&before).is_some(), scope(&after).is_some());
                continue;
            };
            for path in &paths {
                let target = Target::new(path.as_bytes());
                let meant = |rule: &Rule| {
                    let pattern = Pattern::compile(rule.pattern.as_bytes());
                    (rule.directive, pattern.specificity(), pattern.symbols())
                };
                let letter = |matcher: &Matcher, scope| {
                    let verdict = matcher.verdict_letter(scope, &target);
                    (verdict.access, verdict.rule.map(meant))
                };
                let rank = |(access, rule): (Access, Option<(Directive, u32, _)>)| {
                    (access, rule.map(|(directive, specificity, _)| (directive, specificity)))
                };
                let (was, is) = (letter(&before, one), letter(&after, other));
                // Of equally long rules of several groups, another one may be the first now.
                let is_own = is.1.as_ref().is_none_or(|rule| before.rules(one).any(|own| meant(own) == *rule));
                prop_assert!(is_own, "{} {}\n{}", crawler, path, written);
                prop_assert_eq!(rank(was), rank(is), "{} {}\n{}", crawler, path, written);
                let forms = |matcher: &Matcher, scope| {
                    let verdict = matcher.verdict(scope, &target);
                    (verdict.access, verdict.form)
                };
                prop_assert_eq!(forms(&before, one), forms(&after, other), "{} {}\n{}", crawler, path, written);
            }
            for minute in [0, 700] {
                let pace = |matcher: &Matcher, scope| matcher.pace(scope, minute).map(|one| one.pace);
                prop_assert_eq!(pace(&before, one), pace(&after, other), "{}\n{}", crawler, written);
            }
        }
    }

    #[test]
    fn each_name_stands_once_and_behind_the_longer_ones(robots in tricky_file()) {
        let arranged = arrange(&robots);
        let groups = &arranged.file.groups;
        let names: Vec<String> = groups
            .iter()
            .flat_map(|group| &group.user_agents)
            .map(|one| if is_star(&one.name) { String::new() } else { one.name.to_ascii_lowercase() })
            .collect();
        for (at, name) in names.iter().enumerate() {
            for later in &names[at + 1..] {
                prop_assert!(!later.contains(name.as_str()), "{:?}", names);
            }
        }
        // Sources are parallel to the rules, which are those of the file.
        prop_assert_eq!(arranged.sources.len(), groups.len());
        for (group, sources) in groups.iter().zip(&arranged.sources) {
            prop_assert_eq!(group.rules.len(), sources.len());
            for (rule, source) in group.rules.iter().zip(sources) {
                let origin = &robots.groups[source.group].rules[source.rule];
                prop_assert_eq!(rule.directive, origin.directive);
                let symbols = |rule: &Rule| Pattern::compile(rule.pattern.as_bytes()).symbols();
                prop_assert_eq!(symbols(rule), symbols(origin));
            }
            let ranks: Vec<_> = group.rules.iter().map(|rule| {
                let specificity = Pattern::compile(rule.pattern.as_bytes()).specificity();
                (std::cmp::Reverse(specificity), rule.directive)
            }).collect();
            prop_assert!(ranks.is_sorted());
        }
        // A second time nothing changes, but for the names that a split has parted.
        let again = arrange(&arranged.file).file;
        if super::super::merge::joined(&robots).expect("it is short").file.groups.len() == groups.len() {
            prop_assert_eq!(&again, &arranged.file);
        }
    }
}
