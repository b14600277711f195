//! Clients that the same rules refused long before. They are no sign of a new mistake.

use std::{
    collections::{HashMap, HashSet},
    hash::Hash,
    sync::Arc,
};

use jiff::{SignedDuration, Timestamp};

use crate::{
    clients::conduct::{capacity::make_room, network::Network},
    rules::enforce::Edition,
};

use super::window::Refusal;

/// The time after which a refused client is a regular.
pub(super) const LONG: SignedDuration = SignedDuration::from_hours(1);
/// The most networks that are known. Beyond it, those without a recent refusal go first.
const MOST_NETWORKS: usize = 4_096;

/// The refusals under the present rules.
#[derive(Debug, Default)]
pub(super) struct Regulars {
    /// The rules. Others start again.
    rules: Option<Arc<Edition>>,
    networks: HashMap<Network, Span>,
    /// Crawlers of the catalogue or the policy. Clients can invent any other name.
    crawlers: HashMap<String, Span>,
    /// The confirmed search engines that these rules would have refused.
    search_engines: HashSet<String>,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    first: Timestamp,
    last: Timestamp,
}

impl Regulars {
    /// Notes a refusal by these rules. Returns whether they refused its network or its crawler long
    /// before.
    pub(super) fn note(
        &mut self,
        rules: &Arc<Edition>,
        Refusal { network, name, is_declared }: Refusal<'_>,
        now: Timestamp,
    ) -> bool {
        self.follow(rules);
        let is_recent = |span: &Span| now.duration_since(span.last) < LONG;
        make_room(&mut self.networks, &network, MOST_NETWORKS, is_recent);
        let is_known_network = note(&mut self.networks, network, now);
        let listed = name.filter(|_| !is_declared);
        let is_known_crawler =
            listed.is_some_and(|name| note(&mut self.crawlers, name.to_owned(), now));
        is_known_network || is_known_crawler
    }

    /// Notes that these rules would refuse a confirmed search engine. Returns whether they would
    /// have before.
    pub(super) fn note_search_engine(&mut self, rules: &Arc<Edition>, product_token: &str) -> bool {
        self.follow(rules);
        !self.search_engines.insert(product_token.to_owned())
    }

    /// Forgets the clients that are no regulars yet: a breaker has opened.
    pub(super) fn forget_recent(&mut self, now: Timestamp) {
        self.networks.retain(|_, span| span.is_long(now));
        self.crawlers.retain(|_, span| span.is_long(now));
    }

    #[cfg(test)]
    pub(super) fn networks(&self) -> usize {
        self.networks.len()
    }

    fn follow(&mut self, rules: &Arc<Edition>) {
        if self.rules.as_ref().is_some_and(|known| Arc::ptr_eq(known, rules)) {
            return;
        }
        if !self.rules.as_ref().is_some_and(|known| known.is_equivalent(rules)) {
            *self = Self::default();
        }
        self.rules = Some(Arc::clone(rules));
    }
}

impl Span {
    fn is_long(self, now: Timestamp) -> bool {
        now.duration_since(self.first) >= LONG
    }
}

fn note<K: Eq + Hash>(spans: &mut HashMap<K, Span>, key: K, now: Timestamp) -> bool {
    let span = spans.entry(key).or_insert(Span { first: now, last: now });
    // The clock may have been set back.
    *span = Span { first: span.first.min(now), last: now };
    span.is_long(now)
}
