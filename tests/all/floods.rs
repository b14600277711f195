//! Floods of HTTP/2: frames that cost their sender little cost the program little, too, and others
//! are served meanwhile.

use std::time::{Duration, Instant};

use crate::support::{
    PATIENCE,
    frames::{
        CONTINUATION, Connection, DATA, END_HEADERS, END_STREAM, Fate, HEADERS, PING, RST_STREAM,
        SETTINGS, WINDOW_UPDATE, block, frame, get, headers, request, setting,
    },
    origin::{After, Origin},
    program::{Beadle, Setup},
};

/// The most memory that a flood may cost, in KiB.
const MOST_MEMORY: u64 = 64 << 10;
/// The most memory of an answer that nobody takes, in KiB: nine pieces of 64 KiB wait in pingora for
/// their turn, and the allocator rounds up.
const MOST_PER_ANSWER: u64 = 768;
/// The most processor time that a flood may cost, in hundredths of a second.
const MOST_TIME: u64 = 1_000;

fn start(origin: &Origin, server: &str) -> (Beadle, u16) {
    let (setup, port) = Setup::site(origin.port, "").server(server).tls_listener();
    (setup.start(), port)
}

/// What the program has used: processor time in hundredths of a second, memory in KiB.
#[derive(Clone, Copy, Debug)]
struct Used {
    time: u64,
    memory: u64,
}

fn used(beadle: &Beadle) -> Used {
    let read = |file: &str| {
        std::fs::read_to_string(format!("/proc/{}/{file}", beadle.pid())).expect("it runs")
    };
    let stat = read("stat");
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let number = |text: &str| text.parse::<u64>().expect("a number");
    let time = fields.split_whitespace().skip(11).take(2).map(number).sum();
    let status = read("status");
    let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let memory = memory.and_then(|text| text.split_whitespace().next()).map_or(0, number);
    Used { time, memory }
}

/// Whether another client is served.
fn assert_others_are_served(beadle: &Beadle, port: u16, what: &str) {
    let fate = Connection::connect(port).fate(&get(1, "/other"), true);
    assert_eq!(fate, Fate::Status(200), "during {what}");
    beadle.assert_healthy(what);
}

/// Sends `piece` over and over, at most this many times, until the server closes.
fn flood(
    connection: &mut Connection,
    most: usize,
    mut piece: impl FnMut(usize) -> Vec<u8>,
) -> bool {
    (0..most).any(|number| connection.try_write(&piece(number)).is_err() || connection.is_closed())
}

/// Floods a program of its own. `begin` is sent first, then many pieces. The server must close the
/// connection, and the flood must cost little.
fn assert_ends(what: &str, begin: &[u8], most: usize, piece: impl FnMut(usize) -> Vec<u8>) {
    let origin = Origin::plain();
    let (beadle, port) = start(&origin, "");
    assert_others_are_served(&beadle, port, what);
    let before = used(&beadle);
    let mut connection = Connection::connect(port);
    connection.write(begin);
    let is_closed = flood(&mut connection, most, piece);
    assert_others_are_served(&beadle, port, what);
    let after = used(&beadle);
    let (time, memory) = (after.time - before.time, after.memory.saturating_sub(before.memory));
    eprintln!("{what}: {time} hundredths of a second, {memory} KiB, closed: {is_closed}");
    assert!(is_closed, "{what}: the connection is open");
    assert!(memory < MOST_MEMORY, "{what}: {memory} KiB");
    assert!(time < MOST_TIME, "{what}: {time} hundredths of a second");
    drop(connection);
    beadle.wait_for_metric("beadle_requests_in_flight", 0.0);
}

/// The odd number of a stream.
fn stream(number: usize) -> u32 {
    u32::try_from(2 * number + 1).expect("a small number")
}

#[test]
fn h124_rapid_resets() {
    // CVE-2023-44487.
    let cancel = 8_u32.to_be_bytes();
    assert_ends("rapid reset", b"", 200, |piece| {
        let one = |number| {
            [get(stream(number), "/x"), frame(RST_STREAM, 0, stream(number), &cancel)].concat()
        };
        (piece * 100..(piece + 1) * 100).flat_map(one).collect()
    });
}

#[test]
fn h124_resets_that_the_server_is_made_to_send() {
    // CVE-2025-8671: each stream ends by an error of its own.
    assert_ends("windows of 0", b"", 200, |piece| {
        let one = |number| {
            [get(stream(number), "/x"), frame(WINDOW_UPDATE, 0, stream(number), &[0; 4])].concat()
        };
        (piece * 100..(piece + 1) * 100).flat_map(one).collect()
    });
    assert_ends("malformed requests", b"", 200, |piece| {
        let mut fields = request("GET", "/x");
        fields.push((b"connection".to_vec(), b"x".to_vec()));
        let one = |number| headers(stream(number), END_STREAM, &fields);
        (piece * 100..(piece + 1) * 100).flat_map(one).collect()
    });
}

