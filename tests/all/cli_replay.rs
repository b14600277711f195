//! `beadle replay`: logs of every form, through a policy or a robots.txt.

use std::{
    fs,
    io::Write,
    path::Path,
    process::{Command, Output, Stdio},
};

use serde_json::{Value, json};

use crate::support::{
    origin::Origin,
    program::{PROGRAM, json_lines},
};

const GPTBOT: &str = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";
const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0";

const POLICY: &str = "\
sites:
  - hosts: [www.example.com, example.com]
    origin: http://127.0.0.1:3000
    robots_txt:
      groups: [{ user_agents: ['*'], disallow: [/private/] }]
";

fn line(second: u8, client: &str, target: &str, user_agent: &str) -> String {
    format!(
        "{client} - - [22/Nov/2026:10:00:{second:02} +0000] \"GET {target} HTTP/1.1\" 200 5 \"-\" \
         \"{user_agent}\"\n"
    )
}

/// A crawler that reads robots.txt and breaks it, a person, and noise.
fn log() -> String {
    [
        line(1, "192.0.2.1", "/robots.txt", GPTBOT),
        line(2, "192.0.2.1", "/private/a", GPTBOT),
        line(3, "192.0.2.9", "/private/a", BROWSER),
        "192.0.2.3 - - [22/Nov/2026:10:00:04 +0000] \"\\x16\\x03\\x01\" 400 5 \"-\" \"-\"\n"
            .to_owned(),
        line(5, "192.0.2.1", "/private/b?c", GPTBOT),
        line(6, "192.0.2.1", "/open", GPTBOT),
        "half a li\n".to_owned(),
    ]
    .concat()
}

struct Bench(tempfile::TempDir);

impl Bench {
    fn new(policy: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("beadle.yaml"), policy).expect("a policy");
        Self(folder)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.0.path().join(name), bytes).expect("a file");
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.arg("replay").args(args).current_dir(self.0.path()).env_remove("BEADLE_CONFIG");
        command
    }

    fn replay(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("it runs")
    }

    fn rows(&self, args: &[&str]) -> Vec<Value> {
        let output = self.replay(&[&["--format", "json"], args].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        json_lines(&output)
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn kind<'r>(rows: &'r [Value], kind: &str) -> Vec<&'r Value> {
    rows.iter().filter(|row| row["kind"] == kind).collect()
}

fn golden(name: &str, found: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/replay").join(name);
    if std::env::var_os("BEADLE_UPDATE").is_some() {
        fs::write(&file, found).expect("it is writable");
    }
    let expected = fs::read_to_string(&file).unwrap_or_default();
    assert!(expected == found, "BEADLE_UPDATE=1 writes {name} anew:\n{found}");
}

#[test]
fn a_log_without_hosts_belongs_to_the_only_site() {
    let bench = Bench::new(POLICY);
    bench.write("access.log", log());
    let rows = bench.rows(&["access.log"]);
    let crawlers = kind(&rows, "crawler");
    let [crawler] = crawlers.as_slice() else { panic!("{rows:?}") };
    for (key, value) in [
        ("site", json!("www.example.com")),
        ("product_token", json!("GPTBot")),
        ("requests", json!(4)),
        ("allowed", json!(2)),
        ("grace", json!(0)),
        ("log", json!(2)),
        ("throttle", json!(0)),
        ("block", json!(0)),
        ("robots_fetches", json!(1)),
        ("first", json!("2026-11-22T10:00:01.000Z")),
        ("last", json!("2026-11-22T10:00:06.000Z")),
    ] {
        assert_eq!(crawler[key], value, "{key}");
    }
    let rule = json!({ "directive": "disallow", "pattern": "/private/", "line": 5 });
    let rules = kind(&rows, "rule");
    assert_eq!((&rules[0]["rule"], &rules[0]["violations"]), (&rule, &json!(2)));
    let paths: Vec<_> = kind(&rows, "path").iter().map(|row| row["path"].clone()).collect();
    assert_eq!(paths, ["/private/a", "/private/b"]);
    assert_eq!(kind(&rows, "day")[0]["violations"], 2);
    let total = rows.last().expect("a row");
    for (key, value) in [
        ("kind", json!("total")),
        ("lines", json!(7)),
        ("parsed", json!(5)),
        ("malformed", json!({ "form": 1, "request": 1 })),
        ("from", json!("2026-11-22T10:00:01.000Z")),
        ("until", json!("2026-11-22T10:00:06.000Z")),
        ("people", json!(1)),
    ] {
        assert_eq!(total[key], value, "{key}");
    }
    assert!(!bench.0.path().join("beadle.db").exists());
}

