//! Transparency: allowed requests and their answers pass byte for byte, except for some headers.
//! The origin is nginx, or one that does what nginx does not.

use std::{
    io::{Read, Write},
    net::TcpListener,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use crate::support::{
    client::{Client, Request, Response},
    nginx::Nginx,
    origin::{After, Origin},
    program::{Beadle, Setup},
    shown, wait_for,
};

const RULES: &str = "
    robots_txt: { groups: [{ user_agents: [\"*\"], disallow: [/private/] }] }
    enforcement: { mode: block }
";

const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0";

fn before(port: u16) -> Beadle {
    Setup::site(port, RULES).start()
}

/// Random bytes, so that no mistake can hide behind a pattern.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

/// The fields that must pass: all but the connection's and the date.
fn fields(answer: &Response) -> Vec<(String, String)> {
    let ours = ["connection", "keep-alive", "date", "transfer-encoding"];
    let mut fields: Vec<_> =
        answer.headers.iter().filter(|(name, _)| !ours.contains(&name.as_str())).cloned().collect();
    fields.sort();
    fields
}

#[test]
fn nginx_files_come_through_as_they_are() {
    let Some(nginx) = Nginx::start() else { return };
    nginx.put("/index.html", b"<p>hello</p>");
    nginx.put("/empty.txt", b"");
    nginx.put("/text.txt", &"compressible text\n".repeat(2_000).into_bytes());
    nginx.put("/picture.png", &noise(200_000));
    nginx.put("/with space/\u{e4}.txt", b"x");
    let beadle = before(nginx.port);
    let (mut direct, mut proxied) = (Client::connect(nginx.port), Client::connect(beadle.port));
    let full = Request::get("/picture.png").send_over(&mut direct);
    let etag = full.header("etag").expect("nginx sends one").to_owned();
    for round in 0..20 {
        for (method, target, more) in [
            ("GET", "/", &[][..]),
            ("GET", "/index.html?a=b&c", &[]),
            ("HEAD", "/picture.png", &[]),
            ("GET", "/empty.txt", &[]),
            ("GET", "/text.txt", &[("Accept-Encoding", "identity")]),
            ("GET", "/text.txt", &[("Accept-Encoding", "gzip")]),
            ("GET", "/picture.png", &[("Range", "bytes=100-199")]),
            ("GET", "/picture.png", &[("Range", "bytes=-5")]),
            ("GET", "/picture.png", &[("Range", "bytes=0-9,20-29")]),
            ("GET", "/picture.png", &[("Range", "bytes=999999-")]),
            ("GET", "/picture.png", &[("If-None-Match", etag.as_str())]),
            ("HEAD", "/text.txt", &[("Accept-Encoding", "gzip")]),
            ("GET", "/with%20space/%C3%A4.txt", &[]),
            ("GET", "/moved", &[]),
            ("GET", "/nothing", &[]),
            ("GET", "/missing", &[]),
            ("POST", "/index.html", &[]),
            ("DELETE", "/index.html", &[]),
        ] {
            let request = more.iter().fold(
                Request::new(method, target).user_agent(BROWSER),
                |request, (name, value)| request.field(name, value),
            );
            let what = format!("{method} {target} {more:?}, round {round}");
            let (mut expected, mut answer) =
                (request.send_over(&mut direct), request.send_over(&mut proxied));
            assert_eq!(answer.status, expected.status, "{what}");
            // The boundary between ranges changes each time.
            let boundary = |answer: &Response| {
                let kind = answer.header("content-type").unwrap_or_default().to_owned();
                kind.split_once("boundary=").map(|(_, boundary)| boundary.to_owned())
            };
            if let (Some(theirs), Some(ours)) = (boundary(&expected), boundary(&answer)) {
                for (answer, boundary) in [(&mut expected, theirs), (&mut answer, ours)] {
                    let text = answer.body.escape_ascii().to_string();
                    answer.body = text.replace(&boundary, "boundary").into_bytes();
                    for (_, value) in &mut answer.headers {
                        *value = value.replace(&boundary, "boundary");
                    }
                }
            }
            assert!(answer.body == expected.body, "{what}: {} bytes", answer.body.len());
            assert_eq!(fields(&answer), fields(&expected), "{what}");
            assert!(answer.keeps_alive(), "{what}");
        }
    }
}

#[test]
fn nginx_a_hundred_megabytes_stream_through_unbuffered() {
    let Some(nginx) = Nginx::start() else { return };
    let part = noise(1 << 20);
    let whole: Vec<u8> = part.iter().copied().cycle().take(100 << 20).collect();
    nginx.put("/large.bin", &whole);
    let beadle = before(nginx.port);
    let mut client = Client::connect(beadle.port);
    client.write(&Request::get("/large.bin").user_agent(BROWSER).bytes());
    let head = client.head().expect("an answer");
    assert_eq!(head.header("content-length"), Some((100 << 20).to_string().as_str()));
    let mut rest = whole.as_slice();
    while !rest.is_empty() {
        let some = client.some().expect("more bytes");
        assert!(!some.is_empty(), "{} bytes are missing", rest.len());
        assert!(rest.starts_with(&some), "other bytes {} before the end", rest.len());
        rest = &rest[some.len()..];
    }
    // The connection can be used again.
    assert_eq!(Request::get("/missing").send_over(&mut client).status, 404);
    let status = std::fs::read_to_string(format!("/proc/{}/status", beadle.pid()));
    let peak = status.expect("it runs").lines().find_map(|line| {
        line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok()
    });
    assert!(peak.is_some_and(|kib| kib < 96 << 10), "{peak:?} KiB at the most");
}

#[test]
fn nginx_a_slow_answer_begins_before_it_ends() {
    let Some(nginx) = Nginx::start() else { return };
    let body = noise(40_000);
    nginx.put("/slow/file.bin", &body);
    let beadle = before(nginx.port);
    let started = Instant::now();
    let mut client = Client::connect(beadle.port);
    client.write(&Request::get("/slow/file.bin").user_agent(BROWSER).bytes());
    client.head().expect("an answer");
    let first = client.take(1).expect("a byte");
    let first_after = started.elapsed();
    let rest = client.take(body.len() - 1).expect("the rest");
    let last_after = started.elapsed();
    assert!([first, rest].concat() == body);
    assert!(
        last_after > first_after + Duration::from_millis(300),
        "{first_after:?} {last_after:?}"
    );
}

#[test]
fn o142_each_piece_goes_on_as_soon_as_it_comes() {
    let said = Arc::new(AtomicBool::new(false));
    let heard = Arc::clone(&said);
    let origin = Origin::playing(move |exchange| {
        exchange.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
        );
        exchange.write(b"6\r\nfirst\n\r\n");
        wait_for("the client", || heard.load(Ordering::Acquire).then_some(()));
        exchange.write(b"5\r\nlast\n\r\n0\r\n\r\n");
        After::Keep
    });
    let beadle = before(origin.port);
    let mut client = Client::connect(beadle.port);
    client.write(&Request::get("/events").user_agent(BROWSER).bytes());
    let head = client.head().expect("an answer");
    assert_eq!(head.header("content-type"), Some("text/event-stream"));
    let first = client.until(b"first\n").expect("the first piece");
    assert!(first.ends_with(b"first\n"));
    said.store(true, Ordering::Release);
    client.until(b"last\n").expect("the last piece");
}

#[test]
fn uploads_reach_the_origin_as_they_are() {
    let origin = Origin::plain();
    let beadle = before(origin.port);
    let body = noise(300_000);
    let mut client = Client::connect(beadle.port);
    Request::new("PUT", "/upload").body(&body).send_over(&mut client);
    assert!(origin.last().body == body, "with a length");
    let mut chunked = Request::new("POST", "/upload").field("Transfer-Encoding", "chunked").bytes();
    for piece in body.chunks(70_001) {
        write!(chunked, "{:x}\r\n", piece.len()).expect("memory takes all");
        chunked.extend_from_slice(piece);
        chunked.extend_from_slice(b"\r\n");
    }
    chunked.extend_from_slice(b"0\r\n\r\n");
    client.write(&chunked);
    assert_eq!(client.response("POST").expect("an answer").status, 200);
    assert!(origin.last().body == body, "in chunks");
    let request = Request::new("POST", "/form")
        .field("Content-Type", "application/x-www-form-urlencoded")
        .field("Cookie", "a=1; b=2")
        .field("Authorization", "Basic eDp5")
        .field("Accept-Language", "de")
        .field("X-Twice", "1")
        .field("X-Twice", "2")
        .body("a=1&b=2");
    request.send_over(&mut client);
    let received = origin.last();
    for (name, values) in [
        ("content-type", &["application/x-www-form-urlencoded"][..]),
        ("cookie", &["a=1; b=2"]),
        ("authorization", &["Basic eDp5"]),
        ("accept-language", &["de"]),
        ("x-twice", &["1", "2"]),
        ("host", &["site.example"]),
    ] {
        assert_eq!(received.all(name), values, "{name}");
    }
    assert_eq!(received.body, b"a=1&b=2");
}

#[test]
fn a_client_that_waits_for_100_gets_the_origins_100() {
    let origin = Origin::playing(|exchange| {
        exchange.write(b"HTTP/1.1 100 Continue\r\n\r\n");
        exchange.read_body();
        let body = exchange.request.body.clone();
        exchange.answer("200 OK", &[], &body);
        After::Keep
    });
    let beadle = before(origin.port);
    let mut client = Client::connect(beadle.port);
    client.write(
        &Request::new("POST", "/x")
            .field("Expect", "100-continue")
            .field("Content-Length", "5")
            .bytes(),
    );
    assert!(client.until(b"\r\n\r\n").expect("an interim answer").starts_with(b"HTTP/1.1 100"));
    client.write(b"hello");
    assert_eq!(client.response("POST").expect("an answer").text(), "hello");
}

#[test]
fn a_websocket_passes_bytes_both_ways() {
    let origin = Origin::playing(|exchange| {
        assert_eq!(exchange.request.header("upgrade"), Some("websocket"));
        assert_eq!(exchange.request.header("sec-websocket-key"), Some("dGhlIHNhbXBsZSBub25jZQ=="));
        let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\
                    Connection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
        exchange.write(head.as_bytes());
        exchange.echo();
        After::Close
    });
    let beadle = before(origin.port);
    // Many times: pingora 0.9.1 may end a tunnel whose 101 comes fast (its issue 946).
    for round in 0..50 {
        let mut client = Client::connect(beadle.port);
        let request = Request::get("/socket")
            .user_agent(BROWSER)
            .field("Connection", "Upgrade")
            .field("Upgrade", "websocket")
            .field("Sec-WebSocket-Version", "13")
            .field("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==");
        let answer = request.send_over(&mut client);
        assert_eq!(answer.status, 101, "round {round}");
        assert!(answer.has("upgrade", "websocket"));
        assert_eq!(answer.header("sec-websocket-accept"), Some("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
        for message in
            [&b"\x81\x85abcd\x09\x07\x0f\x08\x0e"[..], b"\x00\xff GET / HTTP/1.1\r\n\r\n"]
        {
            client.write(message);
            assert_eq!(client.take(message.len()).expect("an echo"), message);
        }
        let large = noise(if round == 0 { 200_000 } else { 0 });
        for piece in large.chunks(10_000) {
            client.write(piece);
            assert!(client.take(piece.len()).expect("an echo") == piece);
        }
    }
}

/// The port of a server that answers a TLS handshake in plain text.
fn without_tls() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port is free");
    let port = listener.local_addr().expect("it listens").port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            // The client may be gone already.
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        }
    });
    port
}

#[test]
fn o137_a_failing_origin_gets_an_error_page_and_rules_still_apply() {
    let site = |origin: &str| format!("  - hosts: [site.example]\n    origin: {origin}\n{RULES}");
    let closing = Origin::playing(|_| After::Close);
    let silent = Origin::playing(|exchange| {
        exchange.echo();
        After::Close
    });
    let garbage = Origin::answering("SSH-2.0-OpenSSH_9.2p1\r\n\r\n");
    let own_error = Origin::answering("HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy");
    let at = |port: u16| format!("http://127.0.0.1:{port}");
    for (origin, status, text) in [
        (at(Origin::absent()), 502, "can't be reached"),
        (at(closing.port), 502, "can't be reached"),
        (at(garbage.port), 502, "can't be reached"),
        (at(silent.port), 504, "took too long"),
        (format!("https://127.0.0.1:{}", without_tls()), 502, "can't be reached"),
        ("http://nowhere.invalid:3000".to_owned(), 503, "no known address"),
        (at(own_error.port), 503, "busy"),
    ] {
        let beadle = Setup::sites(&site(&origin))
            .server("  timeouts: { origin_read: 1s, origin_connect: 1s }\n")
            .start();
        let started = Instant::now();
        let answer = beadle.get("/page", BROWSER);
        assert!(started.elapsed() < Duration::from_secs(3), "{origin}: {:?}", started.elapsed());
        assert_eq!(answer.status, status, "{origin}");
        assert!(answer.text().contains(text), "{origin}: {}", answer.text());
        let ours = text != "busy";
        assert_eq!(answer.header("cache-control"), ours.then_some("no-store"), "{origin}");
        let failures = if ours { 1.0 } else { 0.0 };
        assert_eq!(
            beadle.metric("beadle_origin_failures_total{site=\"site.example\"}"),
            failures,
            "{origin}"
        );
        assert_eq!(beadle.get("/private/x", "BadBot/1.0").status, 403, "{origin}");
        assert_eq!(beadle.get("/robots.txt", BROWSER).status, 200, "{origin}");
    }
}

#[test]
fn o138_a_truncated_answer_stays_truncated() {
    for answer in [
        "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n",
    ] {
        let origin = Origin::playing(move |exchange| {
            exchange.write(answer.as_bytes());
            After::Close
        });
        let beadle = before(origin.port);
        let mut client = Client::connect(beadle.port);
        client.write(&Request::get("/x").user_agent(BROWSER).bytes());
        let response = client.response("GET");
        assert!(
            response.as_ref().map_or(true, |response| response.status >= 500),
            "{answer}: {response:?}"
        );
    }
}

#[test]
fn o139_ambiguous_answers_reach_no_other_client() {
    // Each comes over a kept connection, followed by a second answer.
    let poison = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison";
    let hints = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".repeat(1_000);
    let hints = format!("{hints}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    let large =
        format!("HTTP/1.1 200 OK\r\nX: {}\r\nContent-Length: 2\r\n\r\nok", "x".repeat(2 << 20));
    for answer in [
        hints.as_str(),
        large.as_str(),
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        "HTTP/1.1 99 Low\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 1000 High\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 204 No Content\r\n\r\n",
        "HTTP/1.1 304 Not Modified\r\n\r\n",
        "HTTP/1.1 abc\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 2\r\n\r\nok",
    ] {
        let (what, answer) = (shown(answer.as_bytes()), answer.to_owned());
        let origin = Origin::playing(move |exchange| {
            if exchange.request.target == b"/bad" {
                exchange.write(format!("{answer}{poison}").as_bytes());
            } else {
                exchange.answer("200 OK", &[], b"good");
            }
            After::Keep
        });
        let beadle = before(origin.port);
        for _ in 0..3 {
            let mut client = Client::connect(beadle.port);
            client.write(&Request::get("/bad").user_agent(BROWSER).bytes());
            if let Ok(response) = client.response("GET") {
                assert!(!response.text().contains("poison"), "{what}: {}", response.text());
            }
            let next = Request::get("/good").user_agent(BROWSER).send(beadle.port);
            assert_eq!(next.text(), "good", "{what}");
        }
    }
}

#[test]
fn o137_a_pooled_connection_that_the_origin_has_closed_fails_no_request() {
    let origin = Origin::playing(|exchange| {
        exchange.read_body();
        exchange.answer("200 OK", &[], b"once");
        // A silent close, though the answer said keep-alive.
        After::Close
    });
    let beadle = before(origin.port);
    let mut client = Client::connect(beadle.port);
    for round in 0..30 {
        let answer = Request::get("/x").user_agent(BROWSER).send_over(&mut client);
        assert_eq!(answer.status, 200, "round {round}");
    }
    assert_eq!(origin.received().len(), 30, "and none is sent twice");
}

#[test]
fn an_origin_is_found_by_name() {
    let origin = Origin::plain();
    let site =
        format!("  - hosts: [site.example]\n    origin: http://localhost:{}\n{RULES}", origin.port);
    let beadle = Setup::sites(&site).start();
    for _ in 0..4 {
        let answer = beadle.get("/x", BROWSER);
        assert_eq!((answer.status, answer.text().as_str()), (200, "origin: /x"));
    }
}
