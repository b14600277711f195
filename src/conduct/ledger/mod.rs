//! The ledger of robots.txt fetches: crawler, edition, network and time of each.
//!
//! The ledger is in memory and bounded. The caller stores the rows that [`Ledger::note`] returns,
//! so they survive a restart. A fetch counts for the crawler that its User-Agent names, unless
//! evidence contradicts the claim. A client's own fetches are those of its network; for a confirmed
//! client, also confirmed ones of other networks. Of each network, the ledger keeps the last fetch.
//! If it was of another edition than the one before, the earlier one stays as that of a former
//! network, because another client may have the copy.
//!
//! Names that only User-Agents declare have their own book, so they can't evict known crawlers.
//! That book is never stored.

use std::iter;

use jiff::Timestamp;
use parking_lot::RwLock;

use crate::{
    crawlers::{Name, Outcome},
    enforce::{KnownEditions, Site},
};

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
    /// The fetches of crawlers that the catalogue or a site names.
    named: RwLock<Book>,
    /// The fetches under names that only User-Agents declare.
    declared: RwLock<Book>,
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
}

impl Default for Ledger {
    fn default() -> Self {
        let book = |max| RwLock::new(Book::new(max));
        Self {
            named: book(MAX_NAMED),
            declared: book(MAX_DECLARED),
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

    /// Notes a fetch of a site's robots.txt. Returns rows to store: all fetches of this client, and
    /// the fetch that this one replaced, if that was of another edition. None for a declared name.
    pub fn note(&self, site: &Site, name: Name<'_>, reader: Reader, at: Timestamp) -> Vec<Fetches> {
        let edition = site.edition().id();
        let mut book = self.book(name).write();
        let known = book.entry(&site.name, name.as_str(), reader.network);
        let at = at.as_millisecond();
        let entry = known.map_or_else(|| Entry::new(edition, at), |known| known.again(edition, at));
        let entry = entry.with_outcome(reader.outcome);
        let replaced = known.filter(|known| is_worth_keeping(site, known, &entry)).map(|known| {
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

    /// The fetches that count for a client with this name. A crawler family fetches the file under
    /// one of its names. So fetches under every name that the crawler obeys in robots.txt count.
    pub fn readings(&self, site: &Site, name: Name<'_>, reader: Reader) -> Readings {
        #[cfg(test)]
        self.look_ups.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let (mut own, mut latest, mut forgotten) = (None, Vec::new(), i64::MIN);
        for book in self.books(name) {
            let book = book.read();
            forgotten = forgotten.max(book.forgotten());
            for fetches in names(name).filter_map(|name| book.fetches(&site.name, name)) {
                own = own.max(fetches.of(reader.network).map(Entry::reading));
                latest.extend_from_slice(fetches.latest());
            }
        }
        Readings { outcome: reader.outcome, own, latest, forgotten }
    }

    /// Moves fetches that lie ahead of `now` to `now`: the clock was set back.
    pub fn set_back(&self, now: Timestamp) {
        for book in [&self.named, &self.declared] {
            book.write().set_back(now.as_millisecond());
        }
    }

    /// The books that may have this name. An unlisted name is in the named book while a group of
    /// the site names it.
    fn books(&self, name: Name<'_>) -> impl Iterator<Item = &RwLock<Book>> {
        let declared = name.known().is_none().then_some(&self.declared);
        iter::once(&self.named).chain(declared)
    }

    fn book(&self, name: Name<'_>) -> &RwLock<Book> {
        if matches!(name, Name::Declared(_)) { &self.declared } else { &self.named }
    }
}

impl Readings {
    /// The editions that the client may know, from fetches after `start`: that of its own last
    /// fetch, and those of all later fetches under its name. So another client's fetch never
    /// shortens a crawler's window.
    pub fn known_editions(&self, start: Timestamp) -> KnownEditions {
        let start = start.as_millisecond();
        let own = self.own().filter(|own| own.at > start && own.at > self.forgotten);
        let Some(own) = own else { return KnownEditions::Any };
        let later = self.latest.iter().filter(|latest| latest.at > own.at);
        KnownEditions::Of(
            iter::once(own.edition).chain(later.map(|latest| latest.edition)).collect(),
        )
    }

    /// The last fetch that counts for the client: its own last one. Without one, the latest under
    /// its name.
    pub fn last(&self) -> Option<Reading> {
        let others = self.latest.iter().filter_map(|latest| latest.reading(self.outcome));
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

/// Whether the fetch that another one of the same network replaces may still excuse other clients.
/// Equivalent editions excuse them equally, and the later fetch counts for longer.
fn is_worth_keeping(site: &Site, replaced: &Entry, by: &Entry) -> bool {
    let is_equivalent =
        || site.timeline.may_know_current(&KnownEditions::Of(vec![replaced.edition()]));
    let was_confirmed = replaced.is_confirmed() && !by.is_confirmed();
    was_confirmed || (replaced.edition() != by.edition() && !is_equivalent())
}

/// The names under which a crawler may fetch the file.
fn names(name: Name<'_>) -> impl Iterator<Item = &str> {
    let family = name.known().into_iter().flat_map(|crawler| crawler.groups());
    let alone = name.known().is_none().then(|| name.as_str());
    family.map(|token| token.as_str()).chain(alone)
}
