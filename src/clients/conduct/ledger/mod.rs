//! The ledger of robots.txt fetches: crawler, edition, network and time of each.
//!
//! The ledger is in memory and bounded. The caller stores the rows that [`Ledger::note`] returns,
//! so they survive a restart. A fetch counts for the crawler that its User-Agent names, unless
//! evidence contradicts the claim. A client's own fetches are those of its network; for a confirmed
//! client, also confirmed ones of other networks. Of each network, the ledger keeps the last fetch.
//! If it was of another edition than the one before, the earlier one stays as that of a former
//! network, because another client may have the copy.
//!
//! The nodes of a fleet tell each other the rows that change. Of two rows for one network, the later
//! one counts, and the earlier one stays as that of a former network. So it doesn't matter when and
//! how often they come.
//!
//! Names that only User-Agents declare have their own book, so they can't evict known crawlers.
//! That book is never stored.

use std::{
    iter,
    sync::atomic::{AtomicI64, Ordering},
};

use jiff::Timestamp;
use parking_lot::RwLock;

use crate::rules::{
    crawlers::{Crawler, Name, Outcome},
    enforce::{KnownEditions, Site, group_names},
};

use super::key::Network;

use self::book::{Book, Entry, Latest};
pub use self::fetch::{Fetches, Reader, Reading};

mod book; // the fetches of many crawlers, bounded
mod fetch; // fetches as values
#[cfg(test)]
mod tests;

/// The most pairs of crawler and network. Beyond it, the ledger forgets the quarter with the oldest
/// fetches. For a forgotten crawler, all editions of the window count.
const MAX_NAMED: usize = 100_000;
/// The most pairs of a declared name and a network.
const MAX_DECLARED: usize = 4_096;

/// The fetches seen so far.
#[derive(Debug)]
pub struct Ledger {
    named: RwLock<Book>,
    declared: RwLock<Book>,
    /// The time until which the fetches at all other nodes are known, in milliseconds: the greatest
    /// number without a fleet, the least one before the first news.
    heard_until: AtomicI64,
    /// The calls of [`Self::readings`].
    #[cfg(test)]
    pub(crate) look_ups: std::sync::atomic::AtomicUsize,
}

/// The fetches that count for one client at one site.
#[derive(Clone, Debug)]
pub struct Readings {
    outcome: Outcome,
    /// The last fetch of the client's own network.
    own: Option<Reading>,
    /// The last fetch of each edition, by any network.
    latest: Vec<Latest>,
    /// The time until which fetches were forgotten, because there were too many.
    forgotten: i64,
    /// The time until which fetches at other nodes are known.
    heard_until: i64,
    /// Whether nodes tell each other of fetches under this name.
    is_told: bool,
    /// Whether other clients under this name are the same crawler, unless evidence tells them apart. The
    /// clients of a program are not, and a crawler is not its impostor.
    is_shared: bool,
}

impl Default for Ledger {
    fn default() -> Self {
        let book = |max| RwLock::new(Book::new(max));
        Self {
            named: book(MAX_NAMED),
            declared: book(MAX_DECLARED),
            heard_until: AtomicI64::new(i64::MAX),
            #[cfg(test)]
            look_ups: Default::default(),
        }
    }
}

impl Ledger {
    /// A ledger with the fetches from before a restart.
    pub fn of(fetches: impl IntoIterator<Item = Fetches>) -> Self {
        let ledger = Self::default();
        let mut book = ledger.named.write();
        for fetches in fetches {
            let entry = Entry::of(&fetches);
            book.put(&fetches.site, &fetches.product_token, fetches.network, entry);
        }
        drop(book);
        ledger
    }

    /// All fetches that the caller has to store.
    pub fn all(&self) -> Vec<Fetches> {
        self.named.read().all()
    }

    /// The time until which fetches of stored names were forgotten, if any was.
    pub fn forgotten(&self) -> Option<Timestamp> {
        let forgotten = self.named.read().forgotten;
        Timestamp::from_millisecond(forgotten).ok().filter(|_| forgotten > i64::MIN)
    }

