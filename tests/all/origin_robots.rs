//! The origin's robots.txt, published and enforced unchanged or merged with the policy's groups
//! (RFC 9309 §2.3.1). The decisions stand in the tests of the gate, the answers of an origin in those
//! of the publication.

use std::{
    cell::Cell,
    io::Write,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use serde_json::json;

use crate::support::{
    BROWSER,
    client::{Request, Response},
    free_port,
    nginx::Nginx,
    origin::{After, Origin},
    program::{Beadle, Setup, json_lines},
    wait_for,
};

pub(crate) const GPTBOT: &str = "GPTBot/1.2";
pub(crate) const GOOD: &str = "User-agent: *\nDisallow: /private/\n";
pub(crate) const OTHER: &str = "User-agent: *\nDisallow: /other/\n";
pub(crate) const CLOSED: &str = "User-agent: *\nDisallow: /\n";
pub(crate) const AS_IT_IS: &str = "source: origin";

/// The origin's answer for one path.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    bytes: Vec<u8>,
    /// Answers once this is true.
    gate: Arc<AtomicBool>,
    /// Whether clients without HTTPS are redirected to it.
    forces_https: bool,
}

impl Reply {
    fn raw(bytes: impl AsRef<[u8]>) -> Self {
        let (bytes, gate) = (bytes.as_ref().to_vec(), Arc::new(AtomicBool::new(true)));
        Self { bytes, gate, forces_https: false }
    }

    fn answer(status: &str, fields: &[&str], body: impl AsRef<[u8]>) -> Self {
        let fields: String = fields.iter().map(|line| format!("{line}\r\n")).collect();
        let length = body.as_ref().len();
        let head = format!("HTTP/1.1 {status}\r\n{fields}Content-Length: {length}\r\n\r\n");
        Self::raw([head.as_bytes(), body.as_ref()].concat())
    }

    pub(crate) fn file(text: impl AsRef<[u8]>) -> Self {
        Self::answer("200 OK", &["Content-Type: text/plain"], text)
    }

    /// An answer with this status and no body.
    pub(crate) fn status(line: &str) -> Self {
        Self::answer(line, &[], "")
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
                let scheme = exchange.request.header("x-forwarded-proto");
                if reply.forces_https && scheme != Some("https") {
                    let host = exchange.request.header("host").unwrap_or_default();
                    let location = format!("Location: https://{host}{target}");
                    exchange.answer("301 Moved Permanently", &[&location], b"");
                    return After::Close;
                }
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
    .compared()
}

/// The program in front of an origin whose answers change.
pub(crate) struct World {
    origin: Option<Origin>,
    port: u16,
    paths: Paths,
    pub(crate) beadle: Beadle,
    pub(crate) robots_txt: String,
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
    pub(crate) fn new(robots_txt: &str, reply: Reply) -> Self {
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
    pub(crate) fn refetch(&self) {
        self.turns.set(self.turns.get() + 1);
        let before = self.fetches();
        self.beadle.reload(&setup(self.port, &self.robots_txt, self.turns.get()));
        if self.robots_txt.contains("source:") {
            wait_for("a fetch", || (self.fetches() > before).then_some(()));
        }
    }

    /// The number of fetches with any outcome.
    fn fetches(&self) -> f64 {
        let page = self.beadle.admin_page("/metrics").text();
        let lines = page.lines().filter(|line| line.starts_with("beadle_origin_robots_fetches"));
        lines.filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok()).sum()
    }

    /// Changes the origin's answer and fetches it.
    pub(crate) fn publish(&self, reply: Reply) {
        self.set(reply);
        self.refetch();
    }

    pub(crate) fn stop_origin(&mut self) {
        self.origin = None;
        let port = self.port;
        wait_for("the origin's end", || {
            std::net::TcpStream::connect(("127.0.0.1", port)).is_err().then_some(())
        });
    }

    fn start_origin(&mut self) {
        self.origin = Some(origin_on(self.port, &self.paths));
    }

