//! Crawlers that obey what they read are never refused, while the clock of a node is set, and while nodes
//! have different servers between them.

use std::{
    io,
    path::PathBuf,
    process::Command,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use parking_lot::Mutex;

use crate::support::{
    client::{Client, Request, Response},
    conditions::is_full_size,
    dice::Dice,
    need,
    origin::Origin,
    program::{Beadle, Setup},
    relay::Relay,
    valkey::Valkey,
    wait_for,
};

const NODES: usize = 3;
/// The paths that rules close in turns.
const PATHS: usize = 6;
const NAMES: [&str; 4] = ["GPTBot/1.2", "CCBot/2.0", "AhrefsBot/7.0", "AlphaBot/1.0"];
/// The pause between two requests of a thread at full size.
const PAUSE: Duration = Duration::from_micros(500);
/// The requests of each scenario at full size.
const WANTED: usize = 100_000;

/// The end of a run, also by a panic.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

struct Fleet {
    nodes: Vec<Mutex<Option<Beadle>>>,
    /// The numbers in the names of the nodes.
    names: Vec<AtomicUsize>,
    ports: Vec<u16>,
    lines: Vec<Relay>,
    /// The nodes whose rules are left alone.
    is_still: Vec<AtomicBool>,
    origin: Origin,
    begun: Instant,
    requests: AtomicUsize,
    wrong: Mutex<Vec<String>>,
}

impl Fleet {
    /// Three nodes at this server, the second with a clock of its own.
    fn start(server: &Valkey, clock: Option<&FakeClock>) -> Self {
        let origin = Origin::plain();
        let lines: Vec<_> = (0..NODES).map(|_| Relay::to(server.port)).collect();
        let nodes: Vec<Beadle> = (0..NODES)
            .map(|node| {
                let setup = setup(&origin, lines[node].port, node, 0);
                let clock = clock.filter(|_| node == 1);
                match clock {
                    Some(clock) => clock.of(setup).start(),
                    None => setup.start(),
                }
            })
            .collect();
        nodes.iter().for_each(|node| node.wait_for_metric("beadle_fleet_nodes", 3.0));
        Self {
            names: (0..NODES).map(AtomicUsize::new).collect(),
            ports: nodes.iter().map(|node| node.port).collect(),
            nodes: nodes.into_iter().map(|node| Mutex::new(Some(node))).collect(),
            lines,
            is_still: (0..NODES).map(|_| AtomicBool::new(false)).collect(),
            origin,
            begun: Instant::now(),
            requests: AtomicUsize::new(0),
            wrong: Mutex::default(),
        }
    }

    /// Lets crawlers ask and rules change while `disorder` happens, at full size until there were enough
    /// requests.
    fn run(&self, name: &str, disorder: impl Fn(&Self)) {
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let is_over = &is_over;
                scope.spawn(move || self.crawl(thread, is_over));
            }
            scope.spawn(|| self.publish(&is_over));
            let _end = End(&is_over);
            loop {
                disorder(self);
                let so_far = self.requests.load(Ordering::Relaxed);
                if !is_full_size() || so_far >= WANTED || !self.wrong.lock().is_empty() {
                    break;
                }
            }
        });
        let (requests, wrong) = (self.requests.load(Ordering::Relaxed), self.wrong.lock());
        let seconds = self.begun.elapsed().as_secs();
        eprintln!("{name}: {requests} requests in {seconds} s, {} wrong", wrong.len());
        assert!(wrong.is_empty(), "{name}: {:#?}", &wrong[..wrong.len().min(8)]);
    }

    /// Every node refuses what all rules close.
    fn assert_judges(&self) {
        for (node, port) in self.ports.iter().enumerate() {
            self.wait_until_alone(node, false);
            let refused =
                || (ask(*port, NAMES[0], 1, "/never/x").ok()?.status == 403).then_some(());
            wait_for("a refusal of what all rules close", refused);
        }
    }

    /// Crawlers that obey what they fetched last.
    fn crawl(&self, thread: usize, is_over: &AtomicBool) {
        let mut dice = Dice(0x9E37_79B9_7F4A_7C15 ^ (thread as u64 + 1));
        let mut held: Vec<Option<usize>> = vec![None; NAMES.len()];
        while !is_over.load(Ordering::Relaxed) {
            let (crawler, node) = (dice.roll(NAMES.len()), dice.roll(NODES));
            let send = |target: &str| ask(self.ports[node], NAMES[crawler], thread, target);
            let path = dice.roll(PATHS);
            match held[crawler].filter(|_| dice.roll(20) > 0) {
                None => {
                    // A node that starts again answers later.
                    let Ok(file) = send("/robots.txt") else { continue };
                    let text = file.text();
                    let closed = (0..PATHS).filter(|path| text.contains(&format!("/p{path}/")));
                    held[crawler] = Some(closed.map(|path| 1 << path).sum());
                }
                Some(mask) if mask >> path & 1 == 0 => {
                    let Ok(answer) = send(&format!("/p{path}/x")) else { continue };
                    self.requests.fetch_add(1, Ordering::Relaxed);
                    if answer.status != 200 {
                        let at = self.begun.elapsed();
                        let name = NAMES[crawler];
                        self.wrong.lock().push(format!(
                            "{at:?}: {} for {name}-{thread}, /p{path}/ at node {node}, by {mask:b}",
                            answer.status
                        ));
                    }
                }
                Some(_) => {}
            }
            std::thread::sleep(PAUSE.mul_f64(if is_full_size() { 1.0 } else { 30.0 }));
        }
    }

    /// Gives other rules to one node after the other.
    fn publish(&self, is_over: &AtomicBool) {
        let mut dice = Dice(0x2545_F491_4F6C_DD1D);
        let mut mask = 0;
        while !is_over.load(Ordering::Relaxed) {
            let node = dice.roll(NODES);
            if dice.roll(3) > 0 {
                mask = dice.roll(1 << PATHS);
            }
            if !self.is_still[node].load(Ordering::Relaxed)
                && let Some(beadle) = self.nodes[node].lock().as_ref()
            {
                let next = self.setup(node, mask);
                beadle.replace_policy(&beadle.text_of(&next));
                beadle.signal("HUP");
            }
            std::thread::sleep(Duration::from_millis(600 + dice.roll(900) as u64));
        }
    }

    /// Starts a node again, with the rules that it serves.
    fn restart(&self, node: usize) {
        self.is_still[node].store(true, Ordering::Relaxed);
        std::thread::sleep(Duration::from_secs(1));
        let file = ask(self.ports[node], NAMES[0], 9, "/robots.txt").expect("it serves").text();
        let closed = (0..PATHS).filter(|path| file.contains(&format!("/p{path}/")));
        let mask = closed.map(|path| 1 << path).sum();
        let mut beadle = self.nodes[node].lock();
        let setup = self.setup(node, mask);
        *beadle = beadle.take().map(|beadle| beadle.restarted_as("TERM", setup));
    }

    /// Starts a node again with the name of another one, or with its own.
    fn restart_as(&self, node: usize, name: usize) {
        self.names[node].store(name, Ordering::Relaxed);
        self.restart(node);
        self.stir();
    }

    fn setup(&self, node: usize, mask: usize) -> Setup {
        let name = self.names[node].load(Ordering::Relaxed);
        setup(&self.origin, self.lines[node].port, name, mask)
    }

    /// Lets rules of all nodes change again.
    fn stir(&self) {
        self.is_still.iter().for_each(|one| one.store(false, Ordering::Relaxed));
    }

    /// Waits until a node is alone, or no longer.
    fn wait_until_alone(&self, node: usize, is_alone: bool) {
        let beadle = self.nodes[node].lock();
        let beadle = beadle.as_ref().expect("it runs");
        beadle.wait_for_metric("beadle_fleet_alone", f64::from(u8::from(is_alone)));
    }
}

