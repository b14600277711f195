//! The `fleet` section: the server through which several nodes share what they see.

use std::path::PathBuf;

use crate::{formats::valkey::Address, rules::keys};

use super::{findings::Findings, shape::At};

pub(super) use self::likeness::fingerprint;

mod likeness; // the policy without what may differ from node to node
#[cfg(test)]
mod tests;

/// The default of the prefix of all keys.
pub const DEFAULT_FLEET_PREFIX: &str = "beadle";

/// The most octets of a node's name.
const LONGEST_NAME: usize = 64;
/// The most octets of the prefix.
const LONGEST_PREFIX: usize = 32;

/// The `fleet` section. A change needs a restart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fleet {
    /// The shared server.
    pub shared: Address,
    /// The name of this node; `None` is the name of its host (default).
    pub node: Option<String>,
    /// The file of the server's password; `None` is the environment, else no password (default).
    pub password_file: Option<PathBuf>,
    /// A PEM file of the authorities that the server's certificate comes from; `None` is those of
    /// the system (default).
    pub ca_file: Option<PathBuf>,
    /// What every key begins with.
    pub prefix: String,
    /// What a node does with violations while it hears nothing of the others.
    pub alone: Alone,
    /// The fingerprint of the policy without what may differ from node to node.
    pub fingerprint: String,
}

/// What a node does with violations while it hears nothing of the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Alone {
    /// Excuses them: another node may have published other rules.
    #[default]
    Excuse,
    /// Judges by the rules that it knows.
    Judge,
}

/// Reads the section; without one there is no fleet. `fingerprint` is that of [`Fleet`].
pub(super) fn read(
    at: Option<&At<'_>>,
    fingerprint: impl FnOnce() -> String,
    findings: &mut Findings,
) -> Option<Fleet> {
    let at = at?;
    let fields = at.fields(&keys::FLEET, findings)?;
    let help = "write 'shared: redis://…', the server that all nodes share";
    let shared = fields.require("shared", help, findings);
    let shared = shared.and_then(|at| address(&at, findings));
    let node = fields.take("node").and_then(|at| name(&at, LONGEST_NAME, findings));
    if let (Some(at), Some(shared)) = (fields.take("ca_file"), &shared)
        && !shared.tls
    {
        let help = "write rediss:// in 'shared', or leave 'ca_file' out";
        findings.refuse(&at, "the connection has no TLS", help);
    }
    let password_file = fields.some_file("password_file", findings);
    let ca_file = fields.some_file("ca_file", findings);
    let prefix = fields.take("prefix").and_then(|at| name(&at, LONGEST_PREFIX, findings));
    let alone = fields.choice("alone", [Alone::Excuse, Alone::Judge], findings);
    Some(Fleet {
        shared: shared?,
        node,
        password_file,
        ca_file,
        prefix: prefix.unwrap_or_else(|| DEFAULT_FLEET_PREFIX.to_owned()),
        alone: alone.unwrap_or_default(),
        fingerprint: fingerprint(),
    })
}

/// The address of the shared server. A refusal never shows it: it may hold a password.
fn address(at: &At<'_>, findings: &mut Findings) -> Option<Address> {
    match Address::parse(at.text(findings)?) {
        Ok(address) => Some(address),
        Err(fault) => findings.refused(at, fault.message, fault.help),
    }
}

/// A short name that is safe in keys, logs and labels.
fn name(at: &At<'_>, longest: usize, findings: &mut Findings) -> Option<String> {
    let is_fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let is_name = |text: &str| (1..=longest).contains(&text.len()) && text.chars().all(is_fine);
    let help = format!("write at most {longest} letters, digits, '.', '-' and '_'");
    let parse = |text: &str| is_name(text).then(|| text.to_owned());
    at.parsed(parse, "is not a name", &help, findings)
}
