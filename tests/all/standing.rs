//! Evidence for claims: published addresses, names and keys, checked by the real program against
//! local servers in place of the operators'.

use std::{
    io::Write,
    time::{Duration, Instant, SystemTime},
};

use hickory_resolver::proto::{op::ResponseCode, rr::RecordType};
use serde_json::{Value, json};

use crate::support::{
    client::Request,
    name_server::{self, NameServer, Reply},
    origin::{After, Origin},
    program::{Beadle, Setup},
    wait_for,
};

pub(crate) const ENFORCEMENT: &str = "    robots_txt:\n      groups:\n        \
    - { user_agents: [\"*\"], disallow: [/private/] }\n    \
    enforcement:\n      mode: log\n      impostors: log\n";

/// A policy with a made-up crawler whose evidence is at local servers.
pub(crate) fn setup(origin: &Origin, crawler: &str, evidence: &str) -> Setup {
    setup_for(origin, ENFORCEMENT, crawler, evidence)
}

fn setup_for(origin: &Origin, site: &str, crawler: &str, evidence: &str) -> Setup {
    Setup::site(origin.port, site)
        .sections(&format!(
            "crawlers:\n  - {{ product_token: ListBot, operator: Lists, purpose: search, {crawler} }}\n\
             evidence:\n  user_agents: [ListBot]\n  allow_addresses: [127.0.0.0/8]\n{evidence}"
        ))
        .server("  trusted_proxies: [127.0.0.1]\n")
}

/// The record of a request for a disallowed page from this address.
fn record(beadle: &Beadle, address: &str) -> Value {
    record_of(beadle, "ListBot", address)
}

fn record_of(beadle: &Beadle, crawler: &str, address: &str) -> Value {
    let before = beadle.metric("beadle_records_seen_total") as usize;
    Request::get("/private/x")
        .host("site.example")
        .user_agent(&format!("{crawler}/1.0 (+https://lists.example/bot)"))
        .field("X-Forwarded-For", address)
        .send(beadle.port);
    beadle.records(before + 1).pop().expect("it is recorded")
}

/// The standing of an address and its evidence, once it is known.
pub(crate) fn standing(beadle: &Beadle, address: &str) -> Value {
    wait_for("a standing", || {
        let record = record(beadle, address);
        let said = json!([record["standing"], record["evidence"]]);
        (said != json!(["unknown", null])).then_some(said)
    })
}

pub(crate) fn list(octets: impl AsRef<[u8]>) -> Origin {
    let octets = octets.as_ref().to_vec();
    Origin::playing(move |exchange| {
        exchange.answer("200 OK", &["Content-Type: application/json", "ETag: \"1\""], &octets);
        After::Keep
    })
}

pub(crate) fn crawler(list: &Origin) -> String {
    format!("ip_ranges: [\"http://127.0.0.1:{}/list.json\"]", list.port)
}

pub(crate) const GOOD: &str =
    r#"{"prefixes":[{"ipv4Prefix":"66.249.64.0/27"},{"ipv4Prefix":"66.249.66.0/24"}]}"#;

