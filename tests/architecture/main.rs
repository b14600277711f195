//! The sources are read and compared with the design: who may use whom, which crate has which room,
//! where clocks are read and something is printed, and how the files of a room use each other. A
//! failure says the sentence of the rule that is broken, and where. Code for tests is not checked.

#![allow(clippy::panic, reason = "a test fails by a panic and prints what it saw")]

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

mod circles;
mod design;
mod package; // its files, licences and oldest Rust
mod rules;
mod source;

use self::{
    design::{CRATES, MOST_LINES_OF_HALF, MOST_LINES_OF_PROXY, STREETS, rooms},
    rules::{faults, rooms_used, stated_use},
    source::{Source, sources},
};

#[test]
fn every_source_keeps_to_the_design() {
    let sources = sources();
    assert!(sources.len() > 30, "the sources are found");
    let faults: Vec<String> = sources.iter().flat_map(faults).collect();
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn every_room_uses_what_its_doc_says_and_nothing_else() {
    let sources = sources();
    let mut used: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for source in &sources {
        let rooms = rooms_used(source).into_iter().map(|(_, room)| room);
        used.entry(source.room()).or_default().extend(rooms.filter(|room| room != source.room()));
    }
    let mut faults = Vec::new();
    for source in sources.iter().filter(|one| one.is_room()) {
        let Some(stated) = stated_use(&source.text) else { continue };
        let words = stated.split(|c: char| !c.is_alphanumeric() && c != '_');
        let stated: BTreeSet<&str> =
            words.filter(|word| rooms().any(|room| room == *word)).collect();
        if source.text.contains("May use: everything") {
            continue;
        }
        let used: BTreeSet<&str> = used[source.room()].iter().map(String::as_str).collect();
        let unsaid =
            used.difference(&stated).map(|room| format!("it uses {room}, its doc doesn't say so"));
        let unused = stated
            .difference(&used)
            .map(|room| format!("its doc allows {room}, which it doesn't use"));
        faults.extend(unsaid.chain(unused).map(|fault| format!("src/{}:1: {fault}", source.path)));
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn the_files_of_a_room_use_each_other_in_no_circle() {
    let circles = circles::circles(&sources());
    assert!(circles.is_empty(), "\n{}\n", circles.join("\n"));
}

#[test]
fn rooms_and_files_are_of_a_size_that_a_reader_can_keep_in_mind() {
    let sources = sources();
    let mut of_street: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut of_proxy, mut lengths) = (0, Vec::new());
    for source in &sources {
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

    let places: BTreeSet<(String, String)> = sources()
        .iter()
        .filter(|one| one.path.contains('/') && one.room() != "mod")
        .map(|one| (one.street().to_owned(), one.room().to_owned()))
        .collect();
    let known = STREETS.iter().flat_map(|(street, rooms, _)| {
        rooms.iter().map(|room| ((*street).to_owned(), (*room).to_owned()))
    });
    assert_eq!(places, known.collect(), "rooms of the sources and of the table");
}

#[test]
fn each_rule_is_found_where_it_is_broken() {
    let said = |path: &str, text: &str| {
        let source = Source { path: path.to_owned(), text: text.to_owned() };
        faults(&source).join("\n")
    };
    for (path, text, sentence) in [
        (
            "formats/robots/parse.rs",
            "use crate::rules::crawlers::Claim;",
            "robots may know the rooms before it, but uses crawlers",
        ),
        (
            "formats/robots/parse.rs",
            "use crate::{\n    base::escape,\n    rules::policy::{self, Policy},\n};",
            "src/formats/robots/parse.rs:3: robots may know",
        ),
        (
            "rules/policy/mod.rs",
            "fn f() { crate::rules::enforce::decide() }",
            "policy may know the rooms before it, but uses enforce",
        ),
        (
            "desk/admin/login.rs",
            "use crate::desk::pages::frame;",
            "admin may know the rooms before it, but uses pages",
        ),
        ("desk/pages/mod.rs", "use crate::desk::api::router;", "but uses api"),
        ("desk/api/mod.rs", "use crate::nowhere::{a, b};", "'b' is no room: a path names"),
        (
            "serving/proxy/mod.rs",
            "use crate::{base::metrics, desk::{admin::View}};",
            "but uses admin",
        ),
        (
            "base/escape.rs",
            "use crate::rules::policy::Policy;",
            "the base knows no room, but escape uses policy",
        ),
        (
            "main.rs",
            "fn main() { beadle::serving::proxy::run() }",
            "main may know cli only, but uses proxy",
        ),
        ("base/util/mod.rs", "use crate::formats::robots;", "'util' is no room of the design"),
        (
            "rules/enforce/mod.rs",
            "use pingora::Error;",
            "the crate 'pingora' is known in edge/ and proxy/ only",
        ),
        (
            "records/violations/sink.rs",
            "use rusqlite::Connection;",
            "known in violations/store/ only",
        ),
        (
            "rules/policy/server.rs",
            "fn f() { serde_yaml::from_str(x) }",
            "known in policy/yaml.rs and import/anubis.rs only",
        ),
        (
            "program/cli/serve.rs",
            "use axum;",
            "known in admin/ and pages/ and api/ and cli/demo.rs only",
        ),
        (
            "rules/enforce/mod.rs",
            "let now = jiff::Timestamp::now();",
            "a clock is read in fetch, forward, lines",
        ),
        ("serving/proxy/mod.rs", "println!();", "nothing is printed outside cli"),
        ("formats/robots/mod.rs", "use std::fs;", "robots does no input and no output"),
        ("rules/policy/mod.rs", "pub async fn f() {}", "policy does no input and no output"),
        ("program/cli/mod.rs", "let x = y.unwrap();", "no unwrap outside tests"),
        ("desk/api/status.rs", "let x = env!(\"CARGO_PKG_VERSION\");", "is read in version only"),
        ("records/violations/mod.rs", "pub use crate::records::tally;", "name their owner"),
        ("desk/api/mod.rs", "pub(crate) use crate::{base::text};", "name their owner"),
        ("rules/policy/yaml.rs", "use super::super::enforce;", "never reached by super::"),
        ("rules/policy/mod.rs", "use super::enforce;", "never reached by super::"),
        ("rules/policy/yaml.rs", &"\n".repeat(451), "at most 450 lines, not 451"),
        (
            "rules/policy/mod.rs",
            "//! A policy.\n",
            "the doc of a room ends with the line 'May use: …'",
        ),
    ] {
        let found = said(path, text);
        assert!(found.contains(sentence), "{path}: {text}\nsaid: {found}\nnot: {sentence}");
    }
    for (path, text) in [
        ("formats/robots/parse.rs", "use crate::base::escape; // crate::rules::policy"),
        ("formats/robots/parse.rs", "let text = \"crate::rules::policy \\\" println!\";"),
        (
            "formats/robots/parse.rs",
            "#[cfg(test)]\nmod tests {\n    use crate::rules::policy;\n    x.unwrap();\n}",
        ),
        ("rules/policy/yaml.rs", "use super::shape; use axum_like::x; use serde_yaml::from_str;"),
        (
            "serving/proxy/mod.rs",
            "//! The path.\n//!\n//! May use: policy.\nuse crate::{rules::policy::{self, enforce}, base::metrics};",
        ),
        (
            "program/cli/mod.rs",
            "//! Verbs.\n//!\n//! May use: everything.\nprintln!(); Instant::now();",
        ),
        ("main.rs", "fn main() { beadle::program::cli::run() }"),
    ] {
        assert_eq!(said(path, text), "", "{path}: {text}");
    }
}
