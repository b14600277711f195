//! What the probe finds at each origin, and that a step that it leaves out makes no page there.

use std::process::Command;

use beadle::formats::robots::{Reading, Steps, Target};
use serde_json::Value;

use super::house::{House, PAGE, Shows};
use crate::support::{
    conditions::is_full_size,
    hostile,
    origin_models::path_of,
    program::{PROGRAM, json_lines},
    shown,
};

const SEED: u64 = 20_261_124;

/// The origins in the table of `docs/src/judging.md`, each with its page.
const ROWS: [(&str, &str, &str); 15] = [
    ("nginx, files", "nginx", PAGE),
    ("nginx, `location ~*` with `$` at the end", "nginx location ~* of a page", PAGE),
    ("Apache, files", "apache", PAGE),
    ("Apache with MultiViews, files", "apache MultiViews", PAGE),
    ("Apache with MultiViews, a name without `.html`", "apache MultiViews", "/private/secret"),
    ("`php -S`, files", "php files", PAGE),
    ("PHP, a route by `parse_url`", "php parse_url of a page", PAGE),
    ("Flask, a route", "flask", PAGE),
    ("Starlette, files", "starlette files", PAGE),
    ("Express, files", "express files", PAGE),
    ("Express, a route", "express routes", PAGE),
    ("Node, `new URL`, files", "node new URL", PAGE),
    ("Jetty, files", "jetty files", PAGE),
    ("Go, files", "go files", PAGE),
    ("Python, `http.server`", "http.server", PAGE),
];
/// What the columns of the table are about.
const COLUMNS: [(&str, &str); 10] = [
    ("merge", "merge_slashes"),
    ("`//host`", "drop_authority"),
    ("`%2F`", "decode_slash"),
    ("`%5C`", "decode_backslash"),
    ("`%u`", "decode_unicode"),
    ("`;x`", "drop_parameters"),
    ("`?` at the end", "drop_empty_query"),
    ("`/` at the end", "trim_slashes"),
    ("`.` at the end", "trim_dots"),
    ("case", "case_insensitive"),
];

/// The steps that an origin takes, and those that are left out, as the finding says.
fn steps_of(finding: &Value) -> (Vec<&str>, Vec<&str>) {
    let message = finding["message"].as_str().expect("text");
    let (taken, left_out) = message.split_once("it does not take ").unwrap_or((message, ""));
    let taken = taken.split_once(" takes ").unwrap_or_default().1.split(';').next();
    (taken.unwrap_or_default().split(", ").collect(), left_out.split(", ").collect())
}

/// A row of the table, by a finding.
fn row(title: &str, finding: &Value) -> String {
    assert_eq!(finding["code"], "probe.found", "{title}: {finding}");
    let (taken, left_out) = steps_of(finding);
    let cell = |(_, step): (&str, &str)| match (taken.contains(&step), left_out.contains(&step)) {
        (true, _) => " yes |",
        (_, true) => " – |",
        // Case is no step: it counts only where an origin ignores it.
        _ if step == "case_insensitive" => " – |",
        _ => " unclear |",
    };
    format!("| {title} |{}", COLUMNS.map(cell).concat())
}

/// The table of the docs is what the probe finds at the origins that are installed.
#[test]
fn the_table_of_the_docs_is_what_the_probe_finds() {
    let house = House::shared();
    let here: Vec<(&str, u16, &str)> = ROWS
        .into_iter()
        .filter_map(|(title, origin, page)| {
            let (_, port) = house.ports().find(|(name, _)| *name == origin)?;
            Some((title, port, page))
        })
        .collect();
    let findings = ask(here.iter().map(|(_, port, page)| (*port, *page)));
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/src/judging.md");
    let docs = std::fs::read_to_string(docs).expect("the page is there");
    let table: Vec<&str> =
        docs.lines().skip_while(|line| !line.starts_with("| origin | merge |")).collect();
    let table: Vec<&str> = table.into_iter().take_while(|line| line.starts_with('|')).collect();
    let columns = COLUMNS.map(|(title, _)| format!(" {title} |")).concat();
    let found: Vec<String> =
        [format!("| origin |{columns}"), format!("|{}", "---|".repeat(COLUMNS.len() + 1))]
            .into_iter()
            .chain(here.iter().zip(&findings).map(|((title, ..), finding)| row(title, finding)))
            .collect();
    let is_here = |line: &&&str| {
        let is_row = |title: &str| line.starts_with(&format!("| {title} |"));
        !ROWS.iter().any(|(title, ..)| is_row(title)) || here.iter().any(|one| is_row(one.0))
    };
    let expected: Vec<&str> = table.iter().filter(is_here).copied().collect();
    assert_eq!(expected, found, "the table would be:\n{}", found.join("\n"));
}

