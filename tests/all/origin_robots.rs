//! The origin's own robots.txt, published and enforced as it is or joined with the policy's groups
//! (RFC 9309 §2.3.1), whatever the origin says.

use std::{
    cell::Cell,
    io::Write,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

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

/// What the origin says of one path.
#[derive(Clone, Debug)]
struct Says {
    bytes: Vec<u8>,
    /// Answers once this is true.
    gate: Arc<AtomicBool>,
}

impl Says {
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

/// What an origin says of paths; of others it gives a page.
type Paths = Arc<Mutex<Vec<(String, Says)>>>;

fn origin_on(port: u16, paths: &Paths) -> Origin {
    let paths = Arc::clone(paths);
    Origin::playing_on(port, move |exchange| {
        exchange.read_body();
        let target = String::from_utf8_lossy(&exchange.request.target).into_owned();
        let says = {
            let paths = paths.lock().expect("nobody panics with it");
            paths.iter().find(|(path, _)| *path == target).map(|(_, says)| says.clone())
        };
        match says {
            Some(says) => {
                wait_for("the gate", || says.gate.load(Ordering::Acquire).then_some(()));
                exchange.write(&says.bytes);
                After::Close
            }
            None => {
                exchange.answer("200 OK", &["Content-Type: text/plain"], b"a page");
                After::Keep
            }
        }
    })
}

/// A program in front of an origin that can change its mind.
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
    fn new(robots_txt: &str, says: Says) -> Self {
        let paths = Paths::default();
        let origin = origin_on(free_port(), &paths);
        let port = origin.port;
        put(&paths, "/robots.txt", says);
        let beadle = setup(port, robots_txt, 0).start();
        let (origin, turns) = (Some(origin), Cell::new(0));
        Self { origin, port, paths, beadle, robots_txt: robots_txt.to_owned(), turns }
    }

    fn says(&self, says: Says) {
        put(&self.paths, "/robots.txt", says);
    }

    /// Has the origin asked again: another policy in force asks at once.
    fn ask_again(&self) {
        self.turns.set(self.turns.get() + 1);
        self.beadle.reload(&setup(self.port, &self.robots_txt, self.turns.get()));
    }

    /// The same after another answer.
    fn hears(&self, says: Says) {
        self.says(says);
        self.ask_again();
    }

    fn is_down(&mut self) {
        self.origin = None;
        let port = self.port;
        wait_for("the origin's end", || {
            std::net::TcpStream::connect(("127.0.0.1", port)).is_err().then_some(())
        });
    }

    fn is_up(&mut self) {
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

    /// The lines of the log that hold this.
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

fn put(paths: &Paths, path: &str, says: Says) {
    let mut paths = paths.lock().expect("nobody panics with it");
    paths.retain(|(other, _)| other != path);
    paths.push((path.to_owned(), says));
}

/// The policy may be named before the word and after it.
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

/// Answers that say nothing of rules, and what they are called.
fn failures() -> Vec<(&'static str, Says)> {
    let html = "<!doctype html><title>Sign in</title>";
    let long = format!("User-agent: *\nDisallow: /private/\n{}", "# long\n".repeat(90_000));
    vec![
        ("origin_robots.unreachable", Says::answer("500 Internal Server Error", &[], CLOSED)),
        ("origin_robots.unreachable", Says::answer("503 Service Unavailable", &[], OTHER)),
        ("origin_robots.unreachable", Says::answer("429 Too Many Requests", &[], OTHER)),
        ("origin_robots.html", Says::answer("200 OK", &["Content-Type: text/html"], OTHER)),
        ("origin_robots.html", Says::file(html)),
        ("origin_robots.too_large", Says::file(long)),
        ("origin_robots.binary", Says::file(b"User-agent: *\nDisallow: /\0\n")),
        ("origin_robots.status", Says::answer("204 No Content", &[], "")),
        ("origin_robots.no_location", Says::answer("301 Moved Permanently", &[], OTHER)),
        ("origin_robots.transport", Says::raw("")),
        ("origin_robots.transport", Says::raw("not HTTP at all\r\n\r\n")),
        (
            "origin_robots.transport",
            Says::raw(format!("HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n{CLOSED}")),
        ),
    ]
}

#[test]
fn before_any_good_answer_nobody_is_held_to_anything_and_that_is_loud() {
    let world = World::new(AS_IT_IS, Says::answer("500 Internal Server Error", &[], CLOSED));
    for (number, (code, says)) in failures().into_iter().enumerate() {
        let before = world.fetched(code);
        world.hears(says.clone());
        assert!(world.fetched(code) > before, "{number}: {code} for {:?}", says.bytes.len());
        assert_eq!(world.status("/private/x"), 200, "{number}: {code}");
        assert_eq!(world.status("/"), 200, "{number}: {code}");
        let rules = world.robots_txt().text();
        assert!(!rules.to_lowercase().contains("disallow"), "{number}: {rules}");
        let named = world.lines(&format!("code=\"{code}\""));
        let last = named.last().unwrap_or_else(|| panic!("{number}: {code} is not in the log"));
        assert!(last.contains("ERROR") && last.contains("nobody is held to any rule"), "{last}");
    }
    assert!(world.beadle.rows("SELECT id FROM editions").is_empty(), "nothing was published");
    // Then there is one, and it holds.
    world.hears(Says::file(GOOD));
    world.assert_serves(GOOD, "the first good answer");
    assert_eq!(world.status("/other/x"), 200);
}

#[test]
fn rfc9309_2_3_1_after_a_good_answer_failures_change_nothing() {
    let world = World::new(AS_IT_IS, Says::file(GOOD));
    world.assert_serves(GOOD, "at the start");
    assert_eq!(world.status("/private/x"), 403);
    let tag = world.robots_txt().header("etag").map(str::to_owned);
    for (number, (code, says)) in failures().into_iter().enumerate() {
        let before = world.fetched(code);
        world.hears(says);
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
fn rfc9309_2_3_1_3_where_there_is_no_file_there_are_no_rules() {
    let world = World::new(AS_IT_IS, Says::file(GOOD));
    world.beadle.get("/robots.txt", GPTBOT);
    for status in ["404 Not Found", "403 Forbidden", "410 Gone", "401 Unauthorized", "400 Bad"] {
        assert_eq!(world.status("/private/x"), 403, "before {status}");
        world.hears(Says::answer(status, &["Content-Type: text/html"], "<h1>Nothing</h1>"));
        let text = world.robots_txt().text();
        assert!(!text.contains("Disallow"), "{status}: {text}");
        assert_eq!(world.status("/private/x"), 200, "{status}");
        world.hears(Says::file(GOOD));
        // Who has seen nothing may go by the one without rules; who has the old one has this one.
        let never = world.beadle.get("/private/x", "Amazonbot/0.1");
        assert_eq!((never.status, world.status("/private/x")), (200, 403), "{status}");
    }
    assert_eq!(world.fetched("no_rules"), 5.0);
}

#[test]
fn rfc9309_2_3_1_1_what_is_published_is_the_file_byte_for_byte() {
    let odd = "\u{feff}# Zwölf Regeln\r\nuser-AGENT:GPTBot # ours\r\nDISALLOW : /private/\r\n\r\n\
               Crawl-delay: 3\rSitemap: https://site.example/s.xml\n\n\nNonsense\nAllow: /private/ok";
    let world = World::new(AS_IT_IS, Says::file(odd));
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
    // In a coding that was asked for, the file is what comes out of it.
    let fields = ["Content-Type: text/plain", "Content-Encoding: gzip"];
    world.hears(Says::answer("200 OK", &fields, gzip(OTHER)));
    world.assert_serves(OTHER, "gzip");
    world.hears(Says::answer("200 OK", &["Content-Encoding: br"], OTHER));
    world.assert_serves(OTHER, "a coding that nobody asked for");
    // No octets are a file without rules.
    world.hears(Says::file(""));
    world.assert_serves("", "an empty file");
    assert_eq!(world.status("/private/x"), 200);
}

#[test]
fn an_origin_that_is_down_at_the_start_is_heard_when_it_comes() {
    let paths = Paths::default();
    put(&paths, "/robots.txt", Says::file(GOOD));
    let port = Origin::nobody();
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
    // Somebody takes what fills in.
    let open = world.beadle.get("/robots.txt", GPTBOT);
    assert_eq!((open.status, open.text().contains("Disallow")), (200, false));
    world.is_up();
    world.wait_until_served(GOOD);
    world.beadle.wait_for_stderr("the origin's robots.txt is in force");
    assert_eq!(world.status("/private/x"), 200, "it has read that everything is open");
    world.wait_for_rows("SELECT source FROM edition_periods", &["origin", "origin"]);
    let mut world = world.restarted("KILL");
    world.assert_serves(GOOD, "after a restart");
    assert_eq!(world.status("/private/x"), 200, "that is known after a restart as well");
    world.beadle.get("/robots.txt", GPTBOT);
    assert_eq!(world.status("/private/x"), 403);
    // What is down again takes no rules away, nor the file.
    world.is_down();
    world.ask_again();
    world.assert_serves(GOOD, "down");
    let answer = world.beadle.get("/private/x", GPTBOT);
    assert_eq!(answer.status, 403);
    // Nor does a restart.
    let world = world.restarted("TERM");
    world.assert_serves(GOOD, "after a restart, down");
    assert_eq!(world.status("/private/x"), 403);
}

#[test]
fn a_slow_answer_is_waited_for_a_moment_and_counts_when_it_comes() {
    let gate = Arc::new(AtomicBool::new(false));
    let world = World::new(AS_IT_IS, Says::file(GOOD).behind(&gate));
    // The program is ready, and there are no rules yet.
    assert_eq!(world.status("/private/x"), 200);
    assert!(!world.robots_txt().text().contains("Disallow"));
    gate.store(true, Ordering::Release);
    world.wait_until_served(GOOD);
    world.beadle.get("/robots.txt", GPTBOT);
    assert_eq!(world.status("/private/x"), 403);
}

#[test]
fn rfc9309_2_3_1_2_redirects_are_followed_among_the_operators_own_hosts() {
    let other = Paths::default();
    put(&other, "/their/robots.txt", Says::file(OTHER));
    let other = origin_on(free_port(), &other);
    let paths = Paths::default();
    let origin = origin_on(free_port(), &paths);
    for (from, to) in [("/1", "/2"), ("/2", "/3"), ("/3", "/4"), ("/4", "/5"), ("/5", "/end")] {
        put(&paths, from, Says::redirect(to));
    }
    put(&paths, "/end", Says::file(OTHER));
    put(&paths, "/file", Says::file(GOOD));
    let sites = |turn: u32| {
        Setup::sites(&format!(
            "  - hosts: [site.example]\n    origin: http://127.0.0.1:{}\n    robots_txt: \
             {{ source: origin }}\n    enforcement: {{ mode: block }}\n  - hosts: [other.example]\n    \
             origin: http://127.0.0.1:{}\n    robots_txt: {{ groups: [{{ user_agents: [\"*\"] }}] }}\n  \
             # turn {turn}\n",
            origin.port, other.port
        ))
    };
    put(&paths, "/robots.txt", Says::file(GOOD));
    let beadle = sites(0).start();
    let world = World {
        origin: None,
        port: origin.port,
        paths: Arc::clone(&paths),
        beadle,
        robots_txt: String::new(),
        turns: Cell::new(0),
    };
    let away = format!("http://127.0.0.1:{}/robots.txt", Origin::nobody());
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
        world.says(Says::redirect(location));
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
fn a_merged_file_has_for_each_crawler_what_both_say() {
    let mut world = World::new(OURS, Says::file(THEIRS));
    let text = world.robots_txt().text();
    assert!(text.contains("Sitemap: https://site.example/s.xml"), "{text}");
    let status = |target: &str, user_agent: &str| world.beadle.get(target, user_agent).status;
    for (user_agent, target, expected) in [
        ("Amazonbot/0.1", "/ours/x", 403),
        ("Amazonbot/0.1", "/theirs/x", 403),
        ("Amazonbot/0.1", "/ours/open", 200),
        ("Amazonbot/0.1", "/gpt/x", 200),
        (GPTBOT, "/gpt/x", 403),
        // Its own group is all that counts for a crawler (RFC 9309 §2.2.1).
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
    // Of the origin's part and the policy's, as they were, comes the same.
    world.is_down();
    let world = world.restarted("KILL");
    world.assert_serves(&text, "after a restart, down");
    world.wait_for_rows("SELECT source FROM edition_periods", &["merge"]);
    assert_eq!(world.beadle.get("/theirs/x", "Amazonbot/0.1").status, 403);
}

#[test]
fn a_rule_that_the_policy_gave_up_does_not_come_back_as_the_origins() {
    let merge =
        |path| format!("source: merge, groups: [{{ user_agents: [\"*\"], disallow: [{path}] }}]");
    let unavailable = || Says::answer("503 Service Unavailable", &[], "");
    for (says, theirs) in
        [(Says::file(GOOD), "Disallow: /private/\n"), (Says::answer("404 Not Found", &[], ""), "")]
    {
        let mut world = World::new(&merge("/mine/"), says);
        let holds = |world: &World, ours: &str, not: &str| {
            let text = world.robots_txt().text();
            assert!(text.contains(theirs) && text.contains(ours) && !text.contains(not), "{text}");
        };
        holds(&world, "Disallow: /mine/\n", "/other/");
        world.says(unavailable());
        world.robots_txt = merge("/other/");
        let mut world = world.restarted("TERM");
        holds(&world, "Disallow: /other/\n", "/mine/");
        assert_eq!(world.status("/mine/x"), 200);
        // What is joined while the origin says nothing is remembered as well.
        world.robots_txt = merge("/third/");
        world.ask_again();
        holds(&world, "Disallow: /third/\n", "/other/");
        world.robots_txt = merge("/mine/");
        let world = world.restarted("TERM");
        holds(&world, "Disallow: /mine/\n", "/third/");
    }
}

#[test]
fn rfc9309_2_5_what_would_grow_too_large_by_joining_is_not_published() {
    let many = |word: &str| (0..8_000).map(|n| format!("/{word}/{n:024}")).collect::<Vec<_>>();
    let ours = format!(
        "source: merge, groups: [{{ user_agents: [\"*\"], disallow: [{}] }}]",
        many("ours").join(", ")
    );
    let world = World::new(&ours, Says::file(GOOD));
    assert!(world.robots_txt().text().contains("Disallow: /private/\n"));
    let theirs = many("theirs").join("\nDisallow: ");
    world.hears(Says::file(format!("User-agent: *\nDisallow: {theirs}\n")));
    let line = world.lines("a robots.txt is not published").pop().unwrap_or_default();
    assert!(line.contains("ERROR") && line.contains("KiB"), "{line}");
    assert!(world.robots_txt().text().contains("Disallow: /private/\n"), "the one before stays");
    world.beadle.get("/robots.txt", GPTBOT);
    assert_eq!(world.status("/private/x"), 403);
}

#[test]
fn before_any_good_answer_the_policys_own_groups_hold() {
    let world = World::new(OURS, Says::answer("500 No", &[], ""));
    assert_eq!((world.status("/gpt/x"), world.status("/theirs/x")), (403, 200));
    assert!(world.robots_txt().text().contains("Disallow: /ours/"));
    world.hears(Says::answer("404 Not Found", &[], ""));
    assert_eq!(world.beadle.get("/ours/x", "Amazonbot/0.1").status, 403);
}

#[test]
fn a_file_that_closes_the_site_all_of_a_sudden_is_held_back() {
    let world = World::new(AS_IT_IS, Says::file(GOOD));
    world.hears(Says::file(CLOSED));
    world.assert_serves(GOOD, "held");
    assert_eq!((world.status("/x"), world.status("/private/x")), (200, 403));
    assert_eq!(world.held(), 1.0);
    let alarm = world.lines("closes the whole site to everybody all of a sudden");
    assert!(alarm[0].contains("ERROR") && alarm[0].contains("beadle robots accept"), "{alarm:?}");
    world.wait_for_rows("SELECT CAST(bytes AS TEXT) FROM held_robots", &[CLOSED]);
    // The origin takes it back.
    world.hears(Says::file(OTHER));
    world.assert_serves(OTHER, "taken back");
    assert_eq!(world.held(), 0.0);
    world.wait_for_rows("SELECT CAST(bytes AS TEXT) FROM held_robots", &[]);
    let nothing = accept_verb(&world.beadle);
    assert_eq!(nothing.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&nothing.stderr).contains("nothing is held back"));
    // Once more, and it is meant.
    world.hears(Says::file(CLOSED));
    world.wait_for_rows("SELECT CAST(bytes AS TEXT) FROM held_robots", &[CLOSED]);
    world.accept();
    world.wait_until_served(CLOSED);
    assert_eq!(world.held(), 0.0);
    world.beadle.get("/robots.txt", GPTBOT);
    assert_eq!(world.status("/x"), 403);
    world.wait_for_rows("SELECT CAST(bytes AS TEXT) FROM held_robots", &[]);
    // What was accepted stays accepted.
    world.ask_again();
    world.assert_serves(CLOSED, "asked again");
    let world = world.restarted("TERM");
    world.assert_serves(CLOSED, "after a restart");
    assert_eq!(world.held(), 0.0);
}

#[test]
fn what_is_held_back_survives_a_restart_and_can_be_accepted_then() {
    for origin_is_down in [true, false] {
        let mut world = World::new(AS_IT_IS, Says::file(GOOD));
        world.hears(Says::file(CLOSED));
        world.wait_for_rows("SELECT CAST(bytes AS TEXT) FROM held_robots", &[CLOSED]);
        if origin_is_down {
            world.is_down();
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
fn what_is_accepted_while_nothing_runs_is_in_force_at_the_start() {
    let mut world = World::new(AS_IT_IS, Says::file(GOOD));
    world.hears(Says::file(CLOSED));
    world.wait_for_rows("SELECT CAST(bytes AS TEXT) FROM held_robots", &[CLOSED]);
    world.beadle.stop();
    world.accept();
    let setup = setup(world.port, AS_IT_IS, 0);
    let world = World { beadle: world.beadle.restarted_as("TERM", setup), ..world };
    world.wait_until_served(CLOSED);
    assert_eq!(world.held(), 0.0);
}

#[test]
fn a_policy_may_trust_its_origin_with_the_whole_site() {
    let world = World::new("source: origin, accept_full_disallow: true", Says::file(GOOD));
    world.hears(Says::file(CLOSED));
    world.assert_serves(CLOSED, "it is taken at once");
    assert_eq!(world.held(), 0.0);
    // Or is told to, when the file is there.
    let mut world = World::new(AS_IT_IS, Says::file(GOOD));
    world.hears(Says::file(CLOSED));
    world.assert_serves(GOOD, "held");
    world.robots_txt = "source: origin, accept_full_disallow: true".to_owned();
    world.ask_again();
    world.assert_serves(CLOSED, "taken");
    assert_eq!(world.held(), 0.0);
    world.wait_for_rows("SELECT CAST(bytes AS TEXT) FROM held_robots", &[]);
}

#[test]
fn a_file_that_closes_the_site_from_the_first_is_taken_and_named_in_the_log() {
    let mut world = World::new(AS_IT_IS, Says::file(CLOSED));
    world.assert_serves(CLOSED, "at the start");
    assert_eq!((world.status("/x"), world.held()), (403, 0.0));
    let line = world.lines("closes the whole site to everybody").pop().unwrap_or_default();
    assert!(line.contains("WARN"), "{line}");
    // Nobody waits for a file that was held back when the policy has rules of its own.
    world.hears(Says::file(GOOD));
    world.hears(Says::file(CLOSED));
    world.wait_for_rows("SELECT CAST(bytes AS TEXT) FROM held_robots", &[CLOSED]);
    world.robots_txt = "groups: [{ user_agents: [\"*\"], disallow: [/ours/] }]".to_owned();
    world.ask_again();
    assert_eq!((world.status("/x"), world.held()), (200, 0.0));
    world.wait_for_rows("SELECT CAST(bytes AS TEXT) FROM held_robots", &[]);
}

#[test]
fn rfc9309_2_4_a_change_at_the_origin_is_as_new_to_crawlers_as_one_of_the_policy() {
    for (robots_txt, has) in [(AS_IT_IS, ""), (OURS, "/gpt/")] {
        let theirs = "User-agent: *\nUser-agent: GPTBot\nDisallow: /private/\n";
        let world = World::new(robots_txt, Says::file(theirs));
        world.beadle.get("/robots.txt", GPTBOT);
        world.beadle.get("/robots.txt", "Amazonbot/0.1");
        world.hears(Says::file(theirs.replace("/private/", "/private/\nDisallow: /new/")));
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
fn nginx_serves_the_file_of_a_site() {
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
