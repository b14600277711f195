//! What an operator reads: tables on screens of every width, CSV, and records as they come.

use std::{
    fmt::Write,
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
};

use super::made::{Kept, Made, SITES, kinds, one_site, told};
use crate::support::{client::Request, need, origin::Origin, program::PROGRAM};

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/violations/expected.txt");

#[test]
fn lists_and_counts_are_as_the_golden_file_shows() {
    if need("script").is_none() {
        return;
    }
    let one = Made::new(Kept::Database, one_site(), kinds().into_iter().take(6).collect());
    let two = Made::new(Kept::Database, SITES, kinds());
    two.count(&kinds(), 4);
    let mut found = String::new();
    for (made, columns, args) in [
        (&one, Some("60"), &[][..]),
        (&one, Some("80"), &[]),
        (&one, Some("100"), &[]),
        (&one, Some("120"), &[]),
        (&one, Some("160"), &[]),
        (&one, Some("250"), &[]),
        (&one, None, &[]),
        (&two, Some("140"), &["--limit", "2"]),
        (&two, Some("80"), &["--product-token", "CCBot", "--since", "2026-11-20"]),
        (&two, Some("80"), &["--by", "crawler", "--since", "2026-11-20"]),
        (&two, Some("80"), &["--by", "rule"]),
        (&two, Some("50"), &["--by", "path", "--limit", "4"]),
        (&two, Some("80"), &["--by", "network"]),
        (&two, Some("80"), &["--by", "day"]),
        (&two, None, &["--by", "day"]),
    ] {
        let line = [&["beadle violations"], args].concat().join(" ");
        match columns {
            Some(columns) => {
                writeln!(found, "$ {line} # {columns} columns").expect("a String takes all");
                let shown = made.show(&[("COLUMNS", columns), ("NO_COLOR", "1")], args);
                let most = columns.parse::<usize>().expect("a number");
                for line in shown.lines().filter(|line| !line.starts_with("beadle: ")) {
                    // Two columns for each of the three wide characters.
                    let width = line.chars().count() + line.matches(['日', '本', '語']).count();
                    assert!(width <= most, "{width} of {most}: {line}");
                }
                found.push_str(&shown);
            }
            None => {
                writeln!(found, "$ {line} | cat").expect("a String takes all");
                let (out, err, _) = told(&made.list(args));
                found.push_str(&out);
                found.push_str(&err);
            }
        }
        found.push('\n');
    }
    if std::env::var_os("BEADLE_UPDATE").is_some() {
        std::fs::write(GOLDEN, &found).expect("the golden file can be written");
    }
    let expected = std::fs::read_to_string(GOLDEN).unwrap_or_default();
    for (number, (found, expected)) in found.lines().zip(expected.lines()).enumerate() {
        assert_eq!(found, expected, "line {} of {GOLDEN}", number + 1);
    }
    assert_eq!(found.lines().count(), expected.lines().count(), "BEADLE_UPDATE=1 writes it anew");
}

#[test]
fn colours_are_for_terminals_only() {
    if need("script").is_none() {
        return;
    }
    let made = Made::new(Kept::Database, SITES, kinds());
    for (variables, has_colours) in [
        (&[("COLUMNS", "120")][..], true),
        (&[("COLUMNS", "120"), ("NO_COLOR", "1")], false),
        (&[("COLUMNS", "120"), ("TERM", "dumb")], false),
    ] {
        let shown = made.show(variables, &[]);
        assert_eq!(shown.contains("\u{1b}[31mblock\u{1b}[0m"), has_colours, "{shown}");
        assert_eq!(shown.contains('\u{1b}'), has_colours, "{shown}");
    }
    let (out, ..) = told(&made.list(&[]));
    assert!(!out.contains('\u{1b}') && !out.contains('…'), "{out}");
}

