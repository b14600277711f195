//! `beadle check` on broken policies: it finds every fault, with its place and a repair.
//!
//! `tests/data/policies` has the policies and the whole output; `BEADLE_UPDATE=1` writes the
//! output.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::support::{need, program::PROGRAM};

const POLICIES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/policies");

/// Runs the verb in `folder`, so that findings show file names without a path.
fn check(folder: &Path, args: &[&str]) -> Output {
    Command::new(PROGRAM)
        .arg("check")
        .args(args)
        .current_dir(folder)
        .env_remove("BEADLE_CONFIG")
        .output()
        .expect("the program can be started")
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).expect("findings are UTF-8")
}

/// The names of the broken policies, sorted.
fn policies() -> Vec<String> {
    let folder = std::fs::read_dir(POLICIES).expect("the folder is part of the project");
    let mut names: Vec<String> = folder
        .map(|entry| entry.expect("readable").file_name().into_string().expect("UTF-8"))
        .filter(|name| Path::new(name).extension().is_some_and(|ending| ending == "yaml"))
        .collect();
    names.sort();
    names
}

/// The findings of a policy, from the JSON lines.
fn findings(folder: &Path, name: &str) -> Vec<Value> {
    let output = check(folder, &["--format", "json", name]);
    let line = |line| serde_json::from_str(line).expect("each line is an object");
    stdout(&output).lines().map(line).collect()
}

#[test]
fn every_broken_policy_is_refused_as_the_golden_file_says() {
    let names = policies();
    assert!(names.len() >= 20, "{} policies", names.len());
    let mut found = String::new();
    for name in &names {
        let output = check(Path::new(POLICIES), &[name]);
        assert_eq!(output.status.code(), Some(1), "{name}");
        assert!(output.stderr.is_empty(), "{name}: findings go to standard output");
        write!(found, "$ beadle check {name}\n{}\n", stdout(&output)).expect("a String takes all");
    }
    let golden = Path::new(POLICIES).join("expected.txt");
    if std::env::var_os("BEADLE_UPDATE").is_some() {
        std::fs::write(&golden, &found).expect("the golden file can be written");
    }
    let expected = std::fs::read_to_string(&golden).unwrap_or_default();
    for (number, (found, expected)) in found.lines().zip(expected.lines()).enumerate() {
        assert_eq!(found, expected, "line {} of {}", number + 1, golden.display());
    }
    assert_eq!(found.lines().count(), expected.lines().count(), "BEADLE_UPDATE=1 writes it anew");
}

#[test]
fn every_finding_has_a_place_a_code_and_a_repair() {
    const KEYS: [&str; 7] = ["code", "severity", "message", "file", "line", "column", "help"];
    for name in policies() {
        let findings = findings(Path::new(POLICIES), &name);
        assert!(!findings.is_empty(), "{name}");
        for finding in findings {
            let keys: Vec<&str> =
                finding.as_object().expect("an object").keys().map(String::as_str).collect();
            assert_eq!(keys, KEYS, "{name}");
            assert_eq!(finding["file"], name.as_str());
            let code = finding["code"].as_str().expect("text");
            let is_code = |c: char| c.is_ascii_lowercase() || "._0123456789".contains(c);
            assert!(code.contains('.') && code.chars().all(is_code), "{name}: {code}");
            if finding["severity"] != "note" {
                assert!(finding["line"].as_u64().is_some_and(|n| n > 0), "{name}: {finding}");
                assert!(finding["column"].as_u64().is_some_and(|n| n > 0), "{name}: {finding}");
                let help = finding["help"].as_str().unwrap_or_default();
                assert!(!help.is_empty(), "{name}: {finding}");
            }
            for key in ["message", "help"] {
                let text = finding[key].as_str().unwrap_or_default();
                assert!(!text.ends_with('.'), "no full stop: {text}");
                assert!(!text.contains(['\n', '\r', '\0', '\x1b']), "one plain line: {text:?}");
            }
        }
    }
}

