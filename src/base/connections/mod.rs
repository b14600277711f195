//! The threads of listeners, and connections that Beadle accepts beside those of the proxy: a limited
//! number at a time.
//!
//! May use: nothing. Must not know: the proxy, admin, decide.

use std::{
    io,
    net::{self, SocketAddr},
    sync::Arc,
    time::Duration,
};

use tokio::{
    net::{TcpListener, TcpStream},
    runtime::{Builder, Handle, Runtime},
    sync::{OwnedSemaphorePermit, Semaphore},
    task::JoinHandle,
    time::sleep,
};

/// The pause after a failed `accept`, most often for want of a file descriptor.
const PAUSE: Duration = Duration::from_secs(1);

/// The place of one open connection; ends on drop.
#[derive(Debug)]
pub struct Place(#[expect(dead_code, reason = "held, not read")] OwnedSemaphorePermit);

/// Accepts connections for ever and hands each to `serve`, at most `most` at a time. Further ones
/// wait in the kernel. `name` is the listener's, for logs.
pub async fn accept(
    listener: &TcpListener,
    name: &'static str,
    most: usize,
    mut serve: impl FnMut(TcpStream, SocketAddr, Place),
) {
    let places = Arc::new(Semaphore::new(most));
    loop {
        // The semaphore is never closed.
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, peer)) => serve(stream, peer, Place(place)),
            Err(error) => {
                tracing::warn!(listener = name, %error, "connection not accepted");
                sleep(PAUSE).await;
            }
        }
    }
}

/// Threads of their own for a listener and its connections. A drop ends what runs there.
#[derive(Debug)]
pub struct Threads {
    handle: Handle,
    /// `None` only during a drop.
    runtime: Option<Runtime>,
}

impl Threads {
    /// As many threads as the machine has processors, unless `count` says otherwise.
    ///
    /// # Errors
    /// The system has no more threads.
    pub fn start(name: &str, count: Option<usize>) -> io::Result<Self> {
        let mut threads = Builder::new_multi_thread();
        threads.thread_name(name).enable_all();
        if let Some(count) = count {
            threads.worker_threads(count);
        }
        let runtime = threads.build()?;
        Ok(Self { handle: runtime.handle().clone(), runtime: Some(runtime) })
    }

    /// Lets a task run on these threads.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
        self.handle.spawn(task)
    }

    /// A socket that listens already, for a task on these threads.
    ///
    /// # Errors
    /// The system refuses to make it non-blocking.
    pub fn listener(&self, socket: net::TcpListener) -> io::Result<TcpListener> {
        let _inside = self.handle.enter();
        socket.set_nonblocking(true)?;
        TcpListener::from_std(socket)
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        // A runtime can't be dropped inside another one.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
