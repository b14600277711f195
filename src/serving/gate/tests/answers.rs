//! robots.txt as an answer: its bytes, validators and dates (RFC 9110 §8.8, §13).

use std::time::Duration;

use http::header;

use super::{
    BROWSER,
    world::{Message, Response, World},
};

fn disallowing(paths: &str, robots_txt: &str) -> String {
    format!(
        "    robots_txt: {{ groups: [{{ user_agents: [\"*\"], disallow: [/both/{paths}] }}]{robots_txt} }}\n"
    )
}

fn copy(world: &World) -> Response {
    world.get("/robots.txt", BROWSER)
}

/// The status of a fetch with this condition.
fn conditional(world: &World, name: header::HeaderName, value: &str) -> u16 {
    world.send(&Message::get("/robots.txt").field(name, value)).status
}

#[test]
fn answers_share_the_bytes_of_the_edition() {
    let world = World::of(&disallowing("", ""));
    let (one, other) = (copy(&world).body, copy(&world).body);
    assert!(!one.is_empty());
    assert_eq!(one.as_ptr(), other.as_ptr());
    assert_eq!(one.as_ptr(), world.in_force.rulebook.sites()[0].edition().bytes().as_ptr());
}

#[test]
fn each_host_of_a_site_names_its_own_sitemaps() {
    let sites = |sitemaps: &str| {
        format!(
            "  - hosts: [a.example, \"*.b.example\"]\n    origin: http://127.0.0.1:1\n    \
             default: true\n    robots_txt: {{ groups: [{{ user_agents: [\"*\"], disallow: [/x/] }}], \
             sitemaps: [{sitemaps}] }}\n"
        )
    };
    let get = |world: &World, host: &'static str, tag: &str| {
        let message = Message::get("/robots.txt").host(host).user_agent(BROWSER);
        world.send(&message.field(header::IF_NONE_MATCH, tag))
    };
    let sitemaps = |world: &World, host: &'static str| {
        let body = get(world, host, "").body;
        let text = String::from_utf8(body.to_vec()).expect("ASCII");
        let urls = text.lines().filter_map(|line| line.strip_prefix("Sitemap: "));
        urls.map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    let named = "\"https://{host}/{host}.xml\", https://a.example/a.example.xml, \
                 https://c.example/s.xml";
    let world = World::of_sites(&sites(named));
    let rest = "https://a.example/a.example.xml https://c.example/s.xml";
    for (host, urls) in [
        ("a.example", "https://a.example/a.example.xml"),
        ("A.example.:8080", "https://a.example/a.example.xml"),
        ("x.b.example", "https://x.b.example/x.b.example.xml"),
        // The site does not name these hosts.
        ("b.example", "https://a.example/a.example.xml"),
        ("evil.example", "https://a.example/a.example.xml"),
        ("[::1]", "https://a.example/a.example.xml"),
    ] {
        assert_eq!(sitemaps(&world, host), format!("{urls} {rest}"), "{host}");
    }
    // Each file has an entity tag of its own, and that of the first host is its edition's name.
    let site = &world.in_force.rulebook.sites()[0];
    let (own, other) = (get(&world, "a.example", ""), get(&world, "x.b.example", ""));
    assert_eq!(own.field("etag"), format!("\"{}\"", site.edition().id()));
    assert_eq!(&own.body, site.edition().bytes());
    assert_ne!(own.field("etag"), other.field("etag"));
    assert_eq!(get(&world, "x.b.example", other.field("etag")).status, 304);
    assert_eq!(get(&world, "y.b.example", other.field("etag")).status, 200);
    // The same bytes for the first host, and others for the other one.
    let world = World::of_sites(&sites("https://a.example/a.example.xml"));
    assert_eq!(sitemaps(&world, "x.b.example"), "https://a.example/a.example.xml");
    assert_eq!(get(&world, "x.b.example", other.field("etag")).status, 200);
}

