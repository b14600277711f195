//! `beadle diff` compares policies, robots.txt files and URLs by their meaning.

use std::{
    path::Path,
    process::{Command, Output},
};

use serde_json::json;

use crate::support::{
    origin::{After, Origin},
    program::{PROGRAM, json_lines},
};

const OLD: &str = "User-agent: *\nDisallow: /private/\n";
const NEW: &str = "User-agent: *\nDisallow: /private/\n\nUser-agent: GPTBot\nDisallow: /\n";

fn policy(groups: &str, rest: &str) -> String {
    format!(
        "sites:\n  - hosts: [www.example.com]\n    origin: http://127.0.0.1:3000\n    \
         robots_txt: {{ groups: [{groups}] }}\n{rest}"
    )
}

fn diff(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(PROGRAM);
    command.arg("diff").args(args).current_dir(folder).env_remove("BEADLE_CONFIG");
    command.output().expect("the program can be started")
}

fn written(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("the folder is ours");
    }
    folder
}

#[test]
fn files_differ_with_exit_1_and_agree_with_exit_0() {
    let folder = written(&[("old.txt", OLD), ("new.txt", NEW)]);
    let found = diff(folder.path(), &["old.txt", "new.txt"]);
    assert_eq!(found.status.code(), Some(1), "{found:?}");
    assert_eq!(
        String::from_utf8_lossy(&found.stdout),
        "GPTBot
  /                            allow -> disallow
      before by no rule, after by 'Disallow: /' (line 5)
exact: every path as sent is compared
"
    );
    let same = diff(folder.path(), &["new.txt", "new.txt"]);
    assert_eq!(same.status.code(), Some(0), "{same:?}");
    let none = diff(folder.path(), &["new.txt", "missing.txt"]);
    assert_eq!(none.status.code(), Some(2), "{none:?}");
    assert!(String::from_utf8_lossy(&none.stderr).contains("neither a file"), "{none:?}");
}

#[test]
fn policies_are_compared_with_their_actions() {
    let star = r#"{ user_agents: ["*"], disallow: [/private/] }"#;
    let (old, new) = (
        policy(star, ""),
        policy(
            &format!("{star}, {{ user_agents: [GPTBot], disallow: [/] }}"),
            "    enforcement: { overrides: [{ user_agents: [GPTBot], mode: block }] }\n",
        ),
    );
    let folder = written(&[("old.yaml", &old), ("new.yaml", &new), ("old.txt", OLD)]);
    let found = diff(folder.path(), &["old.yaml", "new.yaml", "--format", "json"]);
    assert_eq!(found.status.code(), Some(1), "{found:?}");
    let rows = json_lines(&found);
    assert_eq!(
        rows[0],
        json!({
            "site": "www.example.com", "product_tokens": ["GPTBot"], "path": "/",
            "what": "disallowed",
            "before": { "verdict": "allow", "directive": null, "pattern": null, "line": null },
            "after": {
                "verdict": "disallow", "directive": "disallow", "pattern": "/", "line": 5,
                "action": "block",
            },
            "example": "/",
        })
    );
    assert_eq!(rows[1]["what"], "blocked");
    assert!(String::from_utf8_lossy(&found.stderr).contains("exact: every path"), "{found:?}");
    // A policy and a file are compared as files.
    let same = diff(folder.path(), &["old.txt", "old.yaml"]);
    assert_eq!(same.status.code(), Some(0), "{same:?}");
}

#[test]
fn a_url_stands_for_the_robots_txt_of_its_site() {
    let origin = Origin::playing(|exchange| {
        match &exchange.request.target[..] {
            b"/robots.txt" => exchange.answer("200 OK", &[], NEW.as_bytes()),
            _ => exchange.answer("404 Not Found", &[], b""),
        }
        After::Close
    });
    let folder = written(&[("old.txt", OLD)]);
    let url = format!("http://127.0.0.1:{}/", origin.port);
    let found = diff(folder.path(), &["old.txt", &url]);
    assert_eq!(found.status.code(), Some(1), "{found:?}");
    assert!(String::from_utf8_lossy(&found.stdout).contains("GPTBot"), "{found:?}");
}
