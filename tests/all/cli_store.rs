//! The database as a file: bounded in size, checked, copied and made smaller while it is used.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use beadle::{
    base::text::Text,
    records::{
        tally::{Hour, Rollup, Rollups, Series},
        violations::Store,
    },
};
use jiff::Timestamp;
use rusqlite::Connection;

use crate::support::{
    GROUPS, PATIENCE,
    client::{Client, Request},
    need,
    origin::Origin,
    program::{Beadle, PROGRAM, Setup, json_lines},
    wait_for,
    week::nothing,
};

const BOT: &str = "BadBot/1.0";

fn setup(origin: &Origin, violations: &str) -> Setup {
    Setup::site(origin.port, &format!("{GROUPS}    enforcement: {{ mode: block }}\n"))
        .violations(&format!("  database: $DIR/beadle.db\n  detail: 1000000\n{violations}"))
}

fn store(args: &[&str], database: &Path) -> Output {
    let (verb, rest) = args.split_first().expect("a verb");
    let mut command = Command::new(PROGRAM);
    command.args(["store", verb, "--database"]).arg(database).args(rest);
    command.output().expect("the program can be started")
}

fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

fn assert_code(output: &Output, code: i32) {
    assert_eq!(output.status.code(), Some(code), "{}", text(output));
}

fn open(database: &Path) -> Connection {
    let connection = Connection::open(database).expect("it is there");
    connection.busy_timeout(PATIENCE).expect("a number");
    connection
}

fn number(database: &Path, sql: &str) -> u64 {
    try_number(database, sql).expect("it is whole")
}

fn try_number(database: &Path, sql: &str) -> rusqlite::Result<u64> {
    let count = open(database).query_row(sql, [], |row| row.get::<_, Option<i64>>(0));
    Ok(count?.unwrap_or(0).unsigned_abs())
}

const RECORDS: &str = "SELECT count(*) FROM violations";
const COUNTED: &str = "SELECT sum(requests) FROM rollups JOIN series ON id = series \
    WHERE action = 'block'";

/// A database that a program made, with one violation; the program has ended.
fn made(origin: &Origin) -> Beadle {
    let mut beadle = setup(origin, "").start();
    assert_eq!(beadle.get("/private/x", BOT).status, 403);
    beadle.wait_for_metric("beadle_records_stored_total", 1.0);
    beadle.stop();
    beadle
}

/// Adds copies of the first record, with this much text in their paths, and counts them.
fn fill(database: &Path, count: u64, padding: usize) {
    let connection = open(database);
    let columns = "SELECT group_concat(name, ', ') FROM pragma_table_info('violations') \
                   WHERE name NOT IN ('sequence', 'id', 'path')";
    let columns: String =
        connection.query_row(columns, [], |row| row.get(0)).expect("the table is there");
    let sql = format!(
        "BEGIN; WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}) \
         INSERT INTO violations (id, path, {columns}) \
         SELECT printf('0192f0c1-0000-7000-8000-%012x', i), '/private/' || hex(zeroblob({padding})), \
         {columns} FROM n, violations WHERE sequence = 1; \
         UPDATE rollups SET requests = requests + {count} \
         WHERE series IN (SELECT id FROM series WHERE action = 'block'); COMMIT"
    );
    connection.execute_batch(&sql).expect("it runs");
}

/// Requests that break the rules, by several clients, until it is dropped.
struct Load {
    is_over: Arc<AtomicBool>,
    clients: Vec<thread::JoinHandle<()>>,
}

impl Load {
    fn on(beadle: &Beadle) -> Self {
        let (port, is_over) = (beadle.port, Arc::new(AtomicBool::new(false)));
        let client = |_| {
            let is_over = Arc::clone(&is_over);
            thread::spawn(move || {
                let mut client = Client::connect(port);
                while !is_over.load(Ordering::Relaxed) {
                    let request = Request::get("/private/load").user_agent(BOT);
                    assert_eq!(request.send_over(&mut client).status, 403);
                }
            })
        };
        let clients = (0..2).map(client).collect();
        Self { is_over, clients }
    }

