//! Forward-confirmed reverse DNS: an address has a name under a crawler's domain, and that name
//! has the address.
//!
//! Either half alone proves nothing. The owner of an address can write any name into its PTR
//! record. The owner of a domain can give its names any address.
//!
//! [`Names::answer`] reads the results of earlier look-ups. Without a result it queues a look-up,
//! so a request never waits, and the first request of an address has no answer yet. Clients can't
//! cause unbounded work:
//!
//! * There is one look-up of an address at a time. One network (an IPv4 /24, an IPv6 /48) has
//!   [`Limits::per_network`] look-ups waiting or running. Beadle drops and counts further ones; the
//!   next request tries again.
//! * A PTR record may name anything. Beadle resolves only names under the suffixes of crawlers, so
//!   no client can make it query arbitrary names.
//! * The cache evicts addresses with and without a confirmed name separately. Only operators of
//!   crawlers can add the former, so a flood of other addresses evicts none of them.
//!
//! A client can still keep its standing unknown: its name server can fail every look-up, or it can
//! use a new address for each request. Neither confirms a claim.
//!
//! May use: crawlers, diagnostic, escape, fetch, metrics. Must not know: the files beside this
//! folder.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{sync::mpsc, task::JoinSet};

use crate::{
    crawlers::{Evidence, Testimony, ranges},
    diagnostic::Diagnostic,
    metrics::{Counter, Metrics},
};

mod cache; // results until they expire
mod queue; // addresses that wait for a look-up
mod resolver; // one look-up
mod suffixes; // the domains of crawlers
#[cfg(test)]
#[path = "../../../tests/support/name_server.rs"]
mod test_server;
#[cfg(test)]
mod tests;

pub(super) use self::resolver::Resolver;
use self::{
    cache::{Cache, LookUp},
    queue::{Queue, Ticket},
};

/// The names of addresses, and the background task that looks them up. The task ends on drop.
#[derive(Debug)]
pub(super) struct Names {
    cache: Arc<Cache>,
    queue: Queue,
    dropped: Counter,
}

/// The limits of look-ups and of the cache.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// The most waiting look-ups.
    waiting: usize,
    /// The most look-ups at the same time.
    at_once: usize,
    /// The most waiting or running look-ups for one network.
    per_network: usize,
    /// The most time for one look-up.
    deadline: Duration,
    /// The most cached addresses with a confirmed name.
    confirmed: usize,
    /// The most other cached addresses.
    others: usize,
}

impl Limits {
    const STANDARD: Self = Self {
        waiting: 1_024,
        at_once: 32,
        per_network: 8,
        deadline: Duration::from_secs(3),
        // Together at most about 20 MB.
        confirmed: 16_384,
        others: 32_768,
    };
}

/// The counters of look-ups, by outcome.
#[derive(Clone, Debug)]
struct Outcomes {
    confirmed: Counter,
    refuted: Counter,
    failed: Counter,
}

impl Names {
    /// Starts the background task on the current tokio runtime. It queries `servers`, or without
    /// any the servers of `/etc/resolv.conf`, read once.
    ///
    /// # Errors
    /// The servers are unusable.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub(super) fn start(servers: &[SocketAddr], metrics: &Metrics) -> Result<Self, Diagnostic> {
        Self::start_within(Limits::STANDARD, servers, metrics)
    }

    fn start_within(
        limits: Limits,
        servers: &[SocketAddr],
        metrics: &Metrics,
    ) -> Result<Self, Diagnostic> {
        let resolver = Resolver::new(servers, limits.deadline)?;
        let cache = Arc::new(Cache::new(limits.confirmed, limits.others));
        let (queue, tickets) = Queue::new(limits.waiting, limits.per_network);
        let counter = |outcome| metrics.evidence_lookups(Evidence::ReverseDns.as_str(), outcome);
        let outcomes = Outcomes {
            confirmed: counter("confirmed"),
            refuted: counter("refuted"),
            failed: counter("failed"),
        };
        let dropped = counter("dropped");
        tokio::spawn(work(tickets, limits.at_once, resolver, Arc::clone(&cache), outcomes));
        Ok(Self { cache, queue, dropped })
    }

    /// Whether `address` has a confirmed name under one of `suffixes`. These are the suffixes of a
    /// crawler, each with its leading dot, in any case.
    ///
    /// Reads only memory. [`Testimony::NotYet`] means that there is no result so far, or a failed
    /// one; then this queues a look-up, after a failure once a minute. [`Testimony::Nothing`] means
    /// that there are no suffixes, or that the address is not public. A private address most likely
    /// belongs to a proxy in front that is missing in `trusted_proxies`.
    pub(super) fn answer(&self, address: IpAddr, suffixes: &[String]) -> Testimony {
        let address = address.to_canonical();
        if suffixes.is_empty() || !is_public(address) {
            return Testimony::Nothing;
        }
        let known = self.cache.answer(address, suffixes, Instant::now());
        if known.is_none_or(|known| known.is_due) && !self.queue.enqueue(address, suffixes) {
            self.dropped.inc();
        }
        known.map_or(Testimony::NotYet, |known| known.answer)
    }
}

/// Runs waiting look-ups until the queue closes.
async fn work(
    mut tickets: mpsc::Receiver<Ticket>,
    at_once: usize,
    resolver: Resolver,
    cache: Arc<Cache>,
    outcomes: Outcomes,
) {
    let mut under_way = JoinSet::new();
    loop {
        tokio::select! {
            ticket = tickets.recv(), if under_way.len() < at_once => {
                let Some(ticket) = ticket else { break };
                let (resolver, cache) = (resolver.clone(), Arc::clone(&cache));
                let outcomes = outcomes.clone();
                under_way.spawn(async move {
                    let look_up = resolver.look_up(ticket.address(), ticket.suffixes()).await;
                    outcomes.count(&look_up);
                    // Stored before the ticket drops, or the next request would queue the address
                    // again.
                    cache.insert(ticket.address(), look_up, ticket.suffixes(), Instant::now());
                });
            }
            ended = under_way.join_next(), if !under_way.is_empty() => {
                if let Some(Err(error)) = ended {
                    tracing::error!(%error, "reverse DNS look-up aborted");
                }
            }
        }
    }
}

impl Outcomes {
    fn count(&self, look_up: &LookUp) {
        let counter = if !look_up.names.is_empty() {
            &self.confirmed
        } else if look_up.is_complete {
            &self.refuted
        } else {
            &self.failed
        };
        counter.inc();
    }
}

/// Whether the public DNS can have a name for an address. Private, loopback, link-local, multicast,
/// translated (RFC 6052) and reserved (RFC 6890) addresses have none. Documentation ranges pass,
/// because no client has them.
fn is_public(address: IpAddr) -> bool {
    let is_documentation = match address {
        IpAddr::V4(v4) => v4.is_documentation(),
        IpAddr::V6(v6) => matches!(v6.segments(), [0x2001, 0xdb8, ..]),
    };
    is_documentation || ranges::is_public(address)
}
