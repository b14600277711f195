//! `beadle report --evidence` and `--verify`: a bundle that proves violations on another machine.

use std::{
    fs,
    io::{Cursor, Read, Write},
    path::Path,
    process::{Command, Output, Stdio},
};

use serde_json::Value;
use zip::{ZipArchive, ZipWriter, write::SimpleFileOptions};

use crate::support::{
    BROWSER,
    client::Request,
    origin::Origin,
    program::{Beadle, PROGRAM, Setup, json_lines},
    wait_for,
};

const GPTBOT: &str = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";
// Addresses in three networks.
const ONE: &str = "192.0.2.1";
const TWO: &str = "198.51.100.2";
const THREE: &str = "203.0.113.3";

/// A policy that disallows /both/ and these paths.
fn disallowing(origin: &Origin, paths: &str) -> Setup {
    let groups = format!("[{{ user_agents: [\"*\"], disallow: [/both/{paths}] }}]");
    let enforcement = "enforcement: { mode: block }";
    Setup::site(
        origin.port,
        &format!("    robots_txt: {{ groups: {groups} }}\n    {enforcement}\n"),
    )
    .server("  trusted_proxies: [127.0.0.1]\n")
    .violations("  database: $DIR/beadle.db\n  redact_query: [token]\n")
}

fn ask(beadle: &Beadle, target: &str, user_agent: &str, ip: &str) -> u16 {
    let request = Request::get(target).user_agent(user_agent).field("X-Forwarded-For", ip);
    request.send(beadle.port).status
}

/// Fetches robots.txt and waits until the fetch is stored.
fn fetch(beadle: &Beadle, ip: &str) {
    let fetches = || beadle.rows("SELECT network || edition FROM fetches");
    let before = fetches();
    assert_eq!(ask(beadle, "/robots.txt", GPTBOT, ip), 200);
    wait_for("the fetch in the database", || (fetches() != before).then_some(()));
}

/// Six violations by two editions: before a fetch, after it, and after another edition.
fn violate(origin: &Origin) -> Beadle {
    let beadle = disallowing(origin, "").start();
    fetch(&beadle, ONE);
    assert_eq!(ask(&beadle, "/both/read", GPTBOT, ONE), 403);
    beadle.reload(&disallowing(origin, ", /new/"));
    // The copy of this network still allows it.
    assert_eq!(ask(&beadle, "/new/grace", GPTBOT, ONE), 200);
    assert_eq!(ask(&beadle, "/new/unknown", GPTBOT, THREE), 200);
    assert_eq!(ask(&beadle, "/both/older", GPTBOT, ONE), 403);
    assert_eq!(ask(&beadle, "/both/never", GPTBOT, THREE), 403);
    fetch(&beadle, TWO);
    assert_eq!(ask(&beadle, "/new/current", GPTBOT, TWO), 403);
    assert_eq!(ask(&beadle, "/x/../both/evasion", GPTBOT, TWO), 403);
    assert_eq!(ask(&beadle, "/both/?token=secret", GPTBOT, TWO), 403);
    assert_eq!(ask(&beadle, "/both/", BROWSER, TWO), 200);
    beadle.wait_for_metric("beadle_records_stored_total", 6.0);
    beadle
}

/// A bundle of the crawler, copied into an empty folder.
fn bundle(beadle: &Beadle) -> (tempfile::TempDir, Vec<u8>) {
    let file = beadle.folder().join("gptbot.zip");
    let output = beadle.verb(&["report", "--evidence", "gptbot", "--output", text(&file)]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let empty = tempfile::tempdir().expect("a folder");
    let bytes = fs::read(&file).expect("the bundle");
    fs::write(empty.path().join("bundle.zip"), &bytes).expect("the folder is ours");
    (empty, bytes)
}

/// Verifies a file in a folder without policy, with nothing in the environment.
fn verify(folder: &Path, args: &[&str]) -> Output {
    Command::new(PROGRAM)
        .args(["report", "--verify", "bundle.zip"])
        .args(args)
        .current_dir(folder)
        .env_clear()
        .output()
        .expect("the program can be started")
}

fn verify_bytes(folder: &Path, bytes: &[u8]) -> Output {
    fs::write(folder.join("bundle.zip"), bytes).expect("the folder is ours");
    verify(folder, &[])
}

fn text(path: &Path) -> &str {
    path.to_str().expect("it is text")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("it is text")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn unpacked(zip: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut zip = ZipArchive::new(Cursor::new(zip)).expect("a zip");
    let files = (0..zip.len()).map(|number| {
        let mut file = zip.by_index(number).expect("a file");
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).expect("it is whole");
        (file.name().expect("it is text").into_owned(), bytes)
    });
    files.collect()
}

fn packed(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        zip.start_file(name.as_str(), SimpleFileOptions::default()).expect("a new name");
        zip.write_all(bytes).expect("memory takes all");
    }
    zip.finish().expect("memory takes all").into_inner()
}