#[test]
fn an_address_in_the_published_list_confirms_and_another_contradicts() {
    let (origin, list) = (Origin::plain(), list(GOOD));
    let beadle = setup(&origin, &crawler(&list), "").start();
    assert_eq!(standing(&beadle, "66.249.64.3"), json!(["confirmed", "ip-range"]));
    assert_eq!(standing(&beadle, "8.8.8.8"), json!(["contradicted", "ip-range"]));
    // The list says nothing about IPv6.
    let record = record(&beadle, "2606:4700::1");
    assert_eq!((&record["standing"], &record["evidence"]), (&json!("unknown"), &Value::Null));
    // Every request of an impostor is recorded.
    let page = Request::get("/page").user_agent("ListBot/1.0").field("X-Forwarded-For", "8.8.8.8");
    assert_eq!(page.send(beadle.port).status, 200);
    let records = wait_for("the record", || {
        let before = beadle.metric("beadle_records_stored_total") as usize;
        let records = beadle.records(before);
        records.iter().any(|record| record["path"] == "/page").then_some(records)
    });
    let record = records.iter().find(|record| record["path"] == "/page").expect("just seen");
    for (field, value) in [
        ("verdict", json!("allow")),
        ("reason", json!("claim.contradicted")),
        ("action", json!("log")),
        ("standing", json!("contradicted")),
    ] {
        assert_eq!(record[field], value, "{record}");
    }
    let text = Request::get("/metrics").host("localhost").send(beadle.admin).text();
    for series in [
        r#"standing="confirmed""#,
        r#"standing="contradicted""#,
        r#"beadle_evidence_fetches_total{evidence="ip-range",outcome="fresh"} 1"#,
    ] {
        assert!(text.contains(series), "{series} is missing in\n{text}");
    }
}

#[test]
fn a_block_page_tells_an_impostor_the_reason() {
    let rules = "    robots_txt:\n      groups:\n        - { user_agents: [\"*\"], allow: [/page] }\n    \
                 enforcement:\n      impostors: block\n";
    let told = |own: &str| {
        let (origin, list) = (Origin::plain(), list(GOOD));
        let site = format!("{rules}{own}");
        let beadle = setup_for(&origin, &site, &crawler(&list), "").start();
        wait_for_fetch(&beadle, "fresh");
        let request = Request::get("/page").host("site.example").user_agent("ListBot/1.0");
        let answer = request.field("X-Forwarded-For", "8.8.8.8").send(beadle.port);
        assert_eq!(answer.status, 403);
        answer.text()
    };
    let text = told("");
    assert!(text.contains("says that it comes from ListBot"), "{text}");
    assert!(!text.contains("disallow") && !text.contains("/page"), "no rule is why:\n{text}");
    let text = told("      block: { body: \"{product_token}|{rule}|{line}\" }\n");
    assert_eq!(text, "ListBot||");
}

#[test]
fn the_address_of_a_trusted_proxy_is_no_evidence() {
    let (origin, list) = (Origin::plain(), list(GOOD));
    let beadle = Setup::site(origin.port, ENFORCEMENT)
        .sections(&format!(
            "crawlers:\n  - {{ product_token: ListBot, {} }}\n\
             evidence: {{ user_agents: [ListBot], allow_addresses: [127.0.0.0/8] }}\n",
            crawler(&list)
        ))
        .server("  trusted_proxies: [127.0.0.1, 8.8.4.0/24, 66.249.66.1]\n")
        .start();
    wait_for_fetch(&beadle, "fresh");
    for (address, said) in [
        ("8.8.8.8", "contradicted"),
        ("8.8.8.8, 8.8.4.4", "contradicted"),
        ("8.8.4.4", "unknown"),
        ("unknown, 8.8.4.4", "unknown"),
        ("66.249.66.1", "unknown"),
        ("10.0.0.1", "unknown"),
    ] {
        assert_eq!(record(&beadle, address)["standing"], said, "{address}");
    }
}

/// Waits until a list was fetched with this outcome, or with one that begins so.
fn wait_for_fetch(beadle: &Beadle, outcome: &str) {
    let series =
        format!("beadle_evidence_fetches_total{{evidence=\"ip-range\",outcome=\"{outcome}");
    wait_for(&series, || {
        let text = Request::get("/metrics").host("localhost").send(beadle.admin).text();
        text.contains(&series).then_some(())
    });
}

fn gzip(octets: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(octets).expect("a Vec takes everything");
    encoder.finish().expect("a Vec takes everything")
}

