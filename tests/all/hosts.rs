//! Hosts and addresses: each request goes to the site of its host, with the client's address.

use serde_json::json;

use crate::support::{
    client::{Client, Request},
    origin::Origin,
    program::{Beadle, Setup},
};

fn site(hosts: &str, origin: &Origin, more: &str) -> String {
    format!("  - hosts: [{hosts}]\n    origin: http://127.0.0.1:{}\n{more}", origin.port)
}

fn only(path: &str) -> String {
    format!("    robots_txt: {{ groups: [{{ user_agents: [BadBot], disallow: [{path}] }}] }}\n")
}

#[test]
fn u80_every_spelling_of_a_host_leads_to_its_site() {
    let (first, second, wild) = (Origin::plain(), Origin::plain(), Origin::plain());
    let sites = [
        site("first.example, www.first.example", &first, &only("/first/")),
        site("second.example, special.wild.example, \"::1\"", &second, &only("/second/")),
        site("\"*.wild.example\"", &wild, &only("/wild/")),
    ];
    let beadle = Setup::sites(&sites.concat()).start();
    for (host, name) in [
        ("first.example", Some("first")),
        ("FIRST.Example", Some("first")),
        ("first.example.", Some("first")),
        ("first.example:80", Some("first")),
        ("first.example:0080", Some("first")),
        ("first.example:", Some("first")),
        ("www.first.example:8080", Some("first")),
        ("second.example", Some("second")),
        ("[::1]:80", Some("second")),
        ("a.wild.example", Some("wild")),
        ("a.b.WILD.example.", Some("wild")),
        ("special.wild.example", Some("second")),
        ("wild.example", None),
        ("notwild.example", None),
        ("sub.first.example", None),
        ("first.example.evil.example", None),
        ("127.0.0.1", None),
    ] {
        for origin in [&first, &second, &wild] {
            origin.forget();
        }
        let answer = Request::get("/x").host(host).send(beadle.port);
        let robots_txt = Request::get("/robots.txt").host(host).send(beadle.port);
        let Some(name) = name else {
            assert_eq!((answer.status, robots_txt.status), (421, 421), "{host}");
            continue;
        };
        assert_eq!(answer.status, 200, "{host}");
        assert!(robots_txt.text().contains(&format!("Disallow: /{name}/\n")), "{host}");
        let asked = [("first", &first), ("second", &second), ("wild", &wild)];
        for (other, origin) in asked {
            assert_eq!(origin.received().len(), usize::from(other == name), "{host}: {other}");
        }
    }
    for host in [
        "first.example:65536",
        "first.example:80a",
        "user@first.example",
        "first.example/x",
        "first.example x",
        "[::1%25lo]",
        "caf\u{e9}.example",
        "",
        "first.example\0",
        ".",
        "first..example",
    ] {
        let mut client = Client::connect(beadle.port);
        client.write(&Request::get("/x").host(host).bytes());
        let status = client.response("GET").map_or(400, |answer| answer.status);
        assert!(matches!(status, 400 | 421), "{host}: {status}");
    }
    let answer = Request::get("/x").host("first.example").send(beadle.port);
    assert_eq!(answer.status, 200);
}

#[test]
fn h113_only_a_default_site_accepts_unknown_hosts() {
    let (named, default) = (Origin::plain(), Origin::plain());
    let sites = [
        site("named.example", &named, ""),
        site("default.example", &default, "    default: true\n"),
    ];
    let beadle = Setup::sites(&sites.concat()).start();
    for (bytes, takes) in [
        ("GET /a HTTP/1.1\r\nHost: unknown.example\r\n\r\n", true),
        ("GET /a HTTP/1.1\r\nHost: default.example\r\n\r\n", true),
        ("GET /a HTTP/1.0\r\n\r\n", true),
        ("GET /a HTTP/1.1\r\n\r\n", false),
    ] {
        default.forget();
        let mut client = Client::connect(beadle.port);
        client.write(bytes.as_bytes());
        let status = client.response("GET").map(|answer| answer.status).ok();
        assert_eq!(status, Some(if takes { 200 } else { 400 }), "{bytes}");
        assert_eq!(default.received().len(), usize::from(takes), "{bytes}");
    }
    assert!(named.received().is_empty());
}

