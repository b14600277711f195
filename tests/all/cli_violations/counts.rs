//! Counts by crawler, rule, path, network and day.

use serde_json::{Value, json};

use super::made::{Kept, Made, SITES, kinds, told, violation};
use crate::support::program::json_lines;

fn rows(made: &Made, args: &[&str]) -> Vec<(String, u64, u64)> {
    let output = made.list(&[args, &["--format", "json"]].concat());
    assert_eq!(output.status.code(), Some(1), "{args:?}: {output:?}");
    let number = |row: &Value, key: &str| row[key].as_u64().expect("a number");
    let rows = json_lines(&output);
    for row in &rows {
        let keys: Vec<&String> = row.as_object().expect("an object").keys().collect();
        assert_eq!(keys[..3], ["key", "violations", "requests"]);
        assert!(keys[3..].iter().all(|key| *key == "standing"), "{keys:?}");
    }
    rows.iter()
        .map(|row| {
            let key = row["key"].as_str().expect("text");
            let key = match row["standing"].as_str() {
                Some(standing) => format!("{standing} {key}"),
                None => key.to_owned(),
            };
            (key, number(row, "violations"), number(row, "requests"))
        })
        .collect()
}

fn expected(rows: &[(&str, u64, u64)]) -> Vec<(String, u64, u64)> {
    rows.iter()
        .map(|(key, violations, requests)| ((*key).to_owned(), *violations, *requests))
        .collect()
}

#[test]
fn records_are_counted_where_no_hours_are() {
    for kept in [Kept::Database, Kept::Lines] {
        let made = Made::new(kept, SITES, kinds());
        let crawlers = [
            ("Bytespider", 3, 3),
            ("GPTBot", 2, 2),
            ("-", 1, 1),
            ("@SUM", 1, 1),
            ("contradicted Googlebot", 1, 1),
        ];
        assert_eq!(rows(&made, &["--by", "crawler"]), expected(&crawlers));
        let rules = [
            ("Disallow: /private/", 5, 5),
            ("Crawl-delay: 5", 1, 1),
            ("Disallow: /cart/", 1, 1),
            ("claim.contradicted", 1, 1),
        ];
        assert_eq!(rows(&made, &["--by", "rule"]), expected(&rules));
        let networks = [
            ("192.0.2.0/24", 5, 5),
            ("198.51.100.0/24", 1, 1),
            ("2001:db8:1::/48", 1, 1),
            ("203.0.113.0/24", 1, 1),
        ];
        assert_eq!(rows(&made, &["--by", "network"]), expected(&networks));
        let days = [("2026-11-20", 7, 7), ("2026-11-21", 1, 1)];
        assert_eq!(rows(&made, &["--by", "day"]), expected(&days));
        let paths = rows(&made, &["--by", "path", "--product-token", "GPTBot"]);
        assert_eq!(paths, expected(&[("/private/0", 1, 1), ("/private/1", 1, 1)]));
        let blocked =
            rows(&made, &["--by", "crawler", "--path", "/private/*", "--action", "block"]);
        assert_eq!(blocked, expected(&[("GPTBot", 1, 1)]));
    }
}

