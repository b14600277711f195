//! `beadle serve`: the proxy in front of the origins.

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
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::mpsc,
};
use tracing_subscriber::{EnvFilter, fmt, prelude::*};

use crate::{
    admin, alerts, api,
    cli::alerts::known_offenders,
    console::{
        config::{ConfigFile, load_after_trial},
        exit::{Error, Exit},
        runtime::control_runtime,
        screen::wants_colours,
    },
    decide, desk,
    diagnostic::Severity,
    gate::Gate,
    metrics::Metrics,
    policy::{self, Policy},
    proxy::{self, Proxy, Running},
    publication::{self, Memory, Publisher},
    trial,
    violations::{CountsInMemory, LogTarget, OnDamage, PlaceKind, Question, Settings, Sink, Store},
};

/// Signals within this time count as one.
const SIGNAL_BURST: Duration = Duration::from_secs(1);

/// The most time to write records at the end.
const FLUSH: Duration = Duration::from_secs(5);

/// Serve the sites of a policy.
///
/// Reloads the policy on SIGHUP and when the file changes. If the new policy has errors, the last
/// valid one stays in force. SIGTERM and Ctrl-C stop the server after the requests in progress. A
/// second Ctrl-C stops it at once.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigFile,
    /// Format of log lines. BEADLE_LOG sets the level: error, warn, info (default) or debug.
    #[arg(long, value_enum, default_value_t)]
    log_format: LogFormat,
}

#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
pub(super) enum LogFormat {
    /// Text for people.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

/// The runtime for everything except requests, with handlers of signals.
pub(super) struct Control {
    pub(super) runtime: tokio::runtime::Runtime,
    pub(super) signals: Signals,
}

impl Control {
    /// Installs the handlers and starts the runtime.
    pub(super) fn start() -> Result<Self, Error> {
        // A handler stays for the whole life of the process. This one comes before the first
        // thread, which takes its time on a busy machine.
        let first = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        drop(first.block_on(async { signal(SignalKind::hangup()) })?);
        let runtime = control_runtime()?;
        let signals = runtime.block_on(async { Signals::install() })?;
        Ok(Self { runtime, signals })
    }
}

pub(super) fn run(args: &Args, control: Option<Control>) -> Result<Exit, Error> {
    let Control { runtime: control, signals } = control.map_or_else(Control::start, Ok)?;
    log_to_stderr(args.log_format, "info");
    let file = &args.config.config;
    let (policy, findings) = load_after_trial(file)?;
    for finding in findings.iter().filter(|one| one.severity == Severity::Warning) {
        let finding = format!("{finding:#}");
        tracing::warn!(finding, "policy");
    }
    let ended =
        control.block_on(async { Service::start(policy, file, None).await?.run(signals).await });
    // The system's resolver can't be cancelled. Without an answer from a name server, the end would
    // wait for it.
    control.shutdown_background();
    ended
}

/// Writes log lines to standard error, also those of pingora. `BEADLE_LOG` overrides the level.
pub(super) fn log_to_stderr(format: LogFormat, level: &str) {
    let filter = EnvFilter::try_from_env("BEADLE_LOG").unwrap_or_else(|_| {
        EnvFilter::new(format!(
            "{level},pingora=warn,pingora_core=warn,pingora_proxy=off,\
             hickory_resolver=off,hickory_net=off"
        ))
    });
    let lines = fmt::layer().with_writer(std::io::stderr).with_target(false);
    let registry = tracing_subscriber::registry().with(filter);
    // A second call in one process has no effect.
    let _ = match format {
        LogFormat::Text => {
            let ansi = std::io::IsTerminal::is_terminal(&std::io::stderr()) && wants_colours();
            registry.with(lines.with_ansi(ansi)).try_init()
        }
        LogFormat::Json => registry.with(lines.json()).try_init(),
    };
}

/// The signals that the server handles.
pub(super) struct Signals {
    hangup: Signal,
    terminate: Signal,
    interrupt: Signal,
    quit: Signal,
}

impl Signals {
    /// Installs the handlers, inside a runtime.
    pub(super) fn install() -> Result<Self, Error> {
        Ok(Self {
            hangup: signal(SignalKind::hangup())?,
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
        })
    }