/// Asks origins for a page by `beadle check`. The findings, in their order.
fn ask<'a>(pages: impl Iterator<Item = (u16, &'a str)>) -> Vec<Value> {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let file = folder.path().join("beadle.yaml");
    let site = |(number, (port, page)): (usize, (u16, &str))| {
        format!(
            "  - hosts: [o{number}.example]\n    \
             origin: {{ url: 'http://127.0.0.1:{port}', probe_path: {page} }}\n    \
             robots_txt: {{ groups: [{{ user_agents: ['*'], disallow: [/x/] }}] }}\n"
        )
    };
    let sites: Vec<String> = pages.enumerate().map(site).collect();
    let policy = format!("sites:\n{}", sites.concat());
    std::fs::write(&file, policy).expect("ours to write");
    let mut check = Command::new(PROGRAM);
    let output =
        check.args(["check", "--online", "--probe", "--format", "json"]).arg(file).output();
    let findings = json_lines(&output.expect("the program can be started"));
    let is_of_probe =
        |one: &Value| one["code"].as_str().is_some_and(|code| code.starts_with("probe."));
    let findings: Vec<Value> = findings.into_iter().filter(is_of_probe).collect();
    assert_eq!(findings.len(), sites.len(), "{findings:?}");
    findings
}

#[test]
fn a_step_that_the_probe_leaves_out_makes_no_page() {
    let house = House::shared();
    let findings = ask(house.origins.iter().map(|origin| (origin.port, PAGE)));
    let (mut narrowed, mut wrong) = (0, Vec::new());
    for (origin, finding) in house.origins.iter().zip(&findings) {
        let (name, left_out) = (origin.model.name, steps_of(finding).1);
        let named = Steps::NAMED.into_iter().filter(|(name, _)| left_out.contains(name));
        let steps = named.fold(Steps::ALL, |steps, (_, one)| steps.without(one));
        if steps == Steps::ALL || matches!(origin.shows, Shows::Routes) {
            continue;
        }
        narrowed += 1;
        let reading = Reading {
            steps,
            decode_depth: origin.model.decode_depth,
            case_insensitive: origin.model.is_case_insensitive,
        };
        let mut choose = hostile::choices(SEED);
        for _ in 0..if is_full_size() { 200_000 } else { 4_000 } {
            let inner = hostile::target(&mut choose);
            let target = [b"/private/", inner.strip_prefix(b"/").unwrap_or(&inner)].concat();
            let found = Target::read_by(&target, reading);
            let usual = Target::read_by(&target, Reading { steps: Steps::ALL, ..reading });
            if found.is_cut()
                || usual.is_cut()
                || !beadle::formats::robots::stays_in(&target, "/private/")
            {
                continue;
            }
            let Some(resolved) = (origin.model.resolve)(&target) else { continue };
            let page = house.file(&path_of(&resolved)).filter(|_| origin.shows == Shows::Files);
            let Some(page) = page.filter(|page| page.is_ascii()) else { continue };
            let is_page = |form: &[u8]| form.split(|octet| *octet == b'?').next() == Some(&page);
            let names = |target: &Target<'_>| {
                is_page(target.letter()) || target.evasions().iter().any(|form| is_page(form))
            };
            // Some names have another spelling in every form.
            if names(&usual) && !names(&found) {
                wrong.push(format!("{name}: {} is {}", shown(&target), shown(&page)));
                break;
            }
        }
    }
    assert!(narrowed > 0, "no origin is narrowed: {findings:?}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}
