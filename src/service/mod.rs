//! The server as a whole: put together from a policy, started, reloaded, drained.
//!
//! ```text
//! start   sockets checked ─▶ store ─▶ admin listener ─▶ publisher ─▶ proxy ─▶ ready
//! run     signals ─▶ drain ─▶ last records
//! ```
//!
//! May use: everything. Must not know: cli.

use std::{
    net::TcpListener,
    path::Path,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use jiff::Timestamp;
use tokio::sync::mpsc;

use crate::{
    acme, admin, api,
    console::exit::{Error, Exit},
    desk,
    gate::Gate,
    metrics::Metrics,
    policy::{self, Policy},
    proxy::{self, Proxy, Running},
    publication::{self, Publisher},
    tls::Certificates,
    trial,
    violations::{CountsInMemory, Sink},
};

pub(crate) use self::signals::Control;
use self::signals::Signals;
use self::{
    admin_access::{admin_access, admin_hosts, read_counts},
    announce::announce,
    offenders::watch_for_alerts,
    store::open_store,
};

mod admin_access; // who may use the admin listener
mod announce; // the first log lines
mod offenders; // what alerts know
mod signals; // SIGHUP and the end
mod store; // records and the memory of earlier runs

/// Signals within this time count as one.
const SIGNAL_BURST: Duration = Duration::from_secs(1);

/// The most time to write records at the end.
const FLUSH: Duration = Duration::from_secs(5);

/// A started server.
pub(crate) struct Service {
    running: Running,
    publisher: Publisher,
    sink: Arc<Sink>,
    ready: Arc<AtomicBool>,
    drain: Duration,
}

impl Service {
    /// Opens the store, binds the sockets and starts serving. `bound` is the admin listener's socket,
    /// if the caller has bound it.
    ///
    /// # Errors
    /// The policy can't take effect.
    pub(crate) async fn start(
        policy: Policy,
        file: &Path,
        bound: Option<TcpListener>,
    ) -> Result<Self, Error> {
        let address = bound.as_ref().map(TcpListener::local_addr).transpose()?;
        proxy::bind_check(&policy.server, address).map_err(Error::Findings)?;
        let metrics = Arc::new(Metrics::new());
        let certificates = Certificates::read(&policy, &metrics).map_err(Error::Findings)?;
        let certificates = Arc::new(certificates);
        let (sink, memory) = open_store(&policy, file)?;
        let server = policy.server.clone();
        announce(&policy);
        let ready = Arc::new(AtomicBool::new(false));
        let live = Arc::new(OnceLock::new());
        let counts = CountsInMemory::default();
        if let Some(admin) = &server.admin {
            let access = Arc::new(admin_access(admin)?);
            let listener = bound.map_or_else(|| TcpListener::bind(admin.address), Ok)?;
            let hosts = admin_hosts(admin);
            if let Some(database) = policy.violations.database.clone() {
                let counts = counts.clone();
                // The first page need not wait for it.
                tokio::task::spawn_blocking(move || read_counts(&database, &counts));
            }
            let view = admin::View {
                metrics: Arc::clone(&metrics),
                sink: Arc::clone(&sink),
                ready: Arc::clone(&ready),
                access,
                database: policy.violations.database.clone(),
                counts: counts.clone(),
                retention: policy.violations.retention,
                now: Timestamp::now,
                live: Arc::clone(&live),
            };
            let pages = desk::router().merge(api::router());
            tokio::spawn(async move {
                if let Err(error) = admin::serve(listener, hosts, view, pages).await {
                    tracing::error!(%error, "admin listener failed");
                }
            });
        }
        let at_start = policy.clone();
        let (policy_file, sink_of) = (file.to_owned(), Arc::clone(&sink));
        let file_and_trial = (policy_file.clone(), trial::findings as publication::Trial);
        let (presented, counted) = (Arc::clone(&certificates), Arc::clone(&metrics));
        let started =
            Publisher::start(policy, file_and_trial, memory, sink_of, presented, counted).await;
        let refused = |finding| Error::Findings(vec![finding]);
        let publisher = started.map_err(refused)?;
        let handles = publisher.handles();
        let gate = Gate::new(&handles, &at_start);
        // Set once: nobody else has it.
        let _ = live.set(admin::Live { policy_file, handles, gate });
        tokio::spawn(watch_for_alerts(&publisher, at_start.clone(), counts));
        let proxy = Proxy::new(&publisher.handles(), &at_start);
        let running = proxy::start(&server, proxy, &certificates, Arc::clone(&metrics));
        let running = running.map_err(refused)?;
        wait_until_listening(&server).await;
        // An authority asks the listeners for its proof.
        tokio::spawn(acme::run(certificates, metrics));
        ready.store(true, Ordering::Release);
        Ok(Self { running, publisher, sink, ready, drain: server.timeouts.drain })
    }

    /// Serves until a signal ends it, then completes the requests in progress.
    pub(crate) async fn run(self, mut signals: Signals) -> Result<Exit, Error> {
        let (hangups, hangup) = mpsc::channel(1);
        tokio::spawn(self.publisher.run(hangup));
        let ended_by = signals.end(&hangups).await;
        self.ready.store(false, Ordering::Release);
        tracing::info!(signal = ended_by, "no new connections; completing requests in progress");
        let first_signal_at = Instant::now();
        let second_signal = async {
            // A shell may send one signal to the process and to its group.
            while first_signal_at.elapsed() < SIGNAL_BURST {
                signals.end(&hangups).await;
            }
        };
        let drained = tokio::select! {
            aborted = self.running.drain(self.drain) => Some(aborted),
            () = second_signal => None,
        };
        match drained {
            Some(0) => {}
            Some(requests) => tracing::warn!(requests, "drain timeout reached: requests aborted"),
            None => tracing::warn!("a second signal: requests in progress aborted"),
        }
        let counts = self.sink.close(FLUSH);
        tracing::info!(records = counts.stored, dropped = counts.dropped, "stopped");
        Ok(Exit::Fine)
    }
}

/// Waits until every listener accepts connections. Another thread binds the sockets.
async fn wait_until_listening(server: &policy::Server) {
    // pingora would log an empty connection to a TLS listener as a failed handshake.
    for listener in server.listen.iter().filter(|listener| listener.tls.is_none()) {
        let mut address = listener.address;
        if address.ip().is_unspecified() {
            let local: std::net::IpAddr = if address.is_ipv4() {
                [127, 0, 0, 1].into()
            } else {
                std::net::Ipv6Addr::LOCALHOST.into()
            };
            address.set_ip(local);
        }
        for _ in 0..200 {
            if tokio::net::TcpStream::connect(address).await.is_ok() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}
