//! The differences of two files.

use proptest::prelude::*;

use super::difference::{
    Difference, Differences, Judged, MAX_DIFFERENCES, differences, differences_within, sample,
};
use crate::formats::robots::*;

fn file(text: &str) -> RobotsTxt {
    parse(text.as_bytes()).0
}

/// The rows as text, one a line.
fn rows(before: &str, after: &str) -> String {
    let judged = |judged: &Judged| {
        let rule = judged.rule.as_ref();
        let rule = rule.map(|rule| format!(" {} {}", rule.directive.field_name(), rule.pattern));
        judged.access.as_str().to_owned() + &rule.unwrap_or_default()
    };
    let found = differences(&file(before), &file(after));
    assert_eq!(found.omitted, 0);
    let line = |row: &Difference| {
        let tokens = row.tokens.join(" ");
        format!("{tokens} | {} | {} | {}\n", row.path, judged(&row.before), judged(&row.after))
    };
    found.rows.iter().map(line).collect()
}

#[test]
fn a_pattern_has_sample_paths() {
    for (pattern, paths) in [
        ("/", &["/", "/x"][..]),
        ("/a/", &["/a/", "/a/x"]),
        ("/a$", &["/a"]),
        ("/a*", &["/a", "/ax"]),
        ("/a*$", &["/a", "/ax"]),
        ("/*.php$", &["/x.php"]),
        ("/**.php", &["/x.php", "/x.phpx"]),
        ("*", &["/", "/x"]),
        ("*$", &["/", "/x"]),
        ("$", &[]),
        ("*.pdf$", &["/x.pdf"]),
        ("*/private/", &["/x/private/", "/x/private/x"]),
        ("/*?s=*&t", &["/x?s=x&t", "/x?s=x&tx"]),
        ("/a$b", &["/a$b", "/a$bx"]),
        ("/%4*1$", &["/%4x1"]),
        ("/caf\u{e9}$", &["/caf%C3%A9"]),
        ("", &[]),
        ("a", &[]),
    ] {
        assert_eq!(sample(pattern).unwrap_or_default(), paths, "{pattern}");
    }
}

#[test]
fn a_difference_has_the_rules_that_decide() {
    assert_eq!(
        rows(
            "User-agent: *\nDisallow: /a\nDisallow: /b\n",
            "User-agent: *\nDisallow: /a\nAllow: /b/c\nDisallow: /d*e$\n"
        ),
        "* | /b | disallow Disallow /b | allow\n\
         * | /b/c | disallow Disallow /b | allow Allow /b/c\n\
         * | /de | allow | disallow Disallow /d*e$\n"
    );
    assert_eq!(
        rows("User-agent: *\nDisallow: /\n", "User-agent: *\nDisallow: /$\n"),
        "* | /x | disallow Disallow / | allow\n"
    );
}

#[test]
fn the_same_answer_is_no_difference() {
    for (before, after) in [
        ("User-agent: *\nDisallow: /a\n", "User-agent: *\nDisallow: /a*\n"),
        ("User-agent: *\nDisallow: /a\nDisallow: /a/b\n", "User-agent: *\nDisallow: /a\n"),
        ("User-agent: *\nDisallow: /robots.txt$\n", "User-agent: *\nDisallow:\n"),
        ("User-agent: *\nAllow: /\n", ""),
        ("User-agent: a\nUser-agent: *\nDisallow: /\n", "User-agent: *\nDisallow: /\n"),
        ("User-agent: *\nDisallow: /a\nAllow: /a\n", "User-agent: *\nAllow: /a\n"),
    ] {
        assert_eq!(rows(before, after), "", "{before}{after}");
    }
}

#[test]
fn rfc9309_2_2_1_a_crawler_that_is_no_longer_named_follows_the_star() {
    let before =
        "User-agent: *\nDisallow: /a\nUser-agent: Foo\nUser-agent: Bar/1.0\nDisallow: /f\n";
    let after = "User-agent: *\nDisallow: /a\nUser-agent: Bar\nDisallow: /f\n";
    assert_eq!(
        rows(before, after),
        "Foo | /a | allow | disallow Disallow /a\nFoo | /f | disallow Disallow /f | allow\n"
    );
}

