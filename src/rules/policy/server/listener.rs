//! The sockets that take requests.

use std::net::SocketAddr;

use super::super::{fields::Fields, setting::Setting, shape::At};

use super::tls::{Tls, tls};

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
    pub(super) fn plain(address: SocketAddr) -> Self {
        Self { address, tls: None, is_redirect: false, proxy_protocol: false }
    }

    /// Whether a connection to this local address comes through it.
    pub(crate) fn takes(&self, local: SocketAddr) -> bool {
        let (own, local_ip) = (self.address.ip().to_canonical(), local.ip().to_canonical());
        self.address.port() == local.port() && (own.is_unspecified() || own == local_ip)
    }
}

pub(super) fn listeners(fields: &Fields<'_>) -> Vec<Listener> {
    let listeners: Vec<Listener> = fields.all("listen");
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
        if !at.is_map() {
            return Some(Self::plain(SocketAddr::read(at)?));
        }
        let fields = at.fields()?;
        let address = fields.required("address", "write 'address: 0.0.0.0:8080'", SocketAddr::read);
        let tls = fields.read("tls", tls);
        let is_redirect = fields.find::<&str>("redirect").is_some();
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
