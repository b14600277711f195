//! Counts by hour beside the records: exact, whatever happens to the process.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use crate::support::{
    GROUPS,
    client::{Client, Request},
    conditions::is_full_size,
    origin::Origin,
    program::{Beadle, Setup},
    wait_for,
};

const BOT: &str = "BadBot/1.0";
const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0";

fn setup(origin: &Origin, violations: &str) -> Setup {
    Setup::site(origin.port, &format!("{GROUPS}    enforcement: {{ mode: block }}\n"))
        .violations(&format!("  database: $DIR/beadle.db\n{violations}"))
}

fn number(beadle: &Beadle, sql: &str) -> u64 {
    let rows = beadle.rows(&format!("SELECT CAST(({sql}) AS TEXT)"));
    rows[0].parse().unwrap_or_else(|_| panic!("{sql}: {rows:?}"))
}

/// The sum of a column over violations, or over the others.
fn sum(beadle: &Beadle, column: &str, condition: &str) -> u64 {
    let sql = format!(
        "SELECT ifnull(sum({column}), 0) FROM rollups JOIN series ON id = series WHERE {condition}"
    );
    number(beadle, &sql)
}

#[test]
fn every_request_is_counted_once_and_another_process_reads_it_soon() {
    let origin = Origin::plain();
    let beadle = setup(&origin, "  detail: 3\n").start();
    for _ in 0..7 {
        assert_eq!(beadle.get("/private/x?token=1", BOT).status, 403);
    }
    for _ in 0..4 {
        assert_eq!(beadle.get("/free", BOT).status, 200);
        assert_eq!(beadle.get("/robots.txt", BOT).status, 200);
        let visit = Request::get("/page").user_agent(BROWSER);
        assert_eq!(visit.field("Referer", "https://chatgpt.com/").send(beadle.port).status, 200);
        assert_eq!(beadle.get("/asset.css", BROWSER).status, 200);
    }
    let all = |beadle: &Beadle| {
        [
            sum(beadle, "requests", "action = 'block'"),
            sum(beadle, "folded", "action = 'block'"),
            number(beadle, "SELECT count(*) FROM violations"),
            sum(beadle, "requests", "reason = 'robots.allow'"),
            sum(beadle, "requests", "reason = 'robots.robots_txt'"),
            number(beadle, "SELECT ifnull(sum(requests), 0) FROM people"),
            number(
                beadle,
                "SELECT ifnull(sum(visits), 0) FROM referrals WHERE operator = 'OpenAI'",
            ),
        ]
    };
    wait_for("the counts", || (all(&beadle) == [7, 4, 3, 4, 4, 8, 4]).then_some(()));
    let places =
        "SELECT kind || ' ' || place || ' ' || violations FROM rollup_places ORDER BY kind";
    assert_eq!(beadle.rows(places), ["network 127.0.0.0/24 7", "path /private/x 7"]);
    beadle.wait_for_metric("beadle_records_folded_total", 4.0);
    beadle.wait_for_metric("beadle_records_stored_total", 3.0);
    beadle.wait_for_metric("beadle_records_seen_total", 7.0);
    let mut beadle = beadle;
    beadle.stop();
    let stderr = beadle.stderr();
    let folded: Vec<&str> =
        stderr.lines().filter(|line| line.contains("violations.folded")).collect();
    assert_eq!(folded.len(), 1, "{stderr}");
    for part in ["folded=4", "BadBot"] {
        assert!(folded[0].contains(part), "{part}: {folded:?}");
    }
}

#[test]
fn without_a_database_violations_are_folded_in_the_log() {
    let origin = Origin::plain();
    let setup = setup(&origin, "").violations("  log: $DIR/violations.jsonl\n  detail: 2\n");
    let mut beadle = setup.start();
    for _ in 0..5 {
        assert_eq!(beadle.get("/private/x", BOT).status, 403);
    }
    beadle.wait_for_metric("beadle_records_folded_total", 3.0);
    beadle.wait_for_metric("beadle_records_stored_total", 2.0);
    beadle.stop();
    assert_eq!(beadle.log().len(), 2);
}

/// Sends requests until the program is gone.
fn load(port: u16, is_over: &AtomicBool) {
    let targets = ["/private/a", "/free/b", "/private/c?d", "/robots.txt", "/admin/e"];
    let clients = [BOT, BROWSER, "GPTBot/1.2", "Invented42Bot/1.0 (+https://bot.example/)"];
    for number in 0_usize.. {
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        let Ok(mut client) = Client::try_connect(port) else { return };
        for step in 0..40 {
            let at = number * 40 + step;
            let request = Request::get(targets[at % 5]).user_agent(clients[at / 5 % 4]);
            if client.try_write(&request.bytes()).is_err() || client.response("GET").is_err() {
                break;
            }
        }
    }
}

#[test]
fn a_program_that_is_killed_under_load_keeps_what_it_acknowledged_and_its_counts_add_up() {
    let origin = Origin::plain();
    let setup = setup(&origin, "  detail: 3\n");
    let mut beadle = setup.clone().start();
    let mut rows_before = 0;
    let rounds = if is_full_size() { 100 } else { 5 };
    for round in 0..rounds {
        let (port, is_over) = (beadle.port, Arc::new(AtomicBool::new(false)));
        let clients: Vec<_> = (0..3)
            .map(|_| {
                let is_over = Arc::clone(&is_over);
                thread::spawn(move || load(port, &is_over))
            })
            .collect();
        let acknowledged = wait_for("acknowledged records", || {
            let stored = beadle.metric("beadle_records_stored_total");
            (stored > 0.0).then_some(stored as u64)
        });
        thread::sleep(Duration::from_millis(7 * (round % 13)));
        beadle.signal("KILL");
        is_over.store(true, Ordering::Relaxed);
        beadle.wait();
        clients.into_iter().for_each(|client| client.join().expect("no panic"));
        beadle = beadle.restarted_as("KILL", setup.clone());
        assert_eq!(beadle.rows("PRAGMA integrity_check"), ["ok"]);
        let rows = number(&beadle, "SELECT count(*) FROM violations");
        assert!(rows >= rows_before + acknowledged, "{rows} {rows_before} {acknowledged}");
        rows_before = rows;
        let [requests, folded, dropped] = ["requests", "folded", "dropped"]
            .map(|column| sum(&beadle, column, "action <> 'pass'"));
        assert_eq!(requests, rows + folded + dropped);
        let places = "SELECT sum(violations) FROM rollup_places WHERE kind = 'path'";
        assert_eq!(number(&beadle, places), requests);
    }
    assert!(sum(&beadle, "folded", "action <> 'pass'") > 0);
    assert!(sum(&beadle, "requests", "action = 'pass'") > 0);
}
