//! File names, addresses and networks.

use std::{
    net::{IpAddr, SocketAddr},
    path::PathBuf,
};

use ipnet::IpNet;

use crate::base::diagnostic::Diagnostic;

use super::{findings::Findings, shape::At, yaml::Value};

pub(super) fn path(at: &At<'_>, findings: &mut Findings) -> Option<PathBuf> {
    let text = at.text(findings)?;
    if text.is_empty() || text.contains('\0') {
        return findings.refused(at, "not a file name", "name a file");
    }
    Some(PathBuf::from(text))
}

pub(super) fn socket(at: &At<'_>, findings: &mut Findings) -> Option<SocketAddr> {
    if let Value::Integer(port) = at.node.value {
        let message = format!("{port} is not an address with a port");
        return findings.refused(at, message, format!("write for example 0.0.0.0:{port}"));
    }
    let help = "write for example 127.0.0.1:8080 or '[::]:8080'";
    at.parsed(|text| text.parse().ok(), "is not an address with a port", help, findings)
}

pub(super) fn network(at: &At<'_>, findings: &mut Findings) -> Option<IpNet> {
    let parse =
        |text: &str| text.parse().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from));
    let help = "write for example 10.0.0.0/8 or 192.0.2.7";
    let parsed = at.parsed(parse, "is neither an address nor a network", help, findings);
    if parsed.is_some_and(|network| network.prefix_len() == 0) {
        let message = "every client is trusted, so any client can fake its address";
        let help = "name the addresses of the proxies in front";
        findings.add(at, Diagnostic::warning("policy.trusts_everybody", message).help(help));
    }
    parsed
}
