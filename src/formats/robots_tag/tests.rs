//! The promises of the room as tables. Names cite the section of draft-illyes-repext-03 unless they
//! say otherwise.

mod draft;
mod laws;

use super::*;
use crate::base::{
    diagnostic::{Diagnostic, Severity},
    product_token::ProductToken,
};

fn token(text: &str) -> Option<ProductToken> {
    ProductToken::new(text)
}

fn codes(findings: &[Diagnostic]) -> Vec<&str> {
    findings.iter().map(|finding| finding.code).collect()
}

fn strict_rules(lines: &[&str], crawler: &str) -> Vec<String> {
    let lines: Vec<&[u8]> = lines.iter().map(|line| line.as_bytes()).collect();
    effective(&read(&lines).0, &[], token(crawler).as_ref())
}

fn legacy_rules(lines: &[&str], crawler: &str) -> Vec<String> {
    let lines: Vec<&[u8]> = lines.iter().map(|line| line.as_bytes()).collect();
    effective(&RobotsTag::new(), &[&read_legacy(&lines).0], token(crawler).as_ref())
}

fn tag(members: &[(&str, &[&str])]) -> RobotsTag {
    let mut tag = RobotsTag::new();
    for (name, rules) in members {
        for rule in *rules {
            let scope = token(name).map_or(Scope::Any, Scope::Token);
            tag.add(scope, Rule::new(rule).expect("a valid rule"));
        }
    }
    tag
}

// The syntax of the draft's first text.

#[test]
fn draft_00_2_1_1_the_examples_of_the_first_syntax_are_understood() {
    for line in [
        "*=noindex, nosnippet; ExampleBot=;",
        "noindex, nosnippet; ExampleBot=;",
        " noindex, nosnippet; ExampleBot=;",
    ] {
        let reading = read_leniently(line.as_bytes());
        assert!(!reading.valid);
        assert_eq!(codes(&reading.diagnostics), ["robots_tag.old_draft_syntax"], "{line}");
        assert_eq!(reading.tag, tag(&[("*", &["noindex", "nosnippet"])]), "{line}");
        assert!(read(&[line.as_bytes()]).0.is_empty(), "{line}");
    }
    let reading =
        read_leniently(b"NoIndex; GoogleBot = nosnippet, max-snippet=20; OtherBot=nofollow");
    let meant = tag(&[
        ("*", &["noindex"]),
        ("Googlebot", &["nosnippet", "max-snippet=20"]),
        ("OtherBot", &["nofollow"]),
    ]);
    assert_eq!(reading.tag, meant);
}

// Reading, strict.

#[test]
fn draft_3_1_1_a_crawler_follows_the_union() {
    let none: &[&str] = &[];
    for (lines, crawler, rules) in [
        (&["*;noindex, ExampleBot"][..], "ExampleBot", &["noindex"][..]),
        (&["a;noindex, A;nosnippet"], "a", &["noindex", "nosnippet"]),
        (&["*;noindex", "b;nosnippet"], "b", &["noindex", "nosnippet"]),
        (&["*;noindex", "b;nosnippet"], "b-image", &["noindex"]),
        (&["\"360Spider\";noindex"], "360spider", &["noindex"]),
        (&["\"*\";noindex"], "x", &["noindex"]),
        (&["\" b\";noindex"], "b", none),
        (&["Mozilla/5.0;noindex"], "Mozilla", none),
        (&["*;noindex=?1;nosnippet=?0"], "x", &["noindex"]),
        (&["*;noindex;noindex=?0"], "x", none),
        (&["*;noindex=?0, *;noindex"], "x", &["noindex"]),
        (&["*;noindex=yes"], "x", none),
        (&["(a b);noindex, 3;x, :YQ==:;y, *;nosnippet"], "a", &["nosnippet"]),
        (&["*;foo;noarchive;max-snippet=20"], "x", &["foo", "max-snippet=20", "noarchive"]),
        (&["*;max-snippet=50, b;max-snippet=20"], "b", &["max-snippet=20"]),
        (&["*;max-snippet=20, b;max-snippet=-1"], "b", &["max-snippet=20"]),
        (
            &["*;unavailable_after=\"2030-01-01, noon\""],
            "x",
            &["unavailable_after=2030-01-01, noon"],
        ),
        (&["*;noindex, \"Exam", "ple\";nosnippet"], "x", &["noindex"]),
        (&[""], "x", none),
    ] {
        assert_eq!(strict_rules(lines, crawler), rules, "{lines:?}");
    }
}