#[test]
fn crawlers_with_the_same_groups_share_a_row() {
    let before =
        "User-agent: C\nUser-agent: a\nUser-agent: *\nDisallow: /\nUser-agent: b\nAllow: /\n";
    assert_eq!(
        rows(before, "User-agent: b\nDisallow: /x\n"),
        "* a C | / | disallow Disallow / | allow\nb | /x | allow Allow / | disallow Disallow /x\n"
    );
}

#[test]
fn the_rows_are_bounded_and_the_others_counted() {
    let lines: String = (0..1500).map(|at| format!("Disallow: /{at}/\n")).collect();
    let found = differences(&file(&format!("User-agent: *\n{lines}")), &RobotsTxt::default());
    assert_eq!((found.rows.len(), found.omitted), (MAX_DIFFERENCES, 500));
    assert!(found.is_exact && found.rows.is_sorted_by(|a, b| a.pattern < b.pattern));
}

fn small_file() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        1 => "User-agent: ([abc]|\\*|b 1\\.0|c/2)",
        3 => "(Allow|Disallow): ([/*][ab*%4]{0,3}[$]?)?",
    ];
    prop::collection::vec(line, 0..9).prop_map(|lines| lines.join("\n"))
}

/// The judgement of the matcher.
fn judged(matcher: &Matcher, token: &str, path: &str) -> Judged {
    let scope = matcher.group(token).or_else(|| matcher.star());
    let target = Target::new(path.as_bytes());
    let verdict = scope.map(|scope| matcher.verdict_letter(scope, &target));
    Judged {
        access: verdict.map_or(Access::Allow, |verdict| verdict.access),
        rule: verdict.and_then(|verdict| verdict.rule).cloned(),
    }
}

proptest! {
    #[test]
    fn a_sample_is_a_path_of_its_pattern(pattern in "[/*][ -\"$-~\u{e9}]{0,12}") {
        let compiled = Pattern::compile(pattern.as_bytes());
        for path in sample(&pattern).expect("it matches something") {
            let target = Target::new(path.as_bytes());
            prop_assert!(compiled.matches(target.letter()), "{} {}", pattern, path);
        }
    }

    #[test]
    fn a_path_is_judged_differently_if_and_only_if_a_row_has_its_rules(
        before in small_file(),
        after in small_file(),
        paths in prop::collection::vec("/[abx*%4.]{0,6}", 1..40),
    ) {
        let (before, after) = (file(&before), file(&after));
        prop_assert_eq!(differences(&before, &before), Differences::default());
        let found = differences(&before, &after);
        prop_assert!(found.is_exact);
        let matchers = [Matcher::new(&before), Matcher::new(&after)];
        for Difference { tokens, pattern, path, before, after } in &found.rows {
            prop_assert!(before.access != after.access);
            let rules = || [before, after].into_iter().filter_map(|judged| judged.rule.as_ref());
            prop_assert!(rules().any(|rule| rule.pattern == *pattern));
            for token in tokens.iter() {
                prop_assert_eq!(&judged(&matchers[0], token, path), before);
                prop_assert_eq!(&judged(&matchers[1], token, path), after);
            }
        }
        let tokens = found.rows.iter().flat_map(|row| row.tokens.iter().map(String::as_str));
        let tokens: std::collections::BTreeSet<&str> = tokens.chain(["*"]).collect();
        let mut samples = paths;
        let groups = before.groups.iter().chain(&after.groups);
        let patterns = groups.flat_map(|group| &group.rules).map(|rule| &rule.pattern);
        samples.extend(patterns.filter_map(|pattern| sample(pattern)).flatten());
        for (token, path) in tokens.iter().flat_map(|token| samples.iter().map(move |path| (token, path))) {
            let [before, after] = matchers.each_ref().map(|matcher| judged(matcher, token, path));
            let is_listed = found.rows.iter().any(|row| {
                row.before == before && row.after == after && row.tokens.iter().any(|t| t == token)
            });
            prop_assert_eq!(before.access != after.access, is_listed, "{} {}", token, path);
        }
    }

    #[test]
    fn a_crawler_without_a_row_is_judged_alike(
        before in small_file(),
        after in small_file(),
        paths in prop::collection::vec("/[abx*%4.]{0,6}", 1..40),
    ) {
        let (before, after) = (file(&before), file(&after));
        let found = differences(&before, &after);
        let matchers = [Matcher::new(&before), Matcher::new(&after)];
        let groups = before.groups.iter().chain(&after.groups);
        let names: Vec<&str> = groups
            .flat_map(|group| &group.user_agents)
            .flat_map(|ua| name_forms(&ua.name).into_iter().flatten())
            .collect();
        let is_listed = |name: &str| {
            found.rows.iter().any(|row| row.tokens.iter().any(|t| t.eq_ignore_ascii_case(name)))
        };
        for name in names.iter().filter(|name| !is_listed(name)) {
            for path in &paths {
                let [before, after] = matchers.each_ref().map(|matcher| judged(matcher, name, path));
                prop_assert_eq!(before.access, after.access, "{} {}", name, path);
            }
        }
    }
}

