//! A crawler is held only to rules that it could know, whatever happens to the program: restarts,
//! hosts that move, many changes, a clock that jumps.

use std::{
    process::{Command, Stdio},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use rusqlite::{Connection, params};
use sha2::{Digest, Sha256};

use crate::support::{
    client::Request,
    origin::Origin,
    program::{Beadle, PROGRAM, Setup},
    wait_for,
};

const GPTBOT: &str = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";
const OPEN: &str = "/both/";
const STRICT: &str = "/both/, /new/";

/// Sites by hosts, each with the paths that it disallows.
fn sites(origin: &Origin, sites: &[(&str, &str)]) -> Setup {
    let site = |(hosts, paths): &(&str, &str)| {
        format!(
            "  - hosts: [{hosts}]\n    origin: http://127.0.0.1:{}\n    robots_txt: \
             {{ groups: [{{ user_agents: [\"*\"], disallow: [{paths}] }}] }}\n    \
             enforcement: {{ mode: block }}\n",
            origin.port
        )
    };
    Setup::sites(&sites.iter().map(site).collect::<String>())
}

fn visit(beadle: &Beadle, host: &str, target: &str) -> u16 {
    Request::get(target).host(host).user_agent(GPTBOT).send(beadle.port).status
}

/// New rules have grace on this host, and old ones none.
fn assert_grace(beadle: &Beadle, host: &str, what: &str) {
    assert_eq!(visit(beadle, host, "/new/x"), 200, "{what}");
    assert_eq!(visit(beadle, host, "/both/x"), 403, "{what}");
}

/// Waits until the database has this many hosts with a site.
fn wait_for_hosts(beadle: &Beadle, count: usize) {
    let sql = "SELECT host FROM host_periods WHERE until_ IS NULL";
    wait_for("the hosts in the database", || (beadle.rows(sql).len() == count).then_some(()));
}

fn database(beadle: &Beadle) -> Connection {
    Connection::open(beadle.folder().join("beadle.db")).expect("it is there")
}

fn milliseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).expect("it is later");
    i64::try_from(since.as_millis()).expect("a year like this one")
}

#[test]
fn a_restart_keeps_the_grace_of_a_host_that_moved() {
    let origin = Origin::plain();
    let before = [("a.example, m.example", OPEN), ("b.example", STRICT)];
    let after = [("a.example", OPEN), ("b.example, m.example", STRICT)];
    for signal in ["TERM", "KILL"] {
        let beadle = sites(&origin, &before).start();
        assert_eq!(visit(&beadle, "m.example", "/new/x"), 200);
        wait_for_hosts(&beadle, 3);
        beadle.reload(&sites(&origin, &after));
        assert_grace(&beadle, "m.example", "after the reload");
        let moved = "SELECT host FROM host_periods WHERE host = 'm.example' AND site = 'b.example'";
        wait_for("the move in the database", || (beadle.rows(moved).len() == 1).then_some(()));
        let beadle = beadle.restarted_as(signal, sites(&origin, &after));
        assert_grace(&beadle, "m.example", signal);
        let beadle = beadle.restarted_as(signal, sites(&origin, &after));
        assert_grace(&beadle, "m.example", "after two restarts");
    }
}

#[test]
fn a_host_that_moves_while_the_program_is_down_has_grace() {
    let origin = Origin::plain();
    let beadle = sites(&origin, &[("a.example, m.example", OPEN), ("b.example", STRICT)]).start();
    wait_for_hosts(&beadle, 3);
    // The site of the first host is gone, and so is its name.
    let after = sites(&origin, &[("b.example, m.example, a.example", STRICT)]);
    let beadle = beadle.restarted_as("TERM", after);
    assert_grace(&beadle, "m.example", "moved");
    assert_grace(&beadle, "a.example", "moved with its site");
}

