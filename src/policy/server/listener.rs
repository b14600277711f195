//! The sockets that take requests.

use std::{net::SocketAddr, path::PathBuf};

use crate::keys;

use super::super::{
    findings::Findings,
    scalar::{path, socket},
    shape::{At, Fields},
    yaml::Value,
};
use super::address::{DEFAULT_LISTEN, clash, known};

/// A socket that takes requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listener {
    /// Address and port.
    pub address: SocketAddr,
    /// Certificate and key of a TLS listener; `None` is plain HTTP.
    pub tls: Option<Tls>,
    /// Whether each connection begins with a PROXY protocol header (default false).
    pub proxy_protocol: bool,
}

/// PEM files of a TLS listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// The certificate chain.
    pub certificate: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

pub(super) fn listeners(fields: &Fields<'_>, findings: &mut Findings) -> Vec<Listener> {
    let Some(at) = fields.take("listen") else {
        return vec![Listener { address: known(DEFAULT_LISTEN), tls: None, proxy_protocol: false }];
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
        return Some(Listener { address: socket(at, findings)?, tls: None, proxy_protocol: false });
    }
    let fields = at.fields(&keys::LISTENER, findings)?;
    let address = fields.require("address", "write 'address: 0.0.0.0:8080'", findings);
    let tls = fields.take("tls").map(|at| tls(&at, findings));
    let proxy_protocol = fields.take("proxy_protocol").and_then(|at| at.boolean(findings));
    let proxy_protocol = proxy_protocol.unwrap_or_default();
    Some(Listener { address: socket(&address?, findings)?, tls: tls.flatten(), proxy_protocol })
}

fn tls(at: &At<'_>, findings: &mut Findings) -> Option<Tls> {
    let fields = at.fields(&keys::TLS, findings)?;
    let certificate = fields.require("certificate", "name the PEM file of the chain", findings);
    let key = fields.require("key", "name the PEM file of the private key", findings);
    Some(Tls { certificate: path(&certificate?, findings)?, key: path(&key?, findings)? })
}
