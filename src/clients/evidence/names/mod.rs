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
//! * Networks take turns, so a network with many look-ups delays no other. If the queue is full, the
//!   network with the most waiting look-ups loses one.
//! * The cache evicts addresses with and without a confirmed name separately. Only operators of
//!   crawlers can add the former, so a flood of other addresses evicts none of them.
//!
//! A look-up without a name counts only while the name servers resolve names of the operator
//! ([`Proofs`]). If the zone of an address fails while they do, the client withholds its name
//! ([`Testimony::Withheld`]). A client can still keep its standing unknown if the operator has no
//! list: its name server can fail every look-up, or it can use a new address for each request.
//! Neither confirms a claim.
//!
//! May use: crawlers, diagnostic, escape, fetch, metrics. Must not know: the files beside this
//! folder.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::task::JoinSet;

use crate::{
    base::{
        diagnostic::Diagnostic,
        metrics::{Counter, Metrics},
    },
    rules::crawlers::{Evidence, Testimony, ranges},
};

mod cache; // results until they expire
mod proofs; // whether the name servers resolve the names of an operator
mod queue; // addresses that wait for a look-up
mod resolver; // one look-up
#[cfg(test)]
#[path = "../../../../tests/support/name_server.rs"]
mod test_server;
#[cfg(test)]
mod tests;

pub(super) use self::resolver::Resolver;
use self::{
    cache::{Cache, End, Known, LookUp},
    proofs::Proofs,
    queue::{Queue, Ticket, Tickets},
};

/// The names of addresses, and the background task that looks them up. The task ends on drop.
#[derive(Debug)]
pub(super) struct Names {
    cache: Arc<Cache>,
    proofs: Arc<Proofs>,
    queue: Queue,
    dropped: Counter,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    waiting: usize,
    at_once: usize,
    /// The most waiting or running look-ups for one network.
    per_network: usize,
    deadline: Duration,
    confirmed: usize,
    others: usize,
}

impl Limits {
    pub(super) const STANDARD: Self = Self {
        waiting: 1_024,
        // Most of them wait for a dead name server.
        at_once: 128,
        per_network: 8,
        deadline: Duration::from_secs(3),
        // Together at most about 20 MB.
        confirmed: 16_384,
        others: 32_768,
    };
}

