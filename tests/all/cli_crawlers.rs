//! `beadle crawlers update` and `evaluate`, and the catalogue file of a policy.
//!
//! A newer catalogue is loaded whole and a broken one not at all. The operator sees the changes.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use beadle::rules::policy;
use serde_json::{Value, json};

use crate::support::{
    origin::{After, Origin},
    program::{PROGRAM, Setup, json_lines},
    wait_for,
};

const POLICY: &str = "catalogue: crawlers.yaml\nsites:\n  - hosts: [site.example]\n    \
                      origin: http://127.0.0.1:3000\n    robots_txt:\n      groups:\n        \
                      - { user_agents: [\"*\"], disallow: [/private/] }\n";
const NEW: &str = "  - { product_token: ZzNewBot, operator: Newcomers, purpose: ai-training }\n";

/// A folder with a policy, the working directory of the program.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().expect("a folder for temporary files"));
        folder.write("beadle.yaml", POLICY);
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).expect("the folder is ours");
    }

    fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.path(name)).ok()
    }

    fn run(&self, args: &[&str]) -> Output {
        Command::new(PROGRAM)
            .args(args)
            .current_dir(self.0.path())
            .env_remove("BEADLE_CONFIG")
            .output()
            .expect("the program can be started")
    }

    /// The exit code and the report of `crawlers update`.
    fn update(&self, args: &[&str]) -> (i32, Value) {
        let args = [&["crawlers", "update", "--format", "json"], args].concat();
        let output = self.run(&args);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let report = json_lines(&output).pop().unwrap_or_else(|| json!(stderr));
        (output.status.code().expect("it ended by itself"), report)
    }
}

/// The built-in catalogue with another version and more entries.
fn built_in(version: &str, more: &str) -> String {
    let text = policy::BUILT_IN_CATALOGUE;
    let (before, after) = text.split_once("version: \"").expect("it has a version");
    let (_, after) = after.split_once('"').expect("it is quoted");
    format!("{before}version: \"{version}\"{after}{more}")
}

/// A catalogue of a few crawlers, which is read sooner, with this version and more entries.
fn several(version: &str, more: &str) -> String {
    let entry = |number| format!("  - {{ product_token: ZzBot{number}, purpose: search }}\n");
    let entries: String = (0..20).map(entry).collect();
    format!("version: \"{version}\"\ncrawlers:\n{entries}{more}")
}

fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

#[test]
fn update_writes_a_newer_catalogue_and_reports_the_changes() {
    let folder = Folder::new();
    let newer = built_in("2099-01-01", NEW)
        .replace("product_token: GPTBot\n", "product_token: GPTBot\n    aliases: [GPTBot-Next]\n")
        .replace("  - { product_token: \"2GDPR\"", "  - { product_token: \"2GDPR-Gone\"");
    folder.write("new.yaml", &newer);
    let missing = folder.run(&["check"]);
    assert_eq!(missing.status.code(), Some(1));
    let said = text(&missing);
    assert!(said.contains("error[policy.catalogue]: catalogue: 'crawlers.yaml'"), "{said}");
    assert!(said.contains("--> beadle.yaml:1:12"), "{said}");
    assert!(said.contains("help: 'beadle crawlers update --from URL' writes it"), "{said}");

    let (exit, report) = folder.update(&["--from", "new.yaml", "--dry-run"]);
    assert_eq!((exit, &report["outcome"]), (0, &json!("sound")), "{report}");
    assert_eq!(folder.read("crawlers.yaml"), None, "a dry run writes nothing");

    let (exit, report) = folder.update(&["--from", "new.yaml"]);
    assert_eq!((exit, &report["outcome"]), (0, &json!("written")), "{report}");
    assert_eq!(report["changes"]["new"], json!(["2GDPR-Gone", "ZzNewBot"]));
    assert_eq!(report["changes"]["gone"], json!(["2GDPR"]));
    assert_eq!(
        report["changes"]["changed"],
        json!([{
            "product_token": "GPTBot", "fact": "aliases", "decides": true,
            "was": "", "is": "[GPTBot-Next]",
        }])
    );
    assert_eq!(folder.read("crawlers.yaml"), Some(newer));
    let names: Vec<_> = fs::read_dir(folder.0.path()).expect("ours").flatten().collect();
    assert_eq!(names.len(), 3, "nothing is left beside: {names:?}");

    assert_eq!(folder.run(&["check"]).status.code(), Some(0), "the policy takes it");
    let show = ["crawlers", "show", "GPTBot-Next"];
    assert_eq!(folder.run(&show).status.code(), Some(2), "the built-in one does not know it");
    for source in [["--config", "beadle.yaml"], ["--catalogue", "new.yaml"]] {
        let output = folder.run(&[&show[..], &source].concat());
        assert!(text(&output).starts_with("GPTBot\n"), "{source:?}: {}", text(&output));
    }
    let output = folder.run(&["explain", "-A", "ZzNewBot/1", "--format", "json", "/private/"]);
    assert_eq!(json_lines(&output)[0]["claim"]["class"], "crawler");

    let again = folder.run(&["crawlers", "update", "--from", "new.yaml"]);
    assert_eq!(again.status.code(), Some(0));
    assert!(text(&again).ends_with("crawlers.yaml: nothing to do\n"), "{}", text(&again));
}

