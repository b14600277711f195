//! The connections of HTTP/2: their requests, their windows and their end.

use std::{sync::Arc, time::Duration};

use h2::server::Builder;
use pingora::{
    apps::HttpServerApp,
    protocols::{Digest, Stream as Socket, http::ServerSession},
    server::ShutdownWatch,
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    time::{sleep, timeout},
};

use super::stream::Stream;

/// The most requests of one connection in progress.
const MOST_STREAMS: u32 = 100;
/// What frames of DATA that wait for the origin may cost beside their octets: 256 octets a frame, less
/// its own. Without a bound, a body in frames of one octet would take hundreds of times its size.
const SMALL_FRAMES: usize = 2 << 20;
/// The time for the client to answer a GOAWAY, before the connection is closed.
const GOODBYE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Http2 {
    options: Builder,
    windows: Windows,
    idle: Duration,
}

impl Http2 {
    /// Connections that end when they are idle for so long. A list of fields is at most `header_size`
    /// octets.
    pub(super) fn new(header_size: usize, idle: Duration) -> Self {
        let mut options = Builder::new();
        options
            .max_header_list_size(u32::try_from(header_size).unwrap_or(u32::MAX))
            .max_concurrent_streams(MOST_STREAMS)
            .initial_window_size(OF_STREAM)
            .data_frame_budget(SMALL_FRAMES);
        Self { options, windows: Windows::new(), idle }
    }

    /// Serves the requests of a connection, each in a task of its own.
    pub(super) async fn serve<A: HttpServerApp + Send + Sync + 'static>(
        &self,
        application: &Arc<A>,
        socket: Socket,
        shutdown: &ShutdownWatch,
    ) {
        let (tls, connection) = (socket.get_ssl_digest(), socket.get_socket_digest());
        let digest = || Digest {
            ssl_digest: tls.clone(),
            socket_digest: connection.clone(),
            ..Digest::default()
        };
        // A client that breaks the protocol gets a GOAWAY from the crate.
        let Ok(mut connection) = self.options.handshake(socket).await else { return };
        // Each request in progress holds a receiver.
        let streams = watch::Sender::new(());
        let mut window: Option<Window> = None;
        let mut stop = shutdown.clone();
        let mut is_ending = false;
        loop {
            let accepted = tokio::select! {
                biased;
                _ = stop.changed(), if !is_ending => {
                    connection.graceful_shutdown();
                    is_ending = true;
                    continue;
                }
                accepted = connection.accept() => accepted,
                () = idle(&streams, self.idle), if !is_ending => break,
            };
            let Some(Ok((request, response))) = accepted else { return };
            if window.is_none() && !request.body().is_end_stream() {
                let opened = self.windows.open();
                connection.set_target_window_size(opened.size());
                window = Some(opened);
            }
            let stream = Stream::new(request, response, digest(), streams.subscribe());
            let (application, shutdown) = (Arc::clone(application), shutdown.clone());
            tokio::spawn(async move {
                let session = ServerSession::new_custom(Box::new(stream));
                application.process_new_http(session, &shutdown).await;
            });
        }
        // A request that is on its way now is answered, or the client knows that it was not read
        // (RFC 9113 §6.8).
        connection.graceful_shutdown();
        let mut refused = async || while let Some(Ok(_)) = connection.accept().await {};
        let _ = timeout(GOODBYE, refused()).await;
    }
}

/// Waits until there has been no request for `time`.
async fn idle(streams: &watch::Sender<()>, time: Duration) {
    streams.closed().await;
    sleep(time).await;
}

/// The window of a stream. At 50 ms to the client it allows 20 MiB a second.
pub(super) const OF_STREAM: u32 = 1 << 20;
/// The window of a connection before its first body: the one of the standard (RFC 9113 §6.9.2).
pub(super) const FIRST: u32 = 65_535;
/// The largest window of a connection. An origin that reads nothing of one body leaves room for others.
const OF_CONNECTION: usize = 8 << 20;
/// The windows of all connections together, beside their first ones.
const OF_ALL: usize = 256 << 20;

/// What is left of the windows of all connections, an octet for a permit (RFC 9113 §5.2). A connection
/// holds what its streams have sent and no origin has read. So the sum of all windows is bounded, and a
/// connection gets a large one with its first body.
#[derive(Debug)]
pub(super) struct Windows(Arc<Semaphore>);

/// The window of one connection beside the first one, if there was room; ends on drop.
#[derive(Debug)]
pub(super) struct Window(Option<OwnedSemaphorePermit>);

impl Windows {
    pub(super) fn new() -> Self {
        Self(Arc::new(Semaphore::new(OF_ALL)))
    }

    /// A window of at most a quarter of what is left, so that later connections get one, too.
    pub(super) fn open(&self) -> Window {
        let octets = (self.0.available_permits() / 4).min(OF_CONNECTION);
        Window(Arc::clone(&self.0).try_acquire_many_owned(octets as u32).ok())
    }
}

impl Window {
    /// The size that the client is told.
    pub(super) fn size(&self) -> u32 {
        FIRST.max(self.octets() as u32)
    }

    fn octets(&self) -> usize {
        self.0.as_ref().map_or(0, OwnedSemaphorePermit::num_permits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_bounded_together_and_come_back() {
        let windows = Windows::new();
        let open: Vec<Window> = (0..1_000).map(|_| windows.open()).collect();
        assert_eq!(open[0].octets(), OF_CONNECTION);
        assert!(open.iter().all(|window| window.size() >= FIRST));
        let sum: usize = open.iter().map(Window::octets).sum();
        assert!(sum <= OF_ALL, "{sum}");
        drop(open);
        assert_eq!(windows.0.available_permits(), OF_ALL);
    }
}