#[test]
fn a_bundle_verifies_where_nobody_saw_the_site_and_one_changed_byte_is_found() {
    let origin = Origin::plain();
    let beadle = violate(&origin);
    let (folder, zip) = bundle(&beadle);
    drop(beadle);

    let output = verify(folder.path(), &[]);
    let said = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{said}{}", stderr(&output));
    assert!(
        said.contains("GPTBot: of 6 verdicts, 5 agree, 0 differ, and 1 can't be judged"),
        "{said}"
    );
    assert!(
        said.contains("not recomputed: a part of the path or query was not recorded"),
        "{said}"
    );
    let rows = json_lines(&verify(folder.path(), &["--format", "json"]));
    let total = rows.last().expect("a total");
    assert_eq!((&total["kind"], &total["verified"]), (&"total".into(), &true.into()));
    assert_eq!((&total["agreeing"], &total["not_recomputed"]), (&5.into(), &1.into()));

    let files = unpacked(&zip);
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names.len(), 11, "{names:?}");
    let file = |name: &str| {
        let found = files.iter().find(|(other, _)| other == name).expect(name);
        String::from_utf8_lossy(&found.1).into_owned()
    };
    for (name, part) in [
        ("summary.txt", "Who       GPTBot, operated by OpenAI"),
        ("summary.txt", "How many  6 violations in detail"),
        (
            "summary.txt",
            "the robots.txt that disallows the request had been fetched under this name",
        ),
        ("message.txt", "Subject: GPTBot requests pages that robots.txt disallows (site.example)"),
        ("fetches.json", "\"198.51.100.0/24\""),
        ("standing.json", "openai.com"),
    ] {
        assert!(file(name).contains(part), "{part}:\n{}", file(name));
    }
    assert!(!String::from_utf8_lossy(&packed(&files)).contains("secret"));

    // The tools of the system check the hashes as well.
    let tree = tempfile::tempdir().expect("a folder");
    for (name, bytes) in &files {
        let path = tree.path().join(name);
        fs::create_dir_all(path.parent().expect("it has one")).expect("the folder is ours");
        fs::write(path, bytes).expect("the folder is ours");
    }
    let mut sums = Command::new("sha256sum");
    let sums = sums.args(["-c", "manifest.sha256"]).current_dir(tree.path()).output();
    let sums = sums.expect("coreutils are there");
    assert!(sums.status.success(), "{}", stderr(&sums));

    for number in 0..files.len() {
        let mut files = files.clone();
        let (name, bytes) = &mut files[number];
        let (name, middle) = (name.clone(), bytes.len() / 2);
        bytes[middle] ^= 1;
        let output = verify_bytes(folder.path(), &packed(&files));
        let said = stdout(&output);
        assert_eq!(output.status.code(), Some(1), "{name}: {said}{}", stderr(&output));
        assert!(said.contains(&name) && said.contains("changed"), "{name}: {said}");
        assert!(said.trim_end().ends_with("NOT verified"), "{name}: {said}");
        if name == "records.jsonl" {
            assert!(said.contains(": changed: this line was changed"), "{said}");
        }
    }
    assert_eq!(verify_bytes(folder.path(), &packed(&files)).status.code(), Some(0), "packed anew");

    let step = zip.len() / 30 + 1;
    for place in (0..zip.len()).step_by(step).chain((zip.len() - 90..zip.len()).step_by(6)) {
        let mut zip = zip.clone();
        zip[place] ^= 0x10;
        let output = verify_bytes(folder.path(), &zip);
        let said = stdout(&output);
        assert!(matches!(output.status.code(), Some(1 | 2)), "{place}: {said}");
        assert!(!said.contains("\nverified"), "{place}: {said}");
        assert!(!stderr(&output).contains("panicked"), "{place}: {}", stderr(&output));
    }
}

#[test]
fn a_record_that_was_made_up_differs_although_every_hash_is_right() {
    let origin = Origin::plain();
    let beadle = violate(&origin);
    let database =
        rusqlite::Connection::open(beadle.folder().join("beadle.db")).expect("it is there");
    database
        .execute("UPDATE violations SET path = '/open/' WHERE path = '/both/never'", [])
        .expect("a change");
    let (folder, _) = bundle(&beadle);
    let output = verify(folder.path(), &["--format", "json"]);
    assert_eq!(output.status.code(), Some(1));
    let rows = json_lines(&output);
    let differs: Vec<&Value> = rows.iter().filter(|row| row["status"] == "differs").collect();
    let verdict = differs.iter().find(|row| row["what"] == "verdict").expect("it differs");
    assert_eq!((&verdict["file"], &verdict["line"]), (&"records.jsonl".into(), &3.into()));
    assert_eq!(
        (&verdict["recorded"], &verdict["recomputed"]),
        (&"disallow".into(), &"allow".into())
    );
    assert!(verdict["id"].as_str().is_some_and(|id| id.len() == 36));
}

