//! Answers of an origin that break the protocol, end early or come too slowly. The client gets a
//! message that it can read in one way, and metrics and records say what it got.

use std::{
    thread::sleep,
    time::{Duration, Instant},
};

use crate::support::{
    BROWSER,
    client::{Client, Request, Response},
    origin::{After, Origin},
    program::{Beadle, Setup},
};

const RULES: &str = "    robots_txt: { groups: [{ user_agents: [BadBot], disallow: [/] }] }\n";
const FAILURES: &str = "beadle_origin_failures_total{site=\"site.example\"}";

fn before(origin: &Origin) -> Beadle {
    Setup::site(origin.port, RULES)
        .server("  timeouts: { origin_read: 1s, client_read: 5s, tunnel_idle: 2s }\n")
        .start()
}

/// An answer of these bytes to one request of a crawler that breaks a rule.
fn answer(beadle: &Beadle, fields: &[(&str, &str)]) -> Response {
    let request = Request::get("/x").user_agent("BadBot/1.0");
    let request = fields.iter().fold(request, |one, (name, value)| one.field(name, value));
    request.send(beadle.port)
}

const UPGRADE: [(&str, &str); 2] = [("Connection", "Upgrade"), ("Upgrade", "websocket")];

#[test]
fn rfc9110_15_2_2_an_unasked_101_is_502() {
    let switch = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ";
    let origin = Origin::playing(move |exchange| {
        let protocol = exchange.request.header("x-protocol").unwrap_or("websocket").to_owned();
        exchange.write(format!("{switch}{protocol}\r\n\r\nHTTP/1.1 200 OK\r\n\r\n").as_bytes());
        After::Close
    });
    let beadle = before(&origin);
    let h2c = [("Connection", "Upgrade"), ("Upgrade", "h2c")];
    let other = [UPGRADE[0], UPGRADE[1], ("X-Protocol", "h2c")];
    for (number, fields) in [&[][..], &h2c, &other].into_iter().enumerate() {
        assert_eq!(answer(&beadle, fields).status, 502, "{fields:?}");
        beadle.wait_for_metric(FAILURES, (number + 1) as f64);
        assert_eq!(beadle.records(number + 1)[number]["status"], 502, "{fields:?}");
    }
    assert_eq!(answer(&beadle, &UPGRADE).status, 101, "an asked one passes");
}

#[test]
fn rfc9110_8_6_equal_lengths_are_one() {
    for lengths in ["Content-Length: 2\r\nContent-Length: 2", "Content-Length: 2, 2"] {
        let origin =
            Origin::answering(format!("HTTP/1.1 200 OK\r\n{lengths}\r\nX-Kept: 1\r\n\r\nok"));
        let beadle = before(&origin);
        for method in ["GET", "HEAD"] {
            let mut client = Client::connect(beadle.port);
            client.write(&Request::new(method, "/x").user_agent(BROWSER).bytes());
            let head = client.head().expect("an answer");
            assert_eq!(head.all("content-length"), ["2"], "{method} {lengths}");
            assert_eq!(head.all("x-kept"), ["1"], "{method} {lengths}");
        }
    }
}

#[test]
fn rfc9112_6_1_a_204_and_an_interim_response_lose_their_framing() {
    let framing = "Transfer-Encoding: chunked\r\nX-Kept: 1";
    for (answer, status) in [
        (format!("HTTP/1.1 204 No Content\r\n{framing}\r\n\r\n0\r\n\r\n"), 204),
        ("HTTP/1.1 204 No Content\r\nX-Kept: 1\r\nContent-Length: 5\r\n\r\nhello".into(), 204),
        (
            format!(
                "HTTP/1.1 103 Early Hints\r\n{framing}\r\n\r\n\
                 HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
            ),
            200,
        ),
    ] {
        let origin = Origin::playing(move |exchange| {
            match exchange.request.target.as_slice() {
                b"/next" => exchange.answer("200 OK", &[], b"next"),
                _ => exchange.write(answer.as_bytes()),
            }
            After::Keep
        });
        let beadle = before(&origin);
        let mut client = Client::connect(beadle.port);
        let response = Request::get("/x").user_agent(BROWSER).send_over(&mut client);
        assert_eq!(response.status, status);
        let interim = response.interim.iter().map(|(_, fields)| fields);
        let headless = if status == 204 { vec![&response.headers] } else { interim.collect() };
        assert_eq!(headless.len(), 1, "{response:?}");
        for (name, _) in headless.into_iter().flatten() {
            assert!(name != "transfer-encoding" && name != "content-length", "{response:?}");
        }
        let next = Request::get("/next").user_agent(BROWSER).send_over(&mut client);
        assert_eq!(next.text(), "next", "the connection goes on");
    }
}

