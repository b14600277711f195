//! Forward-confirmed reverse DNS: an address has a name under a crawler's domain, and that name
//! has the address.
//!
//! Either half alone proves nothing: whoever holds an address writes any name into its PTR record,
//! and whoever holds a domain gives its names any address.
//!
//! [`Names::answer`] reads what earlier look-ups have found and queues one where nothing is known,
//! so a request never waits and the first one of an address has no answer yet. What strangers can
//! make this do is bounded everywhere:
//!
//! * An address is looked up once at a time; one network (an IPv4 /24, an IPv6 /48) has
//!   [`Limits::per_network`] places among those that wait or are under way. What finds no place is
//!   dropped and counted; the next request asks again.
//! * A PTR record may name anything. Only names under a suffix that was asked about are resolved,
//!   so nobody can make this proxy ask a name server for names of his own.
//! * Addresses with a confirmed name and all others have rows of their own in the memory: nobody
//!   but a crawler's operator gets into the first, and no flood of addresses pushes anything out
//!   of it.
//!
//! Two ways to stay unknown remain, and make nobody confirmed: who answers for an address may let
//! every look-up fail, and who has many addresses may send each request from a fresh one.

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

mod cache; // what was found, while it is believed
mod queue; // what is to be looked up
mod resolver; // the look-up itself
mod suffixes; // the domains that crawlers have names in
#[cfg(test)]
#[path = "../../../tests/support/name_server.rs"]
mod test_server;
#[cfg(test)]
mod tests;

pub(super) use self::resolver::Resolver;
use self::{
    cache::{Cache, Found},
    queue::{Queue, Ticket},
};

/// The names of addresses, as far as they are known. Its background work ends when it is dropped.
#[derive(Debug)]
pub(super) struct Names {
    cache: Arc<Cache>,
    queue: Queue,
    dropped: Counter,
}

/// How much is looked up and remembered, and for how long.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// Look-ups that wait.
    waiting: usize,
    /// Look-ups under way.
    under_way: usize,
    /// Of both, those for addresses of one network.
    per_network: usize,
    /// A look-up that takes longer has failed.
    deadline: Duration,
    /// Addresses with a confirmed name that are remembered.
    confirmed: usize,
    /// Other addresses that are remembered.
    others: usize,
}

impl Limits {
    const STANDARD: Self = Self {
        waiting: 1_024,
        under_way: 32,
        per_network: 8,
        deadline: Duration::from_secs(3),
        // Together some 20 MB at most.
        confirmed: 16_384,
        others: 32_768,
    };
}

/// Counts look-ups by how they ended.
#[derive(Clone, Debug)]
struct Endings {
    confirmed: Counter,
    refuted: Counter,
    failed: Counter,
}

impl Names {
    /// Starts the background work on the current tokio runtime. It asks `servers`, or those of
    /// `/etc/resolv.conf` as it is now if there are none.
    ///
    /// # Errors
    /// No resolver can be made of these servers.
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
        let endings = Endings {
            confirmed: counter("confirmed"),
            refuted: counter("refuted"),
            failed: counter("failed"),
        };
        let dropped = counter("dropped");
        tokio::spawn(work(tickets, limits.under_way, resolver, Arc::clone(&cache), endings));
        Ok(Self { cache, queue, dropped })
    }

    /// Whether `address` has a confirmed name that ends in one of `suffixes`, which are a
    /// crawler's of the catalogue: each with its leading dot, in any case of letters.
    ///
    /// From memory only. [`Testimony::NotYet`] where nothing was looked up so far or that failed;
    /// a look-up is queued then, after a failure once a minute. [`Testimony::Nothing`] without
    /// suffixes and for addresses that are not of the public internet: those have no public name,
    /// and where they are seen, it is more likely that a proxy in front is not trusted than that
    /// everybody lies.
    pub(super) fn answer(&self, address: IpAddr, suffixes: &[String]) -> Testimony {
        let address = address.to_canonical();
        if suffixes.is_empty() || !is_public(address) {
            return Testimony::Nothing;
        }
        let known = self.cache.answer(address, suffixes, Instant::now());
        if known.is_none_or(|known| known.is_due) && !self.queue.ask(address, suffixes) {
            self.dropped.inc();
        }
        known.map_or(Testimony::NotYet, |known| known.answer)
    }
}

/// Takes what waits, as long as somebody may ask for it.
async fn work(
    mut tickets: mpsc::Receiver<Ticket>,
    most: usize,
    resolver: Resolver,
    cache: Arc<Cache>,
    endings: Endings,
) {
    let mut under_way = JoinSet::new();
    loop {
        tokio::select! {
            ticket = tickets.recv(), if under_way.len() < most => {
                let Some(ticket) = ticket else { break };
                let (resolver, cache) = (resolver.clone(), Arc::clone(&cache));
                let endings = endings.clone();
                under_way.spawn(async move {
                    let found = resolver.look_up(ticket.address(), ticket.suffixes()).await;
                    endings.count(&found);
                    // Before the ticket is gone, or the address would be queued once more.
                    cache.insert(ticket.address(), found, ticket.suffixes(), Instant::now());
                });
            }
            ended = under_way.join_next(), if !under_way.is_empty() => {
                if let Some(Err(error)) = ended {
                    tracing::error!(%error, "a reverse-DNS look-up ended early");
                }
            }
        }
    }
}

impl Endings {
    fn count(&self, found: &Found) {
        let counter = if !found.names.is_empty() {
            &self.confirmed
        } else if found.complete {
            &self.refuted
        } else {
            &self.failed
        };
        counter.inc();
    }
}

/// Whether the public DNS can have a name for an address: it is not of a private network, this
/// machine, a link, a group, a translator (RFC 6052) or a range held back (RFC 6890). The ranges of
/// documentation are let through; nobody has them.
fn is_public(address: IpAddr) -> bool {
    let is_documentation = match address {
        IpAddr::V4(v4) => v4.is_documentation(),
        IpAddr::V6(v6) => matches!(v6.segments(), [0x2001, 0xdb8, ..]),
    };
    is_documentation || ranges::is_public(address)
}