    pub(crate) fn restarted(self, signal: &str) -> Self {
        let setup = setup(self.port, &self.robots_txt, self.turns.get());
        Self { beadle: self.beadle.restarted_as(signal, setup), ..self }
    }

    fn robots_txt(&self) -> Response {
        let answer = self.beadle.get("/robots.txt", BROWSER);
        assert_eq!(answer.status, 200, "robots.txt can't fail");
        answer
    }

    pub(crate) fn status(&self, target: &str) -> u16 {
        self.beadle.get(target, GPTBOT).status
    }

    fn fetched(&self, outcome: &str) -> f64 {
        let labels = format!("outcome=\"{outcome}\",site=\"site.example\"");
        self.beadle.metric(&format!("beadle_origin_robots_fetches_total{{{labels}}}"))
    }

    pub(crate) fn held(&self) -> f64 {
        self.beadle.metric("beadle_origin_robots_held{site=\"site.example\"}")
    }

    pub(crate) fn assert_serves(&self, file: &str, what: &str) {
        wait_for(what, || (self.robots_txt().text() == file).then_some(()));
    }

    pub(crate) fn wait_until_served(&self, file: &str) {
        wait_for(file, || (self.robots_txt().text() == file).then_some(()));
    }

    /// Waits until a file without rules is served.
    pub(crate) fn wait_until_open(&self) {
        let is_open = || !self.robots_txt().text().contains("Disallow");
        wait_for("a file without rules", || is_open().then_some(()));
    }

    /// The lines of the log that contain this.
    pub(crate) fn lines(&self, text: &str) -> Vec<String> {
        self.beadle.wait_for_stderr(text);
        let stderr = self.beadle.stderr();
        stderr.lines().filter(|line| line.contains(text)).map(str::to_owned).collect()
    }

    pub(crate) fn wait_for_rows(&self, sql: &str, expected: &[&str]) {
        wait_for(sql, || (self.beadle.rows(sql) == expected).then_some(()));
    }
}

fn put(paths: &Paths, path: &str, reply: Reply) {
    let mut paths = paths.lock();
    paths.retain(|(other, _)| other != path);
    paths.push((path.to_owned(), reply));
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).expect("it is in memory");
    encoder.finish().expect("it is in memory")
}

/// Answers that carry no rules, with their codes.
fn failures() -> Vec<(&'static str, Reply)> {
    vec![
        ("origin_robots.unreachable", Reply::answer("500 Internal Server Error", &[], CLOSED)),
        ("origin_robots.unreachable", Reply::answer("503 Service Unavailable", &[], OTHER)),
        ("origin_robots.unreachable", Reply::answer("429 Too Many Requests", &[], OTHER)),
        ("origin_robots.binary", Reply::file(b"User-agent: *\nDisallow: /\0\n")),
        ("origin_robots.binary", Reply::file(b"\xff\xfeU\0s\0e\0r\0")),
        ("origin_robots.status", Reply::answer("204 No Content", &[], "")),
        ("origin_robots.no_location", Reply::answer("301 Moved Permanently", &[], OTHER)),
        ("origin_robots.redirect_loop", Reply::redirect("/robots.txt")),
        ("origin_robots.redirect_away", Reply::redirect("http://169.254.169.254/robots.txt")),
        ("origin_robots.transport", Reply::raw("")),
        ("origin_robots.transport", Reply::raw("not HTTP at all\r\n\r\n")),
        (
            "origin_robots.transport",
            Reply::raw(format!("HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n{CLOSED}")),
        ),
    ]
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
        assert!(last.contains("WARN") && last.contains("the last good file stays"), "{last}");
    }
    let named = world.lines("no public address");
    assert!(named.iter().all(|line| line.contains("http://169.254.169.254/robots.txt")));
    assert_eq!(world.held(), 0.0);
    world.wait_for_rows("SELECT CAST(bytes AS TEXT) FROM editions", &[GOOD]);
}

