//! The keys that take effect only at a start: those of `server`, `violations` and `fleet`.

use crate::base::diagnostic::Diagnostic;

use super::{
    fleet::Fleet,
    reader::Policy,
    server::Server,
    timeouts::Timeouts,
    violations::Violations,
    yaml::{self, Node, Spot, Value},
};

/// A finding for each key whose value differs from the one `in_force` and takes effect only at a
/// start. `text` is the text of `next`, for the places.
pub fn restart_findings(in_force: &Policy, next: &Policy, text: &[u8]) -> Vec<Diagnostic> {
    let mut keys = server(&in_force.server, &next.server);
    keys.extend(violations(&in_force.violations, &next.violations));
    keys.extend(fleet(in_force.fleet.as_ref(), next.fleet.as_ref()));
    if keys.is_empty() {
        return Vec::new();
    }
    let root = yaml::read(text).ok();
    let finding = |key: &&str| {
        let at = root.as_ref().and_then(|root| place(root, key)).unwrap_or_default();
        let message = format!("{key}: a change of this key needs a restart");
        Diagnostic::error("policy.restart_needed", message)
            .at(at.line, at.column)
            .help("restart, or take the change back")
    };
    keys.iter().map(finding).collect()
}

/// The keys whose parts differ between two values of a type. A new part can't be forgotten: those that
/// need no restart, or are compared elsewhere, stand behind `except`.
macro_rules! changed {
    ($path:literal, $old:expr, $new:expr,
     $of:ident { $($part:ident),* } except { $($other:ident),* }) => {{
        let $of { $($part,)* $($other: _),* } = $old;
        let parts = [$((concat!($path, ".", stringify!($part)), *$part == $new.$part)),*];
        parts.into_iter().filter(|(_, is_same)| !is_same).map(|(key, _)| key).collect::<Vec<_>>()
    }};
}

fn server(old: &Server, new: &Server) -> Vec<&'static str> {
    let mut keys = changed!("server", old, new, Server {
        listen, admin, decide, trusted_proxies, access_log, limits, threads
    } except { timeouts });
    // The others are a part of each site.
    keys.extend(changed!("server.timeouts", &old.timeouts, new.timeouts, Timeouts {
        client_keepalive, client_read, client_write, origin_keepalive, origin_lookup, drain
    } except { origin_connect, origin_read, origin_write, tunnel_idle }));
    keys
}

fn violations(old: &Violations, new: &Violations) -> Vec<&'static str> {
    let both = old.database.as_ref().zip(new.database.as_ref());
    let is_same_place =
        both.map_or(old.database == new.database, |(old, new)| old.is_same_place(new));
    let has_same_settings = both.is_none_or(|(old, new)| old.has_same_settings(new));
    let mut keys = Vec::new();
    keys.extend((!is_same_place).then_some("violations.database"));
    keys.extend((!has_same_settings).then_some("violations.clickhouse"));
    keys.extend(changed!("violations", old, new, Violations {
        on_damage, log, retention, queue, detail, max_size, redact_query, client_ip
    } except { database }));
    keys
}

fn fleet(old: Option<&Fleet>, new: Option<&Fleet>) -> Vec<&'static str> {
    let (Some(old), Some(new)) = (old, new) else {
        return if old.is_some() == new.is_some() { Vec::new() } else { vec!["fleet"] };
    };
    changed!("fleet", old, new, Fleet {
        shared, node, password_file, ca_file, prefix, alone
    } except { fingerprint })
}

/// Line and column of a key; of the section that lacks it, if the key is not there.
fn place(root: &Node, key: &str) -> Option<Spot> {
    let (mut node, mut found) = (root, None);
    for part in key.split('.') {
        let Value::Map(entries) = &node.value else { break };
        let Some((key, value)) = entries.iter().find(|(key, _)| key.text == part) else { break };
        found = Some(key.spot);
        node = value;
    }
    found
}

#[cfg(test)]
mod tests;
