//! The configurations of `examples/beside-*`, with the real servers: they ask Beadle about each request
//! and answer it themselves.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use serde_json::Value;

use crate::support::{
    BROWSER,
    client::{Client, Request, Response},
    conditions::skip,
    free_port, need,
    origin::Origin,
    program::{PROGRAM, json_lines, try_status},
    wait_for,
};

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");

/// The address of the client, which is no trusted proxy.
const CLIENT: [u8; 4] = [127, 0, 0, 9];

/// The tags of `/drafts/`.
const X_ROBOTS_TAG: &str = "noindex, GPTBot: noarchive";

/// A server and its differences from the others.
struct Server {
    /// The end of the folder's name.
    name: &'static str,
    program: fn() -> Option<PathBuf>,
    /// Arguments in the folder of the example.
    arguments: &'static [&'static str],
    /// Whether it brings paths into one form for all behind it.
    normalizes: bool,
    /// Octets outside ASCII in a target get 400.
    is_strict: bool,
    /// The status without Beadle: of a page, and of robots.txt.
    alone: (u16, u16),
}

/// Processes that end with the test.
struct Processes(Vec<Child>);

impl Drop for Processes {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // It may have ended already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A server beside Beadle, over an application.
struct Beside {
    folder: tempfile::TempDir,
    web: u16,
    admin: u16,
    application: Origin,
    front: Processes,
    beadle: Processes,
}

impl Beside {
    fn start(server: &Server) -> Option<Self> {
        let program = (server.program)()?;
        let application = Origin::plain();
        let [web, proxy, decide, admin] = [(); 4].map(|()| free_port());
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let ports = [(3000, application.port), (8080, proxy), (9091, decide), (9090, admin)];
        let example = Path::new(EXAMPLES).join(format!("beside-{}", server.name));
        for entry in fs::read_dir(example).expect("the example is part of the project") {
            let file = entry.expect("readable");
            let text = fs::read_to_string(file.path()).expect("readable");
            let text = testable(text, web, &ports);
            fs::write(folder.path().join(file.file_name()), text).expect("the folder is ours");
        }
        if server.name == "nginx" {
            fs::write(folder.path().join("main.conf"), nginx_main(folder.path()))
                .expect("the folder is ours");
        }
        let beadle = run(
            Command::new(PROGRAM).args(["serve", "--config", "beadle.yaml"]),
            folder.path(),
            "beadle.log",
        );
        wait_for("Beadle", || (try_status(admin, "/readyz") == Some(200)).then_some(()));
        let front = run(Command::new(program).args(server.arguments), folder.path(), "server.log");
        let beside = Self { folder, web, admin, application, front, beadle };
        // It may listen before it knows its routes, or that Beadle is there.
        wait_for("the server", || {
            let mut client = Client::try_connect(web).ok()?;
            let rules = request("GET", "/robots.txt", BROWSER).bytes();
            client.try_write(&rules).ok()?;
            (client.head().ok()?.status == 200).then_some(())
        });
        Some(beside)
    }

    /// The answer to a request of the client.
    fn send(&self, request: &Request) -> Response {
        request.send_over(&mut Client::connect_from(CLIENT, self.web))
    }

    fn get(&self, target: impl AsRef<[u8]>, user_agent: &str) -> Response {
        self.send(&request("GET", target, user_agent))
    }

    /// Waits for this many records; returns all, those of other forms too.
    fn records(&self, count: usize) -> Vec<Value> {
        let listed = |more: &[&str]| {
            let output = Command::new(PROGRAM)
                .args(["violations", "--config", "beadle.yaml", "--format", "json"])
                .args(more)
                .current_dir(self.folder.path())
                .output()
                .expect("the program can be started");
            json_lines(&output)
        };
        wait_for("records", || {
            let mut records = [listed(&[]), listed(&["--reason", "robots.form"])].concat();
            records.sort_by(|a, b| a["id"].as_str().cmp(&b["id"].as_str()));
            (records.len() >= count).then_some(records)
        })
    }