#[test]
fn a_place_points_at_the_fault() {
    for (name, code, at) in [
        ("03-unclosed-quote.yaml", "policy.not_yaml", "\"www"),
        ("05-unknown-key.yaml", "policy.unknown_key", "servers"),
        ("05-unknown-key.yaml", "policy.unknown_key", "dissallow"),
        ("06-duplicate-key.yaml", "policy.duplicate_key", "enforcement"),
        ("07-wrong-type.yaml", "policy.wrong_type", "four"),
        ("12-unknown-crawler.yaml", "policy.unknown_crawler", "Goolgebot"),
        ("14-path-without-slash.yaml", "policy.bad_value", "admin/"),
        ("17-duration.yaml", "policy.bad_value", "-1s"),
        ("20-duplicate-host.yaml", "policy.duplicate_host", "Example.COM."),
        ("22-bad-tag-rule.yaml", "policy.bad_tag_rule", "max-image-preview=huge"),
        ("23-unknown-set-or-purpose.yaml", "policy.unknown_set", "set:ia"),
        ("24-bad-block.yaml", "policy.bad_value", "200"),
        ("32-evidence-that-confirms-anybody.yaml", "crawlers.bad_suffix", "bots.other.example"),
        ("32-evidence-that-confirms-anybody.yaml", "crawlers.bad_suffix", ".other.example."),
        ("32-evidence-that-confirms-anybody.yaml", "crawlers.bad_suffix", "third"),
        ("32-evidence-that-confirms-anybody.yaml", "policy.shared_suffix", ".org"),
        ("36-origin.yaml", "policy.bad_value", "127.0.0.1:3000,"),
        ("36-origin.yaml", "policy.wrong_type", "maybe, decode_depth"),
        ("36-origin.yaml", "policy.bad_value", "9, colour"),
        ("36-origin.yaml", "policy.unknown_key", "colour"),
        ("36-origin.yaml", "policy.case", "/private/] }"),
        ("36-origin.yaml", "policy.case", "/private/"),
    ] {
        let text = std::fs::read_to_string(Path::new(POLICIES).join(name)).expect("UTF-8");
        let is_there = findings(Path::new(POLICIES), name).iter().any(|finding| {
            let number = |key: &str| {
                usize::try_from(finding[key].as_u64().unwrap_or(0)).expect("a small number")
            };
            let line = text.lines().nth(number("line").saturating_sub(1)).unwrap_or_default();
            let rest: String = line.chars().skip(number("column").saturating_sub(1)).collect();
            finding["code"] == code
                && rest.trim_start_matches(['"', '\'']).starts_with(at.trim_start_matches('"'))
        });
        assert!(is_there, "{name}: no finding {code} points at {at}");
    }
}

#[test]
fn rules_in_two_cases_are_one_note_that_counts_the_others() {
    let findings = findings(Path::new(POLICIES), "36-origin.yaml");
    let notes: Vec<&str> = findings
        .iter()
        .filter(|finding| finding["code"] == "policy.case")
        .filter_map(|finding| finding["message"].as_str())
        .collect();
    let [one, several] = notes[..] else { panic!("{notes:?}") };
    assert!(one.contains("'/Private/' and '/private/': paths"), "{one}");
    assert!(several.contains("'/Private/' and '/private/', and 2 more pairs: paths"), "{several}");
}

#[test]
fn exit_codes_distinguish_fine_findings_and_could_not_run() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, bytes: &[u8]| {
        std::fs::write(folder.path().join(name), bytes).expect("it is writable");
    };
    let policy = "sites:\n  - hosts: [www.example.com]\n    origin: http://127.0.0.1:3000\n    \
                  robots_txt:\n      groups:\n        - user_agents: [\"*\"]\n          \
                  disallow: [/private/]\n";
    write("fine.yaml", policy.as_bytes());
    write("crlf.yaml", policy.replace('\n', "\r\n").as_bytes());
    write("bom.yaml", format!("\u{feff}{policy}").as_bytes());
    write("note.yaml", policy.replace("/private/", "/pr\u{ef}vate/").as_bytes());
    write("warning.yaml", policy.replace("/private/", "/a$b").as_bytes());
    write("error.yaml", policy.replace("hosts", "host").as_bytes());
    write("beadle.yaml", policy.as_bytes());
    for (args, code) in [
        (&["fine.yaml"][..], 0),
        (&["--config", "fine.yaml"], 0),
        (&["crlf.yaml"], 0),
        (&["bom.yaml"], 0),
        (&["note.yaml"], 0),
        (&["warning.yaml"], 1),
        (&["error.yaml"], 1),
        (&["missing.yaml"], 2),
        (&["."], 2),
        (&["--nonsense"], 2),
    ] {
        let output = check(folder.path(), args);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {}{text}", stdout(&output));
        assert_eq!(output.stderr.is_empty(), code != 2, "{args:?}: {text}");
    }
}

