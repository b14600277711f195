//! `beadle serve`: the proxy in front of the origins.

use std::{io::Write, time::Duration};

use crate::{
    base::{diagnostic::Severity, fetch},
    program::{
        cli::without_file::{Improvised, WithoutFile},
        console::{AtStart, ConfigFile, Error, Exit, Format, log_to_stderr},
        service::{Control, Service},
    },
    rules::policy,
};

/// Serve the sites of a policy.
///
/// Reloads the policy on SIGHUP and when the file changes. If the new policy has errors, the last
/// valid one stays in force. SIGTERM and Ctrl-C stop the server after the requests in progress. A
/// second Ctrl-C stops it at once.
///
/// A policy at an https:// address is fetched every 30 seconds. The last good one is kept as a copy,
/// for a start while the address does not answer.
///
/// --origin needs no policy. It prints where to look, and --write makes a file of it.
#[derive(Debug, clap::Args)]
#[command(mut_arg("config_key", |arg| arg.hide(false)))]
#[command(mut_arg("config_copy", |arg| arg.hide(false)))]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigFile,
    #[command(flatten)]
    without_file: WithoutFile,
    /// How often to fetch a policy at an https:// address. An unchanged policy costs no more than a
    /// short answer.
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = interval)]
    config_interval: Duration,
    /// Format of log lines. BEADLE_LOG sets the level: error, warn, info (default) or debug.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    log_format: Format,
}

pub(super) fn run(args: &Args, control: Option<Control>) -> Result<Exit, Error> {
    let Control { runtime: control, mut signals, inherited } =
        control.map_or_else(Control::start, Ok)?;
    // The allocator asks for huge pages, and most of a page would stay empty: 60 MiB before the first
    // client instead of 35, 99 KiB for a slow client instead of 49. A system without them refuses.
    let _ = rustix::thread::disable_transparent_huge_pages(true);
    let (_guard, lines) = log_to_stderr(args.log_format, "info");
    fetch::check_authorities().map_err(Error::Refused)?;
    let (at_start, file, inherited, guide) = match args.without_file.improvise()? {
        None => {
            let at_start = AtStart::load(&args.config, &control)?;
            (at_start, args.config.file().to_owned(), inherited, String::new())
        }
        Some(Improvised { at_start, file, sockets, guide }) => (at_start, file, sockets, guide),
    };
    let AtStart { policy, findings, remote } = at_start;
    for finding in findings.iter().filter(|one| one.severity == Severity::Warning) {
        let finding = format!("{finding:#}");
        tracing::warn!(finding, "policy");
    }
    let serving = async {
        let started = Service::start(policy, &file, inherited, &mut signals).await?;
        let Some(mut service) = started else { return Ok(Exit::Fine) };
        if let Some((remote, document)) = remote {
            service.follow(remote, document, args.config_interval);
        }
        // A reader that has gone stops no server.
        let _ = std::io::stdout().write_all(guide.as_bytes());
        service.watch_log(lines);
        service.run(signals).await
    };
    let ended = control.block_on(serving);
    // The system's resolver can't be cancelled. Without an answer from a name server, the end would
    // wait for it.
    control.shutdown_background();
    ended
}

/// The interval of fetches: a second to a day.
fn interval(text: &str) -> Result<Duration, String> {
    let bounds = Duration::from_secs(1)..=Duration::from_secs(86_400);
    let read = policy::duration(text).filter(|time| bounds.contains(time));
    read.ok_or_else(|| "not a time from 1s to 1d (write it as 30s or 5m)".to_owned())
}
