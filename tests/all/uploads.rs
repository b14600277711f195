//! Bodies of clients over HTTP/2: none waits for another one, and small parts are as good as large ones.

use std::time::Duration;

use crate::support::{
    client::{Client, Request},
    conditions::need,
    frames::{
        Connection, DATA, END_STREAM, Fate, GOAWAY, SETTINGS, WINDOW_UPDATE, frame, get, headers,
        request,
    },
    origin::{After, Origin},
    program::{Beadle, Setup},
};

/// Reads nothing of a body for `/stalled`, breaks off at once for `/broken`, begins a head and never
/// ends it for `/slow`. Answers others with the size of their body.
fn origin() -> Origin {
    Origin::playing(|exchange| match &*exchange.request.target {
        b"/stalled" => {
            std::thread::sleep(Duration::from_secs(20));
            After::Close
        }
        b"/broken" => After::Close,
        b"/slow" => {
            for octet in b"HTTP/1.1 200 OK\r\nX-Slow: ".iter().chain(&[b'x'; 60]) {
                exchange.write(&[*octet]);
                std::thread::sleep(Duration::from_millis(100));
            }
            After::Close
        }
        _ => {
            exchange.read_body();
            let length = exchange.request.body.len().to_string();
            exchange.answer("200 OK", &[], length.as_bytes());
            After::Keep
        }
    })
}

fn start(origin: &Origin, site: &str) -> (Beadle, u16) {
    let (setup, port) = Setup::site(origin.port, site).tls_listener();
    (setup.start(), port)
}

fn post(stream: u32, target: &str) -> Vec<u8> {
    headers(stream, 0, &request("POST", target))
}

/// The octets by which the next update opens the window of the connection (0), or of a stream.
fn next_window(connection: &mut Connection, stream: u32) -> usize {
    loop {
        let frame = connection.next().expect("the connection is open");
        if frame.kind == WINDOW_UPDATE && frame.stream == stream {
            let more = frame.payload.first_chunk().copied().map(u32::from_be_bytes);
            return more.expect("four octets") as usize;
        }
    }
}

/// Reads until the window of the connection is open for a body.
fn await_window(connection: &mut Connection) {
    let mut window = 65_535;
    while window < 1 << 20 {
        window += next_window(connection, 0);
    }
}

#[test]
fn a_body_that_the_origin_does_not_read_delays_no_other() {
    let origin = origin();
    let (_beadle, port) = start(&origin, "");
    let mut connection = Connection::silent(port);
    connection.write(crate::support::frames::PREFACE);
    connection.write(&frame(SETTINGS, 0, 0, b""));
    let settings = connection.next().expect("settings");
    let window = settings.payload.chunks(6).find(|setting| setting[..2] == [0, 4]);
    assert_eq!(window.map(|setting| &setting[2..]), Some(&(1_u32 << 20).to_be_bytes()[..]));
    connection.write(&post(1, "/stalled"));
    // The first body opens the window of the connection.
    await_window(&mut connection);
    for _ in 0..64 {
        connection.write(&frame(DATA, 0, 1, &[b'x'; 16_000]));
    }
    connection.write(&[post(3, "/form"), frame(DATA, END_STREAM, 3, &[b'y'; 5_000])].concat());
    let answer = connection.answer(3);
    assert_eq!((answer.status, &answer.body[..]), (Some(200), &b"5000"[..]));
}

