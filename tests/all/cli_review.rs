//! `beadle report` compares a span with the one before, and `beadle crawlers score` shows one crawler.
//!
//! `tests/data/report` has the whole outputs for two weeks of fifteen crawlers; `BEADLE_UPDATE=1`
//! writes them anew.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use beadle::{
    base::text::Text,
    records::{
        tally::{Claimant, Hour, PlaceCount, PlaceKind, ReadState, Rollup, Rollups, Series},
        violations::Store,
    },
};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::support::{
    program::{PROGRAM, json_lines},
    week::{self, EDITION, SITE},
};

/// The hour in which the two weeks end.
const NOW: &str = "2026-03-22T10:31:00Z";
/// The last week of them.
const WEEK: [&str; 4] = ["--since", "2026-03-15T10:31:00Z", "--until", NOW];

/// A folder with a policy and its database.
struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let policy = "violations: { database: beadle.db }\nsites:\n  - hosts: [www.example.com]\n    \
                      origin: http://127.0.0.1:3000\n    robots_txt:\n      groups: [{ user_agents: \
                      [\"*\"], disallow: [/private/] }]\n";
        std::fs::write(folder.path().join("beadle.yaml"), policy).expect("it is writable");
        Self { folder }
    }

    /// With two weeks of counts.
    fn filled() -> Self {
        let desk = Self::new();
        week::fill(&desk.database(), NOW.parse().expect("a time"));
        desk
    }

    fn database(&self) -> PathBuf {
        self.folder.path().join("beadle.db")
    }

    fn store(&self) -> Store {
        Store::open(&self.database()).expect("a database")
    }

    fn run(&self, args: &[&str]) -> Output {
        Command::new(PROGRAM)
            .args(args)
            .env_remove("BEADLE_CONFIG")
            .current_dir(self.folder.path())
            .output()
            .expect("the program can be started")
    }

    /// The standard output of a run without a failure.
    fn text(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {errors}");
        String::from_utf8(output.stdout).expect("text")
    }

    fn lines(&self, args: &[&str]) -> Vec<Value> {
        json_lines(&self.run(args))
    }
}

fn of_kind<'l>(lines: &'l [Value], kind: &str) -> Vec<&'l Value> {
    lines.iter().filter(|line| line["kind"] == kind).collect()
}

fn golden(name: &str, found: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/report").join(name);
    if std::env::var_os("BEADLE_UPDATE").is_some() {
        std::fs::write(&file, found).expect("it is writable");
    }
    let expected = std::fs::read_to_string(&file).unwrap_or_default();
    let mut lines = expected.lines().zip(found.lines());
    let different = lines.find(|(expected, found)| expected != found);
    assert!(expected == found, "BEADLE_UPDATE=1 writes {name} anew: {different:?}\n{found}");
}

#[test]
fn a_week_of_fifteen_crawlers_is_written_in_each_format() {
    let desk = Desk::filled();
    for (format, name) in [
        ("text", "week.txt"),
        ("json", "week.jsonl"),
        ("markdown", "week.md"),
        ("html", "week.html"),
    ] {
        let args = [&["report", "--format", format][..], &WEEK].concat();
        golden(name, &desk.text(&args));
    }
    for (format, name) in [("text", "score.txt"), ("json", "score.jsonl")] {
        let args = [&["crawlers", "score", "GPTBot", "--format", format][..], &WEEK].concat();
        golden(name, &desk.text(&args));
    }
}

