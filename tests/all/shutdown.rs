//! Start and end: signals end the program, and it refuses to start if it cannot serve the policy.

use std::{
    net::TcpListener,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use crate::support::{
    client::{Client, Request},
    free_port,
    origin::{After, Origin},
    program::{PROGRAM, Setup},
    tls, wait_for,
};

const SOON: Duration = Duration::from_secs(2);

#[test]
fn sigterm_waits_for_requests_in_flight_and_then_ends() {
    let gate = Arc::new(AtomicBool::new(false));
    let open = Arc::clone(&gate);
    let origin = Origin::playing(move |exchange| {
        exchange.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst");
        wait_for("the gate", || open.load(Ordering::Acquire).then_some(()));
        exchange.write(b"-last");
        After::Keep
    });
    let rules = "    robots_txt: { groups: [{ user_agents: [BadBot], disallow: [/] }] }\n";
    let mut beadle = Setup::site(origin.port, rules).start();
    let mut client = Client::connect(beadle.port);
    client.write(&Request::get("/slow").user_agent("BadBot/1.0").bytes());
    origin.wait_for_requests(1);
    beadle.signal("TERM");
    beadle.wait_for_stderr("completing requests in progress");
    wait_for("an end of listening", || {
        std::net::TcpStream::connect(("127.0.0.1", beadle.port)).is_err().then_some(())
    });
    assert_eq!(beadle.admin_page("/readyz").status, 503);
    // A reload during the drain ends nothing.
    beadle.signal("HUP");
    gate.store(true, Ordering::Release);
    let answer = client.response("GET").expect("an answer");
    assert_eq!(answer.text(), "first-last");
    let (status, took) = beadle.wait();
    assert_eq!(status.code(), Some(0));
    assert!(took < SOON, "{took:?}");
    assert_eq!(beadle.log().len(), 1, "the record of the last request is kept");
}

#[test]
fn kept_alive_connections_get_their_next_answer_during_the_drain() {
    let gate = Arc::new(AtomicBool::new(false));
    let open = Arc::clone(&gate);
    let origin = Origin::playing(move |exchange| {
        if exchange.request.target == b"/slow" {
            wait_for("the gate", || open.load(Ordering::Acquire).then_some(()));
        }
        exchange.answer("200 OK", &[], b"served");
        After::Keep
    });
    let mut beadle = Setup::site(origin.port, "").start();
    let mut idle: Vec<Client> = (0..60).map(|_| Client::connect(beadle.port)).collect();
    for client in &mut idle {
        assert!(Request::get("/").send_over(client).keeps_alive());
    }
    let mut slow = Client::connect(beadle.port);
    slow.write(&Request::get("/slow").bytes());
    origin.wait_for_requests(61);
    beadle.signal("TERM");
    wait_for("an end of listening", || {
        std::net::TcpStream::connect(("127.0.0.1", beadle.port)).is_err().then_some(())
    });
    for (number, client) in idle.iter_mut().enumerate() {
        // The answers of the origin and of Beadle itself.
        let target = if number % 2 == 0 { "/next" } else { "/robots.txt" };
        let answer = Request::get(target).send_over(client);
        assert_eq!(answer.status, 200, "connection {number}");
        assert!(!answer.keeps_alive(), "connection {number} must open a new connection next");
    }
    gate.store(true, Ordering::Release);
    let answer = slow.response("GET").expect("an answer");
    assert_eq!((answer.status, answer.keeps_alive()), (200, false), "it began before the signal");
    let (status, took) = beadle.wait();
    assert_eq!(status.code(), Some(0));
    assert!(took < SOON, "without connections nothing is waited for: {took:?}");
}

#[test]
fn a_drain_without_requests_waits_for_the_next_one_of_kept_alive_connections() {
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, "").start();
    let mut idle: Vec<Client> = (0..60).map(|_| Client::connect(beadle.port)).collect();
    for client in &mut idle {
        assert!(Request::get("/").send_over(client).keeps_alive());
    }
    beadle.signal("TERM");
    beadle.wait_for_stderr("completing requests in progress");
    for (number, client) in idle.iter_mut().enumerate() {
        let answer = Request::get("/next").send_over(client);
        assert_eq!((answer.status, answer.keeps_alive()), (200, false), "connection {number}");
    }
}

#[test]
fn connections_of_the_last_moment_are_served_before_the_end() {
    // A handshake takes time, and a connection may still wait in the kernel.
    let origin = Origin::plain();
    let port = free_port();
    let [certificate, key] =
        ["certificate.pem", "key.pem"].map(|name| tls::file(name).display().to_string());
    let listener = format!(
        "{{ address: \"127.0.0.1:{port}\", tls: {{ certificate: {certificate}, key: {key} }} }}"
    );
    for (is_tls, count) in [(true, 10), (false, 100)] {
        let beadle = Setup::site(origin.port, "").listener(&listener).start();
        let connect = || match is_tls {
            true => Client::connect_tls(port),
            false => Client::connect(beadle.port),
        };
        let late: Vec<Client> = (0..count).map(|_| connect()).collect();
        beadle.signal("TERM");
        beadle.wait_for_stderr("completing requests in progress");
        // Longer than a server without connections waits.
        std::thread::sleep(Duration::from_millis(300));
        for mut client in late {
            let answer = Request::get("/").send_over(&mut client);
            assert_eq!((answer.status, answer.keeps_alive()), (200, false), "TLS: {is_tls}");
        }
    }
}