#[test]
fn rfc9309_2_3_a_host_with_its_port_is_a_site_of_its_own() {
    let site = |hosts: &str, path: &str| {
        format!(
            "  - hosts: [{hosts}]\n    origin: http://127.0.0.1:1\n    enforcement: {{ mode: block }}\n    \
             robots_txt: {{ groups: [{{ user_agents: [\"*\"], disallow: [{path}] }}], \
             sitemaps: [\"https://{{host}}/s.xml\"] }}\n"
        )
    };
    let world = World::of_sites(&format!(
        "{}{}{}",
        site("a.example", "/bare/"),
        site("\"a.example:8443\", \"[::1]:8443\"", "/port/"),
        site("\"b.example:80\"", "/b/"),
    ));
    for (host, path, sitemap) in [
        ("a.example", "/bare/", "https://a.example/s.xml"),
        ("a.example:8080", "/bare/", "https://a.example/s.xml"),
        ("A.example.:8443", "/port/", "https://a.example:8443/s.xml"),
        ("[::1]:8443", "/port/", "https://[::1]:8443/s.xml"),
        // The port of the scheme.
        ("b.example", "/b/", "https://b.example:80/s.xml"),
    ] {
        let get =
            |target: &str| world.send(&Message::get(target).host(host).user_agent("GPTBot/1.0"));
        let text = String::from_utf8(get("/robots.txt").body.to_vec()).expect("ASCII");
        assert!(text.contains(&format!("\nDisallow: {path}\n")), "{host}: {text}");
        assert!(text.contains(&format!("\nSitemap: {sitemap}\n")), "{host}: {text}");
        assert_eq!(get(path).status, 403, "{host}");
    }
    for host in ["b.example:81", "[::1]"] {
        assert_eq!(world.send(&Message::get("/robots.txt").host(host)).status, 421, "{host}");
    }
}

#[test]
fn rfc9110_8_8_validators_follow_the_editions_and_not_only_the_bytes() {
    let mut world = World::of(&disallowing("", ""));
    // A, B, A, C, A, all within a second.
    let mut copies = vec![copy(&world)];
    for paths in [", /new/", "", ", /c/", ""] {
        world.reload(&disallowing(paths, ""));
        let now = copy(&world);
        assert_eq!(now.field("cache-control"), "public, max-age=3600");
        for before in &copies {
            let is_same = before.body == now.body;
            let by_tag = conditional(&world, header::IF_NONE_MATCH, before.field("etag"));
            assert_eq!(by_tag, if is_same { 304 } else { 200 });
            assert_eq!(is_same, before.field("etag") == now.field("etag"));
            let date = before.field("last-modified");
            if !is_same {
                let by_date = conditional(&world, header::IF_MODIFIED_SINCE, date);
                assert_eq!(by_date, 200, "{date}, {}", now.field("last-modified"));
            }
        }
        copies.push(now);
    }
    // The editions have times ahead of the clock, and `Last-Modified` has none. So it tells them
    // apart once their times are past.
    world.pass(Duration::from_secs(10));
    let now = copy(&world);
    let date = now.field("last-modified");
    assert_eq!(conditional(&world, header::IF_MODIFIED_SINCE, date), 304);
    assert_ne!(copies[0].field("last-modified"), date, "it was modified in between");
}

#[test]
fn rfc9110_8_8_2_1_no_edition_is_modified_in_the_future() {
    let mut world = World::of(&disallowing("", ""));
    world.pass(Duration::from_millis(1_500));
    let now = copy(&world).field("last-modified").to_owned();
    for number in 0..3 {
        world.reload(&disallowing(&format!(", /{number}/"), ""));
        let date = copy(&world).field("last-modified").to_owned();
        let second = |date: &str| {
            let parser = jiff::fmt::rfc2822::DateTimeParser::new();
            parser.parse_timestamp(date).expect("an HTTP date").as_second()
        };
        assert!(second(&date) <= second(&now) + 1, "{date}, {now}");
        assert_eq!(conditional(&world, header::IF_MODIFIED_SINCE, &now), 200);
    }
}

#[test]
fn rfc9110_8_8_2_dates_distinguish_editions_without_a_window() {
    let impatient = |paths: &str| disallowing(paths, ", cache_window: 0s");
    let mut world = World::with_database(&impatient(""));
    for paths in [", /b/", "", ", /c/", ", /d/"] {
        let before = copy(&world);
        world.reload(&impatient(paths));
        let date = before.field("last-modified");
        assert_eq!(conditional(&world, header::IF_MODIFIED_SINCE, date), 200, "{date} {paths}");
    }
    // The dates survive a restart.
    let before = copy(&world);
    let world = world.restarted(&impatient(", /d/"));
    let after = copy(&world);
    assert_eq!(after.field("last-modified"), before.field("last-modified"));
}