fn client_ip(beadle: &Beadle, fields: &[(&str, &str)]) -> String {
    let before = beadle.log().len();
    let request = fields
        .iter()
        .fold(Request::get("/private/x").user_agent("BadBot/1.0"), |request, (name, value)| {
            request.field(name, value)
        });
    request.send(beadle.port);
    let record = beadle.records(before + 1).remove(before);
    record["client_ip"].as_str().expect("text").to_owned()
}

#[test]
fn a94_x_forwarded_for_counts_from_trusted_proxies_only() {
    let origin = Origin::plain();
    let setup = Setup::site(origin.port, &only("/private/"));
    let alone = setup.clone().start();
    let long = vec!["127.0.0.1"; 1_000].join(", ");
    for fields in [
        &[("X-Forwarded-For", "66.249.66.1")][..],
        &[("Forwarded", "for=66.249.66.1")],
        &[("X-Real-IP", "66.249.66.1")],
    ] {
        assert_eq!(client_ip(&alone, fields), "127.0.0.1", "{fields:?}");
    }
    let behind = setup.server("  trusted_proxies: [127.0.0.0/8, \"10.0.0.0/8\"]\n").start();
    for (fields, expected) in [
        (&[("X-Forwarded-For", "66.249.66.1")][..], "66.249.66.1"),
        (&[("X-Forwarded-For", "1.1.1.1, 192.0.2.7, 10.0.0.2")], "192.0.2.7"),
        (&[("X-Forwarded-For", "9.9.9.9"), ("X-Forwarded-For", "192.0.2.7,10.0.0.2")], "192.0.2.7"),
        (&[("X-Forwarded-For", "192.0.2.7:4711")], "192.0.2.7"),
        (&[("X-Forwarded-For", "[2001:db8::1]:4711")], "2001:db8::1"),
        (&[("X-Forwarded-For", "192.0.2.7, garbage")], "127.0.0.1"),
        (&[("X-Forwarded-For", "")], "127.0.0.1"),
        (&[("X-Forwarded-For", "fe80::1%eth0")], "127.0.0.1"),
        (&[("X-Forwarded-For", &long)], "127.0.0.1"),
        (&[("Forwarded", "for=192.0.2.60;proto=http;by=203.0.113.43")], "192.0.2.60"),
        (&[("Forwarded", "For=\"[2001:db8:cafe::17]:4711\"")], "2001:db8:cafe::17"),
        (&[("Forwarded", "for=_hidden")], "127.0.0.1"),
        (&[], "127.0.0.1"),
    ] {
        assert_eq!(client_ip(&behind, fields), expected, "{fields:?}");
    }
}

#[test]
fn the_origin_receives_the_client_address_and_scheme() {
    let origin = Origin::plain();
    let setup = Setup::site(origin.port, "");
    let spoof = |request: Request| {
        request
            .field("X-Forwarded-For", "192.0.2.7")
            .field("X-Forwarded-Proto", "https")
            .field("X-Forwarded-Host", "outer.example")
            .field("Forwarded", "for=192.0.2.7")
            .field("Via", "1.0 outer")
    };
    let told = |origin: &Origin, name: &str| origin.last().all(name).join("|");
    let alone = setup.clone().start();
    Request::get("/").host("site.example:8080").send(alone.port);
    for (name, value) in [
        ("host", "site.example:8080"),
        ("x-forwarded-for", "127.0.0.1"),
        ("x-forwarded-proto", "http"),
        ("x-forwarded-host", "site.example:8080"),
        ("via", "1.1 beadle"),
        ("forwarded", ""),
        ("connection", ""),
    ] {
        assert_eq!(told(&origin, name), value, "{name}");
    }
    spoof(Request::get("/")).send(alone.port);
    for (name, value) in [
        ("x-forwarded-for", "127.0.0.1"),
        ("x-forwarded-proto", "http"),
        ("x-forwarded-host", "site.example"),
        ("forwarded", ""),
    ] {
        assert_eq!(told(&origin, name), value, "{name}, from a stranger");
    }
    let behind = setup.server("  trusted_proxies: [127.0.0.1]\n").start();
    spoof(Request::get("/")).send(behind.port);
    for (name, value) in [
        ("x-forwarded-for", "192.0.2.7, 127.0.0.1"),
        ("x-forwarded-proto", "https"),
        ("x-forwarded-host", "outer.example"),
        ("forwarded", "for=192.0.2.7"),
        ("via", "1.0 outer|1.1 beadle"),
    ] {
        assert_eq!(told(&origin, name), value, "{name}, from a trusted proxy");
    }
    let record = |beadle: &Beadle| beadle.log().len();
    assert_eq!((record(&alone), record(&behind)), (0, 0));
}

