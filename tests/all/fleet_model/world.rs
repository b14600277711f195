//! Three nodes behind HAProxy, with a real Redis and a real ClickHouse.

use std::{
    net::TcpStream,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use parking_lot::Mutex;

use super::model::{Ask, CRAWLERS, File, PATHS, Serving, Time};
use crate::support::{
    BROWSER,
    client::{Client, Request, Response},
    free_port,
    origin::Origin,
    program::{Beadle, Setup},
    relay::{Line, Relay},
    wait_for,
};

pub(super) const NODES: usize = 3;
/// A node that says it is back has the news of the others after this time.
const COMES_BACK: Time = 4_000;
/// An answer that takes longer says that the machine is too busy for bounds on time.
const STALL: Time = 400;

/// A node with its line to the others.
struct Node {
    beadle: Mutex<Option<Beadle>>,
    /// The sections that make it a node of the fleet.
    sections: String,
    port: u16,
    line: Relay,
    served: Mutex<Vec<Serving>>,
    away: Mutex<Vec<(Time, Time)>>,
    /// When it was killed.
    kills: Mutex<Vec<Time>>,
}

pub(super) struct World {
    nodes: Vec<Node>,
    pub(super) balancer: u16,
    begun: Instant,
    violations: String,
    window: Time,
    origin: Origin,
    _haproxy: Process,
    _folder: tempfile::TempDir,
}

/// A process that ends with the test.
pub(super) struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The sections of the policy of a node that make it a node of this fleet. `line` is the port of Redis.
pub(super) type Sections = fn(line: u16, node: usize) -> String;

impl World {
    /// Starts the nodes with the first file.
    pub(super) fn start(
        haproxy: &std::path::Path,
        redis: u16,
        sections: Sections,
        violations: &str,
        (file, window): (&File, Time),
    ) -> Self {
        let origin = Origin::plain();
        let begun = Instant::now();
        let nodes: Vec<_> = (0..NODES)
            .map(|number| {
                let line = Relay::to(redis);
                let sections = sections(line.port, number);
                let robots = robots(0, file, window);
                let beadle = setup(&origin, &robots, &sections, violations).start();
                let port = beadle.port;
                let from = (0, at(begun));
                let first = Serving { file: 0, announced: 0, from, until: (Time::MAX, Time::MAX) };
                Node {
                    beadle: Mutex::new(Some(beadle)),
                    sections,
                    port,
                    line,
                    served: Mutex::new(vec![first]),
                    away: Mutex::default(),
                    kills: Mutex::default(),
                }
            })
            .collect();
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let balancer = free_port();
        let servers: String = (0..)
            .zip(&nodes)
            .map(|(number, node)| {
                format!(
                    "  server node{number} 127.0.0.1:{} check inter 100 fall 2 rise 1\n",
                    node.port
                )
            })
            .collect();
        let text = format!(
            "global\n  maxconn 1000\ndefaults\n  mode http\n  timeout connect 1s\n  timeout client 30s\n  \
             timeout server 30s\n  retries 3\n  option redispatch\n  retry-on all-retryable-errors\n\
             listen fleet\n  bind 127.0.0.1:{balancer}\n  balance roundrobin\n  \
             http-response set-header X-Node %s\n{servers}"
        );
        let file = folder.path().join("haproxy.cfg");
        std::fs::write(&file, text).expect("the folder is ours");
        let child = Command::new(haproxy)
            .arg("-f")
            .arg(file)
            .arg("-db")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("an installed program can be started");
        let process = Process(child);
        wait_for("HAProxy", || TcpStream::connect(("127.0.0.1", balancer)).ok());
        let violations = violations.to_owned();
        Self {
            nodes,
            balancer,
            begun,
            violations,
            window,
            origin,
            _haproxy: process,
            _folder: folder,
        }
    }

    /// The time of the run.
    pub(super) fn now(&self) -> Time {
        at(self.begun)
    }

    /// Sends a request of a crawler by the balancer. The node is that which answered.
    pub(super) fn send(&self, crawler: usize, network: u8, target: &str) -> (Response, usize) {
        let sent = self.now();
        let response = Request::get(target)
            .user_agent(&format!("{}/1.0", CRAWLERS[crawler]))
            .field("X-Forwarded-For", format!("198.51.{network}.7"))
            .send(self.balancer);
        let node =
            response.header("x-node").and_then(|name| name.strip_prefix("node")?.parse().ok());
        let node = node.expect("the balancer names the node");
        if self.now() > sent + STALL {
            self.nodes.iter().for_each(|one| one.away.lock().push((sent, self.now() + COMES_BACK)));
        }
        (response, node)
    }

    /// Publishes a file at a node, and returns when the node serves it.
    pub(super) fn publish(&self, node: usize, number: usize, file: &File) {
        let one = &self.nodes[node];
        let announced = self.now();
        {
            let beadle = one.beadle.lock();
            let Some(beadle) = beadle.as_ref() else { return };
            beadle.replace_policy(&beadle.text_of(&self.setup(node, number, file)));
            beadle.signal("HUP");
        }
        // Asked as a person, which is no fetch of a crawler.
        let (mut last, deadline) = (self.now(), self.now() + 60_000);
        loop {
            let sent = self.now();
            match self.file_at(node) {
                Some(found) if found.contains(&format!("File: {number}\n")) => break,
                Some(_) => last = sent,
                None => return,
            }
            assert!(sent < deadline, "node {node} does not publish file {number}");
            std::thread::sleep(Duration::from_millis(15));
        }
        let mut served = one.served.lock();
        let now = self.now();
        served.last_mut().expect("it served one").until = (last, now);
        served.push(Serving {
            file: number,
            announced,
            from: (last, now),
            until: (Time::MAX, Time::MAX),
        });
    }

    /// The robots.txt that a node serves; `None` if it is down.
    fn file_at(&self, node: usize) -> Option<String> {
        let mut client = Client::try_connect(self.nodes[node].port).ok()?;
        let request = Request::get("/robots.txt").user_agent(BROWSER);
        client.try_write(&request.bytes()).ok()?;
        Some(client.response("GET").ok()?.text())
    }

    /// Ends a node with a signal, and starts it again after a while with the file that it served.
    pub(super) fn restart(&self, node: usize, signal: &str, after: Duration, files: &[File]) {
        let one = &self.nodes[node];
        let Some(mut beadle) = one.beadle.lock().take() else { return };
        let before = self.now();
        if signal == "KILL" {
            one.kills.lock().push(before);
        }
        beadle.signal(signal);
        beadle.wait();
        let mut served = one.served.lock();
        let last = served.last_mut().expect("it served one");
        last.until = (before, self.now());
        let file = last.file;
        drop(served);
        std::thread::sleep(after);
        let from = self.now();
        let beadle = beadle.restarted_as("TERM", self.setup(node, file, &files[file]));
        let now = self.now();
        let serving =
            Serving { file, announced: before, from: (from, now), until: (Time::MAX, Time::MAX) };
        one.served.lock().push(serving);
        *one.beadle.lock() = Some(beadle);
        self.was_away(node, before);
    }

    /// The node was away since then, and is back as soon as it says so.
    fn was_away(&self, node: usize, since: Time) {
        let one = &self.nodes[node];
        if let Some(beadle) = one.beadle.lock().as_ref() {
            beadle.wait_for_metric("beadle_fleet_up", 1.0);
            beadle.wait_for_metric("beadle_fleet_alone", 0.0);
        }
        one.away.lock().push((since, self.now() + COMES_BACK));
    }

    fn setup(&self, node: usize, number: usize, file: &File) -> Setup {
        let robots = robots(number, file, self.window);
        setup(&self.origin, &robots, &self.nodes[node].sections, &self.violations)
    }

    /// Takes the line of a node to the others away for a while.
    pub(super) fn part(&self, node: usize, line: Line, length: Duration) {
        let one = &self.nodes[node];
        let from = self.now();
        one.line.set(line);
        std::thread::sleep(length);
        one.line.set(Line::Open);
        self.was_away(node, from);
    }

    pub(super) fn served(&self) -> Vec<Vec<Serving>> {
        self.nodes.iter().map(|node| node.served.lock().clone()).collect()
    }

    pub(super) fn away(&self) -> Vec<Vec<(Time, Time)>> {
        self.nodes.iter().map(|node| node.away.lock().clone()).collect()
    }

    /// The refusals that a killed node may not have recorded any more.
    pub(super) fn unrecorded(&self, asks: &[Ask]) -> u64 {
        const WAITING: Time = 1_000;
        // The process ends a moment after the time of the signal.
        const ENDING: Time = 200;
        let is_lost = |ask: &&Ask| {
            let kills = self.nodes[ask.node].kills.lock();
            let is_near = |at: &Time| (*at..at + WAITING + ENDING).contains(&(ask.at.1 + WAITING));
            ask.is_refused && kills.iter().any(is_near)
        };
        asks.iter().filter(is_lost).count() as u64
    }
}

fn at(begun: Instant) -> Time {
    u64::try_from(begun.elapsed().as_millis()).expect("a run is short")
}

fn setup(origin: &Origin, robots: &str, sections: &str, violations: &str) -> Setup {
    Setup::site(origin.port, &format!("{robots}    enforcement: {{ mode: block }}\n"))
        .sections(sections)
        .violations(violations)
        .server("  trusted_proxies: [127.0.0.1]\n")
}

/// The section of the policy for a file. A record of the file tells its number.
fn robots(number: usize, file: &File, window: Time) -> String {
    let group = |(crawler, closed): (&str, &[bool; PATHS])| {
        let paths = (0..PATHS).filter(|path| closed[*path]).map(|path| format!("/p{path}/"));
        let paths: Vec<_> = paths.chain(["/never/".to_owned()]).collect();
        format!("        - {{ user_agents: [{crawler}], disallow: [{}] }}\n", paths.join(", "))
    };
    let groups: String = CRAWLERS.into_iter().zip(&file.closed).map(group).collect();
    format!(
        "    robots_txt:\n      cache_window: {window}ms\n      records: [{{ File: \"{number}\" }}]\n      \
         groups:\n{groups}"
    )
}
