//! The sources are parsed and compared with the design: who may use whom, which crate has which room,
//! where clocks are read and something is printed, and how the files of a room use each other. A
//! failure says the sentence of the rule that is broken, and where. Code for tests is not checked.

#![allow(clippy::panic, reason = "a test fails by a panic and prints what it saw")]

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::LazyLock,
};

mod circles;
mod code;
mod design;
mod examples; // for each rule, code that breaks it
mod names;
mod package; // its files, licences and oldest Rust
mod program;
mod rules;
mod source;
mod uses;

use self::{
    design::{CRATES, MOST_LINES_OF_HALF, MOST_LINES_OF_PROXY, STREETS},
    program::Program,
    source::sources,
};

/// The sources; to parse them takes seconds.
static PROGRAM: LazyLock<Program> = LazyLock::new(|| Program::of(sources()));

#[test]
fn every_source_keeps_to_the_design() {
    assert!(PROGRAM.sources.len() > 30, "the sources are found");
    let faults: Vec<String> = PROGRAM.sources.iter().flat_map(rules::faults).collect();
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn every_room_uses_what_its_doc_says_and_nothing_else() {
    let faults = uses::misstatements(&PROGRAM);
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn streets_rooms_and_files_use_each_other_in_no_circle() {
    let circles = circles::circles(&PROGRAM);
    assert!(circles.is_empty(), "\n{}\n", circles.join("\n"));
}

#[test]
fn the_name_of_a_file_tells_its_room() {
    let faults = names::misleading(&PROGRAM);
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn rooms_and_files_are_of_a_size_that_a_reader_can_keep_in_mind() {
    let mut of_street: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut of_proxy, mut lengths) = (0, Vec::new());
    for source in &PROGRAM.sources {
        let length = source.text.lines().count();
        *of_street.entry(source.street()).or_default() += length;
        of_proxy += if source.room() == "proxy" { length } else { 0 };
        lengths.push(length);
    }
    for (street, _, most) in STREETS {
        let lines = of_street[street];
        assert!(lines <= most, "{street} has {lines} lines, more than {most}");
    }
    assert!(of_proxy <= MOST_LINES_OF_PROXY, "the proxy has {of_proxy} lines");
    lengths.sort_unstable();
    let median = lengths[lengths.len() / 2];
    assert!(median <= MOST_LINES_OF_HALF, "half of the files have more than {median} lines");
}

#[test]
fn every_direct_dependency_and_every_room_stands_in_the_table() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let manifest = std::fs::read_to_string(manifest).expect("the manifest is there");
    let section = manifest.split("\n[dependencies]\n").nth(1).expect("it has dependencies");
    let section = section.split("\n[").next().unwrap_or_default();
    let lines = section.lines().filter(|line| !line.starts_with(['#', ' ']));
    let names = lines.filter_map(|line| Some(line.split_once(" = ")?.0.replace('-', "_")));
    let names: BTreeSet<String> = names.collect();
    let known: BTreeSet<String> = CRATES.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(names, known, "dependencies of the manifest, and those of the table");

    let places: BTreeSet<(String, String)> = PROGRAM
        .sources
        .iter()
        .filter(|one| one.path.contains('/') && one.room() != "mod")
        .map(|one| (one.street().to_owned(), one.room().to_owned()))
        .collect();
    let known = STREETS.iter().flat_map(|(street, rooms, _)| {
        rooms.iter().map(|room| ((*street).to_owned(), (*room).to_owned()))
    });
    assert_eq!(places, known.collect(), "rooms of the sources and of the table");
}