    fn end(self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.clients.into_iter().for_each(|client| client.join().expect("no request failed"));
    }
}

fn stored(beadle: &Beadle) -> f64 {
    beadle.metric("beadle_records_stored_total")
}

fn wait_for_more(beadle: &Beadle) {
    let before = stored(beadle);
    wait_for("more stored records", || (stored(beadle) > before + 50.0).then_some(()));
}

#[test]
fn a_backup_under_load_is_whole_and_has_every_acknowledged_record() {
    let origin = Origin::plain();
    let beadle = made(&origin);
    let database = beadle.folder().join("beadle.db");
    fill(&database, 20_000, 100);
    let beadle = beadle.restarted();
    let copy = beadle.folder().join("copy.db");
    let load = Load::on(&beadle);
    wait_for_more(&beadle);
    let acknowledged = 20_001 + stored(&beadle) as u64;
    let output = beadle.verb(&["store", "backup", &copy.display().to_string(), "--format", "json"]);
    assert_code(&output, 0);
    let told = &json_lines(&output)[0];
    wait_for_more(&beadle);
    load.end();
    let records = number(&copy, RECORDS);
    assert_eq!(told["records"].as_u64(), Some(records));
    assert!(records >= acknowledged, "{records} < {acknowledged}");
    assert_code(&store(&["check"], &copy), 0);
    assert!(!copy.with_extension("db.partial").exists());
    // Nothing is overwritten by accident.
    let again = store(&["backup", &copy.display().to_string()], &database);
    assert_code(&again, 2);
    assert!(text(&again).contains("--force"), "{}", text(&again));
    assert_code(&store(&["backup", &copy.display().to_string(), "--force"], &database), 0);
    assert!(number(&copy, RECORDS) > records);
    for file in [&database, &database.with_extension("db-wal")] {
        let itself = store(&["backup", &file.display().to_string(), "--force"], &database);
        assert_code(&itself, 2);
        assert!(text(&itself).contains("the database itself"), "{}", text(&itself));
    }
    fs::write(copy.with_extension("db-wal"), "x").expect("written");
    let left = store(&["backup", &copy.display().to_string(), "--force"], &database);
    assert_code(&left, 2);
    assert!(text(&left).contains("-wal"), "{}", text(&left));
    assert_eq!(beadle.metric("beadle_records_dropped_total"), 0.0);
}

#[test]
fn a_flood_stays_below_max_size_and_the_newest_records_stay() {
    const MOST: u64 = 16 << 20;
    let origin = Origin::plain();
    let beadle = made(&origin);
    let database = beadle.folder().join("beadle.db");
    fill(&database, 3_700, 1_000);
    assert!(fs::metadata(&database).expect("a file").len() < MOST);
    let mut beadle = beadle.restarted_as("TERM", setup(&origin, "  max_size: 16MiB\n"));
    let long = format!("/private/{}", "x".repeat(1_900));
    let sent: u32 = 900;
    let clients = [0, 1].map(|client| {
        let (port, long) = (beadle.port, long.clone());
        thread::spawn(move || {
            let mut connection = Client::connect(port);
            for number in 0..sent {
                let target = format!("{long}/{client}/{number}");
                let request = Request::get(&target).user_agent(BOT);
                assert_eq!(request.send_over(&mut connection).status, 403);
            }
        })
    });
    clients.into_iter().for_each(|client| client.join().expect("no request failed"));
    let seen = 2 * sent;
    wait_for("all counted", || {
        let of = |state: &str| beadle.metric(&format!("beadle_records_{state}_total"));
        assert_eq!(of("dropped"), 0.0);
        (of("stored") + of("folded") == f64::from(seen)).then_some(())
    });
    wait_for("the oldest removed", || {
        (beadle.metric("beadle_database_bytes") <= 0.98 * MOST as f64).then_some(())
    });
    assert_eq!(beadle.metric("beadle_database_max_bytes"), MOST as f64);
    let removed = beadle.metric("beadle_records_removed_total{cause=\"size\"}") as u64;
    assert_eq!(beadle.metric("beadle_records_removed_total{cause=\"age\"}"), 0.0);
    let stored = stored(&beadle) as u64;
    beadle.stop();
    assert!(removed > 0);
    let length = fs::metadata(&database).expect("a file").len();
    assert!(length < MOST + (3 << 20), "{length}");
    assert_eq!(number(&database, RECORDS), 3_701 + stored - removed);
    assert_eq!(number(&database, COUNTED), 3_701 + u64::from(seen), "counts stay");
    assert_eq!(
        number(&database, "SELECT max(sequence) - min(sequence) + 1 FROM violations"),
        number(&database, RECORDS),
        "the oldest went"
    );
    let output = beadle.verb(&["store", "check"]);
    assert_code(&output, 0);
    assert!(text(&output).contains("of 16.0 MiB (max_size)"), "{}", text(&output));
}