#[test]
fn h123_continuation_without_end() {
    // CVE-2024-27316 and others.
    let begin = frame(HEADERS, END_STREAM, 1, &block(&request("GET", "/x")));
    let field = block(&[(b"x".to_vec(), vec![b'y'; 8_000])]);
    assert_ends("CONTINUATION", &begin, 20_000, |_| frame(CONTINUATION, 0, 1, &field));
    assert_ends("empty CONTINUATION", &begin, 2_000, |_| {
        frame(CONTINUATION, 0, 1, b"").repeat(100)
    });
}

#[test]
fn h124_frames_that_do_nothing() {
    assert_ends("SETTINGS", b"", 2_000, |_| frame(SETTINGS, 0, 0, &setting(4, 65_535)).repeat(100));
    assert_ends("PING", b"", 2_000, |_| frame(PING, 0, 0, b"12345678").repeat(100));
    assert_ends("PRIORITY", b"", 2_000, |_| frame(2, 0, 1, &[0, 0, 0, 3, 9]).repeat(100));
    assert_ends("unknown frames", b"", 2_000, |_| frame(0xfa, 0, 0, b"x").repeat(100));
    let open = headers(1, 0, &request("POST", "/x"));
    assert_ends("empty DATA", &open, 2_000, |_| frame(DATA, 0, 1, b"").repeat(100));
    let padding = [&[255][..], &[0; 255]].concat();
    assert_ends("DATA of padding", &open, 2_000, |_| frame(DATA, 0x8, 1, &padding).repeat(100));
}

#[test]
fn h124_window_updates() {
    // They cost a turn of the loop each, and go with octets that a client takes.
    let origin = Origin::plain();
    let (beadle, port) = start(&origin, "");
    let before = used(&beadle);
    let mut connection = Connection::connect(port);
    let is_closed =
        flood(&mut connection, 300, |_| frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1]).repeat(100));
    assert_others_are_served(&beadle, port, "WINDOW_UPDATE");
    let after = used(&beadle);
    eprintln!("WINDOW_UPDATE: {before:?} {after:?}, closed: {is_closed}");
    assert!(after.memory.saturating_sub(before.memory) < MOST_MEMORY);
    assert!(after.time - before.time < MOST_TIME);
}

#[test]
fn h123_field_sections_that_grow() {
    let origin = Origin::plain();
    let (beadle, port) = start(&origin, "");
    assert_others_are_served(&beadle, port, "usual requests");
    let before = used(&beadle);
    // A field of 4,000 octets into the table, then named over and over by one octet.
    let entry = [&[0x40, 1, b'x', 0x7f, 0xa1, 0x1e][..], &[b'y'; 4_000]].concat();
    let bomb = [block(&request("GET", "/x")), entry, vec![0xbe; 12_000]].concat();
    let octets = frame(HEADERS, END_STREAM | END_HEADERS, 1, &bomb);
    let fate = Connection::with_settings(port, b"").fate(&octets, true);
    assert!(!matches!(fate, Fate::Status(200) | Fate::Ignored), "a bomb: {fate:?}");
    eprintln!("a bomb: {fate:?}");
    for (count, size) in [(9, 8_000), (70, 1_000), (700, 100), (1, 66_000), (8, 1_000_000)] {
        let mut fields = request("GET", "/x");
        fields.extend(vec![(b"x".to_vec(), vec![b'y'; size]); count]);
        let fate = Connection::connect(port).fate(&headers(1, END_STREAM, &fields), true);
        eprintln!("{count} fields of {size}: {fate:?}");
        assert!(!matches!(fate, Fate::Status(200) | Fate::Ignored), "{count} of {size}: {fate:?}");
    }
    let received = origin.received();
    assert!(received.iter().all(|one| one.target != b"/x"), "the origin saw one");
    assert_others_are_served(&beadle, port, "large sections");
    let after = used(&beadle);
    eprintln!("large sections: {before:?} {after:?}");
    assert!(after.memory.saturating_sub(before.memory) < MOST_MEMORY);
    assert!(after.time - before.time < MOST_TIME);
}