#[test]
fn an_idle_server_ends_at_once() {
    let origin = Origin::plain();
    for signal in ["TERM", "INT", "QUIT"] {
        let mut beadle = Setup::site(origin.port, "").start();
        // An idle connection is no request.
        let mut client = Client::connect(beadle.port);
        assert_eq!(Request::get("/").send_over(&mut client).status, 200);
        beadle.signal(signal);
        let (status, took) = beadle.wait();
        assert_eq!(status.code(), Some(0), "{signal}");
        assert!(took < SOON, "{signal}: {took:?}");
    }
}

#[test]
fn a_request_longer_than_the_drain_is_cut_and_logged() {
    let origin = Origin::playing(|exchange| {
        exchange.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst");
        exchange.echo();
        After::Close
    });
    let mut beadle = Setup::site(origin.port, "").server("  timeouts: { drain: 1s }\n").start();
    let mut client = Client::connect(beadle.port);
    client.write(&Request::get("/").bytes());
    origin.wait_for_requests(1);
    beadle.signal("TERM");
    let (status, took) = beadle.wait();
    assert_eq!(status.code(), Some(0));
    assert!(took >= Duration::from_millis(800) && took < 2 * SOON, "{took:?}");
    beadle.wait_for_stderr("requests aborted");
}

/// An origin that switches to another protocol, and then echoes.
fn echo_origin() -> Origin {
    Origin::playing(|exchange| {
        exchange.write(
            b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        );
        exchange.echo();
        After::Close
    })
}

/// A connection that has switched to another protocol.
fn tunnel(port: u16) -> Client {
    let mut client = Client::connect(port);
    let upgrade = [("Connection", "Upgrade"), ("Upgrade", "websocket")];
    let request =
        upgrade.iter().fold(Request::get("/"), |one, (name, value)| one.field(name, value));
    assert_eq!(request.send_over(&mut client).status, 101);
    client.write(b"ping");
    assert_eq!(client.take(4).expect("an echo"), b"ping");
    client
}

#[test]
fn a_drain_ends_idle_tunnels_at_once() {
    let origin = echo_origin();
    let mut beadle = Setup::site(origin.port, "").start();
    let mut idle: Vec<Client> = (0..20).map(|_| tunnel(beadle.port)).collect();
    beadle.signal("TERM");
    for client in &mut idle {
        assert!(client.rest().is_empty());
    }
    let (status, took) = beadle.wait();
    assert_eq!(status.code(), Some(0));
    assert!(took < 2 * SOON, "{took:?}");
    assert!(!beadle.stderr().contains("requests aborted"), "the drain has no more to wait for");
}