#[test]
fn the_text_report_names_each_change() {
    let folder = Folder::new();
    folder.write("new.yaml", built_in("2099-01-01", NEW));
    let output = folder.run(&["crawlers", "update", "--from", "new.yaml", "--to", "other.yaml"]);
    let crawlers = policy::built_in_catalogue_file().crawlers.len() + 1;
    let version = policy::built_in_catalogue_file().version;
    assert_eq!(
        text(&output),
        format!(
            "new      ZzNewBot\n2099-01-01 instead of {version}: {crawlers} crawlers, 1 new, 0 \
             gone; 0 facts that decide are changed, 0 others\nother.yaml: written\n"
        )
    );
    assert_eq!(folder.read("crawlers.yaml"), None, "--to asks no policy");
}

#[test]
fn update_refuses_an_unsound_or_older_catalogue() {
    let folder = Folder::new();
    let in_use = several("2098-01-01", NEW);
    folder.write("crawlers.yaml", &in_use);
    let head = "version: \"2099-01-01\"\ncrawlers:\n";
    let few = format!("{head}  - {{ product_token: Googlebot, purpose: search }}\n");
    let renamed = several("2099-01-01", "");
    for (content, code, forced) in [
        (several("2097-01-01", ""), "catalogue.not_newer", Some("written")),
        (several("2098-01-01", ""), "catalogue.not_newer", Some("written")),
        (few, "catalogue.shrunk", Some("written")),
        ("<html>not found</html>".to_owned(), "catalogue.malformed", None),
        (format!("{head}  - {{ product_token: A, colour: red }}\n"), "catalogue.malformed", None),
        (format!("{in_use}{NEW}"), "crawlers.duplicate_name", None),
        (
            format!("{renamed}  - {{ product_token: ZzLiar, reverse_dns: [.amazonaws.com] }}\n"),
            "catalogue.shared_suffix",
            None,
        ),
        (
            format!(
                "{renamed}  - {{ product_token: ZzLiar, ip_ranges: [\"http://a.example\"] }}\n"
            ),
            "catalogue.bad_url",
            None,
        ),
        ("# ".repeat(policy::MAX_CATALOGUE_BYTES), "catalogue.too_large", None),
    ] {
        folder.write("new.yaml", &content);
        let (exit, report) = folder.update(&["--from", "new.yaml"]);
        assert_eq!((exit, &report["outcome"]), (1, &json!("refused")), "{code}: {report}");
        assert_eq!(report["findings"][0]["code"], code, "{report}");
        assert_eq!(report["findings"][0]["file"], "new.yaml", "{report}");
        assert!(!report["findings"][0]["help"].is_null(), "{report}");
        assert_eq!(folder.read("crawlers.yaml").as_ref(), Some(&in_use), "{code}");
        let (_, report) = folder.update(&["--from", "new.yaml", "--force", "--dry-run"]);
        let expected = if forced.is_some() { "sound" } else { "refused" };
        assert_eq!(report["outcome"], expected, "{code}: {report}");
    }
}