    /// Notes a fetch of a site's robots.txt. Returns rows to store: all fetches of this client, and
    /// the fetch that this one replaced, if that was of another edition. None for a declared name.
    pub fn note(&self, site: &Site, name: Name<'_>, reader: Reader, at: Timestamp) -> Vec<Fetches> {
        let edition = site.edition().id();
        let mut book = self.book(name).write();
        let known = book.entry(&site.name, name.as_str(), reader.network);
        let at = at.as_millisecond();
        let mut entry =
            known.map_or_else(|| Entry::new(edition, at), |known| known.again(edition, at));
        entry.outcome = reader.outcome;
        let is_kept = |known: &Entry| is_worth_keeping(Some(site), known, &entry);
        let replaced = known.filter(is_kept).map(|known| {
            let network = known.former();
            let before = book.entry(&site.name, name.as_str(), network);
            let alone = known.alone();
            let former = before.map_or(alone, |before| before.joined(alone));
            book.put(&site.name, name.as_str(), network, former);
            (network, former)
        });
        book.put(&site.name, name.as_str(), reader.network, entry);
        drop(book);
        let is_stored = !matches!(name, Name::Declared(_));
        let rows = replaced.into_iter().chain([(reader.network, entry)]).filter(|_| is_stored);
        rows.map(|(network, entry)| entry.fetches(&site.name, name.as_str(), network)).collect()
    }

    /// From now on, fetches at other nodes are unknown until [`Self::heard_until`] says otherwise.
    pub(super) fn expect_others(&self) {
        let (alone, unheard) = (i64::MAX, i64::MIN);
        let order = Ordering::Relaxed;
        // Already expected: the horizon stays.
        let _ = self.heard_until.compare_exchange(alone, unheard, order, order);
    }

    /// Takes in the row of another node, in any order and any number of times. `site` is the site
    /// here, if the policy has it.
    pub(super) fn learn(&self, site: Option<&Site>, fetches: &Fetches, now: Timestamp) {
        let Fetches { site: site_name, product_token, network, .. } = fetches;
        let learned = Entry::of(fetches).by(now.as_millisecond());
        let mut book = self.named.write();
        let Some(known) = book.entry(site_name, product_token, *network) else {
            return book.put(site_name, product_token, *network, learned);
        };
        let (older, newer) = known.in_order(learned);
        let is_former = matches!(network, Network::Former { .. });
        if !is_former && is_worth_keeping(site, &older, &newer) {
            let (network, alone) = (older.former(), older.alone());
            let before = book.entry(site_name, product_token, network);
            let former = before.map_or(alone, |before| before.in_order(alone).1);
            book.put(site_name, product_token, network, former);
        }
        book.put(site_name, product_token, *network, newer);
    }

    /// Notes that another node left out fetches until this time.
    pub(super) fn learn_forgotten(&self, until: Timestamp) {
        let mut book = self.named.write();
        book.forgotten = book.forgotten.max(until.as_millisecond());
    }

    /// Notes that the fetches at all other nodes are known up to this time. Until the first call,
    /// a node of a fleet knows of none. A node that fell silent may still serve clients: it holds
    /// the time back until it said goodbye, came back, or was silent for the longest window.
    pub fn heard_until(&self, horizon: Timestamp) {
        self.heard_until.store(horizon.as_millisecond(), Ordering::Relaxed);
    }

