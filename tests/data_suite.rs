//! Conformance: public test suites and lists, run through the real program.
//!
//! The data is no part of the project: `BEADLE_DATA` names its folder. Without it the tests are
//! skipped, which standard error says, and under `CI` they fail.

#![allow(clippy::panic, clippy::print_stdout, reason = "a test says so when it fails")]

mod support;

use std::{collections::BTreeMap, process::Command};

use beadle::{
    base::{diagnostic::Diagnostic, product_token::ProductToken},
    formats::{
        robots::{self, ReadOptions, RobotsTxt, Target},
        signature::{
            self, DirectoryResponse, KeySet, Limits, Message, Reason, Scheme, Signatures,
            Verification,
        },
    },
};
use serde_json::Value;
use support::{
    client::Request,
    conditions::need_data,
    origin::Origin,
    program::{PROGRAM, Setup, json_lines, run_with_input},
};

/// The rows of a data file; `None` without the data.
fn rows(file: &str) -> Option<Vec<Value>> {
    let text = content(file)?;
    Some(text.lines().map(|line| serde_json::from_str(line).expect("a row is JSON")).collect())
}

/// The text of a data file; `None` without the data.
fn content(file: &str) -> Option<String> {
    let file = need_data(file)?;
    Some(
        std::fs::read_to_string(&file)
            .unwrap_or_else(|error| panic!("{}: {error}", file.display())),
    )
}

fn text<'r>(row: &'r Value, key: &str) -> &'r str {
    row[key].as_str().unwrap_or_default()
}

