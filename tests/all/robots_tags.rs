//! Robots-Tag and X-Robots-Tag: the rules of the policy and of the origin, merged into one field
//! that every crawler can read (draft-illyes-repext-03 §3.1).

use beadle::{
    base::{diagnostic::Severity, product_token::ProductToken},
    formats::robots_tag,
};

use crate::support::{
    client::{Client, Request, Response},
    origin::{After, Origin},
    program::{Beadle, Setup},
};

const TAGS: &str = "
    robots_txt: { groups: [{ user_agents: [BadBot], disallow: [/private/] }] }
    robots_tag:
      - paths: [/drafts/, \"/*.pdf$\"]
        rules: { \"*\": [noindex, nosnippet], Googlebot: [noarchive] }
      - content_types: [image/*, application/pdf]
        rules: { \"*\": [noimageindex] }
      - statuses: [404, 5xx]
        rules: { \"*\": [nofollow] }
      - paths: [/private/]
        statuses: [403]
        rules: { \"*\": [noindex] }
    enforcement: { mode: block }
";

fn start(origin: &Origin) -> Beadle {
    Setup::site(origin.port, TAGS).start()
}

/// The rules for a crawler in each of the two fields. Both fields must be well-formed, the
/// structured one on at most one line.
fn told(answer: &Response, token: &str) -> (Vec<String>, Vec<String>) {
    let token = ProductToken::new(token);
    let new = answer.all("robots-tag");
    assert!(new.len() <= 1, "one line: {new:?}");
    let lines = |lines: &[&str]| -> Vec<Vec<u8>> {
        lines.iter().map(|line| line.as_bytes().to_vec()).collect()
    };
    let read = |texts: &[&str], legacy: bool| {
        let owned = lines(texts);
        let borrowed: Vec<&[u8]> = owned.iter().map(Vec::as_slice).collect();
        let (tag, findings) =
            if legacy { robots_tag::read_legacy(&borrowed) } else { robots_tag::read(&borrowed) };
        // An unknown rule is no fault.
        let fault = findings.iter().find(|finding| finding.severity > Severity::Note);
        assert!(fault.is_none(), "{texts:?}: {fault:?}");
        robots_tag::effective(&tag, &[], token.as_ref())
    };
    (read(&new, false), read(&answer.all("x-robots-tag"), true))
}

/// Asserts that both fields have exactly these rules for a crawler.
fn assert_told(answer: &Response, token: &str, rules: &[&str], what: &str) {
    let (new, legacy) = told(answer, token);
    assert_eq!(new, rules, "Robots-Tag for {token}, {what}: {:?}", answer.headers);
    assert_eq!(legacy, rules, "X-Robots-Tag for {token}, {what}: {:?}", answer.headers);
}

#[test]
fn tags_depend_on_path_type_and_status() {
    let origin = Origin::playing(|exchange| {
        let target = String::from_utf8_lossy(&exchange.request.target).into_owned();
        let status = if target.contains("missing") { "404 Not Found" } else { "200 OK" };
        let fields: &[&str] = if target.contains("picture") {
            &["Content-Type: IMAGE/png; x=y"]
        } else if target.contains("bare") {
            &[]
        } else {
            &["Content-Type: text/html"]
        };
        exchange.answer(status, fields, b"x");
        After::Keep
    });
    let beadle = start(&origin);
    for (target, any, googlebot) in [
        ("/", &[][..], &[][..]),
        ("/bare", &[], &[]),
        ("/drafts/x", &["noindex", "nosnippet"], &["noarchive", "noindex", "nosnippet"]),
        ("/%64rafts/x?q", &["noindex", "nosnippet"], &["noarchive", "noindex", "nosnippet"]),
        ("/a/b.pdf", &["noindex", "nosnippet"], &["noarchive", "noindex", "nosnippet"]),
        ("/a/b.pdf?c", &[], &[]),
        ("/picture", &["noimageindex"], &["noimageindex"]),
        ("/missing", &["nofollow"], &["nofollow"]),
        (
            "/drafts/missing-picture",
            &["nofollow", "noimageindex", "noindex", "nosnippet"],
            &["noarchive", "nofollow", "noimageindex", "noindex", "nosnippet"],
        ),
    ] {
        for method in ["GET", "HEAD"] {
            let answer = Request::new(method, target).send(beadle.port);
            let what = format!("{method} {target}");
            assert_told(&answer, "OtherBot", any, &what);
            assert_told(&answer, "googlebot", googlebot, &what);
        }
    }
    let nothing = Request::get("/").send(beadle.port);
    assert!(nothing.all("robots-tag").is_empty() && nothing.all("x-robots-tag").is_empty());
}

#[test]
fn o140_any_field_of_the_origin_merges_with_the_policys_rules() {
    let base = ["noindex", "nosnippet"];
    let with = |more: &[&'static str]| -> Vec<&'static str> {
        let mut all: Vec<&str> = base.iter().chain(more).copied().collect();
        all.sort_unstable();
        all
    };
    let long_value = format!("Robots-Tag: *;noarchive, {}", "a".repeat(64 << 10));
    let cases: Vec<(&str, Vec<&str>, Vec<&str>, f64)> = vec![
        ("none", vec![], with(&[]), 0.0),
        ("valid", vec!["Robots-Tag: *;noarchive"], with(&["noarchive"]), 0.0),
        ("the same", vec!["Robots-Tag: *;noindex"], with(&[]), 0.0),
        ("for another", vec!["Robots-Tag: Googlebot;nofollow"], with(&[]), 0.0),
        ("for this one", vec!["Robots-Tag: OtherBot;nofollow"], with(&["nofollow"]), 0.0),
        (
            "two members",
            vec!["Robots-Tag: *;noarchive, otherbot;nofollow"],
            with(&["noarchive", "nofollow"]),
            0.0,
        ),
        (
            "two lines",
            vec!["Robots-Tag: *;noarchive", "Robots-Tag: *;nofollow"],
            with(&["noarchive", "nofollow"]),
            0.0,
        ),
        ("legacy", vec!["X-Robots-Tag: noarchive"], with(&["noarchive"]), 0.0),
        (
            "legacy by name",
            vec!["X-Robots-Tag: otherbot: noarchive, nofollow"],
            with(&["noarchive", "nofollow"]),
            0.0,
        ),
        ("legacy none", vec!["X-Robots-Tag: none"], with(&["nofollow"]), 0.0),
        (
            "both fields",
            vec!["Robots-Tag: *;noarchive", "X-Robots-Tag: nofollow"],
            with(&["noarchive", "nofollow"]),
            0.0,
        ),
        // From here on the combined field would be unreadable for a crawler.
        ("not a field", vec!["Robots-Tag: no index,,"], with(&[]), 1.0),
        (
            "one bad line",
            vec!["Robots-Tag: ,;=", "Robots-Tag: *;noarchive"],
            with(&["noarchive"]),
            1.0,
        ),
        (
            "draft 00",
            vec!["Robots-Tag: NoArchive; Googlebot = nofollow"],
            with(&["noarchive"]),
            1.0,
        ),
        ("non-ASCII", vec!["Robots-Tag: *;noarchive, caf\u{e9}"], with(&["noarchive"]), 1.0),
        ("64 KiB", vec![long_value.as_str()], with(&["noarchive"]), 0.0),
        ("unknown rule", vec!["Robots-Tag: *;frobnicate"], with(&["frobnicate"]), 0.0),
    ];
    let fields: Vec<String> = cases.iter().map(|(_, lines, ..)| lines.join("\r\n")).collect();
    let origin = Origin::playing(move |exchange| {
        let target = String::from_utf8_lossy(&exchange.request.target).into_owned();
        let case = target.rsplit('/').next().and_then(|number| number.parse::<usize>().ok());
        let fields = case.map(|number| fields[number].as_str()).filter(|lines| !lines.is_empty());
        exchange.answer("200 OK", fields.as_slice(), b"hello");
        After::Keep
    });
    let beadle = start(&origin);
    let mut total = 0.0;
    for (number, (what, _, expected, invalid)) in cases.into_iter().enumerate() {
        let answer = Request::get(format!("/drafts/{number}")).send(beadle.port);
        assert_eq!((answer.status, answer.text().as_str()), (200, "hello"), "{what}");
        let (new, _) = told(&answer, "OtherBot");
        assert_eq!(new, expected, "{what}: {:?}", answer.headers);
        let length = answer.header("robots-tag").map_or(0, str::len);
        assert!(length <= 8_192, "{what}: {length} bytes");
        let counted =
            beadle.metric("beadle_origin_invalid_robots_tag_lines_total{site=\"site.example\"}");
        total += invalid;
        assert_eq!(counted, total, "{what}: lines counted as invalid");
    }
}

#[test]
fn o140_a_hundred_fields_of_all_kinds_never_fail_an_answer() {
    let lines: Vec<String> = (0..100)
        .map(|n| match n % 4 {
            0 => format!("Robots-Tag: bot{n};noindex"),
            1 => format!("X-Robots-Tag: bot{n}: nofollow"),
            2 => format!("Robots-Tag: \"{n}"),
            _ => format!("Robots-Tag: *;max-snippet={n}"),
        })
        .collect();
    let origin = Origin::with_fields(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let beadle = start(&origin);
    let answer = Request::get("/").send(beadle.port);
    assert_eq!(answer.status, 200);
    assert_eq!(told(&answer, "bot4").0, ["max-snippet=3", "noindex"]);
    assert_eq!(told(&answer, "bot5").0, ["max-snippet=3", "nofollow"]);
    assert_eq!(told(&answer, "other").0, ["max-snippet=3"], "the strictest");
}

#[test]
fn malformed_lines_of_the_origin_are_mended_without_rules_in_the_policy() {
    let origin = Origin::with_fields(&["Robots-Tag: *;noarchive", "Robots-Tag: NoIndex,,"]);
    let beadle = Setup::site(origin.port, "").start();
    let answer = Request::get("/").send(beadle.port);
    assert_told(&answer, "OtherBot", &["noarchive", "noindex"], "no rule in the policy");
}

#[test]
fn robots_tag_legacy_off_leaves_the_older_field_to_the_origin() {
    let origin =
        Origin::with_fields(&["X-Robots-Tag: otherbot: noarchive", "X-Robots-Tag: nofollow"]);
    let beadle = Setup::site(origin.port, &format!("{TAGS}    robots_tag_legacy: false\n")).start();
    let answer = Request::get("/drafts/x").send(beadle.port);
    assert_eq!(answer.all("x-robots-tag"), ["otherbot: noarchive", "nofollow"], "untouched");
    assert_eq!(
        told(&answer, "OtherBot").0,
        ["noarchive", "nofollow", "noindex", "nosnippet"],
        "the structured field has all of it"
    );
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, &format!("{TAGS}    robots_tag_legacy: false\n")).start();
    let answer = Request::get("/drafts/x").send(beadle.port);
    assert!(answer.all("x-robots-tag").is_empty() && answer.all("robots-tag").len() == 1);
}

#[test]
fn rfc9111_3_2_a_304_leaves_the_tags_that_a_cache_has() {
    let origin = Origin::playing(|exchange| {
        let is_conditional = exchange.request.header("if-none-match").is_some();
        let tag = "Robots-Tag: *;nofollow";
        match is_conditional {
            true => exchange.write(
                format!("HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n{tag}\r\n\r\n").as_bytes(),
            ),
            false => {
                let fields = ["ETag: \"a\"", "Content-Type: application/pdf", tag];
                exchange.answer("200 OK", &fields, b"x");
            }
        }
        After::Keep
    });
    let by_path = "    robots_tag: [{ paths: [/drafts/], rules: { \"*\": [noindex] } }]\n";
    for (tags, path, expected, refreshed) in [
        (TAGS, "/drafts/x", &["nofollow", "noimageindex", "noindex", "nosnippet"][..], &[][..]),
        (TAGS, "/x", &["nofollow", "noimageindex"], &[]),
        (by_path, "/drafts/x", &["nofollow", "noindex"], &["nofollow", "noindex"]),
    ] {
        let beadle = Setup::site(origin.port, tags).start();
        assert_told(&Request::get(path).send(beadle.port), "OtherBot", expected, path);
        let again = Request::get(path).field("If-None-Match", "\"a\"").send(beadle.port);
        assert_eq!(again.status, 304);
        assert_told(&again, "OtherBot", refreshed, path);
        assert_eq!(again.all("robots-tag").is_empty(), refreshed.is_empty());
    }
}

#[test]
fn tags_for_a_set_or_a_purpose_are_for_each_of_its_crawlers() {
    let origin = Origin::plain();
    let sections = "crawler_sets: { own: [AcmeBot, GPTBot] }\n";
    let tags = "    robots_tag: [{ rules: { \"set:own\": [noarchive], \"purpose:ai-search\": [nosnippet], \
                \"*\": [noindex] } }]\n";
    let site =
        format!("  - hosts: [site.example]\n    origin: http://127.0.0.1:{}\n{tags}", origin.port);
    let beadle = Setup::sites(&site).sections(sections).start();
    let answer = Request::get("/").send(beadle.port);
    for (token, rules) in [
        ("AcmeBot", &["noarchive", "noindex"][..]),
        ("GPTBot", &["noarchive", "noindex"]),
        ("OAI-SearchBot", &["noindex", "nosnippet"]),
        ("CCBot", &["noindex"]),
    ] {
        assert_told(&answer, token, rules, token);
    }
}

#[test]
fn o141_final_answers_are_tagged_and_interim_ones_are_not() {
    let origin = Origin::playing(|exchange| {
        let target = String::from_utf8_lossy(&exchange.request.target).into_owned();
        let target = target.trim_start_matches("/drafts/");
        match target {
            "interim" => {
                exchange.write(b"HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n");
                exchange.answer("200 OK", &[], b"x");
            }
            "continue" => {
                exchange.write(b"HTTP/1.1 100 Continue\r\n\r\n");
                exchange.read_body();
                exchange.answer("200 OK", &[], b"x");
            }
            "304" => exchange.write(b"HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n"),
            "204" => exchange.write(b"HTTP/1.1 204 No Content\r\n\r\n"),
            "206" => {
                let range = ["Content-Range: bytes 0-0/2"];
                exchange.answer("206 Partial Content", &range, b"x");
            }
            "301" => exchange.answer("301 Moved Permanently", &["Location: /x"], b""),
            "101" => {
                let head = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n\
                            Upgrade: websocket\r\n\r\n";
                exchange.write(head.as_bytes());
                exchange.echo();
                return After::Close;
            }
            _ => exchange.answer("200 OK", &[], b"x"),
        }
        After::Keep
    });
    let beadle = start(&origin);
    for (target, status) in
        [("304", 304), ("204", 204), ("206", 206), ("301", 301), ("200", 200), ("interim", 200)]
    {
        let mut client = Client::connect(beadle.port);
        for method in ["GET", "HEAD"] {
            if (method, target) == ("HEAD", "interim") {
                continue;
            }
            let answer = Request::new(method, format!("/drafts/{target}")).send_over(&mut client);
            assert_eq!(answer.status, status);
            let what = format!("{method} {target}");
            // A rule of the policy depends on the media type, which the 304 does not have.
            let rules: &[&str] = if status == 304 { &[] } else { &["noindex", "nosnippet"] };
            assert_told(&answer, "OtherBot", rules, &what);
            for (interim, fields) in &answer.interim {
                assert!(
                    !fields.iter().any(|(name, _)| name.contains("robots")),
                    "{interim}: {fields:?}"
                );
            }
        }
    }
    let request = Request::new("POST", "/drafts/continue").field("Expect", "100-continue");
    let answer = request.body("hello").send(beadle.port);
    assert_told(&answer, "OtherBot", &["noindex", "nosnippet"], "100-continue");
    assert!(
        answer.interim.iter().all(|(_, fields)| fields.iter().all(|(n, _)| !n.contains("robots")))
    );
    let answer = Request::get("/drafts/101")
        .field("Connection", "Upgrade")
        .field("Upgrade", "websocket")
        .send(beadle.port);
    assert_eq!(answer.status, 101);
    assert!(answer.all("robots-tag").is_empty() && answer.all("x-robots-tag").is_empty());
}

#[test]
fn a_block_carries_the_tags_of_its_path_and_status() {
    let origin = Origin::plain();
    let beadle = start(&origin);
    let answer = beadle.get("/private/x", "BadBot/1.0");
    assert_eq!(answer.status, 403);
    assert_told(&answer, "BadBot", &["noindex"], "a block");
    assert!(beadle.get("/private/x", "Mozilla/5.0 Firefox/130.0").all("robots-tag").is_empty());
}

#[test]
fn the_tags_verb_reads_the_fields_that_the_proxy_sets() {
    let origin = Origin::with_fields(&["X-Robots-Tag: googlebot: nofollow"]);
    let beadle = start(&origin);
    let answer = Request::get("/drafts/x").send(beadle.port);
    let lines: String =
        answer.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let args = ["tags", "--product-token", "Googlebot", "--format", "json"];
    let output = crate::support::program::run_with_input(&args, lines.as_bytes());
    let row = crate::support::program::json_lines(&output).remove(0);
    assert_eq!(row["rules"], serde_json::json!(["noarchive", "nofollow", "noindex", "nosnippet"]));
    assert_eq!(row["diagnostics"], serde_json::json!([]));
}
