//! The `timeouts` of the `server` section, and those of a site.

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
        defaults(&keys::TIMEOUTS, read)
    }
}

pub(super) fn read(fields: &Fields<'_>) -> Timeouts {
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
pub(super) fn read_of_site(fields: &Fields<'_>, server: &Timeouts) -> Timeouts {
    Timeouts {
        origin_connect: fields.find("origin_connect").unwrap_or(server.origin_connect),
        origin_read: fields.find("origin_read").unwrap_or(server.origin_read),
        origin_write: fields.find("origin_write").unwrap_or(server.origin_write),
        tunnel_idle: fields.find("tunnel_idle").unwrap_or(server.tunnel_idle),
        ..*server
    }
}
