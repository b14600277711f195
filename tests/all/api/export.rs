//! Exports: as the command line writes them, whole or visibly broken.

use super::{RULES, answer, traffic};
use crate::support::{
    client::{Client, Request},
    origin::Origin,
    program::{Beadle, Setup},
};

/// Adds records to the database without the proxy.
pub(crate) fn fill(beadle: &Beadle, count: usize) {
    let file = beadle.folder().join("beadle.db");
    let database = rusqlite::Connection::open(file).expect("it is there");
    database.busy_timeout(crate::support::PATIENCE).expect("a number");
    let columns = "schema, time, site, client_ip, method, host, path, product_token, product_tokens, \
                   operator, purpose, standing, evidence, verdict, reason, action, status, \
                   robots_edition, robots_line, robots_directive, robots_pattern, robots_group, \
                   robots_read_state, robots_read_edition, robots_read_at";
    let sql = format!(
        "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {count}) \
         INSERT INTO violations (id, user_agent, {columns}) \
         SELECT format('00000000-0000-7000-8000-%012d', n), hex(zeroblob(400)), {columns} \
         FROM violations, n WHERE sequence = 1"
    );
    assert_eq!(database.execute(&sql, []).expect("added"), count);
}

#[test]
fn an_export_is_what_the_command_line_writes() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, RULES).start();
    let count = traffic(&beadle);
    // More than the pages in which it is read.
    fill(&beadle, 2_600);
    for (query, args) in [
        ("", &[][..]),
        ("?crawler=gptbot&site=SITE.example", &["-t", "gptbot", "--site", "site.example"]),
        ("?path=/old/&since=1d", &["--path", "/old/", "--since", "1d"]),
        ("?since=2999-01-01", &["--since", "2999-01-01"]),
    ] {
        for (name, format, media_type) in [
            ("violations.jsonl", "json", "application/jsonl"),
            ("violations.csv", "csv", "text/csv; charset=utf-8; header=present"),
        ] {
            let export = answer(&beadle, &format!("/api/v1/{name}{query}"));
            assert_eq!(export.status, 200, "{name}{query}");
            assert_eq!(export.header("content-type"), Some(media_type));
            let disposition = format!("attachment; filename=\"{name}\"");
            assert_eq!(export.header("content-disposition"), Some(disposition.as_str()));
            assert!(export.has("transfer-encoding", "chunked"));
            let mut all = vec!["violations", "--limit", "1000000", "--format", format];
            all.extend(args);
            let printed = beadle.verb(&all).stdout;
            assert!(export.body == printed, "{name}{query}: {}", export.text());
        }
    }
    let all = answer(&beadle, "/api/v1/violations.jsonl").text();
    assert_eq!(all.lines().count(), count + 2_600);
}

#[test]
fn a_slow_reader_gets_what_was_there_and_keeps_nobody_from_writing() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, RULES).start();
    let count = traffic(&beadle);
    // More than the kernel holds for a reader that does not read.
    fill(&beadle, 20_000);
    let mut reader = Client::connect(beadle.admin);
    let request = Request::get("/api/v1/violations.jsonl").host("localhost");
    reader.write(&request.bytes());
    assert_eq!(reader.head().expect("an answer").status, 200);
    // Meanwhile records come and go, and the log of the database can be written back.
    beadle.get("/private/later", "GPTBot/1.2");
    beadle.wait_for_metric("beadle_records_stored_total", count as f64 + 1.0);
    let file = beadle.folder().join("beadle.db");
    let database = rusqlite::Connection::open(file).expect("it is there");
    database.busy_timeout(crate::support::PATIENCE).expect("a number");
    let removed = database.execute("DELETE FROM violations WHERE sequence % 1000 = 7", []);
    assert!(removed.expect("removed") > 15);
    let busy: i64 = database
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
        .expect("a result");
    assert_eq!(busy, 0, "no reader holds the log");
    let body =
        crate::support::chunks(&mut reader, Client::until, Client::take).expect("a whole body");
    let text = String::from_utf8(body).expect("text");
    assert!(text.ends_with('\n') && !text.contains("/private/later"));
    let lines = text.lines().count();
    assert!((19_900..=20_000 + count).contains(&lines), "{lines}");
}

#[test]
fn an_export_that_fails_midway_is_visibly_broken() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, RULES).start();
    traffic(&beadle);
    fill(&beadle, 20_000);
    let mut reader = Client::connect(beadle.admin);
    let request = Request::get("/api/v1/violations.jsonl").host("localhost");
    reader.write(&request.bytes());
    assert_eq!(reader.head().expect("an answer").status, 200);
    let file = beadle.folder().join("beadle.db");
    let database = rusqlite::Connection::open(file).expect("it is there");
    database.busy_timeout(crate::support::PATIENCE).expect("a number");
    database.execute_batch("ALTER TABLE violations RENAME TO elsewhere").expect("renamed");
    let body = crate::support::chunks(&mut reader, Client::until, Client::take);
    assert!(body.is_err(), "it must not look whole");
    database.execute_batch("ALTER TABLE elsewhere RENAME TO violations").expect("renamed");
    beadle.assert_healthy("a broken export");
}

#[test]
fn exports_are_few() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, RULES).start();
    traffic(&beadle);
    fill(&beadle, 20_000);
    let request = Request::get("/api/v1/violations.jsonl").host("localhost");
    let mut readers: Vec<Client> = (0..8).map(|_| Client::connect(beadle.admin)).collect();
    for reader in &mut readers {
        reader.write(&request.bytes());
        assert_eq!(reader.head().expect("an answer").status, 200);
    }
    let refused = request.send(beadle.admin);
    assert_eq!(refused.status, 429, "{}", refused.text());
    assert_eq!(refused.header("retry-after"), Some("5"));
    assert_eq!(answer(&beadle, "/api/v1/status").status, 200, "everything else is answered");
    drop(readers);
    crate::support::wait_for("a free place", || {
        (request.send(beadle.admin).status == 200).then_some(())
    });
}
