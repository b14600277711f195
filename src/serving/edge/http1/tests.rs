//! Octets in, octets out: what passes, in any pieces, and what is refused.

use proptest::prelude::*;

use super::*;
use crate::serving::edge::phase::{Connections, Phase};

const BOUNDS: Bounds = Bounds { octets: 1 << 20, fields: 100 };

/// What pingora reads when the pieces come one by one, into a buffer with this much room.
fn screened(pieces: &[&[u8]], room: usize) -> (Vec<u8>, bool) {
    let mut lines = Lines::new(BOUNDS);
    let mut passed = Vec::new();
    for piece in pieces.iter().flat_map(|piece| piece.chunks(room)) {
        let mut space = vec![0; room];
        let mut buffer = ReadBuf::new(&mut space);
        buffer.put_slice(piece);
        let fault = lines.screen(&mut buffer, 0);
        if fault.is_some() {
            match lines.reader.is_in_head() {
                true => lines.end_quietly(),
                false => lines.end_broken(),
            }
        }
        passed.extend_from_slice(buffer.filled());
        while !lines.ready.is_empty() {
            let mut buffer = ReadBuf::new(&mut space);
            lines.give(&mut buffer);
            passed.extend_from_slice(buffer.filled());
        }
        if fault.is_some() {
            return (passed, true);
        }
    }
    (passed, false)
}

/// The octets that pass; `None` if they are refused.
fn passes(bytes: &[u8]) -> Option<Vec<u8>> {
    let (passed, is_refused) = screened(&[bytes], bytes.len().max(1));
    (!is_refused).then_some(passed)
}

fn get(target: &[u8]) -> Vec<u8> {
    [b"GET ", target, b" HTTP/1.1\r\nHost: a\r\n\r\n"].concat()
}

#[test]
fn a_target_reaches_the_parser_as_one_that_it_takes() {
    for (target, expected) in [
        (&b"/a?b=c&d=%2f;e,f"[..], &b"/a?b=c&d=%2f;e,f"[..]),
        (b"/{a}|b^c\\d[e]", b"/{a}|b^c\\d[e]"),
        (b"/x?f={\"a\":1}", b"/x?f={%22a%22:1}"),
        (b"/<a>`b`", b"/%3Ca%3E%60b%60"),
        (b"/caf\xe9", b"/caf%E9"),
        (b"/caf\xc3\xa9", b"/caf%C3%A9"),
        (b"/a b", b"/a%20b"),
        (b"/a HTTP/1.1", b"/a%20HTTP/1.1"),
        (b"/a HTTP/1.0 ", b"/a%20HTTP/1.0%20"),
    ] {
        assert_eq!(passes(&get(target)), Some(get(expected)), "{}", target.escape_ascii());
    }
    for control in (0..b' ').chain([0x7f]) {
        assert_eq!(passes(&get(&[b'/', control])), None, "{control:#x}");
    }
}

#[test]
fn rfc9112_3_request_lines_are_strict() {
    for line in [
        "GET /",
        "GET / HTTP/0.9",
        "GET / HTTP/1.2",
        "GET / HTTP/2.0",
        "GET / HTTP/1.1x",
        "GET / HTTP/1.1 ",
        "GET / http/1.1",
        "GET\t/ HTTP/1.1",
        " GET / HTTP/1.1",
        "G(T / HTTP/1.1",
        "GET",
        "\n\nGET / HTTP/1.1",
        "\r\rGET / HTTP/1.1",
        "GET / HTTP/1.1\nX: y",
        "GET / HTTP/1.1\rX: y",
    ] {
        assert_eq!(passes(format!("{line}\r\nHost: a\r\n\r\n").as_bytes()), None, "{line:?}");
    }
    for line in ["M-SEARCH * HTTP/1.1", "GET / HTTP/1.0", "\r\n\r\nGET / HTTP/1.1"] {
        let head = format!("{line}\r\nHost: a\r\n\r\n").into_bytes();
        assert_eq!(passes(&head), Some(head), "{line:?}");
    }
}

#[test]
fn only_a_request_that_reads_may_have_a_fragment() {
    for method in ["GET", "HEAD"] {
        let head = format!("{method} /a/#b HTTP/1.1\r\nHost: a\r\n\r\n").into_bytes();
        assert_eq!(passes(&head), Some(head), "{method}");
    }
    for method in ["DELETE", "POST", "PURGE", "XGET", "GETGET", "XXXXXXXXGET", "get"] {
        for target in ["/a/#b", "#", "http://a/b/#c"] {
            let line = format!("{method} {target} HTTP/1.1\r\nHost: a\r\n\r\n");
            assert_eq!(passes(line.as_bytes()), None, "{line}");
        }
        let head = format!("{method} /a/%23b HTTP/1.1\r\nHost: a\r\n\r\n").into_bytes();
        assert_eq!(passes(&head), Some(head), "{method}");
    }
}

