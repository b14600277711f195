//! The breaker of a site: if refusals exceed the limit, Beadle stops refusing.
//!
//! A mistake in the rules or in the origin's robots.txt can close a site to every search engine. So
//! the breaker counts the requests that pass and the refusals in a sliding window ([`Window`]). It
//! opens after at least [`policy::Breaker::min_requests`] requests if the share of refusals reaches
//! [`policy::Breaker::share`]. It opens at once before Beadle refuses a confirmed search engine. An
//! open breaker lets every request pass for [`policy::Breaker::pause`]; then the count starts
//! again.
//!
//! A stubborn crawler must not end all enforcement. So one network and one crawler count up to a
//! limit. Clients that the same rules refused long before do not count ([`Regulars`]). The same
//! search engine opens it once for the same rules; after that, Beadle spares this crawler alone.
//!
//! In a fleet, the counts of the other nodes are added as they come, and a breaker that opens at one
//! node opens at all.
//!
//! **Clocks.** The caller passes the time. A clock that is set back restarts the window or the
//! pause. A clock that leaps ahead ends it. In both cases a breaker stays open for one pause at
//! most, by the clock's new time.

use std::{
    collections::{HashMap, HashSet},
    fmt,
    hash::Hash,
    sync::Arc,
    time::Duration,
};

use jiff::{SignedDuration, Timestamp};

use crate::{
    base::escape,
    clients::conduct::{
        capacity::make_room,
        key::Network,
        observations::{BreakerCount, Opening, RefusedCount},
    },
    rules::{enforce::Edition, policy},
};

pub(super) use self::window::{Refusal, Refusals};
use self::window::{Window, signed};

#[cfg(test)]
mod tests;
mod window; // requests and refusals of the last minutes

/// The reason why a breaker opened. Its text is the text of the alarm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// The share of refusals in the window reached the limit.
    Share { refusals: Refusals, window: Duration },
    /// Beadle would have refused a confirmed search engine.
    SearchEngine { product_token: String },
}

