//! Files and standard input are read up to a limit; relative names start at the policy's folder.

use std::{
    fs::{self, File},
    io::Write,
    path::Path,
    process::{Command, Output, Stdio},
};

use crate::support::{
    GROUPS, need,
    origin::Origin,
    program::{PROGRAM, Setup, run_with_input},
    wait_for,
};

const POLICY: &str = "sites:\n  - hosts: [a.example]\n    origin: http://127.0.0.1:3000\n";

/// Runs a verb with at most 1 GiB of memory; fails if it does not end.
fn run(args: &[&str], stdin: Stdio, folder: &Path) -> Output {
    let mut child = Command::new("prlimit")
        .arg("--as=1073741824")
        .arg(PROGRAM)
        .args(args)
        .current_dir(folder)
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program can be started");
    wait_for(&format!("the end of {args:?}"), || child.try_wait().expect("it is our child"));
    child.wait_with_output().expect("it has ended")
}

/// The verb could not run, and says so in one sentence.
fn assert_refused(output: &Output, part: &str, what: &str) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{what}: {stderr}");
    assert_eq!(stderr.lines().count(), 1, "{what}: {stderr}");
    assert!(stderr.contains(part), "{what}: {stderr}");
}

#[test]
fn s147_a_file_that_is_none_or_has_no_end_is_refused() {
    let (Some(_), Some(mkfifo)) = (need("prlimit"), need("mkfifo")) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    fs::write(path.join("policy.yaml"), POLICY).expect("written");
    let made = Command::new(mkfifo).arg(path.join("fifo")).status().expect("it runs");
    assert!(made.success());
    let large = File::create(path.join("large")).expect("a file");
    large.set_len(17 << 20).expect("it is sparse");
    let explain = |file| vec!["explain", "--robots-txt", file, "--product-token", "x", "/"];
    for (file, part) in [
        ("/dev/zero", "not a regular file"),
        ("fifo", "not a regular file"),
        (".", "not a regular file"),
        ("none", "No such file"),
    ] {
        for args in [
            explain(file),
            vec!["explain", "--config", file, "--user-agent", "x", "/"],
            vec!["check", file],
            vec!["robots", "--config", file],
            vec!["robots", "accept", "--config", file],
            vec!["violations", "--config", file],
            vec!["serve", "--config", file],
            vec!["crawlers", "list", "--config", file],
            vec!["crawlers", "list", "--catalogue", file],
            vec!["crawlers", "evaluate", file],
            vec!["crawlers", "update", "--from", file, "--to", "new.yaml"],
            vec!["tags", "--product-token", "x", "--html", file],
        ] {
            let output = run(&args, Stdio::null(), path);
            assert_refused(&output, part, &format!("{args:?}"));
        }
    }
    for to in ["/dev/zero", "fifo", "."] {
        let args = ["crawlers", "update", "--from", "policy.yaml", "--to", to];
        assert_refused(&run(&args, Stdio::null(), path), "not a regular file", to);
    }
    for args in [explain("large"), vec!["tags", "--product-token", "x", "--html", "large"]] {
        assert_refused(&run(&args, Stdio::null(), path), "16 MiB", &format!("{args:?}"));
    }
    // The files of the policy.
    for (section, part) in [
        ("violations: { database: /dev/zero }", "not a regular file"),
        ("violations: { database: fifo }", "not a regular file"),
        ("violations: { log: fifo }", "not a regular file"),
        ("violations: { log: . }", "not a regular file"),
        ("catalogue: /dev/zero", "not a regular file"),
        ("evidence: { certificate_authorities: /dev/zero }", "not a regular file"),
        (
            "server: { listen: [{ address: \"127.0.0.1:0\", \
             tls: { certificate: /dev/zero, key: /dev/zero } }], admin: \"off\" }",
            "not a regular file",
        ),
    ] {
        let text = match section.starts_with("server") {
            true => format!("{section}\n{POLICY}"),
            false => {
                format!(
                    "server: {{ listen: [\"127.0.0.1:0\"], admin: \"off\" }}\n{section}\n{POLICY}"
                )
            }
        };
        fs::write(path.join("files.yaml"), text).expect("written");
        let output = run(&["serve", "--config", "files.yaml"], Stdio::null(), path);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{section}: {stderr}");
        assert!(stderr.contains(part), "{section}: {stderr}");
    }
}

