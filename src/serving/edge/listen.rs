//! The sockets: connections are accepted, bounded, opened, and handed to the edge.
//!
//! pingora has an accept loop of its own. It waits a minute for a TLS handshake, knows no limit of
//! connections, and reads far ahead.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use pingora::{
    apps::{HttpServerApp, ServerApp},
    protocols::{ALPN, Stream},
    server::ShutdownWatch,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    task::JoinSet,
    time::timeout,
};

use crate::{base::metrics::Metrics, rules::policy};

use super::{
    access_lines::AccessLog,
    client_limits::{Guest, Guests},
    connection::Connection,
    http1::head_answer,
    http2::Http2,
    opening::Opening,
    phase::{Connections, Draining},
};

/// The application `A` behind screened connections, with what they share.
pub(crate) struct Edge<A> {
    pub(super) guests: Guests,
    pub(super) metrics: Arc<Metrics>,
    pub(super) connections: Arc<Connections>,
    pub(super) settings: Arc<policy::Server>,
    application: Arc<A>,
    access_log: Option<AccessLog>,
    http2: Http2,
}

impl<A> Edge<A> {
    pub(crate) fn new(
        application: A,
        settings: policy::Server,
        metrics: Arc<Metrics>,
        connections: Arc<Connections>,
        access_log: Option<AccessLog>,
    ) -> Self {
        let application = Arc::new(application);
        let (limits, settings) = (settings.limits, Arc::new(settings));
        let (most, of_one) = (limits.connections, limits.connections_per_network);
        let guests = Guests::new(most, of_one, settings.trusted_proxies.clone());
        let http2 = Http2::new(limits.header_size, settings.timeouts.client_keepalive);
        Self { guests, metrics, connections, settings, application, access_log, http2 }
    }
}

impl<A: HttpServerApp + Send + Sync + 'static> Edge<A> {
    pub(super) async fn serve(&self, stream: Stream, shutdown: &ShutdownWatch) {
        let (settings, metrics) = (Arc::clone(&self.settings), Arc::clone(&self.metrics));
        let is_http_2 = stream.selected_alpn_proto() == Some(ALPN::H2);
        let stream: Stream =
            Box::new(Connection::new(stream, settings, metrics, self.access_log.clone()));
        if is_http_2 {
            self.http2.serve(&self.application, stream, shutdown).await;
        } else {
            self.application.process_new(stream, shutdown).await;
        }
    }
}

/// The pause when the system has no room for another connection.
const NO_ROOM: Duration = Duration::from_millis(500);
/// How long clients wait for a place. If none is free for so long, they are turned away.
const PATIENCE: Duration = Duration::from_secs(1);
/// How many are turned away at a time: they need descriptors. And how long each may take.
const TURNED_AWAY: usize = 8;
const GOODBYE: Duration = Duration::from_secs(1);

/// Accepts connections at all these sockets until the server stops, and closes them.
pub(crate) async fn listen<A: HttpServerApp + Send + Sync + 'static>(
    edge: Edge<A>,
    endpoints: Vec<(TcpListener, Opening)>,
    stop: ShutdownWatch,
) {
    let (edge, mut loops) = (Arc::new(edge), JoinSet::new());
    for (socket, opening) in endpoints {
        loops.spawn(accept(Arc::clone(&edge), socket, Arc::new(opening), stop.clone()));
    }
    while loops.join_next().await.is_some() {}
}

