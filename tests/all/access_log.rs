//! A line for each request, in a file or on standard output, and a log without secrets.

use std::{
    fs,
    io::Write,
    net::TcpStream,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};

use crate::support::{
    client::{Client, Request},
    origin::{After, Origin},
    program::{Beadle, PROGRAM, Setup, json_lines},
    wait_for,
};

const GPTBOT: &str = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";
const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0";
const RULES: &str = "    robots_txt: { groups: [{ user_agents: [GPTBot], disallow: [/private/] }] }\n    \
                     enforcement: { mode: block }\n";
const LOG: &str = "  access_log: $DIR/access.log\n";

fn path(beadle: &Beadle) -> PathBuf {
    beadle.folder().join("access.log")
}

/// The whole lines of a file.
fn written(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
    whole.lines().map(str::to_owned).collect()
}

/// Waits for this many lines of the log.
fn lines(beadle: &Beadle, count: usize) -> Vec<Value> {
    let path = path(beadle);
    let lines = wait_for("lines in the access log", || {
        let lines = written(&path);
        (lines.len() >= count).then_some(lines)
    });
    assert_eq!(lines.len(), count, "{lines:#?}");
    lines.iter().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn each_request_has_a_line_with_the_decision() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, RULES).server(LOG).start();
    let person = Request::get("/open?q=1").user_agent(BROWSER);
    person.field("Referer", "https://a.example/b").send(beadle.port);
    // A line follows the answer: the next request could overtake it.
    lines(&beadle, 1);
    let refused = beadle.get("/private/a", GPTBOT);
    assert_eq!(refused.status, 403);
    lines(&beadle, 2);
    beadle.get("/robots.txt", GPTBOT);
    let all = lines(&beadle, 3);
    let [person, crawler, robots] = &all[..] else { panic!("{all:?}") };
    for (field, value) in [
        ("schema", json!(1)),
        ("kind", json!("access")),
        ("site", json!("site.example")),
        ("client_ip", json!("127.0.0.1")),
        ("method", json!("GET")),
        ("host", json!("site.example")),
        ("target", json!("/open?q=1")),
        ("protocol", json!("HTTP/1.1")),
        ("tls", json!(false)),
        ("user_agent", json!(BROWSER)),
        ("referer", json!("https://a.example/b")),
        ("status", json!(200)),
        ("class", json!("browser")),
        ("product_token", Value::Null),
        ("action", json!("pass")),
        ("violation", Value::Null),
        ("origin", json!(format!("127.0.0.1:{}", origin.port))),
    ] {
        assert_eq!(person[field], value, "{field}");
    }
    assert!(person["duration_ms"].as_f64().is_some_and(|ms| ms > 0.0), "{person}");
    for (field, value) in [
        ("status", json!(403)),
        ("bytes", json!(refused.body.len())),
        ("class", json!("crawler")),
        ("product_token", json!("GPTBot")),
        ("verdict", json!("disallow")),
        ("reason", json!("robots.disallow")),
        ("action", json!("block")),
        ("origin", Value::Null),
        ("violation", beadle.records(1)[0]["id"].clone()),
    ] {
        assert_eq!(crawler[field], value, "{field}");
    }
    assert_eq!(robots["reason"], json!("robots.robots_txt"));
    beadle.wait_for_metric("beadle_access_log_lines_total", 3.0);
}

#[test]
fn requests_that_are_not_judged_have_a_line_too() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, RULES).server(LOG).start();
    let refusals: [(&[u8], u16, &str, Value); 5] = [
        (b"GET /a HTTP/1.1\r\nHost: other.example\r\n\r\n", 421, "proxy.unknown_host", json!("/a")),
        (b"GET /a HTTP/1.1\r\nHost: a b\r\n\r\n", 400, "proxy.bad_host", json!("/a")),
        (b"TRACE /a HTTP/1.1\r\nHost: site.example\r\n\r\n", 405, "proxy.trace", json!("/a")),
        (
            b"GET /a\x01 HTTP/1.1\r\nHost: site.example\r\n\r\n",
            400,
            "proxy.bad_request_line",
            Value::Null,
        ),
        (b"GET /a HTTP/1.1\r\nHost : site.example\r\n\r\n", 400, "proxy.bad_field", Value::Null),
    ];
    for (number, (sent, status, reason, target)) in refusals.into_iter().enumerate() {
        let mut client = Client::connect(beadle.port);
        client.write(sent);
        assert_eq!(client.response("GET").expect("an answer").status, status, "{reason}");
        let line = lines(&beadle, number + 1).pop().expect("a line");
        let found = [&line["status"], &line["reason"], &line["action"], &line["target"]];
        assert_eq!(found, [&json!(status), &json!(reason), &json!("refuse"), &target]);
        assert_eq!(line["client_ip"], json!("127.0.0.1"));
    }
}

