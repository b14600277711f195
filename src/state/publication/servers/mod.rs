//! The origins of a site: which one gets a request, and which of them are down.
//!
//! ```text
//! Attempts: one request ─▶ Servers::pick ─▶ Server: its addresses, its Health
//!                          ▲ failures of requests, and of the regular checks
//! ```
//! A site with one origin always uses it. Its health is only shown.
//!
//! May use: policy, metrics, fetch, text, addresses. Must not know: the other files beside this folder.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use crate::{
    base::metrics::Metrics,
    rules::policy::{self, Balance, Origin},
};

use super::addresses::{AddressBook, Addresses};

mod checks; // regular requests that find out about a server
mod health; // whether a server is down

pub(super) use self::checks::repeat;
pub use self::health::Fault;
use self::health::{Health, Success};

/// The origins of a site.
#[derive(Debug)]
pub struct Servers {
    site: String,
    backend: Arc<policy::Backend>,
    pub(crate) all: Vec<Server>,
    turn: AtomicUsize,
}

/// One origin of a site.
#[derive(Debug)]
pub struct Server {
    pub(crate) origin: Origin,
    pub(crate) addresses: Arc<Addresses>,
    health: Arc<Health>,
}

impl Servers {
    /// The origins of a site. Those that it had `before` keep their health.
    pub(super) fn new(
        site: &str,
        backend: &Arc<policy::Backend>,
        before: Option<&Self>,
        addresses: &AddressBook,
        metrics: &Metrics,
    ) -> Self {
        let known = |origin: &Origin| {
            let mut all = before.iter().flat_map(|before| &before.all);
            all.find(|server| server.origin == *origin).map(|server| Arc::clone(&server.health))
        };
        let server = |origin: &Origin| {
            let health = known(origin).unwrap_or_default();
            metrics.origin_up(site, &origin.to_string()).set(i64::from(!health.is_down()));
            Server { origin: origin.clone(), addresses: addresses.of(origin), health }
        };
        let all: Vec<Server> = backend.origins.iter().map(server).collect();
        let gone = before.iter().flat_map(|before| &before.all);
        for server in gone.filter(|server| !backend.origins.contains(&server.origin)) {
            metrics.forget_origin(site, &server.origin.to_string());
        }
        let (site, backend) = (site.to_owned(), Arc::clone(backend));
        Self { site, backend, all, turn: AtomicUsize::new(0) }
    }

    pub(crate) fn are_several(&self) -> bool {
        self.all.len() > 1
    }

    /// The seconds after which a client should try again: when the first server that is down may be
    /// up again.
    pub fn retry_after(&self, now: Duration) -> u64 {
        let settings = &self.backend.health;
        let usual = settings.check.as_ref().map_or(settings.pause, |check| check.interval);
        let waits = self.all.iter().filter_map(|server| server.health.pause_left(now));
        let least = waits.min().unwrap_or(usual).min(usual);
        least.as_secs() + u64::from(least.subsec_nanos() > 0).max(u64::from(least.is_zero()))
    }

    /// The server for a request; none of those in `tried`, a bit for each. `None` if all others
    /// are down or have no address. A single server is never down.
    fn pick(&self, tried: u64, now: impl FnOnce() -> Duration) -> Option<usize> {
        if let [_] = self.all.as_slice() {
            return Some(0);
        }
        let start = self.turn.fetch_add(1, Ordering::Relaxed);
        let count = self.all.len().max(1);
        let usable = || {
            let places = (0..count).map(|step| start.wrapping_add(step) % count);
            let untried = places.filter(|place| tried & (1 << place) == 0);
            let servers = untried.filter_map(|place| Some((place, self.all.get(place)?)));
            servers.filter(|(_, server)| server.addresses.are_known())
        };
        // One request at a time finds out whether a server is up again. Checks do so otherwise.
        if self.backend.health.check.is_none() && usable().any(|(_, server)| server.is_down()) {
            let (now, pause) = (now(), self.backend.health.pause);
            let trial = usable().find(|(_, server)| server.health.claim_trial(now, pause));
            if let Some((place, _)) = trial {
                return Some(place);
            }
        }
        let mut up = usable().filter(|(_, server)| !server.is_down());
        let chosen = match self.backend.balance {
            Balance::RoundRobin => up.next(),
            Balance::LeastConnections => {
                up.min_by_key(|(_, server)| server.health.in_progress.load(Ordering::Relaxed))
            }
        };
        chosen.map(|(place, _)| place)
    }

    fn failed(&self, place: usize, fault: Fault, now: Duration, metrics: &Metrics) {
        let Some(Server { origin, health, .. }) = self.all.get(place) else { return };
        let origin = origin.to_string();
        metrics.origin_fault(&self.site, &origin, fault.as_str());
        if health.failed(fault, &self.backend.health, now) {
            metrics.origin_up(&self.site, &origin).set(0);
            if self.are_several() {
                let (site, reason) = (&self.site, fault.as_str());
                tracing::warn!(site, origin, reason, "origin down: the others get its requests");
            }
        }
    }

    fn succeeded(&self, place: usize, by: Success, metrics: &Metrics) {
        let Some(Server { origin, health, .. }) = self.all.get(place) else { return };
        if health.succeeded(by) {
            let origin = origin.to_string();
            metrics.origin_up(&self.site, &origin).set(1);
            if self.are_several() {
                tracing::info!(site = self.site, origin, "origin up again");
            }
        }
    }
}

impl Server {
    /// Whether the server gets no requests now, if there are others.
    pub fn is_down(&self) -> bool {
        self.health.is_down()
    }
}

#[cfg(test)]
mod tests;

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