#[test]
fn a_bundle_that_cannot_be_made_says_why() {
    let origin = Origin::plain();
    let beadle = violate(&origin);
    let file = beadle.folder().join("there.zip");
    fs::write(&file, "mine").expect("the folder is ours");
    let there = text(&file).to_owned();
    let nowhere = text(&beadle.folder().join("no/folder.zip")).to_owned();
    let folder = text(beadle.folder()).to_owned();
    let new = text(&beadle.folder().join("new.zip")).to_owned();
    for (args, says) in [
        (
            vec!["--evidence", "GPTBot", "--output", &there],
            "is there already (overwrite it with --force)",
        ),
        (vec!["--evidence", "GPTBot", "--output", &nowhere], "No such file or directory"),
        (vec!["--evidence", "GPTBot", "--output", &folder, "--force"], "directory"),
        (vec!["--evidence", "CCBot", "--output", &new], "no violations of CCBot from"),
        (vec!["--evidence", "GPTBto", "--output", &new], "did you mean GPTBot?"),
        (vec!["--evidence", "\u{1b}[2Jx", "--output", &new], "no crawler is named '\\x1b[2Jx'"),
        (
            vec!["--evidence", "GPTBot", "--site", "b.example", "--output", &new],
            "no site has the host 'b.example'",
        ),
        (
            vec!["--evidence", "GPTBot", "--since", "1h", "--until", "2h", "--output", &new],
            "the span is empty",
        ),
        (vec!["--evidence", "GPTBot", "--since", "soon", "--output", &new], "'soon' is not a time"),
        (
            vec!["--evidence", "GPTBot", "--until", "2000-01-01", "--since", "1999-01-01"],
            "so there is nothing to prove",
        ),
        (vec!["--evidence", "-"], "have no operator"),
        (vec!["--evidence", "GPTBot", "--verify", &there], "cannot be used with"),
        (vec!["--verify", &there], "no readable zip file"),
        (vec!["--verify", &nowhere], "No such file or directory"),
        (vec!["--verify", &folder], "not a regular file"),
    ] {
        let args: Vec<&str> = [vec!["report"], args].concat();
        let output = beadle.verb(&args);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains(says), "{args:?}: {said}");
        assert!(!Path::new(&new).exists(), "{args:?}");
    }
    assert_eq!(fs::read(&file).expect("it is there"), b"mine");

    let output = beadle.verb(&[
        "report",
        "--evidence",
        "GPTBot",
        "--output",
        &there,
        "--force",
        "--format",
        "json",
    ]);
    let row = json_lines(&output).pop().expect("a line");
    assert_eq!((&row["kind"], &row["violations"]), (&"bundle".into(), &6.into()));
    assert_eq!(row["bytes"].as_u64(), fs::metadata(&file).map(|file| file.len()).ok());
    let output =
        beadle.verb(&["report", "--evidence", "GPTBot", "--site", "SITE.example", "--output", "-"]);
    assert_eq!(unpacked(&output.stdout).len(), 11, "{}", stderr(&output));

    let child = Command::new(PROGRAM)
        .args(["report", "--evidence", "GPTBot", "--config"])
        .arg(beadle.policy_file())
        .current_dir(beadle.folder())
        .stdout(Stdio::piped())
        .output()
        .expect("the program can be started");
    assert_eq!(child.status.code(), Some(0), "{}", stderr(&child));
    assert!(beadle.folder().join("evidence-GPTBot.zip").exists());
}

#[test]
fn without_a_database_there_is_no_evidence() {
    let origin = Origin::plain();
    let setup = disallowing(&origin, "").violations("  log: $DIR/violations.jsonl\n");
    let beadle = setup.start();
    let output = beadle.verb(&["report", "--evidence", "GPTBot"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("set 'violations.database'"), "{}", stderr(&output));
}

#[test]
fn the_bytes_of_an_edition_are_printed() {
    let origin = Origin::plain();
    let beadle = disallowing(&origin, "").start();
    let served = Request::get("/robots.txt").send(beadle.port);
    let id = served.header("etag").expect("it has one").trim_matches('"').to_owned();
    beadle.reload(&disallowing(&origin, ", /new/"));
    wait_for("two editions", || (beadle.rows("SELECT id FROM editions").len() == 2).then_some(()));
    for prefix in [&id[..], &id[..8], &id[..8].to_uppercase()] {
        let output = beadle.verb(&["robots", "--edition", prefix]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(output.stdout, served.body, "{prefix}");
    }
    let sha256 = beadle.rows(&format!("SELECT sha256 FROM editions WHERE id = '{id}'")).remove(0);
    assert_eq!(beadle.verb(&["robots", "--edition", &sha256]).stdout, served.body);
    for (args, says) in [
        (&["--edition", "0123456789abcdef"][..], "'beadle robots --history' lists them"),
        (&["--edition", &id[..7]], "write 8 or more"),
        (&["--edition", "nothexadecimal"], "no edition begins with"),
        (&["--edition", &id, "--history"], "cannot be used with"),
    ] {
        let output = beadle.verb(&[&["robots"], args].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(says), "{args:?}: {}", stderr(&output));
    }
}