#[test]
fn a_block_behind_a_trusted_proxy_names_the_address_the_client_used() {
    let origin = Origin::plain();
    let rules = format!("{}    enforcement: {{ mode: block }}\n", only("/private/"));
    let setup = Setup::site(origin.port, &rules);
    let request =
        Request::get("/private/x").user_agent("BadBot/1.0").field("X-Forwarded-Proto", "https");
    let alone = setup.clone().start();
    assert!(request.send(alone.port).text().contains("http://site.example/robots.txt"));
    let behind = setup.server("  trusted_proxies: [127.0.0.1]\n").start();
    assert!(request.send(behind.port).text().contains("https://site.example/robots.txt"));
}

#[test]
fn rfc9110_7_6_1_hop_by_hop_fields_are_removed() {
    let origin = Origin::with_fields(&[
        "Connection: keep-alive, X-Private, Robots-Tag",
        "Keep-Alive: timeout=5",
        "Proxy-Authenticate: Basic",
        "Proxy-Connection: keep-alive",
        "Upgrade: h2c",
        "X-Private: 1",
        "Robots-Tag: *;noindex",
        "X-Public: 1",
        "Set-Cookie: a=1",
        "Set-Cookie: b=2",
        "Server: origin",
    ]);
    let beadle = Setup::site(origin.port, "").start();
    let request = Request::get("/")
        .field("Connection", "keep-alive, X-Mine, TE")
        .field("Keep-Alive", "timeout=5")
        .field("TE", "trailers")
        .field("Proxy-Authorization", "Basic c2VjcmV0")
        .field("X-Mine", "1")
        .field("X-Yours", "1");
    let answer = request.send(beadle.port);
    assert_eq!(answer.status, 200);
    for name in ["keep-alive", "proxy-authenticate", "proxy-connection", "upgrade", "x-private"] {
        assert!(answer.all(name).is_empty(), "{name}: {:?}", answer.headers);
    }
    assert_eq!(answer.all("robots-tag").len(), 1, "a tag is never for one hop");
    assert_eq!(answer.all("set-cookie"), ["a=1", "b=2"]);
    assert_eq!(answer.all("server"), ["origin"]);
    assert_eq!(answer.all("x-public"), ["1"]);
    let received = origin.last();
    for name in ["keep-alive", "te", "x-mine", "connection"] {
        assert!(received.all(name).is_empty(), "{name}: {:?}", received.headers);
    }
    assert_eq!(received.all("x-yours"), ["1"]);
}

#[test]
fn a85_a_client_without_a_name_is_recorded_without_one() {
    let origin = Origin::plain();
    let rules = "    robots_txt: { groups: [{ user_agents: [\"*\"], disallow: [/private/] }] }\n";
    let beadle = Setup::site(origin.port, rules).start();
    Request::get("/private/x").send(beadle.port);
    let record = beadle.records(1).remove(0);
    assert_eq!(
        (&record["product_token"], &record["user_agent"], &record["product_tokens"]),
        (&json!("-"), &json!(""), &json!([]))
    );
}
