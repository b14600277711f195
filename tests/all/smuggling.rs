//! Request smuggling: the origin sees at most one request for each one sent, whatever its framing,
//! and the next client is served as usual. Test names begin with the row numbers of the hardening
//! table. Some rows pin what pingora does, so that an upgrade cannot change it silently.

use crate::support::{
    client::{Client, Request},
    frames::{self, Connection, DATA, END_STREAM, Fate},
    origin::Origin,
    program::{Beadle, Setup},
    shown,
};

const RULES: &str = "
    robots_txt: { groups: [{ user_agents: [BadBot], disallow: [/private/] }] }
    enforcement: { mode: block }
";

fn start(origin: &Origin) -> Beadle {
    Setup::site(origin.port, RULES).start()
}

/// The possible outcomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// The origin answers it.
    Served,
    /// It is refused with 400 or the connection is closed; the origin saw no whole request.
    Refused,
    /// Either, as long as it is one request at most.
    Either,
}

/// Sends the bytes, with a target for each case in place of `/`, and checks the outcome. The origin
/// must see at most one request for that target, framed in one way.
fn assert_outcomes(cases: &[(&[u8], Outcome)]) {
    let origin = Origin::plain();
    let beadle = start(&origin);
    for (number, (bytes, outcome)) in cases.iter().enumerate() {
        let what = shown(bytes);
        let target = format!("/case-{number}");
        let mut client = Client::connect(beadle.port);
        // The proxy may refuse a request before it has read the whole.
        let _ = client.try_write(&with_target(bytes, &target));
        let status = client.response("GET").map(|answer| answer.status).ok();
        drop(client);
        beadle.assert_healthy(&what);
        match outcome {
            Outcome::Served => assert_eq!(status, Some(200), "{what}"),
            Outcome::Refused => assert!(
                status.is_none_or(|status| (400..500).contains(&status)),
                "{what}: {status:?}"
            ),
            Outcome::Either => assert!(
                status.is_none_or(|status| status == 200 || (400..600).contains(&status)),
                "{what}: {status:?}"
            ),
        }
        assert_one_reading(&origin, &target, *outcome, &what);
    }
    // Each case also checks for late bytes of the one before; this is for the last.
    for (number, (bytes, outcome)) in cases.iter().enumerate() {
        assert_one_reading(&origin, &format!("/case-{number}"), *outcome, &shown(bytes));
    }
}

fn with_target(bytes: &[u8], target: &str) -> Vec<u8> {
    let at = bytes.windows(3).position(|three| three == b" / ");
    at.map_or_else(
        || bytes.to_vec(),
        |at| [&bytes[..=at], target.as_bytes(), &bytes[at + 2..]].concat(),
    )
}

fn assert_one_reading(origin: &Origin, target: &str, outcome: Outcome, what: &str) {
    let received = origin.received();
    let is_known = |target: &[u8]| target == b"/healthy" || target.starts_with(b"/case-");
    let stranger = received.iter().find(|one| !is_known(&one.target));
    assert!(
        stranger.is_none(),
        "{what}: {}",
        shown(&stranger.map_or_else(Vec::new, |one| one.head.clone()))
    );
    let of_case: Vec<_> = received.iter().filter(|one| one.target == target.as_bytes()).collect();
    assert!(of_case.len() <= 1, "{what}: the origin saw {} requests", of_case.len());
    for one in of_case {
        // A valid head may be forwarded before the body proves invalid.
        assert!(outcome != Outcome::Refused || one.body.is_empty(), "{what}: {one:?}");
        let framings = one.all("content-length").len() + one.all("transfer-encoding").len();
        assert!(framings <= 1, "{what}: {}", shown(&one.head));
        // RFC 9110 section 8.6: a list of equal lengths is forwarded as one, if at all.
        let is_plain = |length: &str| length.parse() == Ok(one.body.len());
        let is_canonical = |length: &str| is_plain(length) && !length.starts_with(['+', '0']);
        let length = one.header("content-length");
        assert!(length.is_none_or(|l| l == "0" || is_canonical(l)), "{what}: {length:?}");
    }
}

fn post(fields: &str, body: &str) -> Vec<u8> {
    format!("POST / HTTP/1.1\r\nHost: site.example\r\n{fields}\r\n\r\n{body}").into_bytes()
}

