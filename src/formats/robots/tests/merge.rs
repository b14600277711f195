//! Merged files, checked against the definition.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

const HEADER: &str = "# Merged with the origin's own robots.txt.\n";

fn file(text: &str) -> RobotsTxt {
    parse(text.as_bytes()).0
}

fn merged(base: &str, own: &str, overriding: &[bool]) -> Merged {
    merge(&file(base), &file(own), overriding).expect("it is short")
}

#[track_caller]
fn check(base: &str, own: &str, overriding: &[bool], expected: &str) {
    let written = merged(base, own, overriding).file.to_string();
    assert_eq!(written, HEADER.to_owned() + expected);
}

#[test]
fn rfc9309_2_2_1_groups_with_the_same_token_are_joined() {
    check(
        "User-agent: A\nDisallow: /base\n",
        "User-agent: a\nDisallow: /own\n",
        &[],
        "\nUser-agent: a\nDisallow: /own\nDisallow: /base\n",
    );
    check(
        "User-agent: *\nDisallow: /base\nUser-agent: C\nDisallow: /c\n",
        "User-agent: B\nAllow: /b\nUser-agent: * all\nDisallow: /own\n",
        &[],
        "\nUser-agent: B\nAllow: /b\n\nUser-agent: *\nDisallow: /own\nDisallow: /base\n\n\
         User-agent: C\nDisallow: /c\n",
    );
}

#[test]
fn names_with_the_same_groups_share_one_and_others_are_separated() {
    check(
        "# theirs\nUser-agent: B\nUser-agent: C\nUser-agent: D\nDisallow: /base\n",
        "# mine\nUser-agent: A\nUser-agent: B\nUser-agent: C\nDisallow: /own\n",
        &[],
        // A heading is true of the names below it.
        "\n# 1 of: mine\nUser-agent: A\nDisallow: /own\n\n\
         # 2 of: mine; with the origin's rules\nUser-agent: B\nUser-agent: C\nDisallow: /own\n\
         Disallow: /base\n\nUser-agent: D\nDisallow: /base\n",
    );
    // The groups of one file are joined as well.
    check(
        "User-agent: A\nDisallow: /1\nUser-agent: B\nDisallow: /2\nUser-agent: A\nDisallow: /3\n",
        "",
        &[],
        "\nUser-agent: A\nDisallow: /1\nDisallow: /3\n\nUser-agent: B\nDisallow: /2\n",
    );
}

#[test]
fn a_group_that_overrides_replaces_the_base_for_the_crawlers_it_names() {
    let base = "User-agent: A\nUser-agent: B\nUser-agent: *\nDisallow: /base\nCrawl-delay: 9\n";
    let own = "User-agent: A\nAllow: /own\nUser-agent: *\nUser-agent: A\nDisallow: /x\n";
    check(
        base,
        own,
        &[true],
        "\nUser-agent: A\nAllow: /own\nDisallow: /x\n\n\
         User-agent: *\nDisallow: /x\nDisallow: /base\nCrawl-delay: 9\n\n\
         User-agent: B\nDisallow: /base\nCrawl-delay: 9\n",
    );
    check(
        base,
        own,
        &[false, true],
        "\nUser-agent: A\nAllow: /own\nDisallow: /x\n\nUser-agent: *\nDisallow: /x\n\n\
         User-agent: B\nDisallow: /base\nCrawl-delay: 9\n",
    );
}

#[test]
fn rules_come_once_and_empty_ones_stay() {
    let (base, own) = (
        "User-agent: *\nDisallow: /\u{e9}\nDisallow: /x\nAllow: /x\nDisallow:\n",
        "User-agent: *\nDisallow: /y\nDisallow: /x\nDisallow: /%C3%A9\n",
    );
    check(
        base,
        own,
        &[],
        "\nUser-agent: *\nDisallow: /y\nDisallow: /x\nDisallow: /%C3%A9\nAllow: /x\nDisallow:\n",
    );
    let Merged { file, sources } = merged(base, own, &[]);
    let from = |side, rule| Source { side, group: 0, rule };
    assert_eq!(
        sources,
        [[
            from(Side::Own, 0),
            from(Side::Own, 1),
            from(Side::Own, 2),
            from(Side::Base, 2),
            from(Side::Base, 3)
        ]]
    );
    assert_eq!(file.groups[0].rules[3].line, 4, "the line in the origin's file");
    check(
        "User-agent: A\n",
        "User-agent: B\nDisallow:\n",
        &[],
        "\nUser-agent: B\nDisallow:\n\nUser-agent: A\nDisallow:\n",
    );
}

