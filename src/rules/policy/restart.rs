//! The keys that take effect only at a start: those of `server`, `violations` and `fleet`.

use crate::base::diagnostic::Diagnostic;

use super::{
    fleet::Fleet,
    sections::Policy,
    server::Server,
    timeouts::Timeouts,
    violations::Violations,
    yaml::{self, Node, Value},
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
        let (line, column) = root.as_ref().and_then(|root| place(root, key)).unwrap_or_default();
        let message = format!("{key}: a change of this key needs a restart");
        Diagnostic::error("policy.restart_needed", message)
            .at(line, column)
            .help("restart, or take the change back")
    };
    keys.iter().map(finding).collect()
}

// The parts are named one by one: a new one can't be forgotten.

fn server(old: &Server, new: &Server) -> Vec<&'static str> {
    let Server { listen, admin, decide, trusted_proxies, access_log, timeouts, limits, threads } =
        old;
    let mut keys = changed(&[
        ("server.listen", *listen == new.listen),
        ("server.admin", *admin == new.admin),
        ("server.decide", *decide == new.decide),
        ("server.trusted_proxies", *trusted_proxies == new.trusted_proxies),
        ("server.access_log", *access_log == new.access_log),
        ("server.limits", *limits == new.limits),
        ("server.threads", *threads == new.threads),
    ]);
    keys.extend(timeout_keys(timeouts, &new.timeouts));
    keys
}

fn timeout_keys(old: &Timeouts, new: &Timeouts) -> Vec<&'static str> {
    let Timeouts {
        client_keepalive,
        client_read,
        client_write,
        // Part of each site.
        origin_connect: _,
        origin_read: _,
        origin_write: _,
        tunnel_idle: _,
        origin_keepalive,
        origin_lookup,
        drain,
    } = old;
    changed(&[
        ("server.timeouts.client_keepalive", *client_keepalive == new.client_keepalive),
        ("server.timeouts.client_read", *client_read == new.client_read),
        ("server.timeouts.client_write", *client_write == new.client_write),
        ("server.timeouts.origin_keepalive", *origin_keepalive == new.origin_keepalive),
        ("server.timeouts.origin_lookup", *origin_lookup == new.origin_lookup),
        ("server.timeouts.drain", *drain == new.drain),
    ])
}

fn violations(old: &Violations, new: &Violations) -> Vec<&'static str> {
    let Violations {
        database,
        on_damage,
        log,
        retention,
        queue,
        detail,
        max_size,
        redact_query,
        client_ip,
    } = old;
    let both = database.as_ref().zip(new.database.as_ref());
    let is_same_place = both.map_or(*database == new.database, |(old, new)| old.is_same_place(new));
    let has_same_settings = both.is_none_or(|(old, new)| old.has_same_settings(new));
    changed(&[
        ("violations.database", is_same_place),
        ("violations.clickhouse", has_same_settings),
        ("violations.on_damage", *on_damage == new.on_damage),
        ("violations.log", *log == new.log),
        ("violations.retention", *retention == new.retention),
        ("violations.queue", *queue == new.queue),
        ("violations.detail", *detail == new.detail),
        ("violations.max_size", *max_size == new.max_size),
        ("violations.redact_query", *redact_query == new.redact_query),
        ("violations.client_ip", *client_ip == new.client_ip),
    ])
}

fn fleet(old: Option<&Fleet>, new: Option<&Fleet>) -> Vec<&'static str> {
    let (Some(old), Some(new)) = (old, new) else {
        return changed(&[("fleet", old.is_some() == new.is_some())]);
    };
    let Fleet { shared, node, password_file, ca_file, prefix, alone, fingerprint: _ } = old;
    changed(&[
        ("fleet.shared", *shared == new.shared),
        ("fleet.node", *node == new.node),
        ("fleet.password_file", *password_file == new.password_file),
        ("fleet.ca_file", *ca_file == new.ca_file),
        ("fleet.prefix", *prefix == new.prefix),
        ("fleet.alone", *alone == new.alone),
    ])
}

/// The keys whose values are not the same.
fn changed(keys: &[(&'static str, bool)]) -> Vec<&'static str> {
    keys.iter().filter(|(_, is_same)| !is_same).map(|(key, _)| *key).collect()
}

/// Line and column of a key; of the section that lacks it, if the key is not there.
fn place(root: &Node, key: &str) -> Option<(u32, u32)> {
    let (mut node, mut found) = (root, None);
    for part in key.split('.') {
        let Value::Map(entries) = &node.value else { break };
        let Some((key, value)) = entries.iter().find(|(key, _)| key.text == part) else { break };
        found = Some((key.line, key.column));
        node = value;
    }
    found
}

#[cfg(test)]
mod tests;
