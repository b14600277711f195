//! The server: listeners, start and drain.
//!
//! pingora retries a port in use for half a minute, then panics in a task, and the process stays
//! alive without service. At SIGTERM it sleeps for its whole grace period. So Beadle checks the
//! sockets before, runs pingora in its own thread, and ends when no request is in progress.

use std::{
    net::{SocketAddr, TcpListener},
    sync::Arc,
    thread::JoinHandle,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use pingora::{
    listeners::tls::TlsSettings,
    proxy::http_proxy_service,
    server::{RunArgs, Server, ShutdownSignal, ShutdownSignalWatch, configuration::ServerConf},
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};
use tokio::sync::watch;

use crate::{diagnostic::Diagnostic, metrics::Metrics, policy};

use super::Proxy;

/// The idle time after which a draining server ends.
const QUIET: Duration = Duration::from_millis(100);

/// A started proxy.
#[derive(Debug)]
pub struct Running {
    thread: JoinHandle<()>,
    stop: watch::Sender<bool>,
    metrics: Arc<Metrics>,
}

/// Checks every socket and certificate of the policy.
///
/// # Errors
/// A finding for each unusable one.
pub fn bind_check(server: &policy::Server) -> Result<(), Vec<Diagnostic>> {
    let sockets = server.listen.iter().map(|listener| listener.address).chain(server.admin);
    // All sockets stay open until the last check, so that two overlapping ones fail.
    let tried: Vec<_> = sockets.map(|address| (address, TcpListener::bind(address))).collect();
    let mut findings: Vec<Diagnostic> = tried
        .iter()
        .filter_map(|(address, tried)| Some(socket_finding(*address, tried.as_ref().err()?)))
        .collect();
    let certificates = server.listen.iter().filter_map(|listener| listener.tls.as_ref());
    findings.extend(certificates.filter_map(|tls| certificate_finding(tls).err()));
    if findings.is_empty() { Ok(()) } else { Err(findings) }
}

fn socket_finding(address: SocketAddr, error: &std::io::Error) -> Diagnostic {
    let message = format!("can't listen on {address}: {error}");
    let help = match error.kind() {
        std::io::ErrorKind::AddrInUse => "stop the program that uses it, or choose another port",
        std::io::ErrorKind::PermissionDenied => {
            "choose a port from 1024 on, or give the program CAP_NET_BIND_SERVICE"
        }
        _ => "choose an address of this machine",
    };
    Diagnostic::error("server.listen", message).help(help)
}

/// The largest PEM file, in octets.
const MAX_PEM: u64 = 4 << 20;

fn certificate_finding(tls: &policy::Tls) -> Result<(), Diagnostic> {
    let refused = |file: &std::path::Path, error: &dyn std::fmt::Display| {
        Diagnostic::error("server.tls", format!("{}: {error}", file.display()))
            .help("name PEM files of a certificate chain and its private key")
    };
    for file in [&tls.certificate, &tls.key] {
        // A device may have no end, and a pipe no writer.
        let found = std::fs::metadata(file).map_err(|error| refused(file, &error))?;
        if !found.is_file() || found.len() > MAX_PEM {
            return Err(refused(file, &"not a regular file of 4 MiB at most"));
        }
    }
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(&tls.certificate)
        .and_then(Iterator::collect)
        .map_err(|error| refused(&tls.certificate, &error))?;
    let key = PrivateKeyDer::from_pem_file(&tls.key).map_err(|error| refused(&tls.key, &error))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|config| config.with_no_client_auth().with_single_cert(chain, key))
        .map(drop)
        .map_err(|error| refused(&tls.certificate, &error))
}

/// Starts the proxy on the sockets of `server`, after [`bind_check`].
///
/// # Errors
/// A certificate is unusable after all.
pub fn start(
    server: &policy::Server,
    proxy: Proxy,
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
        // Enough to replace one stale pooled connection.
        max_retries: 2,
        ..ServerConf::default()
    };
    let mut pingora = Server::new_with_opt_and_conf(None, conf);
    pingora.bootstrap();
    let mut service = http_proxy_service(&pingora.configuration, proxy);
    for listener in &server.listen {
        let address = listener.address.to_string();
        match &listener.tls {
            None => service.add_tcp(&address),
            Some(tls) => {
                let (certificate, key) =
                    (tls.certificate.to_string_lossy(), tls.key.to_string_lossy());
                let settings = TlsSettings::intermediate(&certificate, &key)
                    .map_err(|error| Diagnostic::error("server.tls", error.to_string()))?;
                service.add_tls_with_settings(&address, None, settings);
            }
        }
    }
    pingora.add_service(service);
    let (stop, stopped) = watch::channel(false);
    let run = move || {
        pingora.run(RunArgs { shutdown_signal: Box::new(StopSignal(stopped)) });
    };
    let thread =
        std::thread::Builder::new().name("proxy".to_owned()).spawn(run).map_err(|error| {
            Diagnostic::error("server.thread", error.to_string()).help("raise the limit of threads")
        })?;
    Ok(Running { thread, stop, metrics })
}

impl Running {
    /// Accepts no more connections and waits until no request is in progress, for at most `limit`.
    /// Returns the number of requests still in progress.
    pub async fn drain(self, limit: Duration) -> i64 {
        // The thread may have ended already; then there is no receiver.
        let _ = self.stop.send(true);
        let deadline = Instant::now() + limit;
        let mut quiet_since = Instant::now();
        loop {
            let in_flight = self.metrics.in_flight.get();
            if in_flight > 0 {
                quiet_since = Instant::now();
            }
            if quiet_since.elapsed() >= QUIET
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