    /// Waits for a signal that ends the server. Passes every SIGHUP to `hangups`.
    async fn end(&mut self, hangups: &mpsc::Sender<()>) -> &'static str {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return "SIGTERM",
                _ = self.interrupt.recv() => return "SIGINT",
                _ = self.quit.recv() => return "SIGQUIT",
                _ = self.hangup.recv() => {
                    // A full channel already has a reload waiting.
                    let _ = hangups.try_send(());
                }
            }
        }
    }
}

/// A started server.
pub(super) struct Service {
    running: Running,
    deciding: Option<decide::Running>,
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
    pub(super) async fn start(
        policy: Policy,
        file: &Path,
        bound: Option<TcpListener>,
    ) -> Result<Self, Error> {
        let address = bound.as_ref().map(TcpListener::local_addr).transpose()?;
        proxy::bind_check(&policy.server, address).map_err(Error::Findings)?;
        let metrics = Arc::new(Metrics::new());
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
        let started =
            Publisher::start(policy, file_and_trial, memory, sink_of, Arc::clone(&metrics)).await;
        let refused = |finding| Error::Findings(vec![finding]);
        let publisher = started.map_err(refused)?;
        let handles = publisher.handles();
        let gate = Gate::new(&handles, &at_start);
        // Set once: nobody else has it.
        let _ = live.set(admin::Live { policy_file, handles, gate });
        tokio::spawn(watch_for_alerts(&publisher, at_start.clone(), counts));
        let handles = publisher.handles();
        // One gate for all requests: they share its marks and the key of hashed addresses.
        let gate = Arc::new(Gate::new(&handles, &at_start));
        let deciding = server.decide.as_ref().map(|settings| {
            let socket = TcpListener::bind(settings.address)?;
            decide::start(socket, Arc::clone(&gate), &handles, &server, settings)
        });
        let deciding = deciding.transpose()?;
        let proxy = Proxy::new(gate, &handles, &at_start);
        let running = proxy::start(&server, proxy, metrics).map_err(refused)?;
        wait_until_listening(&server).await;
        ready.store(true, Ordering::Release);
        Ok(Self { running, deciding, publisher, sink, ready, drain: server.timeouts.drain })
    }