#[test]
fn a_drain_leaves_busy_tunnels_their_time_and_the_port_free() {
    let origin = echo_origin();
    let mut beadle = Setup::site(origin.port, "").server("  timeouts: { drain: 5s }\n").start();
    let (mut busy, mut idle) = (tunnel(beadle.port), tunnel(beadle.port));
    beadle.signal("TERM");
    let started = Instant::now();
    let mut echoed = 0;
    let mut next = None;
    // Its messages come in both directions, and closer together than a tunnel may be idle.
    while busy.try_write(b"ping").is_ok() && busy.take(4).is_ok_and(|echo| echo == b"ping") {
        echoed += 1;
        if next.is_none() {
            // The next process gets the port while the last one still serves.
            next = TcpListener::bind(("127.0.0.1", beadle.port)).ok();
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(started.elapsed() >= Duration::from_secs(4), "{:?}, {echoed}", started.elapsed());
    assert!(next.is_some(), "nothing keeps the port");
    assert!(idle.rest().is_empty());
    assert_eq!(beadle.wait().0.code(), Some(0));
    beadle.wait_for_stderr("requests aborted");
}

#[test]
fn a_stream_of_events_ends_at_the_drains_deadline() {
    let origin = Origin::playing(|exchange| {
        exchange.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
        for _ in 0..400 {
            exchange.write(b"data: x\n\n");
            std::thread::sleep(Duration::from_millis(50));
        }
        After::Close
    });
    let mut beadle = Setup::site(origin.port, "").server("  timeouts: { drain: 2s }\n").start();
    let mut client = Client::connect(beadle.port);
    client.write(&Request::get("/events").bytes());
    assert_eq!(client.head().expect("an answer").status, 200);
    beadle.signal("TERM");
    let (status, took) = beadle.wait();
    assert_eq!(status.code(), Some(0));
    assert!(took >= Duration::from_millis(1_500) && took < 4 * SOON, "{took:?}");
    assert!(!client.rest().is_empty(), "events came until then");
}

#[test]
fn a_second_signal_ends_the_program_at_once() {
    let origin = Origin::playing(|exchange| {
        exchange.echo();
        After::Close
    });
    let mut beadle = Setup::site(origin.port, "").start();
    let mut client = Client::connect(beadle.port);
    client.write(&Request::get("/").bytes());
    origin.wait_for_requests(1);
    beadle.signal("TERM");
    beadle.wait_for_stderr("completing requests in progress");
    // A signal right after the first counts as the same one, so send until it ends.
    let started = Instant::now();
    let status = wait_for("the end of the program", || {
        beadle.signal("INT");
        beadle.ended()
    });
    assert_eq!(status.code(), Some(0));
    assert!(started.elapsed() < 2 * SOON, "{:?}", started.elapsed());
    beadle.wait_for_stderr("a second signal");
}

#[test]
fn a_port_in_use_ends_the_start_at_once() {
    let origin = Origin::plain();
    let (free, taken) = (free_port(), free_port());
    let _listener = TcpListener::bind(("127.0.0.1", taken)).expect("it was free");
    for (port, admin) in [(taken, free), (free, taken)] {
        let started = Instant::now();
        let mut beadle = Setup::site(origin.port, "").spawn_on(port, admin);
        let (status, _) = beadle.wait();
        assert_eq!(status.code(), Some(2));
        assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
        beadle.wait_for_stderr(&format!("can't listen on 127.0.0.1:{taken}"));
        beadle.wait_for_stderr("choose another port");
        assert!(std::net::TcpStream::connect(("127.0.0.1", free)).is_err());
    }
}

#[test]
fn a_broken_policy_stops_the_start() {
    let origin = Origin::plain();
    for (settings, sign) in [
        ("    enforcement: { mode: blok }\n", "did you mean 'block'?"),
        ("    robot: 1\n", "unknown key 'sites[0].robot'"),
        (
            "    robots_txt: { groups: [{ user_agents: [\"*\"], disallow: [private] }] }\n",
            "write '/private'",
        ),
    ] {
        let mut beadle = Setup::site(origin.port, settings).spawn();
        let (status, _) = beadle.wait();
        assert_eq!(status.code(), Some(2), "{settings}");
        beadle.wait_for_stderr(sign);
        beadle.wait_for_stderr("beadle.yaml:");
        assert!(std::net::TcpStream::connect(("127.0.0.1", beadle.port)).is_err());
    }
    let output = Command::new(PROGRAM).args(["serve", "--config", "/nowhere/beadle.yaml"]).output();
    let output = output.expect("the program can be started");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("/nowhere/beadle.yaml"));
}

#[test]
fn a_file_that_is_no_store_stops_the_start_and_stays_unchanged() {
    let origin = Origin::plain();
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let file = folder.path().join("notes.db");
    std::fs::write(&file, "no database, but some notes").expect("the folder is ours");
    let at = file.display();
    for violations in [
        format!("  database: {at}\n"),
        format!("  database: {at}/x.db\n"),
        format!("  log: {at}/x\n"),
    ] {
        let mut beadle = Setup::site(origin.port, "").violations(&violations).spawn();
        let (status, _) = beadle.wait();
        assert_eq!(status.code(), Some(2), "{violations}");
        wait_for("a word about it", || (!beadle.stderr().is_empty()).then_some(()));
    }
    let kept = std::fs::read(&file).expect("it is there");
    assert_eq!(kept, b"no database, but some notes");
}

#[test]
fn r33_an_early_sighup_does_not_end_the_program() {
    let origin = Origin::plain();
    let mut beadle = Setup::site(origin.port, "").spawn();
    // The handler exists once the program runs its own code, before it is ready.
    let exe = std::fs::canonicalize(PROGRAM).expect("it is there");
    wait_for("the handler of SIGHUP", || {
        let running = std::fs::read_link(format!("/proc/{}/exe", beadle.pid())).ok()?;
        let status = std::fs::read_to_string(format!("/proc/{}/status", beadle.pid())).ok()?;
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"))?;
        let caught = u64::from_str_radix(caught.trim(), 16).ok()?;
        (running == exe && caught & 1 == 1).then_some(())
    });
    assert!(
        !beadle.stderr().contains("listening"),
        "the handler is there before anything is served"
    );
    for _ in 0..20 {
        beadle.signal("HUP");
    }
    beadle.wait_until_ready();
    for _ in 0..20 {
        beadle.signal("HUP");
    }
    beadle.assert_healthy("forty hang-ups");
    let (status, _) = beadle.stop();
    assert_eq!(status.code(), Some(0));
}
