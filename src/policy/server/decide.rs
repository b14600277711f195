//! `server.decide`: the listener for other servers that ask.

use std::net::SocketAddr;

use ipnet::IpNet;

use crate::{
    keys,
    policy::{
        findings::Findings,
        scalar::socket,
        shape::{At, Fields},
        yaml::Value,
    },
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
            let status = fields.take("refuse_status");
            let status = status.and_then(|at| at.integer(400..=499, findings));
            let address = fields.require("address", "write 'address: 127.0.0.1:9091'", findings);
            (address?, status.and_then(|status| u16::try_from(status).ok()))
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
mod tests {
    use super::*;
    use crate::{diagnostic::Severity, policy};

    /// The listener, or the refusals.
    fn decide(server: &str) -> Result<Option<Decide>, Vec<String>> {
        let text = format!(
            "server: {{ {server} }}\nsites: [{{ hosts: [a.example], origin: \"http://127.0.0.1:3\" }}]"
        );
        let (policy, findings) = policy::read("test.yaml", text.as_bytes());
        policy.map(|policy| policy.server.decide).ok_or_else(|| {
            let errors = findings.into_iter().filter(|one| one.severity == Severity::Error);
            errors.map(|one| one.message).collect()
        })
    }

    #[test]
    fn a_listener_for_questions_is_an_address_or_a_mapping() {
        let at = |address: &str, refuse_status| {
            Ok(Some(Decide { address: address.parse().expect("an address"), refuse_status }))
        };
        let refused = |text: &str| Err(vec![text.to_owned()]);
        let nobody = ": no server may ask here: only 'trusted_proxies' may";
        for (server, expected) in [
            ("", Ok(None)),
            ("decide: 127.0.0.1:1, trusted_proxies: [127.0.0.1]", at("127.0.0.1:1", None)),
            ("decide: \"[::1]:1\", trusted_proxies: [\"::1\"]", at("[::1]:1", None)),
            ("decide: 127.0.0.1:1, trusted_proxies: [127.0.0.9]", at("127.0.0.1:1", None)),
            ("decide: 0.0.0.0:1, trusted_proxies: [10.0.0.0/8]", at("0.0.0.0:1", None)),
            (
                "decide: { address: 127.0.0.1:1, refuse_status: 403 }, trusted_proxies: [127.0.0.1]",
                at("127.0.0.1:1", Some(403)),
            ),
            ("decide: 127.0.0.1:1", refused(&format!("server.decide{nobody}"))),
            ("decide: 0.0.0.0:1", refused(&format!("server.decide{nobody}"))),
            (
                "decide: { address: 127.0.0.1:1 }, trusted_proxies: [10.0.0.0/8]",
                refused(&format!("server.decide.address{nobody}")),
            ),
            (
                "decide: { address: 127.0.0.1:1, refuse_status: 500 }, trusted_proxies: [127.0.0.1]",
                refused("server.decide.refuse_status: 500 is out of range"),
            ),
            (
                "decide: 127.0.0.1:8080, trusted_proxies: [127.0.0.1]",
                refused("server.decide: another listener has this address"),
            ),
            (
                "decide: 127.0.0.1:9090, trusted_proxies: [127.0.0.1]",
                refused("server.decide: another listener has this address"),
            ),
            (
                "decide: { refuse_status: 403 }, trusted_proxies: [127.0.0.1]",
                refused("'server.decide.address' is missing"),
            ),
        ] {
            assert_eq!(decide(server), expected, "{server}");
        }
    }
}