#[test]
fn h124_answers_that_no_client_reads() {
    let origin = Origin::playing(|exchange| {
        exchange.answer(
            "200 OK",
            &[],
            &vec![b'x'; if exchange.request.target == b"/large" { 8 << 20 } else { 2 }],
        );
        After::Keep
    });
    let (beadle, port) = start(&origin, "  timeouts: { client_write: 2s }\n");
    assert_others_are_served(&beadle, port, "usual requests");
    let before = used(&beadle);
    let mut connection = Connection::with_settings(port, &[setting(1, 0), setting(4, 0)].concat());
    let all: Vec<u8> = (0..100).flat_map(|number| get(stream(number), "/large")).collect();
    connection.write(&all);
    origin.wait_for_requests(100);
    assert_others_are_served(&beadle, port, "answers that nobody takes");
    let after = used(&beadle);
    eprintln!("100 answers: {before:?} {after:?}");
    assert!(after.memory.saturating_sub(before.memory) < 100 * MOST_PER_ANSWER);
    assert!(after.time - before.time < MOST_TIME);
    let started = Instant::now();
    beadle.wait_for_metric("beadle_requests_in_flight", 0.0);
    eprintln!("they end after {:?}", started.elapsed());
}

/// The time after which a connection is closed.
fn closes(connection: &mut Connection) -> Duration {
    let started = Instant::now();
    connection.end();
    started.elapsed()
}

#[test]
fn h125_silent_and_idle_connections_are_closed() {
    let origin = Origin::plain();
    let limits = "  timeouts: { client_keepalive: 2s }\n  limits: { handshake_time: 1s }\n";
    let (beadle, port) = start(&origin, limits);
    assert!(closes(&mut Connection::silent(port)) < PATIENCE / 2, "no preface");
    beadle.wait_for_metric("beadle_refusals_total{reason=\"proxy.handshake_time\"}", 1.0);
    let mut half = Connection::silent(port);
    half.write(b"PRI * HTTP/2.0\r\n");
    assert!(closes(&mut half) < PATIENCE / 2, "half a preface");
    beadle.wait_for_metric("beadle_refusals_total{reason=\"proxy.handshake_time\"}", 2.0);
    let mut idle = Connection::connect(port);
    let time = closes(&mut idle);
    assert!((1..10).contains(&time.as_secs()), "no request: {time:?}");
    let mut idle = Connection::connect(port);
    assert_eq!(idle.fate(&get(1, "/x"), true), Fate::Status(200));
    let time = closes(&mut idle);
    assert!((1..10).contains(&time.as_secs()), "no second request: {time:?}");
    beadle.assert_healthy("idle connections");
}

#[test]
fn h125_slow_sections_and_bodies_end_the_connection() {
    let origin = Origin::plain();
    let limits = "  limits: { header_time: 1s, body_rate: 1000 }\n";
    let (beadle, port) = start(&origin, limits);
    let refused = |reason: &str| {
        let series = format!("beadle_refusals_total{{reason=\"proxy.{reason}\"}}");
        beadle.wait_for_metric(&series, 1.0);
    };
    let mut slow = Connection::connect(port);
    // An octet now and then is no progress.
    let octets = get(1, "/x");
    let is_closed = flood(&mut slow, 60, |at| {
        std::thread::sleep(Duration::from_millis(100));
        vec![octets[at]]
    });
    assert!(is_closed, "a section that does not end");
    refused("header_time");
    let mut slow = Connection::connect(port);
    slow.write(&headers(1, 0, &request("POST", "/x")));
    let is_closed = flood(&mut slow, 60, |_| {
        std::thread::sleep(Duration::from_millis(300));
        frame(DATA, 0, 1, b"x")
    });
    assert!(is_closed, "a body that does not end");
    refused("body_rate");
    assert!(origin.received().iter().all(|one| one.body.is_empty()));
    beadle.assert_healthy("slow clients");
}

#[test]
fn streams_at_a_slow_origin_are_bounded_for_each_network() {
    let (origin, go) = Origin::held();
    let (beadle, port) = start(&origin, "  limits: { requests_per_network: 3 }\n");
    let mut connection = Connection::connect(port);
    for number in 0..5 {
        connection.write(&get(stream(number), "/slow"));
        if number < 3 {
            origin.wait_for_requests(number + 1);
        }
    }
    assert_eq!(connection.answer(stream(3)).status, Some(503));
    let mut other = Connection::connect(port);
    assert_eq!(other.fate(&get(1, "/slow"), true), Fate::Status(503), "of the same network");
    let mut other = Connection::connect(port);
    assert_eq!(other.fate(&get(1, "/robots.txt"), true), Fate::Status(200));
    beadle.wait_for_metric("beadle_refusals_total{reason=\"proxy.requests_per_network\"}", 3.0);
    assert_eq!(origin.received().len(), 3);
    (0..4).for_each(|_| go.send(()).expect("the origin listens"));
    assert_eq!(connection.answer(stream(2)).status, Some(200));
    beadle.wait_for_metric("beadle_requests_in_flight", 0.0);
    connection.write(&get(stream(5), "/slow"));
    assert_eq!(connection.answer(stream(5)).status, Some(200), "places come back");
}
