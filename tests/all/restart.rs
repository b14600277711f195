//! A restart with systemd's sockets: clients that come all the time notice nothing.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{Instant, MissedTickBehavior, interval, timeout},
};

use crate::support::{
    PATIENCE, conditions::is_full_size, free_port, origin::Origin, program::Setup, wait_for,
};

/// The clients with a kept-alive connection. They send half of all requests.
const KEPT_ALIVE: u32 = 50;

/// Requests at a fixed rate, whether or not the earlier ones have their answers.
struct Load {
    stopped: Arc<AtomicBool>,
    counts: Arc<Counts>,
    thread: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Counts {
    answered: AtomicU64,
    refused: AtomicU64,
    failed: AtomicU64,
    connections: AtomicU64,
    /// The longest time to an answer, in milliseconds.
    slowest: AtomicU64,
}

impl Counts {
    fn count(&self, outcome: &io::Result<bool>, started: Instant) {
        let counter = match outcome {
            Ok(_) => &self.answered,
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => &self.refused,
            Err(error) => {
                eprintln!("a request failed: {error}");
                &self.failed
            }
        };
        counter.fetch_add(1, Ordering::Relaxed);
        let took = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.slowest.fetch_max(took, Ordering::Relaxed);
    }

    fn answered(&self) -> u64 {
        self.answered.load(Ordering::Relaxed)
    }
}

impl Load {
    fn start(port: u16, rate: u32) -> Self {
        let (stopped, counts) = (Arc::new(AtomicBool::new(false)), Arc::<Counts>::default());
        let (stop, results) = (Arc::clone(&stopped), Arc::clone(&counts));
        let thread = std::thread::spawn(move || {
            let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(send(address, rate, &stop, &results));
        });
        Self { stopped, counts, thread }
    }

    /// Ends the load, after the answers to all requests.
    fn stop(self) -> Arc<Counts> {
        self.stopped.store(true, Ordering::Release);
        self.thread.join().expect("the load does not panic");
        self.counts
    }
}

/// Sends requests until `stopped`, and waits for their answers.
async fn send(address: SocketAddr, rate: u32, stopped: &Arc<AtomicBool>, counts: &Arc<Counts>) {
    let mut tasks = tokio::task::JoinSet::new();
    let half = Duration::from_secs(2) / rate;
    for _ in 0..KEPT_ALIVE {
        let (stopped, counts) = (Arc::clone(stopped), Arc::clone(counts));
        tasks.spawn(async move {
            let mut turns = interval(half * KEPT_ALIVE);
            turns.set_missed_tick_behavior(MissedTickBehavior::Burst);
            let mut open = None;
            while !stopped.load(Ordering::Acquire) {
                turns.tick().await;
                let started = Instant::now();
                let outcome = ask(address, &mut open, &counts).await;
                counts.count(&outcome, started);
            }
        });
    }
    let mut turns = interval(half);
    turns.set_missed_tick_behavior(MissedTickBehavior::Burst);
    while !stopped.load(Ordering::Acquire) {
        turns.tick().await;
        let counts = Arc::clone(counts);
        tasks.spawn(async move {
            let started = Instant::now();
            let outcome = ask(address, &mut None, &counts).await;
            counts.count(&outcome, started);
        });
    }
    while tasks.join_next().await.is_some() {}
}

/// Sends a request over the connection, or over a new one, and reads the answer. The connection stays
/// if the answer keeps it alive.
async fn ask(
    address: SocketAddr,
    open: &mut Option<TcpStream>,
    counts: &Counts,
) -> io::Result<bool> {
    let exchange = async {
        let mut stream = match open.take() {
            Some(stream) => stream,
            None => {
                counts.connections.fetch_add(1, Ordering::Relaxed);
                TcpStream::connect(address).await?
            }
        };
        stream
            .write_all(b"GET /page HTTP/1.1\r\nHost: site.example\r\nUser-Agent: x\r\n\r\n")
            .await?;
        let mut answer = Vec::new();
        let is_kept = loop {
            if stream.read_buf(&mut answer).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let text = String::from_utf8_lossy(&answer);
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            if !head.starts_with("HTTP/1.1 200 ") {
                return Err(io::Error::other(head.to_owned()));
            }
            if body == "origin: /page" {
                break !head.to_ascii_lowercase().contains("connection: close");
            }
        };
        *open = is_kept.then_some(stream);
        Ok(is_kept)
    };
    timeout(PATIENCE, exchange).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

#[test]
fn restarts_with_sockets_from_systemd_refuse_and_fail_nothing() {
    let (rate, restarts, pause) = match is_full_size() {
        true => (1_000, 5, Duration::from_secs(2)),
        false => (200, 2, Duration::from_millis(300)),
    };
    let origin = Origin::plain();
    let port = free_port();
    let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).expect("the port is free");
    // All clients are in one network.
    let setup = Setup::site(origin.port, "")
        .server("  trusted_proxies: [127.0.0.0/8]\n")
        .socket(&Arc::new(socket));
    let mut beadle = setup.spawn_on(port, free_port());
    beadle.wait_until_ready();
    let started = Instant::now();
    let load = Load::start(port, rate);
    for restart in 0..restarts {
        let before = load.counts.answered();
        wait_for("answers", || {
            (load.counts.answered() > before + u64::from(rate) / 4).then_some(())
        });
        std::thread::sleep(pause);
        beadle.signal("TERM");
        let (status, took) = beadle.wait();
        assert_eq!(status.code(), Some(0), "restart {restart}");
        eprintln!("restart {restart}: ended after {took:?}");
        beadle = beadle.restarted();
    }
    std::thread::sleep(pause);
    let (seconds, counts) = (started.elapsed().as_secs_f64(), load.stop());
    let all = counts.answered();
    eprintln!("{:.0} requests a second for {seconds:.1} s: {counts:?}", all as f64 / seconds);
    let [refused, failed] =
        [&counts.refused, &counts.failed].map(|one| one.load(Ordering::Relaxed));
    assert_eq!((refused, failed), (0, 0), "{counts:?}");
    assert!(all > u64::from(rate * restarts) / 4, "{counts:?}");
}
