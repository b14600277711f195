//! Requests at a fixed rate, whether or not earlier ones have their answers.
//!
//! A request that should start while all connections wait for answers starts later, but its time counts from
//! when it should have started. So a server that stops for a moment shows it.

use std::{
    net::SocketAddr,
    rc::Rc,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    runtime,
    task::LocalSet,
    time::{Instant, sleep_until, timeout},
};

use crate::harness::{Result, figures::percentile, machine::Tools, process::Address};

/// With this argument the benchmark is the load: its own process, on the processor of the load.
pub(crate) const ARGUMENT: &str = "--steady-load";

const CONNECTIONS: usize = 64;
const PATIENCE: Duration = Duration::from_secs(10);

/// What clients noticed, in microseconds.
pub(crate) struct Steady {
    pub(crate) failures: u64,
    pub(crate) percentiles: [u64; 3],
}

/// Starts the load in another process and waits for its end.
pub(crate) fn run(tools: &Tools, address: Address, rate: u64, time: Duration) -> Result<Steady> {
    let this = std::env::current_exe()?;
    let output = tools
        .on_the_other_side()
        .pinned(&this)
        .args([ARGUMENT, &address.to_string(), &rate.to_string(), &time.as_secs().to_string()])
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<u64> = text.split_whitespace().filter_map(|part| part.parse().ok()).collect();
    let [failures, median, percentile_99, percentile_999] = numbers[..] else {
        return Err(format!("no figures: {text}").into());
    };
    Ok(Steady { failures, percentiles: [median, percentile_99, percentile_999] })
}

/// Sends the load and prints its figures.
pub(crate) fn send(address: &str, rate: &str, seconds: &str) -> Result<()> {
    let (address, rate): (SocketAddr, u64) = (address.parse()?, rate.parse()?);
    let number = rate * seconds.parse::<u64>()?;
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let (mut times, failures) = LocalSet::new().block_on(&runtime, async move {
        let (next, start) =
            (Rc::new(AtomicU64::new(0)), Instant::now() + Duration::from_millis(200));
        let clients: Vec<_> = (0..CONNECTIONS)
            .map(|_| {
                tokio::task::spawn_local(client(address, Rc::clone(&next), start, rate, number))
            })
            .collect();
        let (mut times, mut failures) = (Vec::new(), 0);
        for client in clients {
            match client.await {
                Ok((more, failed)) => {
                    times.extend(more);
                    failures += failed;
                }
                Err(_) => failures += 1,
            }
        }
        (times, failures)
    });
    times.sort_unstable();
    let at = |share: f64| percentile(&times, share).unwrap_or_default();
    println!("{failures} {} {} {}", at(0.5), at(0.99), at(0.999));
    Ok(())
}

/// One connection, which takes the next request whenever it is free.
async fn client(
    address: SocketAddr,
    next: Rc<AtomicU64>,
    start: Instant,
    rate: u64,
    number: u64,
) -> (Vec<u64>, u64) {
    let (mut times, mut failures, mut stream) = (Vec::new(), 0, None);
    loop {
        let ticket = next.fetch_add(1, Ordering::Relaxed);
        if ticket >= number {
            return (times, failures);
        }
        let due = start + Duration::from_micros(ticket * 1_000_000 / rate);
        let is_early = Instant::now() < due;
        sleep_until(due).await;
        // The timer wakes up to a millisecond late. That is no wait for the server.
        let since = if is_early { Instant::now() } else { due };
        match timeout(PATIENCE, ask(address, &mut stream)).await {
            Ok(Ok(())) => times.push(since.elapsed().as_micros() as u64),
            _ => {
                failures += 1;
                stream = None;
            }
        }
    }
}

async fn ask(address: SocketAddr, stream: &mut Option<TcpStream>) -> std::io::Result<()> {
    if stream.is_none() {
        let new = TcpStream::connect(address).await?;
        new.set_nodelay(true)?;
        *stream = Some(new);
    }
    let Some(stream) = stream else { return Ok(()) };
    stream
        .write_all(
            b"GET /products/ HTTP/1.1\r\nHost: www.example.com\r\nAccept: text/html\r\n\
              User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0\r\n\r\n",
        )
        .await?;
    // The origin's page has a length, and its head and body come to less than this.
    let mut buffer = [0; 4096];
    let mut filled = 0;
    loop {
        let read = stream.read(&mut buffer[filled..]).await?;
        filled += read;
        let text = &buffer[..filled];
        if read == 0 || !text.starts_with(&b"HTTP/1.1 200"[..filled.min(12)]) {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let head = text.windows(4).position(|four| four == b"\r\n\r\n");
        if head.is_some_and(|head| filled >= head + 4 + crate::harness::nginx::PAGE_BYTES) {
            return Ok(());
        }
    }
}
