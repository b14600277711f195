//! robots.txt from the policy: served to all clients, whatever else fails (RFC 9309 §2.3).

use std::time::{Duration, SystemTime};

use crate::support::{
    client::{Client, Request, Response},
    origin::Origin,
    program::{Beadle, Setup},
};

const BLOCKING: &str = "
    robots_txt:
      groups:
        - user_agents: [\"*\"]
          disallow: [/admin/]
          allow: [/admin/help]
          crawl_delay: 5
        - user_agents: [BadBot]
          disallow: [/]
      sitemaps: [https://site.example/sitemap.xml]
    enforcement: { mode: block }
";

const FILE: &str = "\
User-agent: BadBot
Disallow: /

User-agent: *
Allow: /admin/help
Disallow: /admin/
Crawl-delay: 5
";

fn start(origin: &Origin) -> Beadle {
    Setup::site(origin.port, BLOCKING).start()
}

fn assert_is_the_file(answer: &Response) {
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"));
    let text = String::from_utf8(answer.body.clone()).expect("robots.txt is UTF-8");
    assert!(text.contains(FILE), "{text}");
    assert!(text.contains("\nSitemap: https://site.example/sitemap.xml\n"), "{text}");
    assert!(text.starts_with("# "), "it says where it comes from: {text}");
}

#[test]
fn rfc9309_2_3_get_and_head_differ_in_the_body_only() {
    let origin = Origin::plain();
    let beadle = start(&origin);
    let mut client = Client::connect(beadle.port);
    let get = Request::get("/robots.txt").send_over(&mut client);
    assert_is_the_file(&get);
    let length = get.body.len().to_string();
    assert_eq!(get.header("content-length"), Some(length.as_str()));
    for name in ["etag", "last-modified", "date"] {
        assert!(get.header(name).is_some_and(|value| !value.is_empty()), "{name}");
    }
    assert_eq!(get.header("cache-control"), Some("public, max-age=3600"));
    let head = Request::new("HEAD", "/robots.txt").send_over(&mut client);
    let besides_date = |answer: &Response| {
        answer.headers.iter().filter(|(name, _)| name != "date").cloned().collect::<Vec<_>>()
    };
    assert_eq!(besides_date(&head), besides_date(&get));
    // If HEAD had a body, the next answer on this connection would begin with it.
    assert_is_the_file(&Request::get("/robots.txt").send_over(&mut client));
    assert!(origin.received().is_empty(), "the origin has no part in it");
}

#[test]
fn the_bytes_are_the_same_after_each_start_and_from_the_verb() {
    let origin = Origin::plain();
    let beadle = start(&origin);
    let first = Request::get("/robots.txt").send(beadle.port);
    let printed = beadle.verb(&["robots"]);
    assert_eq!(String::from_utf8_lossy(&printed.stdout), first.text());
    let beadle = beadle.restarted();
    let second = Request::get("/robots.txt").send(beadle.port);
    assert_eq!(second.text(), first.text());
    assert_eq!(second.header("etag"), first.header("etag"));
}

#[test]
fn rfc9110_13_a_client_with_a_good_copy_gets_304() {
    let origin = Origin::plain();
    let beadle = start(&origin);
    let full = Request::get("/robots.txt").send(beadle.port);
    let etag = full.header("etag").expect("an entity tag").to_owned();
    let modified = full.header("last-modified").expect("a date").to_owned();
    let weak = format!("W/{etag}");
    let list = format!("\"other\", {etag}");
    for (name, value, status) in [
        ("If-None-Match", etag.as_str(), 304),
        ("If-None-Match", weak.as_str(), 304),
        ("If-None-Match", list.as_str(), 304),
        ("If-None-Match", "*", 304),
        ("If-None-Match", "\"other\"", 200),
        ("If-Modified-Since", modified.as_str(), 304),
        ("If-Modified-Since", "Fri, 01 Jan 2038 00:00:00 GMT", 304),
        ("If-Modified-Since", "Thu, 01 Jan 1970 00:00:00 GMT", 200),
        ("If-Modified-Since", "no date", 200),
        ("Range", "bytes=0-3", 200),
        ("Accept-Encoding", "gzip, br", 200),
    ] {
        let mut client = Client::connect(beadle.port);
        for method in ["GET", "HEAD"] {
            let request = Request::new(method, "/robots.txt").field(name, value);
            let answer = request.send_over(&mut client);
            assert_eq!(answer.status, status, "{method} {name}: {value}");
            assert_eq!(answer.header("etag"), Some(etag.as_str()), "{name}: {value}");
            assert_eq!(answer.header("cache-control"), full.header("cache-control"));
            assert_eq!(answer.header("content-encoding"), None);
            if status == 304 {
                assert!(answer.body.is_empty());
            }
        }
        assert_is_the_file(&Request::get("/robots.txt").send_over(&mut client));
    }
}

#[test]
fn rfc9110_8_8_2_1_last_modified_is_never_later_than_date() {
    let origin = Origin::plain();
    let tomorrow = SystemTime::now() + Duration::from_secs(86_400);
    let beadle = Setup::site(origin.port, BLOCKING).modified(tomorrow).start();
    // Each edition has a later time than the one before, also within one second.
    for number in 0..4 {
        let group = format!("      groups: [{{ user_agents: [BadBot], disallow: [/{number}/] }}]");
        beadle.reload(&Setup::site(origin.port, &format!("    robots_txt:\n{group}\n")));
    }
    for method in ["GET", "HEAD"] {
        let answer = Request::new(method, "/robots.txt").send(beadle.port);
        let time = |name| {
            let text = answer.header(name).unwrap_or_else(|| panic!("no {name}"));
            let parser = jiff::fmt::rfc2822::DateTimeParser::new();
            parser.parse_timestamp(text).expect("an HTTP date")
        };
        assert!(time("last-modified") <= time("date"), "{:?}", answer.headers);
    }
}

#[test]
fn t38_other_methods_are_refused_with_an_allow_field() {
    let origin = Origin::plain();
    let beadle = start(&origin);
    for (method, status) in [
        ("POST", 405),
        ("PUT", 405),
        ("DELETE", 405),
        ("PATCH", 405),
        ("PROPFIND", 405),
        ("OPTIONS", 204),
    ] {
        let answer = Request::new(method, "/robots.txt").send(beadle.port);
        assert_eq!(answer.status, status, "{method}");
        assert_eq!(answer.header("allow"), Some("GET, HEAD, OPTIONS"), "{method}");
    }
    let answer = Request::new("POST", "/robots.txt").body("Disallow: /").send(beadle.port);
    assert_eq!(answer.status, 405);
    assert!(origin.received().is_empty());
}

#[test]
fn t36_only_the_canonical_path_is_answered_by_the_proxy() {
    let origin = Origin::plain();
    let beadle = start(&origin);
    for target in
        ["/robots.txt", "/robots.txt?x=1", "/%72obots.txt", "/robots%2Etxt", "/robots.txt?"]
    {
        assert_is_the_file(&Request::get(target).send(beadle.port));
    }
    assert!(origin.received().is_empty());
    for target in
        ["/robots.txt/", "//robots.txt", "/ROBOTS.TXT", "/robots.txt.bak", "/a/robots.txt"]
    {
        let answer = Request::get(target).send(beadle.port);
        assert_eq!(answer.text(), format!("origin: {target}"));
    }
}

#[test]
fn t37_a_fully_blocked_crawler_can_fetch_robots_txt() {
    let origin = Origin::plain();
    let beadle = start(&origin);
    for user_agent in ["BadBot/1.0", "curl/8.0", "Mozilla/5.0 Firefox/130.0", "-", ""] {
        assert_is_the_file(&beadle.get("/robots.txt", user_agent));
    }
    assert_is_the_file(&Request::get("/robots.txt").send(beadle.port));
    assert_eq!(beadle.get("/", "BadBot/1.0").status, 403);
    // Only the request for the page is a violation.
    beadle.wait_for_metric("beadle_records_seen_total", 1.0);
}

#[test]
fn t35_robots_txt_is_served_while_the_origin_is_down() {
    for origin in
        [format!("http://127.0.0.1:{}", Origin::absent()), "http://nowhere.invalid:3000".to_owned()]
    {
        let site = format!("  - hosts: [site.example]\n    origin: {origin}\n{BLOCKING}");
        let beadle = Setup::sites(&site).start();
        assert_is_the_file(&Request::get("/robots.txt").send(beadle.port));
        let head = Request::new("HEAD", "/robots.txt").send(beadle.port);
        assert_eq!(head.status, 200);
        assert!(beadle.get("/page", "Mozilla/5.0 Firefox/130.0").status >= 502);
        assert_eq!(beadle.get("/page", "BadBot/1.0").status, 403, "the rules hold as well");
    }
}

#[test]
fn t35_robots_txt_is_served_while_the_store_cannot_write() {
    let origin = Origin::plain();
    // Every write to this device fails, as on a full disk.
    let beadle =
        Setup::site(origin.port, BLOCKING).violations("  log: /dev/full\n  queue: 1\n").start();
    for _ in 0..50 {
        assert_eq!(beadle.get("/page", "BadBot/1.0").status, 403);
    }
    assert_is_the_file(&beadle.get("/robots.txt", "BadBot/1.0"));
    crate::support::wait_for("a sign of the trouble", || {
        beadle.admin_page("/healthz").text().starts_with("degraded").then_some(())
    });
    assert_eq!(beadle.admin_page("/readyz").status, 200, "requests are still taken");
    beadle.wait_for_metric("beadle_records_seen_total", 50.0);
    let count = |name| beadle.metric(name);
    let accounts =
        ["beadle_records_stored_total", "beadle_records_dropped_total", "beadle_records_queued"];
    assert_eq!(accounts.map(count).iter().sum::<f64>(), 50.0, "every record is accounted for");
}

#[test]
fn a_site_without_rules_has_an_empty_file_for_all() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, "").start();
    let answer = beadle.get("/robots.txt", "BadBot/1.0");
    assert_eq!(answer.status, 200);
    assert!(answer.text().lines().all(|line| line.is_empty() || line.starts_with('#')));
    assert!(origin.received().is_empty(), "the origin's own file is replaced");
}
