//! HTTP/2 from clients, in frames made by hand: what RFC 9113 calls malformed reaches no origin, and
//! the next client is served as usual. Test names begin with the row numbers of the hardening table.

use crate::support::{
    client::{Client, Request},
    frames::{
        ACK, CONTINUATION, Connection, DATA, END_HEADERS, END_STREAM, Fate, Field, GOAWAY, HEADERS,
        PADDED, PING, PRIORITIZED, PRIORITY, PUSH_PROMISE, RST_STREAM, SETTINGS, WINDOW_UPDATE,
        block, frame, get, headers, request, setting,
    },
    origin::{After, Origin, Received},
    program::{Beadle, Setup},
};

const RULES: &str = "
    robots_txt: { groups: [{ user_agents: [BadBot], disallow: [/private/] }] }
    enforcement: { mode: block }
";

/// Errors (RFC 9113 section 7).
const PROTOCOL_ERROR: u32 = 0x1;
const FLOW_CONTROL_ERROR: u32 = 0x3;
const FRAME_SIZE_ERROR: u32 = 0x6;

/// An error of a stream for a malformed message (section 8.1.1).
const MALFORMED: Fate = Fate::Reset(PROTOCOL_ERROR);
/// An error of the connection. The h2 crate names this code for most, and an endpoint may treat an
/// error of a stream as one of the connection (section 5.4.1).
const BROKEN: Fate = Fate::GoAway(PROTOCOL_ERROR);
const SERVED: Fate = Fate::Status(200);

/// A case: its name, the section of RFC 9113, the octets behind the first SETTINGS, and what becomes
/// of them.
type Case = (&'static str, &'static str, Vec<u8>, Fate);

fn start(origin: &Origin) -> (Beadle, u16) {
    let (setup, port) = Setup::site(origin.port, RULES).tls_listener();
    (setup.start(), port)
}

/// A GET of `/x` with these fields. Pseudo-fields take the place of the usual ones.
fn with(fields: &[(&str, &str)]) -> Vec<Field> {
    let mut all = request("GET", "/x");
    for (name, value) in fields {
        let field = (name.as_bytes().to_vec(), value.as_bytes().to_vec());
        match all.iter_mut().find(|(other, _)| *other == field.0) {
            Some(usual) => *usual = field,
            None => all.push(field),
        }
    }
    all
}

/// The frames of a GET with these fields.
fn got(fields: &[(&str, &str)]) -> Vec<u8> {
    headers(1, END_STREAM, &with(fields))
}

/// The frames of a GET without a pseudo-field.
fn without(name: &str) -> Vec<u8> {
    let mut fields = request("GET", "/x");
    fields.retain(|(other, _)| other != name.as_bytes());
    headers(1, END_STREAM, &fields)
}

/// The frames of a GET with these fields behind all others.
fn added(fields: &[(&str, &str)]) -> Vec<u8> {
    let fields =
        fields.iter().map(|(name, value)| (name.as_bytes().into(), value.as_bytes().into()));
    headers(1, END_STREAM, &request("GET", "/x").into_iter().chain(fields).collect::<Vec<_>>())
}

/// The frames of a POST with these fields and DATA, the last of which ends the stream.
fn post(fields: &[(&str, &str)], data: &[&str]) -> Vec<u8> {
    let mut head = with(fields);
    head[0].1 = b"POST".to_vec();
    let mut octets = headers(1, if data.is_empty() { END_STREAM } else { 0 }, &head);
    for (number, piece) in data.iter().enumerate() {
        let end = if number + 1 == data.len() { END_STREAM } else { 0 };
        octets.extend(frame(DATA, end, 1, piece.as_bytes()));
    }
    octets
}

/// Whether the origin has a whole request: a head without a body to come, or the whole body.
fn is_whole(received: &Received) -> bool {
    let has_body = received.header("transfer-encoding").is_some()
        || received.header("content-length").is_some_and(|length| length != "0");
    !has_body || !received.body.is_empty()
}