#[test]
fn rfc9651_4_2_one_bad_octet_voids_all_lines() {
    for (lines, code) in [
        (&["*;noindex,"][..], "robots_tag.trailing_comma"),
        (&["*;noindex;"], "robots_tag.invalid_field"),
        (&["*; ;noindex"], "robots_tag.invalid_field"),
        (&["*;noindex="], "robots_tag.invalid_field"),
        (&["_bot;noindex"], "robots_tag.invalid_field"),
        (&["*;noindex\u{e9}"], "robots_tag.invalid_field"),
        (&["*;NOINDEX"], "robots_tag.upper_case_key"),
        (&["*;noindex", "googlebot: nofollow"], "robots_tag.legacy_syntax"),
        (&["*=noindex"], "robots_tag.old_draft_syntax"),
    ] {
        let lines: Vec<&[u8]> = lines.iter().map(|line| line.as_bytes()).collect();
        let (tag, findings) = read(&lines);
        assert!(tag.is_empty());
        assert_eq!(codes(&findings), [code], "{lines:?}");
        assert_eq!(findings[0].severity, Severity::Error);
        assert!(findings[0].help.is_some());
    }
}

#[test]
fn valid_fields_that_mean_less_than_intended_are_reported() {
    for (line, found) in [
        (
            "noindex, nofollow",
            &["robots_tag.rule_as_product_token", "robots_tag.rule_as_product_token"][..],
        ),
        ("googlebot:noindex", &["robots_tag.legacy_syntax"]),
        ("a/b#c;noindex", &["robots_tag.not_a_product_token"]),
        ("ExampleBot", &["robots_tag.no_rules"]),
        ("*;noindex=yes", &["robots_tag.value_not_boolean"]),
        ("*;max-snippet=many", &["robots_tag.wrong_value"]),
        ("*;max-snippet", &["robots_tag.wrong_value"]),
        ("*;noindx", &["robots_tag.unknown_rule"]),
        ("*;all;noindex", &["robots_tag.contradiction"]),
        ("*;noindex, b;all", &["robots_tag.contradiction"]),
        ("*;noindex;noindex", &["robots_tag.repeated_rule"]),
        ("*;noindex=?0", &["robots_tag.unset_rule"]),
        ("(a b);noindex", &["robots_tag.not_a_product_token"]),
    ] {
        assert_eq!(codes(&read(&[line.as_bytes()]).1), found, "{line}");
    }
    let many = "a, ".repeat(500) + "a";
    assert_eq!(read(&[many.as_bytes()]).1.len(), 32);
}

#[test]
fn draft_3_1_1_the_limit_ignores_the_member_that_it_cuts() {
    // The filler ends so that `next` begins at octet `at` (from 0).
    let field = |at: usize, next: &str| {
        let filler = format!("*;nosnippet, {}, ", "x".repeat(at - 15));
        assert_eq!(filler.len(), at);
        filler + next
    };
    for (field, rules) in [
        (field(8192 - 9, "a;noindex"), &["noindex", "nosnippet"][..]), // all of it fits
        (field(8192 - 9, "a;noindex,b"), &["noindex", "nosnippet"]),   // whole, as the comma tells
        (field(8192 - 9, "a;noindex ,b"), &["nosnippet"]),
        (field(8192 - 9, "a;noindexx"), &["nosnippet"]),
        (field(8192 - 8, "a;noindex"), &["nosnippet"]),
        (field(8192 - 10, "a;noindex, @@@"), &["noindex", "nosnippet"]),
        (field(8192 - 12, "a;noindex, , @@@"), &["noindex", "nosnippet"]),
        (field(8192 - 20, "a;noindex, \"b, c\";d, e"), &["noindex", "nosnippet"]),
        (field(8192 - 20, "a;noindex, \"b, \\\", c, d"), &["noindex", "nosnippet"]),
        (field(8192, "@@@"), &["nosnippet"]),
    ] {
        assert_eq!(strict_rules(&[&field], "a"), rules, "{}", &field[8160..]);
    }
    let one = "a;".to_owned() + &"x".repeat(9000);
    let (tag, findings) = read(&[one.as_bytes()]);
    assert!(tag.is_empty());
    assert_eq!(codes(&findings), ["robots_tag.too_long"]);
}

