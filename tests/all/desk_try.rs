//! The desk decides about requests that nobody sends, as the proxy would, and leaves no trace.

use hickory_resolver::proto::{op::ResponseCode, rr::RecordType};

use crate::{
    standing::{setup, standing},
    support::{
        client::Request,
        name_server::{self, NameServer, Reply},
        origin::Origin,
        program::{Beadle, Setup, json_lines},
    },
};

const RULES: &str = "
    robots_txt:
      groups:
        - { user_agents: [\"*\"], disallow: [/private/], allow: [/private/help/], crawl_delay: 5 }
        - { user_agents: [GPTBot], disallow: [/], allow: [/press/] }
    robots_tag: [{ paths: [/press/], rules: { \"*\": [noindex] } }]
    enforcement: { mode: ladder, overrides: [{ user_agents: [GPTBot], mode: block }] }
";
const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0";

fn query(parameters: &[(&str, &str)]) -> String {
    let encoded = |text: &str| -> String {
        let octet = |octet: u8| match octet {
            plain if plain.is_ascii_alphanumeric() => char::from(plain).to_string(),
            other => format!("%{other:02X}"),
        };
        text.bytes().map(octet).collect()
    };
    let pairs = parameters.iter().map(|(name, value)| format!("{name}={}", encoded(value)));
    format!("/try?{}", pairs.collect::<Vec<_>>().join("&"))
}

fn page(beadle: &Beadle, path: &str) -> String {
    let answer = Request::get(path).host("localhost").send(beadle.admin);
    assert_eq!(answer.status, 200, "{path}");
    assert!(answer.header("content-security-policy").is_some(), "{path}");
    answer.text()
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '&' | '<' | '>' | '"' | '\'' => out.push_str(&format!("&#{};", u32::from(letter))),
            other => out.push(other),
        }
    }
    out
}

#[test]
fn the_page_says_what_explain_says() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, RULES).start();
    // One of them has read robots.txt, so that all that can be known is told.
    beadle.get("/robots.txt", "bingbot/2.0");
    beadle.wait_for_metric("beadle_records_queued", 0.0);
    let written = "SELECT product_token FROM fetches";
    crate::support::wait_for("the fetch", || (!beadle.rows(written).is_empty()).then_some(()));
    for (user_agent, url, address) in [
        ("GPTBot/1.2", "/news/", ""),
        ("GPTBot/1.2", "/press/2026", "192.0.2.7"),
        ("GPTBot/1.2", "https://site.example/private/help/x?y", "2001:db8::7"),
        ("bingbot/2.0", "/private/x", "127.0.0.1"),
        ("bingbot/2.0", "//private/x", ""),
        ("bingbot/2.0", "/robots.txt", ""),
        ("AcmeBot/1.0 (+https://acme.example/<bot>)", "/private/\"<b>&'", ""),
        ("curl/8.0", "/private/x", ""),
        (FIREFOX, "/private/x", "192.0.2.7"),
        ("", "/private/x", ""),
        ("GPTBot/1.2 bingbot/2.0 CCBot/2.0", "/private/caf\u{e9}", ""),
    ] {
        let text = page(
            &beadle,
            &query(&[("user_agent", user_agent), ("url", url), ("address", address)]),
        );
        let mut args = vec!["explain", "--user-agent", user_agent];
        if !address.is_empty() {
            args.extend(["--client-ip", address]);
        }
        args.push(url);
        let said = String::from_utf8(beadle.verb(&args).stdout).expect("it is UTF-8");
        let lines: Vec<&str> = said.lines().skip(1).collect();
        assert!(lines.len() > 3, "{args:?}: {said}");
        for line in lines {
            let (label, value) = line.split_at(12);
            // Editions have a table; the running program knows the real rung.
            let value = match label.trim() {
                "ladder" => "on the rung observe now",
                _ if value.contains(" in force since ") => value.split(' ').next().expect("an id"),
                _ => value,
            };
            assert!(text.contains(&escaped(value)), "{args:?}: {label}: {value}\n{text}");
        }
        let args = [&["explain", "--format", "json"], &args[1..]].concat();
        let row = json_lines(&beadle.verb(&args)).pop().expect("a row");
        let action = row["action"].as_str().expect("a word");
        assert!(text.contains(&format!("<span class=\"word {action}\">")), "{row}\n{text}");
        if let Some(line) = row["rule"]["line"].as_u64() {
            assert!(text.contains("<mark>"), "line {line} is marked: {text}");
        }
    }
}

#[test]
fn the_page_knows_the_rung_of_a_crawler() {
    let origin = Origin::plain();
    let rules = "
    robots_txt: { groups: [{ user_agents: [\"*\"], disallow: [/private/] }] }
    enforcement: { mode: ladder, ladder: { min_violations: 2, share: 60%, throttle: 1/1m } }
";
    let beadle = Setup::site(origin.port, rules).start();
    let parameters =
        [("user_agent", "GPTBot/1.2"), ("url", "/private/x"), ("address", "127.0.0.1")];
    let text = page(&beadle, &query(&parameters));
    assert!(text.contains("<dt>ladder</dt><dd>on the rung observe now</dd>"), "{text}");
    for _ in 0..2 {
        beadle.get("/private/x", "GPTBot/1.2");
    }
    let text = page(&beadle, &query(&parameters));
    assert!(text.contains("<dt>ladder</dt><dd>on the rung throttle now</dd>"), "{text}");
    assert!(text.contains("what comes sooner gets 429"), "{text}");
    // Questions are no violations: the crawler stays where it is.
    let text = page(&beadle, &query(&parameters));
    assert!(text.contains("on the rung throttle now"), "{text}");
}

#[test]
fn a_path_belongs_to_the_chosen_site() {
    let origin = Origin::plain();
    let site = |host: &str, path: &str| {
        format!(
            "  - hosts: [{host}]\n    origin: http://127.0.0.1:{}\n    robots_txt: \
             {{ groups: [{{ user_agents: [\"*\"], disallow: [{path}] }}] }}\n",
            origin.port
        )
    };
    let sites = format!("{}{}", site("a.example", "/a/"), site("\"*.b.example\"", "/b/"));
    let beadle = Setup::sites(&sites).start();
    for (url, site, rule) in [
        ("/a/x", "", Some("Disallow: /a/ ")),
        ("/a/x", "a.example", Some("Disallow: /a/ ")),
        ("/b/x", "b.example", Some("Disallow: /b/ ")),
        ("/b/x", "a.example", None),
        // A URL names its host.
        ("https://x.b.example/b/x", "a.example", Some("Disallow: /b/ ")),
    ] {
        let text =
            page(&beadle, &query(&[("user_agent", "bingbot/2.0"), ("url", url), ("site", site)]));
        assert!(text.contains("<select id=\"site\""), "{text}");
        let found = text.contains("Disallow: /a/ ") || text.contains("Disallow: /b/ ");
        assert_eq!(found, rule.is_some(), "{url} {site}: {text}");
        assert!(rule.is_none_or(|rule| text.contains(rule)), "{url} {site}: {text}");
    }
}

/// Everything that a request could leave behind.
fn traces(beadle: &Beadle, server: &NameServer) -> (String, Vec<String>, Vec<String>) {
    let metrics = beadle.admin_page("/metrics").text();
    let of_program = |line: &&str| !line.contains("process_");
    let metrics = metrics.lines().filter(of_program).collect::<Vec<_>>().join("\n");
    let tables = beadle.rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
    let count = |table: &String| {
        let rows = beadle.rows(&format!("SELECT count(*) || '' FROM \"{table}\""));
        format!("{table}: {}", rows.concat())
    };
    (metrics, tables.iter().map(count).collect(), server.asked())
}

#[test]
fn a_request_that_nobody_sends_leaves_no_trace() {
    let server = NameServer::start(|name, kind| match (name, kind) {
        ("3.64.249.66.in-addr.arpa.", RecordType::PTR) => name_server::names(&["a.lists.example"]),
        ("a.lists.example.", RecordType::A) => name_server::addresses(&["66.249.64.3"]),
        _ => Reply::Code(ResponseCode::NXDomain),
    });
    let origin = Origin::plain();
    let evidence = format!("  name_servers: [\"{}\"]\n", server.address);
    let beadle = setup(&origin, "reverse_dns: [.lists.example]", &evidence).start();
    assert_eq!(standing(&beadle, "66.249.64.3"), serde_json::json!(["confirmed", "reverse-dns"]));
    let stored = beadle.log().len() as f64;
    beadle.wait_for_metric("beadle_records_stored_total", stored);
    let before = crate::support::wait_for("a rest", || {
        let first = traces(&beadle, &server);
        std::thread::sleep(std::time::Duration::from_millis(200));
        (traces(&beadle, &server) == first).then_some(first)
    });
    for (user_agent, url, address, known) in [
        // What was looked up for a real request is known.
        ("ListBot/1.0", "/private/x", "66.249.64.3", ": the address has a name of the operator"),
        ("ListBot/1.0", "/private/x", "8.8.4.4", "unknown: the evidence was not checked"),
        ("ListBot/1.0", "/private/x", "", "unknown: the evidence was not checked"),
        ("ListBot/1.0", "/robots.txt", "9.9.9.9", "unknown: the evidence was not checked"),
        (FIREFOX, "/", "8.8.4.4", ""),
        ("", "/private/x", "8.8.4.4", ""),
    ] {
        for _ in 0..3 {
            let parameters = [("user_agent", user_agent), ("url", url), ("address", address)];
            let text = page(&beadle, &query(&parameters));
            assert!(text.contains("id=\"decision\"") && text.contains(known), "{known}: {text}");
        }
    }
    std::thread::sleep(std::time::Duration::from_millis(500));
    let after = traces(&beadle, &server);
    assert_eq!(before.0, after.0, "counters");
    assert_eq!((before.1, before.2), (after.1, after.2), "the database, the name server");
}

#[test]
fn a_bad_field_is_told_with_its_repair() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, RULES).start();
    let long = "a".repeat(5_000);
    for (user_agent, url, address, site, field, why) in [
        ("a\nb", "/", "", "", "user-agent", "The User-Agent has control characters"),
        (&*long, "/", "", "", "user-agent", "It has 5000 octets, and the form takes 4096"),
        ("x", &*format!("/{long}"), "", "", "url", "It has 5001 octets"),
        ("x", "/a\tb", "", "", "url", "it has a control character (write it as %09)"),
        ("x", "/a\u{0}b", "", "", "url", "it has a control character (write it as %00)"),
        ("x", "private/x", "", "", "url", "it is neither a path nor a URL"),
        ("x", "*", "", "", "url", "it is neither a path nor a URL"),
        ("x", "ftp://site.example/", "", "", "url", "it is neither a path nor a URL"),
        ("x", "https://other.example/", "", "", "url", "belongs to no site of the policy"),
        ("x", "https://a%b/", "", "", "url", "its host is not valid"),
        ("x", "/", "localhost", "", "address", "This is no address: write it as 192.0.2.7"),
        ("x", "/", "192.0.2.0/24", "", "address", "This is no address"),
        ("x", "/", "", "<b>", "site", "has no site '<b>' (it has site.example)"),
    ] {
        let parameters =
            [("user_agent", user_agent), ("url", url), ("address", address), ("site", site)];
        let text = page(&beadle, &query(&parameters));
        assert!(text.contains(&escaped(why)), "{field}: {why}\n{text}");
        assert!(text.contains(&format!("id=\"{field}-fault\" role=\"alert\"")), "{field}\n{text}");
        assert!(!text.contains("id=\"decision\""), "{field}\n{text}");
        assert_eq!(text.matches("class=\"fault\"").count(), 1, "{field}\n{text}");
    }
}

#[test]
fn hostile_text_stays_text() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, RULES).start();
    for path in [
        query(&[
            ("user_agent", "\"><script>alert(1)</script> GPTBot"),
            ("url", "/private/<script>\"'&;"),
            ("address", "\"><script>"),
        ]),
        query(&[("user_agent", "<script>Bot/1.0 \u{202e}x"), ("url", "/private/<script>")]),
        query(&[("url", "https://site.example/private/%3Cscript%3E<script>")]),
        query(&[("url", "<script>")]),
        "/try?url=%ff%fe&user_agent=%c3%28&user_agent=GPTBot&%zz=%&url=/".to_owned(),
        "/try?url=/&url=/a&url=/b".to_owned(),
        "/try?&&==&".to_owned(),
        "/try".to_owned(),
    ] {
        let text = page(&beadle, &path);
        assert!(!text.contains("<script"), "{path}: {text}");
    }
    let evasion = query(&[("user_agent", "AcmeBot/1.0"), ("url", &"/;a/%2f".repeat(300))]);
    assert!(page(&beadle, &evasion).contains("too many ways"));
    let endless = format!("/try?url=/{}", "a".repeat(40_000));
    let answer = Request::get(&endless).host("localhost").send(beadle.admin);
    assert!(matches!(answer.status, 414 | 431), "{}", answer.status);
    beadle.assert_healthy("hostile forms");
}

#[test]
fn a_violation_is_explained_by_the_edition_of_its_time() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, RULES).start();
    for path in ["/private/a", "/private/b?x=1", "/private/c", "//private/d"] {
        beadle.get(path, "AcmeBot/1.0");
    }
    let mut records = beadle.records(4);
    beadle.wait_for_metric("beadle_records_stored_total", 4.0);
    let sequence = |record: &serde_json::Value| {
        let id = record["id"].as_str().expect("an id");
        beadle.rows(&format!("SELECT printf('%09d', sequence) FROM violations WHERE id = '{id}'"))
    };
    records.sort_by_key(sequence);
    // The rules of today are others.
    let other = RULES.replace("/private/", "/elsewhere/");
    beadle.reload(&Setup::site(origin.port, &other));
    let id = |number: usize| records[number]["id"].as_str().expect("an id");
    for (number, record) in records.iter().enumerate() {
        let path = format!("/violations/{}", id(number));
        let text = Request::get(&path).host("localhost").send(beadle.admin).text();
        let edition = record["robots"]["edition"].as_str().expect("an edition");
        let line = record["robots"]["line"].as_u64().expect("a line");
        let recorded = escaped(record["path"].as_str().expect("a path"));
        for known in [
            "<mark>Disallow: /private/</mark>".to_owned(),
            format!("href=\"/robots/site.example/{edition}\""),
            format!("Disallow: /private/   (robots.txt line {line}, 9 octets)"),
            "href=\"/crawlers/AcmeBot\"".to_owned(),
            "Not verifiable: the operator publishes no evidence.".to_owned(),
            recorded.clone(),
        ] {
            assert!(text.contains(&known), "{known}: {text}");
        }
        let is_other = text.contains("an origin may read the path as");
        // Another form is no violation: it has a page, and none of a violation leads there or back.
        assert_eq!(is_other, recorded.starts_with("//"), "{text}");
        let links = [
            ("prev", number.checked_sub(1).filter(|n| *n < 2)),
            ("next", Some(number + 1).filter(|n| *n < 3)),
        ];
        for (rel, other) in links {
            let link =
                other.map(|other| format!("rel=\"{rel}\" href=\"/violations/{}\"", id(other)));
            assert_eq!(text.contains(&format!("rel=\"{rel}\"")), link.is_some(), "{rel}: {text}");
            assert!(link.is_none_or(|link| text.contains(&link)), "{rel}: {text}");
        }
        // The rules of today allow it.
        let (_, rest) = text.split_once("href=\"/try?").expect("a link");
        let link = rest.split('"').next().expect("its end").replace("&#38;", "&");
        let now = page(&beadle, &format!("/try?{link}"));
        assert!(now.contains("id=\"decision\""), "{link}: {now}");
        assert!(now.contains("<dt>verdict</dt><dd>allow</dd>"), "{link}: {now}");
    }
}