    /// The lines of a metric family.
    fn metric(&self, family: &str) -> Vec<String> {
        let page = Request::get("/metrics").host("localhost").send(self.admin).text();
        page.lines().filter(|line| line.starts_with(family)).map(str::to_owned).collect()
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        if std::thread::panicking() {
            for log in ["beadle.log", "server.log", "error.log"] {
                let text = fs::read_to_string(self.folder.path().join(log)).unwrap_or_default();
                eprintln!("--- {log}:\n{text}");
            }
        }
        drop(std::mem::replace(&mut self.front, Processes(Vec::new())));
    }
}

/// An example with free ports in place of its own, without TLS.
fn testable(text: String, web: u16, ports: &[(u16, u16)]) -> String {
    let caddy = format!(
        "\n{{\n\tadmin off\n\tpersist_config off\n}}\n\
         http://www.example.com:{web} {{\n\tbind 127.0.0.1\n"
    );
    let mut text = text
        .replace("listen 80;", &format!("listen 127.0.0.1:{web};"))
        .replace("bind :80\n", &format!("bind 127.0.0.1:{web}\n"))
        .replace("\":80\"", &format!("\"127.0.0.1:{web}\""))
        .replace("0.0.0.0, port_value: 80 }", &format!("127.0.0.1, port_value: {web} }}"))
        .replace("\nwww.example.com {\n", &caddy)
        .replace("/etc/haproxy/", "")
        .replace("/etc/traefik/", "");
    for (own, free) in ports {
        text = text
            .split(&format!("127.0.0.1:{own}"))
            .enumerate()
            // A free port may begin with the digits of another one.
            .map(|(number, rest)| {
                match (number, rest.starts_with(|next: char| next.is_ascii_digit())) {
                    (0, _) => rest.to_owned(),
                    (_, true) => format!("127.0.0.1:{own}{rest}"),
                    (_, false) => format!("127.0.0.1:{free}{rest}"),
                }
            })
            .collect::<String>()
            .replace(&format!("port_value: {own} "), &format!("port_value: {free} "));
    }
    text
}

/// What stands around a file of `conf.d`.
fn nginx_main(folder: &Path) -> String {
    let at = folder.display();
    let mut text = format!(
        "daemon off; master_process off; pid {at}/pid; error_log {at}/error.log;\n\
         events {{ worker_connections 256; }}\nhttp {{\n  access_log off;\n"
    );
    for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"] {
        text.push_str(&format!("  {kind}_temp_path {at}/{kind};\n"));
    }
    text.push_str("  include nginx.conf;\n}\n");
    text
}

fn run(command: &mut Command, folder: &Path, log: &str) -> Processes {
    let log = File::create(folder.join(log)).expect("the folder is ours");
    let child = command
        .current_dir(folder)
        .env("HOME", folder)
        .env_remove("BEADLE_LOG")
        .env_remove("BEADLE_CONFIG")
        .stdin(Stdio::null())
        .stdout(log.try_clone().expect("a second handle"))
        .stderr(log)
        .spawn()
        .expect("the program can be started");
    Processes(vec![child])
}

/// A program that `.ci/run` installs beside the build.
fn installed(name: &str) -> Option<PathBuf> {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../servers/bin").join(name);
    if !program.is_file() {
        skip(&format!("{name} is not installed (see .ci/run)"));
        return None;
    }
    Some(program)
}

fn request(method: &str, target: impl AsRef<[u8]>, user_agent: &str) -> Request {
    Request::new(method, target).host("www.example.com").user_agent(user_agent)
}

// === what all of them do

fn check(server: &Server) {
    let Some(mut beside) = Beside::start(server) else { return };
    passed_requests_have_the_tags(&beside);
    refusals_reach_the_client(&beside);
    forged_fields_have_no_effect(&beside);
    raw_targets_are_judged(&beside, server);
    what_the_application_sees_is_judged(&beside);
    // Nothing was asked wrongly, and each violation and each other form counts once.
    assert!(beside.metric("beadle_refusals_total").is_empty());
    let counters = ["beadle_violations_total{", "beadle_other_forms_total{"];
    let counted = counters.map(|family| beside.metric(family)).concat();
    let count = counted.iter().filter_map(|line| line.rsplit_once(' ')?.1.parse::<usize>().ok());
    assert_eq!(count.sum::<usize>(), beside.records(0).len());
    without_beadle(&mut beside, server);
}

