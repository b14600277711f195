//! The policies that came into force: kept, shown, compared and restored.

use serde_json::Value;

use crate::{
    reload::{blocks, setup},
    support::{
        origin::Origin,
        program::{Beadle, json_lines},
        wait_for,
    },
};

fn history(beadle: &Beadle) -> Vec<Value> {
    json_lines(&beadle.verb(&["policy", "history", "--format", "json"]))
}

fn told(beadle: &Beadle, args: &[&str], exit: i32) -> String {
    let output = beadle.verb(&[&["policy"], args].concat());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(exit), "{args:?}: {text}{errors}");
    text
}

fn wait_for_entries(beadle: &Beadle, count: usize) -> Vec<Value> {
    wait_for("policies in the history", || {
        let all = history(beadle);
        (all.len() == count).then_some(all)
    })
}

#[test]
fn each_policy_that_came_into_force_is_kept_shown_and_restored() {
    let origin = Origin::plain();
    let beadle = setup(&origin, "/old/").start();
    let old = beadle.policy_text();
    let logged = beadle.text_of(&setup(&origin, "/old/").replaced("mode: block", "mode: log"));
    beadle.replace_policy(&logged);
    wait_for_entries(&beadle, 2);
    let new = beadle.text_of(&setup(&origin, "/new/"));
    beadle.replace_policy(&new);
    // The verb or the file: one of the two is first.
    beadle.verb(&["reload"]);
    wait_for_entries(&beadle, 3);
    // A file that is refused is no entry, and a start is one.
    let beadle = beadle.restarted_as("TERM", setup(&origin, "/new/"));
    let all = wait_for_entries(&beadle, 4);
    let by: Vec<&str> = all.iter().map(|one| one["by"].as_str().expect("a text")).collect();
    assert_eq!((by[0], by[2], by[3]), ("start", "file", "start"));
    assert!(["file", "reload"].contains(&by[1]), "{by:?}");
    let summary = |at: usize| all[at]["summary"].as_str().expect("a text").to_owned();
    assert_eq!(summary(0), "the same file");
    assert!(summary(2).starts_with("BadBot: violations get block -> log"), "{all:?}");
    assert_eq!(summary(3), "the first one that is kept");
    assert_eq!((&all[0]["sha256"], &all[0]["id"]), (&all[1]["sha256"], &4.into()));
    let changes = all[2]["changes"].as_array().expect("rows");
    assert!(changes.iter().any(|one| one["what"] == "logged"), "{changes:?}");

    assert_eq!(told(&beadle, &["show", "1"], 0), old, "byte for byte");
    assert!(told(&beadle, &["show", "2", "--changes"], 0).contains("block -> log"));
    assert_eq!(told(&beadle, &["show", "9"], 2), "");
    let text = told(&beadle, &["history", "--limit", "1"], 0);
    assert!(text.contains("start   the same file") && text.contains("older ones"), "{text}");

    let page = |path: &str| beadle.admin_page(path).text();
    assert!(page("/policy/history").contains("BadBot: violations get block -"));
    let one = page("/policy/history?before=3");
    assert!(one.contains("id=\"p2\"") && !one.contains("id=\"p3\""), "{one}");

    // Without an answer nothing is written, and a file with errors is no obstacle.
    told(&beadle, &["restore", "1"], 2);
    let file = beadle.policy_file();
    beadle.replace_policy(&new.replace("mode: block", "mode: blok"));
    let text = told(&beadle, &["restore", "1", "--yes"], 0);
    assert!(text.contains("has errors now") && text.contains("policy 1 is written"), "{text}");
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), old);
    assert!(blocks(&beadle, "/old/x"));
    wait_for_entries(&beadle, 5);
    assert!(told(&beadle, &["restore", "1", "--yes"], 0).contains("already"));

    // A link is not replaced: the text is handed out.
    let real = file.with_extension("real");
    std::fs::rename(&file, &real).expect("moved");
    std::os::unix::fs::symlink(&real, &file).expect("a link");
    let text = told(&beadle, &["restore", "2", "--yes"], 2);
    assert!(text.ends_with(&logged), "{text}");
    assert_eq!(std::fs::read_to_string(&real).expect("a file"), old);
}
