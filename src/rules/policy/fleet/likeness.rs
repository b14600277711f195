//! The policy without what may differ from node to node: addresses, files and the node's name.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::{
    base::escape::hex,
    rules::policy::yaml::{Node, Value},
};

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
pub(in crate::rules::policy) fn fingerprint(root: &Node, catalogue: &[u8]) -> String {
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
