//! The client's connection, screened before pingora's parser reads it.
//!
//! ```text
//! socket, TLS ─▶ Connection ─▶ pingora ─▶ Proxy's hooks
//!                 Reader        │
//!                 head ─▶ body ─▶ head …   Phase: what the hooks tell the connection
//! ```
//!
//! pingora's parser takes some messages that two servers read differently: lines that end with a
//! bare LF, a chunk without a size. It refuses some targets that clients do send: `/?f={"a":1}`,
//! `/caf\xe9`. So each request head and each chunk size passes a strict reader first. The reader
//! follows the framing itself, and thus knows where a head begins. It percent-encodes in a target
//! what the parser does not take. All other octets pass unchanged, and without a copy.
//!
//! Frames of HTTP/2 pass unchanged. Limits and deadlines of a connection belong here, too: those of
//! the client, the wait for the head of the origin's response, and the drain.

use std::sync::Arc;

use async_trait::async_trait;
use pingora::{
    apps::ServerApp,
    protocols::Stream,
    proxy::{HttpProxy, Session},
    server::ShutdownWatch,
};

use crate::metrics::Metrics;

use super::{Proxy, access::AccessLog};

use self::connection::Connection;
pub(super) use self::{
    client_limits::ClientLimits, connections::Connections, phase::Phase, target::admit,
};

mod client_limits; // what one client may take
mod connection; // the stream between the socket and pingora
mod connections; // all connections, and their end
mod lines; // messages of HTTP/1 on their way to pingora
mod phase; // from the hooks to the connection
mod refused; // answers to heads that are refused
mod target; // the target as the gate gets it
mod tunnel; // a connection that has switched to another protocol
mod wait; // the wait for the head of the origin's response

/// The application that pingora's listeners hand their connections to.
pub(super) struct Edge {
    proxy: Arc<HttpProxy<Proxy>>,
    metrics: Arc<Metrics>,
    connections: Arc<Connections>,
    limits: ClientLimits,
    access_log: Option<AccessLog>,
}

impl Edge {
    pub(super) fn new(
        proxy: HttpProxy<Proxy>,
        metrics: Arc<Metrics>,
        connections: Arc<Connections>,
        limits: ClientLimits,
        access_log: Option<AccessLog>,
    ) -> Self {
        Self { proxy: Arc::new(proxy), metrics, connections, limits, access_log }
    }
}

#[async_trait]
impl ServerApp for Edge {
    async fn process_new(
        self: &Arc<Self>,
        stream: Stream,
        shutdown: &ShutdownWatch,
    ) -> Option<Stream> {
        let _open = self.connections.open();
        let connection = Connection::new(stream, self.limits, Arc::clone(&self.metrics));
        let stream: Stream = Box::new(connection.logged_to(self.access_log.clone()));
        // It serves all requests of the connection.
        self.proxy.process_new(stream, shutdown).await
    }

    /// Leaves idle connections open. pingora would close them now, and a client whose next request
    /// is on its way would get a reset. They end with their next answer, or with the drain.
    async fn cleanup(&self) {}
}

/// The phase of the session's connection; `None` for HTTP/2.
pub(super) fn phase(session: &Session) -> Option<&Phase> {
    let data = session.digest()?.proxy_digest.as_ref()?.user_data.as_ref()?;
    data.downcast_ref::<Arc<Phase>>().map(AsRef::as_ref)
}
