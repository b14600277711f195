//! The README keeps its word: its commands run, its policies pass, its tables are complete.
//!
//! The guide is followed line by line, on free ports, with the real program and `curl`.

mod support;

use std::{
    collections::BTreeSet,
    path::Path,
    process::{Child, Command, Output, Stdio},
};

use serde_json::Value;

use beadle::policy::{self, Timeouts};
use support::{
    client::Request,
    free_port,
    origin::Origin,
    program::{PROGRAM, json_lines},
    wait_for,
};

const README: &str = include_str!("../README.md");

/// A fenced block: what it is, and its text.
struct Block {
    language: &'static str,
    text: &'static str,
}

fn blocks() -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut rest = README;
    while let Some(at) = rest.find("\n```") {
        let (language, after) = rest[at + 4..].split_once('\n').expect("a fence ends its line");
        let end = after.find("```").expect("a fence is closed");
        blocks.push(Block { language, text: &after[..end] });
        rest = &after[end + 3..];
    }
    blocks
}

fn is_whole_policy(text: &str) -> bool {
    text.lines().any(|line| line == "sites:")
}

/// A place to follow the README in.
struct Reader {
    folder: tempfile::TempDir,
    port: u16,
    admin: u16,
    _origin: Origin,
    origin_port: u16,
    serving: Option<Child>,
}

impl Drop for Reader {
    fn drop(&mut self) {
        if let Some(serving) = &mut self.serving {
            // It may have ended already.
            let _ = serving.kill();
            let _ = serving.wait();
        }
    }
}

impl Reader {
    fn new() -> Self {
        let origin = Origin::plain();
        Self {
            folder: tempfile::tempdir().expect("a temporary folder"),
            port: free_port(),
            admin: free_port(),
            origin_port: origin.port,
            _origin: origin,
            serving: None,
        }
    }

