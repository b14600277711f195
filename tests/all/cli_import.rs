//! `beadle import` makes a policy of foreign rules that passes `beadle check`, and reports losses.

use std::{
    path::Path,
    process::{Command, Output},
};

use serde_json::json;

use crate::support::{
    origin::{After, Origin},
    program::{PROGRAM, json_lines},
};

const NGINX: &str = "map $http_user_agent $bad { default 0; ~*GPTBot 1; ~*bot[0-9] 1; }\n";

fn run(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(PROGRAM);
    command.args(args).current_dir(folder).env_remove("BEADLE_CONFIG");
    command.output().expect("the program can be started")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_policy_goes_to_standard_output_and_losses_to_standard_error() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    std::fs::write(folder.path().join("bots.conf"), NGINX).expect("the folder is ours");
    let made = run(folder.path(), &["import", "bots.conf", "--host", "shop.example"]);
    assert_eq!(made.status.code(), Some(1), "{made:?}");
    assert!(text(&made.stdout).contains("hosts: [\"shop.example\"]"), "{made:?}");
    assert!(text(&made.stderr).contains("line 1: bot[0-9]: a class of characters"), "{made:?}");
    std::fs::write(folder.path().join("beadle.yaml"), &made.stdout).expect("the folder is ours");
    let checked = run(folder.path(), &["check"]);
    assert_eq!(checked.status.code(), Some(0), "{checked:?}");

    let json = ["import", "bots.conf", "--format", "json", "--output", "new.yaml"];
    let made = run(folder.path(), &json);
    assert_eq!(made.status.code(), Some(1), "{made:?}");
    assert_eq!(
        json_lines(&made)[0],
        json!({
            "place": "line 1", "what": "bot[0-9]",
            "why": "a class of characters: no list of names, so no product token follows from it",
        })
    );
    let again = run(folder.path(), &json);
    assert_eq!(again.status.code(), Some(2), "{again:?}");
    assert!(text(&again.stderr).contains("--force"), "{again:?}");
    let wrong = run(folder.path(), &["import", "bots.conf", "--from", "apache"]);
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
    let unknown = run(folder.path(), &["import", "bots.conf", "--from", "lighttpd"]);
    assert!(text(&unknown.stderr).contains("ai-robots-json, anubis"), "{unknown:?}");
}

#[test]
fn the_robots_txt_of_a_running_site_becomes_a_policy_for_its_host() {
    let origin = Origin::playing(|exchange| {
        let file = b"User-agent: *\nDisallow: /private/\n";
        exchange.answer("200 OK", &[], file);
        After::Close
    });
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let url = format!("http://localhost:{}", origin.port);
    let made = run(folder.path(), &["import", &url]);
    assert_eq!(made.status.code(), Some(0), "{made:?}");
    let policy = text(&made.stdout);
    assert!(policy.contains("hosts: [\"localhost\"]") && policy.contains("/private/"), "{policy}");
}