fn free_pages(database: &Path) -> u64 {
    number(database, "PRAGMA freelist_count")
}

/// Removes all but the last hundred records.
fn thin(database: &Path) {
    let sql = "DELETE FROM violations \
               WHERE sequence <= (SELECT max(sequence) - 100 FROM violations)";
    open(database).execute_batch(sql).expect("it runs");
}

#[test]
fn free_pages_are_given_back_while_the_program_writes() {
    let origin = Origin::plain();
    let beadle = made(&origin);
    let database = beadle.folder().join("beadle.db");
    fill(&database, 20_000, 100);
    thin(&database);
    let beadle = beadle.restarted();
    let before = fs::metadata(&database).expect("a file").len();
    assert!(free_pages(&database) > 1_000);
    let load = Load::on(&beadle);
    wait_for_more(&beadle);
    let output = store(&["compact"], &database);
    assert_code(&output, 0);
    assert!(text(&output).contains("given back"), "{}", text(&output));
    wait_for_more(&beadle);
    load.end();
    wait_for("all stored", || {
        (stored(&beadle) == beadle.metric("beadle_records_seen_total")).then_some(())
    });
    assert_eq!(beadle.metric("beadle_records_dropped_total"), 0.0);
    assert!(fs::metadata(&database).expect("a file").len() < before / 2);
    assert!(!beadle.stderr().contains("ERROR"), "{}", beadle.stderr());
}

#[test]
fn a_database_of_an_earlier_version_is_rebuilt_only_where_nobody_uses_it() {
    let origin = Origin::plain();
    let beadle = made(&origin);
    let database = beadle.folder().join("beadle.db");
    open(&database).execute_batch("PRAGMA auto_vacuum = 0; VACUUM").expect("it runs");
    fill(&database, 5_000, 100);
    let mut beadle = beadle.restarted();
    thin(&database);
    let before = fs::metadata(&database).expect("a file").len();
    let refused = store(&["compact"], &database);
    assert_code(&refused, 2);
    assert!(text(&refused).contains("stop 'beadle serve'"), "{}", text(&refused));
    beadle.stop();
    assert_code(&store(&["compact"], &database), 0);
    assert!(fs::metadata(&database).expect("a file").len() < before / 2);
    assert_eq!((number(&database, "PRAGMA auto_vacuum"), free_pages(&database)), (2, 0));
    assert_eq!(number(&database, RECORDS), 100);
    let beadle = beadle.restarted();
    assert_code(&store(&["compact"], &database), 0);
    assert_eq!(beadle.get("/private/x", BOT).status, 403);
    beadle.wait_for_metric("beadle_records_stored_total", 1.0);
}

