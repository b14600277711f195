//! The sockets that take requests, the admin listener, and the one for questions of other servers.

use std::{net::SocketAddr, path::PathBuf};

use ipnet::IpNet;

use super::{
    super::{
        fields::{Fields, Setting},
        host::{self, Host},
        shape::At,
    },
    tls::{Tls, tls},
};

/// A socket that takes requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listener {
    /// Address and port.
    pub address: SocketAddr,
    pub(crate) tls: Option<Tls>,
    pub(crate) is_redirect: bool,
    pub(crate) proxy_protocol: bool,
}

impl Listener {
    /// Whether a connection to this local address comes through it.
    pub(crate) fn takes(&self, local: SocketAddr) -> bool {
        let (own, local_ip) = (self.address.ip().to_canonical(), local.ip().to_canonical());
        self.address.port() == local.port() && (own.is_unspecified() || own == local_ip)
    }
}

pub(super) fn listeners(fields: &Fields<'_>) -> Vec<Listener> {
    let listeners: Vec<Listener> = fields.get("listen");
    let Some(at) = fields.take("listen") else { return listeners };
    if at.elements().is_empty() {
        at.refuse("no listener", "write '- address: 0.0.0.0:8080'");
    }
    let sockets: Vec<SocketAddr> = listeners.iter().map(|listener| listener.address).collect();
    if let Some(twice) = clash(&sockets) {
        at.refuse(format!("{twice} stands here twice"), "keep one of the two");
    }
    listeners
}

/// `0.0.0.0:8080`, or a mapping with `address` and `tls`.
impl Setting for Listener {
    fn read(at: &At<'_>) -> Option<Self> {
        let fields = at.fields()?;
        let address = fields.required("address", "write 'address: 0.0.0.0:8080'", SocketAddr::read);
        let tls = fields.read("tls", tls);
        let is_redirect = fields.get::<Option<&str>>("redirect").is_some();
        if let (Some(at), Some(_)) = (fields.take("redirect"), fields.take("tls")) {
            at.refuse("a redirect to HTTPS where HTTPS is", "remove one of the two");
        }
        let proxy_protocol = fields.get("proxy_protocol");
        Some(Self { address: address?, tls, is_redirect, proxy_protocol })
    }
}

/// The first socket that needs the port of an earlier one. An unspecified address needs it on all
/// addresses.
pub(super) fn clash(sockets: &[SocketAddr]) -> Option<SocketAddr> {
    let same = |a: &SocketAddr, b: &SocketAddr| {
        let overlap = a.ip() == b.ip() || a.ip().is_unspecified() || b.ip().is_unspecified();
        a.port() == b.port() && a.port() != 0 && overlap && a.is_ipv4() == b.is_ipv4()
    };
    let clashes =
        |(at, one): &(usize, &SocketAddr)| sockets.iter().take(*at).any(|other| same(one, other));
    sockets.iter().enumerate().find(clashes).map(|(_, socket)| *socket)
}

/// The listener for questions of other servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decide {
    pub(crate) address: SocketAddr,
    pub(crate) refuse_status: Option<u16>,
}

/// `127.0.0.1:9091`, or a mapping with `address` and `refuse_status`. `is_taken` tells whether
/// another listener has an address. Only `trusted` peers may ask, so there has to be one.
pub(super) fn decide(
    fields: &Fields<'_>,
    is_taken: impl Fn(SocketAddr) -> bool,
    trusted: &[IpNet],
) -> Option<Decide> {
    let fields = fields.take("decide")?.fields()?;
    let refuse_status = fields.get("refuse_status");
    let at = fields.require("address", "write 'address: 127.0.0.1:9091'")?;
    let address = SocketAddr::read(&at)?;
    if is_taken(address) {
        at.refuse("another listener has this address", "choose another port");
    }
    refuse_unreachable(&at, address, trusted);
    Some(Decide { address, refuse_status })
}

/// Refuses a listener that no trusted peer can reach: it would refuse every request of the sites.
fn refuse_unreachable(at: &At<'_>, address: SocketAddr, trusted: &[IpNet]) {
    let reaches = |network: &IpNet| {
        !address.ip().is_loopback()
            || network.contains(&address.ip())
            || network.network().is_loopback()
    };
    if !trusted.iter().any(reaches) {
        let message = "no server may ask here: only 'trusted_proxies' may";
        let help = "name the server that asks, for example 'trusted_proxies: [127.0.0.1]'";
        at.refuse(message, help);
    }
}

/// The admin listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admin {
    /// Address and port.
    pub address: SocketAddr,
    pub(crate) hosts: Vec<Host>,
    /// The file of the token that opens it. `None` opens it to every program on the machine, and is
    /// refused for an address that others reach.
    pub(crate) token_file: Option<PathBuf>,
    pub(crate) edit: bool,
}

pub(super) fn admin(fields: &Fields<'_>, listen: &[Listener]) -> Option<Admin> {
    let clashes = |address| {
        let listeners = listen.iter().map(|listener| listener.address);
        clash(&listeners.chain([address]).collect::<Vec<_>>()) == Some(address)
    };
    let refuse_default = |address: SocketAddr| {
        if clashes(address) {
            let help = "choose another port, or set 'admin' to another";
            let message = format!("{address} is the admin listener's");
            fields.at.child("listen").refuse(message, help);
        }
        address
    };
    if fields.take("admin").is_some_and(|at| at.node.is_text("off")) {
        return None;
    }
    let fields = fields.section("admin");
    let hosts = fields.each("hosts", host::read);
    let token_file: Option<PathBuf> = fields.get("token_file");
    let address = match fields.take("address") {
        None => refuse_default(fields.get("address")),
        Some(at) => {
            let address = SocketAddr::read(&at)?;
            private(&at, address, clashes(address), token_file.as_ref())
        }
    };
    let edit = fields.get("edit");
    if let Some(at) = fields.take("edit").filter(|_| edit && token_file.is_none()) {
        let message = "every program on the machine could change the policy";
        let help = "add 'token_file' with the file of a secret, or remove 'edit'";
        at.refuse_as("policy.open_edit", message, help);
    }
    Some(Admin { address, hosts, token_file, edit })
}

/// Refuses an address that a listener has, and one that others reach without a token.
fn private(
    at: &At<'_>,
    address: SocketAddr,
    clashes: bool,
    token_file: Option<&PathBuf>,
) -> SocketAddr {
    if clashes {
        at.refuse("a listener has this address", "choose another port");
    } else if !address.ip().is_loopback() && token_file.is_none() {
        let message = format!("{address} is open to other machines, without a token");
        let help = "add 'token_file' with the file of a secret, or use 127.0.0.1";
        at.refuse(message, help);
    }
    address
}

#[cfg(test)]
mod admin_tests;
#[cfg(test)]
mod tests;