// Reading, the older field.

#[test]
fn legacy_all_documented_forms_are_read() {
    let none: &[&str] = &[];
    for (lines, crawler, rules) in [
        (&["noindex"][..], "x", &["noindex"][..]),
        (&["NOINDEX, NoFollow"], "x", &["nofollow", "noindex"]),
        (&["none"], "x", &["nofollow", "noindex"]),
        (&["all"], "x", none),
        (&["index, follow"], "x", none),
        (&["all, noindex"], "x", &["noindex"]),
        (&["googlebot: noindex, nofollow"], "Googlebot", &["nofollow", "noindex"]),
        (&["googlebot: noindex, nofollow"], "x", none),
        (&["Googlebot:noindex"], "googlebot", &["noindex"]),
        (&["googlebot: nofollow", "noindex"], "x", &["noindex"]),
        (
            &["noindex, googlebot: nofollow, otherbot: noarchive"],
            "googlebot",
            &["nofollow", "noindex"],
        ),
        (
            &["noindex, googlebot: nofollow, otherbot: noarchive"],
            "otherbot",
            &["noarchive", "noindex"],
        ),
        (&["*: noindex"], "x", &["noindex"]),
        (&["Sogou web spider: noindex"], "sogou web spider", &["noindex"]),
        (
            &["max-snippet:20, max-image-preview:large"],
            "x",
            &["max-image-preview:large", "max-snippet:20"],
        ),
        (&["max-snippet: -1"], "x", &["max-snippet:-1"]),
        (&["googlebot: max-snippet:20, noarchive"], "googlebot", &["max-snippet:20", "noarchive"]),
        (
            &["otherbot: unavailable_after: 2030-01-01T00:00:00Z"],
            "otherbot",
            &["unavailable_after: 2030-01-01T00:00:00Z"],
        ),
        (
            &["unavailable_after: 25 Jun 2010 15:00:00 PST, noindex"],
            "x",
            &["noindex", "unavailable_after: 25 Jun 2010 15:00:00 PST"],
        ),
        (
            &["unavailable_after: Friday, 25-Jun-10 15:00:00 GMT, noindex"],
            "x",
            &["noindex", "unavailable_after: Friday, 25-Jun-10 15:00:00 GMT"],
        ),
        (
            &["unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT, 360Spider: noindex"],
            "x",
            &["unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT"],
        ),
        (&["noydir, noodp"], "x", &["noodp", "noydir"]),
        (&["no index,,"], "x", none),
        (&["noindex; nofollow"], "x", none),
        (&["*;noindex"], "x", none),
        (&["noindex, caf\u{e9}, nofollow"], "x", &["nofollow", "noindex"]),
        (&["", ",", ":", "a:"], "x", none),
    ] {
        assert_eq!(legacy_rules(lines, crawler), rules, "{lines:?}");
    }
}

#[test]
fn the_new_syntax_under_the_old_name_is_understood_leniently() {
    for (line, meant) in [
        ("*;noindex", tag(&[("*", &["noindex"])])),
        ("noindex; nofollow", tag(&[("*", &["noindex", "nofollow"])])),
        (
            "*;noindex, googlebot;nofollow",
            tag(&[("*", &["noindex"]), ("googlebot", &["nofollow"])]),
        ),
    ] {
        let reading = read_legacy_leniently(&[line.as_bytes()]);
        assert!(!reading.valid);
        assert_eq!(reading.tag, meant, "{line}");
    }
    let reading = read_legacy_leniently(&[b"googlebot: none"]);
    assert_eq!(
        (reading.valid, reading.tag),
        (true, tag(&[("googlebot", &["noindex", "nofollow"])]))
    );
}

