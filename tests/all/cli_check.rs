//! `beadle check` on broken policies: it finds every fault, with its place and a repair.
//!
//! `tests/data/policies` has the policies and the whole output; `BEADLE_UPDATE=1` writes the
//! output.

use std::{
    fmt::Write as _,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::support::{
    need,
    origin::{After, Origin},
    program::PROGRAM,
    tls::issue,
};

const LINTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/lints");
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

#[test]
fn every_fault_of_meaning_is_shown_as_the_golden_file_says() {
    let mut found = String::new();
    for args in [&["policy.yaml"][..], &["ten-mistakes.yaml"], &["--robots-txt", "robots.txt"]] {
        let output = check(Path::new(LINTS), args);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        let line = format!("$ beadle check {}\n{}\n", args.join(" "), stdout(&output));
        found.push_str(&line);
    }
    compare(&Path::new(LINTS).join("expected.txt"), &found);
}

/// Compares an output with a golden file, or writes the file.
fn compare(golden: &Path, found: &str) {
    if std::env::var_os("BEADLE_UPDATE").is_some() {
        std::fs::write(golden, found).expect("the golden file can be written");
    }
    let expected = std::fs::read_to_string(golden).unwrap_or_default();
    for (number, (found, expected)) in found.lines().zip(expected.lines()).enumerate() {
        assert_eq!(found, expected, "line {} of {}", number + 1, golden.display());
    }
    assert_eq!(found.lines().count(), expected.lines().count(), "BEADLE_UPDATE=1 writes it anew");
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
    compare(&Path::new(POLICIES).join("expected.txt"), &found);
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
            // A place would show the line, and so the password in it.
            let is_secret =
                finding["message"].as_str().is_some_and(|text| text.contains("password"));
            if finding["severity"] != "note" && !is_secret {
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
fn many_rules_of_many_sites_fit_in_one_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut policy = "sites:\n".to_owned();
    for site in 0..4 {
        write!(
            policy,
            "  - hosts: [h{site}.example]\n    origin: http://127.0.0.1:3000\n    robots_txt:\n      \
             groups:\n        - user_agents: [\"*\"]\n          disallow:\n"
        )
        .expect("a String takes all");
        for rule in 0..4_000 {
            writeln!(
                policy,
                "            - /section-{rule}/page-{site}/{}",
                "with-a-long-name-".repeat(3)
            )
            .expect("a String takes all");
        }
    }
    assert!(policy.len() > 1 << 20);
    std::fs::write(folder.path().join("many.yaml"), policy).expect("it is writable");
    assert_eq!(findings(folder.path(), "many.yaml"), Vec::<Value>::new());
}

#[test]
fn p23_rules_are_loaded_up_to_the_limit_and_refused_beyond_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (count, code) in [(25_000, None), (35_000, Some("policy.robots_txt_too_large"))] {
        let rules: Vec<String> = (0..count).map(|number| format!("/{number}")).collect();
        let policy = format!(
            "sites:\n  - hosts: [a.example]\n    origin: http://127.0.0.1:3000\n    robots_txt: \
             {{ groups: [{{ user_agents: [\"*\"], disallow: [{}] }}] }}\n",
            rules.join(",")
        );
        std::fs::write(folder.path().join("rules.yaml"), policy).expect("it is writable");
        // Work that grows with the square of the rules would take minutes.
        let found = findings(folder.path(), "rules.yaml");
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

/// Runs the verb with a text on standard input.
fn check_text(text: &str, args: &[&str]) -> Output {
    let mut child = Command::new(PROGRAM)
        .arg("check")
        .args(args)
        .env_remove("BEADLE_CONFIG")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program can be started");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(text.as_bytes()).expect("the program reads it");
    drop(input);
    child.wait_with_output().expect("the program ends")
}

const MISTAKES: &str = "sites:
  - hosts: [www.example.com]
    origin: http://127.0.0.1:3000
    robots_txt:
      groups:
        - user_agents: [\"*\"]
          disallow:
            - /(a|b)/
";

#[test]
fn a_certificate_that_cannot_be_used_is_found_at_its_line() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["a", "b"] {
        issue(&["site.example"]).write(folder.path(), name);
    }
    std::fs::create_dir(folder.path().join("cert")).expect("a folder");
    let at = folder.path().display();
    for (certificate, key, line, severity, says) in [
        ("a.pem", "a.key", 0, "", ""),
        ("absent.pem", "a.key", 6, "warning", "absent.pem: No such file"),
        ("a.pem", "absent.key", 7, "warning", "absent.key: No such file"),
        ("none/a.pem", "none/a.key", 6, "note", "a.pem: No such file"),
        ("certs/a.pem", "certs/a.key", 6, "warning", "certs/a.pem: No such file"),
        ("a.key", "a.pem", 7, "error", "so the two names are swapped"),
        ("a.pem", "b.key", 7, "error", "the key is not of this certificate"),
    ] {
        let policy = format!(
            "server:\n  listen:\n    - 127.0.0.1:8080\n    - address: 127.0.0.1:8443\n      tls:\n        \
             certificate: {at}/{certificate}\n        key: {at}/{key}\n{}",
            MISTAKES.replace("(a|b)", "a")
        );
        let output = check_text(&policy, &["-", "--format", "json"]);
        let findings: Vec<Value> =
            stdout(&output).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        if says.is_empty() {
            assert_eq!((findings.as_slice(), output.status.code()), (&[][..], Some(0)));
            continue;
        }
        let [finding] = findings.as_slice() else { panic!("{certificate}, {key}: {findings:?}") };
        let found = (finding["line"].as_u64(), finding["severity"].as_str());
        assert_eq!(found, (Some(line), Some(severity)), "{finding}");
        assert!(finding["message"].as_str().is_some_and(|text| text.contains(says)), "{finding}");
        let exit = if severity == "note" { 0 } else { 1 };
        assert_eq!(
            (&finding["code"], output.status.code()),
            (&"policy.certificate".into(), Some(exit))
        );
    }
}

#[test]
fn standard_input_is_checked_like_a_file() {
    let output = check_text(MISTAKES, &["-"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        stdout(&output),
        "warning[policy.regex_pattern]: sites[0].robots_txt.groups[0].disallow[0]: '/(a|b)/' looks \
         like a regular expression; only '*' and a '$' at the end are special\n  --> -:8:15\n   |\n \
         8 |             - /(a|b)/\n   |               ^^^^^^^\n   = help: for a regular \
         expression, write an entry for each: \"/a/\", \"/b/\"\n\n-: 1 site, 1 warning\n"
    );
    assert!(output.stderr.is_empty());
    let fine = check_text(&MISTAKES.replace("(a|b)", "a"), &["-"]);
    assert_eq!((fine.status.code(), stdout(&fine)), (Some(0), "-: fine, 1 site\n"));
    let robots = check_text("User-agent: *\nDisallow: /(a|b)/\n", &["--robots-txt", "-"]);
    assert_eq!(robots.status.code(), Some(1));
    assert!(stdout(&robots).ends_with("-: 1 rule in 1 group, 1 warning\n"), "{}", stdout(&robots));
}

#[test]
fn findings_are_written_for_other_programs() {
    let annotations = check_text(MISTAKES, &["-", "--format", "github"]);
    assert_eq!(
        stdout(&annotations),
        "::warning file=-,line=8,col=15,title=policy.regex_pattern::sites[0].robots_txt.groups[0].\
         disallow[0]: '/(a|b)/' looks like a regular expression; only '*' and a '$' at the end are \
         special%0Ahelp: for a regular expression, write an entry for each: \"/a/\", \"/b/\"\n"
    );
    let sarif = check_text(MISTAKES, &["-", "--format", "sarif"]);
    assert_eq!(sarif.status.code(), Some(1));
    let log: Value = serde_json::from_str(stdout(&sarif)).expect("one document");
    assert_eq!((&log["version"], stdout(&sarif).lines().count()), (&"2.1.0".into(), 1));
    let rule = &log["runs"][0]["tool"]["driver"]["rules"][0];
    assert_eq!(rule["id"], "policy.regex_pattern");
    let meaning = rule["shortDescription"]["text"].as_str().unwrap_or_default();
    assert!(meaning.contains("regular expression"), "{meaning}");
    let region = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"];
    assert_eq!((&region["startLine"], &region["startColumn"]), (&8.into(), &15.into()));
    // Without findings there is still a document.
    let fine = check_text(&MISTAKES.replace("(a|b)", "a"), &["-", "--format", "sarif"]);
    let log: Value = serde_json::from_str(stdout(&fine)).expect("one document");
    assert_eq!(log["runs"][0]["results"], Value::Array(Vec::new()));
}

#[test]
fn a_comment_silences_a_warning_and_never_an_error() {
    let silenced = MISTAKES.replace("/(a|b)/", "/(a|b)/ # beadle: allow policy.regex_pattern");
    let output = check_text(&silenced, &["-"]);
    assert_eq!((output.status.code(), stdout(&output)), (Some(0), "-: fine, 1 site\n"));
    let robots = "# beadle: allow robots.regex_pattern\n\nUser-agent: *\nDisallow: /(a|b)/\n";
    assert_eq!(check_text(robots, &["--robots-txt", "-"]).status.code(), Some(0));
    for (text, code) in [
        (silenced.replace("regex_pattern", "regex_patern"), "lint.unknown_code"),
        (silenced.replace("/(a|b)/", "/a/"), "lint.unused_allow"),
        (silenced.replace("/(a|b)/", "^/a/"), "lint.refused_allow"),
    ] {
        let output = check_text(&text, &["-", "--format", "json"]);
        assert_eq!(output.status.code(), Some(1), "{text}");
        let codes = stdout(&output).lines().map(|line| {
            let finding: Value = serde_json::from_str(line).expect("an object");
            finding["code"].as_str().unwrap_or_default().to_owned()
        });
        assert!(codes.collect::<Vec<_>>().contains(&code.to_owned()), "{}", stdout(&output));
    }
}

#[test]
fn foreign_bytes_of_a_line_are_escaped() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = b"User-agent: *\nDisallow: /\x1b[2J\xff /x\n";
    std::fs::write(folder.path().join("robots.txt"), file).expect("it is writable");
    let output = check(folder.path(), &["--robots-txt", "robots.txt"]);
    let text = stdout(&output);
    assert!(text.contains(" 2 | Disallow: /\\x1b[2J\\xff /x\n   |           ^"), "{text}");
    assert!(!text.contains('\x1b'), "{text:?}");
}

#[test]
fn the_robots_txt_of_a_site_is_fetched() {
    let origin = Origin::answering(
        "HTTP/1.1 200 OK\r\nContent-Length: 26\r\n\r\nUser-agent: *\nDisallow: /a/b",
    );
    let site = format!("http://127.0.0.1:{}", origin.port);
    let output = check_text("", &["--robots-txt", &site]);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
    assert!(stdout(&output).contains(&format!("{site}: ")), "{}", stdout(&output));
    let missing = check_text("", &["--robots-txt", "http://127.0.0.1:9/robots.txt"]);
    assert_eq!(missing.status.code(), Some(2));
}

/// Ten mistakes of operators, each with the text of the repair that the message names.
#[test]
fn ten_mistakes_are_mended_by_the_messages_alone() {
    let broken =
        std::fs::read_to_string(Path::new(LINTS).join("ten-mistakes.yaml")).expect("UTF-8");
    let output = check_text(&broken, &["-", "--format", "json"]);
    let findings: Vec<Value> = stdout(&output)
        .lines()
        .map(|line| serde_json::from_str(line).expect("an object"))
        .collect();
    let mended = mend(&broken, &findings);
    let again = check_text(&mended, &["-", "--format", "json"]);
    let worse: Vec<&str> =
        stdout(&again).lines().filter(|line| !line.contains("\"severity\":\"note\"")).collect();
    assert!(worse.is_empty(), "{worse:#?}\n{mended}");
    assert_eq!(again.status.code(), Some(0));
    let faults: Vec<&Value> = findings.iter().filter(|one| one["severity"] != "note").collect();
    assert!(faults.len() >= 10, "{} mistakes", faults.len());
}

/// Applies the repair of each finding to its line, as its help says.
fn mend(text: &str, findings: &[Value]) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    // From the end, so that the columns of earlier findings stay.
    let mut faults: Vec<&Value> = findings.iter().filter(|one| one["severity"] != "note").collect();
    let number = |value: &Value| usize::try_from(value.as_u64().unwrap_or(0)).expect("small");
    faults.sort_by_key(|one| std::cmp::Reverse((number(&one["line"]), number(&one["column"]))));
    for fault in faults {
        let help = fault["help"].as_str().expect("each has a repair");
        let at = number(&fault["line"]) - 1;
        let quoted: Vec<&str> = help.split('"').skip(1).step_by(2).collect();
        let (before, word, after) = word(&lines[at], number(&fault["column"]) - 1);
        let is_block = before.trim() == "-";
        if is_block && help.contains("write an entry for each: ") {
            // A value in a block goes on in the lines below that are no entries.
            let is_rest = |line: &String| !line.trim().starts_with('-') && !line.contains(": ");
            while lines.get(at + 1).is_some_and(is_rest) {
                lines.remove(at + 1);
            }
            lines.splice(at..=at, quoted.iter().map(|one| format!("{before}\"{one}\"")));
            continue;
        }
        let new = if help.contains("write an entry for each: ") {
            match quoted.is_empty() {
                true => help.rsplit(": ").next().unwrap_or_default().to_owned(),
                false => {
                    quoted.iter().map(|one| format!("\"{one}\"")).collect::<Vec<_>>().join(", ")
                }
            }
        } else if help.contains("write \"") {
            format!("\"{}\"", quoted[0])
        } else if let Some(rest) = help.strip_prefix("write '") {
            rest.split('\'').next().unwrap_or_default().to_owned()
        } else if let Some(rest) = help.strip_prefix("add 'disallow: ") {
            // The keys of a group stand in one line here.
            let list = rest.split('\'').next().unwrap_or_default();
            lines[at] = lines[at].replacen(" }", &format!(", disallow: {list} }}"), 1);
            continue;
        } else if let Some(names) = help.strip_prefix("add to 'user_agents' of this group: ") {
            format!("{word}, {}", names.split(';').next().unwrap_or_default())
        } else if help.starts_with("remove") {
            // An entry of a list, or a whole rule.
            String::new()
        } else {
            panic!("a repair that no reader could follow: {help}");
        };
        lines[at] = format!("{before}{new}{after}")
            .replace("[, ", "[")
            .replace(", , ", ", ")
            .replace(", ]", "]");
    }
    lines.join("\n") + "\n"
}

/// A line cut around the word at a column.
fn word(line: &str, column: usize) -> (String, String, String) {
    let rest: String = line.chars().skip(column).collect();
    let end = match rest.chars().next() {
        Some(quote @ ('"' | '\'')) => rest[1..].find(quote).map_or(rest.len(), |end| end + 2),
        _ => rest.find([',', ']', '}']).unwrap_or(rest.len()),
    };
    (line.chars().take(column).collect(), rest[..end].to_owned(), rest[end..].to_owned())
}

#[test]
fn no_valid_file_of_the_suites_has_a_warning() {
    let Some(data) = std::env::var_os("BEADLE_DATA") else { return };
    let cases =
        std::fs::read_to_string(Path::new(&data).join("robots/cases.jsonl")).expect("UTF-8");
    let catalogue = beadle::rules::policy::built_in_catalogue();
    let mut checked = 0;
    for line in cases.lines() {
        let case: Value = serde_json::from_str(line).expect("an object");
        let Some(text) = case["robots_txt"].as_str().filter(|_| case["gate"] == true) else {
            continue;
        };
        let is_valid = beadle::formats::robots::parse(text.as_bytes()).1.is_empty();
        let found = beadle::advice::lint::robots_txt(text.as_bytes(), &catalogue);
        for finding in found.iter().filter(|one| is_valid || one.code.starts_with("lint.")) {
            assert_eq!(
                finding.severity,
                beadle::base::diagnostic::Severity::Note,
                "{finding}\n{text}"
            );
        }
        checked += usize::from(is_valid);
    }
    assert!(checked > 100, "{checked} valid files");
}

#[test]
fn ten_thousand_rules_are_checked_within_seconds() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let rules: Vec<String> = (0..10_000_u32)
        .map(|number| match number % 10 {
            0 => format!("\"/*?p{number}=\""),
            1 => format!("/a/{number}/*.html$"),
            _ => format!("/{}/{number}", number % 7),
        })
        .collect();
    let policy = format!(
        "sites:\n  - hosts: [a.example]\n    origin: http://127.0.0.1:3000\n    robots_txt: {{ groups: \
         [{{ user_agents: [\"*\"], disallow: [{}] }}, {{ user_agents: [GPTBot], crawl_delay: 5, \
         disallow: [{}] }}] }}\n",
        rules[..5_000].join(","),
        rules[5_000..].join(",")
    );
    std::fs::write(folder.path().join("rules.yaml"), policy).expect("it is writable");
    let started = Instant::now();
    let found = findings(folder.path(), "rules.yaml");
    // Work that grows with the square of the rules would take minutes, on any machine.
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    let codes: Vec<&str> = found.iter().filter_map(|one| one["code"].as_str()).collect();
    assert!(codes.contains(&"lint.dropped_rules"), "{codes:?}");
    assert!(!codes.contains(&"lint.not_compared"), "{codes:?}");
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

#[test]
fn rules_of_the_origin_that_a_policy_replaces_are_found_online() {
    let rules = b"User-agent: *\nDisallow: /a/\nAllow: /a/b\n\nUser-agent: GPTBot\nDisallow: /c/\n";
    let origin = Origin::playing(move |exchange| {
        exchange.answer("200 OK", &["Content-Type: text/plain"], rules);
        After::Close
    })
    .compared();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |comment: &str, source: &str, port: u16| {
        let text = format!(
            "sites:\n  - hosts: [a.example]{comment}\n    origin: http://127.0.0.1:{port}\n    \
             robots_txt:\n      source: {source}\n      groups:\n        \
             - {{ user_agents: [\"*\"], disallow: [/a/, /d/] }}\n"
        );
        std::fs::write(folder.path().join("beadle.yaml"), text).expect("it is writable");
    };
    let run = |args: &[&str]| {
        let output = check(folder.path(), args);
        (output.status.code(), stdout(&output).to_owned())
    };
    write("", "policy", origin.port);
    assert_eq!(run(&["beadle.yaml"]).0, Some(0));
    assert_eq!(origin.received().len(), 0, "nothing is fetched without the option");
    let (code, text) = run(&["--online", "beadle.yaml"]);
    assert_eq!(code, Some(1), "{text}");
    for part in [
        "warning[policy.replaces_origin]",
        "replaces 2 rules",
        "line 3 'Allow: /a/b' for *",
        "line 6 'Disallow: /c/' for GPTBot",
        "source: merge",
        "beadle.yaml:2:",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert_eq!(origin.last().header("host"), Some("a.example"));
    // A comment silences it, and is not idle without the option.
    write(" # beadle: allow policy.replaces_origin", "policy", origin.port);
    for args in [&["--online", "beadle.yaml"][..], &["beadle.yaml"]] {
        let (code, text) = run(args);
        assert_eq!(code, Some(0), "{args:?}: {text}");
    }
    write("", "merge", origin.port);
    assert_eq!(run(&["--online", "beadle.yaml"]).0, Some(0));
    // An origin that does not answer is a note.
    write("", "policy", Origin::absent());
    let (code, text) = run(&["--online", "beadle.yaml"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("note[policy.origin_not_compared]"), "{text}");
}