    /// The fetches that count for a client with this name. A crawler family fetches the file under
    /// one of its names. So fetches under every name that the crawler obeys in robots.txt count.
    pub fn readings(&self, site: &Site, name: Name<'_>, reader: Reader) -> Readings {
        #[cfg(test)]
        self.look_ups.fetch_add(1, Ordering::Relaxed);
        let (mut own, mut latest, mut forgotten) = (None, Vec::new(), i64::MIN);
        // An unlisted name is in the named book while a group of the site names it.
        let declared = name.known().is_none().then_some(&self.declared);
        for book in iter::once(&self.named).chain(declared) {
            let book = book.read();
            forgotten = forgotten.max(book.forgotten);
            for fetches in group_names(name).filter_map(|name| book.fetches(&site.name, name)) {
                own = own.max(fetches.of(reader.network).map(Entry::reading));
                latest.extend_from_slice(&fetches.latest);
            }
        }
        let heard_until = self.heard_until.load(Ordering::Relaxed);
        let is_told = !matches!(name, Name::Declared(_));
        let is_program = name.known().is_some_and(Crawler::is_program);
        let is_shared = !is_program && reader.outcome != Outcome::Contradicted;
        let outcome = reader.outcome;
        Readings { outcome, own, latest, forgotten, heard_until, is_told, is_shared }
    }

    /// Moves fetches that lie ahead of `now` to `now`: the clock was set back.
    pub fn set_back(&self, now: Timestamp) {
        for book in [&self.named, &self.declared] {
            book.write().set_back(now.as_millisecond());
        }
        let (alone, now) = (i64::MAX, now.as_millisecond());
        let clamp = |heard: i64| (heard != alone && heard > now).then_some(now);
        let order = Ordering::Relaxed;
        // Without a fleet it stays what it is.
        let _ = self.heard_until.fetch_update(order, order, clamp);
    }

    fn book(&self, name: Name<'_>) -> &RwLock<Book> {
        if matches!(name, Name::Declared(_)) { &self.declared } else { &self.named }
    }
}

impl Readings {
    /// The editions that the client may know, from fetches after `start`: that of its own last
    /// fetch, and those of all later fetches under its name. So another client's fetch never
    /// shortens a crawler's window. In a fleet, also any edition since the time until which the
    /// fetches at other nodes are known.
    pub fn known_editions(&self, start: Timestamp) -> KnownEditions {
        let start = start.as_millisecond();
        let own = self.own().filter(|own| own.at > start && own.at > self.forgotten);
        let Some(own) = own else { return KnownEditions::Any };
        let later = self.latest.iter().filter(|latest| latest.at > own.at);
        let known = iter::once(own.edition).chain(later.map(|latest| latest.edition)).collect();
        if self.heard_until == i64::MAX {
            return KnownEditions::Of(known);
        }
        // Of names that clients invent, the nodes tell each other nothing.
        let horizon = if self.is_told { self.heard_until } else { self.heard_until.min(own.at) };
        match Timestamp::from_millisecond(horizon) {
            Ok(since) if horizon > start => KnownEditions::OrSince(known, since),
            _ => KnownEditions::Any,
        }
    }

    /// The last fetch that counts for the client: its own last one. Without one, the latest under
    /// its name, if that may be of the same crawler.
    pub fn last(&self) -> Option<Reading> {
        let others = self.latest.iter().filter(|_| self.is_shared);
        let others = others.filter_map(|latest| latest.reading(self.outcome));
        self.own().or_else(|| others.max())
    }

    /// The client's own last fetch: by its network, or, if the client is confirmed, a confirmed one
    /// by any network.
    fn own(&self) -> Option<Reading> {
        let is_confirmed = self.outcome == Outcome::Confirmed;
        let confirmed = self.latest.iter().filter(|_| is_confirmed);
        self.own.max(confirmed.filter_map(|latest| latest.reading(self.outcome)).max())
    }
}

/// Whether the earlier of two fetches by one network may still excuse other clients. Equivalent editions
/// excuse them equally, and the later fetch counts for longer. The later one may be of an edition that is
/// not in force here, if it was at another node.
fn is_worth_keeping(site: Option<&Site>, older: &Entry, newer: &Entry) -> bool {
    let is_current =
        |site: &Site| [older, newer].iter().all(|fetch| site.timeline.is_current(fetch.edition));
    let are_equivalent = || site.is_some_and(is_current);
    let was_confirmed = older.is_confirmed() && !newer.is_confirmed();
    was_confirmed || (older.edition != newer.edition && !are_equivalent())
}