#[test]
fn s147_standard_input_that_has_no_end_is_refused() {
    if need("prlimit").is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let zero = || Stdio::from(File::open("/dev/zero").expect("a device"));
    for (args, part) in [
        (&["crawlers", "identify"][..], "standard input:1: a line of more than 1 MiB"),
        (&["tags", "--product-token", "x"], "standard input:1: a line of more than 1 MiB"),
        (&["tags", "--product-token", "x", "--html"], "standard input: larger than 16 MiB"),
        (&["tags", "--product-token", "x", "--html", "-"], "standard input: larger than 16 MiB"),
        (
            &["explain", "--robots-txt", "/dev/stdin", "--product-token", "x", "/"],
            "/dev/stdin: larger than 16 MiB",
        ),
        (&["crawlers", "evaluate", "/dev/stdin"], "a line of more than 1 MiB"),
    ] {
        assert_refused(&run(args, zero(), folder.path()), part, &format!("{args:?}"));
    }
    let output = run(&["violations", "--config", "/dev/stdin"], zero(), folder.path());
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("larger than 32 MiB"));
    // A stream of short lines that are all kept.
    let mut yes = Command::new("yes")
        .arg("Robots-Tag: noindex")
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    let lines = Stdio::from(yes.stdout.take().expect("it is piped"));
    let output = run(&["tags", "--product-token", "x"], lines, folder.path());
    assert_refused(&output, "standard input: larger than 16 MiB", "short lines");
    yes.wait().expect("its reader has gone");
    // A folder as standard input.
    let output = run(
        &["crawlers", "identify"],
        Stdio::from(File::open(folder.path()).expect("a folder")),
        folder.path(),
    );
    assert_refused(&output, "standard input: ", "a folder");
}

#[test]
fn s147_what_fits_is_read_as_before() {
    let long = format!("GPTBot/1.2 {}", "x".repeat(100_000));
    let output = run_with_input(&["crawlers", "identify"], format!("{long}\r\ncurl/8").as_bytes());
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 2);
    let args = ["explain", "--robots-txt", "/dev/stdin", "--product-token", "x", "/a"];
    let output = run_with_input(&args, b"User-agent: *\nDisallow: /a\n");
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stdout).contains("disallow for x"));
}

#[test]
fn a_hangup_in_the_first_milliseconds_ends_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("beadle.yaml");
    let text = format!("server: {{ listen: [\"127.0.0.1:0\"], admin: \"off\" }}\n{POLICY}");
    fs::write(&file, text).expect("written");
    let survives = || {
        let mut child = Command::new(PROGRAM)
            .args(["serve", "--config"])
            .arg(&file)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program can be started");
        let pid = child.id();
        let has = |set: &str, signal: u32| {
            let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            let set = status.lines().find_map(|line| line.strip_prefix(set)).map(str::to_owned);
            let set = u64::from_str_radix(set.unwrap_or_default().trim(), 16).unwrap_or(0);
            set & (1 << (signal - 1)) != 0
        };
        // Before its first line of code runs, the program ignores SIGPIPE (13).
        wait_for("the first line", || has("SigIgn:", 13).then_some(()));
        let mut has_ended = false;
        for _ in 0..10 {
            // A process that has ended still accepts signals until it is waited for.
            let sent = Command::new("kill").args(["-s", "HUP", &pid.to_string()]).status();
            assert!(sent.is_ok_and(|sent| sent.success()));
        }
        wait_for("the handler, or the end", || {
            has_ended = child.try_wait().expect("it is our child").is_some();
            (has_ended || has("SigCgt:", 1)).then_some(())
        });
        // It may have ended already.
        let _ = child.kill();
        child.wait().expect("it is our child");
        !has_ended
    };
    // On a busy machine a signal may come between the first line and the second. A handler that is
    // late loses nearly all.
    let survivors = (0..64).filter(|_| survives()).count();
    assert!(survivors >= 16, "{survivors} of 64");
}