fn texts(value: &Value) -> Vec<String> {
    let list = value.as_array().map_or(&[][..], Vec::as_slice);
    list.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn lower(list: &[String]) -> Vec<String> {
    list.iter().map(|text| text.to_ascii_lowercase()).collect()
}

/// Prints the share of passed rows; fails with the others if it is too low.
fn assert_share(what: &str, total: usize, failures: &[String], least_percent: f64) {
    let passed = total - failures.len();
    let percent = 100.0 * passed as f64 / total.max(1) as f64;
    let shown: Vec<&str> = failures.iter().take(20).map(String::as_str).collect();
    println!("{what}: {passed} of {total}, {percent:.2}%");
    println!("{}", shown.join("\n"));
    assert!(total > 0, "{what}: no rows");
    assert!(
        percent >= least_percent,
        "{what}: {percent:.2}% of {total}, not {least_percent} %\n{}",
        shown.join("\n")
    );
}

// === robots.txt

#[test]
fn every_case_of_the_public_suites_is_judged_as_rfc_9309_says() {
    let Some(rows) = rows("robots/cases.jsonl") else { return };
    let gate: Vec<&Value> = rows.iter().filter(|row| row["gate"] == true).collect();
    assert_judged("robots cases", &gate, &[], |row| row["allowed"] == true);
}

#[test]
fn the_lenient_reading_matches_googles() {
    let Some(rows) = rows("robots/cases.jsonl") else { return };
    // Most rows have no verdict of Google, because it agrees with the RFC.
    let clear = |row: &&Value| row["gate"] == true || row["google_allowed"].is_boolean();
    let clear: Vec<&Value> = rows.iter().filter(clear).collect();
    assert_judged("robots cases, lenient", &clear, &["--lenient"], |row| {
        row["google_allowed"].as_bool().or_else(|| row["allowed"].as_bool()) == Some(true)
    });
}

fn assert_judged(what: &str, rows: &[&Value], args: &[&str], allowed: impl Fn(&Value) -> bool) {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    // One run for each file and crawler.
    let mut batches: BTreeMap<(Vec<u8>, &str), Vec<&Value>> = BTreeMap::new();
    for row in rows {
        batches.entry((robots_txt(row), text(row, "product_token"))).or_default().push(row);
    }
    let mut failures = Vec::new();
    for ((file, token), cases) in batches {
        let targets: Vec<&str> = cases.iter().map(|case| text(case, "target")).collect();
        let answers = explain(&folder, &file, token, args, &targets);
        for (case, answer) in cases.iter().zip(answers) {
            let expected = if allowed(case) { "allow" } else { "disallow" };
            if answer["verdict"] != expected {
                failures.push(format!("{}: {expected} expected, {answer}", text(case, "id")));
            }
        }
    }
    assert_share(what, rows.len(), &failures, 100.0);
}

#[test]
fn files_and_urls_are_parsed_as_the_public_parsers_do() {
    let Some(rows) = rows("robots/parse_cases.jsonl") else { return };
    // The URL of a robots.txt and the meaning of its status concern clients that fetch it.
    let is_for_fetching = |row: &&Value| matches!(text(row, "kind"), "robots_url" | "fetch_status");
    let cases: Vec<&Value> = rows.iter().filter(|row| !is_for_fetching(row)).collect();
    let mut failures = Vec::new();
    for case in &cases {
        let input = text(case, "input");
        // Google takes `//a` for a host; in a request it begins the path.
        let expected = if input == "//a/b/c" { &Value::from(input) } else { &case["expect"] };
        let found = parsed(text(case, "kind"), input, expected);
        if found != *expected {
            failures.push(format!("{}: {expected} expected, found {found}", text(case, "id")));
        }
    }
    assert_share("parse cases", cases.len(), &failures, 100.0);
}

/// Beadle's lenient reading of the input of a parse case, in the form of `expected`.
fn parsed(kind: &str, input: &str, expected: &Value) -> Value {
    let ascii = |bytes: &[u8]| Value::from(String::from_utf8_lossy(bytes));
    let read = |bytes: &[u8]| robots::parse_with(bytes, ReadOptions { lenient: true });
    let named = |text: &str| {
        let (file, _) = read(text.as_bytes());
        let name = |group: &robots::Group| Some(group.user_agents.first()?.name.clone());
        file.groups.first().and_then(name)
    };
    match kind {
        "path_of_url" => ascii(Target::of_url(input.as_bytes()).letter()),
        // Rules and targets share one normal form, visible at the target.
        "escape_pattern" => ascii(&Target::new(format!("/{input}").as_bytes()).letter()[1..]),
        "valid_product_token" => {
            let token = ProductToken::new(input).filter(|token| token.as_str() == input);
            token.is_some_and(|token| token.is_rfc9309()).into()
        }
        "extract_token" => named(&format!("user-agent: {input}")).into(),
        "key_value" => named(input).map(|name| vec!["User-agent".to_owned(), name]).into(),
        "directive_count" | "line_report" => counted(expected, &read(input.as_bytes())),
        "directive_count_hex" => counted(expected, &read(&hex(input))),
        "sitemaps" => {
            let (file, _) = read(input.as_bytes());
            let sitemaps = file.records.iter().filter(|record| is_sitemap(record));
            sitemaps.map(|record| record.value.clone()).collect::<Vec<_>>().into()
        }
        other => panic!("no test for the kind {other}"),
    }
}

/// The counts that a case expects. Google also counts rules outside of groups, and the empty line
/// after the last line end.
fn counted(expected: &Value, (file, findings): &(RobotsTxt, Vec<Diagnostic>)) -> Value {
    let groups = || file.groups.iter();
    let records = || file.records.iter().chain(groups().flat_map(|group| &group.records));
    let sitemaps = records().filter(|record| is_sitemap(record)).count();
    let homeless = findings.iter().filter(|finding| finding.code == "robots.no_group").count();
    let inside: usize = groups().map(|group| group.user_agents.len() + group.rules.len()).sum();
    let last_line = groups().flat_map(|group| &group.rules).map(|rule| rule.line).max();
    let counts = expected.as_object().expect("counts by name").keys().map(|name| {
        let count = match name.as_str() {
            "valid_directives" => (inside + homeless + sitemaps).into(),
            "unknown_directives" => (records().count() - sitemaps).into(),
            "last_directive_line" => last_line.into(),
            "last_line" => records().map(|record| record.line + 1).max().into(),
            other => panic!("no count is called {other}"),
        };
        (name.clone(), count)
    });
    Value::Object(counts.collect())
}

fn is_sitemap(record: &robots::Record) -> bool {
    ["sitemap", "site-map"].contains(&record.name.to_ascii_lowercase().as_str())
}

fn hex(text: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("it is hex");
    (0..text.len()).step_by(2).map(digit).collect()
}

fn robots_txt(row: &Value) -> Vec<u8> {
    match row["robots_txt"].as_str() {
        Some(text) => text.as_bytes().to_vec(),
        None => base64(text(row, "robots_txt_base64")),
    }
}

fn base64(text: &str) -> Vec<u8> {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0_u32, 0);
    for character in text.bytes() {
        let Some(value) = ALPHABET.iter().position(|&b| b == character) else { continue };
        bits = bits << 6 | value as u32;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held & 0xff) as u8);
        }
    }
    bytes
}