#[test]
fn own_records_replace_those_of_their_name() {
    let base = "Unicorns: 1\nUser-agent: *\nDisallow: /\nCRAWL-DELAY: 9\nRequest-rate: 1/5\n\
                Sitemap: https://e.com/1\nSitemap: https://e.com/2\n";
    let own = "# mine\n\nUser-agent: *\nAllow: /\nCrawl-delay: 1\nCrawl-delay: 1\n\
               Crawl-delay: 2\nsitemap: https://e.com/2\nSitemap: https://e.com/3\n";
    assert_eq!(
        merged(base, own, &[]).file.to_string(),
        format!(
            "# mine\n{HEADER}\nUnicorns: 1\n\nUser-agent: *\nAllow: /\nDisallow: /\n\
             Crawl-delay: 1\nCrawl-delay: 2\nRequest-rate: 1/5\n\n\
             sitemap: https://e.com/2\nSitemap: https://e.com/3\nSitemap: https://e.com/1\n"
        )
    );
}

#[test]
fn names_in_other_forms_are_the_same_crawler() {
    check(
        "User-agent: A 1.0\nDisallow: /base\nUser-agent: a/2\nDisallow: /two\n",
        "User-agent: A (news)\nDisallow: /own\n",
        &[],
        "\nUser-agent: A (news)\nUser-agent: a/2\nDisallow: /own\nDisallow: /two\n\n\
         User-agent: A 1.0\nDisallow: /own\nDisallow: /base\n",
    );
    // The crawler A obeys both lines of the own file, so the line that overrides counts for it.
    check(
        "User-agent: A 3.0\nDisallow: /base\n",
        "User-agent: A 1.0\nAllow: /1\nUser-agent: A 2.0\nAllow: /2\n",
        &[true, false],
        "\nUser-agent: A 1.0\nAllow: /1\n\n\
         User-agent: A 2.0\nAllow: /2\nDisallow: /base\n\n\
         User-agent: A 3.0\nUser-agent: A\nAllow: /1\nAllow: /2\n",
    );
    // Lines that name no crawler are left out.
    check("User-agent: /1.0\nUser-agent: A\u{1}\nDisallow: /\n", "", &[], "");
}

#[test]
fn rfc9309_2_5_a_result_that_is_too_long_is_refused_before_it_is_built() {
    let long = |names: usize, rules: usize| {
        let mut text = String::new();
        for name in 0..names {
            text += &format!("User-agent: bot{name}\nDisallow: /{name}\n");
        }
        (0..names).for_each(|name| text += &format!("User-agent: bot{name}\n"));
        (0..rules).for_each(|rule| text += &format!("Disallow: /some/path/{rule}\n"));
        file(&text)
    };
    let merged = merge(&long(5, 100), &RobotsTxt::default(), &[]).expect("it is short enough");
    assert_eq!(merged.file.rule_count(), 505);
    let refused =
        merge(&long(4000, 5000), &RobotsTxt::default(), &[]).expect_err("20,000,000 rules");
    assert_eq!(refused.code, "robots.merged_too_long");
    assert_eq!(refused.message, "the merged file would be longer than 500 KiB");
    // Counted low until the file is written: a letter outside ASCII counts two octets, not six.
    let wide = file(&format!("User-agent: *\nDisallow: /{}\n", "\u{e9}".repeat(100_000)));
    assert!(merge(&wide, &RobotsTxt::default(), &[]).is_err());
}

// === checked against the definition

const NAMES: [&str; 14] = [
    "*",
    "* all",
    "A",
    "a/1.0",
    "B",
    "A 1.0",
    "A 2.0",
    "a (x)",
    "B*",
    "MJ12bot",
    "A 2 v3",
    "One, B",
    "http://h/a",
    "/1",
];

/// The groups of a file that name the crawler, by the definition in `robots/name.rs`.
pub(super) fn naming(robots: &RobotsTxt, crawler: &str) -> Vec<usize> {
    for own in name::forms(crawler).into_iter().flatten() {
        for form in 0..name::FORMS {
            let names = |ua: &UserAgent| {
                name::forms(&ua.name)[form].is_some_and(|name| name.eq_ignore_ascii_case(own))
            };
            let groups = robots.groups.iter().enumerate();
            let found: Vec<_> = groups
                .filter(|(_, group)| group.user_agents.iter().any(names))
                .map(|(at, _)| at)
                .collect();
            if !found.is_empty() {
                return found;
            }
        }
    }
    Vec::new()
}

pub(super) fn for_star(robots: &RobotsTxt) -> Vec<usize> {
    let is_star = |group: &Group| group.user_agents.iter().any(|ua| name::is_star(&ua.name));
    (0..robots.groups.len()).filter(|&at| is_star(&robots.groups[at])).collect()
}

