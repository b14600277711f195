//! What one client may take: time, sizes, connections. Others are served meanwhile.

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use crate::support::{
    client::{Client, Request},
    free_port,
    origin::{After, Origin},
    program::{Beadle, Setup},
};

const SITE: &str = "";

fn start(origin: &Origin, server: &str) -> Beadle {
    Setup::site(origin.port, SITE).server(server).start()
}

fn refusals(beadle: &Beadle, reason: &str) -> f64 {
    beadle.metric(&format!("beadle_refusals_total{{reason=\"{reason}\"}}"))
}

/// Writes one octet after another for a bit more than a second. Returns the status of the answer.
fn drip(client: &mut Client, head: &[u8]) -> (Option<u16>, Duration) {
    let started = Instant::now();
    for octet in head.iter().chain(b"X: ").chain([b'x'; 100].iter()) {
        // What comes after the answer would take it away from a client that has not read it.
        if started.elapsed() > Duration::from_millis(900) {
            break;
        }
        client.write(&[*octet]);
        std::thread::sleep(Duration::from_millis(20));
    }
    (client.response("GET").ok().map(|answer| answer.status), started.elapsed())
}

#[test]
fn a_header_that_is_dripped_gets_408() {
    let origin = Origin::plain();
    let setup = Setup::site(origin.port, SITE).server("  limits: { header_time: 1s }\n");
    let (setup, tls_port) = setup.tls_listener();
    let beadle = setup.start();
    let head = b"GET / HTTP/1.1\r\nHost: site.example\r\n";
    let kept_alive = |mut client: Client| {
        assert_eq!(Request::get("/x").send_over(&mut client).status, 200);
        client
    };
    for (what, mut client) in [
        ("plain", Client::connect(beadle.port)),
        ("TLS", Client::connect_tls(tls_port)),
        ("a second request", kept_alive(Client::connect(beadle.port))),
    ] {
        let (status, time) = drip(&mut client, head);
        assert_eq!(status, Some(408), "{what}");
        assert!(time >= Duration::from_secs(1), "{what}: {time:?}");
        beadle.assert_healthy(what);
    }
    assert_eq!(refusals(&beadle, "proxy.header_time"), 3.0);
    assert!(origin.received().iter().all(|one| one.target != b"/"));
}

#[test]
fn rfc6585_5_a_header_that_is_too_large_gets_431() {
    let origin = Origin::plain();
    let beadle = start(&origin, "  limits: { header_size: 8KiB, header_fields: 20 }\n");
    let large = Request::get("/large").field("X", "y".repeat(9_000));
    let many = (0..30).fold(Request::get("/many"), |request, _| request.field("X", "y"));
    let long = Request::get("/".repeat(9_000));
    let fits = Request::get("/fits").field("X", "y".repeat(7_000));
    for (request, status) in [(large, 431), (many, 431), (long, 414), (fits, 200)] {
        let mut client = Client::connect(beadle.port);
        let answer = request.send_over(&mut client);
        assert_eq!(answer.status, status);
        if status != 200 {
            assert!(answer.has("connection", "close") && !answer.body.is_empty());
            assert_eq!(client.rest(), b"", "the connection ends");
        }
        beadle.assert_healthy(&status.to_string());
    }
    assert_eq!(refusals(&beadle, "proxy.header_size"), 2.0);
    assert_eq!(refusals(&beadle, "proxy.header_fields"), 1.0);
    let received = origin.received().into_iter().map(|one| one.target);
    let targets: Vec<_> = received.filter(|target| target != b"/healthy").collect();
    assert_eq!(targets, [b"/fits"], "nothing of a refused request");
}

#[test]
fn the_refusal_of_a_second_head_comes_behind_the_first_answer() {
    let origin = Origin::plain();
    let beadle = start(&origin, "");
    let second = b"GET /x HTTP/1.1\r\nHost: site.example\r\nbroken\r\n\r\n";
    let mut client = Client::connect(beadle.port);
    client.write(&[&Request::get("/first").bytes()[..], second].concat());
    assert_eq!(client.response("GET").expect("the first answer").status, 200);
    assert_eq!(client.response("GET").expect("the second answer").status, 400);
    assert_eq!(client.rest(), b"");
}

