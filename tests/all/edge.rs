//! The connection of a client before its requests are parsed: targets that no parser takes become
//! ones that every parser takes, the rest passes octet for octet, and requests keep their bounds.

use crate::support::{
    client::{Client, Request},
    origin::{After, Exchange, Origin},
    program::{Beadle, Setup},
    shown,
};

const RULES: &str = "
    robots_txt:
      groups:
        - user_agents: [BadBot]
          disallow: [/private/, \"/*?f={\\\"a\\\"\", /priv%E4te, /caf%C3%A9, \"/a b\"]
    enforcement: { mode: block }
";

fn start(origin: &Origin) -> Beadle {
    Setup::site(origin.port, RULES).start()
}

/// Answers with the target and the body.
fn echo(exchange: &mut Exchange<'_>) -> After {
    exchange.read_body();
    let body = [&exchange.request.target[..], b" ", &exchange.request.body].concat();
    exchange.answer("200 OK", &[], &body);
    After::Keep
}

/// The target in the form in which the origin receives it.
fn forwarded(target: &[u8]) -> Vec<u8> {
    let encode = |&octet: &u8| match octet {
        b' ' | b'"' | b'<' | b'>' | b'`' | 0x80.. => format!("%{octet:02X}").into_bytes(),
        _ => vec![octet],
    };
    target.iter().flat_map(encode).collect()
}

#[test]
fn every_octet_of_a_target_is_forwarded_or_encoded_or_refused() {
    let origin = Origin::playing(echo);
    let beadle = start(&origin);
    let mut client = Client::connect(beadle.port);
    for octet in 0..=255_u8 {
        for target in [[b'/', octet, b'x'].to_vec(), [b"/?x=", &[octet][..], b"y"].concat()] {
            let what = shown(&target);
            let request = Request::get(&target);
            if octet < b' ' || octet == 0x7f {
                let mut refused = Client::connect(beadle.port);
                assert_eq!(request.send_over(&mut refused).status, 400, "{what}");
                assert!(refused.rest().is_empty(), "{what}: it is closed");
                continue;
            }
            let answer = request.send_over(&mut client);
            assert_eq!(answer.status, 200, "{what}");
            // A fragment is for the client alone (RFC 9112 section 3.2).
            let sent = target.split(|&b| b == b'#').next().unwrap_or_default();
            assert_eq!(shown(&origin.last().target), shown(&forwarded(sent)), "{what}");
        }
    }
    let refusals = "beadle_refusals_total{reason=\"proxy.bad_request_line\"}";
    beadle.wait_for_metric(refusals, 2.0 * 33.0);
}

#[test]
fn a_fragment_never_widens_what_a_request_changes() {
    let origin = Origin::playing(echo);
    let beadle = start(&origin);
    for method in ["DELETE", "PUT", "PROPPATCH"] {
        origin.forget();
        let answer = Request::new(method, b"/a/#b").send(beadle.port);
        assert_eq!(answer.status, 400, "{method}");
        assert!(origin.received().is_empty(), "{method}");
    }
    let answer = Request::get(b"/a/#b").send(beadle.port);
    assert_eq!((answer.status, shown(&origin.last().target)), (200, "/a/".to_owned()));
}

#[test]
fn targets_of_real_clients_are_judged_as_they_are_forwarded() {
    let origin = Origin::playing(echo);
    let beadle = start(&origin);
    for target in [
        &b"/x?f={\"a\":1}"[..],
        b"/x?f={%22a%22:1}",
        b"/priv\xe4te",
        b"/caf\xc3\xa9/menu",
        b"/caf%c3%a9/menu",
        b"/a b",
        b"/private/<x>",
    ] {
        let what = shown(target);
        origin.forget();
        let blocked = Request::get(target).user_agent("BadBot/1.0").send(beadle.port);
        assert_eq!(blocked.status, 403, "{what}");
        assert!(origin.received().is_empty(), "{what}");
        let allowed = Request::get(target).user_agent("GoodBot/1.0").send(beadle.port);
        assert_eq!(allowed.status, 200, "{what}");
        assert_eq!(origin.last().target, forwarded(target), "{what}");
    }
    // CouchDB, Prometheus, GraphQL, a Latin-1 search.
    for target in [
        &b"/db/_design/d/_view/v?startkey=[\"a\",{}]&endkey=\"b\\ufff0\""[..],
        b"/api/v1/query?query=sum(rate(x{job=\"a\",b=~\"c|d\"}[5m])) by (e) > 1",
        b"/graphql?query={a(b:\"c\"){d}}",
        b"/search?q=caf\xe9+cr\xe8me",
    ] {
        let answer = Request::get(target).send(beadle.port);
        assert_eq!(answer.status, 200, "{}", shown(target));
        assert_eq!(origin.last().target, forwarded(target));
    }
}

/// Requests of all framings, whose bodies look like heads, each with its target and body.
fn mixed(count: usize) -> Vec<(Vec<u8>, Vec<u8>, Vec<u8>)> {
    let fake = b"GET /smuggled\xff HTTP/1.1\nHost: site.example\r\n\r\n0\r\n\r\n\0";
    let request = |number: usize| {
        let target = format!("/n{number}?\u{e9}=\"<{number}>\"").into_bytes();
        let body = fake.repeat(number % 4);
        let post = Request::new("POST", &target).user_agent("GoodBot/1.0");
        let bytes = match number % 3 {
            0 => Request::get(&target).bytes(),
            1 => post.body(&body).bytes(),
            _ => {
                let mut bytes = post.field("Transfer-Encoding", "chunked").bytes();
                for chunk in body.chunks(13) {
                    bytes.extend_from_slice(format!("{:x};ext=\"a\"\r\n", chunk.len()).as_bytes());
                    bytes.extend_from_slice(chunk);
                    bytes.extend_from_slice(b"\r\n");
                }
                bytes.extend_from_slice(b"0\r\nX-Trailer: y\r\n\r\n");
                bytes
            }
        };
        let body = if number.is_multiple_of(3) { Vec::new() } else { body };
        (bytes, forwarded(&target), body)
    };
    (0..count).map(request).collect()
}

#[test]
fn many_requests_on_one_connection_keep_their_bounds() {
    let origin = Origin::playing(echo);
    let beadle = start(&origin);
    let mut client = Client::connect(beadle.port);
    for (bytes, target, body) in mixed(120) {
        client.write(&bytes);
        let answer = client.response("POST").expect("an answer");
        assert_eq!(answer.status, 200, "{}", shown(&bytes));
        assert_eq!(shown(&answer.body), shown(&[&target[..], b" ", &body].concat()));
        assert!(answer.keeps_alive(), "{}", shown(&bytes));
    }
    assert_eq!(origin.received().len(), 120);
}

#[test]
fn requests_that_come_in_small_pieces_are_the_same() {
    let origin = Origin::playing(echo);
    let beadle = start(&origin);
    for size in [1, 2, 7] {
        let mut client = Client::connect(beadle.port);
        for (bytes, target, body) in mixed(9) {
            for piece in bytes.chunks(size) {
                client.write(piece);
            }
            let answer = client.response("POST").expect("an answer");
            assert_eq!(shown(&answer.body), shown(&[&target[..], b" ", &body].concat()));
        }
    }
}

#[test]
fn h109_pipelined_requests_are_answered_in_order_or_dropped() {
    let origin = Origin::playing(echo);
    let beadle = start(&origin);
    let requests = mixed(6);
    for first in 0..requests.len() - 1 {
        origin.forget();
        let mut client = Client::connect(beadle.port);
        client.write(&[&requests[first].0[..], &requests[first + 1].0].concat());
        for (_, target, body) in &requests[first..first + 2] {
            let Ok(answer) = client.response("POST") else { break };
            assert_eq!(shown(&answer.body), shown(&[&target[..], b" ", body].concat()));
        }
        client.finish();
        assert_eq!(shown(&client.rest()), "", "nothing else is answered");
        let targets: Vec<_> = origin.received().into_iter().map(|one| one.target).collect();
        let sent = [requests[first].1.clone(), requests[first + 1].1.clone()];
        assert!(sent.starts_with(&targets) && !targets.is_empty(), "{targets:?}");
    }
}

#[test]
fn a_client_that_waits_for_100_sends_any_body() {
    let origin = Origin::playing(|exchange| {
        exchange.write(b"HTTP/1.1 100 Continue\r\n\r\n");
        echo(exchange)
    });
    let beadle = start(&origin);
    for body in [&b"GET /\xff HTTP/1.1\n\n\0"[..], b"\0", b"POST / HTTP/1.1\r\n\r\n"] {
        let mut client = Client::connect(beadle.port);
        let head = Request::new("POST", b"/\xe9").field("Expect", "100-continue");
        client.write(&head.field("Content-Length", body.len().to_string()).bytes());
        assert!(client.until(b"\r\n\r\n").expect("an answer").starts_with(b"HTTP/1.1 100"));
        client.write(body);
        let answer = client.response("POST").expect("an answer");
        assert_eq!(answer.body, [&b"/%E9 "[..], body].concat());
    }
}

#[test]
fn a_switch_of_protocols_ends_the_reading_of_requests() {
    let origin = Origin::playing(|exchange| {
        if exchange.request.target != b"/socket" {
            return echo(exchange);
        }
        let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\
                    Connection: Upgrade\r\n\r\n";
        exchange.write(head.as_bytes());
        exchange.echo();
        After::Close
    });
    let beadle = start(&origin);
    let switch = |target: &str| {
        Request::get(target).field("Connection", "Upgrade").field("Upgrade", "websocket").bytes()
    };
    for round in 0..10 {
        let mut client = Client::connect(beadle.port);
        // Requests before it, one of them an upgrade that the origin does not want.
        for (bytes, target, body) in mixed(5) {
            client.write(&bytes);
            let answer = client.response("POST").expect("an answer");
            assert_eq!(answer.body, [&target[..], b" ", &body].concat(), "{round}");
            client.write(&switch("/\u{e9}"));
            assert_eq!(client.response("GET").expect("an answer").body, b"/%C3%A9 ", "{round}");
        }
        client.write(&switch("/socket"));
        assert_eq!(client.head().expect("an answer").status, 101, "{round}");
        for message in [
            &b"GET /\xff\" HTTP/1.1\nX : y\r\n\r\n"[..],
            b"\0\r\n\r\n\x81\xff",
            b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n+5\r\n",
        ] {
            client.write(message);
            assert_eq!(client.take(message.len()).expect("an echo"), message, "{round}");
        }
    }
}

#[test]
fn h106_a_broken_body_is_answered_with_400_and_closed() {
    let origin = Origin::playing(echo);
    let beadle = start(&origin);
    let head = Request::new("POST", "/x").field("Transfer-Encoding", "chunked").bytes();
    for (number, broken) in ["5 \r\nhello\r\n0\r\n\r\n", "\r\n\r\n", "5;\n\r\nhello\r\n0\r\n\r\n"]
        .into_iter()
        .enumerate()
    {
        for sent in [&b""[..], b"5\r\nhello\r\n"] {
            let mut client = Client::connect(beadle.port);
            client.write(&[&head[..], sent].concat());
            let _ = client.try_write(&[broken.as_bytes(), &Request::get("/next").bytes()].concat());
            assert_eq!(client.response("POST").expect("an answer").status, 400, "{broken:?}");
            assert!(client.rest().is_empty(), "{broken:?}: nothing after it");
        }
        let refusals = "beadle_refusals_total{reason=\"proxy.bad_chunk\"}";
        beadle.wait_for_metric(refusals, 2.0 * (number + 1) as f64);
    }
    for one in origin.received() {
        assert_ne!(one.target, b"/next");
    }
    beadle.assert_healthy("broken bodies");
}

#[test]
fn a_tls_listener_reads_alike() {
    let origin = Origin::playing(echo);
    let (setup, port) = Setup::site(origin.port, RULES).tls_listener();
    let beadle = setup.start();
    assert_eq!(beadle.get("/", "GoodBot/1.0").status, 200);
    let mut client = Client::connect_tls(port);
    for (bytes, target, body) in mixed(30) {
        client.write(&bytes);
        let answer = client.response("POST").expect("an answer");
        assert_eq!(shown(&answer.body), shown(&[&target[..], b" ", &body].concat()));
    }
    assert_eq!(origin.last().header("x-forwarded-proto"), Some("https"));
    let mut client = Client::connect_tls(port);
    client.write(b"GET / HTTP/1.1\nHost: site.example\n\n");
    assert_eq!(client.head().expect("an answer").status, 400);
}