fn passed_requests_have_the_tags(beside: &Beside) {
    let page = beside.get("/drafts/1?q", BROWSER);
    assert_eq!((page.status, page.text().as_str()), (200, "origin: /drafts/1?q"));
    let tags = page.header("robots-tag").expect("a tag");
    assert!(tags.starts_with("*;noindex, GPTBot;no"), "{tags}");
    assert_eq!(page.header("x-robots-tag"), Some(X_ROBOTS_TAG));
    let plain = beside.get("/", BROWSER);
    assert_eq!((plain.status, plain.header("x-robots-tag")), (200, None));
    let form = beside.send(&request("POST", "/form", BROWSER).body("a=1"));
    assert_eq!(form.status, 200);
    assert_eq!(beside.application.last().body, b"a=1");
    // Another spelling is answered by the rules, or leads to them; never by the application.
    let other = beside.get("/robots%2etxt", BROWSER);
    assert!(other.status == 308 || other.text().contains("User-agent: GPTBot\n"), "{other:?}");
    let rules = beside.get("/robots.txt", "GPTBot/1.2");
    assert_eq!(rules.status, 200);
    assert!(rules.text().contains("User-agent: GPTBot\nDisallow: /\n"), "{}", rules.text());
}

fn refusals_reach_the_client(beside: &Beside) {
    beside.application.forget();
    let page = beside.get("/x", "GPTBot/1.2");
    assert_eq!(page.status, 403);
    let record = beside.records(1).remove(0);
    assert!(page.text().contains(record["id"].as_str().expect("an id")), "{}", page.text());
    assert_eq!((page.header("cache-control"), &record["status"]), (Some("no-store"), &403.into()));
    // It fetched the file above.
    assert_eq!(record["robots_read"]["state"], "current");
    assert!(page.header("x-beadle-refusal").is_none());
    let drafts = beside.get("/drafts/1", "GPTBot/1.2");
    assert_eq!((drafts.status, drafts.all("robots-tag").len()), (403, 1));
    assert_eq!(beside.send(&request("HEAD", "/y", "GPTBot/1.2")).status, 403);
    assert_eq!(beside.send(&request("POST", "/z", "GPTBot/1.2").body("a=1")).status, 403);
    let records = beside.records(4);
    let methods: Vec<&str> =
        records.iter().filter_map(|record| record["method"].as_str()).collect();
    assert_eq!(methods, ["GET", "GET", "HEAD", "POST"]);
    assert!(beside.application.received().is_empty(), "no refused request reaches it");
    for _ in 0..3 {
        assert_eq!(beside.get("/b", "bingbot/2.0").status, 200);
    }
    let page = beside.get("/b", "bingbot/2.0");
    assert_eq!(page.status, 429);
    let seconds: u64 = page.header("retry-after").expect("a time").parse().expect("seconds");
    assert!((1..=10).contains(&seconds) && page.text().contains("comes too fast"));
    assert_eq!(beside.records(5)[4]["status"], 429);
}

fn forged_fields_have_no_effect(beside: &Beside) {
    let forged = request("GET", "/forged", "GPTBot/1.2")
        .field("X-Forwarded-For", "66.249.66.1")
        .field("X-Forwarded-Method", "OPTIONS")
        .field("X-Forwarded-Uri", "/robots.txt")
        .field("X-Forwarded-Host", "other.example")
        .field("X-Forwarded-Proto", "gopher")
        .field("X-Original-URL", "/robots.txt")
        .field("X-Original-Method", "OPTIONS")
        .field("Forwarded", "for=66.249.66.1")
        .field("X-Beadle-Refusal", "0".repeat(32));
    // What a client names in `Connection`, servers may remove.
    let removed = request("GET", "/forged", "GPTBot/1.2").field(
        "Connection",
        "close, X-Forwarded-For, X-Forwarded-Uri, X-Forwarded-Method, X-Forwarded-Host",
    );
    for (number, request) in [forged, removed].iter().enumerate() {
        let status = beside.send(request).status;
        if number == 1 && status == 400 {
            // The server refuses such a request itself: Beadle counts no wrong question.
            continue;
        }
        assert_eq!(status, 403);
        let record = beside.records(6 + number).remove(5 + number);
        assert_eq!(record["client_ip"], "127.0.0.9");
        assert_eq!((&record["method"], &record["path"]), (&"GET".into(), &"/forged".into()));
        assert_eq!(record["host"], "www.example.com");
    }
}