/// The rows of `explain --robots-txt` for each target.
fn explain(
    folder: &tempfile::TempDir,
    file: &[u8],
    token: &str,
    args: &[&str],
    targets: &[&str],
) -> Vec<Value> {
    let path = folder.path().join("robots.txt");
    std::fs::write(&path, file).expect("the folder is ours");
    let output = Command::new(PROGRAM)
        .args(["explain", "--format", "json", "--robots-txt"])
        .arg(path)
        .args(args)
        .args(["--product-token", token, "--"])
        .args(targets)
        .output()
        .expect("the program can be started");
    let answers = json_lines(&output);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(answers.len(), targets.len(), "{token}: {stderr}");
    answers
}

// === crawlers

/// The rows of `crawlers identify` for each User-Agent.
fn identify(user_agents: &[Vec<u8>]) -> Vec<Value> {
    let mut input = user_agents.join(&b"\n"[..]);
    input.push(b'\n');
    let output = run_with_input(&["crawlers", "identify", "--format", "json"], &input);
    let answers = json_lines(&output);
    assert_eq!(answers.len(), user_agents.len(), "{}", String::from_utf8_lossy(&output.stderr));
    answers
}

#[test]
fn nearly_every_known_user_agent_is_identified_and_browsers_stay_browsers() {
    let Some(folder) = need_data("crawlers") else { return };
    let output = Command::new(PROGRAM)
        .args(["crawlers", "evaluate", "--format", "json"])
        .args(["user_agents.jsonl", "browsers.jsonl"].map(|file| folder.join(file)))
        .output()
        .expect("the program can be started");
    let rows = json_lines(&output);
    let (totals, confusions) = rows.split_first().expect("the totals");
    let count = |key: &str| totals[key].as_f64().expect("a number");
    let percent = |part: &str, all: &str| 100.0 * count(part) / count(all).max(1.0);
    let confusions: Vec<String> = confusions.iter().map(Value::to_string).collect();
    println!("{totals}\n{}", confusions.join("\n"));
    assert!(count("user_agents") > 0.0 && count("browsers") > 0.0);
    assert!(percent("first", "user_agents") >= 99.3, "{totals}");
    assert!(percent("exact", "user_agents") >= 97.5, "{totals}");
    assert_eq!(totals["browsers_with_token"], 0, "{totals}");
}

#[test]
fn the_hard_cases_are_identified() {
    let Some(rows) = rows("crawlers/hard_cases.jsonl") else { return };
    let user_agents: Vec<Vec<u8>> = rows.iter().map(user_agent).collect();
    let mut failures = Vec::new();
    for (row, answer) in rows.iter().zip(identify(&user_agents)) {
        let expected = lower(&texts(&row["expect_tokens"]));
        if lower(&texts(&answer["product_tokens"])) != expected {
            let short: String = answer.to_string().chars().take(400).collect();
            failures.push(format!(
                "{}: {expected:?} expected ({}), {short}",
                row["id"],
                text(row, "why")
            ));
        }
    }
    assert_share("hard cases", rows.len(), &failures, 100.0);
}

fn user_agent(row: &Value) -> Vec<u8> {
    if let Some(hex) = row["ua_hex"].as_str() {
        return self::hex(hex);
    }
    let Some(made) = row.get("ua_gen") else { return text(row, "ua").as_bytes().to_vec() };
    let count = made["count"].as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
    let repeated = text(made, "repeat").repeat(count);
    [text(made, "prefix"), &repeated, text(made, "suffix")].concat().into_bytes()
}

