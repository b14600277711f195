//! The `timeouts` of the `server` section.

use std::time::Duration;

use crate::keys;

use super::{findings::Findings, shape::Fields};

/// The longest time that a setting takes.
const DAY: Duration = Duration::from_secs(86_400);

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
    /// How long running requests may go on after SIGTERM (default 30 s).
    pub drain: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            client_keepalive: seconds(75),
            client_read: seconds(60),
            client_write: seconds(60),
            origin_connect: seconds(5),
            origin_read: seconds(60),
            origin_write: seconds(60),
            origin_keepalive: seconds(60),
            origin_lookup: seconds(30),
            drain: seconds(30),
        }
    }
}

/// Reads the section; every limit that it leaves out has its default.
pub(super) fn read(fields: &Fields<'_>, findings: &mut Findings) -> Timeouts {
    let mut timeouts = Timeouts::default();
    let Some(fields) = fields.take("timeouts").and_then(|at| at.fields(&keys::TIMEOUTS, findings))
    else {
        return timeouts;
    };
    let slots = [
        &mut timeouts.client_keepalive,
        &mut timeouts.client_read,
        &mut timeouts.client_write,
        &mut timeouts.origin_connect,
        &mut timeouts.origin_read,
        &mut timeouts.origin_write,
        &mut timeouts.origin_keepalive,
        &mut timeouts.origin_lookup,
        &mut timeouts.drain,
    ];
    for (key, slot) in keys::TIMEOUTS.names().into_iter().zip(slots) {
        let least = Duration::from_secs(1);
        if let Some(duration) = fields.take(key).and_then(|at| at.duration(least..=DAY, findings)) {
            *slot = duration;
        }
    }
    timeouts
}
