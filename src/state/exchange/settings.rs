//! The settings of an exchange: from the policy, with the secrets of its files.

use std::path::Path;

use crate::{
    base::{diagnostic::Diagnostic, escape, secret_file},
    formats::valkey::Address,
    rules::policy::{Alone, Policy},
};

const PASSWORD: &str = "BEADLE_FLEET_PASSWORD";
const NODE: &str = "BEADLE_FLEET_NODE";
const MOST_AUTHORITIES: u64 = 1 << 20;

/// The settings of an exchange.
#[derive(Clone)]
pub struct Settings {
    pub(super) address: Address,
    pub(super) node: String,
    pub(super) password: Option<String>,
    pub(super) authorities: Option<Vec<u8>>,
    pub(super) keys: Keys,
    pub(super) alone: Alone,
    /// The longest time for which a crawler may use a robots.txt, in milliseconds.
    pub(super) window: i64,
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at {}", self.node, self.address)
    }
}

impl Settings {
    /// The settings of a policy; `None` without a fleet.
    ///
    /// # Errors
    /// A file is missing or readable by every user, or the host has no name that would do.
    pub fn of(policy: &Policy) -> Result<Option<Self>, Diagnostic> {
        let Some(fleet) = &policy.fleet else { return Ok(None) };
        let refused = |key: &str, file: &Path, why: &str, help: &str| {
            let message = format!("fleet.{key}: '{}': {why}", file.display());
            Diagnostic::error("fleet.secret", message).help(help)
        };
        let password = match &fleet.password_file {
            None => std::env::var(PASSWORD).ok().filter(|password| !password.is_empty()),
            Some(file) => {
                let named = |why: &str, help: &str| refused("password_file", file, why, help);
                Some(secret_file::password(file, named)?)
            }
        };
        let authorities = match &fleet.ca_file {
            None => None,
            Some(file) => {
                let help = "name a PEM file with the certificates of authorities";
                let read = secret_file::read(file, MOST_AUTHORITIES);
                let (bytes, _) =
                    read.map_err(|error| refused("ca_file", file, &error.to_string(), help))?;
                if !bytes.windows(11).any(|part| part == b"-----BEGIN ") {
                    return Err(refused("ca_file", file, "it has no certificate", help));
                }
                Some(bytes)
            }
        };
        let named = std::env::var(NODE).ok().filter(|name| !name.is_empty());
        let node = match (&fleet.node, named) {
            (Some(node), _) => node.clone(),
            (None, Some(name)) if is_name(&name) => name,
            (None, Some(name)) => {
                let message = format!("{NODE}: '{}' is not a name", escape::shown(&name));
                let help = "write at most 64 letters, digits, '.', '-' and '_'";
                return Err(Diagnostic::error("fleet.node", message).help(help));
            }
            (None, None) => host_name().ok_or_else(|| {
                Diagnostic::error("fleet.node", "fleet.node: this host has no usable name")
                    .help("name this node by 'node' or BEADLE_FLEET_NODE")
            })?,
        };
        let windows = policy.sites.iter().map(|site| site.robots_txt.cache_window.as_millis());
        let window = windows.max().and_then(|most| i64::try_from(most).ok());
        Ok(Some(Self {
            address: fleet.shared.clone(),
            node,
            password,
            authorities,
            keys: Keys::new(&fleet.prefix),
            alone: fleet.alone,
            window: window.unwrap_or_default(),
        }))
    }
}

/// The name of the host, if it is one for a node.
pub fn host_name() -> Option<String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    let name = name.trim();
    is_name(name).then(|| name.to_owned())
}

fn is_name(text: &str) -> bool {
    let is_fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    !text.is_empty() && text.len() <= 64 && text.chars().all(is_fine)
}

pub(super) const HOUR: i64 = 3_600_000;

/// The names of the keys of one fleet. They share a hash tag, so that a cluster keeps them in one slot.
#[derive(Clone, Debug)]
pub(super) struct Keys {
    prefix: String,
    pub(super) news: String,
    /// The beats of all nodes, by name.
    pub(super) beats: String,
    pub(super) fetches: String,
    pub(super) rungs: String,
    pub(super) openings: String,
    pub(super) first: String,
    pub(super) last: String,
    /// A mark that is gone when the server has lost its data.
    pub(super) mark: String,
    /// The alerts that were not sent yet, by their ids.
    pub(super) notices: String,
    /// When reports were sent last, by their keys.
    pub(super) reports: String,
    /// The node that sends the alerts.
    pub(super) lease: String,
}

impl Keys {
    pub(super) fn new(prefix: &str) -> Self {
        let prefix = format!("{{{prefix}}}:");
        let key = |name| format!("{prefix}{name}");
        Self {
            news: key("news"),
            beats: key("beats"),
            fetches: key("fetches"),
            rungs: key("rungs"),
            openings: key("openings"),
            first: key("editions:first"),
            last: key("editions:last"),
            mark: key("mark"),
            notices: key("alerts:waiting"),
            reports: key("reports"),
            lease: key("alerts"),
            prefix,
        }
    }

    pub(super) fn report(&self, node: &str) -> String {
        format!("{}node:{node}", self.prefix)
    }

    /// The counts of ladders of the hour of `at`.
    pub(super) fn ladder(&self, at: i64) -> String {
        format!("{}ladder:{}", self.prefix, at.div_euclid(HOUR))
    }

    pub(super) fn edition(&self, id: &str) -> String {
        format!("{}edition:{id}", self.prefix)
    }
}
