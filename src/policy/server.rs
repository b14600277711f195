//! The `server` section.

use std::{net::SocketAddr, path::PathBuf};

use ipnet::IpNet;

use crate::keys;

use super::{
    findings::Findings,
    host::{self, Host},
    scalar::{network, path, socket},
    shape::{At, Fields},
    timeouts::{self, Timeouts},
    yaml::Value,
};

mod access_log;

pub use self::access_log::{AccessFormat, AccessLog};

/// The default address of the proxy.
pub const DEFAULT_LISTEN: &str = "0.0.0.0:8080";
/// The default address of the admin listener.
pub const DEFAULT_ADMIN: &str = "127.0.0.1:9090";

/// The `server` section: listeners and their limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Sockets that take requests; at least one (default `0.0.0.0:8080`).
    pub listen: Vec<Listener>,
    /// Metrics and health; `None` is `off` (default `127.0.0.1:9090`).
    pub admin: Option<Admin>,
    /// Proxies in front whose `Forwarded` and `X-Forwarded-*` fields are trusted (default none).
    pub trusted_proxies: Vec<IpNet>,
    /// The log of all requests (default none).
    pub access_log: Option<AccessLog>,
    /// Time limits.
    pub timeouts: Timeouts,
    /// Number of worker threads of the proxy; `None` is one for each processor.
    pub threads: Option<usize>,
}

/// A socket that takes requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listener {
    /// Address and port.
    pub address: SocketAddr,
    /// Certificate and key of a TLS listener; `None` is plain HTTP.
    pub tls: Option<Tls>,
}

/// The admin listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admin {
    /// Address and port.
    pub address: SocketAddr,
    /// Hosts in requests that it answers, beside `localhost` and its own addresses (default none).
    pub hosts: Vec<Host>,
    /// The file of the token that opens it. `None` opens it to every program on the machine, and is
    /// refused for an address that others reach.
    pub token_file: Option<PathBuf>,
}

impl Admin {
    fn at(address: SocketAddr) -> Self {
        Self { address, hosts: Vec::new(), token_file: None }
    }
}

/// PEM files of a TLS listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// The certificate chain.
    pub certificate: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

/// Reads the `server` section; without one, the defaults.
pub(super) fn read(at: Option<&At<'_>>, findings: &mut Findings) -> Server {
    let fields = at.and_then(|at| at.fields(&keys::SERVER, findings));
    let Some(fields) = fields else {
        return Server {
            listen: vec![Listener { address: known(DEFAULT_LISTEN), tls: None }],
            admin: Some(Admin::at(known(DEFAULT_ADMIN))),
            trusted_proxies: Vec::new(),
            access_log: None,
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
        access_log: access_log::read(&fields, findings),
        timeouts: timeouts::read(&fields, findings),
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
        findings.refuse(&at, format!("{twice} stands here twice"), "keep one of the two");
    }
    listeners
}

/// `0.0.0.0:8080`, or a mapping with `address` and `tls`.
fn listener(at: &At<'_>, findings: &mut Findings) -> Option<Listener> {
    if !matches!(at.node.value, Value::Map(_)) {
        return Some(Listener { address: socket(at, findings)?, tls: None });
    }
    let fields = at.fields(&keys::LISTENER, findings)?;
    let address = fields.require("address", "write 'address: 0.0.0.0:8080'", findings);
    let tls = fields.take("tls").map(|at| tls(&at, findings));
    Some(Listener { address: socket(&address?, findings)?, tls: tls.flatten() })
}

fn tls(at: &At<'_>, findings: &mut Findings) -> Option<Tls> {
    let fields = at.fields(&keys::TLS, findings)?;
    let certificate = fields.require("certificate", "name the PEM file of the chain", findings);
    let key = fields.require("key", "name the PEM file of the private key", findings);
    Some(Tls { certificate: path(&certificate?, findings)?, key: path(&key?, findings)? })
}

/// `127.0.0.1:9090`, `off`, or a mapping with `address`, `hosts` and `token_file`.
fn admin(fields: &Fields<'_>, listen: &[Listener], findings: &mut Findings) -> Option<Admin> {
    let clashes = |address| {
        let listeners = listen.iter().map(|listener| listener.address);
        clash(&listeners.chain([address]).collect::<Vec<_>>()) == Some(address)
    };
    let refuse_default = |findings: &mut Findings| {
        let address = known(DEFAULT_ADMIN);
        if clashes(address) {
            let at = fields.at().child("listen");
            let help = "choose another port, or set 'admin' to another";
            findings.refuse(&at, format!("{address} is the admin listener's"), help);
        }
        address
    };
    let Some(at) = fields.take("admin") else {
        return Some(Admin::at(refuse_default(findings)));
    };
    if at.node.is_text("off") {
        return None;
    }
    let Value::Map(_) = at.node.value else {
        let address = socket(&at, findings)?;
        return Some(Admin::at(private(&at, address, clashes(address), None, findings)));
    };
    let fields = at.fields(&keys::ADMIN, findings)?;
    let hosts = fields.list("hosts", findings);
    let hosts = hosts.iter().filter_map(|at| host::read(at, findings)).collect();
    let token_file = fields.take("token_file").and_then(|at| path(&at, findings));
    let address = match fields.take("address") {
        None => refuse_default(findings),
        Some(at) => {
            let address = socket(&at, findings)?;
            private(&at, address, clashes(address), token_file.as_ref(), findings)
        }
    };
    Some(Admin { address, hosts, token_file })
}

/// Refuses an address that a listener has, and one that others reach without a token.
fn private(
    at: &At<'_>,
    address: SocketAddr,
    clashes: bool,
    token_file: Option<&PathBuf>,
    findings: &mut Findings,
) -> SocketAddr {
    if clashes {
        findings.refuse(at, "a listener has this address", "choose another port");
    } else if !address.ip().is_loopback() && token_file.is_none() {
        let message = format!("{address} is open to other machines, without a token");
        let help = "add 'token_file' with the file of a secret, or use 127.0.0.1";
        findings.refuse(at, message, help);
    }
    address
}

impl Server {
    /// The addresses of all listeners.
    pub fn addresses(&self) -> impl Iterator<Item = SocketAddr> + '_ {
        let admin = self.admin.iter().map(|admin| admin.address);
        self.listen.iter().map(|listener| listener.address).chain(admin)
    }
}