#[test]
fn a_body_that_comes_too_slowly_gets_408() {
    let origin = Origin::plain();
    let beadle = start(&origin, "  limits: { body_rate: 1000 }\n");
    let mut client = Client::connect(beadle.port);
    client.write(b"POST /slow HTTP/1.1\r\nHost: site.example\r\nContent-Length: 100000\r\n\r\n");
    let started = Instant::now();
    let mut steady = Client::connect(beadle.port);
    steady.write(b"POST /steady HTTP/1.1\r\nHost: site.example\r\nContent-Length: 39000\r\n\r\n");
    for _ in 0..39 {
        // 25 octets a second, and 2,500.
        let _ = client.try_write(b"12345678");
        steady.write(&[b'x'; 1_000]);
        std::thread::sleep(Duration::from_millis(300));
    }
    assert_eq!(steady.response("POST").expect("an answer").status, 200);
    assert_eq!(client.response("POST").expect("an answer").status, 408);
    assert!(started.elapsed() >= Duration::from_secs(10));
    assert_eq!(refusals(&beadle, "proxy.body_rate"), 1.0);
    beadle.assert_healthy("a slow body");
}

/// Whether a connection to this port answers a request.
fn is_served(port: u16) -> Option<Client> {
    let mut client = Client::try_connect(port).ok()?;
    client.try_write(&Request::get("/x").bytes()).ok()?;
    client.response("GET").ok().map(|_| client)
}

#[test]
fn a_client_network_has_its_share_of_connections() {
    let origin = Origin::plain();
    let beadle = start(&origin, "  limits: { connections_per_network: 3 }\n");
    let mut kept: Vec<_> = (0..3).map(|_| is_served(beadle.port).expect("its share")).collect();
    assert!(is_served(beadle.port).is_none(), "the fourth is closed");
    beadle.wait_for_metric("beadle_refusals_total{reason=\"proxy.connections_per_network\"}", 1.0);
    kept.pop();
    let freed = (0..200).find_map(|_| {
        std::thread::sleep(Duration::from_millis(10));
        is_served(beadle.port)
    });
    assert!(freed.is_some(), "an end makes room");

    let trusting = "  trusted_proxies: [127.0.0.1]\n  limits: { connections_per_network: 1 }\n";
    let beadle = start(&origin, trusting);
    let kept: Vec<_> = (0..5).map(|_| is_served(beadle.port)).collect();
    assert!(kept.iter().all(Option::is_some), "a trusted proxy is exempt");
}

#[test]
fn connections_beyond_all_wait_for_room_and_get_503_if_there_is_none() {
    let origin = Origin::plain();
    let beadle = start(&origin, "  limits: { connections: 3 }\n");
    let mut kept: Vec<_> = (0..3).map(|_| is_served(beadle.port).expect("room")).collect();
    let mut waiting = Client::connect(beadle.port);
    waiting.write(&Request::get("/x").bytes());
    beadle.wait_for_metric("beadle_refusals_total{reason=\"proxy.connections\"}", 1.0);
    kept.pop();
    assert_eq!(waiting.response("GET").expect("an answer").status, 200);
    // If none ends, they are turned away, also while others say nothing.
    kept.push(waiting);
    let silent: Vec<_> = (0..20).map(|_| Client::connect(beadle.port)).collect();
    let refused = Request::get("/x").send(beadle.port);
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")));
    let health = beadle.admin_page("/healthz").text();
    assert!(health.contains("degraded: all connections are taken"), "{health}");
    beadle.wait_for_metric("beadle_connections_full", 1.0);
    drop(silent);
    kept.clear();
    let freed = (0..200).find_map(|_| {
        std::thread::sleep(Duration::from_millis(10));
        is_served(beadle.port)
    });
    assert!(freed.is_some(), "an end makes room");
    beadle.wait_for_metric("beadle_connections_full", 0.0);
    assert_eq!(beadle.admin_page("/healthz").text(), "ok\n");
}

#[test]
fn a_handshake_has_a_deadline() {
    let origin = Origin::plain();
    let setup = Setup::site(origin.port, SITE).server("  limits: { handshake_time: 1s }\n");
    let (setup, tls_port) = setup.tls_listener();
    let beadle = setup.start();
    for first in [&b""[..], b"\x16\x03\x01\x02\x00\x01"] {
        let mut silent = TcpStream::connect(("127.0.0.1", tls_port)).expect("a connection");
        silent.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
        silent.write_all(first).expect("it is open");
        let started = Instant::now();
        let mut end = Vec::new();
        let _ = silent.read_to_end(&mut end);
        assert!(started.elapsed() < Duration::from_secs(8), "{first:?}: it is closed");
    }
    beadle.wait_for_metric("beadle_refusals_total{reason=\"proxy.handshake_time\"}", 2.0);
    let mut wrong = TcpStream::connect(("127.0.0.1", tls_port)).expect("a connection");
    wrong.write_all(b"GET / HTTP/1.1\r\nHost: site.example\r\n\r\n").expect("it is open");
    beadle.wait_for_metric("beadle_refusals_total{reason=\"proxy.tls_handshake\"}", 1.0);
    beadle.assert_healthy("handshakes");
}

