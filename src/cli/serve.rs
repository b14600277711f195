//! `beadle serve`: the proxy in front of its origins.

use std::{
    net::TcpListener,
    path::Path,
    sync::{
        Arc,
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
    admin,
    cli::{
        config::{ConfigFile, load},
        exit::{Error, Exit},
        memory,
    },
    diagnostic::Severity,
    metrics::Metrics,
    policy::{self, Policy},
    proxy::{self, Proxy, Reloader, Remembered, Running, Verifier},
    violations::{LogTarget, Settings, Sink, Store},
};

/// Signals that come this close together say the same.
const ONE_WISH: Duration = Duration::from_secs(1);

/// How long records may take to reach the disk at the end.
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

pub(super) fn run(args: &Args) -> Result<Exit, Error> {
    let control = control_runtime()?;
    // Before anything else: a SIGHUP without a handler would end the process.
    let signals = control.block_on(async { Signals::install() })?;
    log_to_stderr(args.log_format, "info");
    let file = &args.config.config;
    let (policy, findings) = load(file)?;
    for finding in findings.iter().filter(|one| one.severity == Severity::Warning) {
        let finding = format!("{finding:#}");
        tracing::warn!(finding, "policy");
    }
    let ended = control.block_on(async { Service::start(policy, file).await?.run(signals).await });
    // The system's resolver can't be told to stop: where no name server answers, the end would wait
    // for it.
    control.shutdown_background();
    ended
}

/// The runtime of everything that is not a request: signals, look-ups, reloads, admin pages.
pub(super) fn control_runtime() -> Result<tokio::runtime::Runtime, Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("control")
        .enable_all()
        .build()?;
    Ok(runtime)
}

/// Log lines on standard error; what pingora logs comes the same way. `BEADLE_LOG` overrides the
/// level.
pub(super) fn log_to_stderr(format: LogFormat, level: &str) {
    let filter = EnvFilter::try_from_env("BEADLE_LOG").unwrap_or_else(|_| {
        EnvFilter::new(format!(
            "{level},pingora=warn,pingora_core=warn,pingora_proxy=off,\
             hickory_resolver=off,hickory_net=off"
        ))
    });
    let lines = fmt::layer().with_writer(std::io::stderr).with_target(false);
    let registry = tracing_subscriber::registry().with(filter);
    // A second call in one process keeps the first.
    let _ = match format {
        LogFormat::Text => {
            let ansi = std::io::IsTerminal::is_terminal(&std::io::stderr())
                && std::env::var_os("NO_COLOR").is_none();
            registry.with(lines.with_ansi(ansi)).try_init()
        }
        LogFormat::Json => registry.with(lines.json()).try_init(),
    };
}

/// The signals that a server listens to.
pub(super) struct Signals {
    hangup: Signal,
    terminate: Signal,
    interrupt: Signal,
    quit: Signal,
}

impl Signals {
    /// Installs the handlers; inside a runtime.
    pub(super) fn install() -> Result<Self, Error> {
        Ok(Self {
            hangup: signal(SignalKind::hangup())?,
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
        })
    }

    /// Waits for a signal that ends the server; every hang-up on the way is passed on.
    async fn ended(&mut self, hangups: &mpsc::Sender<()>) -> &'static str {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return "SIGTERM",
                _ = self.interrupt.recv() => return "SIGINT",
                _ = self.quit.recv() => return "SIGQUIT",
                _ = self.hangup.recv() => {
                    // A full channel has a reload ahead of it already.
                    let _ = hangups.try_send(());
                }
            }
        }
    }
}

/// A started server.
pub(super) struct Service {
    running: Running,
    reloader: Arc<Reloader>,
    sink: Arc<Sink>,
    ready: Arc<AtomicBool>,
    drain: Duration,
    lookup: Duration,
}

impl Service {
    /// Opens the store, binds the sockets and starts serving.
    ///
    /// # Errors
    /// Whatever would keep it from serving as the policy says.
    pub(super) async fn start(policy: Policy, file: &Path) -> Result<Self, Error> {
        proxy::bind_check(&policy.server).map_err(Error::Findings)?;
        let metrics = Arc::new(Metrics::new());
        let (sink, remembered) = open_store(&policy)?;
        let server = policy.server.clone();
        announce(&policy);
        let ready = Arc::new(AtomicBool::new(false));
        if let Some(address) = server.admin {
            let listener = TcpListener::bind(address)?;
            let view = admin::View {
                metrics: Arc::clone(&metrics),
                sink: Arc::clone(&sink),
                ready: Arc::clone(&ready),
            };
            tokio::spawn(async move {
                if let Err(error) = admin::serve(listener, view).await {
                    tracing::error!(%error, "the admin listener has ended");
                }
            });
        }
        let verifier = Verifier::start(&policy, &metrics).map_err(|finding| {
            Error::Findings(vec![finding.in_file(&file.display().to_string())])
        })?;
        let started = Proxy::start(
            policy,
            file.to_owned(),
            saved_at(file),
            Arc::clone(&sink),
            remembered,
            verifier,
            Arc::clone(&metrics),
        );
        let (proxy, reloader) = started.await.map_err(|finding| Error::Findings(vec![finding]))?;
        reloader.origins().look_up().await;
        let running = proxy::start(&server, proxy, metrics)
            .map_err(|finding| Error::Findings(vec![finding]))?;
        wait_until_listening(&server).await;
        ready.store(true, Ordering::Release);
        Ok(Self {
            running,
            reloader: Arc::new(reloader),
            sink,
            ready,
            drain: server.timeouts.drain,
            lookup: server.timeouts.origin_lookup,
        })
    }

