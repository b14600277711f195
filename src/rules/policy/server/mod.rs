//! The `server` section.

use std::net::SocketAddr;

use ipnet::IpNet;

use super::{
    fields::Fields,
    timeouts::{Limits, Timeouts},
};

use self::listener::clash;
pub use self::{
    access_log::{AccessFormat, AccessLog},
    admin::Admin,
    listener::{Decide, Listener},
    tls::{Acme, CertificateFiles, Tls, certificate_places},
};

mod access_log; // the log of all requests
mod admin; // the admin listener
mod listener; // sockets that take requests, or questions of other servers
mod tls; // certificates of a listener

/// The `server` section: listeners and their limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Sockets that take requests; at least one (default `0.0.0.0:8080`).
    pub listen: Vec<Listener>,
    /// Metrics and health; `None` is `off` (default `127.0.0.1:9090`).
    pub admin: Option<Admin>,
    pub(crate) decide: Option<Decide>,
    pub(crate) trusted_proxies: Vec<IpNet>,
    pub(crate) access_log: Option<AccessLog>,
    pub(crate) timeouts: Timeouts,
    pub(crate) limits: Limits,
    pub(crate) threads: Option<usize>,
}

pub(super) fn read(fields: &Fields<'_>) -> Server {
    let listen = listener::listeners(fields);
    let admin = admin::admin(fields, &listen);
    let trusted_proxies: Vec<IpNet> = fields.get("trusted_proxies");
    if trusted_proxies.is_empty() && listen.iter().any(|one| one.proxy_protocol) {
        let help = "add 'trusted_proxies' with the addresses of the proxies in front";
        let message = "'proxy_protocol' needs proxies that are trusted";
        fields.at.child("listen").refuse(message, help);
    }
    let is_taken = |address| {
        let others = listen.iter().map(|listener| listener.address);
        let others = others.chain(admin.as_ref().map(|admin| admin.address));
        clash(&others.chain([address]).collect::<Vec<_>>()) == Some(address)
    };
    let decide = listener::decide(fields, is_taken, &trusted_proxies);
    Server {
        listen,
        admin,
        decide,
        trusted_proxies,
        access_log: access_log::read(fields),
        timeouts: Timeouts::read(&fields.section("timeouts")),
        limits: Limits::read(&fields.section("limits")),
        threads: fields.get("threads"),
    }
}

impl Server {
    pub(crate) fn addresses(&self) -> impl Iterator<Item = SocketAddr> + '_ {
        self.addresses_by_key().map(|(_, address)| address)
    }

    pub(crate) fn addresses_by_key(&self) -> impl Iterator<Item = (&'static str, SocketAddr)> + '_ {
        let listen = self.listen.iter().map(|listener| ("server.listen", listener.address));
        let admin = self.admin.iter().map(|admin| ("server.admin", admin.address));
        listen.chain(admin).chain(self.decide.iter().map(|one| ("server.decide", one.address)))
    }
}