/// A header of version 2 for a client with this last octet.
fn binary(last: u8) -> Vec<u8> {
    let addresses = [192, 0, 2, last, 10, 0, 0, 1, 0x30, 0x39, 0, 80];
    [&b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c"[..], &addresses].concat()
}

#[test]
fn the_proxy_protocol_names_the_client_of_a_connection() {
    let origin = Origin::plain();
    let trusting = "  trusted_proxies: [127.0.0.1]\n";
    let port = free_port();
    let listener = format!("{{ address: \"127.0.0.1:{port}\", proxy_protocol: true }}");
    let beadle = Setup::site(origin.port, SITE).server(trusting).listener(&listener).start();
    for (header, client) in [
        (b"PROXY TCP4 192.0.2.7 10.0.0.1 12345 80\r\n".to_vec(), "192.0.2.7"),
        (b"PROXY TCP6 2001:db8::7 ::1 12345 80\r\n".to_vec(), "2001:db8::7"),
        (binary(9), "192.0.2.9"),
        (b"PROXY UNKNOWN\r\n".to_vec(), "127.0.0.1"),
    ] {
        let mut connection = Client::connect(port);
        connection.write(&header);
        for _ in 0..2 {
            assert_eq!(Request::get("/x").send_over(&mut connection).status, 200, "{client}");
            assert_eq!(origin.last().header("x-forwarded-for"), Some(client));
        }
        // Never on a later request.
        connection.write(&[&header[..], &Request::get("/x").bytes()].concat());
        let status = connection.response("GET").map(|answer| answer.status).ok();
        assert!(status.is_none_or(|status| status == 400), "{client}: {status:?}");
    }
    for start in [Request::get("/x").bytes(), b"PROXY nonsense\r\n".to_vec()] {
        let mut connection = Client::connect(port);
        connection.write(&start);
        assert!(connection.response("GET").is_err(), "a connection without its header ends");
    }
    // A connection may end a moment before it counts.
    beadle.wait_for_metric("beadle_refusals_total{reason=\"proxy.bad_proxy_protocol\"}", 2.0);

    let others = "  trusted_proxies: [192.0.2.200]\n";
    let port = free_port();
    let listener = format!("{{ address: \"127.0.0.1:{port}\", proxy_protocol: true }}");
    let beadle = Setup::site(origin.port, SITE).server(others).listener(&listener).start();
    let mut connection = Client::connect(port);
    let _ = connection.try_write(&binary(1));
    assert!(connection.response("GET").is_err());
    beadle.wait_for_metric("beadle_refusals_total{reason=\"proxy.untrusted_peer\"}", 1.0);
}

#[test]
fn rfc9112_9_3_2_pipelined_requests_are_answered_in_order() {
    let origin = Origin::plain();
    let beadle = start(&origin, "");
    let requests: Vec<u8> =
        (0..4).flat_map(|number| Request::get(format!("/{number}")).bytes()).collect();
    let mut client = Client::connect(beadle.port);
    client.write(&requests);
    for number in 0..4 {
        assert_eq!(client.response("GET").expect("an answer").status, 200, "{number}");
    }
    let targets: Vec<_> = origin.received().into_iter().map(|one| one.target).collect();
    assert_eq!(targets, [b"/0", b"/1", b"/2", b"/3"]);
}

#[test]
fn h118_a_client_that_closes_its_side_gets_the_whole_answer() {
    let origin = Origin::playing(|exchange| {
        std::thread::sleep(Duration::from_millis(300));
        exchange.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
        After::Close
    });
    let beadle = start(&origin, "");
    let mut client = Client::connect(beadle.port);
    client.write(&Request::get("/x").bytes());
    client.finish();
    assert_eq!(client.response("GET").expect("an answer").body, b"hello");
}

#[test]
fn h113_http_1_0_without_a_host_gets_the_default_site() {
    let origin = Origin::plain();
    let beadle = start(&origin, "");
    let mut client = Client::connect(beadle.port);
    client.write(b"GET /x HTTP/1.0\r\n\r\n");
    assert_eq!(client.response("GET").expect("an answer").status, 421, "no site is the default");
    let beadle = Setup::site(origin.port, "    default: true\n").start();
    let mut client = Client::connect(beadle.port);
    client.write(b"GET /x HTTP/1.0\r\n\r\n");
    assert_eq!(client.response("GET").expect("an answer").status, 200);
}
