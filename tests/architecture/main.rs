//! The sources are read and compared with the design: who may use whom, which crate has which room,
//! where clocks are read and something is printed, and how the files of a room use each other. A
//! failure says the sentence of the rule that is broken, and where. Code for tests is not checked.

#![allow(clippy::panic, reason = "a test fails by a panic and prints what it saw")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    path::Path,
};

mod circles;
mod design;
mod package; // its files, licences and oldest Rust
mod rules;
mod source;

use self::{
    design::{BASE, CRATES, MOST_LINES_OF_HALF, MOST_LINES_OF_PROXY, MOST_LINES_OF_ROOM, USES},
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
        used.entry(source.room()).or_default().extend(rooms);
    }
    let mut faults = String::new();
    for source in sources.iter().filter(|one| one.depth() == 1 && one.path.ends_with("/mod.rs")) {
        let Some(stated) = stated_use(&source.text) else { continue };
        let words: BTreeSet<&str> =
            stated.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        if words.contains("everything") {
            continue;
        }
        for room in &used[source.room()] {
            if room != source.room() && !words.contains(room.as_str()) {
                writeln!(faults, "src/{}:1: it uses {room}, its doc doesn't say so", source.path)
                    .expect("memory takes all");
            }
        }
    }
    assert!(faults.is_empty(), "\n{faults}");
}

#[test]
fn the_files_of_a_room_use_each_other_in_no_circle() {
    let circles = circles::circles(&sources());
    assert!(circles.is_empty(), "\n{}\n", circles.join("\n"));
}

#[test]
fn rooms_and_files_are_of_a_size_that_a_reader_can_keep_in_mind() {
    let sources = sources();
    let mut of_room: BTreeMap<&str, usize> = BTreeMap::new();
    let mut lengths: Vec<usize> = Vec::new();
    for source in &sources {
        let length = source.text.lines().count();
        *of_room.entry(source.room()).or_default() += length;
        lengths.push(length);
    }
    for (room, lines) in &of_room {
        let most = if *room == "proxy" { MOST_LINES_OF_PROXY } else { MOST_LINES_OF_ROOM };
        assert!(*lines <= most, "{room} has {lines} lines, more than {most}");
    }
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

    let rooms: BTreeSet<String> = sources().iter().map(|one| one.room().to_owned()).collect();
    let known = USES.iter().map(|(room, _)| *room).chain(BASE).chain(["lib"]);
    assert_eq!(rooms, known.map(str::to_owned).collect(), "rooms of the sources and of the table");
}

#[test]
fn each_rule_is_found_where_it_is_broken() {
    let said = |path: &str, text: &str| {
        let source = Source { path: path.to_owned(), text: text.to_owned() };
        faults(&source).join("\n")
    };
    for (path, text, sentence) in [
        (
            "robots/parse.rs",
            "use crate::crawlers::Claim;",
            "robots may know the base only, but uses crawlers",
        ),
        (
            "robots/parse.rs",
            "use crate::{\n    escape,\n    policy::{self, Policy},\n};",
            "src/robots/parse.rs:3: robots may know",
        ),
        (
            "policy/mod.rs",
            "fn f() { crate::enforce::decide() }",
            "policy may know the base and robots",
        ),
        (
            "violations/mod.rs",
            "use crate::enforce::Decision;",
            "violations may know the base and robots",
        ),
        ("admin/mod.rs", "use crate::proxy::Proxy;", "publication, gate, but uses proxy"),
        ("admin/login.rs", "use crate::desk::frame;", "gate, but uses desk"),
        ("desk/mod.rs", "use crate::api::router;", "explanation, trial, admin, but uses api"),
        ("api/mod.rs", "use crate::desk::router;", "report, admin, but uses desk"),
        ("proxy/mod.rs", "use crate::{metrics, admin::View};", "but uses admin"),
        (
            "escape.rs",
            "use crate::policy::Policy;",
            "the base knows no room, but escape uses policy",
        ),
        (
            "main.rs",
            "fn main() { beadle::proxy::run() }",
            "main may know the base and cli, but uses proxy",
        ),
        ("util/mod.rs", "use crate::robots;", "'util' is no room of the design"),
        (
            "enforce/mod.rs",
            "use pingora::Error;",
            "the crate 'pingora' is known in edge/ and proxy/ only",
        ),
        ("violations/sink.rs", "use rusqlite::Connection;", "known in violations/store/ only"),
        (
            "policy/server.rs",
            "fn f() { serde_yaml::from_str(x) }",
            "known in policy/yaml.rs and import/anubis.rs only",
        ),
        ("cli/serve.rs", "use axum;", "known in admin/ and desk/ and api/ and cli/demo.rs only"),
        (
            "enforce/mod.rs",
            "let now = jiff::Timestamp::now();",
            "a clock is read in fetch, forward, lines",
        ),
        ("proxy/mod.rs", "println!();", "nothing is printed outside cli"),
        ("robots/mod.rs", "use std::fs;", "robots does no input and no output"),
        ("policy/mod.rs", "pub async fn f() {}", "policy does no input and no output"),
        ("cli/mod.rs", "let x = y.unwrap();", "no unwrap outside tests"),
        ("api/status.rs", "let x = env!(\"CARGO_PKG_VERSION\");", "is read in version only"),
        ("policy/yaml.rs", "use super::super::enforce;", "never reached by super::"),
        ("policy/mod.rs", "use super::enforce;", "never reached by super::"),
        ("policy/yaml.rs", &"\n".repeat(451), "at most 450 lines, not 451"),
        ("policy/mod.rs", "//! A policy.\n", "the doc of a room ends with the line 'May use: …'"),
    ] {
        let found = said(path, text);
        assert!(found.contains(sentence), "{path}: {text}\nsaid: {found}\nnot: {sentence}");
    }
    for (path, text) in [
        ("robots/parse.rs", "use crate::escape; // crate::policy"),
        ("robots/parse.rs", "let text = \"crate::policy \\\" println!\";"),
        (
            "robots/parse.rs",
            "#[cfg(test)]\nmod tests {\n    use crate::policy;\n    x.unwrap();\n}",
        ),
        ("policy/yaml.rs", "use super::shape; use axum_like::x; use serde_yaml::from_str;"),
        (
            "proxy/mod.rs",
            "//! The path.\n//!\n//! May use: policy.\nuse crate::{policy::{self, enforce}, metrics};",
        ),
        ("cli/mod.rs", "//! Verbs.\n//!\n//! May use: everything.\nprintln!(); Instant::now();"),
        ("main.rs", "fn main() { beadle::cli::run() }"),
    ] {
        assert_eq!(said(path, text), "", "{path}: {text}");
    }
}
