//! The ledger of robots.txt fetches: crawler, edition, network and time of each.
//!
//! The ledger is in memory and bounded. The caller stores the rows that [`Ledger::note`] returns,
//! so they survive a restart. A fetch counts for the crawler that its User-Agent names, unless
//! evidence contradicts the claim. For a confirmed crawler, only confirmed fetches and fetches of
//! its own network count. Names that only User-Agents declare have their own book, so they can't
//! evict known crawlers. That book is never stored.

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

    /// Notes a fetch of a site's robots.txt. Returns all fetches of this client as a row to store;
    /// `None` for a declared name.
    pub fn note(
        &self,
        site: &Site,
        name: Name<'_>,
        reader: Reader,
        at: Timestamp,
    ) -> Option<Fetches> {
        let edition = site.edition().id();
        let mut book = self.book(name).write();
        let known = book.entry(&site.name, name.as_str(), reader.network);
        let at = at.as_millisecond();
        let entry = known.map_or_else(|| Entry::new(edition, at), |known| known.again(edition, at));
        let entry = entry.with_outcome(reader.outcome);
        book.put(&site.name, name.as_str(), reader.network, entry);
        drop(book);
        let is_stored = !matches!(name, Name::Declared(_));
        is_stored.then(|| entry.fetches(&site.name, name.as_str(), reader.network))
    }

    /// The fetches that count for a client with this name. A crawler family fetches the file under
    /// one of its names. So fetches under every name that the crawler obeys in robots.txt count.
    pub fn readings(&self, site: &Site, name: Name<'_>, reader: Reader) -> Readings {
        #[cfg(test)]
        self.look_ups.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let (mut own, mut latest) = (None, Vec::new());
        for book in self.books(name) {
            let book = book.read();
            for fetches in names(name).filter_map(|name| book.fetches(&site.name, name)) {
                own = own.max(fetches.of(reader.network).map(Entry::reading));
                latest.extend_from_slice(fetches.latest());
            }
        }
        Readings { outcome: reader.outcome, own, latest }
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
    /// The editions that the client may know, from fetches after `start`: the last one of its own
    /// network, and all later ones of other networks under its name. Without a fetch of its own
    /// network, other fetches count only if they and the client are confirmed. So another client's
    /// fetch never shortens a crawler's window.
    pub fn known_editions(&self, start: Timestamp) -> KnownEditions {
        let start = start.as_millisecond();
        let own = self.own.filter(|own| own.at > start);
        let has_confirmed = self.latest.iter().any(|latest| latest.confirmed_at > start);
        if own.is_none() && !(has_confirmed && self.outcome == Outcome::Confirmed) {
            return KnownEditions::Any;
        }
        let since = own.map_or(start, |own| own.at);
        let later = self.latest.iter().filter(|latest| latest.at > since);
        let own = own.map(|own| own.edition);
        KnownEditions::Of(own.into_iter().chain(later.map(|latest| latest.edition)).collect())
    }

    /// The last fetch that counts for the client: the last one of its own network. Without one, the
    /// latest under its name; for a confirmed crawler, the latest confirmed one.
    pub fn last(&self) -> Option<Reading> {
        let others = self.latest.iter().filter_map(|latest| latest.reading(self.outcome));
        self.own.or_else(|| others.max())
    }
}

/// The names under which a crawler may fetch the file.
fn names(name: Name<'_>) -> impl Iterator<Item = &str> {
    let family = name.known().into_iter().flat_map(|crawler| crawler.groups());
    let alone = name.known().is_none().then(|| name.as_str());
    family.map(|token| token.as_str()).chain(alone)
}
