//! The `timeouts` and `limits` of the `server` section, and the `timeouts` of a site.

use std::time::Duration;

use crate::rules::keys;

use super::fields::{Fields, defaults};

/// Time limits. All of them are set, because the proxy library has no limits of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// How long to keep idle client connections (default 75 s).
    pub client_keepalive: Duration,
    /// Longest pause between two reads of a request body (default 60 s).
    pub client_read: Duration,
    /// Longest pause between two writes to a client (default 60 s).
    pub client_write: Duration,
    /// Time limit to connect to an origin, TLS included (default 5 s).
    pub origin_connect: Duration,
    /// Longest pause between two reads from an origin, and the most time for the whole head of a response
    /// (default 60 s).
    pub origin_read: Duration,
    /// Longest pause between two writes to an origin (default 60 s).
    pub origin_write: Duration,
    /// How long to keep idle connections to an origin (default 60 s).
    pub origin_keepalive: Duration,
    /// Interval between two lookups of an origin's name (default 30 s).
    pub origin_lookup: Duration,
    /// How long a WebSocket or an event stream may be silent (default 1 h).
    pub tunnel_idle: Duration,
    /// How long running requests may go on after SIGTERM (default 30 s).
    pub drain: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        defaults(&keys::TIMEOUTS, timeouts)
    }
}

pub(super) fn timeouts(fields: &Fields<'_>) -> Timeouts {
    Timeouts {
        client_keepalive: fields.get("client_keepalive"),
        client_read: fields.get("client_read"),
        client_write: fields.get("client_write"),
        origin_connect: fields.get("origin_connect"),
        origin_read: fields.get("origin_read"),
        origin_write: fields.get("origin_write"),
        origin_keepalive: fields.get("origin_keepalive"),
        origin_lookup: fields.get("origin_lookup"),
        tunnel_idle: fields.get("tunnel_idle"),
        drain: fields.get("drain"),
    }
}

/// Reads the time limits of a site; one that it leaves out is the server's.
pub(super) fn of_site(fields: &Fields<'_>, server: &Timeouts) -> Timeouts {
    Timeouts {
        origin_connect: fields.find("origin_connect").unwrap_or(server.origin_connect),
        origin_read: fields.find("origin_read").unwrap_or(server.origin_read),
        origin_write: fields.find("origin_write").unwrap_or(server.origin_write),
        tunnel_idle: fields.find("tunnel_idle").unwrap_or(server.tunnel_idle),
        ..*server
    }
}

/// Limits for clients and their connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub(crate) header_time: Duration,
    pub(crate) header_size: usize,
    pub(crate) header_fields: u32,
    pub(crate) body_rate: u64,
    pub(crate) connections: usize,
    pub(crate) connections_per_network: u32,
    pub(crate) requests: Option<usize>,
    pub(crate) requests_per_network: Option<u32>,
    pub(crate) handshake_time: Duration,
}

impl Limits {
    /// The requests at origins at a time: of all clients, and of one network.
    pub(crate) fn at_origins(&self) -> (usize, u32) {
        let most = self.requests.unwrap_or(self.connections);
        let quarter = || u32::try_from(most / 4).unwrap_or(u32::MAX).clamp(1, 1_000);
        (most, self.requests_per_network.unwrap_or_else(quarter))
    }
}

impl Default for Limits {
    fn default() -> Self {
        defaults(&keys::LIMITS, limits)
    }
}

pub(super) fn limits(fields: &Fields<'_>) -> Limits {
    Limits {
        header_time: fields.get("header_time"),
        header_size: fields.get("header_size"),
        header_fields: fields.get("header_fields"),
        body_rate: fields.get("body_rate"),
        connections: fields.get("connections"),
        connections_per_network: fields.get("connections_per_network"),
        requests: fields.find("requests"),
        requests_per_network: fields.find("requests_per_network"),
        handshake_time: fields.get("handshake_time"),
    }
}