#[test]
fn relative_names_start_at_the_folder_of_the_policy() {
    let origin = Origin::plain();
    let elsewhere = tempfile::tempdir().expect("a folder");
    let beadle = Setup::site(origin.port, GROUPS)
        .violations("  database: data/beadle.db\n  log: data/violations.jsonl\n")
        .start();
    beadle.get("/private/x", "BadBot/1.0");
    beadle.wait_for_metric("beadle_records_stored_total", 1.0);
    for name in ["beadle.db", "violations.jsonl"] {
        assert!(beadle.folder().join("data").join(name).exists(), "{name}");
    }
    for folder in [beadle.folder(), elsewhere.path()] {
        for (args, code) in [
            (&["violations", "--format", "json"][..], 1),
            (&["robots", "--history", "--format", "json"], 0),
            (&["explain", "--user-agent", "BadBot/1.0", "/private/x"], 0),
        ] {
            let output = Command::new(PROGRAM)
                .args(args)
                .arg("--config")
                .arg(beadle.policy_file())
                .current_dir(folder)
                .output()
                .expect("the program can be started");
            assert_eq!(output.status.code(), Some(code), "{args:?}");
            assert!(!output.stdout.is_empty(), "{args:?}");
            assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
        }
    }
}

#[test]
fn a_database_in_the_working_directory_alone_is_used_with_a_warning() {
    let origin = Origin::plain();
    let mut beadle = Setup::site(origin.port, GROUPS).violations("  database: beadle.db\n").start();
    beadle.get("/private/x", "BadBot/1.0");
    beadle.wait_for_metric("beadle_records_stored_total", 1.0);
    beadle.stop();
    let old = tempfile::tempdir().expect("a folder");
    fs::rename(beadle.folder().join("beadle.db"), old.path().join("beadle.db")).expect("moved");
    let verb = |args: &[&str], folder: &Path| {
        Command::new(PROGRAM)
            .args(args)
            .arg("--config")
            .arg(beadle.policy_file())
            .current_dir(folder)
            .output()
            .expect("the program can be started")
    };
    for args in [&["violations"][..], &["robots", "--history"]] {
        let output = verb(args, old.path());
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.stdout.len() > 100, "{args:?}: {stderr}");
        assert!(stderr.contains("policy.old_place") && stderr.contains("move it to"), "{stderr}");
    }
    let output = verb(&["check"], old.path());
    assert!(String::from_utf8_lossy(&output.stdout).contains("policy.old_place"));
    let elsewhere = tempfile::tempdir().expect("a folder");
    for args in [&["violations"][..], &["robots", "--history"]] {
        let output = verb(args, elsewhere.path());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(stderr.contains("does not exist"), "{stderr}");
    }
    // A verb that can answer without a database answers as at a first start, but not where there
    // was a database once.
    assert_eq!(verb(&["robots"], elsewhere.path()).status.code(), Some(0));
    fs::write(beadle.folder().join("beadle.db-wal"), "left").expect("written");
    for args in [&["robots"][..], &["explain", "--user-agent", "x", "/"], &["violations"]] {
        let output = verb(args, elsewhere.path());
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr.contains("the file is gone or empty"), "{stderr}");
    }
    fs::remove_file(beadle.folder().join("beadle.db-wal")).expect("removed");
    fs::write(beadle.folder().join("beadle.db"), "no database at all\n".repeat(400)).expect("ok");
    for args in [&["robots"][..], &["explain", "--user-agent", "x", "/"]] {
        let output = verb(args, elsewhere.path());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
    }
}

#[test]
fn the_input_of_a_closed_pipe_is_no_failure() {
    let mut child = Command::new(PROGRAM)
        .args(["crawlers", "identify"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program can be started");
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().expect("it is piped");
    // The reader may end before all is written.
    let _ = stdin.write_all("curl/8\n".repeat(100_000).as_bytes());
    drop(stdin);
    assert_eq!(child.wait().expect("it is our child").code(), Some(0));
}
