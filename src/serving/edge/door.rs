//! From an open connection to the application that serves its requests.

use std::sync::Arc;

use async_trait::async_trait;
use pingora::{
    apps::{HttpServerApp, ServerApp},
    protocols::{ALPN, Stream},
    server::ShutdownWatch,
};

use crate::base::metrics::Metrics;

use super::{
    access_lines::AccessLog,
    client_limits::ClientLimits,
    connection::Connection,
    drain::{Connections, Open},
    http2::Http2,
};

/// The application `A`, behind screened connections.
pub(crate) struct Edge<A> {
    application: Arc<A>,
    metrics: Arc<Metrics>,
    connections: Arc<Connections>,
    limits: ClientLimits,
    access_log: Option<AccessLog>,
    http2: Http2,
}

impl<A> Edge<A> {
    pub(crate) fn new(
        application: A,
        metrics: Arc<Metrics>,
        connections: Arc<Connections>,
        limits: ClientLimits,
        access_log: Option<AccessLog>,
    ) -> Self {
        let application = Arc::new(application);
        let http2 = Http2::new(limits.bounds.octets, limits.idle);
        Self { application, metrics, connections, limits, access_log, http2 }
    }

    /// Counts a connection, from the moment at which it is accepted.
    pub(super) fn open(&self) -> Open {
        self.connections.open()
    }
}

#[async_trait]
impl<A: HttpServerApp + Send + Sync + 'static> ServerApp for Edge<A> {
    async fn process_new(
        self: &Arc<Self>,
        stream: Stream,
        shutdown: &ShutdownWatch,
    ) -> Option<Stream> {
        let (metrics, access_log) = (Arc::clone(&self.metrics), self.access_log.clone());
        let is_http_2 = stream.selected_alpn_proto() == Some(ALPN::H2);
        let stream: Stream = Box::new(Connection::new(stream, self.limits, metrics, access_log));
        if is_http_2 {
            self.http2.serve(&self.application, stream, shutdown).await;
            return None;
        }
        // It serves all requests of the connection.
        self.application.process_new(stream, shutdown).await
    }

    /// Leaves idle connections open. pingora would close them now, and a client whose next request
    /// is on its way would get a reset. They end with their next answer, or with the drain.
    async fn cleanup(&self) {}
}
