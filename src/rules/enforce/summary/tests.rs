//! Sums of files, compared with the files.

use proptest::prelude::*;

use super::*;
use crate::formats::robots::{self, Access, Matcher, Target};

fn file(text: &str) -> RobotsTxt {
    robots::parse(text.as_bytes()).0
}

/// The sum as it is judged.
fn summed(one: &RobotsTxt, other: &RobotsTxt) -> RobotsTxt {
    bounded(either_allows(one, other))
}

fn star(disallow: &[&str], allow: &[&str]) -> String {
    let line = |name: &'static str| move |pattern: &&str| format!("{name}: {pattern}\n");
    let rules = disallow.iter().map(line("Disallow")).chain(allow.iter().map(line("Allow")));
    format!("User-agent: *\n{}", rules.collect::<String>())
}

/// Whether the file allows a path to a crawler that follows its own group, else `*`.
fn allows(file: &RobotsTxt, name: &str, path: &str) -> bool {
    let matcher = Matcher::new(file);
    let group = matcher.group(name).or_else(|| matcher.star());
    group.is_none_or(|group| {
        matcher.verdict(group, &Target::new(path.as_bytes())).access == Access::Allow
    })
}

#[test]
fn the_sum_allows_what_either_file_allows() {
    for (one, other, path, expected) in [
        (star(&["/both/", "/a/"], &[]), star(&["/both/", "/b/"], &[]), "/both/x", false),
        (star(&["/both/", "/a/"], &[]), star(&["/both/", "/b/"], &[]), "/a/x", true),
        (star(&["/both/"], &["/both/x"]), star(&["/both/"], &[]), "/both/x", true),
        (star(&["/both/"], &["/both/x"]), star(&["/both/"], &[]), "/both/y", false),
        // A rule of one file covers that of the other.
        (star(&["/"], &[]), star(&["/private/"], &[]), "/private/x", false),
        (star(&["/"], &[]), star(&["/private/"], &[]), "/public", true),
        (star(&["/"], &[]), star(&["/private/*.html$"], &[]), "/private/x.html", false),
        // An allow rule between the two lengths opens a part of it.
        (star(&["/"], &["/private/x"]), star(&["/private/x/y"], &[]), "/private/x/y", true),
        (star(&["/"], &["/pri"]), star(&["/private/"], &[]), "/private/", true),
        (star(&["/"], &["/p*e"]), star(&["/private/"], &[]), "/private/", true),
        (star(&["/"], &["/other"]), star(&["/private/"], &[]), "/private/", false),
        // A rule with a wildcard decides paths that a longer allow rule opens.
        (star(&["/"], &["/private/x"]), star(&["/private/*.html$"], &[]), "/private/x.html", true),
        (star(&["/"], &["/other"]), star(&["/private/*.html$"], &[]), "/private/x.html", false),
        // The first file allows the octets as sent, for its allow rule spells them. In the sum, the
        // longer allow rule decides, which does not.
        (star(&["/"], &["//"]), star(&["/"], &["/*b"]), "//b", true),
        (star(&["/", "/a/"], &["//b"]), star(&["/"], &["//b"]), "/a/", false),
    ] {
        for (one, other) in [(&one, &other), (&other, &one)] {
            let sum = summed(&file(one), &file(other));
            assert_eq!(allows(&sum, "AnyBot", path), expected, "{one}{other}{path}");
        }
    }
}

#[test]
fn a_name_of_one_file_alone_may_follow_any_group_of_the_other() {
    let one = file(&star(&["/x/"], &[]));
    let other = file(&format!("User-agent: GPTBot\nDisallow: /x/\n\n{}", star(&["/x/"], &[])));
    let sum = summed(&one, &other);
    assert!(allows(&sum, "GPTBot", "/x/") && !allows(&sum, "AnyBot", "/x/"));
}

#[test]
fn a_pace_counts_only_where_both_files_have_it() {
    for (delay, is_kept) in [("5", true), ("9", false)] {
        let text =
            |delay: &str| file(&format!("User-agent: *\nDisallow: /x\nCrawl-delay: {delay}\n"));
        let sum = either_allows(&text("5"), &text(delay));
        assert_eq!(sum.groups.iter().any(|group| !group.records.is_empty()), is_kept);
    }
}

#[test]
fn a_sum_is_bounded_by_its_allow_rules_alone() {
    // The longest files, without a needless octet.
    let long = |own: &str| {
        let rules: String =
            (0..).map(|number| format!("Disallow:/{number}\n")).take(31_000).collect();
        file(&format!("User-agent:*\nDisallow:/{own}/\n{rules}"))
    };
    let sum = summed(&long("one"), &long("other"));
    assert!(sum.to_string().len() > 490 << 10);
    assert!(!allows(&sum, "AnyBot", "/27000") && allows(&sum, "AnyBot", "/one/x"));
    let names: String = (0..9_000).map(|number| format!("User-agent:{number:040}\n")).collect();
    let named = file(&format!("User-agent:*\n{names}Disallow:/x\n"));
    assert!(!allows(&summed(&named, &named), "AnyBot", "/x"));
    let many = |letter: char| {
        let rules: String =
            (0..24_000).map(|number| format!("Allow:/{letter}{number}\n")).collect();
        file(&format!("User-agent:*\nDisallow:/\n{rules}"))
    };
    let files = ['a', 'b', 'c', 'd', 'e'].map(many);
    let sum = files.iter().skip(1).fold(files[0].clone(), |sum, file| either_allows(&sum, file));
    assert!(allows(&bounded(sum), "AnyBot", "/anything"));
}

fn texts() -> impl Strategy<Value = String> {
    let pattern =
        prop::collection::vec(prop::sample::select(vec!["/", "a", "b", "*", "%41"]), 0..5);
    let rule = (prop::bool::ANY, pattern).prop_map(|(allow, parts)| {
        let directive = if allow { "Allow" } else { "Disallow" };
        format!("{directive}: /{}\n", parts.concat())
    });
    let group = |name: &'static str| {
        prop::collection::vec(rule.clone(), 0..5)
            .prop_map(move |rules| format!("User-agent: {name}\n{}", rules.concat()))
    };
    (group("*"), prop::option::of(group("GPTBot")), group("bingbot")).prop_map(
        |(star, gptbot, bingbot)| format!("{star}\n{}\n{bingbot}", gptbot.unwrap_or_default()),
    )
}

proptest! {
    #[test]
    fn nothing_is_disallowed_that_one_of_the_files_allows(
        one in texts(), other in texts(), third in texts(), path in "/[ab/A]{0,5}",
    ) {
        let files = [file(&one), file(&other), file(&third)];
        let sum = summed(&summed(&files[0], &files[1]), &files[2]);
        for name in ["GPTBot", "bingbot", "AnyBot"] {
            let is_allowed = files.iter().any(|file| allows(file, name, &path));
            prop_assert!(!is_allowed || allows(&sum, name, &path), "{name} {path}\n{sum}");
        }
    }
}
