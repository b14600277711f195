//! The sources are read and held against the design: who may know whom, which crate has which
//! room, where clocks are read and something is printed. A failure says the sentence of the rule
//! that is broken, and where. Code for tests is not held to any of it.

#![allow(clippy::print_stdout, reason = "a test says so when it fails")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    path::Path,
};

const BASE: [&str; 4] = ["diagnostic", "escape", "metrics", "product_token"];
const FORMATS: [&str; 3] = ["robots", "robots_tag", "crawlers"];

/// Which rooms a room may know beside the base and itself; an arrow only ever points up.
const KNOWS: [(&str, &[&str]); 10] = [
    ("robots", &[]),
    ("robots_tag", &[]),
    ("crawlers", &[]),
    ("policy", &FORMATS),
    ("enforce", &["robots", "robots_tag", "crawlers", "policy"]),
    ("violations", &["robots"]),
    ("proxy", &["robots", "robots_tag", "crawlers", "policy", "enforce", "violations"]),
    ("admin", &["violations"]),
    (
        "cli",
        &["robots", "robots_tag", "crawlers", "policy", "enforce", "violations", "proxy", "admin"],
    ),
    ("main", &["cli"]),
];

/// Which places an external crate has; everywhere else it is unknown.
const CRATES: [(&str, &[&str]); 22] = [
    ("pingora", &["proxy/"]),
    ("async_trait", &["proxy/"]),
    ("arc_swap", &["proxy/"]),
    ("rustls", &["proxy/"]),
    ("bytes", &["proxy/", "robots/", "enforce/", "violations/"]),
    ("uuid", &["proxy/"]),
    ("governor", &["proxy/pace.rs"]),
    ("getrandom", &["proxy/privacy.rs"]),
    ("rusqlite", &["violations/store/"]),
    ("clap", &["cli/"]),
    ("serde_yaml", &["policy/yaml.rs"]),
    ("axum", &["admin/", "cli/demo.rs"]),
    ("prometheus", &["metrics/"]),
    ("html5gum", &["robots_tag/head.rs"]),
    ("sfv", &["robots_tag/", "robots/record.rs", "crawlers/signature/"]),
    ("ring", &["crawlers/signature/"]),
    ("base64", &["crawlers/signature/"]),
    ("tokio", &["proxy/", "admin/", "cli/"]),
    ("tracing", &["proxy/", "violations/", "admin/", "cli/"]),
    ("tracing_subscriber", &["cli/"]),
    ("hickory_resolver", &["proxy/evidence/names/"]),
    ("ipnet", &["crawlers/ranges/", "policy/", "proxy/"]),
];

const CLOCKS: [&str; 4] = ["Timestamp::now", "SystemTime::now", "Instant::now", "Zoned::now"];
const CLOCK_ROOMS: [&str; 3] = ["proxy", "violations", "cli"];
const PRINTING: [&str; 5] = ["println!", "eprintln!", "print!", "eprint!", "dbg!"];
const EFFECTS: [&str; 8] = [
    "std::fs",
    "File::open",
    "std::process",
    "std::thread",
    "std::env",
    "TcpStream",
    ".await",
    "async fn",
];
const PURE_ROOMS: [&str; 5] = ["robots", "robots_tag", "crawlers", "policy", "enforce"];
const MOST_LINES: usize = 450;

/// A source file; its path is relative to `src`.
struct Source {
    path: String,
    text: String,
}

impl Source {
    /// `policy` of `policy/yaml.rs`, `escape` of `escape.rs`.
    fn room(&self) -> &str {
        let first = self.path.split('/').next().unwrap_or_default();
        first.strip_suffix(".rs").unwrap_or(first)
    }

    /// How deep its module lies: 1 for `policy/mod.rs` and `escape.rs`, 2 for `policy/yaml.rs`.
    fn depth(&self) -> usize {
        let parts = self.path.split('/').count();
        if self.path.ends_with("/mod.rs") { parts - 1 } else { parts }
    }

    /// Its lines by number without comments, texts and what is for tests only.
    fn code(&self) -> Vec<(usize, String)> {
        let mut lines = Vec::new();
        let mut after_cfg_test = false;
        for (at, line) in self.text.lines().enumerate() {
            let is_test_module = after_cfg_test
                && line.trim_start().starts_with("mod ")
                && line.trim_end().ends_with('{');
            if is_test_module && !line.starts_with(' ') {
                break;
            }
            after_cfg_test = line.trim() == "#[cfg(test)]";
            lines.push((at + 1, without_comments_and_texts(line)));
        }
        lines
    }
}

