//! The settings of an exchange: from the policy, with the secrets of its files.

use std::path::Path;

use crate::{
    base::{diagnostic::Diagnostic, escape, secret_file},
    formats::valkey::Address,
    rules::policy::{Alone, Policy},
};

use super::key_names::Keys;

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
