//! From an open connection to the application that serves its requests.

use std::sync::Arc;

use async_trait::async_trait;
use pingora::{apps::ServerApp, protocols::Stream, server::ShutdownWatch};

use crate::metrics::Metrics;

use super::{
    access::AccessLog,
    client_limits::ClientLimits,
    connection::Connection,
    connections::{Connections, Open},
};

/// The application `A`, behind screened connections.
pub(crate) struct Edge<A> {
    application: Arc<A>,
    metrics: Arc<Metrics>,
    connections: Arc<Connections>,
    limits: ClientLimits,
    access_log: Option<AccessLog>,
}

impl<A> Edge<A> {
    pub(crate) fn new(
        application: A,
        metrics: Arc<Metrics>,
        connections: Arc<Connections>,
        limits: ClientLimits,
        access_log: Option<AccessLog>,
    ) -> Self {
        Self { application: Arc::new(application), metrics, connections, limits, access_log }
    }

    /// Counts a connection, from the moment at which it is accepted.
    pub(super) fn open(&self) -> Open {
        self.connections.open()
    }
}

#[async_trait]
impl<A: ServerApp + Send + Sync + 'static> ServerApp for Edge<A> {
    async fn process_new(
        self: &Arc<Self>,
        stream: Stream,
        shutdown: &ShutdownWatch,
    ) -> Option<Stream> {
        let (metrics, access_log) = (Arc::clone(&self.metrics), self.access_log.clone());
        let stream: Stream = Box::new(Connection::new(stream, self.limits, metrics, access_log));
        // It serves all requests of the connection.
        self.application.process_new(stream, shutdown).await
    }

    /// Leaves idle connections open. pingora would close them now, and a client whose next request
    /// is on its way would get a reset. They end with their next answer, or with the drain.
    async fn cleanup(&self) {}
}
