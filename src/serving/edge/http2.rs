//! The connections of HTTP/2: their requests, their windows and their end.

use std::{sync::Arc, time::Duration};

use h2::server::Builder;
use pingora::{
    apps::HttpServerApp,
    protocols::{Digest, Stream as Socket, http::ServerSession},
    server::ShutdownWatch,
};
use tokio::{
    sync::watch,
    time::{sleep, timeout},
};

use super::{
    stream::Stream,
    windows::{self, Window, Windows},
};

/// The most requests of one connection in progress.
const MOST_STREAMS: u32 = 100;
/// What frames of DATA that wait for the origin may cost beside their octets: 256 octets a frame, less
/// its own. Without a bound, a body in frames of one octet would take hundreds of times its size.
const SMALL_FRAMES: usize = 2 << 20;
/// The time for the client to answer a GOAWAY, before the connection is closed.
const GOODBYE: Duration = Duration::from_secs(1);

/// The settings of all connections of HTTP/2.
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
            .initial_window_size(windows::OF_STREAM)
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
