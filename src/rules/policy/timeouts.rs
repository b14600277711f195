//! The `timeouts` of the `server` section, and those of a site.

use std::time::Duration;

use crate::rules::keys;

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

impl Timeouts {
    /// The limits of a request at an origin.
    pub(super) const fn of_origin(&self) -> OriginTimeouts {
        OriginTimeouts {
            connect: self.origin_connect,
            read: self.origin_read,
            write: self.origin_write,
            tunnel: self.tunnel_idle,
        }
    }
}

impl Default for OriginTimeouts {
    fn default() -> Self {
        Timeouts::default().of_origin()
    }
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
            tunnel_idle: seconds(3_600),
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
        &mut timeouts.tunnel_idle,
        &mut timeouts.drain,
    ];
    fill(&fields, keys::TIMEOUTS.names(), slots, findings);
    timeouts
}

/// Reads the time limits of a site; one that it leaves out stays as it is.
pub(super) fn read_of_site(
    site: &Fields<'_>,
    timeouts: &mut OriginTimeouts,
    findings: &mut Findings,
) {
    let at = site.take("timeouts");
    let Some(fields) = at.and_then(|at| at.fields(&keys::SITE_TIMEOUTS, findings)) else { return };
    let OriginTimeouts { connect, read, write, tunnel } = timeouts;
    fill(&fields, keys::SITE_TIMEOUTS.names(), [connect, read, write, tunnel], findings);
}

/// Reads the limits under `keys`, in the order of the slots.
fn fill<'s>(
    fields: &Fields<'_>,
    keys: Vec<&'static str>,
    slots: impl IntoIterator<Item = &'s mut Duration>,
    findings: &mut Findings,
) {
    for (key, slot) in keys.into_iter().zip(slots) {
        if let Some(limit) = fields.duration(key, Duration::from_secs(1)..=DAY, findings) {
            *slot = limit;
        }
    }
}
