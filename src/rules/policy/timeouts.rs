//! The `timeouts` of the `server` section, and those of a site.

use std::{ops::RangeInclusive, time::Duration};

use crate::rules::keys;

use super::{fields::Fields, findings::Findings};

/// The times that a limit takes.
const RANGE: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(86_400);

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
    /// Longest pause between two reads from an origin (default 60 s).
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

/// Time limits of a request at an origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OriginTimeouts {
    /// Time limit to connect, TLS included.
    pub connect: Duration,
    /// Longest pause between two reads, and the most time for the whole head of a response.
    pub read: Duration,
    /// Longest pause between two writes.
    pub write: Duration,
    /// How long a WebSocket or an event stream may be silent.
    pub tunnel: Duration,
}

impl Default for OriginTimeouts {
    fn default() -> Self {
        let (none, findings) = (Fields::absent(&keys::SITE), &mut Findings::default());
        read_of_site(&none, &Timeouts::default(), findings)
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        limits(&Fields::absent(&keys::TIMEOUTS), &mut Findings::default())
    }
}

/// Reads the section; every limit that it leaves out has its default.
pub(super) fn read(server: &Fields<'_>, findings: &mut Findings) -> Timeouts {
    limits(&Fields::of(server.take("timeouts").as_ref(), &keys::TIMEOUTS, findings), findings)
}

fn limits(fields: &Fields<'_>, findings: &mut Findings) -> Timeouts {
    let mut limit = |key| fields.time(key, RANGE, findings);
    Timeouts {
        client_keepalive: limit("client_keepalive"),
        client_read: limit("client_read"),
        client_write: limit("client_write"),
        origin_connect: limit("origin_connect"),
        origin_read: limit("origin_read"),
        origin_write: limit("origin_write"),
        origin_keepalive: limit("origin_keepalive"),
        origin_lookup: limit("origin_lookup"),
        tunnel_idle: limit("tunnel_idle"),
        drain: limit("drain"),
    }
}

/// Reads the time limits of a site; one that it leaves out is the server's.
pub(super) fn read_of_site(
    site: &Fields<'_>,
    server: &Timeouts,
    findings: &mut Findings,
) -> OriginTimeouts {
    let fields = Fields::of(site.take("timeouts").as_ref(), &keys::SITE_TIMEOUTS, findings);
    let mut limit = |key, server| {
        fields.take(key).and_then(|at| at.duration(RANGE, findings)).unwrap_or(server)
    };
    OriginTimeouts {
        connect: limit("origin_connect", server.origin_connect),
        read: limit("origin_read", server.origin_read),
        write: limit("origin_write", server.origin_write),
        tunnel: limit("tunnel_idle", server.tunnel_idle),
    }
}
