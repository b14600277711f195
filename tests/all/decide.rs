//! Questions of other servers: whether a request passes, with which tags, and the record of it.

use std::{
    io::{Read, Write},
    net::{Ipv6Addr, TcpStream},
    time::Duration,
};

use serde_json::{Value, json};

use crate::support::{
    BROWSER, GROUPS, PATIENCE,
    client::{Client, Request, Response},
    free_port,
    origin::Origin,
    program::{Beadle, Setup},
    wait_for,
};

/// The refusals and a log of BadBot.
const ENFORCEMENT: &str = "    robots_tag:
      - paths: [/drafts/]
        rules: { \"*\": [noindex], GPTBot: [noarchive] }
    enforcement:
      mode: log
      overrides: [{ user_agents: [GPTBot], mode: block }]
";

/// An address of a client, in the report of the server in front.
const CLIENT: &str = "192.0.2.7";

struct Asked {
    beadle: Beadle,
    port: u16,
    _origin: Origin,
}

/// A program that other servers ask, with these settings after the groups.
fn start(settings: &str, more: &str) -> Asked {
    let (origin, port) = (Origin::plain(), free_port());
    let server = format!(
        "  decide: {{ address: \"127.0.0.1:{port}\"{more} }}\n  trusted_proxies: [127.0.0.1]\n"
    );
    let setup = Setup::site(origin.port, &format!("{GROUPS}{settings}")).server(&server);
    Asked { beadle: setup.start(), port, _origin: origin }
}

/// A question about a request.
fn question(method: &str, target: impl AsRef<[u8]>) -> Request {
    Request::get("/any/path?of=the-server")
        .host("decider.internal")
        .field("X-Forwarded-Method", method)
        .field("X-Forwarded-Uri", target)
        .field("X-Forwarded-Host", "site.example")
        .field("X-Forwarded-Proto", "http")
        .field("X-Forwarded-For", CLIENT)
}

impl Asked {
    fn ask(&self, target: impl AsRef<[u8]>, user_agent: &str) -> Response {
        question("GET", target).user_agent(user_agent).send(self.port)
    }

    /// The fourth request in a row of a crawler with a pace.
    fn too_soon(&self) -> Response {
        for _ in 0..3 {
            assert_eq!(self.ask("/x", "bingbot/2.0").status, 200);
        }
        self.ask("/x", "bingbot/2.0")
    }

    /// The refusals counted under a reason.
    fn refusals(&self, reason: &str) -> f64 {
        self.beadle.metric(&format!("beadle_refusals_total{{reason=\"{reason}\"}}"))
    }
}

// === the contract

#[test]
fn an_allowed_request_is_200_with_the_tags_to_copy() {
    let asked = start(ENFORCEMENT, "");
    for (target, robots_tag, x_robots_tag) in [
        ("/", None, None),
        (
            "/drafts/1",
            Some("*;noindex, GPTBot;noarchive;noindex"),
            Some("noindex, GPTBot: noarchive"),
        ),
    ] {
        let reply = asked.ask(target, BROWSER);
        assert_eq!(reply.status, 200, "{target}");
        assert_eq!(reply.header("robots-tag"), robots_tag);
        assert_eq!(reply.header("x-robots-tag"), x_robots_tag);
        assert_eq!((reply.header("content-length"), reply.text()), (Some("0"), String::new()));
        assert!(reply.keeps_alive());
    }
    assert!(asked.beadle.log().is_empty());
}

#[test]
fn an_allowed_request_has_the_fields_that_say_its_use() {
    let settings = "    preferences: [{ train-ai: no }, { paths: [/open/], train-ai: yes }]
    license: https://site.example/license.xml
    tdm: https://site.example/tdm.json
";
    let asked = start(settings, "");
    let license =
        "<https://site.example/license.xml>; rel=\"license\"; type=\"application/rsl+xml\"";
    for (target, usage, tdm) in [
        ("/", "train-ai=n", [Some("1"), Some("https://site.example/tdm.json")]),
        ("/open/1", "train-ai=y", [Some("0"), None]),
    ] {
        let reply = asked.ask(target, BROWSER);
        assert_eq!((reply.status, reply.header("content-usage")), (200, Some(usage)), "{target}");
        assert_eq!(["tdm-reservation", "tdm-policy"].map(|name| reply.header(name)), tdm);
        assert_eq!(reply.header("link"), Some(license));
    }
}

#[test]
fn a_refusal_has_its_status_its_fields_and_its_page() {
    let asked = start(ENFORCEMENT, "");
    let reply = asked.ask("/x", "GPTBot/1.2");
    assert_eq!((reply.status, reply.header("cache-control")), (403, Some("no-store")));
    assert_eq!(reply.header("vary"), Some("User-Agent"));
    let record = asked.beadle.records(1).remove(0);
    assert_eq!((&record["action"], &record["status"]), (&json!("block"), &json!(403)));
    assert!(reply.text().contains(record["id"].as_str().expect("an id")), "{}", reply.text());
    assert_eq!(asked.ask("/press/x", "GPTBot/1.2").status, 200);
    let logged = asked.ask("/private/x", "BadBot/1.0");
    assert_eq!(logged.status, 200);
    let record = asked.beadle.records(2).remove(1);
    let (action, status) = (&record["action"], &record["status"]);
    assert_eq!((action, status), (&json!("log"), &json!(0)), "another server answers it");
}

#[test]
fn a_crawler_that_comes_too_soon_gets_429_with_retry_after() {
    let settings = "        - { user_agents: [bingbot], crawl_delay: 30 }
    enforcement: { mode: throttle }
";
    let asked = start(settings, "");
    let reply = asked.too_soon();
    assert_eq!(reply.status, 429);
    let seconds: u64 = reply.header("retry-after").expect("a time").parse().expect("seconds");
    assert!((1..=30).contains(&seconds), "{seconds}");
    assert_eq!(asked.beadle.records(1)[0]["status"], json!(429));
}

#[test]
fn one_status_can_stand_for_all_refusals() {
    let settings = "        - { user_agents: [bingbot], crawl_delay: 30 }
    enforcement: { mode: throttle, overrides: [{ user_agents: [GPTBot], mode: block }] }
";
    let asked = start(settings, ", refuse_status: 401");
    assert_eq!(asked.ask("/x", "GPTBot/1.2").status, 401);
    let reply = asked.too_soon();
    assert_eq!(reply.status, 401);
    assert!(reply.header("retry-after").is_some() && reply.text().contains("comes too fast"));
    let elsewhere = question("GET", "/").user_agent(BROWSER).bytes();
    let elsewhere = String::from_utf8(elsewhere).expect("text").replace("site.ex", "other.ex");
    let mut client = Client::connect(asked.port);
    client.write(elsewhere.as_bytes());
    assert_eq!(client.response("GET").expect("a reply").status, 401);
    // The refusal itself is in the record.
    let statuses: Vec<Value> =
        asked.beadle.records(2).iter().map(|record| record["status"].clone()).collect();
    assert_eq!(statuses, [json!(403), json!(429)]);
    let wrong = Request::get("/").user_agent(BROWSER).send(asked.port);
    assert_eq!(wrong.status, 400, "a server that asks wrongly");
}

#[test]
fn a_question_needs_a_method_a_uri_and_a_host_once() {
    let asked = start(ENFORCEMENT, "");
    let lines = [
        ("X-Forwarded-Method", "GET"),
        ("X-Forwarded-Uri", "/"),
        ("X-Forwarded-Host", "site.example"),
    ];
    let with = |lines: &[(&str, &str)]| {
        let request = Request::get("/").user_agent(BROWSER);
        // They say nothing here.
        let request = request.field("X-Original-Method", "GET").field("X-Original-URI", "/");
        let request = request.field("X-Original-Host", "site.example");
        lines.iter().fold(request, |request, (name, value)| request.field(name, value))
    };
    assert_eq!(with(&lines).send(asked.port).status, 200);
    for missing in 0..lines.len() {
        let mut left = lines.to_vec();
        let (name, _) = left.remove(missing);
        assert_eq!(with(&left).send(asked.port).status, 400, "without {name}");
        left.push((name, ""));
        assert_eq!(with(&left).send(asked.port).status, 400, "empty {name}");
    }
    assert_eq!(asked.refusals("decide.missing_field"), 6.0);
    for repeated in lines {
        let mut twice = lines.to_vec();
        twice.push(repeated);
        assert_eq!(with(&twice).send(asked.port).status, 400, "{repeated:?}");
    }
    assert_eq!(asked.refusals("decide.repeated_field"), 3.0);
}

#[test]
fn requests_that_the_proxy_refuses_are_refused_here_with_the_same_reason() {
    let asked = start(ENFORCEMENT, "");
    let ask = |method: &str, target: &str, host: &str| {
        let request = Request::get("/").field("X-Forwarded-Method", method);
        let request = request.field("X-Forwarded-Uri", target).field("X-Forwarded-Host", host);
        request.user_agent(BROWSER).send(asked.port).status
    };
    for (method, target, host, status, reason) in [
        ("GET", "/", "other.example", 421, "proxy.unknown_host"),
        ("GET", "/", "site.example/x", 400, "proxy.bad_host"),
        ("GET", "private/x", "site.example", 400, "proxy.ambiguous_target"),
        ("GET", "/a\tb", "site.example", 400, "proxy.ambiguous_target"),
        ("GET", "/#/../private/x", "site.example", 400, "proxy.ambiguous_target"),
        ("TRACE", "/", "site.example", 405, "proxy.trace"),
    ] {
        let before = asked.refusals(reason);
        assert_eq!(ask(method, target, host), status, "{method} {target} {host}");
        assert_eq!(asked.refusals(reason), before + 1.0, "{reason}");
    }
    for (method, target, host) in [
        ("OPTIONS", "*", "site.example"),
        ("HEAD", "/", "SITE.example:8443"),
        ("PROPFIND", "/", "site.example."),
    ] {
        assert_eq!(ask(method, target, host), 200, "{method} {target} {host}");
    }
}

#[test]
fn robots_txt_in_another_spelling_leads_to_the_exact_one() {
    let asked = start(ENFORCEMENT, "");
    for target in ["/robots%2etxt", "/%72obots.txt?x"] {
        let reply = asked.ask(target, "GPTBot/1.2");
        assert_eq!(
            (reply.status, reply.header("location")),
            (308, Some("/robots.txt")),
            "{target}"
        );
    }
    assert_eq!(asked.ask("/robots.txt?x", "GPTBot/1.2").status, 200);
}

#[test]
fn a_question_that_is_too_long_gets_its_answer_before_the_end() {
    let asked = start(ENFORCEMENT, "");
    let lines = |count: usize| {
        let question = question("GET", "/x").user_agent("GPTBot/1.2");
        (0..count).fold(question, |all, number| all.field(&format!("a{number}"), ""))
    };
    assert_eq!(lines(900).send(asked.port).status, 403);
    for _ in 0..20 {
        // The end of the question is unread when the answer is sent.
        assert_eq!(lines(9_000).send(asked.port).status, 431);
    }
}

// === who may ask

#[test]
fn only_trusted_peers_may_ask() {
    let asked = start(ENFORCEMENT, "");
    let forged = question("GET", "/x").user_agent("GPTBot/1.2");
    let mut stranger = Client::connect_from([127, 0, 0, 9], asked.port);
    let reply = forged.send_over(&mut stranger);
    assert_eq!(reply.status, 403);
    assert!(reply.text().contains("server.trusted_proxies"), "{}", reply.text());
    assert_eq!(asked.refusals("decide.untrusted_peer"), 1.0);
    assert!(asked.beadle.log().is_empty(), "nothing is judged");
    assert_eq!(forged.send(asked.port).status, 403);
    assert_eq!(asked.beadle.records(1).len(), 1);
}

#[test]
fn peers_are_known_by_either_version_of_ip() {
    let origin = Origin::plain();
    let port = free_port();
    let server = format!("  decide: \"[::]:{port}\"\n  trusted_proxies: [127.0.0.1, \"::1\"]\n");
    let beadle =
        Setup::site(origin.port, &format!("{GROUPS}{ENFORCEMENT}")).server(&server).start();
    // The peer is ::ffff:127.0.0.1.
    assert_eq!(question("GET", "/x").user_agent("GPTBot/1.2").send(port).status, 403);
    assert_eq!(beadle.records(1)[0]["client_ip"], CLIENT);
    let mut client = TcpStream::connect((Ipv6Addr::LOCALHOST, port)).expect("the port is open");
    let closing = question("GET", "/x").user_agent("GPTBot/1.2").field("Connection", "close");
    client.write_all(&closing.bytes()).expect("the connection is open");
    let mut reply = String::new();
    client.read_to_string(&mut reply).expect("a reply");
    assert!(reply.starts_with("HTTP/1.1 403 "), "{reply}");
    assert_eq!(beadle.records(2)[1]["client_ip"], CLIENT);
}

#[test]
fn strangers_take_no_connection_from_the_servers() {
    let asked = start(ENFORCEMENT, "");
    let strangers: Vec<Client> =
        (0..40).map(|_| Client::connect_from([127, 0, 0, 9], asked.port)).collect();
    assert_eq!(asked.ask("/", BROWSER).status, 200);
    wait_for("those beyond the limit", || {
        (asked.refusals("decide.untrusted_peer") == 24.0).then_some(())
    });
    // The others are closed as well, without a word.
    for mut stranger in strangers {
        assert!(stranger.rest().is_empty());
    }
}

#[test]
fn the_client_is_the_one_that_the_server_in_front_reports() {
    let asked = start(ENFORCEMENT, "");
    for (lines, client) in [
        (&[("X-Forwarded-For", "192.0.2.7")][..], "192.0.2.7"),
        (&[("X-Forwarded-For", "2001:db8::7")], "2001:db8::7"),
        // A client can write what stands to the left of its own address.
        (&[("X-Forwarded-For", "66.249.66.1, 192.0.2.7")], "192.0.2.7"),
        (&[("X-Forwarded-For", "66.249.66.1"), ("X-Forwarded-For", "192.0.2.8")], "192.0.2.8"),
        // Only X-Forwarded-For counts.
        (&[("Forwarded", "for=66.249.66.1"), ("X-Real-IP", "66.249.66.1")], "127.0.0.1"),
    ] {
        let before = asked.beadle.log().len();
        let request = Request::get("/").field("X-Forwarded-Method", "GET");
        let request = request.field("X-Forwarded-Uri", "/x").user_agent("GPTBot/1.2");
        let request = request.field("X-Forwarded-Host", "site.example");
        let request =
            lines.iter().fold(request, |request, (name, value)| request.field(name, value));
        assert_eq!(request.send(asked.port).status, 403);
        assert_eq!(asked.beadle.records(before + 1)[before]["client_ip"], client, "{lines:?}");
    }
}

// === the same judgement as at the proxy

#[test]
fn records_and_metrics_are_those_of_the_proxy() {
    let asked = start(ENFORCEMENT, "");
    let beadle = &asked.beadle;
    let requests: [(&str, &[u8], &str); 9] = [
        ("GET", b"/x", "GPTBot/1.2"),
        ("HEAD", b"/private/x?a=1", "BadBot/1.0"),
        ("POST", b"/private/x", "BadBot/1.0"),
        ("GET", b"//private/x", "BadBot/1.0"),
        ("GET", b"/a/../private%2fx", "BadBot/1.0"),
        ("GET", b"/./%70rivate/x", "BadBot/1.0"),
        ("GET", b"/private/caf\xc3\xa9 \"\xff", "BadBot/1.0"),
        ("GET", b"/admin/x", "AhrefsBot/7.0"),
        ("GET", b"http://site.example/private/x", "BadBot/1.0"),
    ];
    let series = |what: &str| {
        let text = beadle.admin_page("/metrics").text();
        let lines = text.lines().filter(|line| line.starts_with(what) && !line.contains(" 0"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    // The order of fields in both is that of a client behind a proxy.
    for (number, (method, target, user_agent)) in requests.into_iter().enumerate() {
        let direct = Request::new(method, target)
            .user_agent(user_agent)
            .field("X-Forwarded-Proto", "http")
            .field("X-Forwarded-For", CLIENT);
        direct.send(beadle.port);
        beadle.records(number + 1);
    }
    let once = [series("beadle_violations_total"), series("beadle_crawler_requests_total")];
    for (number, (method, target, user_agent)) in requests.into_iter().enumerate() {
        question(method, target).user_agent(user_agent).send(asked.port);
        beadle.records(requests.len() + number + 1);
    }
    let twice = [series("beadle_violations_total"), series("beadle_crawler_requests_total")];
    let (direct, asked) = {
        let mut direct = beadle.records(2 * requests.len());
        let asked = direct.split_off(requests.len());
        (direct, asked)
    };
    for (mut direct, mut asked) in direct.into_iter().zip(asked) {
        for record in [&mut direct, &mut asked] {
            let record = record.as_object_mut().expect("an object");
            record.remove("id");
            record.remove("time");
            if record["action"] == "log" {
                record.remove("status");
            }
        }
        assert_eq!(direct, asked);
    }
    for (once, twice) in once.into_iter().zip(twice) {
        assert!(!once.is_empty());
        let doubled = once.iter().map(|line| {
            let (series, value) = line.rsplit_once(' ').expect("a value");
            format!("{series} {}", 2.0 * value.parse::<f64>().expect("a number"))
        });
        assert_eq!(doubled.collect::<Vec<_>>(), twice);
    }
}

#[test]
fn the_fields_of_a_question_say_nothing_at_the_proxy() {
    let asked = start(ENFORCEMENT, "");
    let page = Request::get("/x")
        .user_agent("GPTBot/1.2")
        .field("X-Forwarded-Method", "OPTIONS")
        .field("X-Forwarded-Uri", "/robots.txt")
        .field("X-Forwarded-For", CLIENT)
        .send(asked.beadle.port);
    assert_eq!(page.status, 403);
    let record = asked.beadle.records(1).remove(0);
    assert_eq!((&record["method"], &record["path"]), (&json!("GET"), &json!("/x")));
}

#[test]
fn a_fetch_of_robots_txt_counts_at_the_proxy_only() {
    let asked = start(ENFORCEMENT, "");
    let beadle = &asked.beadle;
    let state = |count: usize| {
        asked.ask("/private/x", "BadBot/1.0");
        beadle.records(count)[count - 1]["robots_read"]["state"].clone()
    };
    let reply = asked.ask("/robots.txt", "BadBot/1.0");
    assert_eq!(
        (reply.status, reply.text()),
        (200, String::new()),
        "the server in front answers it"
    );
    assert_eq!(state(1), "never");
    let fetch = Request::get("/robots.txt").user_agent("BadBot/1.0");
    let answer = fetch.field("X-Forwarded-For", CLIENT).send(beadle.port);
    assert!(answer.text().contains("BadBot"), "{}", answer.text());
    assert_eq!(state(2), "current");
}

#[test]
fn a_new_edition_counts_for_both() {
    let asked = start(ENFORCEMENT, "");
    let beadle = &asked.beadle;
    let setup = Setup::site(1, &format!("{GROUPS}{ENFORCEMENT}").replace("/admin/", "/new/"));
    let text = beadle.text_of(&setup);
    let sites = text.find("sites:").expect("they are there");
    let start = beadle.policy_text();
    let before = start.find("sites:").expect("they are there");
    let applied = "beadle_policy_reloads_total{outcome=\"applied\"}";
    beadle.replace_policy(&format!("{}{}", &start[..before], &text[sites..]));
    beadle.signal("HUP");
    wait_for("the reload", || (beadle.metric(applied) > 0.0).then_some(()));
    assert_eq!(asked.ask("/new/x", "AhrefsBot/7.0").status, 200);
    let grace = "beadle_grace_total{product_token=\"AhrefsBot\",site=\"site.example\"}";
    beadle.wait_for_metric(grace, 1.0);
}

// === a refusal that is fetched again

#[test]
fn a_refusal_is_fetched_once_and_neither_judged_nor_recorded_again() {
    let asked = start(ENFORCEMENT, ", refuse_status: 403");
    let beadle = &asked.beadle;
    let reply = asked.ask("/x", "GPTBot/1.2");
    let mark = reply.header("x-beadle-refusal").expect("a mark").to_owned();
    assert_eq!(mark.len(), 32, "{mark}");
    let fetch = |target: &str, mark: &str| {
        Request::get(target).user_agent("GPTBot/1.2").field("X-Beadle-Refusal", mark)
    };
    // robots.txt is never refused, and a client can't use a mark.
    assert_eq!(fetch("/robots.txt", &mark).send(beadle.port).status, 200);
    let mut client = Client::connect_from([127, 0, 0, 9], beadle.port);
    assert_ne!(fetch("/x", &mark).send_over(&mut client).text(), reply.text());
    beadle.records(2);
    let page = fetch("/x", &mark).send(beadle.port);
    assert_eq!((page.status, page.text()), (403, reply.text()));
    assert!(page.header("x-beadle-refusal").is_none());
    let series = "beadle_violations_total{action=\"block\",product_token=\"GPTBot\",\
                  reason=\"robots.disallow\",site=\"site.example\"}";
    assert_eq!(beadle.metric(series), 2.0);
    // Another request is judged, whatever mark it has.
    for mark in [&mark, "", "0", &"0".repeat(32), &"f".repeat(32)] {
        let page = fetch("/x", mark).send(beadle.port);
        assert_eq!(page.status, 403);
        assert_ne!(page.text(), reply.text());
    }
    assert_eq!(beadle.records(7).len(), 7);
    assert!(asked.ask("/", BROWSER).header("x-beadle-refusal").is_none());
}

#[test]
fn the_true_status_of_a_refusal_is_fetched() {
    let settings = "        - { user_agents: [bingbot], crawl_delay: 30 }
    enforcement: { mode: throttle }
";
    let asked = start(settings, ", refuse_status: 403");
    let reply = asked.too_soon();
    assert_eq!(reply.status, 403);
    let mark = reply.header("x-beadle-refusal").expect("a mark");
    let fetch = Request::get("/x").user_agent("bingbot/2.0").field("X-Beadle-Refusal", mark);
    let page = fetch.send(asked.beadle.port);
    assert_eq!((page.status, page.header("retry-after")), (429, reply.header("retry-after")));
    assert_eq!(asked.beadle.records(1).len(), 1);
}

// === connections

#[test]
fn a_question_has_the_room_of_a_large_request() {
    let asked = start(ENFORCEMENT, "");
    let large = question("GET", format!("/{}", "x".repeat(30_000)));
    let large = large.user_agent("GPTBot/1.2").field("Cookie", "c".repeat(60_000));
    assert_eq!(large.send(asked.port).status, 403);
    let many =
        (0..90).fold(question("GET", "/"), |request, at| request.field(&format!("F{at}"), "x"));
    assert_eq!(many.send(asked.port).status, 200);
    let too_large = question("GET", "/").field("Cookie", "c".repeat(200_000));
    let mut client = Client::connect(asked.port);
    // It may be closed before it is read.
    let _ = client.try_write(&too_large.bytes());
    assert!(client.response("GET").map_or(431, |reply| reply.status) == 431);
    assert_eq!(asked.ask("/", BROWSER).status, 200);
}

#[test]
fn a_connection_serves_many_questions_and_bodies_are_ignored() {
    let asked = start(ENFORCEMENT, "");
    let mut client = Client::connect(asked.port);
    for number in 0..50 {
        let (user_agent, status) = if number % 2 == 0 { (BROWSER, 200) } else { ("GPTBot/1", 403) };
        let request = question("POST", "/x").user_agent(user_agent).body("a body");
        assert_eq!(request.send_over(&mut client).status, status);
    }
    let head = question("GET", "/x").user_agent("GPTBot/1");
    let head = String::from_utf8(head.bytes()).expect("text").replacen("GET", "HEAD", 1);
    client.write(head.as_bytes());
    let reply = client.response("HEAD").expect("a reply");
    assert_eq!(reply.status, 403);
    assert!(reply.header("content-length").is_some_and(|length| length != "0"));
    assert_eq!(question("GET", "/").user_agent(BROWSER).send_over(&mut client).status, 200);
}

#[test]
fn a_peer_that_may_not_ask_has_little_time() {
    let asked = start(ENFORCEMENT, "");
    let mut slow = Client::connect_from([127, 0, 0, 9], asked.port);
    slow.write(b"GET / HTTP/1.1\r\nHost: x\r\n");
    let before = std::time::Instant::now();
    slow.rest();
    assert!(before.elapsed() < PATIENCE - Duration::from_secs(2));
}

#[test]
fn an_idle_connection_ends_after_the_time_of_the_policy() {
    let origin = Origin::plain();
    let port = free_port();
    let server = format!(
        "  decide: 127.0.0.1:{port}\n  trusted_proxies: [127.0.0.1]\n  \
         timeouts: {{ client_keepalive: 1s }}\n"
    );
    let _beadle = Setup::site(origin.port, GROUPS).server(&server).start();
    let mut client = Client::connect(port);
    assert_eq!(question("GET", "/").user_agent(BROWSER).send_over(&mut client).status, 200);
    assert!(client.rest().is_empty(), "it is closed");
    let mut slow = Client::connect(port);
    slow.write(b"GET / HTTP/1.1\r\nHost: x\r\n");
    slow.rest();
}

#[test]
fn the_end_of_the_program_closes_idle_connections_at_once() {
    let mut asked = start(ENFORCEMENT, "");
    let mut client = Client::connect(asked.port);
    let ask = question("GET", "/").user_agent(BROWSER);
    assert_eq!(ask.send_over(&mut client).status, 200);
    let (status, time) = asked.beadle.stop();
    assert!(status.success());
    assert!(time < Duration::from_secs(15), "{time:?}");
    assert!(client.rest().is_empty());
}

#[test]
fn a_socket_in_use_is_found_before_the_start() {
    let origin = Origin::plain();
    let port = free_port();
    let _taken = std::net::TcpListener::bind(("127.0.0.1", port)).expect("it is free");
    let server = format!("  decide: 127.0.0.1:{port}\n  trusted_proxies: [127.0.0.1]\n");
    let mut beadle = Setup::site(origin.port, GROUPS).server(&server).spawn();
    let (status, _) = beadle.wait();
    assert_eq!(status.code(), Some(2));
    beadle.wait_for_stderr(&format!("can't listen on 127.0.0.1:{port}"));
}