#[test]
fn the_numbers_of_a_week_add_up_and_name_what_stands_out() {
    let desk = Desk::filled();
    let lines = desk.lines(&[&["report", "--format", "json"][..], &WEEK].concat());
    let kinds: Vec<&str> = lines.iter().filter_map(|line| line["kind"].as_str()).collect();
    let mut order = kinds.clone();
    order.dedup();
    assert_eq!(order, ["span", "crawler", "rule", "path", "day", "operator", "total"]);
    assert_eq!(lines[0]["from"], "2026-03-15T10:00:00Z");
    assert_eq!(lines[0]["until"], "2026-03-22T11:00:00Z");
    let total = lines.last().expect("a total");
    let crawlers = of_kind(&lines, "crawler");
    assert_eq!(crawlers.len(), 17, "fifteen crawlers, clients without a name, impostors");
    for key in ["requests", "violations"] {
        let sum = |rows: &[&Value], of: fn(&Value) -> &Value| -> u64 {
            rows.iter().filter_map(|row| of(row)[key].as_u64()).sum()
        };
        assert_eq!(Some(sum(&crawlers, |row| row)), total[key].as_u64(), "{key}");
        assert_eq!(Some(sum(&crawlers, |row| &row["before"])), total["before"][key].as_u64());
        assert_eq!(Some(sum(&of_kind(&lines, "day"), |row| row)), total[key].as_u64());
        if key == "violations" {
            for kind in ["rule", "path"] {
                assert_eq!(Some(sum(&of_kind(&lines, kind), |row| row)), total[key].as_u64());
            }
        }
    }
    let of = |token: &str| {
        let is_own = |row: &&&Value| row["product_token"] == token && row["standing"].is_null();
        *crawlers.iter().find(is_own).expect(token)
    };
    let impostors = |row: &&&Value| row["standing"] == "contradicted";
    let impostors = crawlers.iter().find(impostors).expect("impostors");
    assert_eq!(
        (&impostors["product_token"], &impostors["violations"]),
        (&"Googlebot".into(), &68.into())
    );
    // They have read nothing in the crawler's name.
    assert_eq!(impostors["read"], serde_json::json!({ "never": 0, "older": 0, "current": 0 }));
    let google = of("Googlebot");
    assert_eq!((&google["requests"], &google["violations"]), (&(169 * 60 + 15).into(), &0.into()));
    assert_eq!(of("GPTBot")["requests"], 169 * 24 + 29);
    assert_eq!(of("GPTBot")["violations"], 169 * 4);
    assert_eq!(of("GPTBot")["read"]["current"], 169 * 4);
    assert_eq!(of("Bytespider")["before"]["requests"], 0);
    assert_eq!(of("YandexBot")["before"]["violations"], 169 * 6);
    assert_eq!(total["new_offenders"], serde_json::json!(["Bytespider"]));
    assert_eq!(total["biggest_change"], "YandexBot");
    let best = total["best_behaved"].as_array().expect("a list");
    assert_eq!(best[0], "Googlebot", "impostors are not held against it");
    assert_eq!(best[1], "ClaudeBot");
    let operators = of_kind(&lines, "operator");
    let openai = operators.iter().find(|row| row["operator"] == "OpenAI").expect("OpenAI");
    assert_eq!((&openai["requests"], &openai["visits"]), (&(169 * 24 + 29).into(), &8.into()));
    assert_eq!(openai["requests_per_visit"], 510.63);
}

#[test]
fn a_quiet_time_before_is_zero_and_who_breaks_the_rules_is_not_best() {
    let desk = Desk::new();
    let mut rollups = Rollups::default();
    type Word = &'static str;
    let add = |rollups: &mut Rollups, at: Word, token: Word, action: Word, requests| {
        let reason = if action == "pass" { "robots.allow" } else { "robots.disallow" };
        let series = Series {
            site: Text::word(SITE),
            class: Text::word("crawler"),
            product_token: Text::word(token),
            verdict: Text::word(if action == "pass" { "allow" } else { "disallow" }),
            action: Text::word(action),
            reason: Text::word(reason),
            read: (action != "pass").then_some(ReadState::Never),
            ..week::nothing()
        };
        let hour = Hour::of(at.parse().expect("a time"));
        rollups.series.push(Rollup { hour, series, requests, folded: 0, dropped: 0 });
    };
    add(&mut rollups, "2026-03-12T00:00:00Z", "bingbot", "pass", 3);
    for (token, passed, broken) in [("GPTBot", 60, 60), ("AhrefsBot", 951, 49), ("DotBot", 95, 6)] {
        add(&mut rollups, "2026-03-22T10:00:00Z", token, "pass", passed);
        add(&mut rollups, "2026-03-22T10:00:00Z", token, "log", broken);
    }
    desk.store().add_rollups(&rollups).expect("added");
    let day = ["--since", "2026-03-21T11:00:00Z", "--until", NOW];
    let lines = desk.lines(&[&["report", "--format", "json"][..], &day].concat());
    assert_eq!((&lines[0]["compared"], &lines[0]["first_counts"]), (&true.into(), &Value::Null));
    let total = lines.last().expect("a total");
    assert_eq!(total["new_offenders"], serde_json::json!(["GPTBot", "AhrefsBot", "DotBot"]));
    assert_eq!(total["best_behaved"], serde_json::json!(["AhrefsBot"]));
    let text = desk.text(&[&["report"][..], &day].concat());
    assert!(!text.contains("not counted") && !text.contains("Nothing was counted"), "{text}");
    let text = desk.text(&[&["crawlers", "score", "GPTBot"][..], &day].concat());
    assert!(!text.contains("not counted") && text.contains("Too soon for the pace"), "{text}");
    let by_site = [&["violations", "--by", "site"][..], &day].concat();
    let sites = String::from_utf8(desk.run(&by_site).stdout).expect("text");
    assert!(sites.contains(&format!("{SITE}         115")), "{sites}");
}