#[test]
fn a_rule_in_both_fields_counts_once() {
    let (field, findings) = read(&[b"*;max-snippet=20;noindex"]);
    let (older, more) = read_legacy(&[b"max-snippet:20, nofollow, max-video-preview:3"]);
    assert!(findings.is_empty() && more.is_empty());
    let rules = ["max-snippet=20", "max-video-preview:3", "nofollow", "noindex"];
    assert_eq!(effective(&field, &[&older], None), rules);
}

// Reading an origin's line before the merge.

#[test]
fn an_invalid_line_is_read_as_it_was_meant() {
    let index = &["noindex"][..];
    for (line, meant) in [
        ("*;noindex,", tag(&[("*", index)])),
        ("*; ;noindex;", tag(&[("*", index)])),
        ("max-snippet=20", tag(&[("*", &["max-snippet=20"])])),
        ("* ; NoIndex ; Max-Snippet=20", tag(&[("*", &["noindex", "max-snippet=20"])])),
        ("*;noindex=?1;NoSnippet=?0", tag(&[("*", index)])),
        ("noindex, max-snippet=20", tag(&[("*", &["noindex", "max-snippet=20"])])),
        ("unavailable_after=\"1 May, 15:00\"", tag(&[("*", &["unavailable_after: 1 May, 15:00"])])),
        ("googlebot: noindex, nofollow", tag(&[("googlebot", &["noindex", "nofollow"])])),
        ("googlebot: noindex, noodp", tag(&[("googlebot", &["noindex", "noodp"])])),
        ("*;noindex, googlebot: nofollow", tag(&[("*", index), ("googlebot", &["nofollow"])])),
        ("googlebot: nofollow, *;noindex", tag(&[("*", index), ("googlebot", &["nofollow"])])),
        ("_bot;noindex, 360Spider;nofollow", tag(&[("_bot", index), ("360Spider", &["nofollow"])])),
        ("\"a b\";NOINDEX", tag(&[("a b", index)])),
        ("unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT, none", {
            tag(&[("*", &["unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT", "none"])])
        }),
        ("unavailable_after: 25 Jun, 2010, x;NoIndex", {
            tag(&[("*", &["unavailable_after: 25 Jun, 2010"]), ("x", index)])
        }),
        ("no index,,", tag(&[])),
        ("\"\";NoIndex", tag(&[])),
        ("#;noindex, *;nosnippet,", tag(&[("*", &["nosnippet"])])),
        ("\"ExampleBot;noindex", tag(&[])),
        ("\u{e9};noindex, *;nosnippet", tag(&[("*", &["nosnippet"])])),
    ] {
        let reading = read_leniently(line.as_bytes());
        assert!(!reading.valid, "{line}");
        assert!(!reading.diagnostics.is_empty(), "{line}");
        assert_eq!(reading.tag, meant, "{line}");
    }
}

#[test]
fn a_valid_line_is_taken_as_it_is() {
    for (line, written) in [
        ("*;nosnippet, (a b);x", Some("*;nosnippet")),
        ("noindex", None),
        ("*;none", Some("*;nofollow;noindex")),
        ("*;noindex=yes", Some("*;noindex=yes")),
        ("b;x=1.5;y=:YQ==:;z=\"a\\\"b\"", Some("b;x=1.5;y=:YQ==:;z=\"a\\\"b\"")),
        ("", None),
    ] {
        let reading = read_leniently(line.as_bytes());
        assert!(reading.valid, "{line}");
        assert_eq!(reading.tag.to_field().as_deref(), written, "{line}");
    }
}

// Writing.

#[test]
fn names_that_are_no_tokens_are_strings_and_every_reading_agrees() {
    let tag = tag(&[
        ("360Spider", &["noindex"]),
        ("-x", &["noindex"]),
        ("_x", &["noindex"]),
        ("Sogou web spider", &["noindex"]),
        (
            "GPTBot",
            &["noarchive", "unavailable_after: 1 Jan 2030", "unavailable_after: 2 Jan 2030"],
        ),
        ("*", &["nosnippet", "max-snippet:20"]),
    ]);
    let field = tag.to_field().expect("not empty");
    assert_eq!(
        field,
        "*;max-snippet=20;nosnippet, \"-x\";max-snippet=20;noindex;nosnippet, \
         \"360Spider\";max-snippet=20;noindex;nosnippet, \"_x\";max-snippet=20;noindex;nosnippet, \
         GPTBot;max-snippet=20;noarchive;nosnippet;unavailable_after=\"1 Jan 2030\", \
         GPTBot;unavailable_after=\"2 Jan 2030\", \
         \"Sogou web spider\";max-snippet=20;noindex;nosnippet"
    );
    assert_eq!(tag.field_len(), field.len());
    assert_eq!(RobotsTag::new().to_field(), None);
}