#[test]
fn a_body_of_small_parts_arrives() {
    let origin = origin();
    let (_beadle, port) = start(&origin, "");
    for (count, size) in [(20_000, 100), (2_000, 1)] {
        let mut connection = Connection::connect(port);
        connection.write(&post(1, "/form"));
        // As many as the first window of the connection takes.
        let first = (65_535 / size).min(count - 1);
        let part = frame(DATA, 0, 1, &vec![b'x'; size]);
        connection.write(&part.repeat(first));
        await_window(&mut connection);
        // From the second part on, the window of the stream is the smaller one. The last part has its
        // place in it, too.
        let mut window = (1 << 20) - first * size;
        let mut left = count - 1 - first;
        while left > 0 {
            let batch = left.min(4_000);
            while window < (batch + 1) * size {
                window += next_window(&mut connection, 1);
            }
            connection.write(&part.repeat(batch));
            window -= batch * size;
            left -= batch;
        }
        connection.write(&frame(DATA, END_STREAM, 1, &vec![b'x'; size]));
        let answer = connection.answer(1);
        let expected = (count * size).to_string();
        assert_eq!((answer.status, answer.body), (Some(200), expected.into_bytes()), "{size}");
    }
}

#[test]
fn a_failure_during_an_upload_reaches_the_client() {
    let Some(curl) = need("curl") else { return };
    let origin = origin();
    let (_beadle, port) = start(&origin, "");
    let folder = tempfile::tempdir().expect("a folder");
    let body = folder.path().join("body");
    std::fs::write(&body, vec![b'y'; 3 << 20]).expect("the folder is ours");
    for (form, target, expected) in
        [("@", "broken", "502"), ("@", "form", "200 3145728"), ("", "form", "200 5")]
    {
        let data = if form == "@" { format!("@{}", body.display()) } else { "hello".to_owned() };
        let output = std::process::Command::new(&curl)
            .args(["-sk", "--http2", "-w", "%{http_code} %{exitcode}", "--data-binary", &data])
            .args(["--connect-to", &format!("site.example:443:127.0.0.1:{port}")])
            .args(["-H", "Expect:", &format!("https://site.example/{target}")])
            .output()
            .expect("curl starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let (code, size) = expected.split_once(' ').unwrap_or((expected, ""));
        assert!(text.ends_with(&format!("{code} 0")), "{target}: {text}");
        assert!(text.starts_with(size), "{target}: {text}");
    }
}

#[test]
fn a_head_that_takes_too_long_is_504_over_http_2_too() {
    let origin = origin();
    let (_beadle, port) = start(&origin, "\n    timeouts: { origin_read: 1s }");
    let mut connection = Connection::connect(port);
    assert_eq!(connection.fate(&get(1, "/slow"), true), Fate::Status(504));
}

#[test]
fn rfc9113_6_8_an_idle_connection_ends_with_goaway() {
    let origin = origin();
    let server = "  timeouts: { client_keepalive: 1s }\n";
    let (setup, port) = Setup::site(origin.port, "").server(server).tls_listener();
    let _beadle = setup.start();
    let mut connection = Connection::connect(port);
    assert_eq!(connection.fate(&get(1, "/x"), true), Fate::Status(200));
    let last = std::iter::from_fn(|| connection.next()).filter(|frame| frame.kind == GOAWAY).last();
    assert_eq!(last.map(|frame| frame.payload[4..8].to_vec()), Some(vec![0; 4]), "no error");
}

#[test]
fn rfc9110_9_3_6_connect_is_refused() {
    let origin = origin();
    let (beadle, port) = start(&origin, "");
    let mut client = Client::connect(beadle.port);
    client.write(b"CONNECT site.example:443 HTTP/1.1\r\nHost: site.example:443\r\n\r\n");
    let response = client.response("CONNECT").expect("an answer");
    assert_eq!(response.status, 405);
    assert!(response.header("allow").is_some_and(|methods| methods.contains("GET")));
    assert_eq!(response.header("server"), None);
    let connect = [(":method", "CONNECT"), (":authority", "site.example:443")];
    let connect = connect.map(|(name, value)| (name.as_bytes().to_vec(), value.into()));
    let mut connection = Connection::connect(port);
    let fate = connection.fate(&headers(1, END_STREAM, &connect), true);
    assert_eq!(fate, Fate::Status(405));
    assert!(origin.received().is_empty());
    assert_eq!(Request::get("/x").send(beadle.port).status, 200);
}
