//! Who is really asking: claims held against what operators publish, with the real program and
//! local servers in the operators' place.

use std::{
    io::Write,
    time::{Duration, Instant, SystemTime},
};

use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD, Engine as _};
use hickory_resolver::proto::{op::ResponseCode, rr::RecordType};
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::{
    client::Request,
    name_server::{self, NameServer, Reply},
    origin::{After, Origin},
    program::{Beadle, Setup},
    wait_for,
};

const ENFORCEMENT: &str = "    robots_txt:\n      groups:\n        \
    - { user_agents: [\"*\"], disallow: [/private/] }\n    \
    enforcement:\n      mode: log\n      impostors: log\n";

/// A policy with a crawler of our own whose evidence is at local servers.
fn setup(origin: &Origin, crawler: &str, evidence: &str) -> Setup {
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

/// The record of a request for a forbidden page from this address.
fn record(beadle: &Beadle, address: &str) -> Value {
    let before = beadle.metric("beadle_records_seen") as usize;
    Request::get("/private/x")
        .host("site.example")
        .user_agent("ListBot/1.0 (+https://lists.example/bot)")
        .field("X-Forwarded-For", address)
        .send(beadle.port);
    beadle.records(before + 1).pop().expect("it is recorded")
}

/// What is said of an address, once something is said.
fn standing(beadle: &Beadle, address: &str) -> Value {
    wait_for("a standing", || {
        let record = record(beadle, address);
        let said = json!([record["standing"], record["evidence"]]);
        (said != json!(["unknown", null])).then_some(said)
    })
}

fn list(octets: impl AsRef<[u8]>) -> Origin {
    let octets = octets.as_ref().to_vec();
    Origin::playing(move |exchange| {
        exchange.answer("200 OK", &["Content-Type: application/json", "ETag: \"1\""], &octets);
        After::Keep
    })
}

fn crawler(list: &Origin) -> String {
    format!("ip_ranges: [\"http://127.0.0.1:{}/list.json\"]", list.port)
}

const GOOD: &str =
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
    // An impostor is recorded wherever it goes.
    let page = Request::get("/page").user_agent("ListBot/1.0").field("X-Forwarded-For", "8.8.8.8");
    assert_eq!(page.send(beadle.port).status, 200);
    let records = wait_for("the record", || {
        let before = beadle.metric("beadle_records_stored") as usize;
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
fn an_impostor_is_told_why_it_is_refused() {
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
fn an_address_that_is_a_trusted_proxys_own_says_nothing_of_the_client() {
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

/// Waits until a list was fetched with this outcome.
fn wait_for_fetch(beadle: &Beadle, outcome: &str) {
    let series =
        format!("beadle_evidence_fetches_total{{evidence=\"ip-range\",outcome=\"{outcome}\"}}");
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
fn a_list_that_is_none_makes_nobody_an_impostor() {
    let page = "<!doctype html><title>Sorry</title><p>66.249.64.0/27 8.8.8.0/24";
    let bomb = gzip(&vec![b' '; 64 << 20]);
    let with = |status: &str, field: &str, body: &[u8]| {
        let (status, field, body) = (status.to_owned(), field.to_owned(), body.to_vec());
        Origin::playing(move |exchange| {
            exchange.answer(&status, &[&field], &body);
            After::Keep
        })
    };
    for (list, outcome) in [
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
    ] {
        let origin = Origin::plain();
        let beadle = setup(&origin, &crawler(&list), "").start();
        wait_for_fetch(&beadle, outcome);
        let record = record(&beadle, "8.8.8.8");
        assert_eq!(record["standing"], "unknown", "{outcome}");
        assert_eq!(record["reason"], "robots.disallow", "{outcome}");
    }
}

#[test]
fn a_list_may_have_moved_and_may_be_compressed() {
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
fn only_public_addresses_are_fetched_from_unless_the_policy_allows_others() {
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
    assert!(list.received().is_empty(), "nobody was asked");
}

#[test]
fn the_last_good_copy_outlives_a_restart_and_a_list_that_has_shrunk() {
    let prefixes = |count: usize| {
        let entries: Vec<String> =
            (0..count).map(|n| format!("{{\"ipv4Prefix\":\"66.{n}.64.0/27\"}}")).collect();
        format!("{{\"prefixes\":[{}]}}", entries.join(","))
    };
    let folder = tempfile::tempdir().expect("a folder");
    let evidence = format!("  folder: {}\n", folder.path().display());
    let origin = Origin::plain();
    let whole = list(prefixes(100));
    // The copy goes by the address of the list, so every server has to stand at the same.
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
    // Of a list that nobody could fetch for a month, who knows whether it is whole.
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
fn a_slow_list_holds_up_no_request() {
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

/// Signs as Web Bot Auth asks, with a key that is made for the test.
struct Signer {
    key: Ed25519KeyPair,
    thumbprint: String,
    directory: String,
}

impl Signer {
    fn new() -> Self {
        let random = ring::rand::SystemRandom::new();
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&random).expect("randomness");
        let key = Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).expect("a key");
        let x = BASE64_URL_SAFE_NO_PAD.encode(key.public_key());
        let members = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}"#);
        let thumbprint = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(&members));
        Self { key, thumbprint, directory: format!(r#"{{"keys":[{members}]}}"#) }
    }

    /// `Signature-Agent`, `Signature-Input` and `Signature` of a request to this host.
    fn fields(&self, agent: &str, authority: &str) -> [(&'static str, String); 3] {
        let now = jiff::Timestamp::now().as_second();
        let input = format!(
            "(\"@authority\" \"signature-agent\";key=\"s\");created={};expires={};keyid=\"{}\";\
             tag=\"web-bot-auth\"",
            now - 5,
            now + 300,
            self.thumbprint
        );
        let base = format!(
            "\"@authority\": {authority}\n\"signature-agent\";key=\"s\": \"{agent}\"\n\
             \"@signature-params\": {input}"
        );
        let signature = BASE64_STANDARD.encode(self.key.sign(base.as_bytes()));
        [
            ("Signature-Agent", format!("s=\"{agent}\"")),
            ("Signature-Input", format!("s={input}")),
            ("Signature", format!("s=:{signature}:")),
        ]
    }
}

/// Writes the copy of a directory that an earlier start would have left.
fn keep_keys(folder: &std::path::Path, agent: &str, signer: &Signer) {
    let url = format!("{agent}/.well-known/http-message-signatures-directory");
    let hash: String =
        Sha256::digest(url).iter().take(8).map(|octet| format!("{octet:02x}")).collect();
    std::fs::write(folder.join(format!("keys-{hash}")), &signer.directory)
        .expect("the folder is ours");
}

#[test]
fn a_signature_of_the_operator_confirms_and_one_of_somebody_else_contradicts() {
    const OWN: &str = "https://lists.invalid";
    const OTHER: &str = "https://others.invalid";
    const ABSENT: &str = "https://absent.invalid";
    let (own, other) = (Signer::new(), Signer::new());
    let folder = tempfile::tempdir().expect("a folder");
    // The copies of an earlier start: no test reaches these hosts.
    keep_keys(folder.path(), OWN, &own);
    keep_keys(folder.path(), OTHER, &other);
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, ENFORCEMENT)
        .sections(&format!(
            "crawlers:\n  \
             - {{ product_token: ListBot, operator: Lists, signature_agent: \"{OWN}\" }}\n  \
             - {{ product_token: SisterBot, operator: Lists }}\n  \
             - {{ product_token: SoleBot, operator: Sole }}\n  \
             - {{ product_token: OtherBot, operator: Others, signature_agent: \"{OTHER}\" }}\n  \
             - {{ product_token: AbsentBot, operator: Absent, signature_agent: \"{ABSENT}\" }}\n\
             evidence:\n  user_agents: [ListBot, SisterBot, SoleBot, OtherBot, AbsentBot]\n  folder: {}\n",
            folder.path().display()
        ))
        .start();
    let host = "site.example";
    let none = || Vec::new();
    let tampered = || {
        let mut fields = own.fields(OWN, host).to_vec();
        fields[1].1 = fields[1].1.replace("web-bot-auth\"", "web-bot-auth\";nonce=\"x\"");
        fields
    };
    for (user_agent, fields, standing, evidence) in [
        ("ListBot/1.0", own.fields(OWN, host).to_vec(), "confirmed", Some("signature")),
        ("SisterBot/1.0", own.fields(OWN, host).to_vec(), "confirmed", Some("signature")),
        ("ListBot/1.0", other.fields(OTHER, host).to_vec(), "contradicted", Some("signature")),
        // Who publishes nothing may send through a platform that signs for itself.
        ("SoleBot/1.0", other.fields(OTHER, host).to_vec(), "unverifiable", None),
        ("ListBot/1.0", none(), "unverifiable", None),
        ("ListBot/1.0", tampered(), "unverifiable", None),
        ("ListBot/1.0", own.fields(OWN, "elsewhere.example").to_vec(), "unverifiable", None),
        ("ListBot/1.0", other.fields(OWN, host).to_vec(), "unverifiable", None),
        ("ListBot/1.0", own.fields("https://third.invalid", host).to_vec(), "unverifiable", None),
        // Keys that are not there leave open who signed, but nobody else's claim.
        ("AbsentBot/1.0", own.fields(ABSENT, host).to_vec(), "unknown", None),
        ("ListBot/1.0", own.fields(ABSENT, host).to_vec(), "unverifiable", None),
    ] {
        let before = beadle.metric("beadle_records_seen") as usize;
        let mut request = Request::get("/private/x").host(host).user_agent(user_agent);
        for (name, value) in &fields {
            request = request.field(name, value);
        }
        assert_eq!(request.send(beadle.port).status, 200);
        let record = beadle.records(before + 1).pop().expect("it is recorded");
        assert_eq!(record["standing"], standing, "{fields:?}");
        assert_eq!(record["evidence"], json!(evidence), "{fields:?}");
    }
    let text = Request::get("/metrics").host("localhost").send(beadle.admin).text();
    for outcome in ["verified", "bad-signature", "unknown-key", "unknown-signer"] {
        let series = format!("beadle_signatures_total{{outcome=\"{outcome}\"}}");
        assert!(text.contains(&series), "{series} is missing in\n{text}");
    }
}

#[test]
fn a_signature_for_a_host_that_the_policy_does_not_name_proves_nothing() {
    const OWN: &str = "https://lists.invalid";
    let own = Signer::new();
    let folder = tempfile::tempdir().expect("a folder");
    keep_keys(folder.path(), OWN, &own);
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, &format!("    default: true\n{ENFORCEMENT}"))
        .sections(&format!(
            "crawlers:\n  - {{ product_token: ListBot, signature_agent: \"{OWN}\" }}\n\
             evidence:\n  user_agents: [ListBot]\n  folder: {}\n",
            folder.path().display()
        ))
        .start();
    // Who received it there can send it on to whatever serves every host.
    for (host, standing) in [("site.example", "confirmed"), ("liar.example", "unverifiable")] {
        let before = beadle.metric("beadle_records_seen") as usize;
        let mut request = Request::get("/private/x").host(host).user_agent("ListBot/1.0");
        let fields = own.fields(OWN, host);
        for (name, value) in &fields {
            request = request.field(name, value);
        }
        assert_eq!(request.send(beadle.port).status, 200);
        let record = beadle.records(before + 1).pop().expect("it is recorded");
        assert_eq!(record["standing"], standing, "{host}");
    }
}

#[test]
fn a_name_that_leads_back_confirms_and_one_that_lies_contradicts() {
    let server = NameServer::start(|name, kind| match (name, kind) {
        ("3.64.249.66.in-addr.arpa.", RecordType::PTR) => name_server::names(&["a.lists.example"]),
        ("a.lists.example.", RecordType::A) => name_server::addresses(&["66.249.64.3"]),
        // Anybody can write any name into the record of his own address.
        ("8.8.8.8.in-addr.arpa.", RecordType::PTR) => name_server::names(&["a.lists.example"]),
        _ => Reply::Code(ResponseCode::NXDomain),
    });
    let origin = Origin::plain();
    let evidence = format!("  name_servers: [\"{}\"]\n", server.address);
    let beadle = setup(&origin, "reverse_dns: [.lists.example]", &evidence).start();
    // Nobody is held up, and nobody known, before there is an answer.
    assert_eq!(record(&beadle, "66.249.64.3")["standing"], "unknown");
    assert_eq!(standing(&beadle, "66.249.64.3"), json!(["confirmed", "reverse-dns"]));
    assert_eq!(standing(&beadle, "8.8.8.8"), json!(["contradicted", "reverse-dns"]));
    assert_eq!(standing(&beadle, "9.9.9.9"), json!(["contradicted", "reverse-dns"]));
}

#[test]
fn no_name_server_is_asked_about_those_whom_a_list_confirms() {
    let server = NameServer::start(|_, _| Reply::Code(ResponseCode::NXDomain));
    let (origin, list) = (Origin::plain(), list(GOOD));
    let crawler = format!("{}, reverse_dns: [.lists.example]", crawler(&list));
    let evidence = format!("  name_servers: [\"{}\"]\n", server.address);
    let beadle = setup(&origin, &crawler, &evidence).start();
    wait_for_fetch(&beadle, "fresh");
    assert_eq!(standing(&beadle, "66.249.64.3"), json!(["confirmed", "ip-range"]));
    assert_eq!(standing(&beadle, "8.8.8.8"), json!(["contradicted", "ip-range"]));
    assert_eq!(server.asked(), ["PTR 8.8.8.8.in-addr.arpa."]);
}

#[test]
fn a_dead_name_server_and_a_dead_list_cost_no_time_and_make_no_impostor() {
    let nobody = Origin::nobody();
    let origin = Origin::plain();
    let crawler = format!(
        "ip_ranges: [\"http://127.0.0.1:{nobody}/list.json\"], reverse_dns: [.lists.example]"
    );
    let evidence = format!("  name_servers: [\"127.0.0.1:{nobody}\"]\n");
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
fn what_the_policy_does_not_look_at_is_held_against_nobody() {
    let (origin, list, own) = (Origin::plain(), list(GOOD), Signer::new());
    let crawler = format!("{}, signature_agent: \"https://lists.invalid\"", crawler(&list));
    let beadle = setup(&origin, &crawler, "  signatures: false\n").start();
    assert_eq!(standing(&beadle, "8.8.8.8"), json!(["contradicted", "ip-range"]));
    // It may well be the operator's own signature.
    let before = beadle.metric("beadle_records_seen") as usize;
    let mut request = Request::get("/private/x").host("site.example").user_agent("ListBot/1.0");
    for (name, value) in own.fields("https://lists.invalid", "site.example") {
        request = request.field(name, &value);
    }
    request.field("X-Forwarded-For", "8.8.8.8").send(beadle.port);
    let record = beadle.records(before + 1).pop().expect("it is recorded");
    assert_eq!((&record["standing"], &record["evidence"]), (&json!("unknown"), &Value::Null));
}

#[test]
fn who_borrows_a_name_has_not_read_the_rules_for_its_owner() {
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