#[test]
fn update_refuses_a_catalogue_that_the_policy_cannot_use() {
    let folder = Folder::new();
    let own = "crawlers: [{ product_token: MyOwnBot, aliases: [ZzNewBot] }]\n";
    folder.write("beadle.yaml", format!("{own}{POLICY}"));
    folder.write("new.yaml", built_in("2099-01-01", NEW));
    let (exit, report) = folder.update(&["--from", "new.yaml"]);
    assert_eq!((exit, &report["outcome"]), (1, &json!("refused")), "{report}");
    assert_eq!(report["findings"][0]["code"], "crawlers.duplicate_name");
    assert_eq!(report["findings"][0]["file"], "beadle.yaml");
    assert_eq!(folder.read("crawlers.yaml"), None);
}

#[test]
fn update_exits_2_when_it_cannot_fetch_or_write() {
    let folder = Folder::new();
    folder.write("new.yaml", built_in("2099-01-01", NEW));
    folder.write("plain.yaml", POLICY.replacen("catalogue: crawlers.yaml\n", "", 1));
    for (args, says) in [
        (&["--from", "nowhere.yaml"][..], "nowhere.yaml: No such file"),
        (&["--from", "."], ".: not a regular file"),
        (&["--from", "new.yaml", "--to", "no/such/folder.yaml"], "No such file"),
        (&["--from", "new.yaml", "-c", "plain.yaml"], "names no catalogue file"),
        (&["--from", "new.yaml", "-c", "none.yaml"], "name the policy file with --config"),
        // Only TLS and public addresses are allowed.
        (&["--from", "http://bots.example/crawlers.yaml"], "not an https:// address"),
        (&["--from", "http://127.0.0.1:1/crawlers.yaml"], "not an https:// address"),
        (&["--from", "https://127.0.0.1:1/crawlers.yaml"], "no public address"),
        (&["--from", "https://localhost:1/crawlers.yaml"], "no public address"),
        (&["--from", "https://[::ffff:10.0.0.1]/crawlers.yaml"], "no public address"),
        (&["--from", "file:///etc/passwd"], "not an https:// address"),
    ] {
        let output = folder.run(&[&["crawlers", "update"], args].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", text(&output));
        assert!(text(&output).contains(says), "{args:?}: {}", text(&output));
        assert_eq!(folder.read("crawlers.yaml"), None);
    }
}

#[test]
fn update_fetches_from_addresses_that_the_policy_allows() {
    let newer = built_in("2099-01-01", NEW);
    let served = newer.clone();
    let server = Origin::playing(move |exchange| {
        match exchange.request.target.clone().as_slice() {
            b"/crawlers.yaml" => exchange.answer("200 OK", &[], served.as_bytes()),
            b"/moved" => exchange.answer("302 Found", &["Location: /crawlers.yaml"], b""),
            b"/endless" => {
                let endless = vec![b'#'; policy::MAX_CATALOGUE_BYTES + 10];
                exchange.answer("200 OK", &[], &endless);
            }
            _ => exchange.answer("404 Not Found", &[], b"gone"),
        }
        After::Keep
    });
    let folder = Folder::new();
    folder.write("beadle.yaml", format!("evidence: {{ allow_addresses: [127.0.0.1] }}\n{POLICY}"));
    let url = |path: &str| format!("http://127.0.0.1:{}{path}", server.port);
    for (path, says) in [("/endless", "a body larger than the limit"), ("/none", "status 404")] {
        let output = folder.run(&["crawlers", "update", "--from", &url(path)]);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output));
        assert!(text(&output).contains(says), "{}", text(&output));
    }
    for (path, outcome) in [("/moved", "written"), ("/crawlers.yaml", "unchanged")] {
        let (exit, report) = folder.update(&["--from", &url(path)]);
        assert_eq!((exit, &report["outcome"]), (0, &json!(outcome)), "{report}");
        assert_eq!(folder.read("crawlers.yaml").as_ref(), Some(&newer));
    }
}