#[test]
fn rfc9112_5_field_lines_are_strict() {
    let head = |line: &[u8]| [b"GET / HTTP/1.1\r\n", line, b"\r\n\r\n"].concat();
    for line in [
        &b"X: y\nY: z"[..],
        b"X: y\rY: z",
        b"X: y\0z",
        b"X: y\x01",
        b"X: y\x7f",
        b"X\0: y",
        b": y",
        b"X : y",
        b"X\t: y",
        b"X Y: z",
        b"X(: y",
        b"X\xe9: y",
        b"no colon",
        b" X: y",
        b"X: y\r\n folded",
        b"X: y\r\n\n",
        b"X: y\r\n\rX",
        b"Content-Length: 5, 6",
        b"content-LENGTH: +5",
    ] {
        assert_eq!(passes(&head(line)), None, "{}", line.escape_ascii());
    }
    for line in [&b"X:y"[..], b"X:", b"X: \t y\t", b"X_Y!: \xff\"()<>", b"Content-Length: 0, 0"] {
        assert_eq!(passes(&head(line)), Some(head(line)), "{}", line.escape_ascii());
    }
}

#[test]
fn rfc9112_7_1_chunks_are_strict() {
    let post = |body: &str| {
        format!("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{body}").into_bytes()
    };
    for body in [
        "0x5\r\nhello\r\n0\r\n\r\n",
        "+5\r\nhello\r\n0\r\n\r\n",
        " 5\r\nhello\r\n0\r\n\r\n",
        "5 \r\nhello\r\n0\r\n\r\n",
        "5\t\r\nhello\r\n0\r\n\r\n",
        "5\nhello\r\n0\r\n\r\n",
        "5\rhello\r\n0\r\n\r\n",
        "5\r\nhello\n0\r\n\r\n",
        "5\r\nhelloX\r\n0\r\n\r\n",
        "5\r\nhello0\r\n\r\n",
        "\r\nhello\r\n0\r\n\r\n",
        ";x\r\n\r\n",
        "5;a\nb\r\nhello\r\n0\r\n\r\n",
        "5;a\0\r\nhello\r\n0\r\n\r\n",
        "10000000000000000\r\n",
        "5\r\nhello\r\n0\n\n",
        "5\r\nhello\r\n0\r\n\n",
        "5\r\nhello\r\n0\r\nX : y\r\n\r\n",
        "5\r\nhello\r\n0\r\nX: y\n\r\n",
    ] {
        assert_eq!(passes(&post(body)), None, "{body:?}");
    }
    for body in [
        "5\r\nhello\r\n0\r\n\r\n",
        "05;a;b=\"c\"\r\nhello\r\n00\r\n\r\n",
        "5 ;a\r\nhello\r\n0;b\r\nX: y\r\n\r\n",
        "A\r\n\r\n\r\n\n\n\0\0ab\r\na\r\n0123456789\r\n0\r\n\r\n",
        "FFFFFFFFFFFFFFFF\r\nto be continued",
    ] {
        assert_eq!(passes(&post(body)), Some(post(body)), "{body:?}");
    }
}

#[test]
fn what_a_refused_head_leaves_is_no_request() {
    let (passed, is_refused) = screened(&[b"GET /x HTTP/1.1\r\nX: y\nY: z\r\n\r\n"], 4096);
    assert!(is_refused);
    assert_eq!(passed, b"GET /x HTTP/1.1\r\nX: y\0");
}

#[test]
fn octets_after_a_request_for_another_protocol_wait_for_its_answer() {
    let upgrade = b"GET / HTTP/1.1\r\nUpgrade: x\r\n\r\n";
    let next = b"GET /\xe9 HTTP/1.1\r\n\r\n";
    for (has_switched, early, expected) in [
        (true, &b""[..], Some(&next[..])),
        (true, b"\x00early", Some(next)),
        (false, b"", Some(b"GET /%E9 HTTP/1.1\r\n\r\n")),
        (false, b"\x00early", None),
    ] {
        let (phase, mut reader) = (Phase::default(), Reader::new(BOUNDS));
        let (passed, step) = reader.step(&[upgrade, early].concat());
        assert_eq!((passed, step), (upgrade.len() + early.len(), Step::More));
        if has_switched {
            phase.switch(Connections::default().draining());
        }
        phase.end_request();
        reader.settle(phase.draining().is_some(), phase.ended());
        let outcome = match reader.step(next) {
            (passed, Step::More) => Some(next[..passed].to_vec()),
            (5, Step::Encode) => Some(b"GET /%E9 HTTP/1.1\r\n\r\n".to_vec()),
            _ => None,
        };
        assert_eq!(outcome.as_deref(), expected, "{has_switched} {}", early.escape_ascii());
    }
}

