//! What systemd gives to the program and learns from it, with a stand-in for systemd.

use std::{
    net::{Ipv4Addr, TcpListener},
    os::unix::net::UnixDatagram,
    path::Path,
    process::Command,
    sync::Arc,
    time::Duration,
};

use crate::support::{
    PATIENCE,
    client::{Client, Request},
    conditions::is_full_size,
    free_port,
    origin::{After, Origin},
    program::{PROGRAM, Setup},
    wait_for,
};

/// A socket that listens, as one of a socket unit.
fn listening() -> (u16, Arc<TcpListener>) {
    let port = free_port();
    let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).expect("the port is free");
    (port, Arc::new(socket))
}

#[test]
fn a_connection_waits_in_an_inherited_socket_until_the_program_serves() {
    let origin = Origin::plain();
    let ((port, socket), (admin, admin_socket)) = (listening(), listening());
    let mut early = Client::connect(port);
    early.write(&Request::get("/early").bytes());
    let mut check = Client::connect(admin);
    check.write(&Request::get("/healthz").host("localhost").bytes());
    let setup = Setup::site(origin.port, "").socket(&socket).socket(&admin_socket);
    let mut beadle = setup.spawn_on(port, admin);
    assert_eq!(early.response("GET").expect("an answer").text(), "origin: /early");
    assert_eq!(check.response("GET").expect("an answer").status, 200);
    beadle.wait_until_ready();
    // Also between two runs.
    let (status, _) = beadle.stop();
    assert_eq!(status.code(), Some(0));
    let mut between = Client::connect(port);
    between.write(&Request::get("/between").bytes());
    let beadle = beadle.restarted();
    assert_eq!(between.response("GET").expect("an answer").text(), "origin: /between");
    assert_eq!(beadle.get("/after", "curl/8").status, 200);
}

#[test]
fn a_listener_without_an_inherited_socket_is_bound() {
    let origin = Origin::plain();
    let ((port, socket), (other, admin)) = (listening(), (free_port(), free_port()));
    let listener = format!("\"127.0.0.1:{other}\"");
    let setup = Setup::site(origin.port, "").listener(&listener).socket(&socket);
    let beadle = setup.spawn_on(port, admin);
    beadle.wait_until_ready();
    for port in [port, other] {
        assert_eq!(Request::get("/").send(port).status, 200);
    }
}

#[test]
fn an_inherited_socket_without_an_address_in_the_policy_stops_the_start() {
    let origin = Origin::plain();
    let (port, socket) = listening();
    let mut beadle = Setup::site(origin.port, "").socket(&socket).spawn();
    assert_eq!(beadle.wait().0.code(), Some(2));
    beadle.wait_for_stderr(&format!("a socket at 127.0.0.1:{port}"));
    beadle.wait_for_stderr("ListenStream=");
}

#[test]
fn an_inherited_descriptor_that_is_no_tcp_socket_stops_the_start() {
    let script = "export LISTEN_FDS=1 LISTEN_PID=$$; exec \"$0\" serve 3</dev/null";
    let output = Command::new("sh").args(["-c", script, PROGRAM]).output();
    let output = output.expect("the program can be started");
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("socket activation") && text.contains("not a socket"), "{text}");
}

#[test]
fn sockets_for_another_process_are_left_alone() {
    let origin = Origin::plain();
    let setup = Setup::site(origin.port, "");
    let beadle = setup.environment("LISTEN_FDS", "1".into()).environment("LISTEN_PID", "1".into());
    let beadle = beadle.start();
    assert_eq!(beadle.get("/", "curl/8").status, 200);
}

/// The socket on which systemd listens.
struct Notifications {
    socket: UnixDatagram,
    _folder: tempfile::TempDir,
}

impl Notifications {
    fn listen() -> (Self, std::path::PathBuf) {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let path = folder.path().join("notify");
        let socket = UnixDatagram::bind(&path).expect("the folder is ours");
        socket.set_read_timeout(Some(PATIENCE)).expect("a time");
        (Self { socket, _folder: folder }, path)
    }

    /// The next message, line by line.
    fn next(&self) -> Vec<String> {
        let mut buffer = [0; 4096];
        let length = self.socket.recv(&mut buffer).expect("a message");
        let text = String::from_utf8_lossy(&buffer[..length]).into_owned();
        text.lines().map(str::to_owned).collect()
    }

    fn expect_reload(&self, status: &str) {
        let begun = self.next();
        assert_eq!(begun[0], "RELOADING=1", "{begun:?}");
        let time = begun[1].strip_prefix("MONOTONIC_USEC=").and_then(|time| time.parse().ok());
        assert!(time.is_some_and(|time: u64| time > 0), "{begun:?}");
        let ended = self.next();
        assert_eq!(ended[0], "READY=1", "{ended:?}");
        assert!(ended[1].starts_with(status), "{ended:?}");
    }
}