#[test]
fn compressed_and_rotated_logs_and_standard_input_are_read() {
    let bench = Bench::new(POLICY);
    let text = log();
    let expected = {
        bench.write("plain.log", &text);
        bench.rows(&["plain.log"])
    };
    let (first, second) = text.split_at(text.find("192.0.2.9").expect("a line"));
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(first.as_bytes()).expect("memory");
    bench.write("access.log.2.gz", gzip.finish().expect("memory"));
    bench.write("access.log.1", zstd::encode_all(second.as_bytes(), 1).expect("memory"));
    bench.write("access.log", "");
    let rows = bench.rows(&["access.log", "access.log.1", "access.log.2.gz"]);
    assert_eq!(rows, expected);
    for input in [text.clone().into_bytes(), zstd::encode_all(text.as_bytes(), 1).expect("memory")]
    {
        let mut child = bench
            .command(&["--format", "json", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it runs");
        child.stdin.take().expect("a pipe").write_all(&input).expect("it reads");
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(json_lines(&output), expected);
    }
}

#[test]
fn a_robots_txt_alone_judges_every_host() {
    let bench = Bench::new(POLICY);
    bench.write("robots.txt", "User-agent: GPTBot\nDisallow: /open\n");
    bench.write("access.log", log());
    let rows = bench.rows(&["--robots-txt", "robots.txt", "access.log"]);
    assert_eq!(kind(&rows, "rule")[0]["rule"]["line"], 2);
    assert_eq!(kind(&rows, "path")[0]["path"], "/open");
    let file = "User-agent: *\nDisallow: /private/b\n";
    let length = file.len();
    let origin = Origin::answering(format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\r\n{file}"
    ));
    let address = format!("http://127.0.0.1:{}", origin.port);
    let rows = bench.rows(&["--robots-txt", &address, "access.log"]);
    assert_eq!(kind(&rows, "path")[0]["path"], "/private/b");
}

#[test]
fn violations_are_printed_as_records() {
    let bench = Bench::new(POLICY);
    bench.write("access.log", log());
    let records = bench.rows(&["--violations", "access.log"]);
    let [first, second] = records.as_slice() else { panic!("{records:?}") };
    assert_eq!((&first["path"], &second["path"]), (&"/private/a".into(), &"/private/b?c".into()));
    assert_eq!(first["robots_read"]["state"], "current");
    assert_eq!(first["user_agent"], GPTBOT);
    assert_eq!(
        (&first["status"], &first["time"]),
        (&200.into(), &"2026-11-22T10:00:02.000Z".into())
    );
    // The records are a log of their own.
    let output = bench.replay(&["--violations", "--format", "json", "access.log"]);
    bench.write("records.jsonl", &output.stdout);
    let rows = bench.rows(&["records.jsonl"]);
    assert_eq!(kind(&rows, "crawler")[0]["log"], 2);
    let text = bench.replay(&["--violations", "access.log"]);
    let text = String::from_utf8_lossy(&text.stdout);
    assert!(text.contains("GPTBot") && text.contains("Disallow: /private/"), "{text}");
}

#[test]
fn violations_as_text_mark_impostors() {
    let crawlers =
        "crawlers: [{ product_token: ListBot, ip_ranges: ['http://lists.example/list.json'] }]";
    let bench = Bench::new(&format!("{crawlers}\nevidence: {{ folder: . }}\n{POLICY}"));
    // The copy of the list, as 'evidence' keeps it.
    bench.write("ranges-bb5256bd9648dc08", "# http://lists.example/list.json\n\n66.249.64.0/19\n");
    let requests = [
        line(1, "66.249.64.1", "/private/a", "ListBot/1.0"),
        line(2, "9.9.9.9", "/private/b", "ListBot/1.0"),
    ];
    bench.write("access.log", requests.concat());
    let text = bench.replay(&["--violations", "access.log"]);
    let text = String::from_utf8_lossy(&text.stdout);
    let [own, impostor] = text.lines().collect::<Vec<_>>()[..] else { panic!("{text}") };
    assert!(own.contains("  ListBot ") && own.ends_with("/private/a"), "{text}");
    assert!(
        impostor.contains("  claims to be ListBot ") && impostor.ends_with("/private/b"),
        "{text}"
    );
}

#[test]
fn another_policy_shows_what_it_would_change() {
    let bench = Bench::new(POLICY);
    bench.write("access.log", log());
    bench.write("stricter.yaml", format!("{POLICY}    enforcement: {{ mode: block }}\n"));
    let rows = bench.rows(&["--against", "stricter.yaml", "access.log"]);
    let changes = kind(&rows, "change");
    let [change] = changes.as_slice() else { panic!("{rows:?}") };
    assert_eq!(
        **change,
        json!({ "kind": "change", "site": "www.example.com", "product_token": "GPTBot",
            "before": "log", "after": "block", "requests": 2,
            "paths": ["/private/a", "/private/b?c"] })
    );
    let text = bench.replay(&["--against", "stricter.yaml", "access.log"]);
    let text = String::from_utf8_lossy(&text.stdout);
    assert!(text.contains("What stricter.yaml would change"), "{text}");
    let none = bench.replay(&["--against", "beadle.yaml", "access.log"]);
    assert!(String::from_utf8_lossy(&none.stdout).contains("every request is treated alike"));
}

#[test]
fn a_report_is_written_as_html_and_text() {
    let bench = Bench::new(POLICY);
    bench.write("access.log", log());
    let output = bench.replay(&["--format", "html", "--output", "replay.html", "access.log"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let html = fs::read_to_string(bench.0.path().join("replay.html")).expect("it is written");
    assert!(html.starts_with("<!DOCTYPE html>") && html.contains("Beadle replay"));
    assert!(!html.contains("<script"));
    let again = bench.replay(&["--format", "html", "--output", "replay.html", "access.log"]);
    assert_eq!(again.status.code(), Some(2));
    let text = bench.replay(&["access.log"]);
    golden("replay.txt", &String::from_utf8_lossy(&text.stdout));
}

#[test]
fn what_cannot_be_judged_is_an_error_with_its_place() {
    let two =
        format!("{POLICY}  - hosts: [other.example.com]\n    origin: http://127.0.0.1:3001\n");
    let bench = Bench::new(&two);
    bench.write("access.log", log());
    bench.write("unknown.log", "something else\n");
    for (args, says) in [
        (vec!["access.log"], "access.log:1: the line has no host"),
        (vec!["unknown.log"], "no known log format fits its first lines, such as 'something else'"),
        (vec!["nothere.log"], "nothere.log: "),
        (vec!["--log-format", "combind", "access.log"], "'combind' is no log format"),
        (vec!["--log-format", "$remote_addr", "access.log"], "it has no time"),
        (vec!["--config", "nothere.yaml", "access.log"], "name the policy file with --config"),
        (vec!["--history", "--site", "example.com", "access.log"], "the policy has no database"),
        (vec!["--violations", "--format", "html", "access.log"], "--violations prints"),
    ] {
        let output = bench.replay(&args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(says), "{args:?}: {}", stderr(&output));
    }
    let rows = bench.rows(&["--site", "other.example.com", "access.log"]);
    assert_eq!(kind(&rows, "crawler")[0]["site"], "other.example.com");
    let rows = bench.rows(&["--site", "nobody.example.com", "access.log"]);
    let total = rows.last().expect("a row");
    assert_eq!(total["malformed"]["unknown_host"], 5);
}

#[test]
fn a_default_site_takes_lines_without_a_host() {
    let two = format!(
        "{POLICY}  - hosts: [other.example.com]\n    origin: http://127.0.0.1:3001\n    default: true\n"
    );
    let bench = Bench::new(&two);
    bench.write("access.log", log());
    assert_eq!(kind(&bench.rows(&["access.log"]), "crawler")[0]["site"], "other.example.com");
}
