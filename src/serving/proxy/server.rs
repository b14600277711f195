//! The server: listeners, start and drain.
//!
//! pingora retries a port in use for half a minute, then panics in a task, and the process stays
//! alive without service. At SIGTERM it sleeps for its whole grace period. So Beadle gives it sockets
//! that listen already, runs it in its own thread, and ends when no request is in progress.

use std::{
    net::TcpListener,
    sync::Arc,
    thread::JoinHandle,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use pingora::{
    apps::HttpServerOptions,
    listeners::tls::TlsSettings,
    proxy::http_proxy,
    server::{RunArgs, Server, ShutdownSignal, ShutdownSignalWatch, configuration::ServerConf},
};
use tokio::{sync::watch, time::timeout};

use crate::{
    base::{diagnostic::Diagnostic, metrics::Metrics},
    outside::tls::Certificates,
    rules::policy,
    serving::edge::{ClientLimits, Common, Connections, Edge, Guests, Listeners, Opening},
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
    thread: JoinHandle<()>,
    stop: watch::Sender<bool>,
    /// Whether all sockets are closed.
    closed: watch::Receiver<bool>,
    metrics: Arc<Metrics>,
    connections: Arc<Connections>,
}

/// Starts the proxy. `sockets` are those of the policy's listeners, in their order. They listen
/// already: a connection that comes before the proxy accepts it waits in the kernel.
///
/// # Errors
/// There is no thread for it, or a socket is unusable.
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
    let threads = server
        .threads
        .or_else(|| std::thread::available_parallelism().ok().map(std::num::NonZero::get));
    let conf = ServerConf {
        threads: threads.unwrap_or(1),
        // Longer than Beadle's own limit, so that `Running::drain` counts the aborted requests.
        grace_period_seconds: Some(server.timeouts.drain.as_secs() + 5),
        graceful_shutdown_timeout_seconds: Some(1),
        // `Attempts` knows how many a request may have.
        max_retries: 64,
        ..ServerConf::default()
    };
    let mut pingora = Server::new_with_opt_and_conf(None, conf);
    pingora.bootstrap();
    let connections = Arc::clone(&proxy.connections);
    let access_log = proxy.access_log.clone();
    let mut proxy = http_proxy(&pingora.configuration, proxy);
    let mut options = HttpServerOptions::default();
    // The gate refuses CONNECT, as it refuses TRACE.
    options.allow_connect_method_proxying = true;
    proxy.server_options = Some(options);
    let limits = ClientLimits::of(server);
    let edge = Edge::new(proxy, Arc::clone(&metrics), Arc::clone(&connections), limits, access_log);
    let common = Common {
        edge: Arc::new(edge),
        guests: Guests::new(
            server.limits.connections,
            server.limits.connections_per_network,
            server.trusted_proxies.clone(),
        ),
        metrics: Arc::clone(&metrics),
        handshake_time: server.limits.handshake_time,
    };
    let openings = server
        .listen
        .iter()
        .map(|one| opening(one, certificates))
        .collect::<Result<Vec<_>, _>>()?;
    let (listeners, closed) = Listeners::new(common, sockets.into_iter().zip(openings).collect())?;
    pingora.add_service(listeners);
    let (stop, stopped) = watch::channel(false);
    let run = move || {
        pingora.run(RunArgs { shutdown_signal: Box::new(StopSignal(stopped)) });
    };
    let thread =
        std::thread::Builder::new().name("proxy".to_owned()).spawn(run).map_err(|error| {
            Diagnostic::error("server.thread", error.to_string()).help("raise the limit of threads")
        })?;
    Ok(Running { thread, stop, closed, metrics, connections })
}

/// The way in which connections of a listener open.
fn opening(
    listener: &policy::Listener,
    certificates: &Certificates,
) -> Result<Opening, Diagnostic> {
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
        // The thread may have ended already; then there is no receiver.
        let _ = self.stop.send(true);
        let deadline = Instant::now() + limit;
        // Until the sockets are closed, connections still come. An error means that nothing serves
        // them any more.
        let _ = timeout(limit, self.closed.wait_for(|is_closed| *is_closed)).await;
        let (mut quiet_since, mut requests) = (Instant::now(), 0);
        loop {
            let in_flight = self.metrics.in_flight.get();
            let before = std::mem::replace(&mut requests, self.connections.late_requests());
            if in_flight > 0 || requests > before {
                quiet_since = Instant::now();
            }
            let patience = if self.connections.is_empty() { QUIET } else { LAST_REQUESTS };
            if quiet_since.elapsed() >= patience
                || self.thread.is_finished()
                || Instant::now() >= deadline
            {
                return in_flight;
            }
            tokio::time::sleep(QUIET / 10).await;
        }
    }
}

/// The signal for pingora to stop.
struct StopSignal(watch::Receiver<bool>);

#[async_trait]
impl ShutdownSignalWatch for StopSignal {
    async fn recv(&self) -> ShutdownSignal {
        let mut stopped = self.0.clone();
        // An error means that the sender is gone, and so is the program's interest in the server.
        let _ = stopped.wait_for(|stop| *stop).await;
        ShutdownSignal::GracefulTerminate
    }
}
