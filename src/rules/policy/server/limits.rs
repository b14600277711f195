//! The `limits` of the `server` section: what one client may take.

use std::time::Duration;

use crate::rules::keys;

use super::super::fields::{Fields, defaults};

/// Limits for clients and their connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time for a whole request header, from its first octet on (default 15 s).
    pub header_time: Duration,
    /// Octets of a request header, with the request line (default 32 KiB).
    pub header_size: usize,
    /// Field lines of a request header (default 100).
    pub header_fields: u32,
    /// The least octets per second of a request body, after its first ten seconds (default 500).
    pub body_rate: u64,
    /// Connections of all clients (default 20,000). Further ones wait.
    pub connections: usize,
    /// Connections of one client network, which is an IPv4 address or a /64 of IPv6 (default 1,000).
    /// Further ones are refused.
    pub connections_per_network: u32,
    /// Requests of all clients that are at origins at a time; without it, as many as the descriptors of
    /// the process allow. Further ones get 503.
    pub requests: Option<usize>,
    /// Requests of one client network that are at origins at a time; without it, 1,000 or a quarter of
    /// `requests`, whichever is less.
    pub requests_per_network: Option<u32>,
    /// Time for a TLS handshake, a PROXY protocol header, and the first frame of HTTP/2 (default 10 s).
    pub handshake_time: Duration,
}

impl Limits {
    /// The requests at origins at a time: of all clients, and of one network.
    pub fn at_origins(&self) -> (usize, u32) {
        let most = self.requests.unwrap_or(self.connections);
        let quarter = || u32::try_from(most / 4).unwrap_or(u32::MAX).clamp(1, 1_000);
        (most, self.requests_per_network.unwrap_or_else(quarter))
    }
}

impl Default for Limits {
    fn default() -> Self {
        defaults(&keys::LIMITS, read)
    }
}

/// Reads the section; every limit that it leaves out has its default.
pub(super) fn read(fields: &Fields<'_>) -> Limits {
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
