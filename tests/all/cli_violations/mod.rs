//! `beadle violations`: lists and counts records of the database or the log, with filters.

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use beadle::{base::text::Text, records::record::Violation};
use serde_json::{Value, json};

use crate::support::{
    origin::Origin,
    program::{Beadle, PROGRAM, Setup, json_lines},
    wait_for,
};

mod counts; // by crawler, rule, path, network and day
mod filters; // unknown names, empty lists, limits
mod made; // records that are made instead of recorded
mod output; // tables, CSV, followers

const SITES: &str = "
  - hosts: [a.example]
    origin: http://127.0.0.1:$ORIGIN
    robots_txt: { groups: [{ user_agents: [\"*\"], disallow: [/private/, /old/] }] }
    enforcement: { mode: log, overrides: [{ user_agents: [GPTBot], mode: block }] }
  - hosts: [b.example]
    origin: http://127.0.0.1:$ORIGIN
    robots_txt: { groups: [{ user_agents: [\"*\"], disallow: [/] }] }
";

fn setup(origin: &Origin) -> Setup {
    Setup::sites(&SITES.replace("$ORIGIN", &origin.port.to_string()))
}

fn request(beadle: &Beadle, host: &str, target: &str, user_agent: &str) {
    crate::support::client::Request::get(target)
        .host(host)
        .user_agent(user_agent)
        .send(beadle.port);
}

/// Five violations, one after the other.
fn violate(beadle: &Beadle) {
    let violations = [
        ("a.example", "/private/1", "GPTBot/1.2"),
        ("a.example", "/private/2?q=1", "bingbot/2.0"),
        ("a.example", "/old/3", "curl/8.5.0"),
        ("b.example", "/private/4", "GPTBot/1.2"),
        ("b.example", "/5", "bingbot/2.0"),
    ];
    for (number, (host, target, user_agent)) in violations.into_iter().enumerate() {
        request(beadle, host, target, user_agent);
        // Wait, so that the records have this order.
        beadle.wait_for_metric("beadle_records_seen_total", number as f64 + 1.0);
    }
    beadle.wait_for_metric("beadle_records_stored_total", 5.0);
    if beadle.folder().join("violations.jsonl").exists() {
        beadle.records(5); // the log has its own writer
    }
}

fn paths(records: &[Value]) -> Vec<&str> {
    records.iter().filter_map(|record| record["path"].as_str()).collect()
}

fn assert_filters(beadle: &Beadle) {
    let all = ["/private/1", "/private/2?q=1", "/old/3", "/private/4", "/5"];
    let id = beadle.log().get(2).map_or(Value::Null, |record| record["id"].clone());
    let id = id.as_str().unwrap_or_default().to_owned();
    for (args, expected) in [
        (&[][..], &all[..]),
        (&["--site", "a.example"], &all[..3]),
        (&["--site", "B.Example"], &all[3..]),
        (&["--product-token", "gptbot"], &["/private/1", "/private/4"]),
        (&["--purpose", "ai-training"], &["/private/1", "/private/4"]),
        (&["--path", "/private/"], &["/private/1", "/private/2?q=1", "/private/4"]),
        (&["--path", "/*4$"], &["/private/4"]),
        (&["--action", "block"], &["/private/1"]),
        (&["--action", "log", "--site", "a.example"], &["/private/2?q=1", "/old/3"]),
        (&["--since", "1h"], &all),
        (&["--since", "2000-01-01"], &all),
        (&["--since", "2999-01-01T00:00:00Z"], &[]),
        (&["--limit", "2"], &all[3..]),
        (&["--id", &id], &all[2..3]),
        (&["--site", "b.example", "--path", "/private/1"], &[]),
        (&["--until", "1h"], &[]),
    ] {
        let args: Vec<&str> =
            ["violations", "--format", "json"].iter().chain(args).copied().collect();
        let output = beadle.verb(&args);
        assert_eq!(paths(&json_lines(&output)), expected, "{args:?}");
        let exit = if expected.is_empty() { 0 } else { 1 };
        assert_eq!(output.status.code(), Some(exit), "{args:?}");
    }
    for args in [
        &["--since", "yesterday"][..],
        &["--action", "allow"],
        &["--limit", "-1"],
        &["--site", "' OR 1=1 --"],
    ] {
        let output = beadle.verb(&[&["violations"], args].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(!output.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn the_database_is_listed_with_filters_and_equals_the_log() {
    let origin = Origin::plain();
    let mut beadle = setup(&origin).start();
    violate(&beadle);
    assert_filters(&beadle);
    beadle.stop();
    let listed = json_lines(&beadle.verb(&["violations", "--format", "json"]));
    assert_eq!(listed, beadle.log(), "field for field, and after the end as well");
}

#[test]
fn a_log_alone_is_listed_with_the_same_filters() {
    let origin = Origin::plain();
    let beadle = setup(&origin).violations("  log: $DIR/violations.jsonl\n").start();
    violate(&beadle);
    assert_filters(&beadle);
}

#[test]
fn records_can_go_to_standard_output() {
    let origin = Origin::plain();
    let beadle = setup(&origin).violations("  log: stdout\n").start();
    violate(&beadle);
    wait_for("five lines", || (beadle.stdout().lines().count() == 5).then_some(()));
    let record: Value = serde_json::from_str(beadle.stdout().lines().next().expect("a line"))
        .expect("a line is JSON");
    assert_eq!(record["path"], json!("/private/1"));
    let output = beadle.verb(&["violations"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("violations.database"));
}

#[test]
fn the_text_format_has_one_line_for_each_record() {
    let origin = Origin::plain();
    let beadle = setup(&origin).start();
    violate(&beadle);
    let text = String::from_utf8(beadle.verb(&["violations"]).stdout).expect("it is text");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 6, "{text}");
    for part in ["block", "GPTBot", "a.example", "403", "/private/1", "Disallow: /private/"] {
        assert!(lines[1].contains(part), "{part}: {text}");
    }
}

#[test]
fn client_addresses_are_kept_shortened_or_hashed_as_the_policy_says() {
    for (client_ip, fits) in [
        ("full", (|text| text == "127.0.0.1") as fn(&str) -> bool),
        ("network", |text| text == "127.0.0.0/24"),
        ("hash", |text| text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit())),
    ] {
        let origin = Origin::plain();
        let violations = format!(
            "  database: $DIR/beadle.db\n  log: $DIR/violations.jsonl\n  client_ip: {client_ip}\n"
        );
        let beadle = setup(&origin).violations(&violations).start();
        request(&beadle, "b.example", "/first", "GPTBot/1.2");
        request(&beadle, "b.example", "/second", "GPTBot/1.2");
        let records = beadle.records(2);
        for record in &records {
            let shown = record["client_ip"].as_str().expect("text");
            assert!(fits(shown), "{client_ip}: {shown}");
        }
        assert_eq!(records[0]["client_ip"], records[1]["client_ip"], "one client");
        let stored = beadle.verb(&["violations", "--format", "json"]);
        assert_eq!(json_lines(&stored)[0]["client_ip"], records[0]["client_ip"]);
    }
}

#[test]
fn follow_prints_later_records() {
    for violations in ["  database: $DIR/beadle.db\n", "  log: $DIR/violations.jsonl\n"] {
        let origin = Origin::plain();
        let beadle = setup(&origin).violations(violations).start();
        request(&beadle, "b.example", "/first", "GPTBot/1.2");
        beadle.wait_for_metric("beadle_records_stored_total", 1.0);
        let mut follower = Command::new(PROGRAM)
            .args(["violations", "--follow", "--format", "json", "--config"])
            .arg(beadle.policy_file())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program can be started");
        let mut lines = BufReader::new(follower.stdout.take().expect("it is piped")).lines();
        let mut next = || {
            let line = lines.next().expect("it goes on").expect("it is text");
            serde_json::from_str::<Value>(&line).expect("a line is JSON")["path"].clone()
        };
        assert_eq!(next(), json!("/first"));
        for target in ["/second", "/third"] {
            request(&beadle, "b.example", target, "GPTBot/1.2");
            assert_eq!(next(), json!(target));
        }
        follower.kill().expect("it is our child");
        follower.wait().expect("it is our child");
    }
}

#[test]
fn redacted_parameters_are_in_no_record() {
    let origin = Origin::plain();
    let beadle = setup(&origin)
        .violations(
            "  database: $DIR/beadle.db\n  log: $DIR/violations.jsonl\n  redact_query: [token]\n",
        )
        .start();
    let targets = [
        "/x?token=c2VjcmV0&a=1&To%6ben=c2VjcmV0",
        "/x?a=1&token[]=c2VjcmV0",
        "/x?a=1&token%3dc2VjcmV0",
        "/x?a=1&+token=c2VjcmV0",
        "/x?a=1?token=c2VjcmV0",
        "/x?a=1;token=;c2VjcmV0",
        "/x?a=1&TOKEN%5B%5D%3D=c2VjcmV0",
    ];
    for (number, target) in targets.into_iter().enumerate() {
        request(&beadle, "b.example", target, "GPTBot");
        let record = beadle.records(number + 1).remove(number).to_string();
        assert!(!record.contains("c2VjcmV0") && record.contains("a=1"), "{record}");
        assert_eq!(origin.last().target, target.as_bytes(), "forwarded as sent");
    }
    beadle.wait_for_metric("beadle_records_stored_total", targets.len() as f64);
    let listed = beadle.verb(&["violations", "--format", "json"]);
    assert!(!String::from_utf8_lossy(&listed.stdout).contains("c2VjcmV0"));
}

#[test]
fn l127_hostile_fields_stay_on_one_line_and_are_escaped() {
    let origin = Origin::plain();
    let beadle = setup(&origin).server("  limits: { header_size: 1000KiB }\n").start();
    let user_agents: [&[u8]; 8] = [
        b"GPTBot \x1b[2J\x1b]0;pwn\x07",
        b"GPTBot \x9b2J",
        b"GPTBot \xff\xfe",
        "GPTBot \u{202e}evil\u{200b}".as_bytes(),
        b"GPTBot {\"verdict\":\"allow\"}\\u000d",
        b"GPTBot %s %n ${jndi:ldap://x}",
        b"GPTBot </script><img onerror=x>",
        b"GPTBot \x7f\x08",
    ];
    let mut answered = 0;
    for user_agent in user_agents {
        let request = crate::support::client::Request::get("/%1b%5b2J%0a")
            .host("b.example")
            .field("User-Agent", user_agent);
        answered += u32::from(request.send(beadle.port).status == 200);
    }
    let long = format!("GPTBot {}", "x".repeat(60_000));
    request(&beadle, "b.example", &format!("/{}", "y".repeat(60_000)), &long);
    answered += 1;
    beadle.wait_for_metric("beadle_records_stored_total", f64::from(answered));
    let records = beadle.records(answered as usize);
    assert_eq!(records.len(), answered as usize, "one line each");
    let file = std::fs::read(beadle.folder().join("violations.jsonl")).expect("the log");
    let text = beadle.verb(&["violations"]).stdout;
    for bytes in [file, text] {
        let text = String::from_utf8(bytes).expect("it is UTF-8");
        let foul = |c: &char| (c.is_control() && *c != '\n') || "\u{202e}\u{200b}".contains(*c);
        assert_eq!(text.chars().find(foul), None);
        assert!(text.lines().all(|line| line.len() < 8_192));
    }
    let last = records.last().expect("a record");
    assert!(last["path"].as_str().is_some_and(|path| path.contains("…(+") && path.len() < 2_200));
    assert!(last["user_agent"].as_str().is_some_and(|ua| ua.contains("…(+") && ua.len() < 1_100));
}

#[test]
fn the_evidence_of_a_crawler_is_without_its_impostors() {
    let own = |number| Violation {
        product_token: Text::word("Googlebot"),
        product_tokens: Text::list(["Googlebot"]),
        ..made::violation(number)
    };
    let records = [made::kinds(), vec![own(20), own(21)]].concat();
    let made = made::Made::new(made::Kept::Database, made::SITES, records);
    let report = |args: &[&str]| {
        let output = Command::new(PROGRAM)
            .current_dir(made.folder())
            .args(["report", "--evidence", "Googlebot", "--since", "2026-11-20", "--force"])
            .args(["--format", "json", "--output", "googlebot.zip"])
            .args(args)
            .output()
            .expect("the program can be started");
        let row = json_lines(&output).pop().expect("a row");
        (row["violations"].clone(), row["standing"].clone())
    };
    for (args, violations, standing) in [
        (&[][..], 2, Value::Null),
        (&["--impostors", "without"], 2, Value::Null),
        (&["--impostors", "only"], 1, json!("contradicted")),
    ] {
        assert_eq!(report(args), (json!(violations), standing), "{args:?}");
    }
}