#[test]
fn a_site_that_comes_back_after_a_restart_has_grace() {
    let origin = Origin::plain();
    let other = ("b.example", OPEN);
    let beadle = sites(&origin, &[("a.example", OPEN), other]).start();
    wait_for_hosts(&beadle, 2);
    beadle.reload(&sites(&origin, &[other]));
    assert_eq!(visit(&beadle, "a.example", "/new/x"), 421);
    wait_for_hosts(&beadle, 1);
    let beadle = beadle.restarted_as("TERM", sites(&origin, &[other]));
    beadle.reload(&sites(&origin, &[("a.example", STRICT), other]));
    assert_grace(&beadle, "a.example", "added again");
    let beadle = beadle.restarted_as("TERM", sites(&origin, &[("a.example", STRICT), other]));
    assert_grace(&beadle, "a.example", "after one more restart");
}

#[test]
fn a_first_start_publishes_from_then_on_and_not_from_the_date_of_the_file() {
    let origin = Origin::plain();
    let mut beadle = sites(&origin, &[("a.example", OPEN)]).start();
    beadle.stop();
    for file in ["beadle.db", "beadle.db-wal", "beadle.db-shm"] {
        let _ = std::fs::remove_file(beadle.folder().join(file));
    }
    let old = SystemTime::now() - Duration::from_secs(3 * 86_400);
    let file = std::fs::File::options().write(true).open(beadle.policy_file());
    file.and_then(|file| file.set_modified(old)).expect("the folder is ours");
    let start = milliseconds(SystemTime::now());
    let mut child = Command::new(PROGRAM)
        .args(["serve", "--config"])
        .arg(beadle.policy_file())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program can be started");
    beadle.wait_until_answering();
    let database = beadle.folder().join("beadle.db");
    wait_for("the edition", || {
        let rows = Connection::open(&database).ok()?.query_row(
            "SELECT count(*) FROM edition_periods WHERE from_ >= ?",
            [start],
            |row| row.get::<_, i64>(0),
        );
        (rows.ok()? == 1).then_some(())
    });
    child.kill().expect("it is our child");
    child.wait().expect("it is our child");
}

/// Writes many editions of the last hours as an earlier run would have, the last one in force.
fn write_editions(beadle: &Beadle, site: &str, texts: impl ExactSizeIterator<Item = String>) {
    let mut database = database(beadle);
    let transaction = database.transaction().expect("it can be written");
    transaction
        .execute("DELETE FROM edition_periods WHERE site = ?", [site])
        .expect("it can be written");
    let (count, now) = (texts.len() as i64, milliseconds(SystemTime::now()));
    for (number, text) in (0..).zip(texts) {
        let digest = Sha256::digest(&text);
        let sha256: String = digest.iter().map(|octet| format!("{octet:02x}")).collect();
        let at = |number: i64| now - (count - number) * 60_000;
        let until = (number + 1 < count).then(|| at(number + 1));
        transaction
            .execute(
                "INSERT INTO editions VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
                params![&sha256[..16], sha256, text.as_bytes()],
            )
            .and_then(|_| {
                transaction.execute(
                    "INSERT INTO edition_periods (site, edition, source, from_, until_) \
                     VALUES (?, ?, 'policy', ?, ?)",
                    params![site, &sha256[..16], at(number), until],
                )
            })
            .expect("it can be written");
    }
    transaction.commit().expect("it can be written");
}

#[test]
fn many_changes_excuse_no_crawler_from_what_all_editions_disallow() {
    let origin = Origin::plain();
    let setup = || sites(&origin, &[("a.example", STRICT)]);
    let mut beadle = setup().start();
    wait_for_hosts(&beadle, 1);
    beadle.stop();
    let texts = (0..300)
        .map(|number| format!("User-agent: *\nDisallow: /both/\nDisallow: /number-{number}/\n"));
    write_editions(&beadle, "a.example", texts);
    let beadle = beadle.restarted_as("TERM", setup());
    assert_grace(&beadle, "a.example", "300 editions before");
    beadle.wait_for_stderr("robots.txt changes often");
    // A crawler that fetched the edition in force is held to it.
    Request::get("/robots.txt").host("a.example").user_agent(GPTBOT).send(beadle.port);
    assert_eq!(visit(&beadle, "a.example", "/new/x"), 403);
    let args =
        ["explain", "--user-agent", "bingbot/2.0", "https://a.example/new/x", "--format", "json"];
    let explained = String::from_utf8(beadle.verb(&args).stdout).expect("UTF-8");
    assert!(explained.contains("\"count\":"), "{explained}");
}