fn setup(origin: &Origin, line: u16, node: usize, mask: usize) -> Setup {
    let closed: String = (0..PATHS)
        .filter(|path| mask >> path & 1 == 1)
        .map(|path| format!("/p{path}/, "))
        .collect();
    Setup::site(
        origin.port,
        &format!(
            "    robots_txt:\n      cache_window: 1h\n      groups:\n        - {{ user_agents: [\"*\"], \
             disallow: [{closed}/never/] }}\n    enforcement: {{ mode: block, breaker: \"off\" }}\n"
        ),
    )
    .sections(&format!("fleet: {{ shared: \"redis://127.0.0.1:{line}\", node: node{node} }}\n"))
    .server("  trusted_proxies: [127.0.0.1]\n")
}

fn ask(port: u16, name: &str, network: usize, target: &str) -> io::Result<Response> {
    let request = Request::get(target)
        .user_agent(&format!("Mozilla/5.0 (compatible; {name}; +https://bot.example)"))
        .field("X-Forwarded-For", format!("198.51.{network}.7"));
    let mut client = Client::try_connect(port)?;
    client.try_write(&request.bytes())?;
    client.response("GET")
}

/// A wall clock that can be set, by libfaketime.
struct FakeClock {
    library: PathBuf,
    folder: tempfile::TempDir,
}

impl FakeClock {
    fn new() -> Option<Self> {
        let mut command = Command::new(need("faketime")?);
        let output = command.args(["-m", "-f", "+0", "printenv", "LD_PRELOAD"]).output();
        let library = output.expect("an installed program can be started").stdout;
        let library = String::from_utf8_lossy(&library).trim().into();
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let clock = Self { library, folder };
        clock.set(0);
        Some(clock)
    }

    fn of(&self, setup: Setup) -> Setup {
        setup
            .environment("LD_PRELOAD", self.library.clone())
            .environment("FAKETIME_TIMESTAMP_FILE", self.file())
            .environment("FAKETIME_NO_CACHE", "1".into())
            .environment("FAKETIME_DONT_FAKE_MONOTONIC", "1".into())
            .environment("DONT_FAKE_MONOTONIC", "1".into())
    }