#[test]
fn heads_that_are_too_large_or_too_slow_have_a_line_too() {
    let origin = Origin::plain();
    let limits = "  limits: { header_fields: 4, header_time: 1s }\n";
    let beadle = Setup::site(origin.port, RULES).server(LOG).server(limits).start();
    let fields: String = (0..9).map(|number| format!("X-{number}: 1\r\n")).collect();
    let large = format!("GET /a HTTP/1.1\r\nHost: site.example\r\n{fields}\r\n");
    for (number, (sent, status, reason)) in [
        (large.as_str(), 431, "proxy.header_fields"),
        ("GET /a HTTP/1.1\r\nHost: site.ex", 408, "proxy.header_time"),
    ]
    .into_iter()
    .enumerate()
    {
        let mut client = Client::connect(beadle.port);
        client.write(sent.as_bytes());
        assert_eq!(client.response("GET").expect("an answer").status, status, "{reason}");
        let line = lines(&beadle, number + 1).pop().expect("a line");
        let found = [&line["status"], &line["reason"], &line["action"], &line["client_ip"]];
        assert_eq!(found, [&json!(status), &json!(reason), &json!("refuse"), &json!("127.0.0.1")]);
    }
}

#[test]
fn a_tunnel_has_its_line_at_its_end() {
    let origin = Origin::playing(|exchange| {
        exchange.write(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nhello",
        );
        After::Close
    });
    let beadle = Setup::site(origin.port, RULES).server(LOG).start();
    let mut client = Client::connect(beadle.port);
    let request = Request::get("/ws").field("Connection", "Upgrade").field("Upgrade", "websocket");
    client.write(&request.bytes());
    assert_eq!(client.head().expect("an answer").status, 101);
    client.rest();
    drop(client);
    let line = &lines(&beadle, 1)[0];
    assert_eq!((&line["status"], &line["target"]), (&json!(101), &json!("/ws")));
}

#[test]
fn the_log_keeps_to_the_privacy_of_records() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, RULES)
        .violations("  log: $DIR/violations.jsonl\n  client_ip: network\n  redact_query: [token]\n")
        .server(LOG)
        .start();
    Request::get("/a?token=secret-1&x=1")
        .field("Referer", "https://site.example/b?token=secret-2")
        .field("Cookie", "session=secret-3")
        .field("Authorization", "Bearer secret-4")
        .send(beadle.port);
    let line = &lines(&beadle, 1)[0];
    assert_eq!(line["client_ip"], json!("127.0.0.0/24"));
    assert!(!line.to_string().contains("secret"), "{line}");
    assert!(line["target"].as_str().is_some_and(|target| target.ends_with("&x=1")), "{line}");
}

#[test]
fn the_combined_form_is_that_of_other_servers() {
    let origin = Origin::plain();
    let log = "  access_log: { file: stdout, format: combined }\n";
    let beadle = Setup::site(origin.port, RULES).server(log).start();
    beadle.get("/private/a\"", GPTBOT);
    let line = wait_for("a line", || beadle.stdout().lines().next().map(str::to_owned));
    let (start, rest) = line.split_once(" [").expect("a time");
    assert_eq!(start, "127.0.0.1 - -");
    let (_, rest) = rest.split_once("] ").expect("a time");
    let (request, rest) = rest.split_once(" 403 ").expect("a status");
    assert_eq!(request, "\"GET /private/a%22 HTTP/1.1\"");
    let (_, rest) = rest.split_once(' ').expect("a length");
    assert_eq!(
        rest,
        format!("\"-\" \"{GPTBOT}\" \"site.example\" \"block robots.disallow GPTBot\"")
    );
}

#[test]
fn records_and_requests_share_standard_output() {
    let origin = Origin::plain();
    let mut beadle = Setup::site(origin.port, RULES)
        .violations("  log: stdout\n")
        .server("  access_log: stdout\n")
        .start();
    for _ in 0..20 {
        beadle.get("/private/a", GPTBOT);
    }
    beadle.stop();
    let text = wait_for("all lines", || {
        let text = beadle.stdout();
        (text.lines().count() >= 40).then_some(text)
    });
    let all: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("a whole line")).collect();
    let requests = all.iter().filter(|line| line["kind"] == json!("access")).count();
    assert_eq!((all.len(), requests), (40, 20));
}

#[test]
fn the_file_is_reopened_after_rotation_and_complete_at_the_end() {
    let origin = Origin::plain();
    // A relative name starts at the folder of the policy.
    let log = "  access_log: access.log\n";
    let mut beadle = Setup::site(origin.port, RULES).server(log).start();
    beadle.get("/1", BROWSER);
    lines(&beadle, 1);
    let old = beadle.folder().join("access.log.1");
    fs::rename(path(&beadle), &old).expect("moved");
    for number in 2..=50 {
        beadle.get(&format!("/{number}"), BROWSER);
    }
    // What waits is written at the end.
    let (status, _) = beadle.stop();
    assert_eq!(status.code(), Some(0));
    assert_eq!((written(&old).len(), written(&path(&beadle)).len()), (1, 49));
}

