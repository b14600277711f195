//! The sockets that take requests.

use std::net::SocketAddr;

use crate::rules::keys;

use super::super::{fields::Fields, findings::Findings, scalar::socket, shape::At, yaml::Value};
use super::{
    address::{DEFAULT_LISTEN, clash, known},
    tls::{Tls, tls},
};

/// A socket that takes requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listener {
    /// Address and port.
    pub address: SocketAddr,
    /// The certificates of a TLS listener; `None` is plain HTTP.
    pub tls: Option<Tls>,
    /// Whether it only sends requests to HTTPS (default no).
    pub is_redirect: bool,
    /// Whether each connection begins with a PROXY protocol header (default false).
    pub proxy_protocol: bool,
}

impl Listener {
    /// A listener for plain HTTP.
    pub(super) fn plain(address: SocketAddr) -> Self {
        Self { address, tls: None, is_redirect: false, proxy_protocol: false }
    }

    /// Whether a connection to this local address comes through it.
    pub fn takes(&self, local: SocketAddr) -> bool {
        let (own, local_ip) = (self.address.ip().to_canonical(), local.ip().to_canonical());
        self.address.port() == local.port() && (own.is_unspecified() || own == local_ip)
    }
}

pub(super) fn listeners(fields: &Fields<'_>, findings: &mut Findings) -> Vec<Listener> {
    let Some(at) = fields.take("listen") else {
        return vec![Listener::plain(known(DEFAULT_LISTEN))];
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
        return Some(Listener::plain(socket(at, findings)?));
    }
    let fields = at.fields(&keys::LISTENER, findings)?;
    let address = fields.require("address", "write 'address: 0.0.0.0:8080'", findings);
    let tls = fields.read("tls", tls, findings);
    let is_redirect = fields.choice("redirect", [true], findings);
    if let (Some(at), Some(_)) = (fields.take("redirect"), fields.take("tls")) {
        findings.refuse(&at, "a redirect to HTTPS where HTTPS is", "remove one of the two");
    }
    let is_redirect = is_redirect.unwrap_or_default();
    let proxy_protocol = fields.is("proxy_protocol", findings);
    let address = socket(&address?, findings)?;
    Some(Listener { address, tls, is_redirect, proxy_protocol })
}
