//! The origin's robots.txt, published and enforced unchanged or merged with the policy's groups
//! (RFC 9309 §2.3.1), for every kind of answer.

use std::{
    cell::Cell,
    io::Write,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use parking_lot::Mutex;
use serde_json::Value;

use crate::support::{
    BROWSER,
    client::Response,
    free_port,
    nginx::Nginx,
    origin::{After, Origin},
    program::{Beadle, PROGRAM, Setup, json_lines},
    wait_for,
};

const GPTBOT: &str = "GPTBot/1.2";
const GOOD: &str = "User-agent: *\nDisallow: /private/\n";
const OTHER: &str = "User-agent: *\nDisallow: /other/\n";
const CLOSED: &str = "User-agent: *\nDisallow: /\n";
const AS_IT_IS: &str = "source: origin";

/// The origin's answer for one path.
#[derive(Clone, Debug)]
struct Reply {
    bytes: Vec<u8>,
    /// Answers once this is true.
    gate: Arc<AtomicBool>,
}

impl Reply {
    fn raw(bytes: impl AsRef<[u8]>) -> Self {
        Self { bytes: bytes.as_ref().to_vec(), gate: Arc::new(AtomicBool::new(true)) }
    }

    fn answer(status: &str, fields: &[&str], body: impl AsRef<[u8]>) -> Self {
        let fields: String = fields.iter().map(|line| format!("{line}\r\n")).collect();
        let length = body.as_ref().len();
        let head = format!("HTTP/1.1 {status}\r\n{fields}Content-Length: {length}\r\n\r\n");
        Self::raw([head.as_bytes(), body.as_ref()].concat())
    }

    fn file(text: impl AsRef<[u8]>) -> Self {
        Self::answer("200 OK", &["Content-Type: text/plain"], text)
    }

    fn redirect(location: &str) -> Self {
        Self::answer("302 Found", &[&format!("Location: {location}")], "")
    }

    fn behind(self, gate: &Arc<AtomicBool>) -> Self {
        Self { gate: Arc::clone(gate), ..self }
    }
}

/// An origin's answers by path; all other paths have a page.
type Paths = Arc<Mutex<Vec<(String, Reply)>>>;

fn origin_on(port: u16, paths: &Paths) -> Origin {
    let paths = Arc::clone(paths);
    Origin::playing_on(port, move |exchange| {
        exchange.read_body();
        let target = String::from_utf8_lossy(&exchange.request.target).into_owned();
        let reply = {
            let paths = paths.lock();
            paths.iter().find(|(path, _)| *path == target).map(|(_, reply)| reply.clone())
        };
        match reply {
            Some(reply) => {
                wait_for("the gate", || reply.gate.load(Ordering::Acquire).then_some(()));
                exchange.write(&reply.bytes);
                After::Close
            }
            None => {
                exchange.answer("200 OK", &["Content-Type: text/plain"], b"a page");
                After::Keep
            }
        }
    })
}

/// The program in front of an origin whose answers change.
struct World {
    origin: Option<Origin>,
    port: u16,
    paths: Paths,
    beadle: Beadle,
    robots_txt: String,
    turns: Cell<u32>,
}

fn setup(port: u16, robots_txt: &str, turn: u32) -> Setup {
    Setup::site(
        port,
        &format!(
            "    robots_txt: {{ {robots_txt} }}\n    enforcement: {{ mode: block }}\n    \
             # turn {turn}\n"
        ),
    )
}

impl World {
    fn new(robots_txt: &str, reply: Reply) -> Self {
        let paths = Paths::default();
        let origin = origin_on(free_port(), &paths);
        let port = origin.port;
        put(&paths, "/robots.txt", reply);
        let beadle = setup(port, robots_txt, 0).start();
        let (origin, turns) = (Some(origin), Cell::new(0));
        Self { origin, port, paths, beadle, robots_txt: robots_txt.to_owned(), turns }
    }

    fn set(&self, reply: Reply) {
        put(&self.paths, "/robots.txt", reply);
    }

    /// Fetches from the origin again: a new policy in force does that at once.
    fn refetch(&self) {
        self.turns.set(self.turns.get() + 1);
        self.beadle.reload(&setup(self.port, &self.robots_txt, self.turns.get()));
    }

    /// Changes the origin's answer and fetches it.
    fn publish(&self, reply: Reply) {
        self.set(reply);
        self.refetch();
    }

    fn stop_origin(&mut self) {
        self.origin = None;
        let port = self.port;
        wait_for("the origin's end", || {
            std::net::TcpStream::connect(("127.0.0.1", port)).is_err().then_some(())
        });
    }

    fn start_origin(&mut self) {
        self.origin = Some(origin_on(self.port, &self.paths));
    }

    fn restarted(self, signal: &str) -> Self {
        let setup = setup(self.port, &self.robots_txt, self.turns.get());
        Self { beadle: self.beadle.restarted_as(signal, setup), ..self }
    }

    fn robots_txt(&self) -> Response {
        let answer = self.beadle.get("/robots.txt", BROWSER);
        assert_eq!(answer.status, 200, "robots.txt can't fail");
        answer
    }

    fn status(&self, target: &str) -> u16 {
        self.beadle.get(target, GPTBOT).status
    }

    fn fetched(&self, outcome: &str) -> f64 {
        let labels = format!("outcome=\"{outcome}\",site=\"site.example\"");
        self.beadle.metric(&format!("beadle_origin_robots_fetches_total{{{labels}}}"))
    }

    fn held(&self) -> f64 {
        self.beadle.metric("beadle_origin_robots_held{site=\"site.example\"}")
    }

    fn assert_serves(&self, file: &str, what: &str) {
        assert_eq!(self.robots_txt().text(), file, "{what}");
    }

    fn wait_until_served(&self, file: &str) {
        wait_for(file, || (self.robots_txt().text() == file).then_some(()));
    }

    /// The lines of the log that contain this.
    fn lines(&self, text: &str) -> Vec<String> {
        self.beadle.wait_for_stderr(text);
        let stderr = self.beadle.stderr();
        stderr.lines().filter(|line| line.contains(text)).map(str::to_owned).collect()
    }

    fn wait_for_rows(&self, sql: &str, expected: &[&str]) {
        wait_for(sql, || (self.beadle.rows(sql) == expected).then_some(()));
    }

    fn accept(&self) -> String {
        let output = accept_verb(&self.beadle);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

fn put(paths: &Paths, path: &str, reply: Reply) {
    let mut paths = paths.lock();
    paths.retain(|(other, _)| other != path);
    paths.push((path.to_owned(), reply));
}

/// `robots accept`, with the policy named before or after the word, in turn.
fn accept_verb(beadle: &Beadle) -> std::process::Output {
    static TURN: AtomicBool = AtomicBool::new(false);
    if TURN.fetch_not(Ordering::Relaxed) {
        return beadle.verb(&["robots", "accept"]);
    }
    let mut verb = std::process::Command::new(PROGRAM);
    verb.args(["robots", "accept", "--config"]).arg(beadle.policy_file());
    verb.output().expect("the program can be started")
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).expect("it is in memory");
    encoder.finish().expect("it is in memory")
}

/// Answers that carry no rules, with their codes.
fn failures() -> Vec<(&'static str, Reply)> {
    let html = "<!doctype html><title>Sign in</title>";
    let long = format!("User-agent: *\nDisallow: /private/\n{}", "# long\n".repeat(90_000));
    vec![
        ("origin_robots.unreachable", Reply::answer("500 Internal Server Error", &[], CLOSED)),
        ("origin_robots.unreachable", Reply::answer("503 Service Unavailable", &[], OTHER)),
        ("origin_robots.unreachable", Reply::answer("429 Too Many Requests", &[], OTHER)),
        ("origin_robots.html", Reply::answer("200 OK", &["Content-Type: text/html"], OTHER)),
        ("origin_robots.html", Reply::file(html)),
        ("origin_robots.too_large", Reply::file(long)),
        ("origin_robots.binary", Reply::file(b"User-agent: *\nDisallow: /\0\n")),
        ("origin_robots.status", Reply::answer("204 No Content", &[], "")),
        ("origin_robots.no_location", Reply::answer("301 Moved Permanently", &[], OTHER)),
        ("origin_robots.transport", Reply::raw("")),
        ("origin_robots.transport", Reply::raw("not HTTP at all\r\n\r\n")),
        (
            "origin_robots.transport",
            Reply::raw(format!("HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n{CLOSED}")),
        ),
    ]
}

#[test]
fn before_the_first_good_answer_nothing_is_enforced_and_an_error_is_logged() {
    let world = World::new(AS_IT_IS, Reply::answer("500 Internal Server Error", &[], CLOSED));
    for (number, (code, reply)) in failures().into_iter().enumerate() {
        let before = world.fetched(code);
        world.publish(reply.clone());
        assert!(world.fetched(code) > before, "{number}: {code} for {:?}", reply.bytes.len());
        assert_eq!(world.status("/private/x"), 200, "{number}: {code}");
        assert_eq!(world.status("/"), 200, "{number}: {code}");
        let rules = world.robots_txt().text();
        assert!(!rules.to_lowercase().contains("disallow"), "{number}: {rules}");
        let named = world.lines(&format!("code=\"{code}\""));
        let last = named.last().unwrap_or_else(|| panic!("{number}: {code} is not in the log"));
        assert!(last.contains("ERROR") && last.contains("nobody is held to any rule"), "{last}");
    }
    assert!(world.beadle.rows("SELECT id FROM editions").is_empty(), "nothing was published");
    // The first good answer is published and enforced.
    world.publish(Reply::file(GOOD));
    world.assert_serves(GOOD, "the first good answer");
    assert_eq!(world.status("/other/x"), 200);
}

#[test]
fn rfc9309_2_3_1_after_a_good_answer_failures_change_nothing() {
    let world = World::new(AS_IT_IS, Reply::file(GOOD));
    world.assert_serves(GOOD, "at the start");
    assert_eq!(world.status("/private/x"), 403);
    let tag = world.robots_txt().header("etag").map(str::to_owned);
    for (number, (code, reply)) in failures().into_iter().enumerate() {
        let before = world.fetched(code);
        world.publish(reply);
        assert!(world.fetched(code) > before, "{number}: {code}");
        world.assert_serves(GOOD, code);
        assert_eq!(world.robots_txt().header("etag"), tag.as_deref());
        assert_eq!(world.status("/private/x"), 403, "{number}: {code}");
        assert_eq!(world.status("/"), 200, "{number}: {code}");
        let named = world.lines(&format!("code=\"{code}\""));
        let last = named.last().unwrap_or_else(|| panic!("{number}: {code} is not in the log"));
        assert!(last.contains("WARN") && last.contains("the last good one stays"), "{last}");
    }
    assert_eq!(world.held(), 0.0);
    world.wait_for_rows("SELECT CAST(bytes AS TEXT) FROM editions", &[GOOD]);
}

#[test]
fn rfc9309_2_3_1_3_a_missing_file_means_no_rules() {
    let world = World::new(AS_IT_IS, Reply::file(GOOD));
    world.beadle.get("/robots.txt", GPTBOT);
    for status in ["404 Not Found", "403 Forbidden", "410 Gone", "401 Unauthorized", "400 Bad"] {
        assert_eq!(world.status("/private/x"), 403, "before {status}");
        world.publish(Reply::answer(status, &["Content-Type: text/html"], "<h1>Nothing</h1>"));
        let text = world.robots_txt().text();
        assert!(!text.contains("Disallow"), "{status}: {text}");
        assert_eq!(world.status("/private/x"), 200, "{status}");
        world.publish(Reply::file(GOOD));
        // A crawler that fetched nothing may go by the edition without rules.
        let never = world.beadle.get("/private/x", "Amazonbot/0.1");
        assert_eq!((never.status, world.status("/private/x")), (200, 403), "{status}");
    }
    assert_eq!(world.fetched("no_rules"), 5.0);
}

#[test]
fn rfc9309_2_3_1_1_the_file_is_published_byte_for_byte() {
    let odd = "\u{feff}# Zwölf Regeln\r\nuser-AGENT:GPTBot # ours\r\nDISALLOW : /private/\r\n\r\n\
               Crawl-delay: 3\rSitemap: https://site.example/s.xml\n\n\nNonsense\nAllow: /private/ok";
    let world = World::new(AS_IT_IS, Reply::file(odd));
    let answer = world.robots_txt();
    assert_eq!(answer.body, odd.as_bytes());
    let asked = world.origin.as_ref().map(|origin| origin.received().remove(0)).unwrap_or_default();
    assert_eq!((asked.method.as_str(), asked.target.as_slice()), ("GET", &b"/robots.txt"[..]));
    assert_eq!(asked.header("host"), Some("site.example"));
    assert!(asked.header("user-agent").is_some_and(|name| name.starts_with("beadle/")));
    assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"));
    assert_eq!((world.status("/private/x"), world.status("/private/ok")), (403, 200));
    let args = ["explain", "--user-agent", GPTBOT, "https://site.example/private/x"];
    world.wait_for_rows("SELECT source FROM edition_periods", &["origin"]);
    let text = String::from_utf8_lossy(&world.beadle.verb(&args).stdout).into_owned();
    assert!(text.contains("/private/") && text.contains("robots.txt line 3"), "{text}");
    let printed = world.beadle.verb(&["robots"]);
    assert_eq!(printed.stdout, odd.as_bytes(), "{printed:?}");
    // Content codings that Beadle requested are decoded.
    let fields = ["Content-Type: text/plain", "Content-Encoding: gzip"];
    world.publish(Reply::answer("200 OK", &fields, gzip(OTHER)));
    world.assert_serves(OTHER, "gzip");
    world.publish(Reply::answer("200 OK", &["Content-Encoding: br"], OTHER));
    world.assert_serves(OTHER, "a coding that Beadle did not request");
    // An empty file has no rules.
    world.publish(Reply::file(""));
    world.assert_serves("", "an empty file");
    assert_eq!(world.status("/private/x"), 200);
}

#[test]
fn an_origin_that_is_down_at_the_start_is_fetched_from_later() {
    let paths = Paths::default();
    put(&paths, "/robots.txt", Reply::file(GOOD));
    let port = Origin::absent();
    let beadle = setup(port, AS_IT_IS, 0).start();
    let mut world = World {
        origin: None,
        port,
        paths,
        beadle,
        robots_txt: AS_IT_IS.to_owned(),
        turns: Cell::new(0),
    };
    assert!(world.fetched("origin_robots.transport") >= 1.0);
    assert!(world.lines("nobody is held to").iter().all(|line| line.contains("ERROR")));
    assert_eq!(world.lines("nobody is held to any rule of it").len(), 1, "and not each time");
    // A crawler fetches the placeholder.
    let open = world.beadle.get("/robots.txt", GPTBOT);
    assert_eq!((open.status, open.text().contains("Disallow")), (200, false));
    world.start_origin();
    world.wait_until_served(GOOD);
    world.beadle.wait_for_stderr("the origin's robots.txt is in force");
    assert_eq!(world.status("/private/x"), 200, "it has read that all is allowed");
    world.wait_for_rows("SELECT source FROM edition_periods", &["origin", "origin"]);
    let mut world = world.restarted("KILL");
    world.assert_serves(GOOD, "after a restart");
    assert_eq!(world.status("/private/x"), 200, "that is known after a restart as well");
    world.beadle.get("/robots.txt", GPTBOT);
    assert_eq!(world.status("/private/x"), 403);
    // When the origin is down again, rules and file stay.
    world.stop_origin();
    world.refetch();
    world.assert_serves(GOOD, "down");
    let answer = world.beadle.get("/private/x", GPTBOT);
    assert_eq!(answer.status, 403);
    // They stay after a restart too.
    let world = world.restarted("TERM");
    world.assert_serves(GOOD, "after a restart, down");
    assert_eq!(world.status("/private/x"), 403);
}

#[test]
fn a_slow_answer_delays_the_start_briefly_and_counts_when_it_comes() {
    let gate = Arc::new(AtomicBool::new(false));
    let world = World::new(AS_IT_IS, Reply::file(GOOD).behind(&gate));
    // The program is ready, and there are no rules yet.
    assert_eq!(world.status("/private/x"), 200);
    assert!(!world.robots_txt().text().contains("Disallow"));
    gate.store(true, Ordering::Release);
    world.wait_until_served(GOOD);
    world.beadle.get("/robots.txt", GPTBOT);
    assert_eq!(world.status("/private/x"), 403);
}

#[test]
fn rfc9309_2_3_1_2_redirects_are_followed_to_hosts_of_the_policy() {
    let other = Paths::default();
    put(&other, "/their/robots.txt", Reply::file(OTHER));
    let other = origin_on(free_port(), &other);
    let paths = Paths::default();
    let origin = origin_on(free_port(), &paths);
    for (from, to) in [("/1", "/2"), ("/2", "/3"), ("/3", "/4"), ("/4", "/5"), ("/5", "/end")] {
        put(&paths, from, Reply::redirect(to));
    }
    put(&paths, "/end", Reply::file(OTHER));
    put(&paths, "/file", Reply::file(GOOD));
    let sites = |turn: u32| {
        Setup::sites(&format!(
            "  - hosts: [site.example]\n    origin: http://127.0.0.1:{}\n    robots_txt: \
             {{ source: origin }}\n    enforcement: {{ mode: block }}\n  - hosts: [other.example]\n    \
             origin: http://127.0.0.1:{}\n    robots_txt: {{ groups: [{{ user_agents: [\"*\"] }}] }}\n  \
             # turn {turn}\n",
            origin.port, other.port
        ))
    };
    put(&paths, "/robots.txt", Reply::file(GOOD));
    let beadle = sites(0).start();
    let world = World {
        origin: None,
        port: origin.port,
        paths: Arc::clone(&paths),
        beadle,
        robots_txt: String::new(),
        turns: Cell::new(0),
    };
    let away = format!("http://127.0.0.1:{}/robots.txt", Origin::absent());
    for (turn, (location, served, code)) in [
        ("/2", OTHER, "rules"), // the fifth leads to the end
        ("/1", OTHER, "origin_robots.redirects"),
        ("/robots.txt", OTHER, "origin_robots.redirect_loop"),
        (&away, OTHER, "origin_robots.redirect_away"),
        ("https://elsewhere.example/robots.txt", OTHER, "origin_robots.redirect_away"),
        ("ftp://site.example/robots.txt", OTHER, "origin_robots.redirect_away"),
        ("https://site.example/file", GOOD, "rules"),
        ("https://other.example/their/robots.txt", OTHER, "rules"),
        ("/file", GOOD, "rules"),
        ("//other.example/their/robots.txt", OTHER, "rules"),
    ]
    .into_iter()
    .enumerate()
    {
        world.set(Reply::redirect(location));
        let before = world.fetched(code);
        world.beadle.reload(&sites(turn as u32 + 1));
        assert_eq!(world.fetched(code), before + 1.0, "{location}");
        world.assert_serves(served, location);
    }
    let named = world.lines("is no host of the policy");
    assert!(named.iter().any(|line| line.contains("https://elsewhere.example/robots.txt")));
}

const OURS: &str = "source: merge, groups: [{ user_agents: [\"*\"], disallow: [/ours/] }, \
    { user_agents: [GPTBot], disallow: [/gpt/] }, \
    { user_agents: [CCBot], override: true, disallow: [/cc/] }]";
const THEIRS: &str = "User-agent: *\nDisallow: /theirs/\nAllow: /ours/open\n\n\
    User-agent: ccbot\nDisallow: /\n\nUser-agent: bingbot\nDisallow: /bing/\n\n\
    Sitemap: https://site.example/s.xml\n";

#[test]
fn a_merged_file_has_the_rules_of_both_for_each_crawler() {
    let mut world = World::new(OURS, Reply::file(THEIRS));
    let text = world.robots_txt().text();
    assert!(text.contains("Sitemap: https://site.example/s.xml"), "{text}");
    let status = |target: &str, user_agent: &str| world.beadle.get(target, user_agent).status;
    for (user_agent, target, expected) in [
        ("Amazonbot/0.1", "/ours/x", 403),
        ("Amazonbot/0.1", "/theirs/x", 403),
        ("Amazonbot/0.1", "/ours/open", 200),
        ("Amazonbot/0.1", "/gpt/x", 200),
        (GPTBOT, "/gpt/x", 403),
        // For a crawler only its own group counts (RFC 9309 §2.2.1).
        (GPTBOT, "/theirs/x", 200),
        ("bingbot/2.0", "/bing/x", 403),
        ("bingbot/2.0", "/ours/x", 200),
        // The policy's group replaces the origin's.
        ("CCBot/2.0", "/cc/x", 403),
        ("CCBot/2.0", "/x", 200),
    ] {
        assert_eq!(status(target, user_agent), expected, "{user_agent} {target}\n{text}");
    }
    let args = ["explain", "--user-agent", "Amazonbot/0.1", "--format", "text"];
    world.wait_for_rows("SELECT source FROM edition_periods", &["merge"]);
    let output = world.beadle.verb(&[&args[..], &["/ours/x"]].concat());
    assert!(output.status.success(), "{output:?}");
    assert_eq!(world.beadle.verb(&["robots"]).stdout, text.as_bytes());
    // The stored part of the origin and the policy give the same file.
    world.stop_origin();
    let world = world.restarted("KILL");
    world.assert_serves(&text, "after a restart, down");
    world.wait_for_rows("SELECT source FROM edition_periods", &["merge"]);
    assert_eq!(world.beadle.get("/theirs/x", "Amazonbot/0.1").status, 403);
}

#[test]
fn a_rule_removed_from_the_policy_does_not_return_as_the_origins() {
    let merge =
        |path| format!("source: merge, groups: [{{ user_agents: [\"*\"], disallow: [{path}] }}]");
    let unavailable = || Reply::answer("503 Service Unavailable", &[], "");
    for (reply, theirs) in [
        (Reply::file(GOOD), "Disallow: /private/\n"),
        (Reply::answer("404 Not Found", &[], ""), ""),
    ] {
        let mut world = World::new(&merge("/mine/"), reply);
        let holds = |world: &World, ours: &str, not: &str| {
            let text = world.robots_txt().text();
            assert!(text.contains(theirs) && text.contains(ours) && !text.contains(not), "{text}");
        };
        holds(&world, "Disallow: /mine/\n", "/other/");
        world.set(unavailable());
        world.robots_txt = merge("/other/");
        let mut world = world.restarted("TERM");
        holds(&world, "Disallow: /other/\n", "/mine/");
        assert_eq!(world.status("/mine/x"), 200);
        // A file that was merged while the origin fails is stored as well.
        world.robots_txt = merge("/third/");
        world.refetch();
        holds(&world, "Disallow: /third/\n", "/other/");
        world.robots_txt = merge("/mine/");
        let world = world.restarted("TERM");
        holds(&world, "Disallow: /mine/\n", "/third/");
    }
}

#[test]
fn rfc9309_2_5_a_merged_file_over_the_size_limit_is_not_published() {
    let many = |word: &str| (0..8_000).map(|n| format!("/{word}/{n:024}")).collect::<Vec<_>>();
    let ours = format!(
        "source: merge, groups: [{{ user_agents: [\"*\"], disallow: [{}] }}]",
        many("ours").join(", ")
    );
    let world = World::new(&ours, Reply::file(GOOD));
    assert!(world.robots_txt().text().contains("Disallow: /private/\n"));
    let theirs = many("theirs").join("\nDisallow: ");
    world.publish(Reply::file(format!("User-agent: *\nDisallow: {theirs}\n")));
    let line = world.lines("a robots.txt is not published").pop().unwrap_or_default();
    assert!(line.contains("ERROR") && line.contains("KiB"), "{line}");
    assert!(world.robots_txt().text().contains("Disallow: /private/\n"), "the one before stays");
    world.beadle.get("/robots.txt", GPTBOT);
    assert_eq!(world.status("/private/x"), 403);
}

#[test]
fn before_the_first_good_answer_the_policys_own_groups_apply() {
    let world = World::new(OURS, Reply::answer("500 No", &[], ""));
    assert_eq!((world.status("/gpt/x"), world.status("/theirs/x")), (403, 200));
    assert!(world.robots_txt().text().contains("Disallow: /ours/"));
    world.publish(Reply::answer("404 Not Found", &[], ""));
    assert_eq!(world.beadle.get("/ours/x", "Amazonbot/0.1").status, 403);
}

#[test]
fn a_file_that_suddenly_closes_the_site_is_quarantined() {
    let world = World::new(AS_IT_IS, Reply::file(GOOD));
    world.publish(Reply::file(CLOSED));
    world.assert_serves(GOOD, "held");
    assert_eq!((world.status("/x"), world.status("/private/x")), (200, 403));
    assert_eq!(world.held(), 1.0);
    let alarm = world.lines("closes the whole site to everybody all of a sudden");
    assert!(alarm[0].contains("ERROR") && alarm[0].contains("beadle robots accept"), "{alarm:?}");
    world.wait_for_rows("SELECT CAST(bytes AS TEXT) FROM held_robots", &[CLOSED]);
    // The origin reverts the file.
    world.publish(Reply::file(OTHER));
    world.assert_serves(OTHER, "taken back");
    assert_eq!(world.held(), 0.0);
    world.wait_for_rows("SELECT CAST(bytes AS TEXT) FROM held_robots", &[]);
    let nothing = accept_verb(&world.beadle);
    assert_eq!(nothing.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&nothing.stderr).contains("nothing is held back"));
    // The origin closes the site again, and the operator accepts it.
    world.publish(Reply::file(CLOSED));
    world.wait_for_rows("SELECT CAST(bytes AS TEXT) FROM held_robots", &[CLOSED]);
    world.accept();
    world.wait_until_served(CLOSED);
    assert_eq!(world.held(), 0.0);
    world.beadle.get("/robots.txt", GPTBOT);
    assert_eq!(world.status("/x"), 403);
    world.wait_for_rows("SELECT CAST(bytes AS TEXT) FROM held_robots", &[]);
    // The file stays accepted.
    world.refetch();
    world.assert_serves(CLOSED, "asked again");
    let world = world.restarted("TERM");
    world.assert_serves(CLOSED, "after a restart");
    assert_eq!(world.held(), 0.0);
}

#[test]
fn a_quarantined_file_survives_a_restart_and_can_be_accepted() {
    for origin_is_down in [true, false] {
        let mut world = World::new(AS_IT_IS, Reply::file(GOOD));
        world.publish(Reply::file(CLOSED));
        world.wait_for_rows("SELECT CAST(bytes AS TEXT) FROM held_robots", &[CLOSED]);
        if origin_is_down {
            world.stop_origin();
        }
        let world = world.restarted("KILL");
        world.assert_serves(GOOD, "after a restart");
        let open = if origin_is_down { 502 } else { 200 };
        assert_eq!((world.status("/x"), world.status("/private/x")), (open, 403));
        assert_eq!(world.held(), 1.0);
        world.accept();
        world.wait_until_served(CLOSED);
        assert_eq!(world.held(), 0.0);
        world.wait_for_rows("SELECT CAST(bytes AS TEXT) FROM held_robots", &[]);
    }
}

#[test]
fn a_file_accepted_between_two_runs_is_in_force_at_the_start() {
    let mut world = World::new(AS_IT_IS, Reply::file(GOOD));
    world.publish(Reply::file(CLOSED));
    world.wait_for_rows("SELECT CAST(bytes AS TEXT) FROM held_robots", &[CLOSED]);
    world.beadle.stop();
    world.accept();
    let setup = setup(world.port, AS_IT_IS, 0);
    let world = World { beadle: world.beadle.restarted_as("TERM", setup), ..world };
    world.wait_until_served(CLOSED);
    assert_eq!(world.held(), 0.0);
}

#[test]
fn accept_full_disallow_publishes_a_closing_file_at_once() {
    let world = World::new("source: origin, accept_full_disallow: true", Reply::file(GOOD));
    world.publish(Reply::file(CLOSED));
    world.assert_serves(CLOSED, "it is taken at once");
    assert_eq!(world.held(), 0.0);
    // The setting also publishes a file that is already quarantined.
    let mut world = World::new(AS_IT_IS, Reply::file(GOOD));
    world.publish(Reply::file(CLOSED));
    world.assert_serves(GOOD, "held");
    world.robots_txt = "source: origin, accept_full_disallow: true".to_owned();
    world.refetch();
    world.assert_serves(CLOSED, "taken");
    assert_eq!(world.held(), 0.0);
    world.wait_for_rows("SELECT CAST(bytes AS TEXT) FROM held_robots", &[]);
}

#[test]
fn a_first_file_that_closes_the_site_is_published_with_a_warning() {
    let mut world = World::new(AS_IT_IS, Reply::file(CLOSED));
    world.assert_serves(CLOSED, "at the start");
    assert_eq!((world.status("/x"), world.held()), (403, 0.0));
    let line = world.lines("closes the whole site to everybody").pop().unwrap_or_default();
    assert!(line.contains("WARN"), "{line}");
    // The quarantine ends when the policy no longer uses the origin's file.
    world.publish(Reply::file(GOOD));
    world.publish(Reply::file(CLOSED));
    world.wait_for_rows("SELECT CAST(bytes AS TEXT) FROM held_robots", &[CLOSED]);
    world.robots_txt = "groups: [{ user_agents: [\"*\"], disallow: [/ours/] }]".to_owned();
    world.refetch();
    assert_eq!((world.status("/x"), world.held()), (200, 0.0));
    world.wait_for_rows("SELECT CAST(bytes AS TEXT) FROM held_robots", &[]);
}

#[test]
fn rfc9309_2_4_a_change_at_the_origin_gives_grace_like_one_of_the_policy() {
    for (robots_txt, has) in [(AS_IT_IS, ""), (OURS, "/gpt/")] {
        let theirs = "User-agent: *\nUser-agent: GPTBot\nDisallow: /private/\n";
        let world = World::new(robots_txt, Reply::file(theirs));
        world.beadle.get("/robots.txt", GPTBOT);
        world.beadle.get("/robots.txt", "Amazonbot/0.1");
        world.publish(Reply::file(theirs.replace("/private/", "/private/\nDisallow: /new/")));
        assert!(world.robots_txt().text().contains(has));
        assert_eq!((world.status("/new/x"), world.status("/private/x")), (200, 403));
        let series = "beadle_grace_total{product_token=\"GPTBot\",site=\"site.example\"}";
        world.beadle.wait_for_metric(series, 1.0);
        world.beadle.get("/robots.txt", GPTBOT);
        assert_eq!(world.status("/new/x"), 403);
        assert_eq!(world.beadle.get("/new/x", "Amazonbot/0.1").status, 200);
        let rows = "SELECT source FROM edition_periods";
        wait_for("two periods", || (world.beadle.rows(rows).len() == 2).then_some(()));
        let history = world.beadle.verb(&["robots", "--history", "--format", "json"]);
        let sources: Vec<Value> =
            json_lines(&history).iter().map(|row| row["source"].clone()).collect();
        let source = if has.is_empty() { "origin" } else { "merge" };
        assert_eq!(sources, [source; 2]);
    }
}

#[test]
fn nginx_as_origin_has_its_file_published() {
    let Some(nginx) = Nginx::start() else { return };
    nginx.put("/index.html", b"<h1>hello</h1>");
    nginx.put("/robots.txt", GOOD.as_bytes());
    let beadle = setup(nginx.port, AS_IT_IS, 0).start();
    let series = |outcome: &str| {
        let labels = format!("outcome=\"{outcome}\",site=\"site.example\"");
        beadle.metric(&format!("beadle_origin_robots_fetches_total{{{labels}}}"))
    };
    let served = || beadle.get("/robots.txt", BROWSER).text();
    assert_eq!((served().as_str(), beadle.get("/private/x", GPTBOT).status), (GOOD, 403));
    beadle.reload(&setup(nginx.port, AS_IT_IS, 1));
    assert_eq!((series("rules"), series("unchanged")), (1.0, 1.0), "it is asked what is new");
    assert_eq!((served().as_str(), beadle.get("/private/x", GPTBOT).status), (GOOD, 403));
    // Long enough to be compressed on the way.
    let long = format!("{GOOD}{}", "# a remark\n".repeat(500));
    nginx.put("/robots.txt", long.as_bytes());
    beadle.reload(&setup(nginx.port, AS_IT_IS, 2));
    assert_eq!(served(), long);
    nginx.put("/robots.txt", CLOSED.as_bytes());
    beadle.reload(&setup(nginx.port, AS_IT_IS, 3));
    assert_eq!(served(), long, "held back");
    beadle.reload(&setup(nginx.port, AS_IT_IS, 4));
    assert_eq!((served(), series("unchanged")), (long, 2.0), "and still");
    let accepting = "source: origin, accept_full_disallow: true";
    beadle.reload(&setup(nginx.port, accepting, 5));
    assert_eq!(served(), CLOSED, "accepted, though it is not sent again");
}
