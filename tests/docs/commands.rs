//! `docs/src/commands.md` ends with the help text of every command, as the program prints it.

use std::process::Command;

use crate::{
    page::{is_update, page},
    support::program::PROGRAM,
};

/// Where the generated part begins.
const HEADING: &str = "## Help\n";

/// The help for a terminal of 100 columns, whatever the environment says.
fn help(verbs: &[String]) -> String {
    let output = Command::new(PROGRAM)
        .args(verbs)
        .arg("--help")
        .env("COLUMNS", "100")
        .env_remove("BEADLE_CONFIG")
        .output()
        .expect("the program can be started");
    assert_eq!(output.status.code(), Some(0), "{verbs:?}");
    String::from_utf8(output.stdout).expect("help is UTF-8")
}

/// The commands that a help text lists.
fn listed(text: &str) -> Vec<String> {
    text.lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
        .collect()
}

/// Appends the block of a command and of those below it.
fn write(verbs: &[String], into: &mut String) {
    let text = help(verbs);
    let name = [&["beadle".to_owned()], verbs].concat().join(" ");
    if !verbs.is_empty() {
        let level = "#".repeat(2 + verbs.len());
        into.push_str(&format!("{level} `{name}`\n\n"));
    }
    into.push_str(&format!("```console\n$ {name} --help\n"));
    for line in text.trim_end().lines() {
        into.push_str(line.trim_end());
        into.push('\n');
    }
    into.push_str("```\n\n");
    for verb in listed(&text) {
        write(&[verbs, &[verb]].concat(), into);
    }
}

#[test]
fn the_help_texts_are_those_of_the_program() {
    let page = page("commands.md");
    let (before, _) = page.text.split_once(HEADING).expect("the page has the heading");
    let mut generated = String::new();
    write(&[], &mut generated);
    let expected = format!("{before}{HEADING}\n{}\n", generated.trim_end());
    if is_update() {
        std::fs::write(&page.path, &expected).expect("the page is writable");
    } else {
        let is_same = |(written, printed): &(&str, &str)| written == printed;
        let lines = page.text.lines().zip(expected.lines());
        let difference =
            lines.skip_while(is_same).map(|(written, printed)| format!("{written} -> {printed}"));
        let difference = difference.take(5).collect::<Vec<_>>().join("\n");
        assert!(page.text == expected, "BEADLE_UPDATE=1 rewrites {}:\n{difference}", page.name());
    }
}

#[test]
fn the_json_of_every_command_is_described() {
    let text = page("commands.md").text;
    let json = |verbs: &[String]| help(verbs).contains("--format <FORMAT>");
    for verb in listed(&help(&[])) {
        let inner = listed(&help(std::slice::from_ref(&verb)));
        let names = inner.into_iter().map(|inner| vec![verb.clone(), inner]);
        for verbs in std::iter::once(vec![verb.clone()]).chain(names) {
            let name = verbs.join(" ");
            let row = |line: &str| line.starts_with("| `") && line.contains(&format!("`{name}"));
            assert!(!json(&verbs) || text.lines().any(row), "the keys of '{name}'");
        }
    }
}