#[test]
fn a_crawler_without_a_group_of_its_own_falls_back_as_its_operator_documents() {
    let Some(rows) = rows("crawlers/fallback.jsonl") else { return };
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let mut failures = Vec::new();
    for row in &rows {
        let token = text(row, "product_token");
        let order = texts(&row["group_order"]);
        let star = row["falls_back_to_star"] == true;
        // The first name of the chain that has a group counts, `*` last.
        for start in 0..=order.len() {
            let named = order[start..].iter().map(String::as_str).chain(["*"]);
            let file: String =
                named.map(|name| format!("User-agent: {name}\nDisallow: /{start}\n\n")).collect();
            let found =
                lower(&texts(&explain(&folder, file.as_bytes(), token, &[], &["/"])[0]["group"]));
            let expected = match order.get(start) {
                Some(name) => vec![name.to_ascii_lowercase()],
                None if star => vec!["*".to_owned()],
                None => Vec::new(),
            };
            if found != expected {
                failures.push(format!("{token}: {expected:?} expected, found {found:?}"));
                break;
            }
        }
    }
    assert_share("fallback chains", rows.len(), &failures, 100.0);
}

// === signatures

/// All vectors are signed with the public test keys of RFC 9421, some for a hundred years.
const OF_VECTORS: Limits = Limits { skew: 60, lifetime: i64::MAX, test_keys: true };

#[test]
fn signed_requests_are_judged_as_the_draft_says() {
    let Some(file) = content("crawlers/web_bot_auth.json") else { return };
    let file: Value = serde_json::from_str(&file).expect("the file is JSON");
    let vectors = file["vectors"].as_array().expect("there are vectors");
    let mut failures = Vec::new();
    for vector in vectors {
        let name = text(vector, "name");
        let (mut outcome, base) = judged(vector, &OF_VECTORS);
        let mut expected = text(&vector["expected"], "outcome").to_owned();
        match expected.as_str() {
            "verified" => {}
            // By default Beadle refuses test keys.
            "reject-in-production" => {
                outcome = judged(vector, &Limits { lifetime: i64::MAX, ..Limits::default() }).0;
                expected = format!("invalid {}", Reason::TestKey.as_str());
            }
            // Without the tag the signature may have another purpose.
            "unsigned-or-invalid" => "unsigned".clone_into(&mut expected),
            _ => expected = format!("{expected} {}", text(&vector["expected"], "reason")),
        }
        if outcome != expected {
            failures.push(format!("{name}: {expected} expected, found {outcome}"));
        }
        if let (Some(base), Some(expected)) = (base, vector["signature_base"].as_str())
            // This request differs from the signed one.
            && (name != "path-tampered" && base != expected)
        {
            failures.push(format!("{name}: the signature base is {base}"));
        }
    }
    assert_share("signed requests", vectors.len(), &failures, 100.0);
}

fn fields(headers: &Value) -> Vec<(String, String)> {
    let headers = headers.as_object().expect("there are fields");
    headers
        .iter()
        .map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()))
        .collect()
}

/// The outcome with its reason, and the signature base if a signature could be read.
fn judged(vector: &Value, limits: &Limits) -> (String, Option<String>) {
    let request = &vector["request"];
    let (scheme, rest) = text(request, "url").split_once("://").expect("it is absolute");
    let (authority, target) = rest.split_at(rest.find('/').expect("it has a path"));
    let fields = fields(&request["headers"]);
    let message = Message {
        method: text(request, "method"),
        scheme: if scheme == "https" { Scheme::Https } else { Scheme::Http },
        authority: authority.as_bytes(),
        target: target.as_bytes(),
        fields: &fields,
    };
    let shown = |outcome: Verification| match outcome {
        Verification::Verified => "verified".to_owned(),
        Verification::Invalid(reason) => format!("invalid {}", reason.as_str()),
        Verification::Unverified(reason) => format!("unverified {}", reason.as_str()),
    };
    let signature = match signature::read(&message) {
        Signatures::Unsigned => return ("unsigned".to_owned(), None),
        Signatures::Invalid(reason) => return (shown(reason.verification()), None),
        Signatures::Signed(mut signatures) => signatures.remove(0),
    };
    let directory = &vector["directory"];
    if let Ok(agent) = signature.agent() {
        assert_eq!(agent.directory_url(), text(directory, "url"));
    }
    let base = signature::signature_base(&signature, &message).expect("all is there");
    let base = Some(String::from_utf8(base).expect("it is ASCII"));
    let outcome = match KeySet::read(text(directory, "body").as_bytes()) {
        Ok(keys) => {
            let now = vector["now"].as_i64().expect("it has a time");
            signature::verify(&signature, &message, &keys, now, limits)
        }
        Err(reason) => reason.verification(),
    };
    (shown(outcome), base)
}