#[test]
fn rfc9309_2_3_1_1_the_file_is_published_byte_for_byte() {
    let odd = "\u{feff}# Zwölf Regeln\r\nuser-AGENT:GPTBot # ours\r\nDISALLOW : /private/\r\n\r\n\
               Crawl-delay: 3\rSitemap: https://site.example/s.xml\n\n\nNonsense\nAllow: /private/ok";
    let world = World::new(AS_IT_IS, Reply::file(odd));
    let answer = world.robots_txt();
    let odd = odd.trim_start_matches('\u{feff}');
    assert_eq!(answer.body, odd.as_bytes(), "without the byte order mark");
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
    // A file may say that nothing is disallowed.
    let open = "User-agent: *\nDisallow:\n";
    world.publish(Reply::file(open));
    world.assert_serves(open, "an open file");
    assert_eq!(world.status("/private/x"), 200);
}

#[test]
fn an_origin_that_is_down_at_the_start_is_fetched_from_later() {
    let paths = Paths::default();
    put(&paths, "/robots.txt", Reply::file(GOOD));
    let port = Origin::absent();
    let beadle = setup(port, AS_IT_IS, 0).start();
    let world = World {
        origin: None,
        port,
        paths,
        beadle,
        robots_txt: AS_IT_IS.to_owned(),
        turns: Cell::new(0),
    };
    assert!(world.fetched("origin_robots.transport") >= 1.0);
    assert!(world.lines("origin robots.txt unknown").iter().all(|line| line.contains("ERROR")));
    assert_eq!(world.lines("no request is judged").len(), 1, "and not each time");
    let withheld = world.beadle.get("/robots.txt", GPTBOT);
    assert_eq!((withheld.status, withheld.header("retry-after")), (503, Some("60")));
    let mut world = world.restarted("KILL");
    assert_eq!(world.beadle.get("/robots.txt", GPTBOT).status, 503, "nor after a restart");
    world.start_origin();
    wait_for("the file", || (world.beadle.get("/robots.txt", BROWSER).status == 200).then_some(()));
    world.assert_serves(GOOD, "at last");
    world.beadle.wait_for_stderr("origin robots.txt in force");
    assert_eq!(world.status("/private/x"), 403, "it has read nothing else");
    world.wait_for_rows("SELECT source FROM edition_periods", &["origin"]);
    let mut world = world.restarted("KILL");
    world.assert_serves(GOOD, "after a restart");
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
    assert_eq!(world.beadle.get("/robots.txt", GPTBOT).status, 503);
    gate.store(true, Ordering::Release);
    wait_for("the file", || (world.beadle.get("/robots.txt", BROWSER).status == 200).then_some(()));
    world.assert_serves(GOOD, "at last");
    assert_eq!(world.status("/private/x"), 403);
}

#[test]
fn a_day_that_went_by_while_the_program_was_off_ends_only_with_a_failed_fetch() {
    let gate = Arc::new(AtomicBool::new(false));
    let reply = Reply::status("500 Internal Server Error").behind(&gate);
    let mut world = World::new(AS_IT_IS, reply);
    assert_eq!(world.beadle.get("/robots.txt", GPTBOT).status, 503);
    world.wait_for_rows("SELECT host FROM host_periods", &["site.example"]);
    world.beadle.signal("TERM");
    world.beadle.wait();
    let database = rusqlite::Connection::open(world.beadle.folder().join("beadle.db"));
    let days_ago = "UPDATE host_periods SET from_ = from_ - 2 * 86400000";
    database.expect("it is there").execute(days_ago, []).expect("it can be written");
    let world = world.restarted("TERM");
    let given_up = "origin robots.txt unknown for a day";
    assert_eq!(world.beadle.get("/robots.txt", GPTBOT).status, 503, "the first result is pending");
    assert!(!world.beadle.stderr().contains(given_up));
    gate.store(true, Ordering::Release);
    world.beadle.wait_for_stderr(given_up);
    wait_for("a file", || (world.beadle.get("/robots.txt", BROWSER).status == 200).then_some(()));
    world.wait_until_open();
    assert!(world.lines(given_up).iter().all(|line| line.contains("ERROR")));
}