#[test]
fn a_running_proxy_loads_a_newer_catalogue_and_keeps_the_last_good_one() {
    let origin = Origin::plain();
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let file = folder.path().join("crawlers.yaml");
    let put = |text: &str| {
        let new = folder.path().join("new");
        fs::write(&new, text).expect("the folder is ours");
        fs::rename(new, &file).expect("the folder is ours");
    };
    put(&built_in("2098-01-01", ""));
    let settings = "    robots_txt:\n      cache_window: 0s\n      groups:\n        - { user_agents: [\"purpose:ai-training\"], \
                    disallow: [/] }\n    enforcement: { mode: block }\n";
    let beadle = Setup::site(origin.port, settings)
        .sections(&format!("catalogue: {}\n", file.display()))
        .start();
    let status = |user_agent: &str| beadle.get("/x", user_agent).status;
    assert_eq!((status("GPTBot/1.2"), status("ZzNewBot/1.0")), (403, 200));
    put(&built_in("2099-01-01", NEW));
    wait_for("the newer catalogue", || (status("ZzNewBot/1.0") == 403).then_some(()));
    for broken in ["", "version: \"2099-01-02\"\ncrawlers: [{ product_token: \"*\" }]\n"] {
        let before = beadle.metric("beadle_policy_reloads_total{outcome=\"refused\"}");
        put(broken);
        beadle.wait_for_metric("beadle_policy_reloads_total{outcome=\"refused\"}", before + 1.0);
        assert_eq!((status("GPTBot/1.2"), status("ZzNewBot/1.0")), (403, 403));
    }
    beadle.wait_for_stderr("crawlers.bad_token");
    put(&built_in("2099-01-03", ""));
    wait_for("the older state", || (status("ZzNewBot/1.0") == 200).then_some(()));
}

#[test]
fn an_old_catalogue_is_used_with_a_warning() {
    let folder = Folder::new();
    folder.write("crawlers.yaml", built_in("2001-01-01", ""));
    let output = folder.run(&["check"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).contains("[policy.old_catalogue]"), "{}", text(&output));
    folder.write("crawlers.yaml", "version: \"2001-01-01\"\ncrawlers: [{ colour: red }]\n");
    let said = text(&folder.run(&["check"]));
    assert!(said.contains("crawlers.yaml:2:"), "{said}");
    assert!(said.contains("error[policy.catalogue]: catalogue: "), "{said}");
    assert!(said.contains("--> beadle.yaml:1:12"), "{said}");
}

// === evaluate

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/crawlers");

fn evaluate(args: &[&str]) -> Output {
    Command::new(PROGRAM)
        .args(["crawlers", "evaluate"])
        .args(args)
        .current_dir(DATA)
        .output()
        .expect("the program can be started")
}

#[test]
fn evaluate_prints_the_golden_file() {
    let mut found = String::new();
    for args in [&["evaluate.jsonl"][..], &["--format", "json", "evaluate.jsonl"]] {
        let output = evaluate(args);
        assert_eq!(output.status.code(), Some(1), "{}", text(&output));
        found.push_str(&format!("$ beadle crawlers evaluate {}\n", args.join(" ")));
        found.push_str(&text(&output));
    }
    assert!(!found.contains(['\x1b', '\u{202e}']), "foreign octets are escaped");
    let golden = Path::new(DATA).join("evaluate.txt");
    if std::env::var_os("BEADLE_UPDATE").is_some() {
        fs::write(&golden, &found).expect("the golden file can be written");
    }
    let expected = fs::read_to_string(&golden).unwrap_or_default();
    assert_eq!(found, expected, "BEADLE_UPDATE=1 writes {} anew", golden.display());
}

#[test]
fn evaluate_exits_0_without_confusions_and_2_on_malformed_rows() {
    let folder = Folder::new();
    let googlebot = r#"{"user_agent": "Googlebot/2.1", "product_tokens": ["GOOGLEBOT"]}"#;
    folder.write("good.jsonl", format!("{googlebot}\r\n\n{googlebot}"));
    let output = folder.run(&["crawlers", "evaluate", "good.jsonl", "good.jsonl"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).contains("first token                  4 of       4  100.000%"));
    for (content, says) in [
        (&b"{\"user_agent\": 1}"[..], "bad.jsonl:2: invalid type"),
        (b"\xff\x1b[2J", "bad.jsonl:2: "),
        (b"[]", "bad.jsonl:2: "),
        (&vec![b' '; 2 << 20], "bad.jsonl:2: a line of more than 1 MiB"),
    ] {
        folder.write("bad.jsonl", [googlebot.as_bytes(), b"\n", content].concat());
        let output = folder.run(&["crawlers", "evaluate", "bad.jsonl"]);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output));
        assert!(text(&output).contains(says), "{says}: {}", text(&output));
        assert!(!text(&output).contains('\x1b'), "foreign octets are escaped");
    }
    let missing = folder.run(&["crawlers", "evaluate", "none.jsonl"]);
    assert_eq!(missing.status.code(), Some(2));
}
