//! The server as a whole: put together from a policy, started, reloaded, drained.
//!
//! ```text
//! start   sockets bound ─▶ store ─▶ admin listener ─▶ publisher ─▶ fleet ─▶ decide, proxy ─▶ ready
//! run     signals ─▶ drain ─▶ goodbye to the fleet ─▶ last records
//! ```
//!
//! May use: everything. Must not know: cli.

use std::{
    net::TcpListener,
    os::fd::OwnedFd,
    path::Path,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use jiff::Timestamp;
use tokio::task::AbortHandle;

use crate::{
    base::{diagnostic::Diagnostic, metrics::Metrics},
    desk::{
        admin::{self, Access},
        api, pages,
    },
    outside::{
        acme,
        remote::{Document, Remote},
        tls::Certificates,
    },
    program::console::{Error, Exit, LineCounts, database::location},
    records::{counts::CountsInMemory, lines::Log, violations::Sink},
    review::trial,
    rules::policy::Policy,
    serving::{
        decide,
        gate::Gate,
        proxy::{self, Proxy, Running},
    },
    state::{
        exchange::{self, Exchange, Settings},
        publication::{self, Publisher, ReloadRequests, Reloads},
    },
};

use self::{
    offenders::{read_counts, watch_for_alerts},
    record_keeping::{open_access_log, open_store},
    signals::{Order, Signals},
    sockets::Sockets,
};
pub(crate) use self::{signals::Control, sockets::admin_token};

mod descriptors; // how many the process may open
mod log; // the first log lines, and those that are dropped
mod mailing; // reports by e-mail
mod offenders; // what alerts and pages know of earlier runs
mod record_keeping; // records and the memory of earlier runs
mod signals; // SIGHUP, SIGUSR2 and the end
mod sockets; // bound once, or inherited from systemd
mod successor; // the process that takes over
mod systemd; // what systemd hears
mod watcher; // the sites, seen from outside

/// Signals within this time count as one.
const SIGNAL_BURST: Duration = Duration::from_secs(1);

/// The most time to write records at the end.
const FLUSH: Duration = Duration::from_secs(5);

/// The most time that a start waits for the fleet. It is for a server that answers late: without one, this
/// node serves at once.
const FLEET_PATIENCE: Duration = Duration::from_secs(5);

pub(crate) struct Service {
    running: Running,
    /// `None` where no server asks.
    deciding: Option<decide::Running>,
    publisher: Publisher,
    reloads: Reloads,
    requests: ReloadRequests,
    sink: Arc<Sink>,
    metrics: Arc<Metrics>,
    access_log: Option<Arc<Log>>,
    /// `None` without a fleet.
    exchange: Option<Exchange>,
    ready: Arc<AtomicBool>,
    drain: Duration,
    sockets: Vec<OwnedFd>,
    /// The tasks of which one process can have one alone.
    tasks: Vec<AbortHandle>,
}

impl Service {
    /// Opens the store, binds the sockets that are not inherited, and starts serving. `None` if a signal
    /// ends the server before.
    pub(crate) async fn start(
        policy: Policy,
        file: &Path,
        inherited: Vec<TcpListener>,
        signals: &mut Signals,
    ) -> Result<Option<Self>, Error> {
        let addresses: Vec<_> = policy.server.addresses_by_key().collect();
        let metrics = Arc::new(Metrics::new());
        let sockets = Sockets::bind(&addresses, inherited);
        let (mut sockets, certificates) = match (sockets, Certificates::read(&policy, &metrics)) {
            (Ok(sockets), Ok(certificates)) => (sockets, Arc::new(certificates)),
            (sockets, certificates) => {
                let findings = sockets.err().into_iter().chain(certificates.err()).flatten();
                return Err(Error::Findings(findings.collect()));
            }
        };
        let copies = sockets.copies()?;
        let mut tasks = Vec::new();
        let refused = |finding| Error::Findings(vec![finding]);
        let in_file = |finding: Diagnostic| refused(finding.in_file(&file.display().to_string()));
        let fleet = Settings::of(&policy).map_err(in_file)?;
        let (sink, memory) = open_store(&policy, file)?;
        let access_log = open_access_log(&policy, file, &metrics)?;
        let mut at_start = policy.clone();
        let few_connections = descriptors::fit(&mut at_start.server.limits, descriptors::raise());
        descriptors::report(few_connections);
        let server = at_start.server.clone();
        log::announce(&policy);
        let ready = Arc::new(AtomicBool::new(false));
        let live = Arc::new(OnceLock::new());
        let counts = CountsInMemory::default();
        if let Some(admin) = &server.admin {
            let token = admin_token(admin)?;
            let access = token.map_or_else(Access::open, |token| Access::by_token(&token));
            let database = location(&policy)?;
            let listener = sockets.take(admin.address)?;
            let hosts = admin::Hosts(admin.hosts.clone());
            if let Some(database) = database.clone() {
                let counts = counts.clone();
                // The first page need not wait for it.
                tokio::task::spawn_blocking(move || read_counts(&database, &counts));
            }
            let view = admin::View {
                metrics: Arc::clone(&metrics),
                sink: Arc::clone(&sink),
                ready: Arc::clone(&ready),
                access: Arc::new(access),
                database,
                counts: counts.clone(),
                retention: policy.violations.retention,
                now: Timestamp::now,
                live: Arc::clone(&live),
            };
            let pages = pages::router().merge(api::router());
            let served = tokio::spawn(async move {
                if let Err(error) = admin::serve(listener, hosts, view, pages).await {
                    tracing::error!(%error, "admin listener failed");
                }
            });
            tasks.push(served.abort_handle());
        }
        let (policy_file, sink_of) = (file.to_owned(), Arc::clone(&sink));
        let file_and_trial = (policy_file.clone(), trial::findings as publication::Trial);
        let (presented, counted) = (Arc::clone(&certificates), Arc::clone(&metrics));
        let started =
            Publisher::start(policy, file_and_trial, memory, sink_of, presented, counted).await;
        let mut publisher = started.map_err(refused)?;
        let handles = publisher.handles();
        // One gate for requests and explanations: they share its marks and the key of hashed addresses.
        let gate = Arc::new(Gate::new(&handles, &at_start));
        let (reloads, requests) = Reloads::channel();
        // Set once: nobody else has it.
        let _ = live.set(admin::Live {
            policy_file,
            edits: server.admin.as_ref().is_some_and(|admin| admin.edit),
            handles: handles.clone(),
            gate: Arc::clone(&gate),
            reloads: reloads.clone(),
            few_connections,
        });
        let mut exchange = None;
        if let Some(fleet) = fleet {
            let joined = join(fleet, &mut publisher, signals.end_of_start()).await;
            let Some(joined) = joined else { return Ok(None) };
            exchange = Some(joined);
        }
        let alerts = watch_for_alerts(&publisher, at_start.clone(), counts);
        tasks.push(tokio::spawn(alerts).abort_handle());
        let mailing = mailing::run(handles.clone(), publisher.policies());
        tasks.push(tokio::spawn(mailing).abort_handle());
        let watched = watcher::run(handles.clone(), Arc::clone(&gate), publisher.policies());
        tasks.push(tokio::spawn(watched).abort_handle());
        let deciding = server.decide.as_ref().map(|settings| {
            let socket = sockets.take(settings.address)?;
            Ok::<_, Error>(decide::start(socket, Arc::clone(&gate), &handles, &server, settings)?)
        });
        let deciding = deciding.transpose()?;
        let proxy = Proxy::new(gate, &handles, &at_start, access_log.clone());
        let listening = server.listen.iter().map(|listener| sockets.take(listener.address));
        let listening = listening.collect::<Result<_, _>>()?;
        let counted = Arc::clone(&metrics);
        let running = proxy::start(&server, listening, proxy, &certificates, counted);
        let running = running.map_err(refused)?;
        // An authority asks the listeners for its proof.
        tasks.push(tokio::spawn(acme::run(certificates, metrics)).abort_handle());
        ready.store(true, Ordering::Release);
        let drain = server.timeouts.drain;
        Ok(Some(Self {
            running,
            deciding,
            publisher,
            reloads,
            requests,
            sink,
            metrics: handles.metrics,
            access_log,
            exchange,
            ready,
            drain,
            sockets: copies,
            tasks,
        }))
    }

    /// Follows the policy on a server. `document` is the policy in force.
    pub(crate) fn follow(&mut self, remote: Remote, document: Document, every: Duration) {
        self.publisher.follow(remote, document, every);
    }

    pub(crate) fn watch_log(&self, lines: LineCounts) {
        tokio::spawn(log::watch(lines, Arc::clone(&self.metrics)));
    }

    /// Serves until a signal ends it, then completes the requests in progress.
    pub(crate) async fn run(mut self, mut signals: Signals) -> Result<Exit, Error> {
        let reloads = self.reloads;
        let publisher = tokio::spawn(self.publisher.run(self.requests, systemd::on_reload));
        self.tasks.push(publisher.abort_handle());
        match successor::is_one() {
            true => successor::serve(),
            false => systemd::ready(),
        }
        let in_fleet = self.exchange.is_some();
        let (signal, successor) = end(&mut signals, &reloads, &self.sockets, in_fleet).await;
        match successor {
            None => systemd::stopping(),
            Some(process) => {
                systemd::succeeded_by(process);
                self.tasks.iter().for_each(AbortHandle::abort);
            }
        }
        self.ready.store(false, Ordering::Release);
        // Another process may bind their addresses.
        self.sockets.clear();
        tracing::info!(signal, "no new connections; completing requests in progress");
        let first_signal_at = Instant::now();
        let second_signal = async {
            // A shell may send one signal to the process and to its group.
            while first_signal_at.elapsed() < SIGNAL_BURST {
                signals.end(&reloads).await;
            }
        };
        let drained = tokio::select! {
            aborted = drain(self.running, self.deciding, self.drain) => Some(aborted),
            () = second_signal => None,
        };
        match drained {
            Some(0) => {}
            Some(requests) => tracing::warn!(requests, "drain timeout reached: requests aborted"),
            None => tracing::warn!("a second signal: requests in progress aborted"),
        }
        if let Some(exchange) = self.exchange {
            exchange.leave().await;
        }
        // Both at once: a reader that has stopped must not cost the other its time.
        let counts = std::thread::scope(|scope| {
            scope.spawn(|| {
                if let Some(log) = &self.access_log {
                    log.close(FLUSH);
                }
            });
            self.sink.close(FLUSH)
        });
        tracing::info!(records = counts.stored, dropped = counts.dropped, "stopped");
        Ok(Exit::Fine)
    }
}

/// Waits for the end: a signal, or a successor that serves. Returns the signal, and the process ID of the
/// successor.
async fn end(
    signals: &mut Signals,
    reloads: &Reloads,
    sockets: &[OwnedFd],
    is_in_fleet: bool,
) -> (&'static str, Option<u32>) {
    loop {
        match signals.next(reloads).await {
            Order::End(signal) => return (signal, None),
            Order::Successor if is_in_fleet => tracing::error!(
                "no successor: two processes can't be one node of a fleet; restart one node after \
                 the other"
            ),
            Order::Successor => {
                tracing::info!("a new process starts, which takes over the listening sockets");
                let started = tokio::select! {
                    started = successor::start(sockets) => started,
                    signal = signals.end(reloads) => return (signal, None),
                };
                match started {
                    Ok(process) => {
                        tracing::info!(process, "the new process serves");
                        return ("SIGUSR2", Some(process));
                    }
                    Err(error) => tracing::error!(%error, "no successor: this process goes on"),
                }
            }
        }
    }
}

/// Completes the requests in progress, for at most `limit`. Returns the number of aborted ones.
async fn drain(running: Running, deciding: Option<decide::Running>, limit: Duration) -> i64 {
    let decided = async {
        if let Some(deciding) = deciding {
            deciding.drain(limit).await;
        }
    };
    tokio::join!(running.drain(limit), decided).0
}

/// Joins the fleet of these settings, and announces the editions that this node is about to serve.
/// `None` if `signal` ended it before.
async fn join(
    settings: Settings,
    publisher: &mut Publisher,
    signal: impl Future<Output = &'static str>,
) -> Option<Exchange> {
    let port = publisher.join_fleet();
    let (exchange, loaded) = exchange::start(settings, publisher.handles(), port);
    let is_met = tokio::select! {
        is_met = publisher.meet_fleet(loaded, FLEET_PATIENCE) => is_met,
        signal = signal => {
            tracing::info!(signal, "stopped before the first request");
            exchange.leave().await;
            return None;
        }
    };
    if !is_met {
        tracing::error!(
            code = "fleet.start",
            "the fleet is not known: this node serves without it, degraded"
        );
    }
    Some(exchange)
}
