//! The sockets: connections are accepted, bounded, opened, and handed to the edge.
//!
//! pingora has an accept loop of its own. It waits a minute for a TLS handshake, knows no limit of
//! connections, and reads far ahead.

use std::{
    io,
    net::{SocketAddr, TcpListener},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use pingora::{
    apps::{HttpServerApp, ServerApp},
    server::{ListenFds, ShutdownWatch},
    services,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net,
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    task::JoinSet,
    time::timeout,
};

use crate::base::{diagnostic::Diagnostic, metrics::Metrics};

use super::{
    door::Edge,
    drain::Open,
    guests::{Guest, Guests},
    head_answer::Answer,
    opening::Opening,
};

/// The pause when the system has no room for another connection.
const NO_ROOM: Duration = Duration::from_millis(500);
/// How long clients wait for a place. If none is free for so long, they are turned away.
const PATIENCE: Duration = Duration::from_secs(1);
/// How many are turned away at a time: they need descriptors. And how long each may take.
const TURNED_AWAY: usize = 8;
const GOODBYE: Duration = Duration::from_secs(1);

/// Listening sockets that belong together.
pub(crate) struct Listeners<A> {
    common: Arc<Common<A>>,
    endpoints: Vec<(TcpListener, Arc<Opening>)>,
    closed: watch::Sender<bool>,
}

/// What all connections share.
pub(crate) struct Common<A> {
    pub(crate) edge: Arc<Edge<A>>,
    pub(crate) guests: Arc<Guests>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) handshake_time: Duration,
}

impl<A> Listeners<A> {
    /// The service on these sockets, and whether it has closed them all.
    ///
    /// # Errors
    /// The system refuses to make a socket non-blocking.
    pub(crate) fn new(
        common: Common<A>,
        endpoints: Vec<(TcpListener, Opening)>,
    ) -> Result<(Self, watch::Receiver<bool>), Diagnostic> {
        for (socket, _) in &endpoints {
            socket.set_nonblocking(true).map_err(|error| {
                let message = format!("a listening socket can't be used: {error}");
                Diagnostic::error("server.listen", message).help("start the program again")
            })?;
        }
        let endpoints =
            endpoints.into_iter().map(|(socket, opening)| (socket, Arc::new(opening))).collect();
        let (closed, is_closed) = watch::channel(false);
        Ok((Self { common: Arc::new(common), endpoints, closed }, is_closed))
    }
}

#[async_trait]
impl<A: HttpServerApp + Send + Sync + 'static> services::Service for Listeners<A> {
    async fn start_service(&mut self, _: Option<ListenFds>, stop: ShutdownWatch, _: usize) {
        let mut loops = JoinSet::new();
        for (socket, opening) in self.endpoints.drain(..) {
            match net::TcpListener::from_std(socket) {
                Ok(socket) => {
                    loops.spawn(accept(Arc::clone(&self.common), socket, opening, stop.clone()));
                }
                Err(error) => tracing::error!(%error, "a listening socket can't be used"),
            }
        }
        while loops.join_next().await.is_some() {}
        self.closed.send_replace(true);
    }

    fn name(&self) -> &str {
        "proxy"
    }
}

/// Accepts connections until the server stops.
async fn accept<A: HttpServerApp + Send + Sync + 'static>(
    common: Arc<Common<A>>,
    socket: net::TcpListener,
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
        let place = match common.guests.place_now() {
            Some(place) => place,
            None => {
                common.metrics.refusal("proxy.connections");
                let place = tokio::select! {
                    place = common.guests.place() => place,
                    () = common.turn_away(&socket, opening.tls.is_none()) => return,
                    () = &mut stopped => break,
                };
                common.metrics.connections_full(false);
                let Some(place) = place else { return };
                place
            }
        };
        let accepted = tokio::select! {
            accepted = socket.accept() => accepted,
            () = &mut stopped => break,
        };
        match accepted {
            Ok((stream, peer)) => common.take(&opening, stream, peer, place, &stop),
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
    while let Some(place) = common.guests.place_now() {
        let Ok((stream, peer)) = socket.accept() else { return };
        let stream = stream.set_nonblocking(true).and_then(|()| net::TcpStream::from_std(stream));
        let Ok(stream) = stream else { continue };
        common.take(&opening, stream, peer, place, &stop);
    }
}

impl<A: HttpServerApp + Send + Sync + 'static> Common<A> {
    /// Lets connections wait in the kernel for a while, and then turns them away. Never ends.
    async fn turn_away(&self, socket: &net::TcpListener, is_plain: bool) {
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
        stream: net::TcpStream,
        peer: SocketAddr,
        place: OwnedSemaphorePermit,
        stop: &ShutdownWatch,
    ) {
        let Some(guest) = self.guests.admit(peer.ip(), place) else {
            return self.metrics.refusal("proxy.connections_per_network");
        };
        // A handshake in progress is a connection, too: a drain waits for its request.
        let visit = (guest, self.edge.open());
        let (common, opening) = (Arc::clone(self), Arc::clone(opening));
        tokio::spawn(serve(common, opening, (stream, peer), visit, stop.clone()));
    }
}

/// Answers 503 to the first octets: a close before they are read would take the answer back.
async fn refuse(mut stream: net::TcpStream) -> io::Result<()> {
    let _ = stream.read(&mut [0; 4_096]).await?;
    stream.write_all(Answer::new(503).rest().unwrap_or_default()).await?;
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

/// Serves all requests of one connection.
async fn serve<A: HttpServerApp + Send + Sync + 'static>(
    common: Arc<Common<A>>,
    opening: Arc<Opening>,
    (stream, peer): (net::TcpStream, SocketAddr),
    _visit: (Guest, Open),
    stop: ShutdownWatch,
) {
    // A connection that is gone already fails at its first read.
    let _ = stream.set_nodelay(true);
    let is_trusted = common.guests.is_trusted(peer.ip());
    let opened = opening.open(stream, peer, is_trusted);
    let mut stream = match timeout(common.handshake_time, opened).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(fault)) => return common.metrics.refusal(fault),
        Err(_) => return common.metrics.refusal("proxy.handshake_time"),
    };
    while let Some(next) = common.edge.process_new(stream, &stop).await {
        stream = next;
    }
}