#[test]
fn a_backup_or_a_compaction_that_is_killed_leaves_a_whole_database() {
    let origin = Origin::plain();
    let beadle = made(&origin);
    let database = beadle.folder().join("beadle.db");
    fill(&database, 20_000, 100);
    thin(&database);
    let copy = beadle.folder().join("copy.db");
    for round in 0..6 {
        for verb in ["backup", "compact"] {
            if verb == "compact" && round >= 3 {
                // As in a database of an earlier version, which is rebuilt.
                open(&database).execute_batch("PRAGMA auto_vacuum = 0; VACUUM").expect("it runs");
            }
            let mut command = Command::new(PROGRAM);
            command.args(["store", verb, "--database"]).arg(&database);
            if verb == "backup" {
                command.arg(&copy).arg("--force");
            }
            let mut child = command.spawn().expect("the program can be started");
            thread::sleep(Duration::from_millis(17 * (round + 1)));
            // It may have ended.
            let _ = child.kill();
            child.wait().expect("it ends");
            assert_code(&store(&["check"], &database), 0);
            assert_eq!(number(&database, RECORDS), 100);
        }
    }
    assert_code(&store(&["backup", &copy.display().to_string(), "--force"], &database), 0);
    assert_eq!(number(&copy, RECORDS), 100);
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

#[test]
fn a_check_tells_sizes_finds_faults_and_creates_nothing() {
    let origin = Origin::plain();
    let beadle = made(&origin);
    let database = beadle.folder().join("beadle.db");
    fill(&database, 500, 10);
    // A request beyond a limit has no record.
    let [action, reason] = ["throttle", "limit"].map(Text::word);
    let (hour, series) = (Hour::of(Timestamp::now()), Series { action, reason, ..nothing() });
    let limited = Rollup { hour, series, requests: 7, folded: 0, dropped: 0 };
    let limited = Rollups { series: vec![limited], ..Rollups::default() };
    Store::open(&database).expect("a database").add_rollups(&limited).expect("added");
    let before = (files(beadle.folder()), fs::read(&database).expect("a file"));
    let output = store(&["check", "--format", "json"], &database);
    assert_code(&output, 0);
    let lines = json_lines(&output);
    assert_eq!((&lines[0]["kind"], &lines[0]["records"]), (&"database".into(), &501.into()));
    assert!(lines[0]["bytes_per_record"].as_u64().is_some_and(|each| each > 200), "{:?}", lines[0]);
    let table = lines.iter().find(|line| line["name"] == "violations").expect("a table");
    assert_eq!(table["rows"], 501);
    assert_eq!((files(beadle.folder()), fs::read(&database).expect("a file")), before);
    assert!(text(&store(&["check"], &database)).contains("everything holds together"));

    let missing = beadle.folder().join("missing.db");
    assert_code(&store(&["check"], &missing), 2);
    assert!(!missing.exists());
    let foreign = beadle.folder().join("foreign.db");
    open(&foreign).execute_batch("CREATE TABLE t (x)").expect("it runs");
    let newer = beadle.folder().join("newer.db");
    let sql = "PRAGMA application_id = 0x42454144; PRAGMA user_version = 99; CREATE TABLE t (x)";
    open(&newer).execute_batch(sql).expect("it runs");
    for (file, says) in [(&foreign, "another program"), (&newer, "newer version")] {
        for verb in [&["check"][..], &["compact"], &["backup", "/nowhere/copy.db"]] {
            let output = store(verb, file);
            assert_code(&output, 2);
            assert!(text(&output).contains(says), "{verb:?}: {}", text(&output));
            assert_eq!(text(&output).lines().count(), 1);
        }
    }

    let changed = |name: &str, sql: &str| {
        let copy = beadle.folder().join(name);
        fs::copy(&database, &copy).expect("copied");
        open(&copy).execute_batch(sql).expect("it runs");
        store(&["check"], &copy)
    };
    for (name, sql, code) in [
        ("a.db", "DELETE FROM violations WHERE sequence = 200", "store.missing_records"),
        ("b.db", "UPDATE rollups SET requests = 3", "store.uncounted_records"),
        ("c.db", "UPDATE rollups SET dropped = -1", "store.counts"),
        ("d.db", "PRAGMA foreign_keys = OFF; DELETE FROM series", "store.foreign_key"),
    ] {
        let output = changed(name, sql);
        assert_code(&output, 1);
        assert!(text(&output).contains(code), "{code}: {}", text(&output));
    }
    // The oldest may go.
    assert_code(&changed("e.db", "DELETE FROM violations WHERE sequence < 200"), 0);
    let mut bytes = fs::read(&database).expect("a file");
    let half = bytes.len() / 2;
    bytes[half..half + 20_000].fill(0xa5);
    let damaged = beadle.folder().join("damaged.db");
    fs::write(&damaged, bytes).expect("written");
    let output = store(&["check"], &damaged);
    assert_code(&output, 1);
    assert!(text(&output).contains("store.damaged"), "{}", text(&output));
}

#[test]
fn a_file_system_that_is_mounted_read_only_is_named() {
    let (Some(_), Some(_)) = (need("unshare"), need("mount")) else { return };
    let origin = Origin::plain();
    let setup = setup(&origin, "").on_small_disk("$DIR/disk", "4m,ro");
    let setup = setup.replaced_violations("$DIR/beadle.db", "$DIR/disk/beadle.db");
    let mut beadle = setup.spawn();
    assert_eq!(beadle.wait().0.code(), Some(2));
    beadle.wait_for_stderr("mounted read-only");
}

#[test]
fn s145_a_full_disk_costs_no_request_and_what_is_lost_is_counted() {
    let (Some(_), Some(_)) = (need("unshare"), need("mount")) else { return };
    let origin = Origin::plain();
    let setup = setup(&origin, "  queue: 64\n").on_small_disk("$DIR/disk", "4m");
    let setup = setup.replaced_violations("$DIR/beadle.db", "$DIR/disk/beadle.db");
    let mut beadle = setup.start();
    let disk = PathBuf::from(format!("/proc/{}/root", beadle.pid()))
        .join(beadle.folder().strip_prefix("/").expect("it is absolute"))
        .join("disk");
    let send = |beadle: &Beadle, count: usize| {
        for number in 0..count {
            assert_eq!(beadle.get(&format!("/private/{number}"), BOT).status, 403);
            assert_eq!(beadle.get("/free", BOT).status, 200);
        }
    };
    send(&beadle, 50);
    beadle.wait_for_metric("beadle_records_stored_total", 50.0);
    let filler = disk.join("filler");
    let _ = fs::write(&filler, vec![0; 8 << 20]);
    send(&beadle, 250);
    wait_for("a full disk", || {
        beadle.admin_page("/healthz").text().contains("the disk is full").then_some(())
    });
    send(&beadle, 50);
    fs::remove_file(&filler).expect("it is there");
    let of = |state: &str| beadle.metric(&format!("beadle_records_{state}_total")) as u64;
    wait_for("all written", || (of("stored") + of("dropped") == 350).then_some(()));
    let (stored, dropped) = (of("stored"), of("dropped"));
    assert_eq!(of("seen"), 350);
    assert!(dropped > 0);
    let copy = beadle.folder().join("copy.db");
    let is_counted = || {
        fs::copy(disk.join("beadle.db"), &copy).expect("copied");
        // It may be written at this moment.
        [COUNTED, "SELECT sum(dropped) FROM rollups", RECORDS]
            .map(|sql| try_number(&copy, sql).ok())
            == [350, dropped, stored].map(Some)
    };
    wait_for("the counts", || is_counted().then_some(()));
    let allowed = "SELECT sum(requests) FROM rollups JOIN series ON id = series \
                   WHERE reason = 'robots.allow'";
    assert_eq!(number(&copy, allowed), 350);
    beadle.stop();
}
