//! The live view: violations reach a browser as they come, and never cost more than a few connections.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{
    PATIENCE,
    client::{Client, Request},
    origin::Origin,
    program::{Beadle, Setup},
    wait_for,
};

const RULES: &str = "
    robots_txt: { groups: [{ user_agents: [\"*\"], disallow: [/private/] }] }
    enforcement: { mode: log, overrides: [{ user_agents: [GPTBot], mode: block }] }
";
/// The most streams at a time.
const MOST: usize = 16;

fn site() -> (Origin, Beadle) {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, RULES).start();
    (origin, beadle)
}

fn request(path: &str) -> Request {
    Request::get(path).host("localhost").field("Accept", "text/event-stream")
}

/// An open stream of events.
struct Stream(Client);

impl Stream {
    fn open(beadle: &Beadle, request: &Request) -> Self {
        let mut client = Client::connect(beadle.admin);
        client.write(&request.bytes());
        let head = client.head().expect("an answer");
        assert_eq!(head.status, 200);
        assert_eq!(head.header("content-type"), Some("text/event-stream"));
        assert_eq!(head.header("cache-control"), Some("no-store"));
        let mut stream = Self(client);
        assert!(stream.block().contains("retry: "), "the begin");
        stream
    }

    /// The next block of lines.
    fn block(&mut self) -> String {
        let block = self.0.until(b"\n\n").expect("the stream goes on");
        String::from_utf8(block).expect("it is UTF-8")
    }

    /// The next violation, with its number.
    fn next(&mut self) -> (u64, Value) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            assert!(Instant::now() < deadline, "no violation comes");
            let block = self.block();
            let line = |name: &str| block.lines().find_map(|line| line.strip_prefix(name));
            if let (Some(id), Some(data)) = (line("id: "), line("data: ")) {
                let record = serde_json::from_str(data).expect("it is JSON");
                return (id.parse().expect("a number"), record);
            }
        }
    }
}

#[test]
fn a_violation_arrives_as_it_comes() {
    let (_origin, beadle) = site();
    beadle.get("/private/before", "GPTBot/1.2");
    beadle.wait_for_metric("beadle_records_stored_total", 1.0);
    let mut stream = Stream::open(&beadle, &request("/live/events"));
    // What was stored when a stream without a number began is on the page.
    let after = request("/live/events?after=0");
    assert_eq!(Stream::open(&beadle, &after).next().1["path"], "/private/before");
    std::thread::sleep(Duration::from_millis(700));
    let started = Instant::now();
    beadle.get("/private/<script>\"\\x", "GPTBot/1.2");
    let (number, record) = stream.next();
    eprintln!("a violation arrived after {:?}", started.elapsed());
    assert_eq!(number, 2);
    let log = beadle.records(2);
    assert_eq!(record["id"], log[1]["id"]);
    for (field, value) in [
        ("action", "block"),
        ("crawler", "GPTBot"),
        ("standing", "unknown"),
        ("client", "127.0.0.1"),
        ("read", "never"),
        ("rule", "Disallow: /private/"),
    ] {
        assert_eq!(record[field], value, "{record}");
    }
    assert_eq!(record["path"], log[1]["path"]);
}

#[test]
fn a_stream_goes_on_where_the_last_one_ended() {
    let (_origin, beadle) = site();
    for number in 0..5 {
        let user_agent = if number % 2 == 0 { "GPTBot/1.2" } else { "bingbot/2.0" };
        beadle.get(&format!("/private/{number}"), user_agent);
    }
    beadle.wait_for_metric("beadle_records_stored_total", 5.0);
    for (path, last, expected) in [
        ("/live/events?after=3", None, &[4, 5][..]),
        // The number of the browser is the later one.
        ("/live/events?after=1", Some("3"), &[4, 5]),
        ("/live/events?after=1", Some("x"), &[2, 3, 4, 5]),
        ("/live/events?after=0&crawler=gptbot", None, &[]),
        ("/live/events?after=0&action=block&site=site.example&path=/private/", None, &[]),
    ] {
        let mut wanted = request(path);
        if let Some(last) = last {
            wanted = wanted.field("Last-Event-ID", last);
        }
        let mut stream = Stream::open(&beadle, &wanted);
        if expected.is_empty() {
            let found: Vec<Value> = (0..3).map(|_| stream.next().1).collect();
            assert!(found.iter().all(|record| record["crawler"] == "GPTBot"), "{path}: {found:?}");
            continue;
        }
        let found: Vec<u64> = expected.iter().map(|_| stream.next().0).collect();
        assert_eq!(found, expected, "{path} {last:?}");
    }
    // A number of another database: the stream begins with the next violation.
    let mut stream = Stream::open(&beadle, &request("/live/events?after=999999"));
    std::thread::sleep(Duration::from_millis(700));
    beadle.get("/private/next", "GPTBot/1.2");
    assert_eq!(stream.next().1["path"], "/private/next");
    for (path, status) in [
        ("/live/events?after=x", 400),
        ("/live/events?path=private", 400),
        ("/live/events?since=soon", 400),
    ] {
        assert_eq!(request(path).send(beadle.admin).status, status, "{path}");
    }
}

#[test]
fn of_very_many_violations_the_latest_arrive() {
    let (_origin, beadle) = site();
    for number in 0..250 {
        beadle.get(&format!("/private/{number}"), "GPTBot/1.2");
    }
    beadle.wait_for_metric("beadle_records_stored_total", 250.0);
    let mut stream = Stream::open(&beadle, &request("/live/events?after=10"));
    let gap = stream.block();
    assert!(gap.contains("event: gap"), "{gap}");
    let found: Vec<u64> = (0..100).map(|_| stream.next().0).collect();
    assert_eq!(found, (151..=250).collect::<Vec<_>>());
}

#[test]
fn streams_are_few_and_end_with_their_clients() {
    let (_origin, beadle) = site();
    let mut streams: Vec<Stream> =
        (0..MOST).map(|_| Stream::open(&beadle, &request("/live/events"))).collect();
    let refused = request("/live/events").send(beadle.admin);
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("10")));
    assert!(refused.text().contains("Too many live views are open."), "{}", refused.text());
    // Other pages and the proxy go on.
    assert_eq!(beadle.admin_page("/live").status, 200);
    beadle.assert_healthy("many streams");
    streams.pop();
    wait_for("a place", || {
        let mut client = Client::connect(beadle.admin);
        client.write(&request("/live/events").bytes());
        (client.head().expect("an answer").status == 200).then_some(())
    });
    beadle.get("/private/x", "GPTBot/1.2");
    for stream in &mut streams {
        assert_eq!(stream.next().1["path"], "/private/x");
    }
}

