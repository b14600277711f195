//! The `limits` of the `server` section: what one client may take.

use std::time::Duration;

use crate::rules::keys;

use super::super::fields::{Fields, defaults};

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
        defaults(&keys::LIMITS, read)
    }
}

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
