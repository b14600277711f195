//! From an open connection to the application that serves its requests.

use std::sync::Arc;

use pingora::{
    apps::{HttpServerApp, ServerApp},
    protocols::{ALPN, Stream},
    server::ShutdownWatch,
};

use crate::{base::metrics::Metrics, rules::policy};

use super::{
    access_lines::AccessLog, connection::Connection, drain::Connections, guests::Guests,
    http2::Http2,
};

/// The application `A` behind screened connections, with what they share.
pub(crate) struct Edge<A> {
    pub(super) guests: Arc<Guests>,
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
    /// Serves all requests of a connection.
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
