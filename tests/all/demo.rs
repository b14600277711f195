//! `beadle demo` comes up whatever ports are in use, and beside other demos.

use std::{
    collections::BTreeSet,
    io::{BufRead, BufReader},
    net::{Ipv4Addr, TcpListener},
    path::Path,
    process::{Child, Command, Stdio},
};

use crate::support::{
    ports::free_ports,
    program::{PROGRAM, try_status},
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
    let mut text = String::new();
    for line in BufReader::new(child.stdout.take().expect("it is piped")).lines() {
        text.push_str(&line.expect("it prints UTF-8"));
        text.push('\n');
        if text.ends_with("Ctrl-C ends the demo.\n") {
            break;
        }
    }
    if !text.ends_with("Ctrl-C ends the demo.\n") {
        let output = child.wait_with_output().expect("it has ended");
        panic!("{}: {text}{}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    let port = |end: &str| {
        let (before, _) = text.split_once(end).expect("it names its addresses");
        let (_, port) = before.rsplit_once("127.0.0.1:").expect("it is on loopback");
        port.parse().expect("a port")
    };
    Demo { child, proxy: port("\n"), admin: port("/metrics") }
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