#[test]
fn hours_count_all_requests_and_violations_without_a_record() {
    let made = Made::new(Kept::Database, SITES, kinds());
    made.count(&kinds(), 4);
    for (args, counts) in [
        (
            &["--by", "crawler"][..],
            &[
                ("Bytespider", 15, 45),
                ("GPTBot", 10, 30),
                ("-", 5, 15),
                ("@SUM", 5, 15),
                ("contradicted Googlebot", 5, 15),
            ][..],
        ),
        (&["--by", "crawler", "--limit", "2"], &[("Bytespider", 15, 45), ("GPTBot", 10, 30)]),
        (
            &["--by", "crawler", "--action", "block"],
            &[("GPTBot", 5, 30), ("contradicted Googlebot", 5, 15)],
        ),
        (&["--by", "crawler", "--impostors", "only"], &[("contradicted Googlebot", 5, 15)]),
        (
            &["--by", "rule", "--product-token", "Googlebot", "--impostors", "only"],
            &[("claim.contradicted", 5, 5)],
        ),
        (&["--by", "standing", "--product-token", "Googlebot"], &[("contradicted", 5, 15)]),
        (&["--by", "standing", "--product-token", "Bytespider"], &[("unverifiable", 15, 45)]),
        (&["--by", "crawler", "--product-token", "-"], &[("-", 5, 15)]),
        (&["--by", "crawler", "--site", "shop.example"], &[("-", 5, 15)]),
        (&["--by", "day"], &[("2026-11-20", 35, 105), ("2026-11-21", 5, 15)]),
        (&["--by", "day", "--until", "2026-11-21"], &[("2026-11-20", 35, 105)]),
        (&["--by", "day", "--limit", "1"], &[("2026-11-21", 5, 15)]),
        (
            &["--by", "rule", "--purpose", "ai-training"],
            &[("Disallow: /private/", 20, 20), ("Crawl-delay: 5", 5, 5)],
        ),
        (
            &["--by", "network", "--purpose", "ai-training"],
            &[("192.0.2.0/24", 20, 20), ("2001:db8:1::/48", 5, 5)],
        ),
        (&["--by", "path", "--site", "shop.example"], &[("/cart/日本語", 5, 5)]),
        // The counts by hour know neither the path of a crawler nor the action of a path.
        (&["--by", "crawler", "--path", "/news/"], &[("Bytespider", 1, 1)]),
        (&["--by", "path", "--action", "throttle"], &[("/news/", 1, 1)]),
    ] {
        assert_eq!(rows(&made, args), expected(counts), "{args:?}");
    }
    for (args, says) in [
        (
            &["--by", "crawler"][..],
            "32 of them without a record: 32 beyond 'violations.detail' or 'violations.max_size'",
        ),
        (&["--by", "crawler", "--limit", "2"], "3 more (show all with --limit 5)"),
        (
            &[
                "--by",
                "crawler",
                "--since",
                "2026-11-20T10:03:00Z",
                "--until",
                "2026-11-20T10:04:00Z",
            ],
            "whole hours are counted: from 2026-11-20T10:00:00Z to 2026-11-20T11:00:00Z",
        ),
        (
            &["--by", "crawler", "--path", "/news/"],
            "not counted here: 32 violations without a record, on any path",
        ),
    ] {
        let (_, err, _) = told(&made.list(args));
        assert!(err.contains(says), "{args:?}: {err}");
    }
    // An impostor's violation is none of the crawler's, whatever counts are asked for.
    for by in ["rule", "path", "network", "day"] {
        let (out, err, _) = told(&made.list(&["--by", by, "--product-token", "Googlebot"]));
        let is_none = by == "day" || out.is_empty();
        assert!(is_none && err.contains("no violations of Googlebot"), "{by}: {out}{err}");
    }
    let (out, err, exit) = told(&made.list(&["--by", "crawler", "--product-token", "CCBot"]));
    assert_eq!(
        (out.as_str(), err.as_str(), exit),
        ("", "beadle: no violations of CCBot\n", Some(0))
    );
}

#[test]
fn records_before_the_first_counts_are_counted_one_by_one() {
    let old = (0..3).map(violation).collect::<Vec<_>>();
    let new: Vec<_> = (60..62).map(violation).collect();
    let made = Made::new(Kept::Database, SITES, [old, new.clone()].concat());
    made.count(&new, 1);
    assert_eq!(rows(&made, &["--by", "crawler"]), expected(&[("GPTBot", 7, 27)]));
    let since = ["--by", "crawler", "--since", "2026-11-20T10:02:00Z"];
    assert_eq!(rows(&made, &since), expected(&[("GPTBot", 5, 25)]));
    let until = ["--by", "crawler", "--until", "2026-11-20T10:02:00Z"];
    assert_eq!(rows(&made, &until), expected(&[("GPTBot", 2, 2)]));
    let since = ["--by", "day", "--since", "2026-11-20T11:00:00Z"];
    assert_eq!(rows(&made, &since), expected(&[("2026-11-20", 4, 24)]));
}

#[test]
fn a_count_can_not_follow() {
    let made = Made::new(Kept::Lines, SITES, kinds());
    for args in [&["--by", "crawler", "--follow"][..], &["--by", "colour"]] {
        assert_eq!(told(&made.list(args)).2, Some(2), "{args:?}");
    }
    let output = made.list(&["--by", "crawler", "--format", "csv"]);
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.starts_with("key,violations,requests,standing\r\nBytespider,3,3,\r\n"), "{text}");
    assert!(text.contains("\r\n'-,1,1,\r\n'@SUM,1,1,\r\n"), "{text}");
    let row = json_lines(&made.list(&["--by", "day", "--format", "json"])).remove(0);
    assert_eq!(row, json!({"key": "2026-11-20", "violations": 7, "requests": 7}));
}
