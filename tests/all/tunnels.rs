//! WebSockets and event streams: how long they may be silent.

use std::{
    thread::sleep,
    time::{Duration, Instant},
};

use crate::support::{
    BROWSER,
    client::{Client, Request},
    origin::{After, Exchange, Origin},
    program::{Beadle, Setup},
};

const SECOND: Duration = Duration::from_secs(1);

/// All other limits are shorter than that of a tunnel.
fn before(origin: &Origin) -> Beadle {
    Setup::site(origin.port, "    timeouts: { origin_read: 1s, tunnel_idle: 4s }\n")
        .server("  timeouts: { client_read: 1s }\n")
        .start()
}

fn tunnel(beadle: &Beadle, target: &str) -> Client {
    let mut client = Client::connect(beadle.port);
    let request = Request::get(target).user_agent(BROWSER);
    let request = request.field("Connection", "Upgrade").field("Upgrade", "websocket");
    assert_eq!(request.send_over(&mut client).status, 101);
    client
}

fn switch(exchange: &mut Exchange<'_>) {
    exchange.write(
        b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    );
}

#[test]
fn a_websocket_lives_while_one_side_speaks() {
    let origin = Origin::playing(|exchange| {
        switch(exchange);
        if exchange.request.target == b"/talk" {
            for _ in 0..4 {
                sleep(2 * SECOND);
                exchange.write(b"tick");
            }
        }
        exchange.echo();
        After::Close
    });
    let beadle = before(&origin);
    // Only the origin speaks, for eight seconds.
    let mut hears = tunnel(&beadle, "/talk");
    // Only the client speaks, but for the echo.
    let mut speaks = tunnel(&beadle, "/echo");
    for _ in 0..4 {
        assert_eq!(hears.take(4).expect("the tunnel is open"), b"tick");
        speaks.write(b"tock");
        assert_eq!(speaks.take(4).expect("the tunnel is open"), b"tock");
    }
    // Then both are silent.
    let silent = Instant::now();
    assert!(hears.some().is_ok_and(|rest| rest.is_empty()), "closed");
    assert!(speaks.some().is_ok_and(|rest| rest.is_empty()), "closed");
    assert!(silent.elapsed() > 3 * SECOND, "{:?}", silent.elapsed());
}

#[test]
fn an_event_stream_may_be_silent_for_longer_than_a_page() {
    let origin = Origin::playing(|exchange| {
        let kind = match exchange.request.target.as_slice() {
            b"/events" => "Text/Event-Stream; charset=utf-8",
            _ => "text/plain",
        };
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n\
             5\r\nfirst\r\n"
        );
        exchange.write(head.as_bytes());
        sleep(2 * SECOND + SECOND / 2);
        exchange.write(b"6\r\nsecond\r\n");
        sleep(10 * SECOND);
        After::Close
    });
    let beadle = before(&origin);
    let read = |target: &str, accept: &str| {
        let mut client = Client::connect(beadle.port);
        let request = Request::get(target).user_agent(BROWSER).field("Accept", accept);
        client.write(&request.bytes());
        assert_eq!(client.head().expect("a head").status, 200);
        let started = Instant::now();
        (String::from_utf8(client.rest()).expect("ASCII"), started.elapsed())
    };
    let (text, open) = read("/events", "application/json, text/event-stream");
    assert!(text.contains("first") && text.contains("second"), "{text}");
    assert!(!text.contains("\r\n0\r\n"), "it is not complete: {text}");
    assert!(open > 5 * SECOND, "silent for four seconds after the second: {open:?}");
    let (text, _) = read("/page", "text/event-stream");
    assert!(text.contains("first") && !text.contains("second"), "{text}");
}

#[test]
fn a_request_for_events_has_a_limit_for_the_head() {
    let origin = Origin::playing(|_| {
        sleep(5 * SECOND);
        After::Close
    });
    let beadle = before(&origin);
    let request = Request::get("/events").user_agent(BROWSER).field("Accept", "text/event-stream");
    assert_eq!(request.send(beadle.port).status, 504);
}