#[test]
fn a_full_disk_stops_no_request_and_the_lost_lines_are_counted() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, RULES)
        .server("  access_log: $DIR/small/access.log\n")
        .on_small_disk("$DIR/small", "64k")
        .start();
    let target = format!("/{}", "a".repeat(6_000));
    for _ in 0..20 {
        assert_eq!(beadle.get(&target, BROWSER).status, 200);
    }
    beadle.wait_for_metric("beadle_access_log_degraded", 1.0);
    beadle.wait_for_stderr("cannot write the access log");
    assert!(beadle.metric("beadle_access_log_lines_total") > 0.0);
}

#[test]
fn a_file_that_cannot_be_opened_is_refused_at_the_start() {
    let origin = Origin::plain();
    let mut beadle =
        Setup::site(origin.port, RULES).server("  access_log: /nowhere/at/all.log\n").spawn();
    let (status, _) = beadle.wait();
    assert_eq!(status.code(), Some(2));
    beadle.wait_for_stderr("server.access_log: '/nowhere/at/all.log'");
}

/// What a log and a replay of it agree on: how often each name had each action.
fn verdicts<'v>(rows: impl Iterator<Item = (&'v str, &'v str, u64)>) -> Vec<(String, String, u64)> {
    let mut counts = std::collections::BTreeMap::<(String, String), u64>::new();
    for (name, action, count) in rows.filter(|(_, _, count)| *count > 0) {
        *counts.entry((name.to_owned(), action.to_owned())).or_default() += count;
    }
    counts.into_iter().map(|((name, action), count)| (name, action, count)).collect()
}

#[test]
fn the_log_replayed_gives_the_verdicts_of_the_proxy() {
    let origin = Origin::plain();
    let rules = "    robots_txt:\n      groups:\n        \
                 - { user_agents: [GPTBot], disallow: [/private/, \"/*?s=\"] }\n        \
                 - { user_agents: [\"*\"], disallow: [/admin/] }\n    \
                 enforcement:\n      mode: log\n      \
                 overrides: [{ user_agents: [GPTBot], mode: block }]\n";
    for format in ["json", "combined"] {
        let log = format!("  access_log: {{ file: $DIR/access.log, format: {format} }}\n");
        let beadle = Setup::site(origin.port, rules).server(&log).start();
        let clients = [GPTBOT, "CCBot/2.0", "curl/8.0", "Bytespider", BROWSER];
        let targets = [
            "/robots.txt",
            "/",
            "/private/a",
            "/PRIVATE/",
            "/private%2Fa",
            "//private/x",
            "/a?s=1",
            "/admin/x",
            "/admin%2Fx",
            "/x/../admin/",
            "/open?q=%22",
            "/caf\u{e9}",
            "/a\\b",
        ];
        for client in clients {
            for target in targets {
                Request::get(target).user_agent(client).send(beadle.port);
            }
        }
        let count = clients.len() * targets.len();
        let path = path(&beadle);
        let lines = wait_for("all lines", || {
            let lines = written(&path);
            (lines.len() == count).then_some(lines)
        });
        let replay = |args: &[&str]| {
            let output = Command::new(PROGRAM)
                .args(["replay", "--config"])
                .arg(beadle.policy_file())
                .args(args)
                .arg(&path)
                .output()
                .expect("it runs");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            output
        };
        // The requests that broke a rule. A request may overtake the log of the one before.
        let violations = json_lines(&replay(&["--violations", "--format", "json"]));
        let facts = |records: &[Value]| {
            let fields = ["path", "product_token", "reason", "action"];
            let facts = records.iter().map(|one| fields.map(|field| one[field].to_string()));
            let mut facts: Vec<_> = facts.collect();
            facts.sort();
            facts
        };
        let replayed = facts(&violations);
        let recorded = wait_for("the violations in the log", || {
            let mut records = beadle.log();
            records.retain(|one| one["reason"] != "robots.form");
            (records.len() >= replayed.len()).then_some(facts(&records))
        });
        assert_eq!(recorded.len(), 8, "{format}: {recorded:?}");
        assert_eq!(replayed, recorded, "{format}");
        if format == "combined" {
            continue;
        }
        // All requests of crawlers by their action.
        let logged: Vec<Value> =
            lines.iter().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let of_log = verdicts(logged.iter().filter(|one| one["class"] != "browser").map(|one| {
            // A replay counts other forms of closed paths apart from violations.
            let is_form = one["reason"] == "robots.form";
            let action = if is_form { "pass" } else { one["action"].as_str().expect("an action") };
            (one["product_token"].as_str().unwrap_or("-"), action, 1)
        }));
        let rows = json_lines(&replay(&["--format", "json"]));
        let crawlers = || rows.iter().filter(|row| row["kind"] == "crawler");
        let of_replay = verdicts(crawlers().flat_map(|row| {
            let name = row["product_token"].as_str().expect("a name");
            let number = |key: &str| row[key].as_u64().unwrap_or_default();
            let refused = ["log", "throttle", "block"].map(|action| (name, action, number(action)));
            let rest = number("requests") - refused.iter().map(|(_, _, count)| count).sum::<u64>();
            refused.into_iter().chain([(name, "pass", rest)])
        }));
        assert_eq!(of_replay, of_log);
    }
}

