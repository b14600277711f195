//! `server.decide`: the listener for other servers that ask.

use std::net::SocketAddr;

use ipnet::IpNet;

use super::super::{fields::Fields, setting::Setting, shape::At};

/// The listener for questions of other servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decide {
    pub(crate) address: SocketAddr,
    pub(crate) refuse_status: Option<u16>,
}

/// `127.0.0.1:9091`, or a mapping with `address` and `refuse_status`. `is_taken` tells whether
/// another listener has an address. Only `trusted` peers may ask, so there has to be one.
pub(super) fn read(
    fields: &Fields<'_>,
    is_taken: impl Fn(SocketAddr) -> bool,
    trusted: &[IpNet],
) -> Option<Decide> {
    let at = fields.take("decide")?;
    let (at, refuse_status) = match at.is_map() {
        true => {
            let fields = at.fields()?;
            let status = fields.find("refuse_status");
            (fields.require("address", "write 'address: 127.0.0.1:9091'")?, status)
        }
        false => (at, None),
    };
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
