//! An origin with eight workers. The next request is the one that waits for longest.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    time,
};

use super::{Result, harness::process::Address};

/// The time of a page.
pub(super) const PAGE: Duration = Duration::from_millis(200);
const WORKERS: usize = 8;
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";

/// The origin. It ends with the benchmark.
pub(super) struct Origin {
    pub(super) address: Address,
    workers: Semaphore,
    /// The requests of crawlers that are there.
    pub(super) crawlers: AtomicUsize,
}

impl Origin {
    pub(super) async fn start() -> Result<Arc<Self>> {
        let address = Address::free()?;
        let (workers, crawlers) = (Semaphore::new(WORKERS), AtomicUsize::new(0));
        let origin = Arc::new(Self { address, workers, crawlers });
        let listener = TcpListener::bind(address.socket()).await?;
        let serving = Arc::clone(&origin);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let origin = Arc::clone(&serving);
                // A client that goes away ends its connection, and nothing else.
                tokio::spawn(async move { drop(origin.serve(stream).await) });
            }
        });
        Ok(origin)
    }

    async fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        let (mut request, mut length) = ([0; 4096], 0);
        while !request[..length].ends_with(b"\r\n\r\n") {
            match stream.read(&mut request[length..]).await? {
                0 => return Ok(()),
                read => length += read,
            }
        }
        if request.starts_with(b"GET /robots.txt") {
            return stream.write_all(ANSWER).await;
        }
        let is_crawler = request[..length].windows(5).any(|word| word == b"+http");
        self.crawlers.fetch_add(usize::from(is_crawler), Ordering::Relaxed);
        if let Ok(_worker) = self.workers.acquire().await {
            time::sleep(PAGE).await;
        }
        self.crawlers.fetch_sub(usize::from(is_crawler), Ordering::Relaxed);
        stream.write_all(ANSWER).await
    }
}