/// A line without what stands behind `//` and between quotation marks.
fn without_comments_and_texts(line: &str) -> String {
    let mut kept = String::new();
    let mut in_text = false;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' if in_text => drop(characters.next()),
            '"' => in_text = !in_text,
            '/' if !in_text && characters.peek() == Some(&'/') => break,
            _ if in_text => {}
            _ => kept.push(character),
        }
    }
    kept
}

// === the rules

fn faults(source: &Source) -> Vec<String> {
    let mut faults = Vec::new();
    let mut fault = |line: usize, sentence: String| {
        faults.push(format!("src/{}:{line}: {sentence}", source.path));
    };
    for (line, room) in rooms_used(source) {
        if let Some(sentence) = may_not_know(source.room(), &room) {
            fault(line, sentence);
        }
    }
    for (line, code) in source.code() {
        for (name, places) in CRATES {
            let is_at_home = places.iter().any(|place| source.path.starts_with(place));
            if !is_at_home && names_crate(&code, name) {
                let places = places.join(" and ");
                fault(line, format!("the crate '{name}' is known in {places} only"));
            }
        }
        let clock = CLOCKS.iter().find(|clock| code.contains(**clock));
        if let Some(clock) = clock.filter(|_| !CLOCK_ROOMS.contains(&source.room())) {
            let rooms = CLOCK_ROOMS.join(", ");
            fault(line, format!("a clock is read in {rooms} only, and given to others: {clock}"));
        }
        let printing = PRINTING.iter().find(|name| has_word(&code, name));
        if let Some(name) = printing.filter(|_| source.room() != "cli") {
            fault(line, format!("nothing is printed outside cli: {name}"));
        }
        let effect = EFFECTS.iter().find(|name| code.contains(**name));
        if let Some(name) = effect.filter(|_| PURE_ROOMS.contains(&source.room())) {
            fault(line, format!("{} does no input and no output: {name}", source.room()));
        }
        if code.contains(".unwrap()") {
            let sentence = "no unwrap outside tests; expect names the invariant";
            fault(line, sentence.to_owned());
        }
        if supers(&code) >= source.depth() {
            fault(line, "another room is named by crate::, never reached by super::".to_owned());
        }
    }
    let length = source.text.lines().count();
    if length > MOST_LINES {
        fault(length, format!("a file has at most {MOST_LINES} lines, not {length}"));
    }
    let is_room = source.path.ends_with("/mod.rs") && source.depth() == 1;
    if is_room && stated_use(&source.text).is_none() {
        fault(1, "the doc of a room ends with the line 'May use: …'".to_owned());
    }
    faults
}

/// The sentence that is broken where one room uses another, if it may not.
fn may_not_know(room: &str, other: &str) -> Option<String> {
    if room == other || room == "lib" || (BASE.contains(&other) && room != "main") {
        return None;
    }
    if BASE.contains(&room) {
        return Some(format!("the base knows no room, but {room} uses {other}"));
    }
    let knows = KNOWS.iter().find(|(name, _)| *name == room).map(|(_, knows)| *knows);
    match knows {
        None => Some(format!("'{room}' is no room of the design: add it to the table here")),
        Some(knows) if knows.contains(&other) => None,
        Some([]) => Some(format!("{room} may know the base only, but uses {other}")),
        Some(knows) => {
            Some(format!("{room} may know the base and {}, but uses {other}", knows.join(", ")))
        }
    }
}

/// The rooms that a file names by `crate::`, with the line; `beadle::` in the program.
fn rooms_used(source: &Source) -> Vec<(usize, String)> {
    let mut used = Vec::new();
    let mut text = String::new();
    let mut starts = Vec::new();
    for (line, code) in source.code() {
        starts.push((text.len(), line));
        text.push_str(&code);
        text.push('\n');
    }
    let line_of = |at: usize| {
        let before = starts.iter().take_while(|(start, _)| *start <= at);
        before.last().map_or(1, |(_, line)| *line)
    };
    for root in ["crate::", "beadle::"] {
        for (at, _) in text.match_indices(root) {
            let is_word = text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            if is_word {
                continue;
            }
            let rest = &text[at + root.len()..];
            for (offset, name) in first_names(rest) {
                used.push((line_of(at + root.len() + offset), name));
            }
        }
    }
    used
}