async fn accept<A: HttpServerApp + Send + Sync + 'static>(
    edge: Arc<Edge<A>>,
    socket: TcpListener,
    opening: Arc<Opening>,
    stop: ShutdownWatch,
) {
    let stopped = {
        let mut stop = stop.clone();
        async move {
            // An error means that the server is gone.
            let _ = stop.wait_for(|stop| *stop).await;
        }
    };
    tokio::pin!(stopped);
    loop {
        let place = match edge.guests.place_now() {
            Some(place) => place,
            None => {
                edge.metrics.refusal("proxy.connections");
                let place = tokio::select! {
                    place = edge.guests.place() => place,
                    () = edge.turn_away(&socket, opening.tls.is_none()) => return,
                    () = &mut stopped => break,
                };
                edge.metrics.connections_full(false);
                let Some(place) = place else { return };
                place
            }
        };
        let accepted = tokio::select! {
            accepted = socket.accept() => accepted,
            () = &mut stopped => break,
        };
        match accepted {
            Ok((stream, peer)) => edge.take(&opening, stream, peer, place, &stop),
            Err(error) => {
                tracing::error!(%error, "no connection could be accepted");
                if is_lasting(&error) {
                    tokio::time::sleep(NO_ROOM).await;
                }
            }
        }
    }
    // The close of the socket would reset the connections that wait in the kernel.
    let Ok(socket) = socket.into_std() else { return };
    while let Some(place) = edge.guests.place_now() {
        let Ok((stream, peer)) = socket.accept() else { return };
        let stream = stream.set_nonblocking(true).and_then(|()| TcpStream::from_std(stream));
        let Ok(stream) = stream else { continue };
        edge.take(&opening, stream, peer, place, &stop);
    }
}

impl<A: HttpServerApp + Send + Sync + 'static> Edge<A> {
    /// Lets connections wait in the kernel for a while, and then turns them away. Never ends.
    async fn turn_away(&self, socket: &TcpListener, is_plain: bool) {
        tokio::time::sleep(PATIENCE).await;
        self.metrics.connections_full(true);
        let room = Arc::new(Semaphore::new(TURNED_AWAY));
        loop {
            // Nobody closes the semaphore.
            let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
            match socket.accept().await {
                Ok((stream, _)) => {
                    self.metrics.refusal("proxy.connections");
                    tokio::spawn(async move {
                        if is_plain {
                            // A client that sends or reads nothing loses nothing.
                            let _ = timeout(GOODBYE, refuse(stream)).await;
                        }
                        drop(place);
                    });
                }
                Err(_) => tokio::time::sleep(NO_ROOM).await,
            }
        }
    }

    /// Serves a connection in a task of its own, unless its network has too many.
    fn take(
        self: &Arc<Self>,
        opening: &Arc<Opening>,
        stream: TcpStream,
        peer: SocketAddr,
        place: OwnedSemaphorePermit,
        stop: &ShutdownWatch,
    ) {
        let Some(guest) = self.guests.admit(peer.ip(), place) else {
            return self.metrics.refusal("proxy.connections_per_network");
        };
        // A handshake in progress is a connection, too: a drain waits for its request.
        let visit = (guest, self.connections.draining());
        let (edge, opening) = (Arc::clone(self), Arc::clone(opening));
        tokio::spawn(serve(edge, opening, (stream, peer), visit, stop.clone()));
    }
}

/// Answers 503 to the first octets: a close before they are read would take the answer back.
async fn refuse(mut stream: TcpStream) -> io::Result<()> {
    let _ = stream.read(&mut [0; 4_096]).await?;
    stream.write_all(&head_answer(503)).await?;
    stream.shutdown().await
}

/// Whether the next attempt would fail, too. Other errors belong to the one connection.
fn is_lasting(error: &io::Error) -> bool {
    !matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::Interrupted
    )
}

async fn serve<A: HttpServerApp + Send + Sync + 'static>(
    edge: Arc<Edge<A>>,
    opening: Arc<Opening>,
    (stream, peer): (TcpStream, SocketAddr),
    _visit: (Guest, Draining),
    stop: ShutdownWatch,
) {
    // A connection that is gone already fails at its first read.
    let _ = stream.set_nodelay(true);
    let is_trusted = edge.guests.is_trusted(peer.ip());
    let opened = opening.open(stream, peer, is_trusted);
    match timeout(edge.settings.limits.handshake_time, opened).await {
        Ok(Ok(stream)) => edge.serve(stream, &stop).await,
        Ok(Err(fault)) => edge.metrics.refusal(fault),
        Err(_) => edge.metrics.refusal("proxy.handshake_time"),
    }
}
