//! The server: listeners, start and drain.
//!
//! pingora's own server retries a port in use for half a minute, then panics in a task, and the process
//! stays alive without service. At SIGTERM it sleeps for its whole grace period. So Beadle accepts
//! connections at sockets that listen already, on threads of its own, and ends when no request is in
//! progress.

use std::{
    net::TcpListener,
    num::NonZero,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use pingora::{
    apps::HttpServerOptions, listeners::tls::TlsSettings, proxy::http_proxy,
    server::configuration::ServerConf,
};
use tokio::{sync::watch, task::JoinHandle, time::timeout};

use crate::{
    base::{connections::Threads, diagnostic::Diagnostic, metrics::Metrics},
    outside::tls::Certificates,
    rules::policy::{self, Listener},
    serving::edge::{Connections, Edge, Opening, listen},
};

use super::Proxy;

/// The idle time after which a draining server without connections ends.
const QUIET: Duration = Duration::from_millis(100);
/// The idle time after which a draining server with kept-alive connections ends. In this time, a
/// client that is busy sends its next request, and learns from the answer to connect anew.
const LAST_REQUESTS: Duration = Duration::from_secs(1);

/// A started proxy.
#[derive(Debug)]
pub struct Running {
    _threads: Threads,
    /// Ends when all sockets are closed.
    accepting: JoinHandle<()>,
    stop: watch::Sender<bool>,
    metrics: Arc<Metrics>,
    connections: Arc<Connections>,
}

/// Starts the proxy. `sockets` are those of the policy's listeners, in their order. They listen
/// already: a connection that comes before the proxy accepts it waits in the kernel.
///
/// # Errors
/// There are no threads for it, or a socket is unusable.
pub fn start(
    server: &policy::Server,
    sockets: Vec<TcpListener>,
    proxy: Proxy,
    certificates: &Certificates,
    metrics: Arc<Metrics>,
) -> Result<Running, Diagnostic> {
    // With several providers compiled in, rustls needs a default. A second installation fails
    // harmlessly.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let processors = || thread::available_parallelism().map_or(1, NonZero::get);
    let count = server.threads.unwrap_or_else(processors);
    let threads = Threads::start("proxy", Some(count)).map_err(|error| {
        Diagnostic::error("server.thread", error.to_string()).help("raise the limit of threads")
    })?;
    let unusable = |error| {
        let message = format!("a listening socket can't be used: {error}");
        Diagnostic::error("server.listen", message).help("start the program again")
    };
    let mut endpoints = Vec::new();
    for (socket, listener) in sockets.into_iter().zip(&server.listen) {
        let socket = threads.listener(socket).map_err(unusable)?;
        endpoints.push((socket, opening(listener, certificates)?));
    }
    // `Attempts` knows how many a request may have.
    let conf = ServerConf { threads: count, max_retries: 64, ..ServerConf::default() };
    let connections = Arc::clone(&proxy.connections);
    let access_log = proxy.access_log.clone();
    let mut proxy = http_proxy(&Arc::new(conf), proxy);
    let mut options = HttpServerOptions::default();
    // The gate refuses CONNECT, as it refuses TRACE.
    options.allow_connect_method_proxying = true;
    proxy.server_options = Some(options);
    let (shared_metrics, shared) = (Arc::clone(&metrics), Arc::clone(&connections));
    let edge = Edge::new(proxy, server.clone(), shared_metrics, shared, access_log);
    let (stop, stopped) = watch::channel(false);
    let accepting = threads.spawn(listen(edge, endpoints, stopped));
    Ok(Running { _threads: threads, accepting, stop, metrics, connections })
}

fn opening(listener: &Listener, certificates: &Certificates) -> Result<Opening, Diagnostic> {
    let tls = certificates.resolver(listener.address).map(|resolver| {
        // The resolver stands for the files.
        let mut settings = TlsSettings::intermediate("", "")
            .map_err(|error| Diagnostic::error("server.tls", error.to_string()))?;
        settings.set_cert_resolver(resolver);
        settings.enable_h2();
        Ok(Arc::new(settings.build()))
    });
    Ok(Opening { tls: tls.transpose()?, proxy_protocol: listener.proxy_protocol })
}

impl Running {
    /// Accepts no more connections, ends the others with their next answer, and waits until no
    /// request is in progress, for at most `limit`. Returns the number of requests still in
    /// progress.
    pub async fn drain(mut self, limit: Duration) -> i64 {
        self.connections.drain();
        self.stop.send_replace(true);
        let deadline = Instant::now() + limit;
        // Until the sockets are closed, connections still come.
        let _ = timeout(limit, &mut self.accepting).await;
        let (mut quiet_since, mut requests) = (Instant::now(), 0);
        loop {
            let in_flight = self.metrics.in_flight.get();
            let before = std::mem::replace(&mut requests, self.connections.late_requests());
            if in_flight > 0 || requests > before {
                quiet_since = Instant::now();
            }
            let patience = if self.connections.is_empty() { QUIET } else { LAST_REQUESTS };
            if quiet_since.elapsed() >= patience || Instant::now() >= deadline {
                return in_flight;
            }
            tokio::time::sleep(QUIET / 10).await;
        }
    }
}