/// The rules of the two files for the crawler, by the definition.
fn rules<'a>(
    base: &'a RobotsTxt,
    own: &'a RobotsTxt,
    overriding: &[bool],
    crawler: &str,
) -> Vec<&'a Rule> {
    let (mut of_own, mut of_base) = (naming(own, crawler), naming(base, crawler));
    if of_own.is_empty() && of_base.is_empty() {
        (of_own, of_base) = (for_star(own), for_star(base));
    }
    if of_own.iter().any(|&at| overriding.get(at) == Some(&true)) {
        of_base.clear();
    }
    let own = of_own.iter().flat_map(|&at| &own.groups[at].rules);
    own.chain(of_base.iter().flat_map(|&at| &base.groups[at].rules)).collect()
}

fn is_allowed(rules: &[&Rule], path: &str) -> bool {
    let matching = rules.iter().filter(|rule| !rule.pattern.is_empty()).filter_map(|rule| {
        let pattern = Pattern::compile(rule.pattern.as_bytes());
        pattern
            .matches(Target::new(path.as_bytes()).letter())
            .then(|| (pattern.specificity(), rule.directive == Directive::Allow))
    });
    matching.max().is_none_or(|(_, allows)| allows)
}

fn small_file() -> impl Strategy<Value = RobotsTxt> {
    let user_agent = prop::sample::select(&NAMES[..])
        .prop_map(|name| UserAgent { name: name.to_owned(), line: 0 });
    let rule = (any::<bool>(), "([/*][ab*]{0,2}[$]?)?").prop_map(|(allow, pattern)| {
        let directive = if allow { Directive::Allow } else { Directive::Disallow };
        Rule { directive, pattern, line: 0 }
    });
    let group = (prop::collection::vec(user_agent, 1..4), prop::collection::vec(rule, 0..4))
        .prop_map(|(user_agents, rules)| Group { user_agents, rules, ..Group::default() });
    prop::collection::vec(group, 0..5)
        .prop_map(|groups| RobotsTxt { groups, ..RobotsTxt::default() })
}

/// Checks that `file`, written and read, means for every crawler what the definition says.
fn check_meaning(
    file: &RobotsTxt,
    base: &RobotsTxt,
    own: &RobotsTxt,
    overriding: &[bool],
) -> Result<(), TestCaseError> {
    let written = file.to_string();
    let matcher = matcher(&written);
    let mut crawlers = BTreeSet::from(["stranger", "mj", "b 7"]);
    crawlers.extend(NAMES.iter().flat_map(|name| name::forms(name)).flatten());
    for crawler in crawlers {
        let rules = rules(base, own, overriding, crawler);
        let scope = matcher.group(crawler).or_else(|| matcher.star());
        for path in ["/", "/a", "/b", "/ab", "/ba", "/aab", "/bb", "/x"] {
            let target = Target::new(path.as_bytes());
            let allowed = scope
                .is_none_or(|scope| matcher.verdict_letter(scope, &target).access == Access::Allow);
            prop_assert_eq!(allowed, is_allowed(&rules, path), "{} {}\n{}", crawler, path, written);
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn the_merged_file_follows_the_definition(
        base in small_file(),
        own in small_file(),
        overriding in prop::collection::vec(any::<bool>(), 0..5),
    ) {
        let merged = merge(&base, &own, &overriding).expect("it is short");
        check_meaning(&merged.file, &base, &own, &overriding)?;
        // Each rule is that of its source. Both lists are parallel to each other, and to the file
        // that is read back.
        let read = file(&merged.file.to_string());
        prop_assert_eq!(merged.sources.len(), merged.file.groups.len());
        prop_assert_eq!(merged.sources.len(), read.groups.len());
        for ((group, sources), read) in merged.file.groups.iter().zip(&merged.sources).zip(&read.groups) {
            prop_assert_eq!(group.rules.len(), sources.len());
            prop_assert!(read.rules.len() == sources.len() || sources.is_empty());
            for (rule, source) in group.rules.iter().zip(sources) {
                let side = if source.side == Side::Own { &own } else { &base };
                prop_assert_eq!(rule, &side.groups[source.group].rules[source.rule]);
            }
        }
        // A second time nothing changes.
        let again = merge(&merged.file, &merged.file, &[]).expect("it is as short");
        prop_assert_eq!(again.file, merged.file);
    }

    #[test]
    fn a_merge_with_nothing_or_itself_changes_nothing(
        robots in small_file(),
        overriding in prop::collection::vec(any::<bool>(), 0..5),
    ) {
        let nothing = RobotsTxt::default();
        for (base, own, overriding) in [
            (&robots, &nothing, &[][..]),
            (&nothing, &robots, &overriding[..]),
            (&robots, &robots, &[]),
            (&robots, &robots, &overriding[..]),
        ] {
            let merged = merge(base, own, overriding).expect("it is short");
            check_meaning(&merged.file, &robots, &nothing, &[])?;
        }
    }
}
