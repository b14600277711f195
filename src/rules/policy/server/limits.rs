//! The `limits` of the `server` section: what one client may take.

use std::time::Duration;

use crate::rules::keys;

use super::super::{findings::Findings, shape::Fields};

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

impl Default for Limits {
    fn default() -> Self {
        Self {
            header_time: Duration::from_secs(15),
            header_size: 32 << 10,
            header_fields: 100,
            body_rate: 500,
            connections: 20_000,
            connections_per_network: 1_000,
            requests: None,
            requests_per_network: None,
            handshake_time: Duration::from_secs(10),
        }
    }
}

/// Reads the section; every limit that it leaves out has its default.
pub(super) fn read(fields: &Fields<'_>, findings: &mut Findings) -> Limits {
    let mut limits = Limits::default();
    let Some(fields) = fields.take("limits").and_then(|at| at.fields(&keys::LIMITS, findings))
    else {
        return limits;
    };
    let times = Duration::from_secs(1)..=Duration::from_secs(600);
    if let Some(time) = fields.duration("header_time", times.clone(), findings) {
        limits.header_time = time;
    }
    if let Some(time) = fields.duration("handshake_time", times, findings) {
        limits.handshake_time = time;
    }
    // Above this, the parser of the proxy library refuses a header.
    let sizes = 4 << 10..=1_000 << 10;
    let size = fields.take("header_size").and_then(|at| at.size(sizes, findings));
    limits.header_size =
        size.and_then(|size| usize::try_from(size).ok()).unwrap_or(limits.header_size);
    let mut count = |key: &str, most: i64| {
        fields.take(key).and_then(|at| at.integer(1..=most, findings)).map(i64::unsigned_abs)
    };
    // The parser of the proxy library takes no more.
    if let Some(fields) = count("header_fields", 250).and_then(|n| u32::try_from(n).ok()) {
        limits.header_fields = fields;
    }
    limits.body_rate = count("body_rate", 1_000_000).unwrap_or(limits.body_rate);
    if let Some(all) = count("connections", 1_000_000).and_then(|n| usize::try_from(n).ok()) {
        limits.connections = all;
    }
    if let Some(one) = count("connections_per_network", 1_000_000).and_then(|n| n.try_into().ok()) {
        limits.connections_per_network = one;
    }
    limits.requests = count("requests", 1_000_000).and_then(|n| usize::try_from(n).ok());
    limits.requests_per_network =
        count("requests_per_network", 1_000_000).and_then(|n| u32::try_from(n).ok());
    limits
}