#[test]
fn signed_directories_are_proven() {
    let Some(file) = content("crawlers/web_bot_auth.json") else { return };
    let file: Value = serde_json::from_str(&file).expect("the file is JSON");
    for vector in file["directory_vectors"].as_array().expect("there are vectors") {
        let response = &vector["response"];
        let nothing: Vec<(String, String)> = Vec::new();
        let request = Message {
            method: "GET",
            scheme: Scheme::Https,
            authority: text(vector, "request_authority").as_bytes(),
            target: b"/.well-known/http-message-signatures-directory",
            fields: &nothing,
        };
        let fields = fields(&response["headers"]);
        let content = text(response, "body").as_bytes();
        let keys = KeySet::read(content).expect("it is a JWK Set");
        let response = DirectoryResponse { request: &request, fields: &fields, content };
        let proven = signature::proven_keys(&response, &keys, 1_735_689_700, &OF_VECTORS);
        assert_eq!(vector["expected"], "proof valid");
        assert_eq!(proven.map(|keys| keys.len()), Ok(1), "{}", vector["name"]);
    }
}

// === robots tags

#[test]
fn header_lines_mean_what_the_draft_says() {
    let Some(rows) = rows("robots_tag/cases.jsonl") else { return };
    let clear = rows.iter().filter(|row| text(row, "ambiguous").is_empty());
    let cases: Vec<&Value> = clear.filter(|row| text(row, "kind") != "merge").collect();
    let mut failures = Vec::new();
    for case in &cases {
        let field = text(case, "field");
        let lines = texts(&case["lines"]).into_iter().map(|line| format!("{field}: {line}\n"));
        let token = text(case, "product_token");
        let found = tags(token, &lines.collect::<String>());
        if found != texts(&case["effective_rules"]) {
            failures.push(format!(
                "{}: {} expected, found {found:?} ({})",
                text(case, "id"),
                case["effective_rules"],
                text(case, "note")
            ));
        }
    }
    assert_share("robots tag cases", cases.len(), &failures, 100.0);
}

fn tags(token: &str, lines: &str) -> Vec<String> {
    let args = ["tags", "--format", "json", "--product-token", token];
    let output = run_with_input(&args, lines.as_bytes());
    texts(&json_lines(&output).first().expect("one object")["rules"])
}

#[test]
fn the_origins_tags_and_the_policys_are_merged_as_the_draft_says() {
    let Some(rows) = rows("robots_tag/cases.jsonl") else { return };
    let clear = rows.iter().filter(|row| text(row, "ambiguous").is_empty());
    let cases: Vec<&Value> = clear.filter(|row| text(row, "kind") == "merge").collect();
    let mut failures = Vec::new();
    for case in &cases {
        let upstream = case["upstream"].as_object().expect("the origin's fields");
        let fields: Vec<String> = upstream
            .iter()
            .flat_map(|(name, lines)| {
                texts(lines).into_iter().map(move |line| format!("{name}: {line}"))
            })
            .collect();
        let origin = Origin::with_fields(&fields.iter().map(String::as_str).collect::<Vec<_>>());
        // JSON is YAML.
        let settings = format!("    robots_tag: [{{ rules: {} }}]\n", case["policy"]);
        let beadle = Setup::site(origin.port, &settings).start();
        let answer = Request::get("/").send(beadle.port);
        let lines: String = ["robots-tag", "x-robots-tag"]
            .iter()
            .flat_map(|name| answer.all(name).into_iter().map(move |v| format!("{name}: {v}\n")))
            .collect();
        for (token, expected) in case["expect_effective"].as_object().expect("rules by crawler") {
            let found = tags(token, &lines);
            if found != texts(expected) {
                failures.push(format!(
                    "{}: {token}: {expected} expected, found {found:?} in {lines}",
                    text(case, "id")
                ));
            }
        }
    }
    assert_share("robots tag merges", cases.len(), &failures, 100.0);
}