#[test]
fn p11_a_misspelt_crawler_is_a_warning_if_the_policy_is_not_strict() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = Path::new(POLICIES).join("12-unknown-crawler.yaml");
    let strict = std::fs::read_to_string(file).expect("UTF-8");
    for (text, severity) in
        [(strict.clone(), "error"), (format!("strict: false\n{strict}"), "warning")]
    {
        std::fs::write(folder.path().join("names.yaml"), text).expect("it is writable");
        let findings = findings(folder.path(), "names.yaml");
        let names = findings.iter().filter(|finding| finding["code"] == "policy.unknown_crawler");
        let names: Vec<&Value> = names.collect();
        assert_eq!(names.len(), 3, "{findings:?}");
        for finding in names {
            assert_eq!(finding["severity"], severity, "{finding}");
            let help = finding["help"].as_str().unwrap_or_default();
            assert!(help.starts_with("did you mean '"), "{finding}");
        }
    }
}

#[test]
fn p23_rules_are_loaded_up_to_the_limit_and_refused_beyond_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (count, code) in [(25_000, None), (100_000, Some("policy.robots_txt_too_large"))] {
        let rules: Vec<String> = (0..count).map(|number| format!("/{number}")).collect();
        let policy = format!(
            "sites:\n  - hosts: [a.example]\n    origin: http://127.0.0.1:3000\n    robots_txt: \
             {{ groups: [{{ user_agents: [\"*\"], disallow: [{}] }}] }}\n",
            rules.join(",")
        );
        std::fs::write(folder.path().join("rules.yaml"), policy).expect("it is writable");
        let started = Instant::now();
        let found = findings(folder.path(), "rules.yaml");
        // Work that grows with the square of the rules would take minutes, on any machine.
        assert!(started.elapsed() < Duration::from_secs(30), "{count}: {:?}", started.elapsed());
        let errors = found.iter().filter(|finding| finding["severity"] == "error");
        let codes: Vec<&str> = errors.filter_map(|finding| finding["code"].as_str()).collect();
        assert_eq!(codes, Vec::from_iter(code), "{count} rules");
    }
}

#[test]
fn a_policy_that_is_too_large_is_refused_before_it_is_read() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = std::fs::File::create(folder.path().join("large.yaml")).expect("it is writable");
    file.set_len(100 << 20).expect("a file may have holes");
    let started = Instant::now();
    let found = findings(folder.path(), "large.yaml");
    assert_eq!(found[0]["code"], "policy.too_large");
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn rfc9309_2_5_a_robots_txt_over_500_kib_is_an_error() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut policy = "sites:\n  - hosts: [a.example]\n    origin: http://127.0.0.1:3000\n    \
                      robots_txt:\n      groups:\n        - user_agents: [\"*\"]\n          \
                      disallow:\n"
        .to_owned();
    for number in 0..15_000 {
        writeln!(policy, "            - /a/path/of/some/length/{number}/")
            .expect("a String takes all");
    }
    std::fs::write(folder.path().join("long.yaml"), policy).expect("it is writable");
    let found = findings(folder.path(), "long.yaml");
    assert!(found.iter().any(|one| one["code"] == "policy.robots_txt_too_large"), "{found:?}");
}

#[test]
fn hostile_files_are_refused_within_seconds() {
    for name in ["08-billion-laughs.yaml", "09-deep-nesting.yaml"] {
        let started = Instant::now();
        let found = findings(Path::new(POLICIES), name);
        assert_eq!(found[0]["code"], "policy.too_complex", "{name}");
        assert!(started.elapsed() < Duration::from_secs(5), "{name}: {:?}", started.elapsed());
    }
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let script = "\"$0\" check 22-bad-tag-rule.yaml | head -1; exit \"${PIPESTATUS[0]}\"";
    let Some(bash) = need("bash") else { return };
    let output = Command::new(bash)
        .args(["-c", script, PROGRAM])
        .current_dir(PathBuf::from(POLICIES))
        .output()
        .expect("bash can be started");
    assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}
