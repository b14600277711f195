//! The `limits` of the `server` section: what one client may take.

use std::time::Duration;

use crate::rules::keys;

use super::super::{fields::Fields, findings::Findings};

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
        limits(&Fields::absent(&keys::LIMITS), &mut Findings::default())
    }
}

/// Reads the section; every limit that it leaves out has its default.
pub(super) fn read(server: &Fields<'_>, findings: &mut Findings) -> Limits {
    limits(&Fields::of(server.take("limits").as_ref(), &keys::LIMITS, findings), findings)
}

fn limits(fields: &Fields<'_>, findings: &mut Findings) -> Limits {
    let times = Duration::from_secs(1)..=Duration::from_secs(600);
    // Above this, the parser of the proxy library refuses a header.
    let size = fields.size("header_size", 4 << 10..=1_000 << 10, findings);
    Limits {
        header_time: fields.time("header_time", times.clone(), findings),
        header_size: usize::try_from(size).unwrap_or(usize::MAX),
        header_fields: fields.number("header_fields", findings),
        body_rate: fields.number("body_rate", findings),
        connections: fields.number("connections", findings),
        connections_per_network: fields.number("connections_per_network", findings),
        requests: fields.some_number("requests", findings),
        requests_per_network: fields.some_number("requests_per_network", findings),
        handshake_time: fields.time("handshake_time", times, findings),
    }
}
