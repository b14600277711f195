//! `beadle serve`: the proxy in front of the origins.

use crate::{
    console::{
        config::{ConfigFile, load_after_trial},
        exit::{Error, Exit},
        log_lines::{LogFormat, log_to_stderr},
    },
    diagnostic::Severity,
    service::{Control, Service},
};

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
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    log_format: LogFormat,
}

pub(super) fn run(args: &Args, control: Option<Control>) -> Result<Exit, Error> {
    let Control { runtime: control, signals, inheritance } =
        control.map_or_else(Control::start, Ok)?;
    // The allocator asks for huge pages, and most of a page would stay empty: 60 MiB before the first
    // client instead of 35, 99 KiB for a slow client instead of 49. A system without them refuses.
    let _ = rustix::thread::disable_transparent_huge_pages(true);
    log_to_stderr(args.log_format, "info");
    let file = &args.config.config;
    let (policy, findings) = load_after_trial(file)?;
    for finding in findings.iter().filter(|one| one.severity == Severity::Warning) {
        let finding = format!("{finding:#}");
        tracing::warn!(finding, "policy");
    }
    let serving = async { Service::start(policy, file, inheritance).await?.run(signals).await };
    let ended = control.block_on(serving);
    // The system's resolver can't be cancelled. Without an answer from a name server, the end would
    // wait for it.
    control.shutdown_background();
    ended
}
