//! The admin listener.

use std::{net::SocketAddr, path::PathBuf};

use super::{
    super::{
        fields::{Fields, Setting},
        host::{self, Host},
        shape::At,
    },
    listener::{Listener, clash},
};

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
mod tests;