fn assert_posts(cases: &[(&str, &str, Outcome)]) {
    let cases: Vec<(Vec<u8>, Outcome)> =
        cases.iter().map(|(fields, body, outcome)| (post(fields, body), *outcome)).collect();
    let cases: Vec<(&[u8], Outcome)> =
        cases.iter().map(|(bytes, outcome)| (bytes.as_slice(), *outcome)).collect();
    assert_outcomes(&cases);
}

/// Sends the fields and the body over HTTP/2, with the same outcomes. There, no message has a
/// Transfer-Encoding (RFC 9113 section 8.2.2).
fn assert_alike_over_http_2(cases: &[(&str, &str, Outcome)]) {
    let origin = Origin::plain();
    let (setup, port) = Setup::site(origin.port, RULES).tls_listener();
    let beadle = setup.start();
    for (number, (lines, body, outcome)) in cases.iter().enumerate() {
        if lines.split("\r\n").any(|line| line.starts_with(' ') || !line.contains(':')) {
            // Only HTTP/1 has lines.
            continue;
        }
        let target = format!("/case-{number}");
        let mut fields = frames::request("POST", &target);
        for line in lines.split("\r\n") {
            let (name, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            fields.push((name.to_ascii_lowercase().into_bytes(), value.into()));
        }
        let octets =
            [frames::headers(1, 0, &fields), frames::frame(DATA, END_STREAM, 1, body.as_bytes())];
        let fate = Connection::connect(port).fate(&octets.concat(), true);
        beadle.assert_healthy(lines);
        let is_length = !lines.to_ascii_lowercase().contains("encoding");
        let outcome = if is_length { *outcome } else { Outcome::Refused };
        match outcome {
            Outcome::Served => assert_eq!(fate, Fate::Status(200), "{lines}"),
            Outcome::Refused => assert_ne!(fate, Fate::Status(200), "{lines}"),
            Outcome::Either => {}
        }
        assert_one_reading(&origin, &target, outcome, lines);
    }
}

/// A second request that must never be taken for one.
const SMUGGLED: &str = "GET /smuggled HTTP/1.1\r\nHost: site.example\r\n\r\n";

#[test]
fn h100_to_h102_lengths() {
    use Outcome::{Either, Refused, Served};
    let chunked = format!("5\r\nhello\r\n0\r\n\r\n{SMUGGLED}");
    let cases = [
        ("Content-Length: 5", "hello", Served),
        ("Content-Length: 5\r\nContent-Length: 5", "hello", Served),
        ("Content-Length: 5\r\nContent-Length: 6", "hello!", Refused),
        ("Content-Length: 4\r\nTransfer-Encoding: chunked", &chunked, Served),
        ("Transfer-Encoding: chunked\r\nContent-Length: 300", &chunked, Served),
        ("Content-Length: +5", "hello", Refused),
        ("Content-Length: -1", "hello", Refused),
        ("Content-Length: 0x5", "hello", Refused),
        ("Content-Length: 5_0", "hello", Refused),
        ("Content-Length:  ", "hello", Either),
        ("Content-Length: 99999999999999999999", "hello", Refused),
        ("Content-Length: 5,6", "hello!", Refused),
        ("Content-Length: 5, 5", "hello", Either),
        ("Content-Length: 005", "hello", Either),
        ("Content-Length: 5\x0b", "hello", Refused),
    ];
    assert_posts(&cases);
    assert_alike_over_http_2(&cases);
}

#[test]
fn h103_h104_transfer_encodings() {
    use Outcome::{Either, Refused, Served};
    let plain = "5\r\nhello\r\n0\r\n\r\n";
    let chunked = &format!("{plain}{SMUGGLED}");
    let cases = [
        ("Transfer-Encoding: chunked", plain, Served),
        ("Transfer-Encoding: Chunked", plain, Served),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", plain, Either),
        ("Transfer-Encoding: chunked, chunked", plain, Either),
        ("Transfer-Encoding: ,chunked", plain, Either),
        ("Transfer-Encoding: identity", chunked, Refused),
        ("Transfer-Encoding: xchunked", chunked, Refused),
        ("Transfer-Encoding: chunked;q=1", chunked, Refused),
        ("Transfer-Encoding: chunked, identity", chunked, Refused),
        ("Transfer-Encoding: identity\r\nContent-Length: 5", "hello", Refused),
        ("Transfer-Encoding: \x0bchunked", chunked, Refused),
        ("Transfer-Encoding : chunked", chunked, Refused),
        ("Transfer-\r\nEncoding: chunked", chunked, Refused),
        ("Transfer-Encoding:\r\n chunked", chunked, Refused),
        ("X: y\r\n Transfer-Encoding: chunked", chunked, Refused),
        ("Content-Length: 5\r\nTransfer-Encoding : chunked", "hello", Refused),
    ];
    assert_posts(&cases);
    assert_alike_over_http_2(&cases);
}

#[test]
fn h105_transfer_encoding_is_not_for_http_1_0() {
    let head = "POST / HTTP/1.0\r\nHost: site.example\r\nTransfer-Encoding: chunked\r\n\r\n";
    let bytes = format!("{head}5\r\nhello\r\n0\r\n\r\n{SMUGGLED}");
    assert_outcomes(&[(bytes.as_bytes(), Outcome::Refused)]);
}

#[test]
fn h106_h107_chunks() {
    use Outcome::{Either, Refused, Served};
    let long_extension = format!("5;{}\r\nhello\r\n0\r\n\r\n", "x".repeat(16 << 10));
    let small_chunks = format!("{}0\r\n\r\n", "1\r\nx\r\n".repeat(20_000));
    let trailers: String = (0..1_000).map(|n| format!("X-{n}: y\r\n")).collect();
    let trailers = format!("5\r\nhello\r\n0\r\n{trailers}\r\n");
    assert_posts(&[
        ("Transfer-Encoding: chunked", "5;ext\r\nhello\r\n0\r\n\r\n", Served),
        ("Transfer-Encoding: chunked", "5;a=\"b\"\r\nhello\r\n0\r\n\r\n", Served),
        ("Transfer-Encoding: chunked", "0x5\r\nhello\r\n0\r\n\r\n", Refused),
        ("Transfer-Encoding: chunked", "+5\r\nhello\r\n0\r\n\r\n", Refused),
        ("Transfer-Encoding: chunked", "5 \r\nhello\r\n0\r\n\r\n", Refused),
        ("Transfer-Encoding: chunked", " 5\r\nhello\r\n0\r\n\r\n", Refused),
        ("Transfer-Encoding: chunked", "FFFFFFFFFFFFFFFFF\r\nhello\r\n0\r\n\r\n", Refused),
        ("Transfer-Encoding: chunked", "-1\r\nhello\r\n0\r\n\r\n", Refused),
        ("Transfer-Encoding: chunked", "5\nhello\r\n0\r\n\r\n", Refused),
        ("Transfer-Encoding: chunked", "5\r\nhelloX\r\n0\r\n\r\n", Refused),
        ("Transfer-Encoding: chunked", "5\r\nhello0\r\n\r\n", Refused),
        // pingora would take a size line without a size for the last chunk.
        ("Transfer-Encoding: chunked", "\r\nhello\r\n0\r\n\r\n", Refused),
        ("Transfer-Encoding: chunked", &small_chunks, Served),
        ("Transfer-Encoding: chunked", &long_extension, Either),
        ("Transfer-Encoding: chunked", &trailers, Either),
        ("Transfer-Encoding: chunked", "5\r\nhello\r\n0\r\nContent-Length: 50\r\n\r\n", Either),
    ]);
}

#[test]
fn h108_a_body_that_ends_early_is_no_request() {
    let origin = Origin::plain();
    let beadle = start(&origin);
    let mut client = Client::connect(beadle.port);
    client.write(&post("Content-Length: 10", "hello"));
    client.finish();
    let answer = client.response("POST").map(|answer| answer.status);
    assert!(answer.as_ref().map_or(true, |status| *status >= 400), "{answer:?}");
    assert!(origin.received().len() <= 1, "it is not tried again");
    beadle.assert_healthy("a body that ends early");
}

#[test]
fn h108_h109_bytes_after_a_request_are_the_next_one_or_nothing() {
    let origin = Origin::plain();
    let beadle = start(&origin);
    // A disallowed request and an allowed one behind it in one write.
    let first = Request::get("/private/x").user_agent("BadBot/1.0").bytes();
    let second = Request::get("/public").user_agent("BadBot/1.0").bytes();
    let mut client = Client::connect(beadle.port);
    client.write(&[first, second.clone()].concat());
    assert_eq!(client.response("GET").map(|answer| answer.status).ok(), Some(403));
    // pingora reads no second request that came with the first: it closes.
    let next = client.response("GET").map(|answer| answer.status);
    assert!(next.as_ref().map_or(true, |status| *status == 200), "{next:?}");
    beadle.assert_healthy("pipelining");
    // A body that is longer than its length.
    origin.forget();
    let mut client = Client::connect(beadle.port);
    let surplus = [post("Content-Length: 5", "hello"), first_line(&second)].concat();
    client.write(&surplus);
    assert_eq!(client.response("POST").map(|answer| answer.status).ok(), Some(200));
    // The proxy need not wait for the rest of a second request.
    client.finish();
    drop(client.rest());
    assert_eq!(origin.received().first().map(|one| one.body.clone()), Some(b"hello".to_vec()));
    beadle.assert_healthy("a body that is too long");
}

fn first_line(bytes: &[u8]) -> Vec<u8> {
    bytes.split_inclusive(|&b| b == b'\n').next().unwrap_or_default().to_vec()
}

#[test]
fn h110_bytes_behind_an_upgrade_wait_for_101() {
    let origin = Origin::plain();
    let beadle = start(&origin);
    for protocol in ["websocket", "h2c", "x"] {
        origin.forget();
        let upgrade =
            Request::get("/").field("Connection", "Upgrade").field("Upgrade", protocol).bytes();
        let mut client = Client::connect(beadle.port);
        client.write(&[&upgrade[..], SMUGGLED.as_bytes()].concat());
        let answer = client.response("GET").map(|answer| answer.status);
        assert_eq!(answer.ok(), Some(200), "{protocol}: the origin does not upgrade");
        drop(client);
        beadle.assert_healthy(protocol);
        let received = origin.received();
        assert!(received.iter().all(|one| one.target != b"/smuggled"), "{protocol}");
    }
}

#[test]
fn h111_h112_field_lines() {
    use Outcome::{Refused, Served};
    let fields = |count: usize| -> String {
        let lines: Vec<String> = (0..count).map(|n| format!("X-{n}: y")).collect();
        lines.join("\r\n")
    };
    let (some, many) = (fields(90), fields(110));
    let large = format!("X-Large: {}", "x".repeat(1 << 20));
    assert_posts(&[
        ("X: y", "", Served),
        ("X: y\nY: z", "", Refused),
        ("X: y\r\n\nY: z", "", Refused),
        ("X: y\x01z", "", Refused),
        ("X: y\r\n folded", "", Refused),
        ("X : y", "", Refused),
        ("X: y\rY: z", "", Refused),
        ("X: y\0z", "", Refused),
        (": empty", "", Refused),
        ("X Y: z", "", Refused),
        ("X(: z", "", Refused),
        ("X\u{e9}: z", "", Refused),
        ("no colon", "", Refused),
        ("X: y\r\n\rX: z", "", Refused),
        (&some, "", Served),
        (&many, "", Refused),
        (&large, "", Refused),
    ]);
}

#[test]
fn h113_hosts() {
    use Outcome::{Refused, Served};
    assert_outcomes(&[
        (b"GET / HTTP/1.1\r\nHost: site.example\r\n\r\n", Served),
        (b"GET / HTTP/1.1\r\n\r\n", Refused),
        (b"GET / HTTP/1.1\r\nHost:\r\n\r\n", Refused),
        (b"GET / HTTP/1.1\r\nHost: site.example\r\nHost: site.example\r\n\r\n", Refused),
        (b"GET / HTTP/1.1\r\nHost: site.example\r\nHost: other.example\r\n\r\n", Refused),
        (b"GET / HTTP/1.1\r\nHost: user@site.example\r\n\r\n", Refused),
        (b"GET / HTTP/1.1\r\nHost: site.example, other.example\r\n\r\n", Refused),
        (b"GET / HTTP/1.1\r\nHost : site.example\r\n\r\n", Refused),
        // No site is the default one.
        (b"GET / HTTP/1.0\r\n\r\n", Refused),
        (b"GET / HTTP/1.0\r\nHost: site.example\r\n\r\n", Served),
    ]);
}

#[test]
fn h114_bytes_that_are_not_http_1() {
    use Outcome::Refused;
    let hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".repeat(20);
    assert_outcomes(&[
        (b"GET /\r\n\r\n", Refused),
        (b"GET / HTTP/1.2\r\nHost: site.example\r\n\r\n", Refused),
        (b"GET / HTTP/0.9\r\nHost: site.example\r\n\r\n", Refused),
        (b"GET / HTTP/1.1\nHost: site.example\n\n", Refused),
        (b"GET / HTTP/1.1\nHost: site.example\r\n\r\n", Refused),
        (b"GET / HTTP/1.1\r\nHost: site.example\n\r\n", Refused),
        (b"GET / HTTP/1.1\r\nHost: site.example\r\n\n", Refused),
        (b"\nGET / HTTP/1.1\r\nHost: site.example\r\n\r\n", Refused),
        (b"GET / HTTP/2.0\r\nHost: site.example\r\n\r\n", Refused),
        (b"GET / HTTP/1.1x\r\nHost: site.example\r\n\r\n", Refused),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Refused),
        (b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n\r\n", Refused),
        ([&hello[..], b"\r\n\r\n"].concat().as_slice(), Refused),
        (b"\x00\x01\x02\xff\xfe\r\n\r\n", Refused),
        (b"GET / HTTP/1.1\rHost: site.example\r\r", Refused),
    ]);
}

#[test]
fn h115_connection_cannot_remove_fields_that_are_judged_or_added() {
    let origin = Origin::plain();
    let beadle = start(&origin);
    for nominated in
        ["User-Agent", "Host", "X-Forwarded-For", "Host, X-Forwarded-For, Robots-Tag", "Via"]
    {
        origin.forget();
        let request =
            |target| Request::get(target).user_agent("BadBot/1.0").field("Connection", nominated);
        let status = request("/private/x").send(beadle.port).status;
        assert!(matches!(status, 400 | 403), "{nominated}: {status}");
        assert!(origin.received().is_empty(), "{nominated}");
        let status = request("/public").send(beadle.port).status;
        assert!(matches!(status, 200 | 400), "{nominated}: {status}");
        for received in origin.received() {
            assert_eq!(received.header("host"), Some("site.example"), "{nominated}");
            assert_eq!(received.header("x-forwarded-for"), Some("127.0.0.1"), "{nominated}");
        }
        beadle.assert_healthy(nominated);
    }
}

#[test]
fn h116_an_unknown_expectation_is_served_or_refused() {
    let origin = Origin::plain();
    let beadle = start(&origin);
    let answer = Request::get("/").field("Expect", "200-ok").send(beadle.port);
    assert!(matches!(answer.status, 200 | 417), "{}", answer.status);
}

#[test]
fn h117_a_blocked_request_with_a_body_leaves_nothing_behind() {
    let origin = Origin::plain();
    let beadle = start(&origin);
    let blocked = Request::get("/private/x").user_agent("BadBot/1.0").body(SMUGGLED);
    let mut client = Client::connect(beadle.port);
    assert_eq!(blocked.send_over(&mut client).status, 403);
    // Either the body has been read and the connection goes on, or it is closed.
    let _ = client.try_write(&Request::get("/next").bytes());
    if let Ok(answer) = client.response("GET") {
        assert_eq!(answer.text(), "origin: /next");
    }
    assert!(origin.received().iter().all(|one| one.target == b"/next"));
    beadle.assert_healthy("a blocked body");
}

#[test]
fn h118_a_client_that_goes_away_is_recorded_once() {
    let (origin, go) = Origin::held();
    let rules = "
    robots_txt: { groups: [{ user_agents: [BadBot], disallow: [/private/] }] }
";
    let mut beadle = Setup::site(origin.port, rules).start();
    let request = Request::get("/private/x").user_agent("BadBot/1.0").bytes();
    let mut client = Client::connect(beadle.port);
    client.write(&request);
    origin.wait_for_requests(1);
    drop(client);
    go.send(()).expect("the origin listens");
    beadle.wait_for_metric("beadle_records_seen_total", 1.0);
    // pingora takes a client that stops sending for gone; otherwise the whole answer has to come.
    let mut client = Client::connect(beadle.port);
    client.write(&request);
    client.finish();
    go.send(()).expect("the origin listens");
    let answer = client.response("GET").map(|answer| answer.text());
    assert!(answer.as_ref().map_or(true, |text| text == "late"), "{answer:?}");
    beadle.wait_for_metric("beadle_records_seen_total", 2.0);
    beadle.stop();
    assert_eq!(beadle.log().len(), 2);
}