/// A level at which Beadle itself logs nothing.
const ONLY_PINGORA: &str = "pingora_proxy=trace";

/// Sends secrets in requests of every outcome, and returns what the program said on standard error.
fn said_at(level: &'static str) -> String {
    const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nSet-Cookie: a=secret-response\r\n\
                            WWW-Authenticate: Basic secret-challenge\r\nContent-Length: 11\r\n\r\n\
                            secret-body";
    let origin = Origin::playing(|exchange| {
        exchange.read_body();
        let target = exchange.request.target.clone();
        match &target[..] {
            // A head that can't be parsed, and a body that can't.
            b"/broken-head" => {
                exchange.write(b"HTTP/1.1 200 OK\r\nSet-Cookie: secret-head\r\nbad\x00line\r\n\r\n")
            }
            b"/broken-body" => exchange
                .write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nsecret-chunk\r\n"),
            _ => exchange.write(ANSWER),
        }
        After::Close
    });
    let beadle =
        Setup::site(origin.port, RULES).environment("BEADLE_LOG", PathBuf::from(level)).start();
    let with_secrets = |target: &str| {
        Request::new("POST", target)
            .user_agent(GPTBOT)
            .field("Cookie", "session=secret-cookie")
            .field("Authorization", "Bearer secret-token")
            .field("Proxy-Authorization", "Basic secret-proxy")
            .field("X-Api-Key", "secret-key")
            .field("Connection", "close")
            .body("secret-form")
    };
    for target in ["/open", "/private/a", "/robots.txt", "/broken-head", "/broken-body"] {
        let mut client = Client::connect(beadle.port);
        client.write(&with_secrets(target).bytes());
        client.rest();
    }
    // Requests that are refused while they are read.
    for broken in [
        "POST /a HTTP/1.1\r\nHost: site.example\r\nCookie: secret-one\r\nbad field: secret-two\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: site.example\r\nCookie: secret\x01-three\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: site.example\r\nAuthorization: secret-four\r\n\
         Transfer-Encoding: chunked\r\n\r\nsecret-five\r\n",
        "POST /a HTTP/9.9\r\nHost: site.example\r\nCookie: secret-six\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: site.example\r\nCookie: secret-seven\r\nContent-Length: 5\r\n\
         Content-Length: 6\r\n\r\nsecret-eight",
    ] {
        let mut client = Client::connect(beadle.port);
        client.write(broken.as_bytes());
        client.finish();
        client.rest();
    }
    // The admin listener reads messages, too.
    let mut admin = TcpStream::connect(("127.0.0.1", beadle.admin)).expect("it listens");
    let head = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
                Cookie: secret-session\r\nAuthorization: Bearer secret-admin\r\n\r\n";
    admin.write_all(head.as_bytes()).expect("it is open");
    std::io::copy(&mut admin, &mut std::io::sink()).expect("an answer");
    beadle.wait_for_metric("beadle_origin_failures_total{site=\"site.example\"}", 1.0);
    let mut beadle = beadle;
    let (status, _) = beadle.stop();
    assert_eq!(status.code(), Some(0));
    if level != ONLY_PINGORA {
        beadle.wait_for_stderr("stopped");
        assert!(beadle.stderr().contains("gave no response"), "{}", beadle.stderr());
    }
    beadle.stderr()
}

#[test]
fn no_level_of_the_log_shows_secrets_of_messages() {
    let levels = [
        "info",
        "debug",
        "trace",
        ONLY_PINGORA,
        "trace,pingora_core=trace,pingora_proxy=trace,hyper=trace,h2=trace",
    ];
    let all = levels.map(|level| (level, std::thread::spawn(move || said_at(level))));
    for (level, said) in all {
        let said = said.join().expect("it said something");
        let secrets: Vec<&str> = said.lines().filter(|line| line.contains("secret")).collect();
        assert!(secrets.is_empty(), "{level}: {secrets:#?}");
    }
}