    /// Serves until a signal ends it, then lets the requests under way end.
    pub(super) async fn run(self, mut signals: Signals) -> Result<Exit, Error> {
        let (hangups, hangup) = mpsc::channel(1);
        let reloader = Arc::clone(&self.reloader);
        tokio::spawn(async move { reloader.watch(hangup).await });
        let reloader = Arc::clone(&self.reloader);
        tokio::spawn(async move { reloader.follow_origins().await });
        let reloader = Arc::clone(&self.reloader);
        tokio::spawn(async move { reloader.look_at_conduct().await });
        let reloader = Arc::clone(&self.reloader);
        let every = self.lookup;
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(every).await;
                reloader.origins().look_up().await;
            }
        });
        let ended_by = signals.ended(&hangups).await;
        self.ready.store(false, Ordering::Release);
        tracing::info!(signal = ended_by, "no new connections; requests under way may end");
        let told_at = Instant::now();
        let insisted = async {
            // Some send one signal to the process and to its group: that is one wish.
            while told_at.elapsed() < ONE_WISH {
                signals.ended(&hangups).await;
            }
        };
        let drained = tokio::select! {
            cut = self.running.drain(self.drain) => cut,
            () = insisted => -1,
        };
        match drained {
            0 => {}
            -1 => tracing::warn!("a second signal: not waiting for requests under way"),
            cut => tracing::warn!(requests = cut, "the time to drain is over; requests were cut"),
        }
        let counts = self.sink.close(FLUSH);
        if counts.dropped > 0 {
            tracing::error!(
                dropped = counts.dropped,
                stored = counts.stored,
                "not all records were kept"
            );
        }
        tracing::info!(records = counts.stored, "stopped");
        Ok(Exit::Fine)
    }
}

/// When the policy was saved: its robots.txt counts as published since then, so that a restart
/// does not make it look new.
fn saved_at(file: &Path) -> Timestamp {
    let modified = std::fs::metadata(file).and_then(|metadata| metadata.modified());
    let saved = modified.ok().and_then(|time| Timestamp::try_from(time).ok());
    let now = Timestamp::now();
    saved.filter(|saved| *saved <= now).unwrap_or(now)
}

fn open_store(policy: &Policy) -> Result<(Arc<Sink>, Remembered), Error> {
    let settings = &policy.violations;
    let refused = |error: crate::violations::Error| Error::Refused(error.to_string());
    let log = match &settings.log {
        Some(policy::Log::File(file)) => Some(file),
        Some(policy::Log::Stdout) | None => None,
    };
    for file in [settings.database.as_ref(), log].into_iter().flatten() {
        // `data/` beside the policy is made; an absolute path may be a slip of the pen.
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| folder.is_relative()) {
            std::fs::create_dir_all(folder).map_err(|error| {
                Error::Refused(format!("the folder of {}: {error}", file.display()))
            })?;
        }
    }
    let sink = Sink::start(Settings {
        database: settings.database.clone(),
        log: settings.log.as_ref().map(|log| match log {
            policy::Log::File(file) => LogTarget::File(file.clone()),
            policy::Log::Stdout => LogTarget::Stdout,
        }),
        queue: settings.queue,
        retention: Some(settings.retention),
        editions: memory::longest_window(policy),
    })
    .map_err(refused)?;
    let start = memory::start(policy, Timestamp::now());
    let remembered = match &settings.database {
        Some(file) => {
            let store = Store::open_read_only(file).map_err(refused)?;
            Remembered::read(&store, start).map_err(refused)?
        }
        None => Remembered::default(),
    };
    Ok((Arc::new(sink), remembered))
}

/// One line for each listener and site, and the policy's fingerprint.
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
    if let Some(address) = policy.server.admin {
        tracing::info!(%address, "admin listening");
    }
    for site in &policy.sites {
        let origin = &site.origin;
        let mode = site.enforcement.ladder.map_or(site.enforcement.mode.as_str(), |_| "ladder");
        let overrides: Vec<String> = site.enforcement.overrides.iter().map(shown).collect();
        let overrides = Some(overrides.join(", ")).filter(|text| !text.is_empty());
        let impostors = site.enforcement.impostors.map(policy::Mode::as_str);
        tracing::info!(site = site.name(), origin = %origin, mode, overrides, impostors, "serving");
    }
}

/// `block for 97 crawlers`, `log for all (unknown)`
fn shown(one: &policy::Override) -> String {
    let mode = one.mode.as_str();
    let whom = match one.tokens.len() {
        _ if one.all => "all".to_owned(),
        1 => "1 crawler".to_owned(),
        several => format!("{several} crawlers"),
    };
    let standings: Vec<&str> = one.standings.iter().map(|outcome| outcome.as_str()).collect();
    match standings.as_slice() {
        [] => format!("{mode} for {whom}"),
        some => format!("{mode} for {whom} ({})", some.join(", ")),
    }
}

/// Ready means that a connection is taken; the sockets are bound by a thread of their own.
async fn wait_until_listening(server: &policy::Server) {
    // A connection to a TLS listener that says nothing would be logged as a failed handshake.
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