    /// Sets the clock to the right time and so many seconds.
    fn set(&self, ahead: i64) {
        let next = self.folder.path().join("next");
        std::fs::write(&next, format!("{ahead:+}")).expect("the folder is ours");
        std::fs::rename(next, self.file()).expect("the folder is ours");
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("time")
    }
}

#[test]
#[ignore = "minutes of faults: .ci/long runs it"]
fn a_clock_that_is_set_back_and_forth_while_its_node_runs_refuses_nobody() {
    let (Some(clock), Some(server)) = (FakeClock::new(), Valkey::start()) else { return };
    let fleet = Fleet::start(&server, Some(&clock));
    fleet.run("clocks", |fleet| {
        for ahead in [-10, 0, -30, -300, 0, -3_600, -86_400, 3_600, -30, 0] {
            clock.set(ahead);
            std::thread::sleep(Duration::from_secs(2));
        }
        let node = fleet.nodes[1].lock();
        let said = node.as_ref().expect("it runs").stderr();
        assert!(said.contains("clock.set_back"), "{said}");
    });
    fleet.assert_judges();
}

/// Longer than a silent node counts as live.
const LONG: Duration = Duration::from_secs(15);

#[test]
fn a_node_that_another_server_answers_refuses_nobody() {
    let (Some(server), Some(other)) = (Valkey::start(), Valkey::start()) else { return };
    let fleet = Fleet::start(&server, None);
    fleet.run("another server", |fleet| {
        fleet.lines[2].aim(other.port);
        std::thread::sleep(LONG);
        // The others follow, one after the other.
        for node in [0, 1] {
            fleet.lines[node].aim(other.port);
            std::thread::sleep(Duration::from_secs(2));
        }
        (0..NODES).for_each(|node| fleet.wait_until_alone(node, false));
        // Back to the first, which has the data of before.
        fleet.lines.iter().for_each(|line| line.aim(server.port));
        std::thread::sleep(Duration::from_secs(2));
        (0..NODES).for_each(|node| fleet.wait_until_alone(node, false));
    });
    fleet.assert_judges();
}

#[test]
#[ignore = "minutes of faults: .ci/long runs it"]
fn a_replica_that_is_made_primary_for_one_node_refuses_nobody() {
    let Some(server) = Valkey::start() else { return };
    let replica = Valkey::start_with(&["--replicaof", "127.0.0.1", &server.port.to_string()]);
    let replica = replica.expect("the first one was installed");
    let is_up = || replica.ask(&["INFO", "replication"]).contains("master_link_status:up");
    let fleet = Fleet::start(&server, None);
    let port = server.port.to_string();
    fleet.run("a replica", |fleet| {
        wait_for("the replication", || is_up().then_some(()));
        assert!(replica.ask(&["REPLICAOF", "NO", "ONE"]).contains("OK"));
        fleet.lines[1].aim(replica.port);
        std::thread::sleep(LONG);
        fleet.lines[1].aim(server.port);
        fleet.wait_until_alone(1, false);
        assert!(replica.ask(&["REPLICAOF", "127.0.0.1", &port]).contains("OK"));
    });
    fleet.assert_judges();
}

#[test]
#[ignore = "minutes of faults: .ci/long runs it"]
fn two_nodes_with_one_name_refuse_nobody() {
    let Some(server) = Valkey::start() else { return };
    let fleet = Fleet::start(&server, None);
    fleet.run("one name", |fleet| {
        fleet.restart_as(2, 1);
        (1..NODES).for_each(|node| fleet.wait_until_alone(node, true));
        std::thread::sleep(LONG);
        fleet.restart_as(2, 2);
        (0..NODES).for_each(|node| fleet.wait_until_alone(node, false));
    });
    fleet.assert_judges();
}

#[test]
#[ignore = "minutes of faults: .ci/long runs it"]
fn a_move_to_a_new_server_node_by_node_refuses_nobody() {
    let (Some(server), Some(next)) = (Valkey::start(), Valkey::start()) else { return };
    let fleet = Fleet::start(&server, None);
    fleet.run("a move", |fleet| {
        assert!(next.ask(&["FLUSHALL"]).contains("OK"));
        for node in 0..NODES {
            fleet.lines[node].aim(next.port);
            fleet.restart(node);
            std::thread::sleep(if node == 0 { LONG } else { Duration::from_secs(2) });
        }
        fleet.lines.iter().for_each(|line| line.aim(server.port));
        fleet.stir();
    });
    let node = fleet.nodes[0].lock();
    let ready = node.as_ref().expect("it runs").admin_page("/readyz").text();
    assert!(ready.contains("the fleet's server is new"), "{ready}");
    drop(node);
    if is_full_size() {
        // Ten minutes are enough for a move.
        std::thread::sleep(Duration::from_secs(600));
        fleet.assert_judges();
    }
}
