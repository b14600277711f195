//! The admin listener.

use std::{net::SocketAddr, path::PathBuf};

use crate::rules::keys;

use super::super::{
    fields::Fields,
    findings::Findings,
    host::{self, Host},
    scalar::socket,
    shape::At,
    yaml::Value,
};
use super::{
    address::{DEFAULT_ADMIN, clash, known},
    listener::Listener,
};

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
    /// Whether the desk may write the policy file (default false).
    pub edit: bool,
}

impl Admin {
    pub(super) fn at(address: SocketAddr) -> Self {
        Self { address, hosts: Vec::new(), token_file: None, edit: false }
    }
}

/// `127.0.0.1:9090`, `off`, or a mapping with `address`, `hosts` and `token_file`.
pub(super) fn admin(
    fields: &Fields<'_>,
    listen: &[Listener],
    findings: &mut Findings,
) -> Option<Admin> {
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
    let hosts = fields.each("hosts", host::read, findings);
    let token_file = fields.some_file("token_file", findings);
    let address = match fields.take("address") {
        None => refuse_default(findings),
        Some(at) => {
            let address = socket(&at, findings)?;
            private(&at, address, clashes(address), token_file.as_ref(), findings)
        }
    };
    let edit = fields.is("edit", findings);
    if let Some(at) = fields.take("edit").filter(|_| edit && token_file.is_none()) {
        let message = "every program on the machine could change the policy";
        let help = "add 'token_file' with the file of a secret, or remove 'edit'";
        findings.refuse_as("policy.open_edit", &at, message, help);
    }
    Some(Admin { address, hosts, token_file, edit })
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

#[cfg(test)]
mod tests;