#[test]
fn a_reload_does_not_wait_for_an_origin_that_does_not_answer() {
    let gate = Arc::new(AtomicBool::new(false));
    let world = World::new(AS_IT_IS, Reply::file(GOOD));
    world.set(Reply::file(OTHER).behind(&gate));
    // The machine may be busy: the fastest of some reloads counts.
    let times = (1..=3).map(|turn| {
        let start = Instant::now();
        world.beadle.reload(&setup(world.port, AS_IT_IS, turn));
        start.elapsed()
    });
    let fastest = times.min().unwrap_or_default();
    assert!(fastest < Duration::from_millis(2_500), "{fastest:?}");
    world.assert_serves(GOOD, "the last good file");
    gate.store(true, Ordering::Release);
    world.wait_until_served(OTHER);
}

#[test]
fn a_merged_file_is_published_and_made_again_without_its_origin() {
    let ours = "source: merge, groups: [{ user_agents: [\"*\"], disallow: [/ours/] }]";
    let mut world = World::new(ours, Reply::file(GOOD));
    let text = world.robots_txt().text();
    assert!(text.contains("Disallow: /ours/") && text.contains("Disallow: /private/"), "{text}");
    assert_eq!((world.status("/ours/x"), world.status("/private/x")), (403, 403));
    world.wait_for_rows("SELECT source FROM edition_periods", &["merge"]);
    let output = world.beadle.verb(&["explain", "--user-agent", GPTBOT, "/ours/x"]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(world.beadle.verb(&["robots"]).stdout, text.as_bytes());
    let history = world.beadle.verb(&["robots", "--history", "--format", "json"]);
    let history = json_lines(&history);
    assert_eq!((history.len(), &history[0]["source"]), (1, &json!("merge")));
    // The stored part of the origin and the policy give the same file.
    world.stop_origin();
    let world = world.restarted("KILL");
    world.assert_serves(&text, "after a restart, down");
    world.wait_for_rows("SELECT source FROM edition_periods", &["merge"]);
    assert_eq!(world.status("/private/x"), 403);
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

#[test]
fn sighup_fetches_from_the_origins_at_once() {
    let world = World::new(AS_IT_IS, Reply::file(GOOD));
    world.set(Reply::file(OTHER));
    world.beadle.signal("HUP");
    world.wait_until_served(OTHER);
    world.beadle.wait_for_stderr("policy unchanged");
    // Also if the policy file is broken.
    world.set(Reply::file(GOOD));
    world.beadle.replace_policy("sites: [");
    world.beadle.signal("HUP");
    world.wait_until_served(GOOD);
}

#[test]
fn one_edition_has_one_name_everywhere() {
    let rules = "source: merge, groups: [{ user_agents: [\"set:ours\"], disallow: [/ours/] }]";
    let base = "User-agent: GPTBot\nDisallow: /its/\n\nUser-agent: *\nDisallow: /all/\n";
    let paths = Paths::default();
    let origin = origin_on(free_port(), &paths);
    put(&paths, "/robots.txt", Reply::file(base));
    let sets = "crawler_sets: { ours: [GPTBot, bingbot] }\n";
    let beadle = setup(origin.port, rules, 0).sections(sets).start();
    let answer = beadle.get("/robots.txt", BROWSER);
    let name = answer.header("etag").expect("it has one").trim_matches('"').to_owned();
    // The heading above a group is true of this group.
    let text = answer.text();
    let heading = "# 1 of: set:ours, 2 crawlers; with the origin's rules\nUser-agent: GPTBot\n";
    assert!(text.contains(heading), "{text}");
    assert!(text.contains("# 1 of: set:ours, 2 crawlers\nUser-agent: bingbot\n"), "{text}");
    // The log, the record, the history and the explanation.
    beadle.wait_for_stderr("robots.txt in force");
    let stderr = beadle.stderr();
    let named: Vec<_> = stderr.lines().filter(|line| line.contains("edition=")).collect();
    assert!(!named.is_empty() && named.iter().all(|line| line.contains(&name)), "{stderr}");
    assert_eq!(beadle.get("/its/x", GPTBOT).status, 403);
    assert_eq!(beadle.records(1)[0]["robots"]["edition"], name);
    wait_for("the edition in the database", || {
        (beadle.rows("SELECT edition FROM edition_periods") == [name.as_str()]).then_some(())
    });
    let history = json_lines(&beadle.verb(&["robots", "--history", "--format", "json"]));
    assert_eq!(history[0]["edition"], name);
    let url = "https://site.example/its/x";
    let args = ["explain", "--user-agent", GPTBOT, url, "--format", "json"];
    let explained = json_lines(&beadle.verb(&args));
    assert_eq!(explained[0]["editions"][0]["edition"], name);
    assert_eq!(beadle.verb(&["robots"]).stdout, answer.body);
}

#[test]
fn a_policy_that_replaces_rules_of_the_origin_says_so() {
    let paths = Paths::default();
    let origin = origin_on(free_port(), &paths);
    put(&paths, "/robots.txt", Reply::file("User-agent: *\nDisallow: /a/\nDisallow: /b/\n"));
    let own = |paths: &str| format!("groups: [{{ user_agents: [\"*\"], disallow: [{paths}] }}]");
    let beadle = setup(origin.port, &own("/b/"), 0).start();
    let page = |path: &str| {
        let asked = Request::get(path).host("localhost").field("Accept", "text/html");
        asked.send(beadle.admin).text()
    };
    let count = |text: &str| beadle.stderr().matches(text).count();
    let code = "policy.replaces_origin";
    beadle.wait_for_stderr(code);
    let log = beadle.stderr();
    let line = log.lines().find(|line| line.contains(code)).unwrap_or_default();
    for part in ["WARN", "site.example", "line 2 'Disallow: /a/' for *", "source: merge"] {
        assert!(line.contains(part), "{part}: {line}");
    }
    assert!(!line.contains("/b/"), "{line}");
    let banner = wait_for("the banner", || {
        Some(page("/robots/site.example")).filter(|text| text.contains("role=\"alert\""))
    });
    assert!(banner.contains("/a/") && banner.contains("source: merge"), "{banner}");
    let first = page("/");
    assert!(first.contains("replaces 1 rule of the origin&#39;s own robots.txt"), "{first}");
    assert_eq!(beadle.get("/robots.txt", BROWSER).text().matches("/a/").count(), 0);
    // A reload says it again, as far as it still holds.
    beadle.reload(&setup(origin.port, &own("/a/x, /b/"), 1));
    wait_for("the second line", || (count(code) == 2).then_some(()));
    // The same meaning in other words, and then `merge`: nothing is lost, and the banner goes.
    beadle.reload(&setup(origin.port, &own("/b/, \"/a/*\""), 2));
    let is_gone = || (!page("/robots/site.example").contains("role=\"alert\"")).then_some(());
    wait_for("the end of the banner", is_gone);
    beadle.reload(&setup(origin.port, &own("/b/"), 3));
    wait_for("the third line", || (count(code) == 3).then_some(()));
    beadle.reload(&setup(origin.port, &format!("source: merge, {}", own("/b/")), 4));
    wait_for("the end of the banner", is_gone);
    assert!(beadle.get("/robots.txt", BROWSER).text().contains("Disallow: /a/"));
    assert_eq!(count(code), 3);
    // One fetch for each comparison.
    let fetches = origin.received().into_iter();
    let compared = fetches.filter(|one| {
        one.header("user-agent").is_some_and(|name| name.contains("compared with the policy"))
    });
    assert_eq!(compared.count(), 4);
}

#[test]
fn a_comparison_that_fails_warns_once_and_delays_nothing() {
    let paths = Paths::default();
    let origin = origin_on(free_port(), &paths);
    for (code, reply) in failures().into_iter().step_by(5) {
        put(&paths, "/robots.txt", reply);
        let own = "groups: [{ user_agents: [\"*\"], disallow: [/x/] }]";
        origin.forget();
        let beadle = setup(origin.port, own, 0).start();
        assert_eq!(beadle.get("/x/", GPTBOT).status, 403);
        let warning = "policy not compared with the origin's robots.txt";
        beadle.wait_for_stderr(warning);
        // A start and each reload compare.
        beadle.reload(&setup(origin.port, own, 1));
        wait_for("the second warning", || {
            (beadle.stderr().matches(warning).count() == 2).then_some(())
        });
        let log = beadle.stderr();
        let lines: Vec<_> = log.lines().filter(|line| line.contains(warning)).collect();
        assert!(lines.iter().all(|line| line.contains("WARN") && line.contains("site.example")));
        assert!(
            !log.contains("origin_robots.") && !log.contains("replaces_origin"),
            "{code}: {log}"
        );
    }
}

const MYBOT: &str = "MyBot/1.0";

/// A site of the table below: its origin's answer, and what follows from it.
struct Case {
    name: &'static str,
    reply: Reply,
    /// More settings of `robots_txt`.
    settings: &'static str,
    /// What crawlers get before any good file.
    alone: Served,
    /// What they get after one.
    after: Served,
    /// What they get then after a restart.
    restarted: Served,
}

/// What crawlers get as robots.txt.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Served {
    /// 503 with `Retry-After`, and nothing is judged.
    Withheld,
    /// A file without rules: with `merge`, the policy's groups.
    NoRules,
    /// This file.
    File(String),
    /// This file. With `merge` it leaves no room for the policy's groups: the good file from before.
    Longer(String),
    /// The good file from before.
    Before,
}

impl Served {
    /// Whether it closes all pages but the first.
    fn is_closing(&self) -> bool {
        matches!(self, Self::File(file) if file.starts_with(CLOSED))
    }
}

/// The host of a site whose origin has the file [`OTHER`] at every path.
const RULES_HOST: &str = "rules.example";

/// `port` is a server beside the origins. The origin of the slow case answers once `gate` is open.
fn cases(port: u16, gate: &Arc<AtomicBool>) -> Vec<Case> {
    let case = |name, reply, alone, after: Served| Case {
        name,
        reply,
        settings: "",
        alone,
        restarted: after.clone(),
        after,
    };
    let status = |line: &str| Reply::answer(line, &[], OTHER);
    let typed = |content_type: &str, body: &[u8]| {
        Reply::answer("200 OK", &[&format!("Content-Type: {content_type}")], body)
    };
    let file = |text: &str| Served::File(text.to_owned());
    let page = b"<!doctype html><title>App</title>";
    let latin = b"User-agent: *\nDisallow: /caf\xe9/\n";
    let (start, tail) = (OTHER, "#".repeat(99) + "\n");
    let long = start.to_owned() + &tail.repeat(5_200);
    let kept = start.to_owned() + &tail.repeat((500 * 1024 - start.len()) / 100);
    let rules: String = (0..8_000).map(|n| format!("Disallow: /{n:076}/\n")).collect();
    let rules = format!("{OTHER}{rules}");
    let kept_rules = rules[..rules[..500 * 1024].rfind('\n').map_or(0, |at| at + 1)].to_owned();
    let first_page = format!("{CLOSED}Allow: /$\n");
    let own_host = format!("http://{RULES_HOST}/r.txt");
    let forcing_https = Reply { forces_https: true, ..Reply::file(OTHER) };
    let mut cases = Vec::new();
    for (name, reply) in [
        ("status-500", status("500 Internal Server Error")),
        ("status-503", status("503 Service Unavailable")),
        ("status-429", status("429 Too Many Requests")),
        ("closed", Reply::raw("")),
        ("no-http", Reply::raw("not HTTP at all\r\n\r\n")),
        ("utf-16", Reply::file(b"\xff\xfeU\0s\0e\0r\0")),
        ("status-204", status("204 No Content")),
        ("loop", Reply::redirect("/robots.txt")),
        ("private", Reply::redirect(&format!("http://127.0.0.1:{port}/elsewhere.txt"))),
        ("metadata", Reply::redirect("http://169.254.169.254/latest/meta-data/")),
        ("slow", Reply::file(OTHER).behind(gate)),
    ] {
        cases.push(case(name, reply, Served::Withheld, Served::Before));
    }
    for (name, reply) in [
        ("status-404", status("404 Not Found")),
        ("status-410", status("410 Gone")),
        ("status-403", status("403 Forbidden")),
        ("page", typed("text/html", page)),
        ("plain-page", typed("text/plain", page)),
        ("plain-error", typed("text/plain", b"404: Not found\nsorry")),
    ] {
        cases.push(case(name, reply, Served::NoRules, Served::Before));
    }
    cases.extend([
        case("empty", Reply::file(""), file(""), Served::Before),
        case("comment", Reply::file("# soon\n"), file("# soon\n"), Served::Before),
        case("closing", Reply::file(CLOSED), file(CLOSED), Served::Before),
        case("first-page", Reply::file(&first_page), file(&first_page), Served::Before),
        case("own-host", Reply::redirect(&own_host), file(OTHER), file(OTHER)),
        case("https", forcing_https, file(OTHER), file(OTHER)),
        Case {
            settings: ", vanish_after: 1s",
            restarted: Served::NoRules,
            ..case("vanish", status("404 Not Found"), Served::NoRules, Served::Before)
        },
        case("typed-html", typed("text/html", OTHER.as_bytes()), file(OTHER), file(OTHER)),
        case("long", Reply::file(long), file(&kept), file(&kept)),
        case(
            "long-rules",
            Reply::file(rules),
            Served::File(kept_rules.clone()),
            Served::Longer(kept_rules),
        ),
        case("mark", Reply::file(format!("\u{feff}{OTHER}")), file(OTHER), file(OTHER)),
    ]);
    let text = "User-agent: *\nDisallow: /caf\u{e9}/\n";
    cases.push(case(
        "latin-1",
        typed("text/plain; charset=iso-8859-1", latin),
        file(text),
        file(text),
    ));
    cases
}

/// Each site has an origin of its own: a port, because a redirect leads to an origin.
fn table(cases: &[Case], origins: &[Origin], source: &str) -> String {
    let of_site = |(case, origin): (&Case, &Origin)| {
        let groups = match source {
            "merge" => ", groups: [{ user_agents: [MyBot], disallow: [/ours/] }]",
            _ => "",
        };
        format!(
            "  - hosts: [{}.{source}.example]\n    origin: http://127.0.0.1:{}\n    \
             robots_txt: {{ source: {source}{groups}{} }}\n    enforcement: {{ mode: block }}\n",
            case.name, origin.port, case.settings
        )
    };
    cases.iter().zip(origins).map(of_site).collect()
}

#[test]
fn rfc9309_2_3_1_each_answer_of_an_origin_has_its_effect_at_a_start_and_after_a_good_file() {
    let elsewhere = Origin::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    let gate = Arc::new(AtomicBool::new(false));
    let cases = cases(elsewhere.port, &gate);
    let file = Reply::file(OTHER).bytes;
    let rules = Origin::answering(file);
    let paths: Vec<Paths> = cases.iter().map(|_| Paths::default()).collect();
    let origins: Vec<Origin> = paths.iter().map(|paths| origin_on(free_port(), paths)).collect();
    let answer = |good: bool| {
        for (case, paths) in cases.iter().zip(&paths) {
            put(paths, "/robots.txt", if good { Reply::file(GOOD) } else { case.reply.clone() });
        }
    };
    let own_host =
        format!("  - hosts: [{RULES_HOST}]\n    origin: http://127.0.0.1:{}\n", rules.port);
    let sites = own_host + &table(&cases, &origins, "origin") + &table(&cases, &origins, "merge");
    let setup = |turn: u32| Setup::sites(&format!("{sites}    # turn {turn}\n"));
    // By itself, at a start and after a restart.
    answer(false);
    let mut beadle = setup(0).start();
    let page = Request::get("/robots/long-rules.merge.example").host("localhost");
    let page = page.field("Accept", "text/html");
    beadle.wait_for_stderr("of the origin's file are left out");
    // Where other files came late, the rules are merged once more, and the page says that the file stays.
    wait_for("a merge that is too long", || {
        let page = page.send(beadle.admin).text();
        page.contains("the merged file would be longer than 500 KiB").then_some(())
    });
    let line = "origin robots.txt not merged as a whole";
    let log = beadle.stderr();
    let line = log.lines().find(|one| one.contains(line)).unwrap_or_default();
    assert!(line.contains("ERROR") && line.contains("long-rules.merge.example"), "{line}");
    for what in ["at a start", "after a restart"] {
        assert_served(&beadle, &cases, |case| &case.alone, what);
        beadle = beadle.restarted_as("KILL", setup(0));
    }
    // After a good file, at once and after a restart.
    answer(true);
    beadle.reload(&setup(1));
    assert_served(&beadle, &cases, |_| &Served::Before, "a good file");
    answer(false);
    origins.iter().for_each(Origin::forget);
    beadle.reload(&setup(2));
    for origin in &origins {
        origin.wait_for_requests(2);
    }
    assert_served(&beadle, &cases, |case| &case.after, "after a good file");
    // The rules of the origins that answer with a page are held.
    assert!(!beadle.stderr().contains("may fetch all"));
    let beadle = beadle.restarted_as("KILL", setup(2));
    assert_served(&beadle, &cases, |case| &case.restarted, "after a good file and a restart");
    gate.store(true, Ordering::Release);
    assert!(elsewhere.received().is_empty(), "a redirect leads to no private address");
}

fn assert_served<'c>(
    beadle: &Beadle,
    cases: &'c [Case],
    expected: impl Fn(&'c Case) -> &'c Served,
    what: &str,
) {
    for case in cases {
        for source in ["origin", "merge"] {
            let host = format!("{}.{source}.example", case.name);
            let get = |target: &str, user_agent: &str| {
                Request::get(target).host(&host).user_agent(user_agent).send(beadle.port)
            };
            let expected = expected(case);
            wait_for(&format!("{what}: {host} {expected:?}"), || {
                let answer = get("/robots.txt", BROWSER);
                let text = answer.text();
                let is_served = match (expected, source) {
                    (Served::Withheld, _) => {
                        answer.status == 503 && answer.header("retry-after").is_some()
                    }
                    (Served::NoRules, "origin") => !text.contains("Disallow"),
                    (Served::File(file), "origin") => text == *file,
                    (Served::Longer(file), "origin") => text == *file,
                    (Served::Before, "origin") => text == GOOD,
                    (Served::NoRules, _) => {
                        text.contains("Disallow: /ours/") && text.matches("Disallow").count() == 1
                    }
                    // The rules of the merged file are those of both.
                    (Served::File(file), _) => {
                        let line = file.lines().find(|line| line.starts_with("Disallow"));
                        let line = line.map(|line| line.replace('\u{e9}', "%C3%A9"));
                        line.is_none_or(|line| text.contains(&line))
                            && text.contains("Disallow: /ours/")
                    }
                    (Served::Before | Served::Longer(_), _) => {
                        text.contains("Disallow: /private/") && text.contains("Disallow: /ours/")
                    }
                };
                (is_served && (answer.status == 200 || *expected == Served::Withheld)).then_some(())
            });
            // An edition from before would excuse crawlers that did not read this one.
            for crawler in [GPTBOT, MYBOT] {
                get("/robots.txt", crawler);
            }
            let judged = get("/private/x", GPTBOT).status;
            let is_disallowed = match expected {
                Served::Before => true,
                Served::Longer(_) => source == "merge",
                Served::File(_) => expected.is_closing(),
                Served::Withheld | Served::NoRules => false,
            };
            assert_eq!(judged, if is_disallowed { 403 } else { 200 }, "{what}: {host}");
            let is_ours = source == "merge" && *expected != Served::Withheld;
            let is_closed = is_ours || expected.is_closing();
            let ours = get("/ours/x", MYBOT).status;
            assert_eq!(ours, if is_closed { 403 } else { 200 }, "{what}: {host} {MYBOT}");
        }
    }
}
