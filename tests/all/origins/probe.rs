//! What the probe finds at each origin, and that a step that it leaves out makes no page there.

use std::process::Command;

use beadle::robots::{Reading, Steps, Target};
use serde_json::Value;

use super::house::{House, Shows};
use crate::support::{
    conditions::is_full_size,
    hostile,
    origin_models::path_of,
    program::{PROGRAM, json_lines},
    shown,
};

const SEED: u64 = 20_261_124;
const PAGE: &str = "/private/secret.html";

/// The steps that the probe leaves out below `/private/`, of those that can be asked there.
const LEFT_OUT: [(&str, &str); 9] = [
    (
        "nginx",
        "drop_authority, decode_backslash, decode_unicode, drop_parameters, trim_slashes, trim_dots",
    ),
    (
        "apache",
        "drop_authority, decode_slash, decode_backslash, decode_unicode, drop_parameters, trim_slashes, \
         trim_dots",
    ),
    ("php files", "drop_authority, decode_backslash, decode_unicode, drop_parameters, trim_dots"),
    ("http.server", "drop_authority, decode_backslash, decode_unicode, drop_parameters, trim_dots"),
    (
        "starlette files",
        "drop_authority, decode_backslash, decode_unicode, drop_parameters, trim_dots",
    ),
    (
        "express files",
        "drop_authority, decode_backslash, decode_unicode, drop_parameters, trim_dots",
    ),
    ("node new URL", "decode_backslash, decode_unicode, drop_parameters, trim_dots"),
    ("go files", "drop_authority, decode_backslash, decode_unicode, drop_parameters, trim_dots"),
    ("jetty files", "merge_slashes, drop_authority, decode_backslash, trim_dots"),
];

/// Asks every origin by `beadle check`. The findings, in the order of the origins.
fn ask(house: &House) -> Vec<Value> {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let file = folder.path().join("beadle.yaml");
    let site = |(number, port): (usize, u16)| {
        format!(
            "  - hosts: [o{number}.example]\n    \
             origin: {{ url: 'http://127.0.0.1:{port}', probe_path: {PAGE} }}\n    \
             robots_txt: {{ groups: [{{ user_agents: ['*'], disallow: [/x/] }}] }}\n"
        )
    };
    let ports = house.origins.iter().map(|origin| origin.port).enumerate();
    let policy = format!("sites:\n{}", ports.map(site).collect::<String>());
    std::fs::write(&file, policy).expect("ours to write");
    let mut check = Command::new(PROGRAM);
    let output =
        check.args(["check", "--online", "--probe", "--format", "json"]).arg(file).output();
    let findings = json_lines(&output.expect("the program can be started"));
    let is_of_probe =
        |one: &Value| one["code"].as_str().is_some_and(|code| code.starts_with("probe."));
    let findings: Vec<Value> = findings.into_iter().filter(is_of_probe).collect();
    assert_eq!(findings.len(), house.origins.len(), "{findings:?}");
    findings
}

#[test]
fn a_step_that_the_probe_leaves_out_makes_no_page() {
    let house = House::shared();
    let findings = ask(&house);
    let (mut narrowed, mut wrong) = (0, Vec::new());
    for (origin, finding) in house.origins.iter().zip(&findings) {
        let (name, message) = (origin.model.name, finding["message"].as_str().expect("text"));
        let left_out = message.split("it does not take ").nth(1).unwrap_or_default();
        let expected = LEFT_OUT.iter().find(|(one, _)| *one == name);
        if expected.is_some_and(|(_, expected)| left_out != *expected) {
            wrong.push(format!("{name}: {message}"));
        }
        let named = Steps::NAMED
            .into_iter()
            .filter(|(name, _)| left_out.split(", ").any(|one| one == *name));
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
        for _ in 0..if is_full_size() { 200_000 } else { 20_000 } {
            let inner = hostile::target(&mut choose);
            let target = [b"/private/", inner.strip_prefix(b"/").unwrap_or(&inner)].concat();
            let found = Target::read_by(&target, reading);
            let usual = Target::read_by(&target, Reading { steps: Steps::ALL, ..reading });
            if found.is_cut() || usual.is_cut() || !beadle::robots::stays_in(&target, "/private/") {
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
