//! The page about checks has every code of the program, and no other; so has the table in the code.

use std::{collections::BTreeSet, path::Path};

use beadle::advice::lint::RULES;

use crate::page::{is_update, page, root};

/// Where the generated part begins.
const HEADING: &str = "## Codes\n\n| code | meaning |\n|---|---|\n";

/// The rooms and files whose findings `beadle check` prints.
const SOURCES: [&str; 10] = [
    "src/rules/policy",
    "src/formats/robots",
    "src/rules/crawlers",
    "src/advice/lint",
    "src/program/cli/check.rs",
    "src/review/trial/failures.rs",
    "src/state/publication/files.rs",
    "src/outside/tls/pair.rs",
    "src/state/publication/probes.rs",
    "src/formats/robots_tag/emit.rs",
];
/// The beginnings of their codes.
const ROOMS: [&str; 7] =
    ["catalogue", "crawlers", "lint", "policy", "probe", "robots", "robots_tag"];

#[test]
fn every_code_is_on_the_page_and_no_other() {
    let page = page("checks.md");
    let (before, _) = page.text.split_once(HEADING).expect("the page has the heading");
    let row =
        |rule: &beadle::base::diagnostic::Rule| format!("| `{}` | {} |\n", rule.code, rule.meaning);
    let rows: String = RULES.iter().map(row).collect();
    let expected = format!("{before}{HEADING}{rows}");
    if is_update() {
        std::fs::write(&page.path, &expected).expect("the page is writable");
    } else {
        assert!(page.text == expected, "BEADLE_UPDATE=1 rewrites {}", page.name());
    }
}

#[test]
fn the_table_of_codes_is_that_of_the_sources() {
    let mut files = Vec::new();
    SOURCES.iter().for_each(|path| collect(&root().join(path), &mut files));
    let written: BTreeSet<String> = files.iter().flat_map(|text| codes(text)).collect();
    let known: BTreeSet<String> = RULES.iter().map(|rule| rule.code.to_owned()).collect();
    let missing: Vec<_> = written.difference(&known).collect();
    let left_over: Vec<_> = known.difference(&written).collect();
    assert!(
        missing.is_empty(),
        "add to src/advice/lint/codes.rs, in alphabetical order: {missing:?}"
    );
    assert!(
        left_over.is_empty(),
        "no source has these codes of src/advice/lint/codes.rs: {left_over:?}"
    );
    assert!(RULES.is_sorted_by_key(|rule| rule.code), "in alphabetical order");
    for rule in RULES {
        assert!(!rule.meaning.ends_with('.') && rule.meaning.len() < 100, "{}", rule.meaning);
    }
}

/// The sources without tests and without the table itself.
fn collect(path: &Path, files: &mut Vec<String>) {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if path.is_dir() {
        for entry in std::fs::read_dir(path).expect("the folder is part of the project") {
            collect(&entry.expect("readable").path(), files);
        }
    } else if name != "codes.rs"
        && !name.ends_with("tests.rs")
        && !path.components().any(|one| one.as_os_str() == "tests")
    {
        let text = std::fs::read_to_string(path).expect("UTF-8");
        files.push(text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned());
    }
}

/// The texts of a source that have the form of a code.
fn codes(text: &str) -> Vec<String> {
    let parts = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let parts: Vec<&str> = parts.flat_map(|line| line.split('"').skip(1).step_by(2)).collect();
    let is_code = |part: &&&str| {
        part.split_once('.').is_some_and(|(room, fault)| {
            ROOMS.contains(&room)
                && !["txt", "folder"].contains(&fault)
                && !fault.is_empty()
                && fault.bytes().all(|octet| {
                    octet.is_ascii_lowercase() || octet.is_ascii_digit() || octet == b'_'
                })
        })
    };
    parts.iter().filter(is_code).map(|part| (*part).to_owned()).collect()
}
