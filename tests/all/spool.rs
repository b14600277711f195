//! Records on their way to a real ClickHouse that is killed, hangs, is slow or full: no request fails,
//! and each record arrives once.

use std::{
    collections::BTreeSet,
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use crate::support::{
    GROUPS,
    clickhouse::{ClickHouse, FULL, Middle, PASS, SLOW},
    client::{Client, Request},
    conditions::is_full_size,
    free_port,
    origin::Origin,
    program::{Beadle, Setup, json_lines},
    wait_for,
};

const BOT: &str = "BadBot/1.0";
const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64) Firefox/130.0";

/// A site that refuses what its rules disallow, with records in the ClickHouse of this port.
fn setup(origin: &Origin, clickhouse: u16, more: &str) -> Setup {
    let database = format!("clickhouse://default@127.0.0.1:{clickhouse}/beadle");
    setup_with(origin, &database, "spool_size: 16MiB", more)
}

/// The same with records in this database, which has these settings.
fn setup_with(origin: &Origin, database: &str, settings: &str, more: &str) -> Setup {
    Setup::site(origin.port, &format!("{GROUPS}    enforcement: {{ mode: block }}\n")).violations(
        &format!(
            "  database: {database}\n  \
             clickhouse: {{ local: $DIR/beadle.db, spool: $DIR/spool, {settings} }}\n  \
             detail: 1000000\n{more}"
        ),
    )
}

const LOG: &str = "  log: $DIR/violations.jsonl\n";

/// Sends this many violations.
fn violate(beadle: &Beadle, count: usize) {
    let mut client = Client::connect(beadle.port);
    for number in 0..count {
        let request = Request::get(format!("/private/{number}")).user_agent(BOT);
        assert_eq!(request.send_over(&mut client).status, 403);
    }
}

/// Requests without an end, most of them violations.
struct Load {
    is_over: Arc<AtomicBool>,
    sent: Arc<AtomicU64>,
    threads: Vec<JoinHandle<Duration>>,
}

impl Load {
    /// At full size a thousand requests a second and more, where the machine bears it; with `bears_breaks`, a program
    /// that is killed is waited for.
    fn start(port: u16, bears_breaks: bool) -> Self {
        let (is_over, sent) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let run = |thread: u64| {
            let (is_over, sent) = (Arc::clone(&is_over), Arc::clone(&sent));
            move || run(port, thread, bears_breaks, &is_over, &sent)
        };
        let threads = (0..4).map(|thread| thread::spawn(run(thread))).collect();
        Self { is_over, sent, threads }
    }

    /// Lets it go on for a while, with this many answers at least.
    fn go_on(&self, time: Duration) {
        let before = self.sent.load(Ordering::SeqCst);
        thread::sleep(time);
        wait_for("answers", || (self.sent.load(Ordering::SeqCst) > before + 100).then_some(()));
    }

    /// Ends it; the number of answers and the longest wait for one.
    fn end(self) -> (u64, Duration) {
        self.is_over.store(true, Ordering::SeqCst);
        let longest = self.threads.into_iter().map(|thread| thread.join().expect("no failure"));
        // The threads end before their answers are read.
        let longest = longest.max().unwrap_or_default();
        (self.sent.load(Ordering::SeqCst), longest)
    }
}

fn run(port: u16, thread: u64, bears: bool, is_over: &AtomicBool, sent: &AtomicU64) -> Duration {
    let mut longest = Duration::ZERO;
    let pace = Duration::from_millis(if is_full_size() { 3 } else { 12 });
    let mut client = Client::connect(port);
    for number in 0.. {
        if is_over.load(Ordering::SeqCst) {
            break;
        }
        let (target, user_agent, expected) = match number % 10 {
            9 => (format!("/open/{number}"), FIREFOX, 200),
            8 => (format!("/open/{number}"), BOT, 200),
            _ => (format!("/private/{thread}/{number}"), BOT, 403),
        };
        let request = Request::get(target).user_agent(user_agent).bytes();
        let start = Instant::now();
        let answer = client.try_write(&request).and_then(|()| client.response("GET"));
        match answer {
            Ok(answer) => {
                assert_eq!(answer.status, expected);
                longest = longest.max(start.elapsed());
                sent.fetch_add(1, Ordering::SeqCst);
            }
            Err(error) => {
                assert!(bears, "a request failed: {error}");
                client = wait_for("the program", || Client::try_connect(port).ok());
            }
        }
        thread::sleep(pace.saturating_sub(start.elapsed()));
    }
    longest
}

