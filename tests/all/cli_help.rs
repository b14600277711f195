//! `--help` of every verb, as the golden files in `tests/data/help` have it; `UPDATE_GOLDEN=1`
//! writes them anew.

use std::{path::Path, process::Command};

use crate::support::program::PROGRAM;

const HELP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/help");

/// The text for a terminal of 100 columns, whatever the environment says.
fn help(args: &[&str]) -> String {
    let output = Command::new(PROGRAM)
        .args(args)
        .arg("--help")
        .env("COLUMNS", "100")
        .env_remove("BEADLE_CONFIG")
        .output()
        .expect("the program can be started");
    assert_eq!(output.status.code(), Some(0), "{args:?}");
    assert!(output.stderr.is_empty(), "{args:?}");
    String::from_utf8(output.stdout).expect("help is UTF-8")
}

/// The verbs that a help text lists.
fn verbs(text: &str) -> Vec<String> {
    text.lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
        .collect()
}

#[test]
fn help_says_what_the_golden_files_say() {
    let all = help(&[]);
    let mut texts = vec![("beadle".to_owned(), all.clone())];
    for verb in verbs(&all) {
        let text = help(&[&verb]);
        for inner in verbs(&text) {
            texts.push((format!("beadle-{verb}-{inner}"), help(&[&verb, &inner])));
        }
        texts.push((format!("beadle-{verb}"), text));
    }
    assert!(texts.len() > 8, "{} texts", texts.len());
    for (name, text) in texts {
        let golden = Path::new(HELP).join(format!("{name}.txt"));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::create_dir_all(HELP).expect("the folder can be made");
            std::fs::write(&golden, &text).expect("the golden file can be written");
        }
        let expected = std::fs::read_to_string(&golden).unwrap_or_default();
        assert_eq!(text, expected, "{name}: UPDATE_GOLDEN=1 writes {} anew", golden.display());
    }
}

#[test]
fn every_verb_of_the_help_is_in_the_readme() {
    let readme = include_str!("../../README.md");
    for verb in verbs(&help(&[])) {
        assert!(readme.contains(&format!("| `beadle {verb} ")), "{verb}");
    }
}

#[test]
fn every_line_of_help_fits_a_terminal() {
    for verb in verbs(&help(&[])) {
        for line in help(&[&verb]).lines() {
            assert!(line.chars().count() <= 100, "{verb}: {line}");
        }
    }
}
