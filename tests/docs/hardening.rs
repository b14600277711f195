//! `tests/hardening.md` has each row once, and the tests that it names are there.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    path::{Path, PathBuf},
};

use crate::page::{Page, root};

/// The rows are numbered from 1 to this.
const LAST: u32 = 147;

fn table() -> Page {
    Page::read(root().join("tests/hardening.md"))
}

/// A row of the tables.
#[derive(Debug)]
struct Row<'p> {
    number: u32,
    test: &'p str,
}

fn rows(page: &Page) -> Vec<Row<'_>> {
    let lines = page.text.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let cells = lines.map(|line| line.split(" | ").collect::<Vec<_>>());
    let rows = cells.filter_map(|cells| Some((cells[0].parse().ok()?, cells)));
    rows.map(|(number, cells)| {
        assert_eq!(cells.len(), 4, "row {number}: {cells:?}");
        assert!(cells.iter().all(|cell| !cell.is_empty()), "row {number}: {cells:?}");
        Row { number, test: cells[3] }
    })
    .collect()
}

/// What stands between backticks.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The sources of each test, by its name.
fn tests() -> BTreeMap<String, Vec<PathBuf>> {
    let mut tests: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    let mut folders: Vec<PathBuf> = ["src", "tests", "fuzz/checks"].map(|f| root().join(f)).into();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the folder is part of the project") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = std::fs::read_to_string(&path).expect("a source is UTF-8");
                for name in tests_of(&text) {
                    tests.entry(name.to_owned()).or_default().push(path.clone());
                }
            }
        }
    }
    tests
}

/// The functions below an attribute `#[test]` or `#[…::test]`.
fn tests_of(source: &str) -> impl Iterator<Item = &str> {
    let is_attribute = |line: &str| line.starts_with("#[");
    let mut is_test = false;
    source.lines().map(str::trim_start).filter_map(move |line| {
        if is_attribute(line) {
            let name = line.trim_start_matches("#[").split([']', '(']).next().unwrap_or_default();
            is_test |= name == "test" || name.ends_with("::test");
            return None;
        }
        let function = line.trim_start_matches("async ").strip_prefix("fn ");
        let name = function.filter(|_| is_test)?.split(['(', '<']).next();
        is_test = false;
        name
    })
}

/// Whether a source belongs to all these modules.
fn is_in(path: &Path, modules: &[&str]) -> bool {
    let path = path.strip_prefix(root()).unwrap_or(path).with_extension("");
    let has = |module: &&str| path.iter().any(|part| part == OsStr::new(module));
    modules.iter().filter(|module| **module != "tests").all(has)
}

#[test]
fn every_row_is_there_once() {
    let page = table();
    let numbers: Vec<u32> = rows(&page).iter().map(|row| row.number).collect();
    assert_eq!(numbers, (1..=LAST).collect::<Vec<_>>());
}

#[test]
fn every_row_has_its_test_or_says_why_not() {
    for Row { number, test } in rows(&table()) {
        let is_without = test.strip_prefix("no test: ").is_some_and(|reason| reason.len() > 9);
        assert!(is_without || names(test).next().is_some(), "row {number}: {test}");
    }
}

#[test]
fn every_test_that_the_page_names_is_there() {
    let page = table();
    let tests = tests();
    assert!(tests.len() > 500, "{} tests", tests.len());
    let mut missing = Vec::new();
    for Row { number, test } in rows(&page) {
        for name in names(test) {
            let mut modules: Vec<&str> = name.split("::").collect();
            let last = modules.pop().unwrap_or_default();
            let is_there = if name.ends_with(".yaml") {
                root().join("tests/data/policies").join(name).exists()
            } else {
                tests.get(last).is_some_and(|files| files.iter().any(|f| is_in(f, &modules)))
            };
            if !is_there {
                missing.push(format!("row {number}: {name}"));
            }
        }
    }
    assert!(missing.is_empty(), "no such test:\n{}", missing.join("\n"));
}