/// The first socket that needs the port of an earlier one. An unspecified address needs it on all
/// addresses.
fn clash(sockets: &[SocketAddr]) -> Option<SocketAddr> {
    let same = |a: &SocketAddr, b: &SocketAddr| {
        let overlap = a.ip() == b.ip() || a.ip().is_unspecified() || b.ip().is_unspecified();
        a.port() == b.port() && a.port() != 0 && overlap && a.is_ipv4() == b.is_ipv4()
    };
    let clashes =
        |(at, one): &(usize, &SocketAddr)| sockets.iter().take(*at).any(|other| same(one, other));
    sockets.iter().enumerate().find(clashes).map(|(_, socket)| *socket)
}

/// A default address.
fn known(address: &str) -> SocketAddr {
    address.parse().expect("the default addresses are well-formed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy;

    /// The admin listener, or the refusals.
    fn admin(server: &str) -> Result<Option<Admin>, Vec<String>> {
        let text = format!(
            "server: {{ {server} }}\nsites: [{{ hosts: [a.example], origin: \"http://127.0.0.1:3\" }}]"
        );
        let (policy, findings) = policy::read("test.yaml", text.as_bytes());
        policy.map(|policy| policy.server.admin).ok_or_else(|| {
            let refusals = findings.into_iter().filter(|one| one.code.starts_with("policy.bad"));
            refusals.map(|one| one.message).collect()
        })
    }

    #[test]
    fn an_admin_listener_is_an_address_a_mapping_or_off() {
        let exact = |host: &str| Host::Exact(host.to_owned());
        let at = |address: &str, hosts| {
            Ok(Some(Admin { address: known(address), hosts, token_file: None }))
        };
        let beadle = || vec![exact("beadle"), Host::Below(".ops.example".to_owned())];
        let refused = |text: &str| Err(vec![text.to_owned()]);
        for (server, expected) in [
            ("", at(DEFAULT_ADMIN, Vec::new())),
            ("admin: \"off\"", Ok(None)),
            ("admin: \"[::1]:1\"", at("[::1]:1", Vec::new())),
            ("admin: { address: 127.0.0.1:1 }", at("127.0.0.1:1", Vec::new())),
            ("admin: { hosts: [beadle, \"*.Ops.example\"] }", at(DEFAULT_ADMIN, beadle())),
            ("admin: { address: 127.0.0.1:1, hosts: [Beadle] }", {
                at("127.0.0.1:1", vec![exact("beadle")])
            }),
            ("admin: { address: 0.0.0.0:1, token_file: /run/token }", {
                let token_file = Some(PathBuf::from("/run/token"));
                Ok(Some(Admin { address: known("0.0.0.0:1"), hosts: Vec::new(), token_file }))
            }),
            (
                "admin: 192.0.2.1:1",
                refused("server.admin: 192.0.2.1:1 is open to other machines, without a token"),
            ),
            (
                "admin: { address: \"[::]:1\", hosts: [beadle] }",
                refused("server.admin.address: [::]:1 is open to other machines, without a token"),
            ),
            (
                "admin: { hosts: [\"beadle:9090\"] }",
                refused("server.admin.hosts[0]: 'beadle:9090' is not a host"),
            ),
            (
                "admin: { address: 0.0.0.0:8080 }",
                refused("server.admin.address: a listener has this address"),
            ),
            (
                "listen: [127.0.0.1:9090], admin: { hosts: [beadle] }",
                refused("server.listen: 127.0.0.1:9090 is the admin listener's"),
            ),
        ] {
            assert_eq!(admin(server), expected, "{server}");
        }
    }
}
