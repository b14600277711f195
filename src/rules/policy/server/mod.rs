//! The `server` section.

use std::net::SocketAddr;

use ipnet::IpNet;

use crate::base::text::words;

use super::{
    fields::{Fields, Setting},
    timeouts::{Limits, Timeouts},
    violations::Log,
};

use self::listener::clash;
pub use self::{
    listener::{Admin, Decide, Listener},
    tls::{Acme, CertificateFiles, Tls, certificate_places},
};

mod listener; // sockets that take requests, those of the operator, or questions of other servers
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
    let admin = listener::admin(fields, &listen);
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
        access_log: access_log(fields),
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

/// The log of all requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessLog {
    pub(crate) log: Log,
    pub(crate) format: AccessFormat,
}

words! {
    /// The form of a line in the access log.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(crate) enum AccessFormat {
        #[default]
        Json = "json",
        /// NCSA's combined form.
        Combined = "combined",
    }
}

fn access_log(fields: &Fields<'_>) -> Option<AccessLog> {
    let fields = fields.take("access_log")?.fields()?;
    let format = fields.get("format");
    let log = fields.required("file", "name a file, or write 'file: stdout'", Log::read)?;
    Some(AccessLog { log, format })
}

#[cfg(test)]
mod tests;