fn raw_targets_are_judged(beside: &Beside, server: &Server) {
    for (target, path, reason) in [
        ("/a/../private/x?y", "/private/x?y", "robots.disallow"),
        ("//private/x", "/private/x", "robots.form"),
        ("/private%2fx?y", "/private%2Fx?y", "robots.form"),
        ("/%70rivate/x", "/private/x", "robots.disallow"),
    ] {
        let before = beside.records(0).len();
        let page = beside.get(target, "AhrefsBot/7.0");
        if server.normalizes && page.status == 400 {
            // It refuses an encoded slash.
            continue;
        }
        assert_eq!(page.status, 200, "{target}");
        let record = beside.records(before + 1).remove(before);
        let sent = beside.application.last().target;
        let expected = if server.normalizes { path } else { target };
        assert_eq!(sent, expected.as_bytes(), "the application gets what was judged");
        assert_eq!(record["path"], expected, "{target}");
        if !server.normalizes {
            assert_eq!(record["reason"], reason, "{target}");
        }
    }
    let status = beside.get(b"/caf\xc3\xa9", BROWSER).status;
    assert_eq!(status, if server.is_strict { 400 } else { 200 });
    let known = beside.records(0).len();
    assert_eq!(beside.get("/public/%2e%2e/x", "AhrefsBot/7.0").status, 200);
    assert_eq!(beside.records(0).len(), known);
}

/// Servers pass on one of two lines, both, or both in one, and some let `Connection` remove the field.
fn what_the_application_sees_is_judged(beside: &Beside) {
    const BOT: &str = "GPTBot/1.2";
    let removed = request("GET", "/x", BOT).field("Connection", "close, User-Agent");
    let two = |first: &str, second: &str| request("GET", "/x", first).field("User-Agent", second);
    for request in [removed, two(BROWSER, BOT), two(BOT, BROWSER), two("", BOT), two("x/1", BOT)] {
        let before = beside.records(0).len();
        beside.application.forget();
        let status = beside.send(&request).status;
        if status == 200 {
            let seen = beside.application.last().all("user-agent").join(", ");
            assert!(!seen.contains(BOT), "{seen}");
        } else {
            assert_eq!((status, beside.application.received().len()), (403, 0));
            let record = beside.records(before + 1).remove(before);
            assert!(record["user_agent"].as_str().expect("a text").contains(BOT), "{record}");
        }
    }
}

fn without_beadle(beside: &mut Beside, server: &Server) {
    beside.beadle = Processes(Vec::new());
    let (page, rules) = server.alone;
    let found = beside.get("/x", "GPTBot/1.2");
    assert_eq!(found.status, page);
    assert_eq!(found.text() == "origin: /x", page == 200);
    assert_eq!(beside.get("/robots.txt", "GPTBot/1.2").status, rules);
}

// === each of them

#[test]
fn nginx_asks_and_fetches_refusals_once() {
    check(&Server {
        name: "nginx",
        program: || need("nginx"),
        arguments: &["-p", ".", "-c", "main.conf", "-e", "error.log"],
        normalizes: false,
        is_strict: false,
        alone: (200, 502),
    });
}

#[test]
fn caddy_asks() {
    check(&Server {
        name: "caddy",
        program: || installed("caddy"),
        arguments: &["run", "--config", "Caddyfile", "--adapter", "caddyfile"],
        normalizes: false,
        is_strict: false,
        alone: (200, 502),
    });
}

#[test]
fn traefik_asks() {
    check(&Server {
        name: "traefik",
        program: || installed("traefik"),
        arguments: &["--configFile=traefik.yaml"],
        normalizes: true,
        is_strict: false,
        alone: (500, 502),
    });
}

#[test]
fn envoy_asks() {
    check(&Server {
        name: "envoy",
        program: || installed("envoy"),
        arguments: &["-c", "envoy.yaml", "--disable-hot-restart", "--concurrency", "1"],
        normalizes: false,
        is_strict: true,
        alone: (200, 503),
    });
}

const HAPROXY: Server = Server {
    name: "haproxy",
    program: || need("haproxy"),
    arguments: &["-f", "haproxy.cfg", "-db"],
    normalizes: false,
    is_strict: true,
    alone: (200, 503),
};

#[test]
fn haproxy_asks() {
    check(&HAPROXY);
}

#[test]
fn haproxy_stands_any_number_of_field_lines() {
    let Some(beside) = Beside::start(&HAPROXY) else { return };
    for lines in (0..=200).step_by(10).chain(71..110) {
        let all = (0..lines).fold(request("GET", "/x", BROWSER), |all, number| {
            all.field(&format!("X-{number}"), "1")
        });
        let status = beside.send(&all).status;
        // It refuses more than 101 lines itself.
        let expected: &[u16] = if lines <= 70 { &[200] } else { &[200, 400, 431] };
        assert!(expected.contains(&status), "{lines} lines: {status}");
        assert!(lines < 80 || status != 200, "{lines} lines reach Beadle");
    }
    assert_eq!(beside.get("/x", BROWSER).status, 200);
}