#[test]
fn the_default_is_the_week_up_to_now_with_the_current_hour() {
    let desk = Desk::new();
    let now = Timestamp::now();
    week::fill(&desk.database(), now);
    let lines = desk.lines(&["report", "--format", "json"]);
    let total = lines.last().expect("a total");
    // The hour may end between the two: then the next one has no counts yet.
    let people = total["people"].as_u64().expect("a number");
    assert!([169 * 500, 168 * 500].contains(&people), "{people}");
    let from: Timestamp = lines[0]["from"].as_str().expect("a time").parse().expect("a time");
    let week = SignedDuration::from_hours(7 * 24);
    assert!(now.duration_since(from) >= week && now.duration_since(from) < week * 2);
}

#[test]
fn without_a_database_or_with_a_wrong_name_nothing_is_reported() {
    let desk = Desk::new();
    let fails = |args: &[&str], sentence: &str| {
        let output = desk.run(args);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {errors}");
        assert!(errors.contains(sentence), "{args:?}: {errors}");
        assert!(output.stdout.is_empty());
    };
    fails(&["report"], "beadle.db");
    fails(&["crawlers", "score", "GPTBot"], "beadle.db");
    week::fill(&desk.database(), NOW.parse().expect("a time"));
    fails(&["report", "--site", "other.example"], "no site");
    fails(&["report", "--since", "yesterday"], "is not a time");
    fails(&["report", "--since", "1h", "--until", "2h"], "--until");
    fails(&["report", "--verify", "beadle.yaml", "--format", "html"], "text or json");
    fails(&["crawlers", "score", "GPTBto"], "did you mean GPTBot?");
    let policy = "sites:\n  - hosts: [a.example]\n    origin: http://127.0.0.1:3000\n";
    std::fs::write(desk.folder.path().join("beadle.yaml"), policy).expect("it is writable");
    fails(&["report"], "database");
}

#[test]
fn an_empty_database_makes_an_empty_report() {
    let desk = Desk::new();
    drop(desk.store());
    for format in ["text", "markdown", "html"] {
        let text = desk.text(&["report", "--format", format]);
        assert!(text.contains("Nothing was counted in this time"), "{text}");
        assert!(text.contains("nothing is compared"), "{text}");
    }
    let lines = desk.lines(&["report", "--format", "json"]);
    assert!(of_kind(&lines, "crawler").is_empty());
    assert_eq!(of_kind(&lines, "day").len(), 8);
    let score = desk.text(&["crawlers", "score", "gptbot"]);
    assert!(score.contains("Scorecard of GPTBot"), "{score}");
    assert!(score.contains("No request came in this time"), "{score}");
}

#[test]
fn one_hour_of_counts_is_told_by_hour_and_compared_with_the_hour_before() {
    let desk = Desk::filled();
    let hour = ["--since", "2026-03-22T10:00:00Z", "--until", "2026-03-22T11:00:00Z"];
    let text = desk.text(&[&["report"][..], &hour].concat());
    assert!(text.contains("1 hour, against the 1 hour before"), "{text}");
    assert!(text.contains("Violations by hour"), "{text}");
    let lines = desk.lines(&[&["report", "--format", "json"][..], &hour].concat());
    assert_eq!(of_kind(&lines, "day").len(), 1);
    assert_eq!(lines.last().map(|total| &total["people"]), Some(&500.into()));
    assert_eq!(lines.last().map(|total| &total["people_before"]), Some(&500.into()));
}

/// Names that do harm where they are not escaped.
const HOSTILE: [&str; 6] = [
    "<script>alert(1)</script>",
    "\u{1b}[2J\u{7}",
    "=HYPERLINK(\"http://evil.example\")",
    "a|b`c`[x](http://evil.example)",
    "\u{202e}txt.exe",
    "www.evil.example",
];