#[test]
fn l131_a_spreadsheet_gets_no_formula() {
    for kept in [Kept::Database, Kept::Lines] {
        let made = Made::new(kept, SITES, kinds());
        let (out, err, exit) = told(&made.list(&["--format", "csv"]));
        assert_eq!((err.as_str(), exit), ("", Some(1)));
        let lines: Vec<&str> = out.split_terminator("\r\n").collect();
        assert_eq!(lines.len(), 1 + kinds().len(), "{out}");
        assert!(lines[0].starts_with("schema,id,time,site,client_ip,method,host,path,user_agent,"));
        assert!(lines[0].contains(",robots.pattern,robots.group,robots_read.state,"), "{out}");
        let last = lines.last().expect("a record");
        for cell in [
            ",2026-11-21T00:00:00.042Z,",
            ",\"'=HYPERLINK(\"\"https://evil.example\"\")\",'@SUM,'@SUM +1 -1,",
            ",'+cmd|' /C calc'!A0,",
        ] {
            assert!(last.contains(cell), "{cell}: {last}");
        }
        assert!(lines[7].contains(",\"/cart/日本語?q=\"\"a\"\",b\",,'-,,"), "{}", lines[7]);
        let (empty, _, exit) = told(&made.list(&["--format", "csv", "--product-token", "CCBot"]));
        assert_eq!((empty.split_terminator("\r\n").count(), exit), (1, Some(0)), "a header alone");
    }
}

/// The lines of a follower, from the first on.
fn follow(
    policy: &Path,
    args: &[&str],
) -> (std::process::Child, impl FnMut() -> Option<String> + use<>) {
    let mut child = Command::new(PROGRAM)
        .args(["violations", "--follow", "--config"])
        .arg(policy)
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program can be started");
    let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    (child, move || lines.next().map(|line| line.expect("it is text")))
}

#[test]
fn follow_prints_later_records_in_every_format_with_every_filter() {
    let origin = Origin::plain();
    for violations in ["  database: $DIR/beadle.db\n", "  log: $DIR/violations.jsonl\n"] {
        let beadle = super::setup(&origin).violations(violations).start();
        let visit = |host: &str, target: &str, user_agent: &str| {
            Request::get(target).host(host).user_agent(user_agent).send(beadle.port);
        };
        visit("b.example", "/before", "GPTBot/1.2");
        beadle.wait_for_metric("beadle_records_stored_total", 1.0);
        let until = format!("{:.0}", jiff::Timestamp::now() + jiff::SignedDuration::from_hours(1));
        let cases = [
            (&["--format", "json"][..], "{\"schema\":1"),
            (&["--format", "csv", "--product-token", "gptbot"], "schema,id"),
            (&["--format", "text", "--path", "/after*$"], "TIME"),
            (&["--format", "json", "--site", "B.example", "--limit", "1"], "{"),
            (&["--format", "text", "--action", "log", "--since", "1h", "--limit", "0"], "TIME"),
            (&["--format", "csv", "--purpose", "ai-training", "--until", &until], "schema,id"),
        ];
        let mut followers: Vec<_> = cases
            .iter()
            .map(|(args, first)| {
                let (child, mut next) = follow(&beadle.policy_file(), args);
                // With its first line it has read what was there.
                let line = next().expect("a first line");
                assert!(line.starts_with(first), "{args:?}: {line}");
                (child, next)
            })
            .collect();
        visit("a.example", "/private/other", "bingbot/2.0");
        visit("b.example", "/after", "GPTBot/1.2");
        for ((args, _), (child, next)) in cases.iter().zip(&mut followers) {
            let line = std::iter::from_fn(next).find(|line| line.contains("/after"));
            assert!(line.is_some(), "{args:?}");
            child.kill().expect("it is our child");
            child.wait().expect("it is our child");
        }
    }
}

#[test]
fn follow_ends_with_its_span() {
    let made = Made::new(Kept::Database, SITES, kinds());
    let (out, _, exit) =
        told(&made.list(&["--follow", "--until", "2026-11-20T10:02:00Z", "--format", "json"]));
    assert_eq!((out.lines().count(), exit), (2, Some(1)));
    let (out, _, exit) =
        told(&made.list(&["--follow", "--until", "2026-11-20T10:00:00Z", "--format", "json"]));
    assert_eq!((out.as_str(), exit), ("", Some(0)));
    assert!(made.folder().join("beadle.db").exists());
}
