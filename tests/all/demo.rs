//! `beadle demo` comes up whatever ports are in use, and beside other demos. `beadle serve` needs no
//! policy file.

use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader, Read},
    net::{Ipv4Addr, TcpListener},
    path::Path,
    process::{Child, Command, Stdio},
};

use crate::support::{
    client::Request,
    origin::{After, Origin},
    ports::free_ports,
    program::{PROGRAM, try_status},
    wait_for,
};

/// A running demo; dropping it kills the process.
struct Demo {
    child: Child,
    proxy: u16,
    admin: u16,
}

impl Drop for Demo {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts a demo without waiting for it.
fn spawn(folder: &Path, args: &[&str]) -> Child {
    Command::new(PROGRAM)
        .args(["demo", "--no-traffic"])
        .args(args)
        .env("TMPDIR", folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program can be started")
}

/// Reads what it prints up to the last line of its guide.
fn started(mut child: Child) -> Demo {
    let text = printed(&mut child, "Ctrl-C ends the demo.\n");
    let port = |end: &str| {
        let (before, _) = text.split_once(end).expect("it names its addresses");
        let (_, port) = before.rsplit_once("127.0.0.1:").expect("it is on loopback");
        port.parse().expect("a port")
    };
    Demo { child, proxy: port("\n"), admin: port("/metrics") }
}

/// What it prints, up to this line.
fn printed(child: &mut Child, last: &str) -> String {
    let mut text = String::new();
    for line in BufReader::new(child.stdout.take().expect("it is piped")).lines() {
        text.push_str(&line.expect("it prints UTF-8"));
        text.push('\n');
        if text.ends_with(last) {
            return text;
        }
    }
    let mut errors = String::new();
    let read = child.stderr.take().map(|mut stderr| stderr.read_to_string(&mut errors));
    panic!("{:?}, {read:?}: {text}{errors}", child.wait());
}

#[test]
fn demos_that_start_at_once_all_come_up() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let children: Vec<Child> = (0..5).map(|_| spawn(folder.path(), &[])).collect();
    let demos: Vec<Demo> = children.into_iter().map(started).collect();
    let ports: BTreeSet<u16> = demos.iter().flat_map(|demo| [demo.proxy, demo.admin]).collect();
    assert_eq!(ports.len(), 2 * demos.len(), "{ports:?}");
    for demo in &demos {
        assert_eq!(try_status(demo.admin, "/readyz"), Some(200));
        assert_eq!(try_status(demo.proxy, "/"), Some(200));
        // The guide leads to these pages.
        for page in ["/", "/try?user_agent=GPTBot/1.2&url=/news/", "/live"] {
            assert_eq!(try_status(demo.admin, page), Some(200), "{page}");
        }
    }
}

#[test]
fn the_admin_listener_takes_the_next_free_port() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let first = free_ports(4);
    let busy = TcpListener::bind((Ipv4Addr::LOCALHOST, first + 1)).expect("it is reserved");
    let demo = started(spawn(folder.path(), &["--port", &first.to_string()]));
    assert_eq!((demo.proxy, demo.admin), (first, first + 2));
    // A port that was asked for is no other.
    let other = spawn(folder.path(), &["--port", &first.to_string()]);
    let output = other.wait_with_output().expect("it ends");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("choose another --port"), "{stderr}");
    drop(busy);
}

#[test]
fn serve_takes_an_origin_in_place_of_a_policy_and_makes_a_file_of_it() {
    let origin = Origin::playing(|exchange| {
        exchange.answer(
            "200 OK",
            &["Content-Type: text/plain"],
            b"User-agent: *\nDisallow: /old/\n",
        );
        After::Close
    });
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let url = format!("http://127.0.0.1:{}", origin.port);
    let serve = || {
        let args = ["serve", "--origin", &url, "--listen", "127.0.0.1:0", "--write", "beadle.yaml"];
        let mut command = Command::new(PROGRAM);
        command.args(args).current_dir(folder.path()).env_remove("BEADLE_CONFIG");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("the program can be started")
    };
    let mut child = serve();
    let text = printed(&mut child, "Ctrl-C ends Beadle.\n");
    let port = |name: &str| {
        let (_, rest) = text.split_once(name).expect("it names its addresses");
        let (_, rest) = rest.split_once("http://127.0.0.1:").expect("it is on loopback");
        rest.split_once('/').and_then(|(port, _)| port.parse().ok()).expect("a port")
    };
    let running = Demo { child, proxy: port("the site"), admin: port("the desk") };
    wait_for("the origin's rules", || {
        let robots = Request::get("/robots.txt").host("any.example").send(running.proxy);
        (robots.status == 200 && robots.text().contains("Disallow: /old/")).then_some(())
    });
    let page = Request::get("/old/a").host("other.example").user_agent("GPTBot/1.2");
    assert_eq!(page.send(running.proxy).status, 200);
    assert_eq!(try_status(running.admin, "/"), Some(200));
    // The file is a policy as any other: verbs find the records by it.
    wait_for("the record", || {
        let mut list = Command::new(PROGRAM);
        list.args(["violations"]).current_dir(folder.path()).env_remove("BEADLE_CONFIG");
        let list = list.output().expect("the program can be started");
        String::from_utf8_lossy(&list.stdout).contains("/old/a").then_some(())
    });
    let again = serve().wait_with_output().expect("it ends");
    let stderr = String::from_utf8_lossy(&again.stderr);
    assert_eq!(again.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("beadle.yaml exists (serve it with --config"), "{stderr}");
}