#[test]
fn an_invalid_list_contradicts_no_claim() {
    let page = "<!doctype html><title>Sorry</title><p>66.249.64.0/27 8.8.8.0/24";
    let bomb = gzip(&vec![b' '; 64 << 20]);
    let with = |status: &str, field: &str, body: &[u8]| {
        let (status, field, body) = (status.to_owned(), field.to_owned(), body.to_vec());
        Origin::playing(move |exchange| {
            exchange.answer(&status, &[&field], &body);
            After::Keep
        })
    };
    let lists = [
        (with("200 OK", "X: y", b""), "ranges.empty"),
        (with("200 OK", "X: y", br#"{"prefixes":[]}"#), "ranges.empty"),
        (with("200 OK", "Content-Type: text/html", page.as_bytes()), "ranges.error_page"),
        (with("200 OK", "Content-Encoding: gzip", &bomb), "fetch.too_large"),
        (with("200 OK", "X: y", &vec![b'1'; 5 << 20]), "fetch.too_large"),
        (
            with("200 OK", "X: y", br#"{"prefixes":[{"ipv4Prefix":"0.0.0.0/0"}]}"#),
            "ranges.too_wide",
        ),
        (with("403 Forbidden", "X: y", GOOD.as_bytes()), "fetch.status"),
        (with("304 Not Modified", "X: y", b""), "fetch.status"),
        (with("302 Found", "Location: http://10.0.0.1/list.json", b""), "fetch.address"),
        (with("302 Found", "Location: /list.json", b""), "fetch.redirects"),
        (with("302 Found", "Location: https://10.0.0.1/list.json", b""), "fetch.private"),
        (with("302 Found", "Location: file:///etc/passwd", b""), "fetch.status"),
    ];
    // A crawler for each list.
    let name = |number: usize| format!("ListBot{}", char::from(b'A' + number as u8));
    let (mut crawlers, mut names) = (String::new(), Vec::new());
    for (number, (list, _)) in lists.iter().enumerate() {
        let (name, list) = (name(number), crawler(list));
        crawlers.push_str(&format!("  - {{ product_token: {name}, purpose: search, {list} }}\n"));
        names.push(name);
    }
    let (origin, names) = (Origin::plain(), names.join(", "));
    let beadle = Setup::site(origin.port, ENFORCEMENT)
        .sections(&format!(
            "crawlers:\n{crawlers}evidence: {{ user_agents: [{names}], allow_addresses: [127.0.0.0/8] }}\n"
        ))
        .server("  trusted_proxies: [127.0.0.1]\n")
        .start();
    for (number, (_, outcome)) in lists.iter().enumerate() {
        let count = lists.iter().filter(|(_, other)| other == outcome).count();
        wait_for_fetch(&beadle, &format!("{outcome}\"}} {count}\n"));
        let record = record_of(&beadle, &name(number), "8.8.8.8");
        assert_eq!(record["product_token"], name(number), "{outcome}");
        assert_eq!(record["standing"], "unknown", "{outcome}");
        assert_eq!(record["reason"], "robots.disallow", "{outcome}");
    }
}

#[test]
fn redirected_and_compressed_lists_are_read() {
    let compressed = gzip(GOOD.as_bytes());
    let list = Origin::playing(move |exchange| {
        if exchange.request.target == b"/list.json" {
            exchange.answer("301 Moved Permanently", &["Location: /new/list.json"], b"");
        } else {
            exchange.answer("200 OK", &["Content-Encoding: gzip"], &compressed);
        }
        After::Keep
    });
    let origin = Origin::plain();
    let beadle = setup(&origin, &crawler(&list), "").start();
    assert_eq!(standing(&beadle, "66.249.66.77"), json!(["confirmed", "ip-range"]));
}

#[test]
fn only_public_addresses_are_fetched_from_by_default() {
    let (origin, list) = (Origin::plain(), list(GOOD));
    for (host, outcome) in [("127.0.0.1", "fetch.address"), ("[::1]", "fetch.address")] {
        let crawler = format!("ip_ranges: [\"http://{host}:{}/list.json\"]", list.port);
        let beadle = Setup::site(origin.port, ENFORCEMENT)
            .sections(&format!(
                "crawlers:\n  - {{ product_token: ListBot, {crawler} }}\n\
                 evidence: {{ user_agents: [ListBot] }}\n"
            ))
            .start();
        wait_for_fetch(&beadle, outcome);
    }
    let crawler = format!("ip_ranges: [\"https://localhost:{}/list.json\"]", list.port);
    let beadle = Setup::site(origin.port, ENFORCEMENT)
        .sections(&format!(
            "crawlers:\n  - {{ product_token: ListBot, {crawler} }}\n\
             evidence: {{ user_agents: [ListBot] }}\n"
        ))
        .start();
    wait_for_fetch(&beadle, "fetch.private");
    assert!(list.received().is_empty(), "no request reached the list");
}

#[test]
fn the_last_good_copy_survives_a_restart_and_a_shrunken_list() {
    let prefixes = |count: usize| {
        let entries: Vec<String> =
            (0..count).map(|n| format!("{{\"ipv4Prefix\":\"66.{n}.64.0/27\"}}")).collect();
        format!("{{\"prefixes\":[{}]}}", entries.join(","))
    };
    let folder = tempfile::tempdir().expect("a folder");
    let evidence = format!("  folder: {}\n", folder.path().display());
    let origin = Origin::plain();
    let whole = list(prefixes(100));
    // The copy is stored by the URL of the list, so every server uses the same port.
    let port = whole.port;
    let crawler = crawler(&whole);
    let beadle = setup(&origin, &crawler, &evidence).start();
    assert_eq!(standing(&beadle, "66.77.64.9"), json!(["confirmed", "ip-range"]));
    drop((beadle, whole));
    for (answer, outcome) in [(None, "fetch.transport"), (Some(prefixes(10)), "ranges.shrunk")] {
        let _list = answer.map(|answer| {
            Origin::playing_on(port, move |exchange| {
                exchange.answer("200 OK", &[], answer.as_bytes());
                After::Keep
            })
        });
        let beadle = setup(&origin, &crawler, &evidence).start();
        wait_for_fetch(&beadle, outcome);
        assert_eq!(standing(&beadle, "66.77.64.9"), json!(["confirmed", "ip-range"]), "{outcome}");
        assert_eq!(standing(&beadle, "8.8.8.8"), json!(["contradicted", "ip-range"]), "{outcome}");
    }
    // A list that could not be fetched for a month contradicts no claim.
    let month = Duration::from_secs(30 * 24 * 3_600);
    for copy in std::fs::read_dir(folder.path()).expect("the folder is ours") {
        let file = std::fs::File::options().write(true).open(copy.expect("an entry").path());
        let aged = file.and_then(|file| file.set_modified(SystemTime::now() - month));
        aged.expect("the copy is ours");
    }
    let beadle = setup(&origin, &crawler, &evidence).start();
    assert_eq!(standing(&beadle, "66.77.64.9"), json!(["confirmed", "ip-range"]));
    assert_eq!(record(&beadle, "8.8.8.8")["standing"], "unknown");
}

#[test]
fn a_slow_list_delays_no_request() {
    let list = Origin::playing(|exchange| {
        exchange.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
        for _ in 0..200 {
            exchange.write(b"1.2.3.4\n");
            std::thread::sleep(Duration::from_millis(50));
        }
        After::Close
    });
    let origin = Origin::plain();
    let beadle = setup(&origin, &crawler(&list), "").start();
    list.wait_for_requests(1);
    for _ in 0..20 {
        let started = Instant::now();
        assert_eq!(record(&beadle, "8.8.8.8")["standing"], "unknown");
        assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    }
}

#[test]
fn a_name_that_resolves_back_confirms_and_another_contradicts() {
    let server = NameServer::start(|name, kind| match (name, kind) {
        ("3.64.249.66.in-addr.arpa.", RecordType::PTR) => name_server::names(&["a.lists.example"]),
        ("a.lists.example.", RecordType::A) => name_server::addresses(&["66.249.64.3"]),
        // Anyone can set any name in the PTR record of their own address.
        ("8.8.8.8.in-addr.arpa.", RecordType::PTR) => name_server::names(&["a.lists.example"]),
        _ => Reply::Code(ResponseCode::NXDomain),
    });
    let origin = Origin::plain();
    let beadle = setup(&origin, "reverse_dns: [.lists.example]", &resolved_by(&server)).start();
    // Before an answer requests are not delayed and the standing is unknown.
    assert_eq!(record(&beadle, "66.249.64.3")["standing"], "unknown");
    assert_eq!(standing(&beadle, "66.249.64.3"), json!(["confirmed", "reverse-dns"]));
    assert_eq!(standing(&beadle, "8.8.8.8"), json!(["contradicted", "reverse-dns"]));
    assert_eq!(standing(&beadle, "9.9.9.9"), json!(["contradicted", "reverse-dns"]));
}

#[test]
fn a_claim_that_a_list_confirms_needs_no_name_server() {
    let server = NameServer::start(|name, _| match name {
        "lists.example." => name_server::addresses(&["66.249.64.3"]),
        _ => Reply::Code(ResponseCode::NXDomain),
    });
    let (origin, list) = (Origin::plain(), list(GOOD));
    let crawler = format!("{}, reverse_dns: [.lists.example]", crawler(&list));
    let beadle = setup(&origin, &crawler, &resolved_by(&server)).start();
    wait_for_fetch(&beadle, "fresh");
    assert_eq!(standing(&beadle, "66.249.64.3"), json!(["confirmed", "ip-range"]));
    assert_eq!(server.asked(), [""; 0]);
    assert_eq!(standing(&beadle, "8.8.8.8"), json!(["contradicted", "ip-range"]));
    let asked = server.asked();
    let of_addresses: Vec<_> = asked.iter().filter(|query| query.starts_with("PTR")).collect();
    assert_eq!(of_addresses, ["PTR 8.8.8.8.in-addr.arpa."]);
}

/// The setting of a name server.
fn resolved_by(server: &NameServer) -> String {
    format!("  name_servers: [\"{}\"]\n", server.address)
}

/// Asks until the look-ups had this outcome so many times. Returns all standings.
fn standings_until(beadle: &Beadle, address: &str, outcomes: &[&str]) -> Vec<Value> {
    let mut standings = Vec::new();
    wait_for("a look-up", || {
        standings.push(record(beadle, address)["standing"].clone());
        let text = Request::get("/metrics").host("localhost").send(beadle.admin).text();
        let has = |outcome: &&str| {
            let series = format!("evidence=\"reverse-dns\",outcome=\"{outcome}\"}} 1");
            text.contains(&series)
        };
        outcomes.iter().any(has).then_some(())
    });
    standings.extend((0..3).map(|_| record(beadle, address)["standing"].clone()));
    standings
}

#[test]
fn name_servers_that_resolve_nothing_make_no_impostor() {
    for (case, reply) in [
        ("no name exists", Reply::Code(ResponseCode::NXDomain)),
        ("no name has records", Reply::Code(ResponseCode::NoError)),
        ("every name has the same address", name_server::addresses(&["198.51.100.1"])),
    ] {
        let server = NameServer::start(move |_, _| reply.clone());
        let origin = Origin::plain();
        let beadle = setup(&origin, "reverse_dns: [.lists.example]", &resolved_by(&server)).start();
        let standings = standings_until(&beadle, "66.249.64.3", &["unproven", "failed"]);
        assert!(standings.iter().all(|standing| standing == "unknown"), "{case}: {standings:?}");
    }
}

#[test]
fn a_client_cannot_withhold_its_name_from_a_list_that_speaks_against_it() {
    let server = NameServer::start(|name, kind| match (name, kind) {
        ("lists.example.", RecordType::NS | RecordType::A) => {
            name_server::addresses(&["66.249.64.3"])
        }
        // The zones of the clients.
        ("8.8.8.8.in-addr.arpa.", _) => Reply::Code(ResponseCode::ServFail),
        ("9.9.9.9.in-addr.arpa.", _) => Reply::Silence,
        ("4.4.4.4.in-addr.arpa.", RecordType::PTR) => {
            let names: Vec<String> = (0..9).map(|n| format!("n{n}.lists.example")).collect();
            name_server::names(&names.iter().map(String::as_str).collect::<Vec<_>>())
        }
        // The zone of the operator.
        ("1.1.1.1.in-addr.arpa.", RecordType::PTR) => name_server::names(&["bad.lists.example"]),
        ("bad.lists.example.", _) => Reply::Code(ResponseCode::ServFail),
        _ => Reply::Code(ResponseCode::NXDomain),
    });
    let (origin, list) = (Origin::plain(), list(GOOD));
    let crawler = format!("{}, reverse_dns: [.lists.example]", crawler(&list));
    let beadle = setup(&origin, &crawler, &resolved_by(&server)).start();
    wait_for_fetch(&beadle, "fresh");
    let standings = standings_until(&beadle, "1.1.1.1", &["failed"]);
    assert!(standings.iter().all(|standing| standing == "unknown"), "{standings:?}");
    for address in ["8.8.8.8", "9.9.9.9", "4.4.4.4"] {
        assert_eq!(standing(&beadle, address), json!(["contradicted", "ip-range"]), "{address}");
    }
    // Without a list, nothing speaks against them.
    let beadle = setup(&origin, "reverse_dns: [.lists.example]", &resolved_by(&server)).start();
    let standings = standings_until(&beadle, "8.8.8.8", &["failed"]);
    assert!(standings.iter().all(|standing| standing == "unknown"), "{standings:?}");
}

#[test]
fn an_error_message_with_an_address_never_becomes_the_list() {
    let folder = tempfile::tempdir().expect("a folder");
    let evidence = format!("  folder: {}\n", folder.path().display());
    let origin = Origin::plain();
    let good = list(GOOD);
    let port = good.port;
    let crawler = crawler(&good);
    let beadle = setup(&origin, &crawler, &evidence).start();
    assert_eq!(standing(&beadle, "66.249.64.3"), json!(["confirmed", "ip-range"]));
    drop((beadle, good));
    for (body, outcome) in [
        (r#"{"error":{"code":403,"client":{"ip":"8.8.9.9"}}}"#, "ranges.empty"),
        ("Access denied\n8.8.9.9", "ranges.mostly_unread"),
        (r#"{"errors":[{"ip":"8.8.9.9"}]}"#, "ranges.unrelated"),
        ("8.8.9.9", "ranges.unrelated"),
    ] {
        let _list = Origin::playing_on(port, move |exchange| {
            exchange.answer("200 OK", &[], body.as_bytes());
            After::Keep
        });
        // With the last good copy the real crawler stays confirmed.
        let beadle = setup(&origin, &crawler, &evidence).start();
        wait_for_fetch(&beadle, outcome);
        assert_eq!(standing(&beadle, "66.249.66.7"), json!(["confirmed", "ip-range"]), "{body}");
        drop(beadle);
        // At the first fetch it contradicts nobody.
        let beadle = setup(&origin, &crawler, "").start();
        wait_for("the fetch", || {
            let text = Request::get("/metrics").host("localhost").send(beadle.admin).text();
            text.contains("beadle_evidence_fetches_total{evidence=\"ip-range\"").then_some(())
        });
        assert_eq!(record(&beadle, "66.249.66.7")["standing"], "unknown", "{body}");
    }
}

#[test]
fn a_list_that_is_read_in_part_contradicts_nobody() {
    let text = "66.249.64.0/27\n66.249.65.0/27\n66.249.66.0/27\n66.249.67.0/27\n66.249.68.0/33\n";
    let folder = tempfile::tempdir().expect("a folder");
    let evidence = format!("  folder: {}\n", folder.path().display());
    let (origin, list) = (Origin::plain(), list(text));
    let crawler = crawler(&list);
    let beadle = setup(&origin, &crawler, &evidence).start();
    assert_eq!(standing(&beadle, "66.249.64.3"), json!(["confirmed", "ip-range"]));
    assert_eq!(record(&beadle, "66.249.68.3")["standing"], "unknown");
    let metrics = Request::get("/metrics").host("localhost").send(beadle.admin).text();
    let series =
        "beadle_evidence_findings_total{evidence=\"ip-range\",finding=\"ranges.unread_entry\"} 1";
    assert!(metrics.contains(series), "{metrics}");
    beadle.wait_for_stderr("1 of the list's entries are not addresses");
    drop((beadle, list));
    // Nor does its saved copy.
    let beadle = setup(&origin, &crawler, &evidence).start();
    assert_eq!(standing(&beadle, "66.249.64.3"), json!(["confirmed", "ip-range"]));
    assert_eq!(record(&beadle, "66.249.68.3")["standing"], "unknown");
}

#[test]
fn a_dead_name_server_and_a_dead_list_delay_and_contradict_nothing() {
    let absent = Origin::absent();
    let origin = Origin::plain();
    let crawler = format!(
        "ip_ranges: [\"http://127.0.0.1:{absent}/list.json\"], reverse_dns: [.lists.example]"
    );
    let evidence = format!("  name_servers: [\"127.0.0.1:{absent}\"]\n");
    let beadle = setup(&origin, &crawler, &evidence).start();
    wait_for_fetch(&beadle, "fetch.transport");
    for number in 0..40 {
        let started = Instant::now();
        let record = record(&beadle, &format!("66.249.{number}.3"));
        assert_eq!((&record["standing"], &record["evidence"]), (&json!("unknown"), &Value::Null));
        assert_eq!(record["reason"], "robots.disallow");
        assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    }
}

#[test]
fn an_impostors_fetch_of_robots_txt_does_not_count_for_the_crawler() {
    let (origin, list) = (Origin::plain(), list(GOOD));
    let beadle = setup(&origin, &crawler(&list), "").start();
    assert_eq!(standing(&beadle, "66.249.64.3"), json!(["confirmed", "ip-range"]));
    for (address, state) in [("8.8.8.8", "never"), ("66.249.64.3", "current")] {
        let robots_txt = Request::get("/robots.txt").user_agent("ListBot/1.0");
        let answer = robots_txt.field("X-Forwarded-For", address).send(beadle.port);
        assert_eq!(answer.status, 200, "open to everybody");
        assert_eq!(record(&beadle, "66.249.64.3")["robots_read"]["state"], state, "{address}");
    }
}

#[test]
fn sources_that_fail_together_are_one_line_in_the_log() {
    let origin = Origin::plain();
    let crawler = |number: usize| {
        format!(
            "  - product_token: House{number}Bot\n    operator: House {number}\n    \
             purpose: search\n    ip_ranges: [\"http://127.0.0.1:1/{number}.json\"]\n"
        )
    };
    let crawlers: String = (0..40).map(crawler).collect();
    let names: Vec<String> = (0..40).map(|number| format!("House{number}Bot")).collect();
    let evidence = format!(
        "crawlers:\n{crawlers}evidence:\n  user_agents: [{}]\n  allow_addresses: [127.0.0.1]\n",
        names.join(", ")
    );
    let beadle = Setup::site(origin.port, "").sections(&evidence).start();
    beadle.wait_for_stderr("published evidence of crawlers refused");
    let stderr = beadle.stderr();
    let lines: Vec<&str> =
        stderr.lines().filter(|line| line.contains("published evidence")).collect();
    assert_eq!(lines.len(), 1, "{stderr}");
    for part in ["WARN", "sources=40", "of=40", "without_copy=40", "fetch.transport"] {
        assert!(lines[0].contains(part), "{part}: {}", lines[0]);
    }
}