#[test]
fn systemd_hears_of_start_reload_and_end() {
    let origin = Origin::plain();
    let (notifications, path) = Notifications::listen();
    let mut beadle = Setup::site(origin.port, "").environment("NOTIFY_SOCKET", path).spawn();
    assert_eq!(notifications.next(), ["READY=1", "STATUS=serving"]);
    // It is true at once, without another look.
    assert_eq!(beadle.get("/", "curl/8").status, 200);
    assert_eq!(beadle.admin_page("/readyz").status, 200);
    beadle.signal("HUP");
    notifications.expect_reload("STATUS=serving");
    let good = beadle.policy_text();
    beadle.replace_policy(&good.replace("hosts:", "host:"));
    // The file is read at the next look, or at the signal.
    beadle.signal("HUP");
    notifications.expect_reload("STATUS=policy refused, the last good one is in force: ");
    beadle.replace_policy(&good);
    beadle.signal("HUP");
    wait_for("the good policy", || {
        notifications.next().contains(&"STATUS=serving".to_owned()).then_some(())
    });
    beadle.signal("TERM");
    let last = wait_for("the end", || {
        let message = notifications.next();
        (message[0] == "STOPPING=1").then_some(message)
    });
    assert_eq!(last[1], "STATUS=completing requests in progress");
    assert_eq!(beadle.wait().0.code(), Some(0));
}

#[test]
fn a_missing_notify_socket_stops_nothing() {
    let origin = Origin::plain();
    let nowhere = "/nowhere/notify".into();
    let beadle = Setup::site(origin.port, "").environment("NOTIFY_SOCKET", nowhere).start();
    beadle.wait_for_stderr("systemd");
    beadle.assert_healthy("a failed notification");
}

/// Answers `/slow` in ten parts, the others at once.
fn slow_origin(step: Duration) -> Origin {
    Origin::playing(move |exchange| {
        if exchange.request.target == b"/slow" {
            exchange.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
            for _ in 0..10 {
                exchange.write(b"1\r\nx\r\n");
                std::thread::sleep(step);
            }
            exchange.write(b"0\r\n\r\n");
            return After::Close;
        }
        exchange.answer("200 OK", &[], b"a page");
        After::Keep
    })
}

/// The ID of a successor, which ends with the test.
struct Successor(String);

impl Successor {
    fn is_alive(&self) -> bool {
        Path::new("/proc").join(&self.0).exists()
    }

    fn end(&self) -> bool {
        let ended = Command::new("kill").args(["-s", "TERM", &self.0]).status();
        ended.is_ok_and(|status| status.success())
    }
}

impl Drop for Successor {
    fn drop(&mut self) {
        if self.is_alive() {
            self.end();
        }
    }
}

#[test]
fn a_successor_serves_while_the_program_completes_its_requests() {
    let step = if is_full_size() { 2_500 } else { 500 };
    let origin = slow_origin(Duration::from_millis(step));
    let (notifications, path) = Notifications::listen();
    let rules = "    robots_txt: { groups: [{ user_agents: ['*'], disallow: [/private/] }] }\n";
    let setup = Setup::site(origin.port, rules).environment("NOTIFY_SOCKET", path);
    let mut beadle = setup.start();
    assert_eq!(notifications.next(), ["READY=1", "STATUS=serving"]);
    // A policy that is refused stops no request.
    let good = beadle.policy_text();
    beadle.replace_policy(&good.replace("hosts:", "host:"));
    beadle.signal("USR2");
    beadle.wait_for_stderr("no successor: this process goes on");
    assert_eq!(beadle.get("/", "curl/8").status, 200);
    beadle.replace_policy(&good);

    let mut download = Client::connect(beadle.port);
    download.write(&Request::get("/slow").bytes());
    assert_eq!(download.head().expect("a head").status, 200);
    beadle.signal("USR2");
    let process = wait_for("MAINPID", || {
        let message = notifications.next();
        message.first()?.strip_prefix("MAINPID=").map(|id| Successor(id.to_owned()))
    });
    beadle.wait_for_stderr("completing requests in progress");
    // New connections are answered while the download goes on.
    for _ in 0..50 {
        assert_eq!(beadle.get("/", "curl/8").status, 200);
    }
    assert_eq!(beadle.get("/private/x", "GPTBot/1.2").status, 200);
    assert!(beadle.ended().is_none(), "the download goes on");
    assert_eq!(beadle.admin_page("/readyz").status, 200);
    let body = download.rest();
    assert_eq!((body.len(), body.ends_with(b"\r\n0\r\n\r\n")), (10 * 6 + 5, true));
    assert_eq!(beadle.wait().0.code(), Some(0));
    // The one that is left does everything.
    assert_eq!(beadle.get("/", "curl/8").status, 200);
    assert_eq!(beadle.records(1)[0]["path"], "/private/x");
    assert!(process.end());
    wait_for("its end", || (!process.is_alive()).then_some(()));
}
