//! Evasion: another spelling of a path does not pass a rule, and the origin receives the judged
//! bytes unchanged. Test names begin with the row numbers of the hardening table.

use serde_json::json;

use crate::support::{
    BROWSER,
    client::{Client, Request},
    frames::{self, Connection, END_STREAM, Fate as Outcome},
    origin::Origin,
    program::{Beadle, Setup, json_lines},
    shown,
};

const RULES: &str = "
    robots_txt:
      groups: [{ user_agents: [BadBot], disallow: [/private/, \"/*?u=\", /priv%E4te] }]
    enforcement: { mode: block }
";

fn start(origin: &Origin) -> Beadle {
    start_with_tls(origin).0
}

/// The program, and the port of its TLS listener.
fn start_with_tls(origin: &Origin) -> (Beadle, u16) {
    // Large headers are judged, too, where the operator lets them in.
    let limits = "  limits: { header_size: 1000KiB, header_fields: 250 }\n";
    let (setup, port) = Setup::site(origin.port, RULES).server(limits).tls_listener();
    (setup.start(), port)
}

/// The status of a GET over HTTP/2 with these lines of User-Agent; `None` for an error.
fn over_http_2(port: u16, target: &[u8], user_agents: &[&[u8]]) -> Option<u16> {
    let mut fields = frames::request("GET", target);
    fields.extend(user_agents.iter().map(|value| (b"user-agent".to_vec(), value.to_vec())));
    let octets = frames::headers(1, END_STREAM, &fields);
    match Connection::connect(port).fate(&octets, true) {
        Outcome::Status(status) => Some(status),
        _ => None,
    }
}

/// The fate of a target.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    /// Forwarded unchanged.
    Goes,
    /// Forwarded in this form.
    GoesAs(&'static str),
    /// Blocked: the path as written is disallowed.
    Letter,
    /// Blocked: an origin may read it as a disallowed path. No violation.
    Form,
    /// Refused before judgement; the origin gets nothing.
    Refused,
}

fn bytes(request_line: &[u8], fields: &str) -> Vec<u8> {
    let fields = format!("\r\nHost: site.example\r\nUser-Agent: BadBot/1.0\r\n{fields}\r\n");
    [request_line, fields.as_bytes()].concat()
}

/// Sends each request line unchanged as a crawler that the rules bind, and its target over HTTP/2.
/// Checks the fate of both.
fn assert_fates(cases: &[(&[u8], Fate)]) {
    let origin = Origin::plain();
    let (beadle, tls_port) = start_with_tls(&origin);
    let mut violations = 0;
    for (line, fate, is_http_2) in cases.iter().flat_map(|(l, f)| [(l, f, false), (l, f, true)]) {
        let what = format!("{}, HTTP/2: {is_http_2}", shown(line));
        origin.forget();
        let sent = line.splitn(2, |&b| b == b' ').nth(1).unwrap_or_default();
        let sent = sent.strip_suffix(b" HTTP/1.1").unwrap_or(sent).to_vec();
        let status = if is_http_2 {
            over_http_2(tls_port, &sent, &[b"BadBot/1.0"])
        } else {
            let mut client = Client::connect(beadle.port);
            // The proxy may refuse a line before it has read the whole.
            let _ = client.try_write(&bytes(line, ""));
            client.response("GET").map(|answer| answer.status).ok()
        };
        let seen: Vec<Vec<u8>> = origin.received().into_iter().map(|one| one.target).collect();
        // A path of HTTP/2 is no URL, and only HTTP/1 has clients that send octets raw.
        let is_usual = sent.starts_with(b"/") && sent.iter().all(u8::is_ascii_graphic);
        if is_http_2 && !is_usual && status.is_none_or(|status| status == 400) {
            assert!(seen.is_empty(), "{what}: the origin saw it");
            continue;
        }
        match fate {
            Fate::Goes | Fate::GoesAs(_) => {
                let expected = match fate {
                    Fate::GoesAs(form) => form.as_bytes().to_vec(),
                    _ => sent,
                };
                assert_eq!(status, Some(200), "{what}");
                assert_eq!(seen, [expected], "{what}");
            }
            Fate::Letter | Fate::Form => {
                assert_eq!(status, Some(403), "{what}");
                assert!(seen.is_empty(), "{what}: the origin saw it");
                violations += 1;
                let record = beadle.records(violations).pop().expect("a record");
                let expected = match fate {
                    Fate::Letter => "robots.disallow",
                    _ => "robots.form",
                };
                assert_eq!(record["reason"], json!(expected), "{what}");
            }
            Fate::Refused => {
                assert_eq!(status.unwrap_or(400), 400, "{what}");
                assert!(seen.is_empty(), "{what}: the origin saw it");
            }
        }
        beadle.assert_healthy(&what);
    }
    beadle.wait_for_metric("beadle_requests_in_flight", 0.0);
    assert_eq!(beadle.metric("beadle_records_seen_total"), violations as f64, "no other record");
}

#[test]
fn u51_to_u61_spellings_of_a_path() {
    assert_fates(&[
        (b"GET /private/x HTTP/1.1", Fate::Letter),
        (b"GET /private HTTP/1.1", Fate::Goes),
        (b"GET //private/x HTTP/1.1", Fate::Form),
        (b"GET ///private//x HTTP/1.1", Fate::Form),
        (b"GET /./private/x HTTP/1.1", Fate::Letter),
        (b"GET /x/../private/x HTTP/1.1", Fate::Letter),
        (b"GET /%2e/private/x HTTP/1.1", Fate::Letter),
        (b"GET /%2E%2e/private/x HTTP/1.1", Fate::Letter),
        (b"GET /%70rivate/x HTTP/1.1", Fate::Letter),
        (b"GET /%50rivate/x HTTP/1.1", Fate::Goes),
        (b"GET /private%2fx HTTP/1.1", Fate::Form),
        (b"GET /private%2Fx HTTP/1.1", Fate::Form),
        (b"GET /private%5cx HTTP/1.1", Fate::Form),
        (b"GET /private\\x HTTP/1.1", Fate::Form),
        (b"GET /PRIVATE/x HTTP/1.1", Fate::Goes),
        (b"GET /private;jsessionid=1/x HTTP/1.1", Fate::Form),
        (b"GET /private/;a=b/x HTTP/1.1", Fate::Letter),
        (b"GET /%2570rivate/x HTTP/1.1", Fate::Goes),
    ]);
}

#[test]
fn explain_shows_the_form_that_is_disallowed() {
    let origin = Origin::plain();
    let beadle = start(&origin);
    let explain = |target: &str, format: &str| {
        beadle.verb(&["explain", "--user-agent", "BadBot/1.0", target, "--format", format])
    };
    let hostile = "//a;b/%2F..%5c..;/%40/..//%3bc%2f./%2f%5C/d;e/..%2f%5c//f/../g";
    for (target, form, note) in [
        ("//blog/private/x", json!("/private/x"), "an origin may read the path as /private/x"),
        ("/?%20u=a", json!("/?u=a"), "an origin may read the path as /?u=a"),
        (hostile, json!(null), "too many ways"),
        ("/private/x", json!(null), ""),
        ("//public", json!(null), ""),
    ] {
        let row = json_lines(&explain(target, "json")).pop().expect("a row");
        assert_eq!(row["form"], form, "{target}: {row}");
        let text = String::from_utf8_lossy(&explain(target, "text").stdout).into_owned();
        assert_eq!(text.contains("  note "), !note.is_empty(), "{text}");
        assert!(text.contains(note), "{text}");
    }
}

#[test]
fn u62_to_u67_bytes_queries_and_fragments() {
    assert_fates(&[
        (b"GET /private%00/x HTTP/1.1", Fate::Goes),
        (b"GET /private/%00 HTTP/1.1", Fate::Letter),
        (b"GET /private/%0a HTTP/1.1", Fate::Letter),
        (b"GET /%c0%afprivate/x HTTP/1.1", Fate::Form),
        (b"GET /pri%advate/x HTTP/1.1", Fate::Form),
        (b"GET /priv%e4te HTTP/1.1", Fate::Letter),
        (b"GET /private/x#frag HTTP/1.1", Fate::Letter),
        (b"GET /public#/private/ HTTP/1.1", Fate::GoesAs("/public")),
        (b"GET /?u=/private/ HTTP/1.1", Fate::Letter),
        (b"GET /a?u=1 HTTP/1.1", Fate::Letter),
        (b"GET /a?v=/private/ HTTP/1.1", Fate::Goes),
        (b"GET /a?v=//private/../private/ HTTP/1.1", Fate::Goes),
        ("GET /ツ?ü HTTP/1.1".as_bytes(), Fate::GoesAs("/%E3%83%84?%C3%BC")),
        (b"GET /private\0/x HTTP/1.1", Fate::Refused),
        (b"GET /private/\n HTTP/1.1", Fate::Refused),
        (b"GET /public\x01 HTTP/1.1", Fate::Refused),
        (b"GET /priv\xe4te HTTP/1.1", Fate::Letter),
        (b"GET /publ\xe4c HTTP/1.1", Fate::GoesAs("/publ%E4c")),
        (b"GET /private/\"x\" HTTP/1.1", Fate::Letter),
        (b"GET /a//b/../c;d/%2f%7E%e3?x=%2f&y=..//z HTTP/1.1", Fate::Goes),
    ]);
}

#[test]
fn u68_to_u71_forms_of_a_target() {
    assert_fates(&[
        (b"GET http://site.example/private/x HTTP/1.1", Fate::Letter),
        (b"GET http://site.example//private/x HTTP/1.1", Fate::Form),
        (b"GET http://site.example/public?q HTTP/1.1", Fate::GoesAs("/public?q")),
        (b"GET http://site.example HTTP/1.1", Fate::GoesAs("/")),
        (b"GET http://site.example?u=1 HTTP/1.1", Fate::Letter),
        (b"GET http://other.example/public HTTP/1.1", Fate::Refused),
        (b"GET http://other.example/private/x HTTP/1.1", Fate::Refused),
        (b"GET http://user@site.example/private/x HTTP/1.1", Fate::Refused),
        (b"GET foo:bar HTTP/1.1", Fate::Refused),
        (b"GET foo:bar://h/private/x HTTP/1.1", Fate::Refused),
        (b"GET http:///private/x HTTP/1.1", Fate::Refused),
        (b"GET private/x HTTP/1.1", Fate::Refused),
        (b"GET * HTTP/1.1", Fate::Refused),
        (b"GET ?/private/x HTTP/1.1", Fate::Refused),
        (b"GET #x HTTP/1.1", Fate::GoesAs("/")),
    ]);
}

#[test]
fn u70_a_target_in_other_case_is_never_allowed_past_the_rules() {
    let origin = Origin::plain();
    let beadle = start(&origin);
    let mut client = Client::connect(beadle.port);
    client.write(&bytes(b"GET HTTP://SITE.EXAMPLE/private/x HTTP/1.1", ""));
    let status = client.response("GET").map_or(400, |answer| answer.status);
    assert!(matches!(status, 400 | 403), "{status}");
    assert!(origin.received().is_empty());
}

#[test]
fn u72_u73_unusual_request_lines_have_one_reading() {
    let origin = Origin::plain();
    let beadle = start(&origin);
    let blank_lines = "\r\n".repeat(1_000);
    for line in [
        &b"GET /public HTTP/1.1 HTTP/1.1"[..],
        b"GET /pri vate/x HTTP/1.1",
        b"GET /private/x y HTTP/1.1",
        b"GET\t/private/x\tHTTP/1.1",
        b"GET  /private/x HTTP/1.1",
        b"GET /private/x  HTTP/1.1",
        b" GET /private/x HTTP/1.1",
        b"\r\nGET /private/x HTTP/1.1",
        [blank_lines.as_bytes(), b"GET /private/x HTTP/1.1"].concat().as_slice(),
        b"GET /private/\x01 HTTP/1.1",
        b"GET /private/\x00 HTTP/1.1",
        b"GET /\x00/../private/ HTTP/1.1",
        b"GET /private/x HTTP/1.1\x0b",
        b"GET /<private>/x HTTP/1.1",
        b"GET /\"private\"/x HTTP/1.1",
    ] {
        let what = shown(line);
        origin.forget();
        let mut client = Client::connect(beadle.port);
        let _ = client.try_write(&bytes(line, ""));
        let answer = client.response("GET");
        for received in origin.received() {
            // The origin gets no space, no control byte and no private path.
            let target = shown(&received.target);
            assert!(!target.starts_with("/private/"), "{what}: the origin got {target}");
            assert!(received.target.iter().all(|b| (33..127).contains(b)), "{what}: {target}");
            assert_eq!(answer.as_ref().map(|answer| answer.status).ok(), Some(200), "{what}");
        }
        if let Ok(answer) = answer {
            assert!(matches!(answer.status, 200 | 400 | 403), "{what}: {}", answer.status);
        }
        beadle.assert_healthy(&what);
    }
}

#[test]
fn u74_long_targets_are_judged_in_time_or_refused() {
    let origin = Origin::plain();
    let (beadle, tls_port) = start_with_tls(&origin);
    for (target, disallowed) in [
        (format!("/private/{}", "a".repeat(64 << 10)), true),
        (format!("/{}", "a".repeat(64 << 10)), false),
        (format!("{}private/x", "/".repeat(100_000)), true),
        (format!("/{}private/x", "../".repeat(10_000)), true),
        (format!("/{}private/x", "a/../".repeat(10_000)), true),
        (format!("/{}?{}", "%2f".repeat(10_000), "a=b&".repeat(10_000)), false),
    ] {
        let what = shown(target.as_bytes());
        origin.forget();
        let started = std::time::Instant::now();
        let answer = Request::get(&target).user_agent("BadBot").send(beadle.port);
        assert!(started.elapsed().as_secs() < 3, "{what}: {:?}", started.elapsed());
        if disallowed {
            assert!(matches!(answer.status, 400 | 403 | 414), "{what}: {}", answer.status);
            assert!(origin.received().is_empty(), "{what}: the origin saw it");
        } else {
            assert!(matches!(answer.status, 200 | 400 | 403 | 414), "{what}: {}", answer.status);
            let whole = origin.received().iter().all(|one| one.target == target.as_bytes());
            assert!(whole, "{what}: forwarded in part");
        }
        origin.forget();
        let status = over_http_2(tls_port, target.as_bytes(), &[b"BadBot"]);
        assert!(!disallowed || status != Some(200), "{what}: {status:?} over HTTP/2");
        let whole = origin.received().iter().all(|one| one.target == target.as_bytes());
        assert!(whole && (!disallowed || origin.received().is_empty()), "{what}: over HTTP/2");
        beadle.assert_healthy(&what);
    }
    assert!(beadle.log().iter().all(|record| record["path"].as_str().is_some_and(|path| {
        path.len() < 2_200 && (path.len() < 2_048 || path.contains("…(+"))
    })));
}

#[test]
fn u75_to_u78_every_method_is_judged_alike() {
    let origin = Origin::plain();
    let beadle = start(&origin);
    for (method, status) in [
        ("GET", 403),
        ("HEAD", 403),
        ("POST", 403),
        ("PUT", 403),
        ("DELETE", 403),
        ("OPTIONS", 403),
        ("GeT", 403),
        ("FOO", 403),
        ("PROPFIND", 403),
        ("TRACE", 405),
    ] {
        let request = Request::new(method, "/private/x").user_agent("BadBot/1.0");
        assert_eq!(request.send(beadle.port).status, status, "{method}");
        assert!(origin.received().is_empty(), "{method}: the origin saw it");
    }
    let trace = Request::new("TRACE", "/public").field("X-Secret", "c2VjcmV0").send(beadle.port);
    assert_eq!(trace.status, 405);
    assert!(!trace.text().contains("c2VjcmV0"));
    for target in ["/private/x:80", "site.example:443"] {
        let request = Request::new("CONNECT", target).user_agent("BadBot/1.0");
        let status = request.send(beadle.port).status;
        assert!(matches!(status, 400 | 405), "CONNECT {target}: {status}");
    }
    assert!(origin.received().is_empty());
    let asterisk = Request::new("OPTIONS", "*").user_agent("BadBot/1.0").send(beadle.port);
    assert!(matches!(asterisk.status, 200 | 204), "{}", asterisk.status);
    assert!(origin.received().iter().all(|one| one.target == b"*"));
    beadle.assert_healthy("all methods");
}

#[test]
fn u79_u82_fields_that_name_another_target_or_method_change_nothing() {
    let origin = Origin::plain();
    let beadle = start(&origin);
    for (name, value) in [
        ("X-Original-URL", "/public"),
        ("X-Rewrite-URL", "/public"),
        ("X-Forwarded-Uri", "/public"),
        ("X-Original-URI", "/public"),
        ("Forwarded", "path=/public"),
        ("X-HTTP-Method-Override", "PURGE"),
        ("X-Forwarded-Host", "other.example"),
        ("X-Forwarded-For", "66.249.66.1"),
    ] {
        let request = Request::get("/private/x").user_agent("BadBot/1.0").field(name, value);
        assert_eq!(request.send(beadle.port).status, 403, "{name}");
    }
    assert!(origin.received().is_empty());
    // An origin that obeys these fields still serves the judged page.
    for name in ["X-Original-URL", "X-Rewrite-URL"] {
        let request = Request::get("/public").user_agent("BadBot/1.0").field(name, "/private/x");
        assert_eq!(request.send(beadle.port).status, 200);
        assert_eq!(origin.last().header(name), None, "{name} goes no further");
    }
}

#[test]
fn u83_u84_conditional_and_upgrade_requests_are_blocked_too() {
    let origin = Origin::plain();
    let beadle = start(&origin);
    for fields in [
        &[("Range", "bytes=0-1")][..],
        &[("If-None-Match", "*")],
        &[("TE", "trailers"), ("Connection", "TE")],
        &[("Expect", "100-continue"), ("Content-Length", "5")],
        &[("Connection", "Upgrade"), ("Upgrade", "websocket")],
        &[
            ("Connection", "Upgrade, HTTP2-Settings"),
            ("Upgrade", "h2c"),
            ("HTTP2-Settings", "AAMAAABkAARAAAAAAAIAAAAA"),
        ],
    ] {
        let request = fields
            .iter()
            .fold(Request::get("/private/x").user_agent("BadBot/1.0"), |request, (name, value)| {
                request.field(name, value)
            });
        let answer = request.send(beadle.port);
        assert_eq!((answer.status, answer.interim.len()), (403, 0), "{fields:?}");
        beadle.assert_healthy(&format!("{fields:?}"));
        origin.forget();
    }
    let request = Request::get("/public")
        .field("Connection", "Upgrade, HTTP2-Settings")
        .field("Upgrade", "h2c")
        .field("HTTP2-Settings", "AAMAAABkAARAAAAAAAIAAAAA");
    assert_eq!(request.send(beadle.port).status, 200);
    let received = origin.last();
    assert_eq!(received.header("http2-settings"), None);
    assert_ne!(received.header("upgrade"), Some("h2c"), "no way around by another protocol");
}

#[test]
fn a85_to_a93_disguised_names_are_found() {
    let origin = Origin::plain();
    let (beadle, tls_port) = start_with_tls(&origin);
    let nested = format!("{}BadBot/1.0{}", "(".repeat(10_000), ")".repeat(10_000));
    let late = format!("{} BadBot/1.0", "x ".repeat(30_000));
    for (user_agent, status) in [
        (&b"BADBOT/1.0"[..], 403),
        (b"bAdBoT", 403),
        (b"Mozilla/5.0 (compatible; BadBot/2.1; +http://x.example)", 403),
        (b"BadBot", 403),
        (b"BadBot;", 403),
        (b"\xffBadBot/1.0", 403),
        (b"BadBot\xff/1.0", 403),
        (b"NotBadBotty/1.0", 200),
        (b"+http://badbot.example/", 200),
        ("\u{0392}adBot/1.0".as_bytes(), 200),
        (b"Bad\xe2\x80\x8bBot/1.0", 200),
        (nested.as_bytes(), 403),
    ] {
        let request = Request::get("/private/x").field("User-Agent", user_agent);
        let answer = request.send(beadle.port);
        assert_eq!(answer.status, status, "{}", shown(user_agent));
        let answered = over_http_2(tls_port, b"/private/x", &[user_agent]);
        assert_eq!(answered, Some(status), "{} over HTTP/2", shown(user_agent));
        beadle.assert_healthy(&shown(user_agent));
    }
    // A name behind much else is found, and costs no time.
    let started = std::time::Instant::now();
    let request = Request::get("/private/x").field("User-Agent", &late);
    assert_eq!(request.send(beadle.port).status, 403);
    assert!(started.elapsed().as_secs() < 3);
}

#[test]
fn a92_a_crawler_hides_in_no_long_user_agent() {
    let origin = Origin::plain();
    let (beadle, tls_port) = start_with_tls(&origin);
    let padding = "x ".repeat(100 * 1024);
    let half = "x ".repeat(50 * 1024);
    // The lines of User-Agent, and whether a name is in the part that is read.
    let cases: [(Vec<String>, bool); 9] = [
        (vec![format!("{padding}BadBot/1.0")], false),
        (vec![format!("BadBot/1.0 {padding}")], true),
        (vec![format!("{half}BadBot/1.0 {padding}")], true),
        (vec![format!("{padding}BadBot/1.0 {half}")], false),
        (vec![format!("{BROWSER} {padding}(compatible; BadBot/1.0)")], false),
        (vec![BROWSER.to_owned(), format!("{padding}BadBot/1.0")], false),
        (vec![padding.clone(), "BadBot/1.0".to_owned()], true),
        (vec!["BadBot/1.0".to_owned(), padding], true),
        (vec![half.clone(), half.clone(), half.clone(), "BadBot/1.0".to_owned()], true),
    ];
    for (number, (lines, is_named)) in cases.iter().enumerate() {
        let add = |request: Request, line: &String| request.field("User-Agent", line);
        let send =
            |target: &str| lines.iter().fold(Request::get(target), add).send(beadle.port).status;
        assert_eq!(send("/private/x"), 403, "{number}");
        assert_eq!((send("/x"), send("/robots.txt")), (200, 200), "{number}");
        let lines: Vec<_> = lines.iter().map(|line| line.as_bytes()).collect();
        let answered = over_http_2(tls_port, b"/private/x", &lines);
        assert_eq!(answered, Some(403), "{number} over HTTP/2");
        let expected = match is_named {
            true => ("BadBot", "robots.disallow"),
            false => ("-", "robots.disallow.hidden"),
        };
        for record in &beadle.records(2 * number + 2)[2 * number..] {
            let found = (record["product_token"].as_str(), record["reason"].as_str());
            assert_eq!(found, (Some(expected.0), Some(expected.1)), "{number}");
        }
    }
    // As much as is read, without a name: a person.
    let request = Request::get("/private/x");
    let person = format!("{BROWSER} {half}");
    assert_eq!(request.field("User-Agent", person).send(beadle.port).status, 200);
}