#[test]
fn hostile_names_and_long_paths_are_only_text() {
    let desk = Desk::new();
    let hour = Hour::of(NOW.parse().expect("a time"));
    let long = format!("/{}", "a/".repeat(1_000));
    let mut rollups = Rollups::default();
    for (name, path) in HOSTILE.iter().zip(HOSTILE.iter().copied().chain([long.as_str()]).skip(1)) {
        let series = Series {
            site: Text::word(SITE),
            class: Text::word("crawler"),
            product_token: Text::from(*name),
            purpose: Text::default(),
            standing: Text::word("unknown"),
            verdict: Text::word("disallow"),
            action: Text::word("log"),
            reason: Text::word("robots.disallow"),
            edition: Text::word(EDITION),
            line: 1,
            directive: Text::word("disallow"),
            pattern: Text::path(path.as_bytes()),
            read: Some(ReadState::Never),
        };
        rollups.series.push(Rollup { hour, series, requests: 200, folded: 0, dropped: 0 });
        rollups.places.push(PlaceCount {
            hour,
            kind: PlaceKind::Path,
            site: Text::word(SITE),
            product_token: Text::from(*name),
            claimant: Claimant::Crawler,
            place: Text::path(path.as_bytes()),
            violations: 200,
        });
    }
    desk.store().add_rollups(&rollups).expect("added");
    let week = |format| desk.text(&[&["report", "--format", format][..], &WEEK].concat());
    let score = desk.text(&[&["crawlers", "score", HOSTILE[0]][..], &WEEK].concat());
    assert!(score.contains("Scorecard of <script>"), "{score}");
    let text = week("text");
    let is_quiet = |text: &str| !text.contains(['\u{1b}', '\u{7}', '\u{202e}']);
    assert!(is_quiet(&text) && text.contains("\\x1b[2J"), "{text}");
    // No terminal: nothing is cut.
    assert!(text.contains(&long) && !text.contains('…'), "{text}");
    let html = week("html");
    assert!(is_quiet(&html), "{html}");
    for harmful in ["<script", "<a ", "src=", "href=", "javascript:", "<link", "@import", "url("] {
        assert!(!html.contains(harmful), "{harmful}");
    }
    assert!(html.contains("&#60;script&#62;") || html.contains("&lt;script&gt;"), "{html}");
    let markdown = week("markdown");
    assert!(is_quiet(&markdown) && markdown.contains("&lt;script&gt;"), "{markdown}");
    assert!(!markdown.contains("| a|b"), "{markdown}");
    for line in markdown.lines().filter(|line| line.starts_with("| <") || line.contains("evil")) {
        assert!(!line.contains("<script"), "{line}");
    }
    let lines = json_lines(&desk.run(&[&["report", "--format", "json"][..], &WEEK].concat()));
    assert_eq!(of_kind(&lines, "crawler").len(), HOSTILE.len());
    assert!(of_kind(&lines, "path").iter().any(|row| row["path"] == long.as_str()));
}

#[test]
fn a_report_is_written_into_a_file_and_overwrites_none_unasked() {
    let desk = Desk::filled();
    let args = [&["report", "--format", "html", "--output", "week.html"][..], &WEEK].concat();
    assert_eq!(desk.text(&args), "");
    let file = desk.folder.path().join("week.html");
    let written = std::fs::read_to_string(&file).expect("it was written");
    assert!(written.starts_with("<!DOCTYPE html>") && written.ends_with("</html>\n"));
    let again = desk.run(&args);
    assert_eq!(again.status.code(), Some(2), "{again:?}");
    assert_eq!(desk.text(&[&args[..], &["--force"]].concat()), "");
}

#[test]
fn a_scorecard_counts_fetches_violations_and_claims() {
    let desk = Desk::filled();
    let args = [&["crawlers", "score", "gptbot", "--format", "json"][..], &WEEK].concat();
    let lines = desk.lines(&args);
    let score = &lines[0];
    assert_eq!(score["product_token"], "GPTBot");
    assert_eq!(score["operator"], "OpenAI");
    assert_eq!(score["robots_txt"]["fetches"], 29);
    assert_eq!(score["reasons"]["robots.disallow"], 169 * 4);
    assert_eq!(score["broken"], 169 * 4);
    let args = [&["crawlers", "score", "DotBot", "--format", "json"][..], &WEEK].concat();
    let amazon = &desk.lines(&args)[0];
    assert_eq!(amazon["too_soon"], 43);
    let args = [&["crawlers", "score", "Googlebot", "--format", "json"][..], &WEEK].concat();
    let google = &desk.lines(&args)[0];
    assert_eq!(google["contradicted"], 68);
    assert_eq!(google["broken"], 0);
}