/// Sends each case over a connection of its own, and a usual request over another one after it.
fn assert_cases(cases: Vec<Case>) {
    let origin = Origin::plain();
    let (beadle, port) = start(&origin);
    let mut wrong = Vec::new();
    for (name, section, octets, expected) in cases {
        origin.forget();
        let mut connection = Connection::connect(port);
        let fate = connection.fate(&octets, expected != Fate::Ignored);
        drop(connection);
        let healthy = Connection::connect(port).fate(&get(1, "/healthy"), true);
        assert_eq!(healthy, SERVED, "after {name}");
        let received = origin.received();
        let seen = received.iter().filter(|one| one.target != b"/healthy" && is_whole(one)).count();
        let is_served = matches!(fate, Fate::Status(200));
        if fate != expected || seen != usize::from(is_served) {
            wrong.push(format!("{name} (section {section}): {fate:?}, origin saw {seen}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    beadle.assert_healthy("all cases");
    beadle.wait_for_metric("beadle_requests_in_flight", 0.0);
}

#[test]
fn h119_pseudo_fields() {
    let path_behind = with(&[]).into_iter().rev().chain([(b"x".to_vec(), b"y".to_vec())]);
    let mut path_behind: Vec<_> = path_behind.collect();
    path_behind.rotate_left(1);
    assert_cases(vec![
        ("all", "8.3.1", got(&[]), SERVED),
        ("no method", "8.3.1", without(":method"), MALFORMED),
        ("no scheme", "8.3.1", without(":scheme"), MALFORMED),
        ("no path", "8.3.1", without(":path"), MALFORMED),
        ("two methods", "8.3.1", added(&[(":method", "POST")]), MALFORMED),
        ("two schemes", "8.3.1", added(&[(":scheme", "https")]), MALFORMED),
        ("two paths", "8.3.1", added(&[(":path", "/y")]), MALFORMED),
        ("two authorities", "8.3.1", added(&[(":authority", "site.example")]), MALFORMED),
        ("an unknown one", "8.3", added(&[(":protocols", "x")]), BROKEN),
        ("one of responses", "8.3", added(&[(":status", "200")]), MALFORMED),
        ("one behind a field", "8.3", headers(1, END_STREAM, &path_behind), MALFORMED),
        ("an empty name", "8.3", added(&[(":", "x")]), BROKEN),
    ]);
}

#[test]
fn h119_targets_and_methods() {
    assert_cases(vec![
        ("an empty path", "8.3.1", got(&[(":path", "")]), MALFORMED),
        ("a relative path", "8.3.1", got(&[(":path", "x")]), MALFORMED),
        ("an asterisk with GET", "8.3.1", got(&[(":path", "*")]), Fate::Status(400)),
        ("an absolute path", "8.3.1", got(&[(":path", "https://site.example/x")]), MALFORMED),
        ("a path of two slashes", "8.3.1", got(&[(":path", "//other.example/x")]), SERVED),
        ("a fragment", "8.3.1", got(&[(":path", "/x#/private/")]), SERVED),
        ("a space in a path", "8.3.1", got(&[(":path", "/a b")]), MALFORMED),
        ("a request line in a path", "8.3.1", got(&[(":path", "/a HTTP/1.1\r\nX: y")]), MALFORMED),
        ("CR in a path", "8.3.1", got(&[(":path", "/a\rb")]), MALFORMED),
        ("LF in a path", "8.3.1", got(&[(":path", "/a\nb")]), MALFORMED),
        ("NUL in a path", "8.3.1", got(&[(":path", "/a\0b")]), MALFORMED),
        ("a tab in a path", "8.3.1", got(&[(":path", "/a\tb")]), MALFORMED),
        ("DEL in a path", "8.3.1", got(&[(":path", "/a\u{7f}b")]), MALFORMED),
        ("a method with a space", "8.3.1", got(&[(":method", "GET /y")]), BROKEN),
        ("a method with CRLF", "8.3.1", got(&[(":method", "GET\r\n")]), BROKEN),
        ("an empty method", "8.3.1", got(&[(":method", "")]), BROKEN),
        ("a scheme that is none", "8.3.1", got(&[(":scheme", "ht tps")]), MALFORMED),
        // Beadle reads no scheme: the listener tells it.
        ("an empty scheme", "8.3.1", got(&[(":scheme", "")]), SERVED),
        ("the scheme of another protocol", "8.3.1", got(&[(":scheme", "javascript")]), SERVED),
        ("a scheme with CRLF", "8.3.1", got(&[(":scheme", "https\r\nX: y")]), MALFORMED),
    ]);
}

#[test]
fn h120_authorities() {
    let both = |authority, host| got(&[(":authority", authority), ("host", host)]);
    let mut host_alone = with(&[("host", "site.example")]);
    host_alone.retain(|(name, _)| name != b":authority");
    let mut two_hosts = host_alone.clone();
    two_hosts.push((b"host".to_vec(), b"site.example".to_vec()));
    let bad = |authority| got(&[(":authority", authority)]);
    assert_cases(vec![
        ("host alone", "8.3.1", headers(1, END_STREAM, &host_alone), SERVED),
        ("both alike", "8.3.1", both("site.example", "site.example"), SERVED),
        ("both different", "8.3.1", both("site.example", "other.example"), Fate::Status(400)),
        ("neither", "8.3.1", without(":authority"), Fate::Status(400)),
        ("two hosts", "8.3.1", headers(1, END_STREAM, &two_hosts), Fate::Status(400)),
        (
            "a second host",
            "8.3.1",
            added(&[("host", "site.example"), ("host", "x")]),
            Fate::Status(400),
        ),
        ("user information", "8.3.1", bad("user@site.example"), Fate::Status(400)),
        ("an unknown site", "8.3.1", bad("other.example"), Fate::Status(421)),
        ("an empty authority", "8.3.1", bad(""), MALFORMED),
        ("a path in it", "8.3.1", bad("site.example/y"), MALFORMED),
        ("CRLF in it", "8.3.1", bad("site.example\r\nX: y"), MALFORMED),
        ("a space in it", "8.3.1", bad("site.example other"), MALFORMED),
        ("NUL in it", "8.3.1", bad("site.example\0"), MALFORMED),
    ]);
}

#[test]
fn h120_fields() {
    assert_cases(vec![
        ("an upper-case name", "8.2.1", added(&[("X-Y", "z")]), BROKEN),
        ("an empty name", "8.2.1", added(&[("", "z")]), BROKEN),
        ("a colon in a name", "8.2.1", added(&[("x:y", "z")]), BROKEN),
        ("a space in a name", "8.2.1", added(&[("x y", "z")]), BROKEN),
        ("CRLF in a name", "8.2.1", added(&[("x: y\r\nhost", "z")]), BROKEN),
        ("an octet above ASCII in a name", "8.2.1", added(&[("x\u{e9}", "z")]), BROKEN),
        ("CR in a value", "8.2.1", added(&[("x", "a\rb")]), BROKEN),
        ("LF in a value", "8.2.1", added(&[("x", "a\nb")]), BROKEN),
        ("a request in a value", "8.2.1", added(&[("x", "y\r\n\r\nGET /z HTTP/1.1")]), BROKEN),
        ("NUL in a value", "8.2.1", added(&[("x", "a\0b")]), BROKEN),
        ("a space before a value", "8.2.1", added(&[("x", " y")]), SERVED),
        ("a space behind a value", "8.2.1", added(&[("x", "y ")]), SERVED),
        ("connection", "8.2.2", added(&[("connection", "x")]), MALFORMED),
        ("keep-alive", "8.2.2", added(&[("keep-alive", "x")]), MALFORMED),
        ("proxy-connection", "8.2.2", added(&[("proxy-connection", "x")]), MALFORMED),
        ("transfer-encoding", "8.2.2", added(&[("transfer-encoding", "chunked")]), MALFORMED),
        ("upgrade", "8.2.2", added(&[("upgrade", "websocket")]), MALFORMED),
        ("te with a coding", "8.2.2", added(&[("te", "gzip")]), MALFORMED),
        ("te with trailers", "8.2.2", added(&[("te", "trailers")]), SERVED),
        ("te with both", "8.2.2", added(&[("te", "trailers, gzip")]), MALFORMED),
    ]);
}

#[test]
fn h122_lengths_of_bodies() {
    let bad_trailer = |name: &str| {
        let trailer = [(name.as_bytes().to_vec(), b"x".to_vec())];
        let mut octets = post(&[], &["hello"]);
        // The DATA does not end the stream, the trailers do.
        let at = octets.len() - 5 - 5;
        octets[at] = 0;
        octets.extend(headers(1, END_STREAM, &trailer));
        octets
    };
    assert_cases(vec![
        ("a body", "8.1", post(&[], &["hello"]), SERVED),
        ("a body of its length", "8.1.1", post(&[("content-length", "5")], &["he", "llo"]), SERVED),
        ("no body", "8.1.1", post(&[("content-length", "0")], &[]), SERVED),
        ("less", "8.1.1", post(&[("content-length", "6")], &["hello"]), MALFORMED),
        ("more", "8.1.1", post(&[("content-length", "4")], &["hello"]), MALFORMED),
        ("more, in pieces", "8.1.1", post(&[("content-length", "4")], &["hell", "o"]), MALFORMED),
        ("none", "8.1.1", post(&[("content-length", "5")], &[]), MALFORMED),
        ("a length with a sign", "8.1.1", post(&[("content-length", "+5")], &["hello"]), MALFORMED),
        ("two lengths", "8.1.1", post(&[("content-length", "5, 6")], &["hello"]), MALFORMED),
        ("an empty length", "8.1.1", post(&[("content-length", "")], &["hello"]), MALFORMED),
        ("trailers", "8.1", bad_trailer("x-sum"), SERVED),
        // No trailer of a client reaches an origin.
        ("a pseudo-field in trailers", "8.1", bad_trailer(":path"), SERVED),
        ("an upper-case name in trailers", "8.2.1", bad_trailer("X-Sum"), BROKEN),
        (
            "trailers that do not end",
            "8.1",
            {
                let trailer = [(b"x".to_vec(), b"y".to_vec())];
                [headers(1, 0, &with(&[(":method", "POST")])), headers(1, 0, &trailer)].concat()
            },
            MALFORMED,
        ),
    ]);
}

#[test]
fn h119_frames_of_streams() {
    let ended = get(1, "/x");
    let open = headers(1, 0, &with(&[(":method", "POST")]));
    let section = block(&with(&[]));
    let (first, second) = section.split_at(5);
    let reset = |stream| frame(RST_STREAM, 0, stream, &8_u32.to_be_bytes());
    let padded = |length: u8, payload: &[u8]| {
        frame(HEADERS, PADDED | END_HEADERS | END_STREAM, 1, &[&[length], payload].concat())
    };
    let prioritized = |parent: u32| {
        let payload = [&parent.to_be_bytes()[..], &[9], &section].concat();
        frame(HEADERS, PRIORITIZED | END_HEADERS | END_STREAM, 1, &payload)
    };
    let in_pieces = [
        frame(HEADERS, END_STREAM, 1, first),
        frame(CONTINUATION, 0, 1, b""),
        frame(CONTINUATION, END_HEADERS, 1, second),
    ];
    let interleaved = |other: Vec<u8>| {
        [frame(HEADERS, END_STREAM, 1, first), other, frame(CONTINUATION, END_HEADERS, 1, second)]
            .concat()
    };
    let large = frame(DATA, END_STREAM, 1, &[b'x'; 16_385]);
    assert_cases(vec![
        ("DATA on stream 0", "6.1", frame(DATA, 0, 0, b"x"), BROKEN),
        ("DATA on an idle stream", "5.1", frame(DATA, 0, 5, b"x"), BROKEN),
        ("DATA behind the end", "5.1", [&ended[..], &frame(DATA, 0, 1, b"x")].concat(), BROKEN),
        (
            "DATA in padding alone",
            "6.1",
            [&open[..], &frame(DATA, PADDED, 1, &[5, 0])].concat(),
            BROKEN,
        ),
        (
            "HEADERS on stream 0",
            "6.2",
            frame(HEADERS, END_STREAM | END_HEADERS, 0, &section),
            BROKEN,
        ),
        ("HEADERS on an even stream", "5.1.1", get(2, "/x"), BROKEN),
        ("HEADERS on a lower stream", "5.1.1", [get(5, "/x"), get(3, "/x")].concat(), BROKEN),
        ("HEADERS behind the end", "5.1", [&ended[..], &ended].concat(), BROKEN),
        ("HEADERS with padding", "6.2", padded(2, &[&section[..], &[0, 0]].concat()), SERVED),
        ("HEADERS in padding alone", "6.2", padded(255, &section), BROKEN),
        ("HEADERS that depend on themselves", "5.3.1", prioritized(1), MALFORMED),
        ("HEADERS that depend on another", "5.3.1", prioritized(9), SERVED),
        ("HEADERS in pieces", "6.10", in_pieces.concat(), SERVED),
        (
            "CONTINUATION without HEADERS",
            "6.10",
            frame(CONTINUATION, END_HEADERS, 1, &section),
            BROKEN,
        ),
        (
            "CONTINUATION behind the end",
            "6.10",
            [ended.clone(), frame(CONTINUATION, END_HEADERS, 1, b"")].concat(),
            BROKEN,
        ),
        ("DATA between CONTINUATION", "6.10", interleaved(frame(DATA, 0, 1, b"x")), BROKEN),
        ("PING between CONTINUATION", "6.10", interleaved(frame(PING, 0, 0, b"12345678")), BROKEN),
        (
            "CONTINUATION of another stream",
            "6.10",
            interleaved(frame(CONTINUATION, END_HEADERS, 3, second)),
            BROKEN,
        ),
        (
            "a frame that is too large",
            "4.2",
            [open.clone(), large].concat(),
            Fate::GoAway(FRAME_SIZE_ERROR),
        ),
        (
            "a field section that is none",
            "4.3",
            frame(HEADERS, END_STREAM | END_HEADERS, 1, b"\xff\xff\xff\xff\xff\xff"),
            BROKEN,
        ),
        (
            "a field outside the table",
            "4.3",
            frame(HEADERS, END_STREAM | END_HEADERS, 1, &[0xc9]),
            BROKEN,
        ),
        ("RST_STREAM on stream 0", "6.4", reset(0), BROKEN),
        ("RST_STREAM on an idle stream", "6.4", reset(5), BROKEN),
        (
            "RST_STREAM of 3 octets",
            "6.4",
            [open.clone(), frame(RST_STREAM, 0, 1, b"123")].concat(),
            BROKEN,
        ),
        (
            "PRIORITY of 4 octets",
            "6.3",
            [ended.clone(), frame(PRIORITY, 0, 1, b"1234")].concat(),
            BROKEN,
        ),
        ("PRIORITY on stream 0", "6.3", frame(PRIORITY, 0, 0, b"12345"), BROKEN),
        ("PRIORITY on itself", "5.3.1", frame(PRIORITY, 0, 1, &[0, 0, 0, 1, 9]), MALFORMED),
        (
            "PUSH_PROMISE",
            "8.4",
            [open, frame(PUSH_PROMISE, END_HEADERS, 1, &[&[0, 0, 0, 2], &section[..]].concat())]
                .concat(),
            BROKEN,
        ),
        (
            "CONNECT",
            "8.5",
            {
                let fields: Vec<Field> =
                    with(&[(":method", "CONNECT"), (":authority", "site.example:443")]);
                let fields: Vec<_> = fields
                    .into_iter()
                    .filter(|(name, _)| name != b":path" && name != b":scheme")
                    .collect();
                headers(1, END_STREAM, &fields)
            },
            Fate::Status(405),
        ),
        ("CONNECT with a path", "8.5", got(&[(":method", "CONNECT")]), MALFORMED),
        (
            "extended CONNECT",
            "8.5",
            got(&[(":method", "CONNECT"), (":protocol", "websocket")]),
            MALFORMED,
        ),
    ]);
}

#[test]
fn h119_frames_of_connections() {
    let then = |octets: Vec<u8>| [octets, get(1, "/x")].concat();
    let update = |stream, by: u32| frame(WINDOW_UPDATE, 0, stream, &by.to_be_bytes());
    let open = || headers(1, 0, &with(&[(":method", "POST")]));
    assert_cases(vec![
        ("SETTINGS with ACK and a payload", "6.5", frame(SETTINGS, ACK, 0, &setting(4, 1)), BROKEN),
        ("SETTINGS of 5 octets", "6.5", frame(SETTINGS, 0, 0, b"12345"), BROKEN),
        ("SETTINGS on a stream", "6.5", frame(SETTINGS, 0, 1, b""), BROKEN),
        (
            "a window that is too large",
            "6.5.2",
            frame(SETTINGS, 0, 0, &setting(4, 1 << 31)),
            BROKEN,
        ),
        ("frames that are too small", "6.5.2", frame(SETTINGS, 0, 0, &setting(5, 1)), BROKEN),
        (
            "a push that is neither on nor off",
            "6.5.2",
            frame(SETTINGS, 0, 0, &setting(2, 2)),
            BROKEN,
        ),
        ("an unknown setting", "6.5.2", then(frame(SETTINGS, 0, 0, &setting(0xfff0, 1))), SERVED),
        (
            "ACK that nobody asked for",
            "6.5.3",
            then(frame(SETTINGS, ACK, 0, b"").repeat(2)),
            BROKEN,
        ),
        ("WINDOW_UPDATE by 0", "6.9", update(0, 0), BROKEN),
        ("WINDOW_UPDATE by 0 on a stream", "6.9", [open(), update(1, 0)].concat(), BROKEN),
        (
            "WINDOW_UPDATE beyond all",
            "6.9.1",
            update(0, 0x7fff_ffff),
            Fate::GoAway(FLOW_CONTROL_ERROR),
        ),
        (
            "WINDOW_UPDATE beyond all on a stream",
            "6.9.1",
            [open(), update(1, 0x7fff_ffff)].concat(),
            Fate::Reset(FLOW_CONTROL_ERROR),
        ),
        ("WINDOW_UPDATE on an idle stream", "5.1", update(5, 1), BROKEN),
        ("WINDOW_UPDATE of 3 octets", "6.9", frame(WINDOW_UPDATE, 0, 0, b"123"), BROKEN),
        ("PING of 7 octets", "6.7", frame(PING, 0, 0, b"1234567"), BROKEN),
        ("PING on a stream", "6.7", frame(PING, 0, 1, b"12345678"), BROKEN),
        ("GOAWAY on a stream", "6.8", frame(GOAWAY, 0, 1, &[0; 8]), BROKEN),
        ("a frame of an unknown type", "5.5", then(frame(0xfa, 0xff, 0, b"any")), SERVED),
        (
            "a frame of an unknown type on a stream",
            "5.5",
            then(frame(0xfa, 0xff, 7, b"any")),
            SERVED,
        ),
        ("unknown flags", "4.1", then(frame(PING, 0xfe, 0, b"12345678")), SERVED),
        (
            "another protocol",
            "3.4",
            b"GET / HTTP/1.1\r\nHost: site.example\r\n\r\n".to_vec(),
            Fate::GoAway(FRAME_SIZE_ERROR),
        ),
    ]);
}

#[test]
fn h119_a_preface_that_is_none_ends_the_connection() {
    let origin = Origin::plain();
    let (beadle, port) = start(&origin);
    for preface in [
        &b"GET /x HTTP/1.1\r\nHost: site.example\r\n\r\n"[..],
        b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n\0\0\0\x04\0\0\0\0\0",
        b"PRI * HTTP/1.1\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0",
    ] {
        let mut connection = Connection::silent(port);
        connection.write(preface);
        connection.end();
    }
    assert!(origin.received().is_empty());
    beadle.assert_healthy("prefaces");
}

#[test]
fn rfc9113_8_2_3_cookies_reach_the_origin_as_one_field() {
    let origin = Origin::plain();
    let (_beadle, port) = start(&origin);
    for (sent, received) in [
        (&["a=b"][..], "a=b"),
        (&["a=b", "c=d", "e=\u{66}; g=h"], "a=b; c=d; e=f; g=h"),
        (&["a=b", ""], "a=b; "),
    ] {
        let fields: Vec<_> = sent.iter().map(|crumb| ("cookie", *crumb)).collect();
        assert_eq!(Connection::connect(port).fate(&added(&fields), true), SERVED);
        let all: Vec<_> = origin.last().all("cookie").into_iter().map(str::to_owned).collect();
        assert_eq!(all, [received.trim()], "{sent:?}");
    }
}

#[test]
fn h126_a_crawler_hides_in_no_crowd_of_fields() {
    let origin = Origin::plain();
    let (beadle, port) = start(&origin);
    for at in [0, 40, 89] {
        let mut fields = request("GET", "/private/x");
        for number in 0..90 {
            let value = if number == at { "BadBot/1.0" } else { "Mozilla/5.0" };
            fields.push((b"user-agent".to_vec(), value.into()));
        }
        let fate = Connection::connect(port).fate(&headers(1, END_STREAM, &fields), true);
        assert_eq!(fate, Fate::Status(403), "the name is field {at}");
        let mut plain = fields
            .iter()
            .skip(4)
            .fold(Request::get("/private/x"), |request, (_, v)| request.field("User-Agent", v));
        plain = plain.field("X", "y");
        assert_eq!(plain.send(beadle.port).status, 403, "the name is field {at}");
    }
    // More fields than a request may have.
    let mut fields = request("GET", "/x");
    fields.extend(vec![(b"user-agent".to_vec(), b"Mozilla/5.0".to_vec()); 200]);
    let fate = Connection::connect(port).fate(&headers(1, END_STREAM, &fields), true);
    let plain = fields
        .iter()
        .skip(4)
        .fold(Request::get("/x"), |request, (_, value)| request.field("User-Agent", value));
    assert_eq!(fate, Fate::Status(plain.send(beadle.port).status));
    assert!(origin.received().is_empty());
}

#[test]
fn answers_keep_their_shape() {
    let origin = Origin::playing(|exchange| {
        exchange.read_body();
        let target = String::from_utf8_lossy(&exchange.request.target).into_owned();
        exchange.write(match &*target {
            "/interim" => {
                b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
            }
            "/204" => b"HTTP/1.1 204 No Content\r\n\r\n",
            "/304" => b"HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n",
            "/trailers" => {
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n"
            }
            _ if exchange.request.method == "HEAD" => b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n",
            _ => b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        });
        After::Keep
    });
    let (_beadle, port) = start(&origin);
    // On streams of one connection.
    let mut connection = Connection::connect(port);
    let cases = [
        ("GET", "/", 200, "ok"),
        ("HEAD", "/", 200, ""),
        ("GET", "/204", 204, ""),
        ("GET", "/304", 304, ""),
        ("GET", "/interim", 200, "ok"),
        ("GET", "/trailers", 200, "ok"),
    ];
    for (number, (method, path, status, body)) in cases.into_iter().enumerate() {
        let stream = u32::try_from(2 * number + 1).expect("a small number");
        connection.write(&headers(stream, END_STREAM, &request(method, path)));
        let answer = connection.answer(stream);
        assert_eq!((answer.status, answer.reset), (Some(status), None), "{method} {path}");
        assert_eq!(String::from_utf8_lossy(&answer.body), body, "{method} {path}");
        let interim = if path == "/interim" { vec![103] } else { vec![] };
        // pingora reads no trailers of HTTP/1.
        assert_eq!((answer.interim, answer.has_trailers), (interim, false), "{method} {path}");
    }
}

#[test]
fn a_drain_says_goaway_and_lets_the_request_in_progress_end() {
    let (origin, go) = Origin::held();
    let (mut beadle, port) = start(&origin);
    let mut connection = Connection::connect(port);
    connection.write(&get(1, "/x"));
    origin.wait_for_requests(1);
    beadle.signal("TERM");
    loop {
        let frame = connection.next().expect("GOAWAY before the end");
        if frame.kind == GOAWAY {
            assert_eq!(&frame.payload[4..8], [0; 4], "no error");
            break;
        }
    }
    go.send(()).expect("the origin listens");
    let answer = connection.answer(1);
    assert_eq!((answer.status, &answer.body[..]), (Some(200), &b"late"[..]));
    connection.end();
    assert!(beadle.wait().0.success());
}

#[test]
fn both_protocols_on_one_listener() {
    let origin = Origin::plain();
    let (_beadle, port) = start(&origin);
    let mut client = Client::connect_tls(port);
    assert_eq!(Request::get("/x").send_over(&mut client).status, 200);
    assert_eq!(Connection::connect(port).fate(&get(1, "/x"), true), SERVED);
    let via: Vec<_> =
        origin.received().iter().map(|one| one.header("via").map(str::to_owned)).collect();
    assert_eq!(via, [Some("1.1 beadle".to_owned()), Some("2.0 beadle".to_owned())]);
    assert_eq!(origin.last().header("x-forwarded-proto"), Some("https"));
    assert_eq!(origin.last().header("host"), Some("site.example"));
}
