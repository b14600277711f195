//! The attempts of one request at the origins of its site.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use crate::base::metrics::Metrics;

use super::{
    Server, Servers,
    health::{Fault, Health, Success},
};

/// The attempts of one request.
#[derive(Debug, Default)]
pub struct Attempts {
    /// A bit for each server that failed.
    tried: u64,
    count: usize,
    place: usize,
    in_progress: Option<InProgress>,
}

/// The count of one request in progress at a server; ends on drop.
#[derive(Debug)]
struct InProgress(Arc<Health>);

impl Drop for InProgress {
    fn drop(&mut self) {
        self.0.in_progress.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Attempts {
    /// The server for the next attempt; `None` if there is none left. `now` is the time of the
    /// steady clock.
    pub fn next<'s>(
        &mut self,
        servers: &'s Servers,
        now: impl FnOnce() -> Duration,
    ) -> Option<&'s Server> {
        self.in_progress = None;
        self.count += 1;
        self.place = servers.pick(self.tried, now)?;
        let server = servers.all.get(self.place)?;
        if servers.are_several() {
            server.health.in_progress.fetch_add(1, Ordering::Relaxed);
            self.in_progress = Some(InProgress(Arc::clone(&server.health)));
        }
        Some(server)
    }

    /// Notes that the server of the present attempt failed. Returns whether another one may get the
    /// request.
    pub fn failed(
        &mut self,
        servers: &Servers,
        fault: Fault,
        now: Duration,
        metrics: &Metrics,
    ) -> bool {
        self.tried |= 1 << self.place;
        servers.failed(self.place, fault, now, metrics);
        servers.are_several() && self.has_more(servers)
    }

    /// Whether the number of attempts allows one more.
    pub fn has_more(&self, servers: &Servers) -> bool {
        // One more than there are servers replaces a stale connection.
        self.count <= servers.all.len()
    }

    pub(crate) fn succeeded(&self, servers: &Servers, metrics: &Metrics) {
        servers.succeeded(self.place, Success::Request, metrics);
    }
}
