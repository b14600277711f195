//! The `timeouts` and `limits` of the `server` section, and the `timeouts` of a site.

use std::time::Duration;

use super::fields::{Fields, section};

section! {
    /// Time limits. All of them are set, because the proxy library has no limits of its own.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Timeouts: TIMEOUTS {
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
}

/// Reads the time limits of a site; one that it leaves out is the server's.
pub(super) fn of_site(fields: &Fields<'_>, server: &Timeouts) -> Timeouts {
    let own = |key| fields.get::<Option<Duration>>(key);
    Timeouts {
        origin_connect: own("origin_connect").unwrap_or(server.origin_connect),
        origin_read: own("origin_read").unwrap_or(server.origin_read),
        origin_write: own("origin_write").unwrap_or(server.origin_write),
        tunnel_idle: own("tunnel_idle").unwrap_or(server.tunnel_idle),
        ..*server
    }
}

section! {
    /// Limits for clients and their connections.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Limits: LIMITS {
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
}

impl Limits {
    /// The requests at origins at a time: of all clients, and of one network.
    pub(crate) fn at_origins(&self) -> (usize, u32) {
        let most = self.requests.unwrap_or(self.connections);
        let quarter = || u32::try_from(most / 4).unwrap_or(u32::MAX).clamp(1, 1_000);
        (most, self.requests_per_network.unwrap_or_else(quarter))
    }
}