/// Waits until the spool is empty and everything is acknowledged.
fn wait_until_sent(beadle: &Beadle) {
    wait_for("an empty queue", || (beadle.metric("beadle_records_queued") == 0.0).then_some(()));
    wait_for("an empty spool", || (beadle.metric("beadle_spool_bytes") == 0.0).then_some(()));
}

/// The records in ClickHouse, each once.
fn ids(server: &ClickHouse) -> BTreeSet<String> {
    let rows = server.ask("SELECT id FROM violations FINAL FORMAT TabSeparated");
    let all: Vec<&str> = rows.lines().collect();
    let each: BTreeSet<String> = all.iter().map(|&id| id.to_owned()).collect();
    assert_eq!(all.len(), each.len(), "a record is there twice");
    let without_hours = "SELECT count() FROM violations WHERE (day, \
        toUInt32(intDiv(bitShiftRight(sequence, 22), 3600000)), site, product_token, \
        ifNull(purpose, ''), action) NOT IN (SELECT day, hour, site, product_token, purpose, action \
        FROM record_hours)";
    assert_eq!(server.number(without_hours), 0, "records that no filter finds");
    each
}

/// The violations that ClickHouse counts, without those that have no record.
fn counted(server: &ClickHouse) -> u64 {
    server.number(
        "SELECT toUInt64(sum(requests) - sum(folded) - sum(dropped)) FROM counts FINAL \
         WHERE action != 'pass'",
    )
}

/// The ids of the records in the log.
fn logged(beadle: &Beadle) -> BTreeSet<String> {
    let id = |record: &serde_json::Value| record["id"].as_str().unwrap_or_default().to_owned();
    beadle.log().iter().map(id).collect()
}

#[test]
fn records_wait_for_a_server_that_starts_later() {
    let Some(mut server) = ClickHouse::start() else { return };
    server.kill();
    let origin = Origin::plain();
    let mut beadle = setup(&origin, server.port, LOG).start();
    violate(&beadle, 50);
    beadle.wait_for_metric("beadle_records_stored_total", 50.0);
    assert_eq!(beadle.metric("beadle_spool_records"), 50.0);
    assert!(beadle.metric("beadle_spool_bytes") > 10_000.0);
    let health = wait_for("a failure", || {
        Some(beadle.admin_page("/healthz").text()).filter(|text| text != "ok\n")
    });
    assert!(health.contains("cannot be reached") && health.contains("50 records wait"), "{health}");
    let ready = beadle.admin_page("/readyz");
    assert_eq!(
        (ready.status, ready.text().contains("degraded: ")),
        (200, true),
        "{}",
        ready.text()
    );
    beadle.wait_for_metric("beadle_records_degraded{destination=\"clickhouse\"}", 1.0);
    beadle.wait_for_stderr("clickhouse.unreachable");
    assert!(
        beadle.metric("beadle_clickhouse_failures_total{code=\"clickhouse.unreachable\"}") >= 1.0
    );
    // The end of the program loses nothing of it.
    let (status, _) = beadle.stop();
    assert!(status.success());
    beadle.wait_for_stderr("records stay in the spool");
    let beadle = beadle.restarted();
    beadle.wait_for_stderr("clickhouse.unreachable");
    violate(&beadle, 7);
    server.start_again();
    wait_until_sent(&beadle);
    assert_eq!(beadle.admin_page("/healthz").text(), "ok\n");
    beadle.wait_for_stderr("clickhouse.recovered");
    assert_eq!(ids(&server), logged(&beadle));
    assert_eq!((ids(&server).len(), counted(&server)), (57, 57));
    let editions =
        server.number("SELECT count() FROM publications FINAL WHERE site = 'site.example'");
    assert!(editions >= 1, "the editions of the node are there");
    let local = beadle.rows("SELECT cast(count(*) AS TEXT) FROM violations");
    assert_eq!(local, ["0"], "the local database has no records");
    let local = beadle.rows("SELECT site FROM edition_periods");
    assert_eq!(local, ["site.example"], "it has the editions");
}

