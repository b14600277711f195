//! With few file descriptors new connections wait or get 503; the program goes on and needs no restart.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use crate::support::{
    client::{Client, Request},
    need,
    origin::Origin,
    program::{Beadle, Setup},
    wait_for,
};

fn process(beadle: &Beadle) -> PathBuf {
    Path::new("/proc").join(beadle.pid().to_string())
}

fn open_descriptors(beadle: &Beadle) -> usize {
    std::fs::read_dir(process(beadle).join("fd")).map_or(0, Iterator::count)
}

/// The time on a processor so far, in hundredths of a second.
fn processor_time(beadle: &Beadle) -> u64 {
    let stat = std::fs::read_to_string(process(beadle).join("stat")).expect("it runs");
    let after_name = stat.rsplit(") ").next().unwrap_or_default();
    let fields: Vec<&str> = after_name.split(' ').collect();
    fields[11..13].iter().map(|ticks| ticks.parse::<u64>().expect("a number")).sum()
}

#[test]
fn s146_without_file_descriptors_connections_wait_and_the_program_goes_on() {
    let Some(prlimit) = need("prlimit") else { return };
    let origin = Origin::plain().compared();
    let rules = "    robots_txt: { groups: [{ user_agents: [BadBot], disallow: [/private/] }] }\n    \
                 enforcement: { mode: block }\n";
    let beadle = Setup::site(origin.port, rules).start();
    let mut kept = Client::connect(beadle.port);
    assert_eq!(Request::get("/").send_over(&mut kept).status, 200);
    // Nothing in the background takes or returns descriptors meanwhile.
    wait_for("the comparison with the origin's rules", || {
        origin.received().iter().any(|one| one.target == b"/robots.txt").then_some(())
    });
    let limit = |count: usize| {
        let pid = beadle.pid().to_string();
        let status = Command::new(&prlimit)
            .args(["--pid", &pid, &format!("--nofile={count}:")])
            .status()
            .expect("it can be started");
        assert!(status.success());
    };
    let few = open_descriptors(&beadle) + 6;
    limit(few);
    let idle: Vec<Client> = (0..30).map(|_| Client::connect(beadle.port)).collect();
    wait_for("the last descriptor", || (open_descriptors(&beadle) >= few).then_some(()));
    let waiting = Client::connect(beadle.admin);
    beadle.wait_for_stderr("connection not accepted listener=\"admin\"");
    // An open connection is served, and its violation is stored.
    let before = processor_time(&beadle);
    let blocked = Request::get("/private/x").user_agent("BadBot/1.0").send_over(&mut kept);
    assert_eq!(blocked.status, 403);
    assert_eq!(beadle.records(1).len(), 1);
    std::thread::sleep(Duration::from_secs(1));
    let used = processor_time(&beadle) - before;
    assert!(used < 50, "it waits without work: {used} hundredths of a second");
    drop((idle, waiting));
    beadle.assert_healthy("a time without descriptors");
    assert_eq!(beadle.admin_page("/readyz").status, 200);
    beadle.wait_for_metric("beadle_records_stored_total", 1.0);
}

#[test]
fn a_request_that_is_accepted_has_a_descriptor_for_its_origin() {
    if need("prlimit").is_none() {
        return;
    }
    let origin = Origin::plain();
    let beadle = Setup::site(origin.port, "").files(64).start();
    beadle.wait_for_stderr("few open files");
    let mut clients: Vec<Client> = (0..16).map(|_| Client::connect(beadle.port)).collect();
    // 16 have a place; each network has a quarter of the requests at a time.
    for client in clients.iter_mut().take(16) {
        assert_eq!(Request::get("/").send_over(client).status, 200);
    }
    assert!(!beadle.stderr().contains("could be accepted"), "{}", beadle.stderr());
    let desk = beadle.admin_page("/").text();
    assert!(desk.contains("16 connections of clients are open at a time"), "{desk}");
    // Others wait for a second, and then there are descriptors to say no.
    for _ in 0..40 {
        assert_eq!(Request::get("/").send(beadle.port).status, 503);
    }
    assert!(beadle.admin_page("/healthz").text().contains("all connections are taken"));
    // The end of one is the turn of another.
    clients.pop();
    let is_served = || (Request::get("/").send(beadle.port).status == 200).then_some(());
    wait_for("a place", is_served);
}
