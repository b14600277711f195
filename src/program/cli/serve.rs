//! `beadle serve`: the proxy in front of the origins. Without a file, the policy is one of a few options: the
//! origin's robots.txt, in log mode.

use std::{
    io::{self, Write},
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener},
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    advice::starter::{Answers, policy_text},
    base::{
        diagnostic::Severity,
        escape,
        fetch::{self, page},
        version,
    },
    program::{
        console::{
            AtStart, ConfigFile, Error, Exit, Format, after_trial, log_to_stderr, refuse,
            write_file,
        },
        service::{Control, Service},
    },
    rules::policy,
    state::publication,
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
        let _ = io::stdout().write_all(guide.as_bytes());
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

/// The options of a server without a policy file.
#[derive(Debug, clap::Args)]
struct WithoutFile {
    /// Serve this server without a policy file. Keeps its robots.txt, answers for every host, logs
    /// violations to violations.db in the current folder, and refuses nothing.
    #[arg(long, value_name = "URL", conflicts_with_all = ["config", "config_key"])]
    origin: Option<String>,
    /// Address of the proxy, with --origin. The desk takes the next free port of 127.0.0.1.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080", requires = "origin")]
    listen: SocketAddr,
    /// Write the policy of --origin to this new file, and serve the file.
    #[arg(long, value_name = "FILE", requires = "origin")]
    write: Option<PathBuf>,
}

struct Improvised {
    at_start: AtStart,
    /// The file that a reload reads. It exists only if the options say so.
    file: PathBuf,
    sockets: Vec<TcpListener>,
    guide: String,
}

impl WithoutFile {
    /// Binds the sockets and makes the policy; `None` without `--origin`.
    fn improvise(&self) -> Result<Option<Improvised>, Error> {
        let Some(origin) = &self.origin else { return Ok(None) };
        let file = self.write.clone().unwrap_or_else(|| "beadle.yaml".into());
        // A reload would put it in force.
        if file.exists() {
            let shown = escape::path(&file);
            let hint = format!("serve it with --config {shown}, or work in another folder");
            return refuse(format!("{shown} exists ({hint})"));
        }
        let proxy = TcpListener::bind(self.listen).map_err(|error| {
            Error::Refused(format!(
                "can't listen on {}: {error} (choose another --listen)",
                self.listen
            ))
        })?;
        let listen = proxy.local_addr()?;
        let desk = next_free(listen.port())?;
        let admin = desk.local_addr()?;
        let text = text(origin, listen, admin);
        let read = publication::read_policy_bytes(&file, "--origin", text.clone().into_bytes());
        let (policy, findings) = after_trial(read, "--origin")?;
        if self.write.is_some() {
            write_file(&file, text.as_bytes(), false)?;
        }
        let guide = guide(origin, (listen, admin), self.write.as_deref());
        let at_start = AtStart { policy, findings, remote: None };
        Ok(Some(Improvised { at_start, file, sockets: vec![proxy, desk], guide }))
    }
}

/// A listener on the first free port of loopback after this one.
pub(super) fn next_free(port: u16) -> io::Result<TcpListener> {
    let bind = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    let mut near = (port..u16::MAX).skip(1).take(100);
    near.find_map(|next| bind(next).ok()).map_or_else(|| bind(0), Ok)
}

/// The first policy of `init`, with listeners, for every host.
fn text(origin: &str, listen: SocketAddr, admin: SocketAddr) -> String {
    let name = page::host(origin).filter(|host| host.parse::<IpAddr>().is_err());
    let host = name.unwrap_or_else(|| "localhost".to_owned());
    let (origin, preset, wishes) = (origin.to_owned(), None, Vec::new());
    let answers = Answers { host, origin, preset, wishes, has_robots_txt: true };
    let server = format!(
        "server:\n  listen: [\"{listen}\"]\n  # The desk, health and metrics, for this machine alone.\n  \
         admin: \"{admin}\"\n\nviolations:"
    );
    let origin = "    # The server behind Beadle.";
    let default = format!("    # Answers for every other host, too.\n    default: true\n{origin}");
    policy_text(&answers).replacen("violations:", &server, 1).replacen(origin, &default, 1)
}

fn guide(
    origin: &str,
    (listen, admin): (SocketAddr, SocketAddr),
    written: Option<&Path>,
) -> String {
    let origin = escape::shown(origin);
    let file = match written {
        Some(file) => {
            let file = escape::path(file);
            format!(
                "The policy is {file}. Beadle reloads it after each change.\n  \
                 beadle violations --config {file}\n"
            )
        }
        None => format!(
            "To change the rules, make a file of this. End Beadle, and start it with\n  \
             beadle serve --origin {origin} --listen {listen} --write beadle.yaml\n"
        ),
    };
    format!(
        "Beadle {} is in front of {origin}. It records violations and refuses nothing.\n\n  \
         the site         http://{listen}/\n  \
         its robots.txt   http://{listen}/robots.txt\n  \
         the desk         http://{admin}/\n  \
         the records      violations.db\n\n\
         {file}Ctrl-C ends Beadle.\n",
        version::NUMBER
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_of_options_keeps_the_origins_file_and_answers_for_every_host() {
        let [listen, admin] = ["0.0.0.0:8080", "127.0.0.1:8081"]
            .map(|address| address.parse::<SocketAddr>().expect("an address"));
        for (origin, host) in [
            ("http://127.0.0.1:3000", "localhost"),
            ("http://[::1]:3000", "localhost"),
            ("https://shop.example", "shop.example"),
        ] {
            let text = text(origin, listen, admin);
            let read = publication::read_policy_bytes(Path::new("x.yaml"), "x", text.into_bytes());
            let (policy, findings) = after_trial(read, "x").expect("it is good");
            assert!(findings.is_empty(), "{origin}: {findings:?}");
            let [site] = &policy.sites[..] else { panic!("{origin}: one site") };
            assert_eq!((site.default, site.hosts[0].as_str()), (true, host), "{origin}");
            assert_eq!(site.robots_txt.source, policy::Source::Merge);
        }
    }
}