/// Requests of all framings; their bodies look like heads and chunks. Beside each request stands
/// the form in which it passes.
fn requests() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
    // A fragment is refused.
    let octet = prop_oneof![b' '..=b'"', b'$'..=b'~', 0x80..=0xff_u8];
    let target = proptest::collection::vec(octet, 0..12);
    let text = "GET / HTTP/1.1\r\n\r\n0\r\n\r\nPOST /\" HTTP/1.1\nContent-Length: 9\r\n\0";
    let body = proptest::collection::vec(0..text.len(), 0..3).prop_map(move |starts| {
        starts.into_iter().flat_map(|start| text.as_bytes()[start..].to_vec()).collect::<Vec<u8>>()
    });
    (target, body, 0..3_usize).prop_map(|(target, body, framing)| {
        let message = |target: &[u8]| {
            let mut bytes = [b"POST /", target, b" HTTP/1.1\r\nHost: a\r\n"].concat();
            match framing {
                0 => bytes.extend_from_slice(b"\r\n"),
                1 => {
                    let head = format!("CONTENT-length:{}\r\n\r\n", body.len());
                    bytes.extend_from_slice(head.as_bytes());
                    bytes.extend_from_slice(&body);
                }
                _ => {
                    bytes.extend_from_slice(b"Transfer-Encoding: Chunked\r\n\r\n");
                    for chunk in body.chunks(7) {
                        bytes.extend_from_slice(format!("{:x};a\r\n", chunk.len()).as_bytes());
                        bytes.extend_from_slice(chunk);
                        bytes.extend_from_slice(b"\r\n");
                    }
                    bytes.extend_from_slice(b"0\r\nX: y\r\n\r\n");
                }
            }
            bytes
        };
        let encoded: Vec<u8> = target
            .iter()
            .flat_map(|&octet| match octet {
                b' ' | b'"' | b'<' | b'>' | b'`' | 0x80.. => format!("%{octet:02X}").into_bytes(),
                _ => vec![octet],
            })
            .collect();
        (message(&target), message(&encoded))
    })
}

proptest! {
    #[test]
    fn requests_pass_in_any_pieces(
        requests in proptest::collection::vec(requests(), 1..5),
        sizes in proptest::collection::vec(1..40_usize, 1..20),
        room in 1..64_usize,
    ) {
        let sent: Vec<u8> = requests.iter().flat_map(|(sent, _)| sent.clone()).collect();
        let expected: Vec<u8> = requests.iter().flat_map(|(_, passed)| passed.clone()).collect();
        let mut pieces = Vec::new();
        let mut rest = &sent[..];
        for size in sizes.iter().cycle() {
            let (piece, after) = rest.split_at((*size).min(rest.len()));
            pieces.push(piece);
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
        prop_assert_eq!(screened(&pieces, room), (expected, false));
    }

    #[test]
    fn any_octets_have_one_reading_in_any_pieces(
        bytes in proptest::collection::vec(
            prop_oneof![
                Just(b"GET / HTTP/1.1\r\n".to_vec()),
                Just(b"Transfer-Encoding: chunked\r\n".to_vec()),
                Just(b"Content-Length: 3\r\n".to_vec()),
                Just(b"\r\n".to_vec()),
                Just(b"3\r\nabc\r\n".to_vec()),
                Just(b"0\r\n".to_vec()),
                Just(b" HTTP/1.".to_vec()),
                proptest::collection::vec(any::<u8>(), 1..3),
            ],
            0..12,
        ),
        room in 1..32_usize,
    ) {
        let bytes = bytes.concat();
        prop_assert_eq!(screened(&[&bytes], room), screened(&[&bytes], bytes.len().max(1)));
    }
}

#[test]
fn rfc6585_5_a_head_has_bounds() {
    let long = |line: usize, value: usize| {
        let (line, value) = ("a".repeat(line), "b".repeat(value));
        format!("GET /{line} HTTP/1.1\r\nHost: x\r\nA: {value}\r\n\r\n").into_bytes()
    };
    let many =
        |count| ["GET / HTTP/1.1\r\n", &"A: b\r\n".repeat(count), "\r\n"].concat().into_bytes();
    let trailers = |count| {
        let head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n";
        [head, &"A: b\r\n".repeat(count), "\r\n"].concat().into_bytes()
    };
    let bounds = Bounds { octets: 4_096, fields: 10 };
    for (message, fault) in [
        (long(4_000, 1), None),
        (long(4_096, 1), Some(Fault::LongLine)),
        (long(1, 4_000), None),
        (long(1, 4_096), Some(Fault::LongFields)),
        (long(2_048, 2_048), Some(Fault::LongFields)),
        (["\r\n".repeat(2_100).as_bytes(), b"GET / HTTP/1.1\r\n"].concat(), Some(Fault::LongLine)),
        (many(10), None),
        (many(11), Some(Fault::ManyFields)),
        (trailers(10), None),
        (trailers(11), Some(Fault::ManyFields)),
        // Each message has its own.
        ([many(10), many(10), long(4_000, 1), long(1, 4_000)].concat(), None),
    ] {
        for room in [1, 1_000, 100_000] {
            let mut lines = Lines::new(bounds);
            let found = message.chunks(room).find_map(|piece| {
                let mut space = vec![0; room];
                let mut buffer = ReadBuf::new(&mut space);
                buffer.put_slice(piece);
                lines.screen(&mut buffer, 0)
            });
            let start = String::from_utf8_lossy(&message[..40]).into_owned();
            assert_eq!(found, fault, "{start:?} of {} in pieces of {room}", message.len());
        }
    }
}
