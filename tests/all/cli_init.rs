//! `beadle init` writes a first policy that passes check and its own tests, and so do the presets.

use std::{
    path::Path,
    process::{Command, Output, Stdio},
};

use crate::support::{
    origin::{After, Origin},
    program::PROGRAM,
};

const PRESETS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/presets");

fn run(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(PROGRAM);
    command.args(args).current_dir(folder).env_remove("BEADLE_CONFIG").stdin(Stdio::null());
    command.output().expect("the program can be started")
}

fn passes(folder: &Path, file: &str) {
    for verb in ["check", "test"] {
        let output = run(folder, &[verb, file]);
        assert_eq!(output.status.code(), Some(0), "{verb} {file}: {output:?}");
    }
}

#[test]
fn every_preset_passes_check_and_its_tests() {
    let mut count = 0;
    for preset in std::fs::read_dir(PRESETS).expect("the folder is part of the project") {
        let path = preset.expect("readable").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("UTF-8").to_owned();
        passes(Path::new(PRESETS), &name);
        let text = std::fs::read_to_string(&path).expect("readable");
        assert!(text.lines().all(|line| line.chars().count() <= 110), "{name}");
        // The program has the same file.
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let preset = name.trim_end_matches(".yaml");
        let made = run(folder.path(), &["init", "--yes", "--preset", preset]);
        assert_eq!(made.status.code(), Some(0), "{made:?}");
        let written = std::fs::read_to_string(folder.path().join("beadle.yaml"));
        assert_eq!(written.expect("it is written"), text);
        count += 1;
    }
    assert_eq!(count, 6);
}

#[test]
fn answers_by_options_make_a_policy_that_is_never_overwritten() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let args = [
        "init",
        "--host",
        "a.example",
        "--origin",
        "http://10.0.0.7:80",
        "--purpose",
        "training=disallow",
        "--purpose",
        "search=allow",
        "--yes",
    ];
    let made = run(folder.path(), &args);
    assert_eq!(made.status.code(), Some(0), "{made:?}");
    assert_eq!(
        String::from_utf8_lossy(&made.stdout),
        "beadle.yaml: written. Next:\n  beadle test beadle.yaml\n  beadle serve --config beadle.yaml\n\
         As a service, Beadle may write only to /var/lib/beadle: name the database\n\
         /var/lib/beadle/violations.db in the policy.\n"
    );
    passes(folder.path(), "beadle.yaml");
    let robots = run(folder.path(), &["robots"]);
    let robots = String::from_utf8_lossy(&robots.stdout).into_owned();
    assert!(robots.contains("User-agent: GPTBot") && !robots.contains("Googlebot\n"), "{robots}");
    let again = run(folder.path(), &args);
    assert_eq!(again.status.code(), Some(2), "{again:?}");
    assert!(String::from_utf8_lossy(&again.stderr).contains("--force"), "{again:?}");
    assert_eq!(run(folder.path(), &[&args[..], &["--force"]].concat()).status.code(), Some(0));
    let unknown = run(folder.path(), &["init", "--purpose", "cooking=allow"]);
    assert_eq!(unknown.status.code(), Some(2), "{unknown:?}");
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("search, training"), "{unknown:?}");
}

#[test]
fn a_running_site_keeps_its_robots_txt_and_shows_its_kind() {
    let origin = Origin::playing(|exchange| {
        match &exchange.request.target[..] {
            b"/robots.txt" => exchange.answer("200 OK", &[], b"User-agent: *\nDisallow: /old/\n"),
            _ => exchange.answer("200 OK", &["X-Discourse-Route: list/latest"], b"<p>hello</p>"),
        }
        After::Close
    });
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let url = format!("http://localhost:{}/", origin.port);
    let made = run(folder.path(), &["init", "--yes", "--url", &url, "--output", "site.yaml"]);
    assert_eq!(made.status.code(), Some(0), "{made:?}");
    let text = std::fs::read_to_string(folder.path().join("site.yaml")).expect("it is written");
    for part in ["hosts: [localhost]", "source: merge", "that runs Discourse"] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    passes(folder.path(), "site.yaml");
}

#[test]
fn rules_of_the_named_origin_are_kept() {
    let origin = Origin::playing(|exchange| {
        let rules = b"User-agent: *\nDisallow: /old/\n";
        exchange.answer("200 OK", &["Content-Type: text/plain"], rules);
        After::Close
    })
    .compared();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let url = format!("http://127.0.0.1:{}", origin.port);
    let made = run(folder.path(), &["init", "--host", "a.example", "--origin", &url, "--yes"]);
    assert_eq!(made.status.code(), Some(0), "{made:?}");
    let said = String::from_utf8_lossy(&made.stdout).into_owned();
    for part in ["source: merge", "replaces 1 rule", "  line 2 'Disallow: /old/' for *\n"] {
        assert!(said.contains(part), "{part}\n{said}");
    }
    assert_eq!(origin.last().header("host"), Some("a.example"));
    let text = std::fs::read_to_string(folder.path().join("beadle.yaml")).expect("it is written");
    assert!(text.contains("source: merge"), "{text}");
    passes(folder.path(), "beadle.yaml");
    let online = run(folder.path(), &["check", "--online", "beadle.yaml"]);
    assert_eq!(online.status.code(), Some(0), "{online:?}");
}