#[test]
fn streams_end_when_the_program_ends() {
    let (_origin, mut beadle) = site();
    let mut stream = Stream::open(&beadle, &request("/live/events"));
    // A request in progress keeps the program draining.
    let mut slow = Client::connect(beadle.port);
    slow.write(b"GET / HTTP/1.1\r\nHost: site.example\r\n");
    beadle.signal("TERM");
    beadle.wait_for_stderr("completing requests in progress");
    let started = Instant::now();
    let _ = stream.0.rest();
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    drop(slow);
    assert_eq!(beadle.wait().0.code(), Some(0));
}

#[test]
fn the_page_is_complete_without_scripts() {
    let (_origin, beadle) = site();
    for number in 0..60 {
        beadle.get(&format!("/private/{number}"), "GPTBot/1.2");
    }
    beadle.get("/private/<script>", "bingbot/2.0");
    beadle.wait_for_metric("beadle_records_stored_total", 61.0);
    let page = |path: &str| {
        let answer = beadle.admin_page(path);
        assert_eq!(answer.status, 200, "{path}");
        answer.text()
    };
    let text = page("/live");
    assert_eq!(text.matches("<tr><td data-name=\"time\"").count(), 50, "the latest");
    assert!(text.contains("data-events=\"/live/events?after=61\""), "{text}");
    assert!(text.contains("<a href=\"/live\">Refresh</a>"), "{text}");
    assert_eq!(text.matches("<script").count(), 1, "one file: {text}");
    assert!(text.contains("<script src=\"/assets/live.js\" defer></script>"), "{text}");
    assert!(!text.contains(" style=") && !text.contains(" onclick="), "{text}");
    let filtered = page("/live?crawler=bingbot&action=log");
    assert_eq!(filtered.matches("<tr><td data-name=\"time\"").count(), 1);
    assert!(filtered.contains("/live/events?crawler=bingbot&#38;action=log&#38;after=61"));
    assert!(filtered.contains("<a href=\"/live?crawler=bingbot&#38;action=log\">Refresh</a>"));
    let script = page("/assets/live.js");
    assert!(!script.contains("innerHTML") && script.contains("textContent"));
    let none = Setup::site(1, "").violations("  log: $DIR/violations.jsonl\n").start();
    assert!(
        none.admin_page("/live").text().contains("Set violations.database, and restart Beadle.")
    );
    assert_eq!(request("/live/events").send(none.admin).status, 404);
}
