//! The `fleet` section: the server through which several nodes share what they see.

use std::{fmt::Write, path::PathBuf};

use sha2::{Digest, Sha256};

use crate::{
    base::{escape::hex, text::words},
    formats::valkey::Address,
};

use super::{
    shape::At,
    yaml::{Node, Value},
};

const LONGEST_NAME: usize = 64;
const LONGEST_PREFIX: usize = 32;

/// The `fleet` section. A change needs a restart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fleet {
    pub(crate) shared: Address,
    pub(crate) node: Option<String>,
    pub(crate) password_file: Option<PathBuf>,
    pub(crate) ca_file: Option<PathBuf>,
    pub(crate) prefix: String,
    pub(crate) alone: Alone,
    pub(crate) fingerprint: String,
}

words! {
    /// What a node does with violations while it hears nothing of the others.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Alone {
        /// Excuses them: another node may have published other rules.
        Excuse = "excuse",
        /// Judges by the rules that it knows.
        Judge = "judge",
    }
}

/// Reads the section; without one there is no fleet. `fingerprint` is that of [`Fleet`].
pub(super) fn read(at: Option<&At<'_>>, fingerprint: impl FnOnce() -> String) -> Option<Fleet> {
    let fields = at?.fields()?;
    let help = "write 'shared: redis://…', the server that all nodes share";
    let shared = fields.required("shared", help, address);
    let node = fields.read("node", |at| name(at, LONGEST_NAME));
    let has_tls = shared.as_ref().is_none_or(|shared| shared.tls);
    if let Some(at) = fields.take("ca_file").filter(|_| !has_tls) {
        let help = "write rediss:// in 'shared', or leave 'ca_file' out";
        at.refuse("the connection has no TLS", help);
    }
    let (password_file, ca_file) = (fields.get("password_file"), fields.get("ca_file"));
    let prefix = fields.get_with("prefix", |at| name(at, LONGEST_PREFIX));
    let alone = fields.get("alone");
    let (shared, fingerprint) = (shared?, fingerprint());
    Some(Fleet { shared, node, password_file, ca_file, prefix, alone, fingerprint })
}

/// The address of the shared server. A refusal never shows it: it may hold a password.
fn address(at: &At<'_>) -> Option<Address> {
    match Address::parse(at.text()?) {
        Ok(address) => Some(address),
        Err(fault) => at.refused(fault.message, fault.help),
    }
}

/// A short name that is safe in keys, logs and labels.
fn name(at: &At<'_>, longest: usize) -> Option<String> {
    let is_fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let is_name = |text: &str| (1..=longest).contains(&text.len()) && text.chars().all(is_fine);
    let help = format!("write at most {longest} letters, digits, '.', '-' and '_'");
    let parse = |text: &str| is_name(text).then(|| text.to_owned());
    at.parsed(parse, "is not a name", &help)
}

/// The keys that may differ.
const OWN: [&str; 14] = [
    "server.listen",
    "server.admin",
    "server.decide",
    "server.access_log",
    "server.threads",
    "violations.database",
    "violations.log",
    "violations.clickhouse",
    "fleet.shared",
    "fleet.node",
    "fleet.password_file",
    "fleet.ca_file",
    "evidence.folder",
    "catalogue.folder",
];

/// The first 12 hexadecimal digits of a SHA-256 over the keys and values of a policy, and over the
/// bytes of its catalogue. Comments and spaces do not count.
pub(super) fn fingerprint(root: &Node, catalogue: &[u8]) -> String {
    let mut text = String::new();
    write(root, "", &mut text);
    let mut hash = Sha256::new();
    hash.update(text.as_bytes());
    hash.update(catalogue);
    hex(hash.finalize().iter().take(6))
}

/// Writes a node so that two nodes have the same text only if they have the same values.
fn write(node: &Node, path: &str, text: &mut String) {
    // Memory takes all.
    let _ = match &node.value {
        Value::Null => write!(text, "~"),
        Value::Bool(is) => write!(text, "{is}"),
        Value::Integer(number) => write!(text, "{number}"),
        Value::Float(number) => write!(text, "{number}"),
        Value::Text(found) => write!(text, "{found:?}"),
        Value::List(items) => {
            text.push('[');
            for item in items {
                write(item, path, text);
                text.push(',');
            }
            text.push(']');
            Ok(())
        }
        Value::Map(entries) => {
            let mut entries: Vec<_> = entries.iter().collect();
            entries.sort_by(|a, b| a.0.text.cmp(&b.0.text));
            text.push('{');
            for (key, value) in entries {
                let path = match path {
                    "" => key.text.clone(),
                    _ => format!("{path}.{}", key.text),
                };
                if !OWN.contains(&path.as_str()) {
                    let _ = write!(text, "{:?}:", key.text);
                    write(value, &path, text);
                    text.push(',');
                }
            }
            text.push('}');
            Ok(())
        }
    };
}

#[cfg(test)]
mod tests;