    fn file(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    /// The README's addresses, as they are here.
    fn here(&self, text: &str) -> String {
        text.replace("127.0.0.1:8080", &format!("127.0.0.1:{}", self.port))
            .replace("127.0.0.1:3000", &format!("127.0.0.1:{}", self.origin_port))
    }

    fn write_policy(&self, text: &str) {
        let server = format!(
            "server:\n  listen: [127.0.0.1:{}]\n  admin: 127.0.0.1:{}\n",
            self.port, self.admin
        );
        let text = server + &self.here(text);
        std::fs::write(self.file("beadle.yaml"), text).expect("it is writable");
    }

    fn append_to_policy(&self, text: &str) {
        let old = std::fs::read_to_string(self.file("beadle.yaml")).expect("it was written");
        std::fs::write(self.file("beadle.yaml"), old + text).expect("it is writable");
    }

    /// A line as a shell runs it, `beadle` being the program under test.
    fn shell(&self, line: &str) -> Output {
        let programs = Path::new(PROGRAM).parent().expect("it stands in a folder");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(
            std::iter::once(programs.to_owned()).chain(std::env::split_paths(&path)),
        );
        Command::new("sh")
            .args(["-c", &self.here(line)])
            .env("PATH", path.expect("folders without a colon"))
            .env_remove("BEADLE_CONFIG")
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .output()
            .expect("there is a shell")
    }

    /// Runs a command of the README that ends by itself; it must find or do something.
    fn run(&self, line: &str) -> String {
        let mut output = self.shell(line);
        // `violations` says with 1 that there are some; a record is written a moment later.
        let good = if line.starts_with("beadle violations") { 1 } else { 0 };
        for _ in 0..100 {
            if good == 0 || output.status.code() == Some(good) {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
            output = self.shell(line);
        }
        let found = String::from_utf8_lossy(&output.stdout).into_owned();
        let wrong = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(good), "{line}\n{found}{wrong}");
        assert!(!found.is_empty(), "{line} prints nothing");
        found
    }

    fn serve(&mut self) {
        let child = Command::new(PROGRAM)
            .args(["serve", "--config", "beadle.yaml"])
            .current_dir(self.folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program can be started");
        self.serving = Some(child);
        let admin = self.admin;
        wait_for("the proxy", || {
            std::net::TcpStream::connect(("127.0.0.1", admin)).ok()?;
            let ready = Request::get("/readyz").host("localhost").send(admin);
            (ready.status == 200).then_some(())
        });
    }

    fn metrics(&self) -> String {
        Request::get("/metrics").host("localhost").send(self.admin).text()
    }

    fn wait_for_metric(&self, line: &str) {
        wait_for(line, || self.metrics().lines().any(|found| found == line).then_some(()));
    }
}

fn has_curl() -> bool {
    Command::new("curl").arg("--version").output().is_ok_and(|output| output.status.success())
}

#[test]
fn the_two_commands_stand_there_as_they_are() {
    let first = blocks().into_iter().next().expect("the README has blocks");
    assert_eq!(first.language, "sh");
    assert_eq!(first.text, "cargo run --release -- demo\ncargo test\n");
}

#[test]
fn the_guide_can_be_followed_to_the_blocked_crawler() {
    if !has_curl() {
        return;
    }
    let mut reader = Reader::new();
    std::fs::write(reader.file("robots.txt"), "User-agent: *\nDisallow: /private/\n")
        .expect("it is writable");
    let (mut policies, mut answer, mut is_blocked) = (0, String::new(), false);
    for Block { language, text } in blocks() {
        match language {
            "yaml" if is_whole_policy(text) => {
                // The first is the guide's; the others are checked elsewhere.
                if policies == 0 {
                    reader.write_policy(text);
                }
                policies += 1;
            }
            "yaml" => {
                reader.append_to_policy(text);
                reader.wait_for_metric("beadle_policy_reloads_total{outcome=\"applied\"} 1");
            }
            "text" if !is_blocked => {
                for line in reader.here(text).lines().map(lasting).filter(|one| !one.is_empty()) {
                    assert!(answer.contains(line), "no '{line}' in\n{answer}");
                }
                is_blocked = text.starts_with("HTTP/1.1 403");
            }
            "sh" => {
                answer.clear();
                for line in text.lines() {
                    if line.starts_with("beadle serve") {
                        reader.serve();
                    } else if line.starts_with("curl ") && !line.contains('|') {
                        answer += &reader.run(&line.replacen("curl ", "curl -s ", 1));
                        reader.wait_for_metric("beadle_records_queued 0");
                    } else if line.contains("beadle ") && !line.starts_with("docker") {
                        answer += &reader.run(line);
                    } else {
                        assert!(
                            ["cargo ", "docker "].iter().any(|other| line.starts_with(other)),
                            "a command that this test does not know: {line}"
                        );
                    }
                }
            }
            _ => {}
        }
    }
    assert!(policies >= 2 && is_blocked, "the guide ends with a block");
    // The browser of the guide is let through, and what was recorded is what the tables say.
    let browser = reader.shell("curl -s -o page -w '%{http_code}' -A 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0' http://127.0.0.1:8080/private/");
    assert_eq!(String::from_utf8_lossy(&browser.stdout), "200");
    let records = json_lines(&reader.shell("beadle violations --config beadle.yaml --format json"));
    let actions: Vec<&Value> = records.iter().map(|record| &record["action"]).collect();
    assert_eq!(actions, ["log", "block"], "curl of the guide, before and after");
    every_field_is_explained(&records[0]);
    every_metric_is_explained(&reader.metrics());
}

/// A line of a sample without what is another one each time: the time, the id and the line of the
/// policy, which has a section of its own here.
fn lasting(line: &str) -> &str {
    let line = if line.starts_with("20") { &line[20..] } else { line };
    let end = ["Decision", ", policy line"].iter().filter_map(|mark| line.find(mark)).min();
    &line[..end.unwrap_or(line.len())]
}

/// Each key of a record stands in the README.
fn every_field_is_explained(record: &Value) {
    let inner = ["robots", "robots_read"];
    for (key, value) in record.as_object().expect("a record is an object") {
        if inner.contains(&key.as_str()) {
            for name in value.as_object().expect("an object").keys() {
                let explained = README.contains(&format!("`{key}.{name}`"))
                    || README.contains(&format!("`.{name}`"));
                assert!(explained, "{key}.{name}");
            }
        } else {
            assert!(README.contains(&format!("`{key}`")), "{key}");
        }
    }
}

/// Each metric that is there stands in the README.
fn every_metric_is_explained(exposition: &str) {
    let names = exposition.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    for name in names.filter_map(|line| line.split(' ').next()) {
        let short = name.strip_prefix("beadle_records").unwrap_or(name);
        let explained =
            README.contains(&format!("`{name}`")) || README.contains(&format!("`{short}`"));
        assert!(explained, "{name}");
    }
}

#[test]
fn every_whole_policy_passes_check() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let policies = blocks().into_iter().filter(|b| b.language == "yaml" && is_whole_policy(b.text));
    for Block { text, .. } in policies {
        std::fs::write(folder.path().join("beadle.yaml"), text).expect("it is writable");
        let output = Command::new(PROGRAM)
            .args(["check", "beadle.yaml"])
            .current_dir(folder.path())
            .output()
            .expect("the program can be started");
        let found = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{text}\n{found}");
    }
}

#[test]
fn every_key_of_the_policy_is_in_the_reference() {
    // Asks the program itself: an unknown key is answered with all that are known.
    const ODD: &str = "qqqqqqqqqqqq: 1";
    let site = "sites:\n  - hosts: [a.example]\n    origin: http://127.0.0.1:3000\n";
    let group = "robots_txt: { groups: [{ user_agents: [\"*\"], disallow: [/x] }] }";
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut keys = BTreeSet::new();
    for policy in [
        format!("{ODD}\n{site}    {group}\n"),
        format!("server: {{ {ODD} }}\n{site}"),
        format!("server: {{ timeouts: {{ {ODD} }} }}\n{site}"),
        format!("server: {{ listen: [{{ {ODD} }}] }}\n{site}"),
        format!("server: {{ listen: [{{ tls: {{ {ODD} }} }}] }}\n{site}"),
        format!("violations: {{ {ODD} }}\n{site}"),
        format!("crawlers: [{{ {ODD} }}]\n{site}"),
        format!("crawler_sets: {{ a: {{ {ODD} }} }}\n{site}"),
        format!("{site}    {ODD}\n"),
        format!("{site}    robots_txt: {{ {ODD} }}\n"),
        format!("{site}    robots_txt: {{ groups: [{{ {ODD} }}] }}\n"),
        format!("{site}    robots_tag: [{{ {ODD} }}]\n"),
        format!("{site}    enforcement: {{ {ODD} }}\n"),
        format!("{site}    enforcement: {{ overrides: [{{ {ODD} }}] }}\n"),
        format!("{site}    enforcement: {{ block: {{ {ODD} }} }}\n"),
        format!("{site}    enforcement: {{ ladder: {{ {ODD} }} }}\n"),
        format!("{site}    enforcement: {{ breaker: {{ {ODD} }} }}\n"),
    ] {
        std::fs::write(folder.path().join("beadle.yaml"), &policy).expect("it is writable");
        let output = Command::new(PROGRAM)
            .args(["check", "--format", "json", "beadle.yaml"])
            .current_dir(folder.path())
            .output()
            .expect("the program can be started");
        let findings = json_lines(&output);
        let finding = findings.iter().find(|one| one["code"] == "policy.unknown_key");
        let help = finding.and_then(|one| one["help"].as_str()).unwrap_or_default();
        let list = help.strip_prefix("the keys here are ");
        let list = list.unwrap_or_else(|| panic!("no list of keys for\n{policy}{findings:?}"));
        keys.extend(list.split(", ").map(str::to_owned));
    }
    assert!(keys.len() > 40, "{keys:?}");
    for key in keys {
        let forms =
            [format!("`{key}`"), format!(".{key}`"), format!("`{key}: "), format!("{key}, ")];
        let explained = forms.iter().any(|form| README.contains(form))
            || README.contains(&format!(" {key} }}"));
        assert!(explained, "'{key}' is not in the policy reference");
    }
}

#[test]
fn the_defaults_of_the_reference_are_those_of_the_program() {
    let Timeouts {
        client_keepalive,
        client_read,
        client_write,
        origin_connect,
        origin_read,
        origin_write,
        origin_keepalive,
        origin_lookup,
        drain,
    } = Timeouts::default();
    for (key, default) in [
        ("timeouts.client_keepalive", client_keepalive),
        ("timeouts.client_read", client_read),
        ("timeouts.client_write", client_write),
        ("timeouts.origin_connect", origin_connect),
        ("timeouts.origin_read", origin_read),
        ("timeouts.origin_write", origin_write),
        ("timeouts.origin_keepalive", origin_keepalive),
        ("timeouts.origin_lookup", origin_lookup),
        ("timeouts.drain", drain),
    ] {
        let row = format!("| `{key}` | time | `{default:?}` |");
        assert!(README.contains(&row), "{row}");
    }
    let days = policy::DEFAULT_RETENTION.as_secs() / 86_400;
    let hours = policy::DEFAULT_ROBOTS_MAX_AGE.as_secs() / 3_600;
    let window = policy::DEFAULT_CACHE_WINDOW.as_secs() / 3_600;
    for row in [
        format!("| `{}` | where requests are taken |", policy::DEFAULT_LISTEN),
        format!("| `admin` | `address:port` or `\"off\"` | `{}` |", policy::DEFAULT_ADMIN),
        format!("| `retention` | time, `1h` to `3650d` | `{days}d` |"),
        format!("| `max_age` | time, `1s` to `1d` | `{hours}h` |"),
        format!("| `cache_window` | time, `0s` to `7d` | `{window}h` |"),
    ] {
        assert!(README.contains(&row), "{row}");
    }
}

#[test]
fn every_purpose_is_in_the_reference() {
    for purpose in beadle::crawlers::Purpose::ALL {
        assert!(README.contains(&format!("`{purpose}`")), "{purpose}");
    }
}

#[test]
fn every_link_within_the_project_leads_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let headings: Vec<String> = README
        .lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| {
            let title = line.trim_start_matches('#').trim().to_lowercase();
            let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
            title.chars().filter(kept).collect::<String>().replace(' ', "-")
        })
        .collect();
    for link in README.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        if let Some(anchor) = link.strip_prefix('#') {
            assert!(headings.iter().any(|heading| heading == anchor), "#{anchor}: {headings:?}");
        } else if !link.starts_with("https://") {
            assert!(root.join(link).exists(), "{link}");
        }
    }
}