#[test]
fn a_field_over_the_limit_keeps_the_own_rules() {
    let own = tag(&[("*", &["noindex"]), ("Zbot", &["nosnippet"])]);
    let long: Vec<String> = (0..700).map(|n| format!("bot-{};nofollow", letters(n))).collect();
    let theirs = read(&[long.join(", ").as_bytes()]).0;
    let merged = own.union(&theirs);
    assert!(merged.field_len() > MAX_BYTES);
    let field = merged.to_field_keeping(&own);
    let value = field.value.expect("not empty");
    assert!(!field.complete && value.len() <= MAX_BYTES && value.len() > MAX_BYTES - 40);
    assert!(value.starts_with("*;noindex, Zbot;nosnippet, bot-aaa;nofollow, "));
    let (read, findings) = read(&[value.as_bytes()]);
    assert!(!codes(&findings).contains(&"robots_tag.too_long"));
    assert_eq!(effective(&read, &[], token("zbot").as_ref()), ["noindex", "nosnippet"]);
    assert!(merged.to_field().expect("not empty").len() <= MAX_BYTES);
}

#[test]
fn one_member_over_the_limit_is_written_as_far_as_it_fits() {
    let mut line = "*".to_owned();
    for n in 0..1638 {
        line.push_str(";x");
        line.push_str(&letters(n));
    }
    let theirs = read_leniently(line.as_bytes());
    assert!(theirs.valid);
    let own = tag(&[("b", &["noindex"])]);
    let field = own.union(&theirs.tag).to_field_keeping(&own);
    assert!(!field.complete);
    let value = field.value.expect("not empty");
    assert!(value.starts_with("b;noindex, *;xaaa") && value.len() <= MAX_BYTES);
    assert!(parse::field(value.as_bytes(), &mut findings::Findings::default()).is_ok());
}

#[test]
fn rules_that_the_older_syntax_can_not_express_are_reported() {
    let tag = tag(&[
        ("*", &["foo=bar", "noindex", "unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT"]),
        ("max-snippet", &["nofollow"]),
        ("x", &["unavailable_after: 2010, noindex"]),
        ("y", &["foo=bar", "unavailable_after: 2010, noindex"]),
    ]);
    let findings = tag.unsayable_in_legacy();
    assert_eq!(codes(&findings), ["robots_tag.unsayable"; 3]);
    assert!(findings[0].message.ends_with("'foo=bar'"), "{}", findings[0].message);
    assert_eq!(tag.to_legacy(), ["noindex, unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT"]);
}

#[test]
fn hostile_fields_take_linear_time() {
    // Each of these lines would take seconds in quadratic time.
    for line in [
        "a,".repeat(30_000),
        "a:".repeat(30_000),
        "*;a;".repeat(20_000),
        "unavailable_after:1,".repeat(3_000),
        "1,".repeat(30_000),
        "\"".repeat(60_000),
        (0..6_000).map(|n| format!("*;x={n}, ")).collect(),
        (0..6_000).map(|n| format!("x{n}: noindex, ")).collect(),
    ] {
        let reading = read_leniently(line.as_bytes());
        let legacy = read_legacy_leniently(&[line.as_bytes()]);
        let field = reading.tag.union(&legacy.tag).to_field_keeping(&legacy.tag);
        assert!(field.value.is_none_or(|value| value.len() <= MAX_BYTES));
        let _ = legacy.tag.to_legacy();
    }
}

/// Three letters that stand for a number below 17,576.
fn letters(n: usize) -> String {
    [n / 676, n / 26 % 26, n % 26]
        .iter()
        .map(|&at| char::from(b"abcdefghijklmnopqrstuvwxyz"[at]))
        .collect()
}
