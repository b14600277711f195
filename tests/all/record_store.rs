//! A record store that is damaged, moved, locked or stalled: the site stays up, and says so.

use std::{
    fs,
    io::Read,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use rusqlite::Connection;

use crate::support::{
    GROUPS, PATIENCE,
    client::Request,
    free_port,
    origin::Origin,
    program::{Beadle, PROGRAM, Setup},
    wait_for,
};

const BOT: &str = "BadBot/1.0";

fn setup(origin: &Origin, violations: &str) -> Setup {
    let violations = format!("  database: $DIR/beadle.db\n{violations}");
    Setup::site(origin.port, &format!("{GROUPS}    enforcement: {{ mode: block }}\n"))
        .violations(&violations)
}

/// Sends this many violations more.
fn violate(beadle: &Beadle, count: usize) {
    let before = beadle.metric("beadle_records_seen_total");
    for number in 0..count {
        assert_eq!(beadle.get(&format!("/private/{number}"), BOT).status, 403);
    }
    beadle.wait_for_metric("beadle_records_seen_total", before + count as f64);
}

fn database(beadle: &Beadle) -> PathBuf {
    beadle.folder().join("beadle.db")
}

fn records(database: &Path) -> usize {
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let database = Connection::open_with_flags(database, flags).expect("it is there");
    database.busy_timeout(PATIENCE).expect("a number");
    let count = database.query_row("SELECT count(*) FROM violations", [], |row| row.get(0));
    count.map(|count: i64| count.unsigned_abs() as usize).expect("it is whole")
}

fn kill(beadle: &mut Beadle) {
    beadle.signal("KILL");
    beadle.wait();
}

fn health(beadle: &Beadle) -> String {
    let page = beadle.admin_page("/healthz");
    assert_eq!(page.status, 200, "requests are served");
    page.text()
}

fn wait_for_health(beadle: &Beadle, part: &str) -> String {
    wait_for(part, || Some(health(beadle)).filter(|text| text.contains(part)))
}

/// Everything is served as usual.
fn assert_serving(beadle: &Beadle) {
    assert_eq!(beadle.get("/robots.txt", BOT).status, 200);
    assert_eq!(beadle.get("/private/x", BOT).status, 403);
    beadle.assert_healthy("a damaged database");
}

type Damage = fn(&mut Vec<u8>);

const DAMAGES: [(&str, Damage); 4] = [
    ("overwritten in the middle", |bytes| {
        let half = bytes.len() / 2;
        bytes[half..half + 20_000].fill(0xa5);
    }),
    ("overwritten at its start", |bytes| bytes[..64].fill(0xa5)),
    ("cut in the middle", |bytes| bytes.truncate(bytes.len() / 2)),
    ("cut inside its header", |bytes| bytes.truncate(50)),
];

/// A program that wrote records, and ended; its database is then damaged.
fn ended_and_damaged(origin: &Origin, damage: Damage) -> (Beadle, Vec<u8>) {
    let mut beadle = setup(origin, "").start();
    violate(&beadle, 150);
    beadle.stop();
    let mut bytes = fs::read(database(&beadle)).expect("a file");
    damage(&mut bytes);
    fs::write(database(&beadle), &bytes).expect("written");
    (beadle, bytes)
}

#[test]
fn s144_a_damaged_database_stops_no_site() {
    let origin = Origin::plain();
    for (what, damage) in DAMAGES {
        let (beadle, bytes) = ended_and_damaged(&origin, damage);
        let mut beadle =
            beadle.restarted_as("TERM", setup(&origin, "  log: $DIR/violations.jsonl\n"));
        assert_serving(&beadle);
        let text = health(&beadle);
        assert!(text.starts_with("degraded: ") && text.contains("is damaged"), "{what}: {text}");
        beadle.wait_for_metric("beadle_records_degraded{destination=\"database\"}", 1.0);
        beadle.wait_for_metric("beadle_records_degraded{destination=\"log\"}", 0.0);
        beadle.records(1); // the log goes on
        beadle.wait_for_stderr("store.corrupt");
        beadle.stop();
        beadle.wait_for_stderr("store.lost");
        assert_eq!(fs::read(database(&beadle)).expect("a file"), bytes, "{what}: as it was");
    }
}

#[test]
fn s144_a_damaged_database_is_moved_aside_if_the_policy_says_so() {
    let origin = Origin::plain();
    for (what, damage) in DAMAGES {
        let (beadle, bytes) = ended_and_damaged(&origin, damage);
        let beadle = beadle.restarted_as("TERM", setup(&origin, "  on_damage: rotate\n"));
        assert_serving(&beadle);
        assert_eq!(health(&beadle), "ok\n", "{what}");
        beadle.wait_for_metric("beadle_records_stored_total", 1.0);
        beadle.wait_for_stderr("damaged database moved aside");
        let log = beadle.stderr();
        let line = log.lines().find(|line| line.contains("moved aside")).unwrap_or_default();
        assert!(!line.contains("move it away"), "it is away: {line}");
        assert!(!line.contains("on_damage"), "it is set: {line}");
        assert!(line.contains("store.corrupt") && line.contains(".recover"), "{line}");
        let aside = fs::read_dir(beadle.folder()).expect("a folder").find_map(|entry| {
            let path = entry.expect("an entry").path();
            path.to_string_lossy().contains("beadle.db.damaged-").then_some(path)
        });
        assert_eq!(fs::read(aside.expect(what)).expect("a file"), bytes, "{what}");
        assert_eq!(beadle.verb(&["robots", "--history"]).status.code(), Some(0));
    }
}

#[test]
fn s144_what_is_no_database_of_beadle_is_refused_and_left_alone() {
    let origin = Origin::plain();
    for (what, make, says) in [
        (
            "a text",
            (|path| fs::write(path, "no database, but long enough\n".repeat(400)).expect("written"))
                as fn(&Path),
            "is not a SQLite database",
        ),
        (
            "a database of another program",
            |path| {
                let other = Connection::open(path).expect("a file");
                other.execute_batch("CREATE TABLE t (x)").expect("it runs");
            },
            "is the database of another program",
        ),
        (
            "a newer database",
            |path| {
                let other = Connection::open(path).expect("a file");
                let sql = "PRAGMA application_id = 0x42454144; PRAGMA user_version = 99; \
                           CREATE TABLE t (x)";
                other.execute_batch(sql).expect("it runs");
            },
            "was written by a newer version",
        ),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("other.db");
        make(&file);
        let before = fs::read(&file).expect("a file");
        for on_damage in ["keep", "rotate"] {
            let violations = format!("  database: {}\n  on_damage: {on_damage}\n", file.display());
            let mut beadle = setup(&origin, "").violations(&violations).spawn();
            let (status, _) = beadle.wait();
            assert_eq!(status.code(), Some(2), "{what}");
            beadle.wait_for_stderr(says);
            assert_eq!(fs::read(&file).expect("a file"), before, "{what}");
        }
    }
}

#[test]
fn damage_to_a_database_in_use_is_noticed_and_requests_go_on() {
    let origin = Origin::plain();
    let beadle = setup(&origin, "").start();
    violate(&beadle, 150);
    beadle.wait_for_metric("beadle_records_stored_total", 150.0);
    let file = fs::OpenOptions::new().write(true).open(database(&beadle)).expect("a file");
    let length = file.metadata().expect("a file").len();
    file.set_len(length / 2).expect("cut");
    violate(&beadle, 50);
    wait_for_health(&beadle, "is damaged");
    assert_serving(&beadle);
    // The operator moves it away, and everything that waits is written.
    fs::rename(database(&beadle), beadle.folder().join("away.db")).expect("moved");
    wait_for_health(&beadle, "ok\n");
    beadle
        .wait_for_metric("beadle_records_stored_total", beadle.metric("beadle_records_seen_total"));
    assert_eq!(beadle.metric("beadle_records_dropped_total"), 0.0);
}

#[test]
fn damage_to_pages_that_sqlite_keeps_in_memory_is_noticed() {
    let origin = Origin::plain();
    for (what, place) in
        [("its header", 0..64), ("its first page", 100..4096), ("others", 4096..60_000)]
    {
        for on_damage in ["keep", "rotate"] {
            let violations = format!("  on_damage: {on_damage}\n");
            let beadle = setup(&origin, &violations).start();
            violate(&beadle, 150);
            beadle.wait_for_metric("beadle_records_stored_total", 150.0);
            let file = fs::OpenOptions::new().write(true).open(database(&beadle)).expect("a file");
            assert!(file.metadata().expect("a file").len() > place.end, "{what}");
            let damage = vec![0xa5; (place.end - place.start) as usize];
            file.write_all_at(&damage, place.start).expect("written");
            match on_damage {
                "keep" => drop(wait_for_health(&beadle, "is damaged")),
                _ => beadle.wait_for_stderr("damaged database moved aside"),
            }
            assert_serving(&beadle);
        }
    }
}

#[test]
fn a_moved_database_and_a_truncated_log_keep_what_was_acknowledged() {
    let origin = Origin::plain();
    for ends in ["KILL", "TERM"] {
        let mut beadle = setup(&origin, "").start();
        violate(&beadle, 60);
        beadle.wait_for_metric("beadle_records_stored_total", 60.0);
        let log = beadle.folder().join("beadle.db-wal");
        fs::File::create(&log).expect("truncated");
        violate(&beadle, 60);
        beadle.wait_for_metric("beadle_records_stored_total", 120.0);
        let moved = beadle.folder().join("moved.db");
        fs::rename(database(&beadle), &moved).expect("moved");
        beadle.wait_for_stderr("was moved or deleted while in use");
        wait_for_health(&beadle, "ok\n");
        violate(&beadle, 60);
        beadle.wait_for_metric("beadle_records_stored_total", 180.0);
        if ends == "KILL" {
            kill(&mut beadle);
        } else {
            beadle.stop();
        }
        assert_eq!((records(&moved), records(&database(&beadle))), (120, 60), "{ends}");
    }
    // Moved and killed before it is noticed, and without its log.
    let mut beadle = setup(&origin, "").start();
    violate(&beadle, 60);
    beadle.wait_for_metric("beadle_records_stored_total", 60.0);
    let moved = beadle.folder().join("moved.db");
    fs::rename(database(&beadle), &moved).expect("moved");
    kill(&mut beadle);
    assert_eq!(records(&moved), 60);
}

/// Two sites, with the hosts of the second and the rules of the first.
fn two_sites(origin: &Origin, rules: &str, first: &str, second: &str, more: &str) -> Setup {
    let site = |hosts: &str, rules: &str| {
        format!(
            "  - hosts: [{hosts}]\n    origin: http://127.0.0.1:{}\n    robots_txt: \
             {{ groups: [{{ user_agents: [\"*\"], disallow: [{rules}] }}] }}\n    \
             enforcement: {{ mode: block }}\n",
            origin.port
        )
    };
    Setup::sites(&format!("{}{}", site(first, rules), site(second, "/private/, /new/")))
        .violations(&format!("  database: $DIR/beadle.db\n{more}"))
        .server("  trusted_proxies: [127.0.0.1]\n")
}

fn visit(beadle: &Beadle, host: &str, target: &str, (user_agent, ip): (&str, &str)) -> u16 {
    let request = Request::get(target).host(host).user_agent(user_agent);
    request.field("X-Forwarded-For", ip).send(beadle.port).status
}

/// Something that happens to a database in use.
type Loss = fn(&Path);

const LOSSES: [(&str, &str, Loss); 6] = [
    ("moved away", "keep", |path| fs::rename(path, path.with_extension("away")).expect("moved")),
    ("deleted", "keep", |path| {
        for ending in ["db", "db-wal", "db-shm"] {
            fs::remove_file(path.with_extension(ending)).expect("it is there");
        }
    }),
    ("emptied", "keep", |path| drop(fs::File::create(path).expect("emptied"))),
    ("replaced by an empty one", "keep", |path| {
        let other = path.with_extension("other");
        fs::File::create(&other).expect("created");
        fs::rename(other, path).expect("moved");
    }),
    ("damaged", "rotate", |path| {
        let file = fs::OpenOptions::new().write(true).open(path).expect("a file");
        file.write_all_at(&[0xa5; 40_000], 100).expect("written");
    }),
    ("damaged, and then moved away", "keep", |path| {
        let file = fs::OpenOptions::new().write(true).open(path).expect("a file");
        file.write_all_at(&[0xa5; 40_000], 100).expect("written");
        // Longer than until it is noticed, or not: both end the same.
        std::thread::sleep(std::time::Duration::from_millis(1500));
        fs::rename(path, path.with_extension("away")).expect("moved");
    }),
];

#[test]
fn a_start_after_a_lost_database_judges_as_the_program_did_that_lost_it() {
    let origin = Origin::plain();
    let gptbot = ("Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)", "192.0.2.1");
    let bingbot =
        ("Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)", "198.51.100.2");
    for (what, on_damage, lose) in LOSSES {
        let more = format!("  on_damage: {on_damage}\n");
        let before = || two_sites(&origin, "/old/", "a.example, moved.example", "b.example", &more);
        let after = || {
            let (first, second) = ("a.example", "b.example, moved.example");
            two_sites(&origin, "/old/, /new/", first, second, &more)
        };
        let beadle = before().start();
        assert_eq!(visit(&beadle, "a.example", "/robots.txt", gptbot), 200);
        beadle.reload(&after());
        assert_eq!(visit(&beadle, "a.example", "/robots.txt", bingbot), 200);
        let verdicts = |beadle: &Beadle| {
            [("a.example", gptbot), ("a.example", bingbot), ("moved.example", gptbot)]
                .map(|(host, who)| visit(beadle, host, "/new/x", who))
        };
        assert_eq!(verdicts(&beadle), [200, 403, 200], "{what}");
        let wait_until_stored = |expected| {
            beadle.wait_for_metric("beadle_records_stored_total", expected);
        };
        wait_until_stored(1.0);
        let database = database(&beadle);
        lose(&database);
        wait_for(&format!("a new database: {what}"), || {
            // Damage in the middle of a write is found by an inspection, which this is a reason for.
            if let Ok(file) = fs::OpenOptions::new().write(true).open(&database) {
                file.set_modified(std::time::SystemTime::now()).expect("set");
            }
            beadle.stderr().contains("store.history_restored").then_some(())
        });
        assert_eq!(verdicts(&beadle), [200, 403, 200], "{what}");
        wait_until_stored(2.0);
        let beadle = beadle.restarted_as("KILL", after());
        assert_eq!(verdicts(&beadle), [200, 403, 200], "{what}");
        let beadle = beadle.restarted_as("TERM", after());
        assert_eq!(verdicts(&beadle), [200, 403, 200], "{what}");
    }
}

#[test]
fn a_stop_says_how_many_editions_and_fetches_are_lost() {
    let origin = Origin::plain();
    let mut beadle = setup(&origin, "").start();
    violate(&beadle, 1);
    beadle.wait_for_metric("beadle_records_stored_total", 1.0);
    let other = Connection::open(database(&beadle)).expect("a connection");
    other.busy_timeout(PATIENCE).expect("a number");
    other.execute_batch("BEGIN EXCLUSIVE").expect("a lock");
    let rules = GROUPS.replace("/admin/", "/other/");
    let changed = Setup::site(origin.port, &format!("{rules}    enforcement: {{ mode: block }}\n"))
        .violations("  database: $DIR/beadle.db\n");
    beadle.reload(&changed);
    assert_eq!(beadle.get("/robots.txt", BOT).status, 200);
    violate(&beadle, 3);
    wait_for_health(&beadle, "locked");
    beadle.stop();
    beadle.wait_for_stderr("store.lost");
    let stderr = beadle.stderr();
    let line = stderr.lines().find(|line| line.contains("store.lost")).expect("just seen");
    for part in ["violations=3", "editions=1", "fetches=1", "quarantine=0"] {
        assert!(line.contains(part), "{part}: {line}");
    }
}

#[test]
fn a_stop_with_a_damaged_database_counts_each_loss_once_and_says_it_once() {
    let origin = Origin::plain();
    let (beadle, _) = ended_and_damaged(&origin, DAMAGES[0].1);
    let mut beadle = beadle.restarted_as("TERM", setup(&origin, ""));
    wait_for_health(&beadle, "is damaged");
    violate(&beadle, 3);
    // Stores the same edition and the same hosts again.
    let site = format!("{GROUPS}    enforcement: {{ mode: block, impostors: log }}\n");
    let changed = Setup::site(origin.port, &site).violations("  database: $DIR/beadle.db\n");
    beadle.reload(&changed);
    beadle.stop();
    beadle.wait_for_stderr("stopped");
    let stderr = beadle.stderr();
    let at_end = stderr.rsplit_once("no new connections").expect("it was stopped").1;
    let errors: Vec<&str> = at_end
        .lines()
        .filter(|line| line.contains("ERROR") && !line.contains("store.corrupt"))
        .collect();
    let [line] = errors.as_slice() else { panic!("one line for one fact: {errors:?}") };
    for part in ["store.lost", "destination=", "database", "violations=3", "editions=1", "hosts=1"]
    {
        assert!(line.contains(part), "{part}: {line}");
    }
    assert!(!stderr.contains("lane="), "{stderr}");
}

#[test]
fn a_stalled_standard_output_is_noticed_and_its_drops_are_counted() {
    let origin = Origin::plain();
    let (port, admin) = (free_port(), free_port());
    let folder = tempfile::tempdir().expect("a folder");
    let violations = "  log: stdout\n  queue: 64\n";
    let text = setup(&origin, violations).text(port, admin, folder.path());
    fs::write(folder.path().join("beadle.yaml"), text).expect("written");
    let mut child = Command::new(PROGRAM)
        .args(["serve", "--config"])
        .arg(folder.path().join("beadle.yaml"))
        .stdout(Stdio::piped())
        .stderr(fs::File::create(folder.path().join("lines")).expect("the folder is ours"))
        .spawn()
        .expect("the program can be started");
    let page = |path: &str| {
        let request = Request::get(path).host("localhost");
        crate::support::client::Client::try_connect(admin).ok()?;
        Some(request.send(admin).text())
    };
    wait_for("the start", || page("/readyz").filter(|text| text == "ready\n"));
    let long = format!("{BOT} {}", "x".repeat(2_000));
    for number in 0..400 {
        let request = Request::get(format!("/private/{number}")).user_agent(&long);
        assert_eq!(request.send(port).status, 403, "requests go on");
    }
    let degraded = wait_for("degraded", || page("/healthz").filter(|text| text != "ok\n"));
    assert!(degraded.starts_with("degraded: "), "{degraded}");
    let metrics = wait_for("drops", || {
        page("/metrics").filter(|text| text.contains("beadle_record_drops_total{"))
    });
    let value = |series: &str| -> u64 {
        let line = metrics.lines().find_map(|line| line.strip_prefix(series));
        line.and_then(|value| value.trim().parse().ok()).unwrap_or(0)
    };
    let dropped: u64 = ["store.overflow", "store.stalled"]
        .iter()
        .map(|cause| {
            value(&format!("beadle_record_drops_total{{cause=\"{cause}\",destination=\"log\"}}"))
        })
        .sum();
    assert!(dropped > 0, "{metrics}");
    wait_for("the stall", || page("/healthz").filter(|text| text.contains("has not ended for")));
    let mut sent = 400;
    wait_for("a line about it", || {
        Request::get("/private/x").user_agent(&long).send(port);
        sent += 1;
        let lines = fs::read_to_string(folder.path().join("lines")).unwrap_or_default();
        lines.contains("store.stalled").then_some(())
    });
    // Once it is read again, everything recovers.
    let mut stdout = child.stdout.take().expect("it is piped");
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        stdout.read_to_string(&mut text).map(|_| text)
    });
    wait_for("ok", || page("/healthz").filter(|text| text == "ok\n"));
    assert!(
        page("/metrics").is_some_and(|text| {
            text.contains("beadle_records_degraded{destination=\"log\"} 0")
        })
    );
    let metrics = page("/metrics").expect("it is up");
    let dropped: usize = metrics
        .lines()
        .filter(|line| line.starts_with("beadle_record_drops_total{") && line.contains("\"log\""))
        .filter_map(|line| line.rsplit_once(' ')?.1.parse::<usize>().ok())
        .sum();
    let ended = Command::new("kill").arg(child.id().to_string()).status();
    assert!(ended.is_ok_and(|ended| ended.success()));
    assert_eq!(child.wait().expect("it is our child").code(), Some(0));
    let text = reader.join().expect("no panic").expect("text");
    let records = text.lines().filter(|line| line.contains("\"verdict\"")).count();
    assert_eq!(records + dropped, sent);
}
