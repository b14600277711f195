//! `server.decide`: the listener for other servers that ask.

use std::net::SocketAddr;

use ipnet::IpNet;

use crate::rules::{
    keys,
    policy::{fields::Fields, findings::Findings, scalar::socket, shape::At, yaml::Value},
};

/// The listener for questions of other servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decide {
    /// Address and port.
    pub address: SocketAddr,
    /// The status in place of those of refusals; `None` keeps them.
    pub refuse_status: Option<u16>,
}

/// `127.0.0.1:9091`, or a mapping with `address` and `refuse_status`. `is_taken` tells whether
/// another listener has an address. Only `trusted` peers may ask, so there has to be one.
pub(super) fn read(
    fields: &Fields<'_>,
    is_taken: impl Fn(SocketAddr) -> bool,
    trusted: &[IpNet],
    findings: &mut Findings,
) -> Option<Decide> {
    let at = fields.take("decide")?;
    let (at, refuse_status) = match at.node.value {
        Value::Map(_) => {
            let fields = at.fields(&keys::DECIDE, findings)?;
            let status = fields.some_number("refuse_status", findings);
            (fields.require("address", "write 'address: 127.0.0.1:9091'", findings)?, status)
        }
        _ => (at, None),
    };
    let address = socket(&at, findings)?;
    if is_taken(address) {
        findings.refuse(&at, "another listener has this address", "choose another port");
    }
    refuse_unreachable(&at, address, trusted, findings);
    Some(Decide { address, refuse_status })
}

/// Refuses a listener that no trusted peer can reach: it would refuse every request of the sites.
fn refuse_unreachable(
    at: &At<'_>,
    address: SocketAddr,
    trusted: &[IpNet],
    findings: &mut Findings,
) {
    let reaches = |network: &IpNet| {
        !address.ip().is_loopback()
            || network.contains(&address.ip())
            || network.network().is_loopback()
    };
    if !trusted.iter().any(reaches) {
        let message = "no server may ask here: only 'trusted_proxies' may";
        let help = "name the server that asks, for example 'trusted_proxies: [127.0.0.1]'";
        findings.refuse(at, message, help);
    }
}

#[cfg(test)]
mod tests;