/// The first names of a path, or of every path in its braces: `{a::b, c::{d, e}}` has `a` and `c`.
fn first_names(text: &str) -> Vec<(usize, String)> {
    let name_at = |at: usize| -> String {
        text[at..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    if !text.starts_with('{') {
        return vec![(0, name_at(0))];
    }
    let (mut names, mut depth, mut is_first) = (Vec::new(), 0, false);
    for (at, character) in text.char_indices() {
        match character {
            '{' => {
                depth += 1;
                is_first = depth == 1;
            }
            '}' if depth == 1 => break,
            '}' => depth -= 1,
            ',' => is_first = depth == 1,
            c if is_first && (c.is_alphanumeric() || c == '_') => {
                names.push((at, name_at(at)));
                is_first = false;
            }
            _ => {}
        }
    }
    names
}

/// Whether the code names an external crate: `name::`, or `use name;`, not as a part of a path.
fn names_crate(code: &str, name: &str) -> bool {
    code.match_indices(name).any(|(at, _)| {
        let (before, after) = (&code[..at], &code[at + name.len()..]);
        let stands_alone = !before.ends_with(|c: char| c.is_alphanumeric() || "_:.".contains(c));
        let is_imported = before.trim_end().ends_with("use");
        stands_alone && (after.starts_with("::") || (is_imported && after.starts_with([';', ' '])))
    })
}

fn has_word(code: &str, word: &str) -> bool {
    code.match_indices(word)
        .any(|(at, _)| !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// The most `super::` in a row.
fn supers(code: &str) -> usize {
    let mut most = 0;
    for (at, _) in code.match_indices("super::") {
        let mut rest = &code[at..];
        let mut count = 0;
        while let Some(next) = rest.strip_prefix("super::") {
            (rest, count) = (next, count + 1);
        }
        most = most.max(count);
    }
    most
}

/// What the doc of a room says that it may use: the last paragraph.
fn stated_use(text: &str) -> Option<String> {
    let doc: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("//!")).collect();
    let doc = doc.iter().map(|line| line.trim()).collect::<Vec<_>>().join("\n");
    let last = doc.rsplit("\n\n").next()?;
    let stated = last.strip_prefix("May use: ").or_else(|| {
        let (_, stated) = last.split_once("\nMay use: ")?;
        Some(stated)
    })?;
    Some(stated.split("Must not").next().unwrap_or(stated).to_owned())
}

// === the sources

/// All sources but those for tests only.
fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut all = Vec::new();
    collect(&root, &root, &mut all);
    let mut test_only = BTreeSet::new();
    for source in &all {
        let folder = source.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let own = source.path.strip_suffix(".rs").unwrap_or(&source.path);
        let mut after_cfg_test = false;
        for line in source.text.lines() {
            let name = line.strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';'));
            if let Some(name) = name.filter(|_| after_cfg_test) {
                test_only.insert(format!("{folder}/{name}.rs"));
                test_only.insert(format!("{folder}/{name}/"));
                test_only.insert(format!("{own}/{name}.rs"));
            }
            after_cfg_test = line.trim() == "#[cfg(test)]";
        }
    }
    all.retain(|source| {
        !test_only.iter().any(|path| {
            source.path == *path || (path.ends_with('/') && source.path.starts_with(path))
        })
    });
    all
}

fn collect(root: &Path, folder: &Path, all: &mut Vec<Source>) {
    let entries = std::fs::read_dir(folder).expect("the sources are there");
    for entry in entries {
        let path = entry.expect("the sources are there").path();
        if path.is_dir() {
            collect(root, &path, all);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).expect("a source is UTF-8");
            let path = path.strip_prefix(root).expect("it lies below");
            all.push(Source { path: path.display().to_string(), text });
        }
    }
}

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
fn each_rule_is_heard_where_it_is_broken() {
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
        (
            "admin/mod.rs",
            "use crate::proxy::Proxy;",
            "admin may know the base and violations, but uses proxy",
        ),
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
        ("enforce/mod.rs", "use pingora::Error;", "the crate 'pingora' is known in proxy/ only"),
        ("violations/sink.rs", "use rusqlite::Connection;", "known in violations/store/ only"),
        ("policy/server.rs", "fn f() { serde_yaml::from_str(x) }", "known in policy/yaml.rs only"),
        ("cli/serve.rs", "use axum;", "known in admin/ and cli/demo.rs only"),
        (
            "enforce/mod.rs",
            "let now = jiff::Timestamp::now();",
            "a clock is read in proxy, violations, cli only",
        ),
        ("proxy/mod.rs", "println!();", "nothing is printed outside cli"),
        ("robots/mod.rs", "use std::fs;", "robots does no input and no output"),
        ("policy/mod.rs", "pub async fn f() {}", "policy does no input and no output"),
        ("cli/mod.rs", "let x = y.unwrap();", "no unwrap outside tests"),
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