#[test]
fn what_a_start_leaves_out_is_read_in_the_background() {
    let origin = Origin::plain();
    let setup = || sites(&origin, &[("a.example", STRICT)]);
    let mut beadle = setup().start();
    wait_for_hosts(&beadle, 1);
    beadle.stop();
    // More than a start reads; the oldest edition is the only one that opens /new/.
    let comment = "# long\n".repeat(50_000);
    let texts = (0..30).map(|number| {
        let new = if number == 0 { "" } else { "Disallow: /new/\n" };
        format!("User-agent: *\nDisallow: /both/\n{new}Disallow: /number-{number}/\n{comment}")
    });
    write_editions(&beadle, "a.example", texts);
    let beadle = beadle.restarted_as("TERM", setup());
    assert_eq!(visit(&beadle, "a.example", "/new/x"), 200);
    beadle.wait_for_stderr("read in the background");
    wait_for("all editions", || (visit(&beadle, "a.example", "/both/x") == 403).then_some(()));
    assert_grace(&beadle, "a.example", "by the oldest edition");
    Request::get("/robots.txt").host("a.example").user_agent(GPTBOT).send(beadle.port);
    assert_eq!(visit(&beadle, "a.example", "/new/x"), 403);
}

#[test]
fn a_restart_after_a_jump_of_the_clock_ends_no_grace() {
    let origin = Origin::plain();
    let (old, new) =
        (|| sites(&origin, &[("a.example", OPEN)]), || sites(&origin, &[("a.example", STRICT)]));
    for is_jump_known in [false, true] {
        let beadle = old().start();
        wait_for_hosts(&beadle, 1);
        beadle.reload(&new());
        let mut beadle = beadle;
        beadle.stop();
        // By the clock, all that was two days ago.
        let by = 2 * 86_400_000_i64;
        let database = database(&beadle);
        database
            .execute("UPDATE edition_periods SET from_ = from_ - ?1, until_ = until_ - ?1", [by])
            .and_then(|_| database.execute("UPDATE host_periods SET from_ = from_ - ?", [by]))
            .expect("it can be written");
        if is_jump_known {
            let now = milliseconds(SystemTime::now());
            let sql = "INSERT INTO clock_leaps VALUES (?, ?)";
            database.execute(sql, [now, by]).expect("it can be written");
        }
        drop(database);
        let beadle = beadle.restarted_as("TERM", new());
        let expected = if is_jump_known { 200 } else { 403 };
        assert_eq!(visit(&beadle, "a.example", "/new/x"), expected);
        assert_eq!(visit(&beadle, "a.example", "/both/x"), 403);
    }
}

#[test]
fn a_longer_window_uses_the_editions_from_before_it() {
    let origin = Origin::plain();
    let window = |setup: &Setup, window: &str| {
        let text = format!("robots_txt: {{ cache_window: {window}, groups");
        setup.clone().replaced("robots_txt: { groups", &text)
    };
    let (old, new) =
        (sites(&origin, &[("a.example", OPEN)]), sites(&origin, &[("a.example", STRICT)]));
    let beadle = window(&old, "0s").start();
    beadle.reload(&window(&new, "0s"));
    assert_eq!(visit(&beadle, "a.example", "/new/x"), 403);
    let beadle = beadle.restarted_as("TERM", window(&new, "0s"));
    assert_eq!(visit(&beadle, "a.example", "/new/x"), 403);
    beadle.reload(&window(&new, "24h"));
    assert_grace(&beadle, "a.example", "without a restart");
}
