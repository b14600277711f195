//! The sockets that take requests, and the one for questions of other servers.

use std::net::SocketAddr;

use ipnet::IpNet;

use super::{
    super::{
        fields::{Fields, Setting},
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

#[cfg(test)]
mod tests;
