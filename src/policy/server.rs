//! The `server` and `violations` sections.

use std::{
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use ipnet::IpNet;

use crate::{
    diagnostic::Diagnostic,
    policy::{
        ClientIp, DEFAULT_ADMIN, DEFAULT_LISTEN, DEFAULT_RETENTION, Listener, Log, Server,
        Timeouts, Tls, Violations,
        shape::{At, Fields, Findings, shown},
    },
};

const DAY: Duration = Duration::from_secs(86_400);

/// Reads the `server` section; without one, the defaults.
pub(super) fn server(at: Option<&At<'_>>, findings: &mut Findings) -> Server {
    const KEYS: [&str; 5] = ["listen", "admin", "trusted_proxies", "timeouts", "threads"];
    let fields = at.and_then(|at| at.fields(&KEYS, findings));
    let Some(fields) = fields else {
        return Server {
            listen: vec![Listener { address: known(DEFAULT_LISTEN), tls: None }],
            admin: Some(known(DEFAULT_ADMIN)),
            trusted_proxies: Vec::new(),
            timeouts: Timeouts::default(),
            threads: None,
        };
    };
    let listen = listeners(&fields, findings);
    let admin = admin(&fields, &listen, findings);
    Server {
        listen,
        admin,
        trusted_proxies: fields
            .list("trusted_proxies", findings)
            .iter()
            .filter_map(|at| network(at, findings))
            .collect(),
        timeouts: timeouts(&fields, findings),
        threads: fields
            .take("threads")
            .and_then(|at| at.integer(1..=1_024, findings))
            .and_then(|n| usize::try_from(n).ok()),
    }
}

fn listeners(fields: &Fields<'_>, findings: &mut Findings) -> Vec<Listener> {
    let Some(at) = fields.take("listen") else {
        return vec![Listener { address: known(DEFAULT_LISTEN), tls: None }];
    };
    let items = at.items(findings);
    if items.is_empty() {
        findings.refuse(&at, "no listener", format!("write '- address: {DEFAULT_LISTEN}'"));
    }
    let listeners: Vec<Listener> =
        items.iter().filter_map(|item| listener(item, findings)).collect();
    let sockets: Vec<SocketAddr> = listeners.iter().map(|listener| listener.address).collect();
    if let Some(twice) = clash(&sockets) {
        findings.refuse(&at, format!("{twice} is listened on twice"), "keep one of the two");
    }
    listeners
}

/// `0.0.0.0:8080`, or a mapping with `address` and `tls`.
fn listener(at: &At<'_>, findings: &mut Findings) -> Option<Listener> {
    if !matches!(at.node.value, super::yaml::Value::Map(_)) {
        return Some(Listener { address: socket(at, findings)?, tls: None });
    }
    let fields = at.fields(&["address", "tls"], findings)?;
    let address = fields.require("address", "write 'address: 0.0.0.0:8080'", findings);
    let tls = fields.take("tls").map(|at| tls(&at, findings));
    Some(Listener { address: socket(&address?, findings)?, tls: tls.flatten() })
}

fn tls(at: &At<'_>, findings: &mut Findings) -> Option<Tls> {
    let fields = at.fields(&["certificate", "key"], findings)?;
    let certificate = fields.require("certificate", "name the PEM file of the chain", findings);
    let key = fields.require("key", "name the PEM file of the private key", findings);
    Some(Tls { certificate: path(&certificate?, findings)?, key: path(&key?, findings)? })
}

fn admin(fields: &Fields<'_>, listen: &[Listener], findings: &mut Findings) -> Option<SocketAddr> {
    let with_listeners = |address| -> Vec<SocketAddr> {
        listen.iter().map(|listener| listener.address).chain([address]).collect()
    };
    let at = match fields.take("admin") {
        None => {
            let address = known(DEFAULT_ADMIN);
            if clash(&with_listeners(address)) == Some(address) {
                let at = fields.at().child("listen");
                let help = "choose another port, or set 'admin' to another";
                findings.refuse(&at, format!("{address} is the admin listener's"), help);
            }
            return Some(address);
        }
        Some(at) if at.node.is_text("off") => return None,
        Some(at) => at,
    };
    let address = socket(&at, findings)?;
    if clash(&with_listeners(address)) == Some(address) {
        findings.refuse(&at, "a listener has this address", "choose another port");
    } else if !address.ip().is_loopback() {
        let finding = Diagnostic::note("policy.open_admin", "not on loopback");
        findings.add(&at, finding.help("keep the port from the public: it has no login"));
    }
    Some(address)
}

/// The first socket that takes the same port as an earlier one; an unspecified address takes it
/// on all.
fn clash(sockets: &[SocketAddr]) -> Option<SocketAddr> {
    let same = |a: &SocketAddr, b: &SocketAddr| {
        let overlap = a.ip() == b.ip() || a.ip().is_unspecified() || b.ip().is_unspecified();
        a.port() == b.port() && a.port() != 0 && overlap && a.is_ipv4() == b.is_ipv4()
    };
    let clashes =
        |(at, one): &(usize, &SocketAddr)| sockets.iter().take(*at).any(|other| same(one, other));
    sockets.iter().enumerate().find(clashes).map(|(_, socket)| *socket)
}

fn timeouts(fields: &Fields<'_>, findings: &mut Findings) -> Timeouts {
    const KEYS: [&str; 9] = [
        "client_keepalive",
        "client_read",
        "client_write",
        "origin_connect",
        "origin_read",
        "origin_write",
        "origin_keepalive",
        "origin_lookup",
        "drain",
    ];
    let mut timeouts = Timeouts::default();
    let Some(fields) = fields.take("timeouts").and_then(|at| at.fields(&KEYS, findings)) else {
        return timeouts;
    };
    let slots = [
        &mut timeouts.client_keepalive,
        &mut timeouts.client_read,
        &mut timeouts.client_write,
        &mut timeouts.origin_connect,
        &mut timeouts.origin_read,
        &mut timeouts.origin_write,
        &mut timeouts.origin_keepalive,
        &mut timeouts.origin_lookup,
        &mut timeouts.drain,
    ];
    for (key, slot) in KEYS.into_iter().zip(slots) {
        let least = Duration::from_secs(1);
        if let Some(duration) = fields.take(key).and_then(|at| at.duration(least..=DAY, findings)) {
            *slot = duration;
        }
    }
    timeouts
}

/// Reads the `violations` section; without one, JSON lines go to standard output.
pub(super) fn violations(at: Option<&At<'_>>, findings: &mut Findings) -> Violations {
    const KEYS: [&str; 6] = ["database", "log", "retention", "queue", "redact_query", "client_ip"];
    const CLIENT_IPS: [(&str, ClientIp); 3] =
        [("full", ClientIp::Full), ("network", ClientIp::Network), ("hash", ClientIp::Hash)];
    let mut violations = Violations {
        database: None,
        log: None,
        retention: DEFAULT_RETENTION,
        queue: 8_192,
        redact_query: Vec::new(),
        client_ip: ClientIp::Full,
    };
    let Some(fields) = at.and_then(|at| at.fields(&KEYS, findings)) else {
        violations.log = Some(Log::Stdout);
        return violations;
    };
    violations.database = fields.take("database").and_then(|at| database(&at, findings));
    violations.log = fields
        .take("log")
        .and_then(|at| path(&at, findings))
        .map(|path| if path.as_os_str() == "stdout" { Log::Stdout } else { Log::File(path) });
    if let Some(at) = fields.take("retention") {
        let range = Duration::from_secs(3_600)..=3_650 * DAY;
        violations.retention = at.duration(range, findings).unwrap_or(DEFAULT_RETENTION);
    }
    if let Some(queue) = fields.take("queue").and_then(|at| at.integer(1..=1_000_000, findings)) {
        violations.queue = usize::try_from(queue).unwrap_or(violations.queue);
    }
    for at in fields.list("redact_query", findings) {
        violations.redact_query.extend(at.text(findings).map(str::to_owned));
    }
    if let Some(at) = fields.take("client_ip") {
        violations.client_ip = at.choice(&CLIENT_IPS, findings).unwrap_or(ClientIp::Full);
    }
    violations
}

fn database(at: &At<'_>, findings: &mut Findings) -> Option<PathBuf> {
    let text = at.text(findings)?;
    if text.contains("://") {
        let message = format!("'{}' is not a file", shown(text));
        findings.refuse(at, message, "name a file for the embedded SQLite database");
        return None;
    }
    path(at, findings)
}

pub(super) fn path(at: &At<'_>, findings: &mut Findings) -> Option<PathBuf> {
    let text = at.text(findings)?;
    if text.is_empty() || text.contains('\0') {
        findings.refuse(at, "not a file name", "name a file");
        return None;
    }
    Some(PathBuf::from(text))
}

fn socket(at: &At<'_>, findings: &mut Findings) -> Option<SocketAddr> {
    if let super::yaml::Value::Integer(port) = at.node.value {
        let message = format!("{port} is not an address with a port");
        findings.refuse(at, message, format!("write for example 0.0.0.0:{port}"));
        return None;
    }
    let text = at.text(findings)?;
    let parsed = text.parse().ok();
    if parsed.is_none() {
        let message = format!("'{}' is not an address with a port", shown(text));
        findings.refuse(at, message, "write for example 127.0.0.1:8080 or '[::]:8080'");
    }
    parsed
}

pub(super) fn network(at: &At<'_>, findings: &mut Findings) -> Option<IpNet> {
    let text = at.text(findings)?;
    let parsed =
        text.parse::<IpNet>().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from));
    if parsed.is_none() {
        let message = format!("'{}' is neither an address nor a network", shown(text));
        findings.refuse(at, message, "write for example 10.0.0.0/8 or 192.0.2.7");
    }
    if parsed.is_some_and(|network| network.prefix_len() == 0) {
        let message = "everybody is trusted, so anybody can write any client address";
        findings.add(
            at,
            Diagnostic::warning("policy.trusts_everybody", message)
                .help("name the addresses of the proxies in front"),
        );
    }
    parsed
}

/// One of our own defaults.
fn known(address: &str) -> SocketAddr {
    address.parse().expect("the default addresses are well-formed")
}
