//! People and crawlers, each at a steady rate, however long the answers take.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpSocket,
    sync::Mutex,
    task::JoinSet,
    time::{self, MissedTickBehavior},
};

use super::{HOST, harness::process::Address, origin::Origin};

/// Between two requests of people, and of crawlers.
const PEOPLE: Duration = Duration::from_millis(50);
const CRAWLERS: Duration = Duration::from_millis(5);
/// The time of people alone, and that of the crawlers before anything is measured.
const BEFORE: Duration = Duration::from_secs(10);
/// The longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(10);
const ADDRESSES: u16 = 500;
const BROWSER: &str =
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:130.0) Gecko/20100101 Firefox/130.0";
const NAMES: [&str; 3] = [
    "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)",
    "Mozilla/5.0 (compatible; ClaudeBot/1.0; +http://www.anthropic.com)",
    "Mozilla/5.0 (compatible; Bytespider; +https://zhanzhang.toutiao.com/)",
];

/// What is sent to one server.
pub(super) struct Load {
    pub(super) address: Address,
    pub(super) has_crawlers: bool,
    /// The time that is measured.
    pub(super) time: Duration,
}

/// What came back.
#[derive(Default)]
pub(super) struct Figures {
    pub(super) people: Vec<Duration>,
    /// People without an answer, or with an error.
    pub(super) unanswered: usize,
    pub(super) passed: usize,
    pub(super) refused: usize,
    /// The requests of crawlers at the origin, each second.
    pub(super) at_origin: Vec<usize>,
}

impl Load {
    pub(super) async fn send(&self, origin: &Origin) -> Figures {
        let figures = Arc::new(Mutex::new(Figures::default()));
        let start = Instant::now();
        let (measured, end) = (start + 2 * BEFORE, start + 2 * BEFORE + self.time);
        let (mut people, mut crawlers) = (every(PEOPLE), every(CRAWLERS));
        let (mut second, mut number, mut requests) =
            (every(Duration::from_secs(1)), 0_u16, JoinSet::new());
        while Instant::now() < end {
            let is_measured = Instant::now() >= measured;
            tokio::select! {
                _ = people.tick() => {
                    let (address, figures) = (self.address.socket(), Arc::clone(&figures));
                    requests.spawn(async move {
                        let (start, status) = (Instant::now(), get(address, None, BROWSER).await);
                        let mut figures = figures.lock().await;
                        if is_measured && status == Some(200) {
                            figures.people.push(start.elapsed());
                        }
                        figures.unanswered += usize::from(is_measured && status != Some(200));
                    });
                }
                _ = crawlers.tick(), if self.has_crawlers && start.elapsed() > BEFORE => {
                    number = (number + 1) % ADDRESSES;
                    let from = Ipv4Addr::new(127, 1, (number / 250) as u8, 1 + (number % 250) as u8);
                    let name = NAMES[usize::from(number) % NAMES.len()];
                    let (address, figures) = (self.address.socket(), Arc::clone(&figures));
                    requests.spawn(async move {
                        let status = get(address, Some(from), name).await;
                        let is_measured = (measured..end).contains(&Instant::now());
                        let mut figures = figures.lock().await;
                        figures.passed += usize::from(is_measured && status == Some(200));
                        figures.refused += usize::from(is_measured && matches!(status, Some(429 | 503)));
                    });
                }
                _ = second.tick(), if is_measured => {
                    figures.lock().await.at_origin.push(origin.crawlers.load(Ordering::Relaxed));
                }
            }
            while requests.try_join_next().is_some() {}
        }
        while requests.join_next().await.is_some() {}
        std::mem::take(&mut *figures.lock().await)
    }
}

fn every(time: Duration) -> time::Interval {
    let mut ticks = time::interval(time);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    ticks
}

/// The status of the answer to a request over a connection of its own; `None` without one in time.
async fn get(address: SocketAddr, from: Option<Ipv4Addr>, user_agent: &str) -> Option<u16> {
    let answer = async {
        let socket = TcpSocket::new_v4().ok()?;
        if let Some(from) = from {
            socket.bind((from, 0).into()).ok()?;
        }
        let mut stream = socket.connect(address).await.ok()?;
        let request = format!(
            "GET /page HTTP/1.1\r\nHost: {HOST}\r\nUser-Agent: {user_agent}\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await.ok()?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.ok()?;
        str::from_utf8(answer.get(9..12)?).ok()?.parse().ok()
    };
    time::timeout(PATIENCE, answer).await.ok().flatten()
}