#[derive(Clone)]
struct Worker {
    resolver: Resolver,
    cache: Arc<Cache>,
    proofs: Arc<Proofs>,
    /// The suffixes of all crawlers: one look-up answers for each of them.
    suffixes: Arc<[String]>,
    /// The counters of look-ups, by outcome.
    counters: [(&'static str, Counter); 4],
}

impl Names {
    /// Starts the background task on the current tokio runtime. It queries `servers`, or without
    /// any the servers of `/etc/resolv.conf`, read once. `suffixes` are those of all crawlers.
    pub(super) fn start(
        limits: Limits,
        servers: &[SocketAddr],
        suffixes: impl IntoIterator<Item = String>,
        metrics: &Metrics,
    ) -> Result<Self, Diagnostic> {
        let resolver = Resolver::new(servers, limits.deadline)?;
        let cache = Arc::new(Cache::new(limits.confirmed, limits.others));
        let (queue, tickets) = Queue::new(limits.waiting, limits.per_network);
        let counter = |outcome| metrics.evidence_lookups(Evidence::ReverseDns.as_str(), outcome);
        let counters =
            ["confirmed", "refuted", "unproven", "failed"].map(|one| (one, counter(one)));
        let dropped = counter("dropped");
        let proofs = Arc::<Proofs>::default();
        let (own_cache, own_proofs) = (Arc::clone(&cache), Arc::clone(&proofs));
        let suffixes = suffixes.into_iter().collect();
        let worker = Worker { resolver, cache: own_cache, proofs: own_proofs, suffixes, counters };
        tokio::spawn(work(tickets, limits.at_once, worker));
        Ok(Self { cache, proofs, queue, dropped })
    }

    /// Whether `address` has a confirmed name under one of `suffixes`. These are the suffixes of a
    /// crawler, each with its leading dot, in any case.
    ///
    /// Reads only memory. [`Testimony::NotYet`] means that there is no result so far, a failed one, or
    /// no proof that the name servers know names of the crawler; then this queues a look-up, after a
    /// failure once a minute. [`Testimony::Nothing`] means
    /// that there are no suffixes, or that the address is not public. A private address most likely
    /// belongs to a proxy in front that is missing in `trusted_proxies`.
    pub(super) fn answer(&self, address: IpAddr, suffixes: &[String]) -> Testimony {
        let address = address.to_canonical();
        let known = self.result(address, suffixes);
        if known.is_none_or(|known| known.is_due) && !self.queue.enqueue(address, suffixes) {
            self.dropped.inc();
        }
        known.map_or(Testimony::NotYet, |known| known.answer)
    }

    /// The answer by the results so far ([`Self::answer`]). Queues nothing.
    pub(super) fn known(&self, address: IpAddr, suffixes: &[String]) -> Testimony {
        let known = self.result(address.to_canonical(), suffixes);
        known.map_or(Testimony::NotYet, |known| known.answer)
    }

    fn result(&self, address: IpAddr, suffixes: &[String]) -> Option<Known> {
        if suffixes.is_empty() || !is_public(address) {
            return Some(Known { answer: Testimony::Nothing, is_due: false });
        }
        self.cache.answer(address, suffixes, &self.proofs, Instant::now())
    }
}

async fn work(tickets: Tickets, at_once: usize, worker: Worker) {
    let mut under_way = JoinSet::new();
    loop {
        tokio::select! {
            ticket = tickets.receive(), if under_way.len() < at_once => {
                let Some(ticket) = ticket else { break };
                let worker = worker.clone();
                under_way.spawn(async move { worker.look_up(&ticket).await });
            }
            ended = under_way.join_next(), if !under_way.is_empty() => {
                if let Some(Err(error)) = ended {
                    tracing::error!(%error, "reverse DNS look-up aborted");
                }
            }
        }
    }
}

impl Worker {
    async fn look_up(&self, ticket: &Ticket) {
        let start = Instant::now();
        let (address, wanted) = (ticket.address, &*ticket.wanted);
        let mut look_up = self.resolver.look_up(address, &self.suffixes).await;
        if look_up.names.is_empty() && look_up.end != End::Failed {
            self.prove(wanted, &look_up.unresolved).await;
            let suffix = wanted.first().map_or("", String::as_str);
            if look_up.end == End::Withheld
                && !self.resolver.has_answered_since(start, suffix).await
            {
                // The name servers fail, not the zone of the address.
                look_up.end = End::Failed;
            }
        }
        let now = Instant::now();
        for name in &look_up.names {
            self.proofs.note_name(name, &self.suffixes, now);
        }
        self.count(&look_up, self.proofs.hold(wanted, &look_up.unresolved, now));
        // Stored before the ticket drops, or the next request would queue the address again.
        self.cache.insert(address, look_up, now);
    }

    /// Probes the suffixes of a claim, until the name servers resolve one. Those of the `unresolved`
    /// names need their own proof.
    async fn prove(&self, suffixes: &[String], unresolved: &[String]) {
        for suffix in suffixes {
            if !self.proofs.begin_probe(suffix, suffixes, unresolved, Instant::now()) {
                continue;
            }
            let is_proven = self.resolver.resolves(suffix).await;
            if self.proofs.end_probe(suffix, is_proven, Instant::now()) {
                tracing::warn!(
                    suffix,
                    "the name servers do not resolve the domain of a crawler; reverse DNS does not \
                     contradict its claims"
                );
            }
        }
    }

    fn count(&self, look_up: &LookUp, is_proven: bool) {
        let outcome = match look_up.end {
            _ if !look_up.names.is_empty() => "confirmed",
            End::Complete if is_proven => "refuted",
            End::Complete => "unproven",
            End::Withheld | End::Failed => "failed",
        };
        let counter = self.counters.iter().find(|(one, _)| *one == outcome);
        counter.into_iter().for_each(|(_, counter)| counter.inc());
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