#[test]
fn a_server_with_tls_and_a_password_gets_the_records_of_a_node_that_has_both() {
    let certificate = tempfile::tempdir().expect("a folder");
    let port = free_port();
    let Some(server) = ClickHouse::start_with_tls(port, "zq7-right", certificate.path()) else {
        return;
    };
    let origin = Origin::plain();
    let database = format!("clickhouses://beadle@127.0.0.1:{port}/beadle");
    let authority = format!("ca_file: {}/server.pem", certificate.path().display());
    let password = certificate.path().join("password");
    let with_password = format!("{authority}, password_file: {}", password.display());
    for (settings, given, failure) in
        [(with_password.as_str(), "zq7-wrong", "refused"), ("spool_size: 16MiB", "", "unreachable")]
    {
        fs::write(&password, given).expect("the folder is ours");
        let mut beadle = setup_with(&origin, &database, settings, "").start();
        violate(&beadle, 3);
        beadle.wait_for_stderr(&format!("clickhouse.{failure}"));
        let pages = ["/healthz", "/metrics"].map(|page| beadle.admin_page(page).text());
        assert!(pages.iter().all(|page| !page.contains("zq7")), "{pages:?}");
        beadle.stop();
        assert!(!beadle.stderr().contains("zq7"), "{}", beadle.stderr());
    }
    fs::write(&password, "zq7-right\n").expect("the folder is ours");
    let beadle = setup_with(&origin, &database, &with_password, LOG).start();
    violate(&beadle, 20);
    wait_until_sent(&beadle);
    assert_eq!(ids(&server), logged(&beadle));
    let listed = json_lines(&beadle.verb(&["violations", "--format", "json"]));
    assert_eq!(listed.len(), 20, "{listed:?}");
    // A machine that never served asks for them, too.
    beadle.replace_policy(&beadle.policy_text().replace("beadle.db", "elsewhere.db"));
    let elsewhere = json_lines(&beadle.verb(&["violations", "--format", "json"]));
    assert_eq!(elsewhere, listed);
    let report = beadle.verb(&["report", "--since", "1h"]);
    let [text, remark] =
        [&report.stdout, &report.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
    assert!(text.contains("BadBot"), "{report:?}");
    assert!(remark.contains("no local database at ") && !remark.contains("zq7"), "{remark}");
    assert!(!beadle.stderr().contains("zq7"), "{}", beadle.stderr());
    assert!(!beadle.folder().join("elsewhere.db").exists());
}

#[test]
#[ignore = "minutes of faults: .ci/long runs it"]
fn a_server_that_is_killed_hangs_is_slow_or_full_costs_no_request_and_no_record() {
    let Some(mut server) = ClickHouse::start() else { return };
    let origin = Origin::plain();
    let middle = Middle::before(server.port);
    let database = format!("clickhouse://default@127.0.0.1:{}/beadle", middle.port);
    let beadle = setup_with(&origin, &database, "spool_size: 256MiB", LOG).start();
    // At full size, it also hangs for longer than an insert may take.
    let (times, hang) = if is_full_size() { (4, 40) } else { (1, 4) };
    let (started, load) = (Instant::now(), Load::start(beadle.port, false));
    let go_on = |seconds: u64| load.go_on(Duration::from_secs(times * seconds));
    go_on(3);
    for _ in 0..2 {
        server.kill();
        go_on(2);
        server.start_again();
        go_on(3);
    }
    server.signal("STOP");
    load.go_on(Duration::from_secs(hang));
    server.signal("CONT");
    go_on(2);
    middle.set(SLOW);
    go_on(6);
    middle.set(FULL);
    wait_for("the refusal", || beadle.admin_page("/healthz").text().contains("243").then_some(()));
    beadle.wait_for_stderr("clickhouse.full");
    go_on(1);
    middle.set(PASS);
    go_on(2);
    let seconds = started.elapsed().as_secs_f64();
    let (sent, longest) = load.end();
    wait_until_sent(&beadle);
    let rate = sent as f64 / seconds;
    eprintln!("{sent} requests, {rate:.0} a second; the longest wait {longest:?}");
    let found = ids(&server);
    assert_eq!(found, logged(&beadle), "each record, and each once");
    assert_eq!(found.len() as f64, beadle.metric("beadle_records_stored_total"));
    assert_eq!(beadle.metric("beadle_records_dropped_total"), 0.0);
    assert_eq!(counted(&server), found.len() as u64);
    let all = server.number("SELECT toUInt64(sum(requests)) FROM counts FINAL")
        + server.number("SELECT toUInt64(sum(requests)) FROM people FINAL");
    assert_eq!(all, sent, "every request counts once");
    assert!(longest < Duration::from_secs(2), "no request waits for the server: {longest:?}");
}

#[test]
fn tables_that_were_dropped_are_made_again_and_the_log_says_what_is_lost() {
    let Some(server) = ClickHouse::start() else { return };
    let origin = Origin::plain();
    let beadle = setup(&origin, server.port, "").start();
    violate(&beadle, 3);
    wait_until_sent(&beadle);
    server.ask("DROP TABLE beadle.violations");
    violate(&beadle, 2);
    beadle.wait_for_stderr("clickhouse.tables_lost");
    wait_until_sent(&beadle);
    assert_eq!(ids(&server).len(), 2);
    assert_eq!(beadle.admin_page("/healthz").text(), "ok\n");
}

#[test]
fn a_program_that_is_killed_loses_nothing_that_it_acknowledged_and_counts_nothing_twice() {
    let Some(mut server) = ClickHouse::start() else { return };
    let origin = Origin::plain();
    let mut beadle = setup(&origin, server.port, "").start();
    let load = Load::start(beadle.port, true);
    let mut acknowledged = 0;
    for round in 0..5 {
        if round == 2 {
            server.kill();
        }
        load.go_on(Duration::from_millis(1700 + 300 * round));
        acknowledged += beadle.metric("beadle_records_stored_total") as usize;
        let again = setup(&origin, server.port, "");
        beadle = beadle.restarted_as("KILL", again);
        if round == 3 {
            server.start_again();
        }
    }
    load.end();
    wait_until_sent(&beadle);
    acknowledged += beadle.metric("beadle_records_stored_total") as usize;
    let found = ids(&server).len();
    assert!(found >= acknowledged, "{found} records, {acknowledged} acknowledged");
    assert!(found > 1000, "{found}");
    assert_eq!(counted(&server), found as u64, "the counts are those of the records");
}

#[test]
fn a_full_spool_drops_and_counts_exactly() {
    let Some(mut server) = ClickHouse::start() else { return };
    server.kill();
    let origin = Origin::plain();
    let beadle = setup(&origin, server.port, "").start();
    let long = "x".repeat(1500);
    let mut client = Client::connect(beadle.port);
    let mut sent = 0_u64;
    let mut more = |count: u64, sent: &mut u64| {
        for _ in 0..count {
            *sent += 1;
            let target = format!("/private/{sent}/{long}");
            let request = Request::get(target).user_agent(&format!("{BOT} {long}"));
            assert_eq!(request.send_over(&mut client).status, 403);
        }
    };
    let full = "beadle_record_drops_total{cause=\"store.spool_full\",destination=\"database\"}";
    let until = Instant::now() + Duration::from_secs(120);
    while beadle.admin_page("/metrics").text().lines().all(|line| !line.starts_with(full)) {
        assert!(Instant::now() < until, "{}", beadle.admin_page("/metrics").text());
        more(500, &mut sent);
    }
    more(500, &mut sent);
    assert!(beadle.metric("beadle_spool_bytes") <= beadle.metric("beadle_spool_max_bytes"));
    let health = beadle.admin_page("/healthz").text();
    assert!(health.contains("further records are only counted"), "{health}");
    beadle.wait_for_stderr("store.spool_full");
    server.start_again();
    wait_until_sent(&beadle);
    more(10, &mut sent);
    wait_until_sent(&beadle);
    wait_for("health", || (beadle.admin_page("/healthz").text() == "ok\n").then_some(()));
    let dropped = beadle.metric("beadle_records_dropped_total") as u64;
    let stored = beadle.metric("beadle_records_stored_total") as u64;
    assert_eq!((stored + dropped, dropped >= 500), (sent, true), "{dropped} dropped");
    assert_eq!(ids(&server).len() as u64, stored);
    assert_eq!(counted(&server), stored);
    wait_for("the overflow", || {
        let sum = "SELECT toUInt64(sum(count)) FROM overflow FINAL";
        (server.number(sum) == dropped).then_some(())
    });
    let sum = server.number("SELECT toUInt64(sum(dropped)) FROM counts FINAL");
    assert_eq!(sum, dropped);
}

#[test]
fn a_damaged_batch_is_set_aside_and_its_records_are_counted() {
    let origin = Origin::plain();
    let Some(mut server) = ClickHouse::start() else { return };
    server.kill();
    let mut beadle = setup(&origin, server.port, "").start();
    violate(&beadle, 30);
    beadle.wait_for_metric("beadle_records_stored_total", 30.0);
    beadle.stop();
    let spool = beadle.folder().join("spool");
    // As a disk would do it: the checksum stays.
    let database = rusqlite::Connection::open(spool.join("spool.db")).expect("it is closed");
    let damage = "UPDATE frames SET bytes = CAST('[' || substr(bytes, 2) AS BLOB) \
        WHERE number = (SELECT min(number) FROM frames WHERE records > 0)";
    assert_eq!(database.execute(damage, []).expect("it is ours"), 1);
    drop(database);
    fs::write(spool.join("0000000000000001-1-3.segment"), "rows").expect("it is ours");
    server.start_again();
    let beadle = beadle.restarted();
    wait_for("what is whole", || (beadle.metric("beadle_spool_records") == 0.0).then_some(()));
    beadle.wait_for_stderr("spool.damaged");
    let lost = wait_for("the loss", || {
        Some(beadle.metric("beadle_spool_lost_records_total")).filter(|&lost| lost > 0.0)
    });
    assert_eq!(ids(&server).len() as f64 + lost, 30.0);
    let files = fs::read_dir(&spool).expect("a folder").map(|entry| entry.expect("one").path());
    let aside = files.filter(|path| path.extension().is_some_and(|ending| ending == "damaged"));
    assert_eq!(aside.count(), 1);
    beadle.wait_for_stderr("spool.older");
}

#[test]
fn a_spool_has_one_program() {
    let origin = Origin::plain();
    let beadle = setup(&origin, free_port(), "").start();
    let output = {
        let text = beadle.policy_text();
        let file = beadle.folder().join("other.yaml");
        let port = format!(":{}\"", beadle.port);
        let admin = format!(":{}\"", beadle.admin);
        let text = text.replace(&port, &format!(":{}\"", free_port()));
        let text = text.replace(&admin, &format!(":{}\"", free_port()));
        fs::write(&file, text).expect("the folder is ours");
        std::process::Command::new(crate::support::program::PROGRAM)
            .args(["serve", "--config"])
            .arg(file)
            .output()
            .expect("the program can be started")
    };
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(stderr.contains("spool") && stderr.contains("another process"), "{stderr}");
}
