//! A policy of a few options, for a server without a file: the origin's robots.txt, in log mode.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener},
    path::{Path, PathBuf},
};

use crate::{
    advice::starter::{Answers, policy_text},
    base::{escape, fetch::page, version},
    program::console::{AtStart, Error, after_trial, refuse, write_file},
    state::publication,
};

/// The options of a server without a policy file.
#[derive(Debug, clap::Args)]
pub(super) struct WithoutFile {
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

pub(super) struct Improvised {
    pub(super) at_start: AtStart,
    /// The file that a reload reads. It exists only if the options say so.
    pub(super) file: PathBuf,
    pub(super) sockets: Vec<TcpListener>,
    pub(super) guide: String,
}

impl WithoutFile {
    /// Binds the sockets and makes the policy; `None` without `--origin`.
    pub(super) fn improvise(&self) -> Result<Option<Improvised>, Error> {
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
            assert_eq!(site.robots_txt.source, crate::rules::policy::Source::Merge);
        }
    }
}
