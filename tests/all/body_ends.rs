//! Each body ends once, in the octets that the other side reads. An end too many would be the begin of
//! somebody else's next message.

use std::{
    io::{Read as _, Write as _},
    net::{Ipv4Addr, TcpListener},
    sync::mpsc,
    thread,
};

use crate::support::{
    PATIENCE,
    client::{Client, Request},
    frames::{Connection, DATA, END_STREAM, PADDED, frame, get, headers, request},
    origin::{After, Origin},
    program::{Beadle, Setup},
    shown,
};

/// An origin that answers each request head, and hands on the octets of its connections, as they are.
/// A body is read as part of the next request.
fn recording() -> (u16, mpsc::Receiver<Vec<u8>>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    let (sender, octets) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, sender) = (stream.expect("a connection"), sender.clone());
            thread::spawn(move || {
                let (mut piece, mut request) = ([0; 4096], Vec::new());
                while let Ok(length @ 1..) = stream.read(&mut piece) {
                    request.extend_from_slice(&piece[..length]);
                    if sender.send(piece[..length].to_vec()).is_err() {
                        return;
                    }
                    // The answer to a POST waits for the end of its body.
                    let is_get = request.starts_with(b"GET ") && request.ends_with(b"\r\n\r\n");
                    if is_get || request.ends_with(b"\r\n0\r\n\r\n") {
                        request.clear();
                        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
                    }
                }
            });
        }
    });
    (port, octets)
}

fn started(origin: u16) -> (Beadle, u16) {
    let (setup, port) = Setup::site(origin, "").tls_listener();
    (setup.start(), port)
}

#[test]
fn rfc9112_7_1_a_request_body_over_http_2_ends_once() {
    let (origin, octets) = recording();
    let (_beadle, port) = started(origin);
    let data = |flags, text: &[u8]| frame(DATA, flags, 1, text);
    let trailers = headers(1, END_STREAM, &[(b"x-sum".to_vec(), b"1".to_vec())]);
    let cases: [(&str, Vec<u8>, &[u8]); 6] = [
        ("the last part", data(END_STREAM, b"x"), b"1\r\nx\r\n0\r\n\r\n"),
        ("an empty part", [data(0, b"x"), data(END_STREAM, b"")].concat(), b"1\r\nx\r\n0\r\n\r\n"),
        (
            "empty parts",
            [data(0, b"x"), data(0, b""), data(0, b""), data(END_STREAM, b"")].concat(),
            b"1\r\nx\r\n0\r\n\r\n",
        ),
        (
            "a part of padding",
            [data(0, b"x"), data(END_STREAM | PADDED, b"\x02\0\0")].concat(),
            b"1\r\nx\r\n0\r\n\r\n",
        ),
        ("trailers", [data(0, b"x"), trailers].concat(), b"1\r\nx\r\n0\r\n\r\n"),
        ("an empty body", data(END_STREAM, b""), b"0\r\n\r\n"),
    ];
    for (name, parts, expected) in cases {
        let mut connection = Connection::connect(port);
        let post = headers(1, 0, &request("POST", "/up"));
        connection.write(&[post, parts].concat());
        assert_eq!(connection.answer(1).status, Some(200), "{name}");
        connection.write(&get(3, "/next"));
        assert_eq!(connection.answer(3).status, Some(200), "{name}");
        let mut seen = Vec::new();
        while !seen.windows(9).any(|part| part == b"GET /next") {
            seen.extend(octets.recv_timeout(PATIENCE).expect("the next request"));
        }
        let start = seen.windows(4).position(|part| part == b"\r\n\r\n").expect("a head") + 4;
        let end = seen.windows(9).position(|part| part == b"GET /next").expect("the next request");
        assert_eq!(shown(&seen[start..end]), shown(expected), "{name}");
    }
}

#[test]
fn rfc9112_7_1_a_response_body_ends_once() {
    let origin = Origin::playing(|exchange| {
        exchange.read_body();
        let end: &[&[u8]] = match exchange.request.target.as_slice() {
            b"/together" => &[b"1\r\nx\r\n0\r\n\r\n"],
            b"/apart" => &[b"1\r\nx\r\n", b"0\r\n\r\n"],
            b"/split" => &[b"1\r\nx\r\n0", b"\r\n", b"\r\n"],
            b"/trailers" => &[b"1\r\nx\r\n", b"0\r\nX-Sum: 1\r\n\r\n"],
            _ => &[b"0\r\n\r\n"],
        };
        exchange.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        for part in end {
            exchange.write(part);
            // The proxy reads the parts one after the other.
            thread::sleep(std::time::Duration::from_millis(20));
        }
        After::Keep
    });
    let (beadle, port) = started(origin.port);
    for (target, body) in
        [("/together", "x"), ("/apart", "x"), ("/split", "x"), ("/trailers", "x"), ("/empty", "")]
    {
        // What follows the last chunk is the next answer.
        let mut client = Client::connect(beadle.port);
        for _ in 0..2 {
            let response = Request::get(target).send_over(&mut client);
            assert_eq!((response.status, response.text().as_str()), (200, body), "{target}");
        }
        client.finish();
        assert_eq!(shown(&client.rest()), "", "{target}");
        let mut connection = Connection::connect(port);
        for stream in [1, 3] {
            connection.write(&get(stream, target));
            let answer = connection.answer(stream);
            assert_eq!((answer.status, &*answer.body), (Some(200), body.as_bytes()), "{target}");
            assert!(answer.has_ended, "{target}");
        }
    }
}