    /// Serves until a signal ends it, then completes the requests in progress.
    pub(super) async fn run(self, mut signals: Signals) -> Result<Exit, Error> {
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
            aborted = drain(self.running, self.deciding, self.drain) => Some(aborted),
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

/// Completes the requests in progress, for at most `limit`. Returns the number of aborted ones.
async fn drain(running: Running, deciding: Option<decide::Running>, limit: Duration) -> i64 {
    let decided = async {
        if let Some(deciding) = deciding {
            deciding.drain(limit).await;
        }
    };
    tokio::join!(running.drain(limit), decided).0
}

/// Sends alerts about the state of the server. `policy` is that of the start.
fn watch_for_alerts(
    publisher: &Publisher,
    policy: Policy,
    counts: CountsInMemory,
) -> impl Future<Output = ()> + Send + use<> {
    let (webhooks, handles) = (publisher.webhooks(), publisher.handles());
    async move {
        let known = tokio::task::spawn_blocking(move || known_offenders(&policy, &counts)).await;
        // A query that panicked has no answer.
        alerts::run(webhooks, known.unwrap_or_default(), || handles.state()).await;
    }
}

/// Reads the counts of a database into memory. The pages name a failure.
fn read_counts(database: &Path, counts: &CountsInMemory) {
    let Ok(store) = Store::open_read_only(database) else { return };
    let (store, all) = (store.sharing(counts), Question::default());
    let _ = store.counted(&all);
    let _ = store.places(PlaceKind::Path, &all, 0);
}

/// The hosts that the admin listener answers for.
fn admin_hosts(admin: &policy::Admin) -> admin::Hosts {
    let mut hosts = admin::Hosts::default();
    for host in &admin.hosts {
        match host {
            policy::Host::Exact(host) => hosts.exact.push(host.clone()),
            policy::Host::Below(suffix) => hosts.suffixes.push(suffix.clone()),
        }
    }
    hosts
}

/// What opens the admin listener: the token of its file.
fn admin_access(admin: &policy::Admin) -> Result<admin::Access, Error> {
    let Some(file) = &admin.token_file else { return Ok(admin::Access::open()) };
    let refused =
        |why: String| Error::Refused(format!("server.admin.token_file: {}: {why}", file.display()));
    let token = std::fs::read_to_string(file).map_err(|error| refused(error.to_string()))?;
    let token = token.trim();
    if token.len() < admin::SHORTEST_TOKEN {
        let fewest = admin::SHORTEST_TOKEN;
        return Err(refused(format!(
            "the token is shorter than {fewest} characters (make one with 'openssl rand -hex 24')"
        )));
    }
    admin::Access::by_token(token).map_err(|error| refused(error.to_string()))
}

fn open_store(policy: &Policy, policy_file: &Path) -> Result<(Arc<Sink>, Memory), Error> {
    let settings = &policy.violations;
    let refused = |error: crate::violations::Error| Error::Refused(error.to_string());
    let log = match &settings.log {
        Some(policy::Log::File(file)) => Some(file),
        Some(policy::Log::Stdout) | None => None,
    };
    for file in [settings.database.as_ref(), log].into_iter().flatten() {
        // Beadle creates `data/` beside the policy. Another missing folder may be a typing error.
        let beside = policy_file.parent().unwrap_or(policy_file);
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let is_ours = |folder: &&Path| folder.is_relative() || folder.starts_with(beside);
        if let Some(folder) = folder.filter(is_ours) {
            std::fs::create_dir_all(folder).map_err(|error| {
                Error::Refused(format!("the folder of {}: {error}", file.display()))
            })?;
        }
    }
    let sink = Sink::start(Settings {
        database: settings.database.clone(),
        on_damage: match settings.on_damage {
            policy::OnDamage::Keep => OnDamage::Keep,
            policy::OnDamage::Rotate => OnDamage::Rotate,
        },
        log: settings.log.as_ref().map(|log| match log {
            policy::Log::File(file) => LogTarget::File(file.clone()),
            policy::Log::Stdout => LogTarget::Stdout,
        }),
        queue: settings.queue,
        detail: settings.detail,
        retention: Some(settings.retention),
        max_size: Some(settings.max_size),
        editions: publication::KEPT,
    })
    .map_err(refused)?;
    // The database is Beadle's, or the sink would have refused it. Without its memory, requests are
    // judged without their grace; without the site, not at all.
    let memory = Memory::read_latest(policy, Timestamp::now()).unwrap_or_else(|error| {
        tracing::error!(
            code = error.code(), %error,
            "earlier editions and fetches of robots.txt can't be read: they start anew"
        );
        Memory::default()
    });
    Ok((Arc::new(sink), memory))
}

/// Logs one line for each listener and site, and the policy's fingerprint.
fn announce(policy: &Policy) {
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        policy = policy.fingerprint,
        crawlers = policy.catalogue.iter().len(),
        "beadle"
    );
    for listener in &policy.server.listen {
        tracing::info!(address = %listener.address, tls = listener.tls.is_some(), "listening");
    }
    if let Some(admin) = &policy.server.admin {
        tracing::info!(address = %admin.address, "admin listening");
    }
    if let Some(decide) = &policy.server.decide {
        tracing::info!(address = %decide.address, "deciding for other servers");
    }
    for site in &policy.sites {
        let origin = &site.origin;
        let mode = site.enforcement.ladder.map_or(site.enforcement.mode.as_str(), |_| "ladder");
        let overrides: Vec<String> = site.enforcement.overrides.iter().map(summary).collect();
        let overrides = Some(overrides.join(", ")).filter(|text| !text.is_empty());
        let impostors = site.enforcement.impostors.map(policy::Mode::as_str);
        tracing::info!(site = site.name(), origin = %origin, mode, overrides, impostors, "serving");
    }
}

/// An override in short: `block for 97 crawlers`, `log for all (unknown)`.
fn summary(one: &policy::Override) -> String {
    let mode = one.mode.as_str();
    let crawlers = match one.tokens.len() {
        _ if one.all => "all".to_owned(),
        1 => "1 crawler".to_owned(),
        several => format!("{several} crawlers"),
    };
    let standings: Vec<&str> = one.standings.iter().map(|outcome| outcome.as_str()).collect();
    match standings.as_slice() {
        [] => format!("{mode} for {crawlers}"),
        some => format!("{mode} for {crawlers} ({})", some.join(", ")),
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