/// Requests of GPTBot of every kind in both weeks; with those of its impostors, if they are wanted.
fn kinds_of_requests(with_impostors: bool) -> Rollups {
    let hour = |back: i64| {
        let now = Hour::of(NOW.parse().expect("a time")).as_millisecond();
        Hour::from_millisecond(now - back * 3_600_000)
    };
    let mut rollups = Rollups::default();
    let mut number = 0;
    for standing in ["confirmed", "unknown", "contradicted"] {
        for (verdict, action, reason, read) in [
            ("allow", "pass", "robots.allow", None),
            ("allow", "pass", "robots.robots_txt", None),
            ("disallow", "pass", "robots.disallow.grace", None),
            ("disallow", "log", "robots.disallow", Some(ReadState::Never)),
            ("disallow", "block", "robots.disallow", Some(ReadState::Older)),
            ("disallow", "log", "robots.disallow", Some(ReadState::Current)),
            ("allow", "throttle", "robots.crawl_delay", Some(ReadState::Current)),
            ("allow", "block", "claim.contradicted", Some(ReadState::Current)),
        ] {
            let is_impostor = Claimant::of(standing) == Claimant::Impostor;
            if is_impostor && !with_impostors || !is_impostor && reason == "claim.contradicted" {
                continue;
            }
            for back in [0, 3, 50, 200] {
                number += if is_impostor { 0 } else { 7 };
                let requests = 100 + number;
                let series = Series {
                    site: Text::word(SITE),
                    class: Text::word("crawler"),
                    product_token: Text::word("GPTBot"),
                    purpose: Text::word("ai-training"),
                    standing: Text::word(standing),
                    verdict: Text::word(verdict),
                    action: Text::word(action),
                    reason: Text::word(reason),
                    edition: Text::word(EDITION),
                    line: 3,
                    directive: Text::word(verdict),
                    pattern: Text::word("/private/"),
                    read,
                };
                let hour = hour(back);
                let (folded, dropped) = (0, 0);
                rollups.series.push(Rollup { hour, series, requests, folded, dropped });
                if read.is_some() {
                    rollups.places.push(PlaceCount {
                        hour,
                        kind: PlaceKind::Path,
                        site: Text::word(SITE),
                        product_token: Text::word("GPTBot"),
                        claimant: Claimant::of(standing),
                        place: Text::word("/private/x"),
                        violations: requests,
                    });
                }
            }
        }
    }
    rollups
}

#[test]
fn the_numbers_of_a_crawler_are_the_same_with_and_without_impostors() {
    let [with, without] = [true, false].map(|with_impostors| {
        let desk = Desk::new();
        desk.store().add_rollups(&kinds_of_requests(with_impostors)).expect("added");
        desk
    });
    let is_own = |row: &Value| row["standing"].is_null();
    let own = |lines: Vec<Value>| -> Vec<Value> { lines.into_iter().filter(is_own).collect() };
    let report = |desk: &Desk| {
        let lines = desk.lines(&[&["report", "--format", "json"][..], &WEEK].concat());
        let crawlers: Vec<Value> = of_kind(&lines, "crawler").into_iter().cloned().collect();
        let operators: Vec<Value> = of_kind(&lines, "operator").into_iter().cloned().collect();
        (crawlers, operators)
    };
    let (rows, alone) = (report(&with), report(&without));
    assert_eq!((rows.0.len(), alone.0.len()), (2, 1));
    assert_eq!((own(rows.0), rows.1), alone);
    let score = |desk: &Desk| {
        let args = ["crawlers", "score", "GPTBot", "--format", "json"];
        let mut score = desk.lines(&[&args[..], &WEEK].concat()).remove(0);
        let impostors = score.as_object_mut().expect("an object").remove("contradicted");
        (score, impostors.and_then(|number| number.as_u64()))
    };
    let (scored, alone) = (score(&with), score(&without));
    assert_eq!(scored.0, alone.0);
    assert!(scored.1 > Some(0) && alone.1 == Some(0), "{scored:?}");
    for by in ["crawler", "rule", "path", "network", "day"] {
        let args = ["violations", "--by", by, "--product-token", "GPTBot", "--format", "json"];
        let count = |desk: &Desk| own(json_lines(&desk.run(&[&args[..], &WEEK].concat())));
        assert_eq!(count(&with), count(&without), "{by}");
    }
}