#[test]
fn only_the_overlap_of_two_patterns_differs() {
    assert_eq!(
        rows(
            "User-agent: *\nDisallow: /*/b/\nAllow: /a/long/*.html\n",
            "User-agent: *\nDisallow: /*/b/\nDisallow: /a/long/*.html\nAllow: /*/c/$\n"
        ),
        "* | //b/c/ | disallow Disallow /*/b/ | allow Allow /*/c/$\n\
         * | /a/long/.html | allow Allow /a/long/*.html | disallow Disallow /a/long/*.html\n"
    );
}

#[test]
fn a_search_without_end_gives_way_to_samples() {
    let wild = |word: &str| -> String {
        (0..60).map(|at| format!("Disallow: /*{word}{at}*{at}x*{at}y*\n")).collect()
    };
    let (before, after) = (wild("a"), wild("b"));
    let (before, after) =
        (file(&format!("User-agent: *\n{before}")), file(&format!("User-agent: *\n{after}")));
    let found = differences_within(&before, &after, 1_000);
    assert!(!found.is_exact && !found.is_partial);
    assert_eq!(found.rows.len(), 120);
}

#[test]
fn long_files_are_compared_exactly() {
    let lines = |skipped: usize| -> String {
        let line = |at: usize| match at % 10 {
            0 => format!("Disallow: /*?filter{at}=\n"),
            _ => format!("Disallow: /shop/category-{at}/\n"),
        };
        let lines: String = (0..1_000).filter(|at| *at != skipped).map(line).collect();
        format!("User-agent: *\n{lines}")
    };
    let found = differences(&file(&lines(501)), &file(&lines(510)));
    assert!(found.is_exact);
    let found: Vec<&str> = found.rows.iter().map(|row| row.pattern.as_str()).collect();
    assert_eq!(found, ["/*?filter510=", "/shop/category-501/"]);
}

#[test]
fn files_with_many_rules_and_groups_are_compared_in_part() {
    let (mut many_rules, mut many_groups) = ("User-agent: *\n".to_owned(), String::new());
    for number in 0..2_000 {
        many_rules.push_str(&format!("Disallow: /{number}/\n"));
        many_groups.push_str(&format!("User-agent: {}\nDisallow: /a\n", name(number)));
    }
    let (before, after) = (parse(many_rules.as_bytes()).0, parse(many_groups.as_bytes()).0);
    let found = differences_within(&before, &after, 10_000);
    assert!(found.is_partial);
    assert_eq!(found.rows.len() + found.omitted, 2_000 + 3 * 2_001, "* and the first three");
    let found = differences_within(&after, &after, 10_000);
    assert!(found.rows.is_empty() && !found.is_partial);
}

/// A product token of letters.
fn name(number: u32) -> String {
    let letter = |digit: char| char::from(b'a' + (digit as u8 - b'0'));
    number.to_string().chars().map(letter).collect()
}