impl Cause {
    pub(super) const fn as_str(&self) -> &'static str {
        match self {
            Self::Share { .. } => "share",
            Self::SearchEngine { .. } => "search-engine",
        }
    }

    pub(super) fn told(&self, site: &str, at: Timestamp) -> Opening {
        let search_engine = match self {
            Self::Share { .. } => None,
            Self::SearchEngine { product_token } => Some(product_token.clone()),
        };
        Opening { site: site.to_owned(), at, search_engine }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Share { refusals, window } => {
                let Refusals { refusals, requests, networks, crawlers, most } = refusals;
                let seconds = window.as_secs();
                write!(
                    f,
                    "{refusals} of {requests} requests in {seconds} s would be refused, of \
                     {crawlers} crawlers from {networks} networks"
                )?;
                let names: Vec<_> = most.iter().map(escape::shown).collect();
                if names.is_empty() { Ok(()) } else { write!(f, ", most of {}", names.join(", ")) }
            }
            Self::SearchEngine { product_token } => {
                write!(f, "{product_token}, a confirmed search engine, would be refused")
            }
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Breaker {
    opened_at: Option<Timestamp>,
    /// The last time at which it opened, here or at another node.
    last_opened: Option<Timestamp>,
    window: Window,
    regulars: Regulars,
}

impl Breaker {
    /// Whether the breaker is open. Closes it after its pause.
    pub(super) fn is_open(&mut self, rules: &policy::Breaker, now: Timestamp) -> bool {
        let Some(opened_at) = self.opened_at else { return false };
        if now < opened_at {
            (self.opened_at, self.last_opened) = (Some(now), Some(now));
        } else if now.duration_since(opened_at).unsigned_abs() >= rules.pause {
            self.opened_at = None;
        }
        self.opened_at.is_some()
    }

    /// Counts a request that passes. An open breaker counts nothing. Returns whether it counted.
    pub(super) fn pass(&mut self, rules: &policy::Breaker, now: Timestamp) -> bool {
        let is_open = self.is_open(rules, now);
        if !is_open {
            self.window.pass(rules.window, now);
        }
        !is_open
    }

    /// Counts a request that Beadle would refuse by this edition. An open breaker counts nothing.
    #[cfg(test)]
    fn refuse(
        &mut self,
        rules: &policy::Breaker,
        edition: &Arc<Edition>,
        refusal: Refusal<'_>,
        now: Timestamp,
    ) -> Option<Cause> {
        if !self.heeds(rules, edition, refusal, now) {
            return None;
        }
        self.count_refusal(rules, refusal, now)
    }

    /// Whether a refusal by this edition counts: the breaker is closed, and the client is no
    /// regular.
    pub(super) fn heeds(
        &mut self,
        rules: &policy::Breaker,
        edition: &Arc<Edition>,
        refusal: Refusal<'_>,
        now: Timestamp,
    ) -> bool {
        !self.is_open(rules, now) && !self.regulars.note(edition, refusal, now)
    }

    /// Counts a refusal that [`Self::heeds`] found to count.
    pub(super) fn count_refusal(
        &mut self,
        rules: &policy::Breaker,
        refusal: Refusal<'_>,
        now: Timestamp,
    ) -> Option<Cause> {
        self.window.refuse(refusal, rules.window, now);
        let refusals = self.window.alarming(rules)?;
        self.regulars.forget_recent(now);
        Some(self.open(Cause::Share { refusals, window: rules.window }, now))
    }

    /// Opens the breaker before Beadle refuses a confirmed search engine. `None` if it is open
    /// already, or if it opened for this crawler and these rules before.
    pub(super) fn spare(
        &mut self,
        rules: &policy::Breaker,
        edition: &Arc<Edition>,
        product_token: &str,
        now: Timestamp,
    ) -> Option<Cause> {
        if self.is_open(rules, now) || self.regulars.note_search_engine(edition, product_token) {
            return None;
        }
        Some(self.open(Cause::SearchEngine { product_token: product_token.to_owned() }, now))
    }

    /// Counts requests at another node. They count for the next refusal here: the node where they
    /// open the breaker tells of that itself.
    pub(super) fn learn_count(
        &mut self,
        rules: &policy::Breaker,
        edition: &Arc<Edition>,
        count: &BreakerCount,
        now: Timestamp,
    ) {
        let until = |opened: Timestamp| opened.saturating_add(signed(rules.pause));
        // Unless the clock was set back since.
        let opened = self.last_opened.filter(|opened| *opened <= now);
        let before = opened.map(|opened| until(opened).unwrap_or(Timestamp::MAX));
        // What came before or while the breaker was open does not count.
        if self.is_open(rules, now) || before.is_some_and(|before| count.at < before) {
            return;
        }
        let at = count.at.min(now);
        let is_new = |one: &&RefusedCount| !self.regulars.note(edition, Refusal::told(one), at);
        let refused: Vec<RefusedCount> = count.refused.iter().filter(is_new).cloned().collect();
        self.window.take_in((count.passed, &refused), at, (rules.window, now));
    }

    /// Opens the breaker because it opened at another node at `at`. Returns whether it was closed.
    pub(super) fn learn_opening(
        &mut self,
        rules: &policy::Breaker,
        edition: &Arc<Edition>,
        (at, search_engine): (Timestamp, Option<&str>),
        now: Timestamp,
    ) -> bool {
        let at = at.min(now);
        let is_over = now.duration_since(at).unsigned_abs() >= rules.pause;
        if is_over || self.last_opened.is_some_and(|opened| opened >= at) {
            return false;
        }
        match search_engine {
            Some(product_token) => {
                self.regulars.note_search_engine(edition, product_token);
            }
            None => self.regulars.forget_recent(now),
        }
        let was_open = self.is_open(rules, now);
        self.window = Window::default();
        (self.opened_at, self.last_opened) = (Some(at), Some(at));
        !was_open
    }

    /// The networks and crawlers that it keeps.
    #[cfg(test)]
    fn memory(&self) -> [usize; 3] {
        let [networks, crawlers] = self.window.clients();
        [networks, crawlers, self.regulars.networks()]
    }

    fn open(&mut self, cause: Cause, now: Timestamp) -> Cause {
        self.window = Window::default();
        (self.opened_at, self.last_opened) = (Some(now), Some(now));
        cause
    }
}

/// The time after which a refused client is a regular.
pub(super) const LONG: SignedDuration = SignedDuration::from_hours(1);
/// The most networks that are known. Beyond it, those without a recent refusal go first.
const MOST_NETWORKS: usize = 4_096;

/// Clients that the present rules refused long before. They are no sign of a new mistake.
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