#[test]
fn o138_a_head_that_drips_longer_than_origin_read_is_504() {
    let origin = Origin::playing(|exchange| {
        exchange.read_body();
        if exchange.request.target == b"/quick" {
            exchange.answer("200 OK", &[], b"quick");
            return After::Keep;
        }
        exchange.write(b"HTTP/1.1 200 OK\r\nX-Drip: ");
        let started = Instant::now();
        while started.elapsed() < Duration::from_secs(8) {
            exchange.write(b"x");
            sleep(Duration::from_millis(100));
        }
        exchange.write(b"\r\nContent-Length: 2\r\n\r\nok");
        After::Close
    });
    let beadle = before(&origin);
    let mut client = Client::connect(beadle.port);
    for (number, method) in ["GET", "POST", "GET"].into_iter().enumerate() {
        // The limit is for each request of a connection.
        let quick = Request::get("/quick").user_agent(BROWSER).send_over(&mut client);
        assert_eq!(quick.text(), "quick");
        let request = Request::new(method, "/drip").user_agent("BadBot/1.0");
        let request = if method == "POST" { request.body("hello") } else { request };
        let started = Instant::now();
        let answer = request.send_over(&mut client);
        let took = started.elapsed();
        assert_eq!(answer.status, 504, "{method}");
        assert!(answer.text().contains("took too long"), "{}", answer.text());
        assert!(took < Duration::from_secs(6), "{took:?}");
        beadle.wait_for_metric(FAILURES, (number + 1) as f64);
        assert_eq!(beadle.records(number + 1)[number]["status"], 504);
        client = Client::connect(beadle.port);
    }
}

#[test]
fn o138_a_slow_body_after_a_quick_head_is_no_failure() {
    let origin = Origin::playing(|exchange| {
        exchange.write(b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n");
        for _ in 0..20 {
            exchange.write(b"x");
            sleep(Duration::from_millis(100));
        }
        After::Keep
    });
    let beadle = before(&origin);
    assert_eq!(answer(&beadle, &[]).body.len(), 20);
    assert_eq!(beadle.metric(FAILURES), 0.0);
}

#[test]
fn o138_a_long_upload_does_not_count_as_a_slow_head() {
    let origin = Origin::playing(|exchange| {
        exchange.read_body();
        let length = exchange.request.body.len().to_string();
        exchange.answer("200 OK", &[], length.as_bytes());
        After::Keep
    });
    let beadle = before(&origin);
    let mut client = Client::connect(beadle.port);
    let head = Request::new("POST", "/x").user_agent(BROWSER).field("Content-Length", "20");
    client.write(&head.bytes());
    for _ in 0..20 {
        client.write(b"x");
        sleep(Duration::from_millis(100));
    }
    let answer = client.response("POST").expect("an answer");
    assert_eq!((answer.status, answer.text().as_str()), (200, "20"));
}

#[test]
fn o138_a_websocket_that_ends_by_deadline_is_no_failure_of_the_origin() {
    let origin = Origin::playing(|exchange| {
        exchange.write(
            b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        );
        exchange.echo();
        After::Close
    });
    let beadle = before(&origin);
    let mut client = Client::connect(beadle.port);
    let request = Request::get("/x").user_agent("BadBot/1.0");
    let request = UPGRADE.iter().fold(request, |one, (name, value)| one.field(name, value));
    assert_eq!(request.send_over(&mut client).status, 101);
    client.write(b"hello");
    assert_eq!(client.take(5).expect("an echo"), b"hello");
    let end = client.some();
    assert!(end.is_ok_and(|rest| rest.is_empty()), "silence ends it, without an error page");
    assert_eq!(beadle.records(1)[0]["status"], 101);
    assert_eq!(beadle.metric(FAILURES), 0.0);
    assert!(!beadle.stderr().contains("no response"), "{}", beadle.stderr());
}

#[test]
fn o138_a_truncated_200_is_recorded_as_200() {
    for silent in [false, true] {
        let origin = Origin::playing(move |exchange| {
            exchange.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart");
            if silent {
                exchange.echo();
            }
            After::Close
        });
        let beadle = before(&origin);
        let mut client = Client::connect(beadle.port);
        client.write(&Request::get("/x").user_agent("BadBot/1.0").bytes());
        assert_eq!(client.head().expect("an answer").status, 200);
        assert_eq!(client.rest(), b"part", "no error page follows");
        assert_eq!(beadle.records(1)[0]["status"], 200);
        assert_eq!(beadle.metric(FAILURES), 0.0);
        beadle.wait_for_stderr("the origin's response ended early");
    }
}

#[test]
fn o139_an_interim_response_alone_is_no_answer() {
    let origin = Origin::playing(|exchange| {
        exchange.write(b"HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n");
        After::Close
    });
    let beadle = before(&origin);
    let answer = answer(&beadle, &[]);
    assert_eq!((answer.status, answer.interim.len()), (502, 1));
    assert_eq!(beadle.records(1)[0]["status"], 502);
    beadle.wait_for_metric(FAILURES, 1.0);
}

#[test]
fn rfc9110_2_5_an_answer_has_the_proxys_version() {
    let origin = Origin::answering("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok");
    let beadle = before(&origin);
    let mut client = Client::connect(beadle.port);
    client.write(&Request::get("/x").bytes());
    let line = client.until(b"\r\n").expect("a status line");
    assert_eq!(String::from_utf8_lossy(&line), "HTTP/1.1 200 OK\r\n");
}
