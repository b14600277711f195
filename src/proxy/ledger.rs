//! Who has read which robots.txt, from which network, and when.
//!
//! Kept in memory, bounded, and through the violations room in the database, so that it survives a
//! restart. A fetch counts for whom it claims to come from, unless that is proven wrong; for a
//! crawler that is proven to be itself, only proven fetches and those of its own network do. Names
//! that only clients make up are kept apart and in memory only, so that they can't crowd out the
//! others.

use std::{
    collections::BTreeMap,
    sync::{PoisonError, RwLock},
    time::Duration,
};

use jiff::Timestamp;

use crate::{
    crawlers::{Name, Outcome},
    enforce::{EditionId, KnownEditions, Site},
    violations::{Fetch, ReadState, RobotsRead, Text},
};

use super::network::Network;

/// How many pairs of crawler and network are kept; beyond, the quarter that fetched longest ago is
/// forgotten. Who is forgotten is judged by all editions of the window.
const MAX_NAMED: usize = 100_000;
/// The same for names that clients make up.
const MAX_DECLARED: usize = 4_096;
/// How many octets the names of crawlers and sites may take for each pair, on the average; there are
/// usually many pairs of one name. With these limits the ledger takes less than 32 MiB.
const MAX_TEXT: usize = 80;
/// How many networks of one crawler are kept at a site, so that one doesn't crowd out the others; and
/// how many editions that they may hold.
const MAX_NETWORKS: usize = 4_096;

/// The fetches seen so far.
#[derive(Debug)]
pub struct Ledger {
    /// Of crawlers that the catalogue or a site names.
    named: RwLock<Book>,
    /// Of names that only clients give themselves.
    declared: RwLock<Book>,
}

/// Who fetches, as far as it is known.
#[derive(Clone, Copy, Debug)]
pub struct Reader {
    /// From where.
    pub network: Network,
    /// Whether it is who it says.
    pub outcome: Outcome,
}

#[derive(Debug)]
struct Book {
    /// By [`key`]. One tree of all sites: a tree for each costs 700 octets, even for one crawler.
    crawlers: BTreeMap<Box<str>, Fetches>,
    /// The octets of all keys.
    text: usize,
    pairs: usize,
    max: usize,
}

/// The fetches of one crawler at one site.
#[derive(Debug)]
struct Fetches {
    /// By network, ascending.
    networks: Vec<(Network, Entry)>,
    /// When each edition that some network fetched last was fetched last.
    latest: Vec<Latest>,
}

/// The fetches from one network; times in milliseconds.
#[derive(Clone, Copy, Debug)]
struct Entry {
    edition: EditionId,
    first: i64,
    last: i64,
    count: u32,
    /// The usual time between two, in seconds; 0 before there were two.
    interval: u32,
    outcome: Outcome,
}

#[derive(Clone, Copy, Debug)]
struct Latest {
    edition: EditionId,
    at: i64,
    /// The same of proven fetches; the least number where there is none.
    confirmed_at: i64,
}

impl Default for Ledger {
    fn default() -> Self {
        let book = |max| RwLock::new(Book::new(max));
        Self { named: book(MAX_NAMED), declared: book(MAX_DECLARED) }
    }
}

impl Ledger {
    /// What was seen before a restart.
    pub fn remembering(fetches: Vec<Fetch>) -> Self {
        let ledger = Self::default();
        let mut book = write(&ledger.named);
        for fetch in fetches {
            let Some(edition) = EditionId::parse(&fetch.edition) else { continue };
            let entry = Entry {
                edition,
                first: fetch.first.as_millisecond(),
                last: fetch.last.as_millisecond(),
                count: u32::try_from(fetch.count).unwrap_or(u32::MAX),
                interval: fetch
                    .interval
                    .map_or(0, |gap| u32::try_from(gap.as_secs()).unwrap_or(u32::MAX)),
                outcome: Outcome::from_word(&fetch.standing).unwrap_or(Outcome::Unknown),
            };
            book.put(&fetch.site, &fetch.product_token, Network::parse(&fetch.network), entry);
        }
        drop(book);
        ledger
    }

    /// Notes that somebody fetched a site's robots.txt; returns the note where it is to be kept.
    /// `shown` is the network as it is written down.
    pub fn note(
        &self,
        site: &Site,
        name: Name<'_>,
        reader: Reader,
        shown: Text,
        at: Timestamp,
    ) -> Option<Fetch> {
        let edition = site.edition().id();
        let mut book = write(self.book(name));
        let known = book.entry(&site.name, name.as_str(), reader.network);
        let at = at.as_millisecond();
        let entry = known.map_or_else(|| Entry::new(edition, at), |known| known.again(edition, at));
        let entry = Entry { outcome: reader.outcome, ..entry };
        book.put(&site.name, name.as_str(), reader.network, entry);
        drop(book);
        let is_written = !matches!(name, Name::Declared(_));
        let time = |at| Timestamp::from_millisecond(at).unwrap_or(Timestamp::UNIX_EPOCH);
        is_written.then(|| Fetch {
            site: site.name.as_str().into(),
            product_token: name.as_str().into(),
            network: shown,
            standing: Text::word(reader.outcome.as_str()),
            edition: edition.to_string().into(),
            first: time(entry.first),
            last: time(entry.last),
            count: u64::from(entry.count),
            interval: (entry.interval > 0).then(|| Duration::from_secs(u64::from(entry.interval))),
        })
    }

    /// Which editions a crawler may be going by, of those that were fetched for it after `start`:
    /// what its own network fetched last, and whatever others fetched in its name later. If its own
    /// fetched nothing, only a crawler that is proven is known by what others of its networks
    /// fetched, proven as well: nobody else's fetch shall take a crawler's time to read away. A family
    /// fetches the file under one of its names, so those that it goes by in robots.txt count too.
    pub fn known_editions(
        &self,
        site: &Site,
        name: Name<'_>,
        reader: Reader,
        start: Timestamp,
    ) -> KnownEditions {
        let start = start.as_millisecond();
        let (mut own, mut is_proven): (Option<(i64, EditionId)>, bool) = (None, false);
        let mut others: Vec<(i64, EditionId)> = Vec::new();
        for book in self.books(name) {
            let book = read(book);
            for fetches in names(name).filter_map(|name| book.fetches(&site.name, name)) {
                if let Some(entry) = fetches.of(reader.network) {
                    own = own.max(Some((entry.last, entry.edition)));
                }
                is_proven |= fetches.latest.iter().any(|latest| latest.confirmed_at > start);
                others.extend(fetches.latest.iter().map(|latest| (latest.at, latest.edition)));
            }
        }
        let own = own.filter(|(at, _)| *at > start);
        if own.is_none() && !(is_proven && reader.outcome == Outcome::Confirmed) {
            return KnownEditions::Any;
        }
        let since = own.map_or(start, |(at, _)| at);
        let later = others.into_iter().filter(|(at, _)| *at > since);
        KnownEditions::Of(own.into_iter().chain(later).map(|(_, edition)| edition).collect())
    }

    /// What a crawler had read when it came for a page: what its own network fetched last; if that
    /// fetched nothing, the latest fetch in its name, of a proven crawler the latest proven one.
    pub fn read_by(&self, site: &Site, name: Option<Name<'_>>, reader: Reader) -> RobotsRead {
        let mut own: Option<(i64, EditionId)> = None;
        let mut others: Option<(i64, EditionId)> = None;
        for (name, book) in
            name.into_iter().flat_map(|name| self.books(name).map(move |b| (name, b)))
        {
            let book = read(book);
            for fetches in names(name).filter_map(|name| book.fetches(&site.name, name)) {
                let entry = fetches.of(reader.network);
                own = own.max(entry.map(|entry| (entry.last, entry.edition)));
                let latest = fetches.latest.iter();
                let latest = latest.map(|latest| (latest.time(reader), latest.edition));
                others = others.max(latest.filter(|(at, _)| *at > i64::MIN).max());
            }
        }
        let last = own.or(others);
        match last {
            None => RobotsRead { state: ReadState::Never, edition: None, at: None },
            Some((at, edition)) => RobotsRead {
                state: match edition == site.edition().id() {
                    true => ReadState::Current,
                    false => ReadState::Older,
                },
                edition: Some(edition.to_string().into()),
                at: Timestamp::from_millisecond(at).ok(),
            },
        }
    }

    /// Takes fetches that lie ahead of `now` for ones just now: the clock was put back.
    pub(super) fn set_back(&self, now: Timestamp) {
        let now = now.as_millisecond();
        for book in [&self.named, &self.declared] {
            let mut book = write(book);
            for fetches in book.crawlers.values_mut() {
                for (_, entry) in &mut fetches.networks {
                    entry.last = entry.last.min(now);
                    entry.first = entry.first.min(now);
                }
                fetches.count_latest();
            }
        }
    }

    /// The books that a client of this name may stand in: one that no catalogue knows stood among
    /// those that the site names as long as a group of it did.
    fn books(&self, name: Name<'_>) -> impl Iterator<Item = &RwLock<Book>> {
        let declared = name.known().is_none().then_some(&self.declared);
        std::iter::once(&self.named).chain(declared)
    }

    fn book(&self, name: Name<'_>) -> &RwLock<Book> {
        if matches!(name, Name::Declared(_)) { &self.declared } else { &self.named }
    }
}

impl Book {
    const fn new(max: usize) -> Self {
        Self { crawlers: BTreeMap::new(), text: 0, pairs: 0, max }
    }

    fn fetches(&self, site: &str, name: &str) -> Option<&Fetches> {
        self.crawlers.get(key(site, name).as_str())
    }

    fn entry(&self, site: &str, name: &str, network: Network) -> Option<Entry> {
        self.fetches(site, name)?.of(network).copied()
    }

    fn put(&mut self, site: &str, name: &str, network: Network, entry: Entry) {
        let key = key(site, name);
        if let Some(fetches) = self.crawlers.get_mut(key.as_str())
            && (self.pairs < self.max || !fetches.would_keep(network))
        {
            let before = fetches.networks.len();
            fetches.put(network, entry);
            self.pairs = self.pairs - before + fetches.networks.len();
            return;
        }
        while self.pairs >= self.max || self.text + key.len() > MAX_TEXT * self.max {
            self.forget_the_oldest();
        }
        // It may have been forgotten just now, or it is here still, with other networks.
        match self.crawlers.get_mut(key.as_str()) {
            Some(fetches) => {
                let before = fetches.networks.len();
                fetches.put(network, entry);
                self.pairs = self.pairs - before + fetches.networks.len();
            }
            None => {
                self.text += key.len();
                self.pairs += 1;
                self.crawlers.insert(key.into_boxed_str(), Fetches::new(network, entry));
            }
        }
    }

    /// Forgets a quarter of the pairs, and one at least.
    fn forget_the_oldest(&mut self) {
        let entries = self.crawlers.values().flat_map(|fetches| &fetches.networks);
        let mut times: Vec<i64> = entries.map(|(_, entry)| entry.last).collect();
        let quarter = times.len() / 4;
        if quarter < times.len() {
            let (_, &mut cutoff, _) = times.select_nth_unstable(quarter);
            self.crawlers.retain(|_, fetches| fetches.forget_until(cutoff));
        }
        self.text = self.crawlers.keys().map(|key| key.len()).sum();
        self.pairs = self.crawlers.values().map(|fetches| fetches.networks.len()).sum();
    }
}

impl Fetches {
    fn new(network: Network, entry: Entry) -> Self {
        Self { networks: vec![(network, entry)], latest: vec![Latest::of(&entry)] }
    }

    fn of(&self, network: Network) -> Option<&Entry> {
        let at = self.networks.binary_search_by_key(&network, |(network, _)| *network).ok()?;
        self.networks.get(at).map(|(_, entry)| entry)
    }

    /// Whether the network is a new one for which there is room.
    fn would_keep(&self, network: Network) -> bool {
        self.networks.len() < MAX_NETWORKS && self.of(network).is_none()
    }

    /// Takes a fetch; where there are too many networks, the quarter that fetched longest ago goes.
    fn put(&mut self, network: Network, entry: Entry) {
        if self.networks.len() >= MAX_NETWORKS && self.of(network).is_none() {
            let mut times: Vec<i64> = self.networks.iter().map(|(_, entry)| entry.last).collect();
            let (_, &mut cutoff, _) = times.select_nth_unstable(MAX_NETWORKS / 4);
            self.forget_until(cutoff);
        }
        let replaced = match self.networks.binary_search_by_key(&network, |(network, _)| *network) {
            Ok(at) => self.networks.get_mut(at).map(|(_, old)| std::mem::replace(old, entry)),
            Err(at) => {
                make_room(&mut self.networks);
                self.networks.insert(at, (network, entry));
                None
            }
        };
        match replaced {
            Some(old) if old.edition != entry.edition || old.outcome != entry.outcome => {
                self.count_latest();
            }
            _ => self.add_latest(Latest::of(&entry)),
        }
    }

    fn add_latest(&mut self, one: Latest) {
        match self.latest.iter_mut().find(|latest| latest.edition == one.edition) {
            Some(latest) => {
                latest.at = latest.at.max(one.at);
                latest.confirmed_at = latest.confirmed_at.max(one.confirmed_at);
            }
            None => {
                // Networks that are not kept may bring ever new editions.
                let earliest = (0..).zip(&self.latest).min_by_key(|(_, latest)| latest.at);
                if let Some((at, _)) = earliest.filter(|_| self.latest.len() >= MAX_NETWORKS) {
                    self.latest.swap_remove(at);
                }
                make_room(&mut self.latest);
                self.latest.push(one);
            }
        }
    }

    /// Forgets what was fetched at this time or earlier; says whether anything is left.
    fn forget_until(&mut self, cutoff: i64) -> bool {
        let known = self.networks.len();
        self.networks.retain(|(_, entry)| entry.last > cutoff);
        if self.networks.len() < known {
            self.networks.shrink_to_fit();
            self.count_latest();
        }
        !self.networks.is_empty()
    }

    fn count_latest(&mut self) {
        let entries: Vec<Latest> =
            self.networks.iter().map(|(_, entry)| Latest::of(entry)).collect();
        self.latest = Vec::with_capacity(1);
        entries.into_iter().for_each(|one| self.add_latest(one));
    }
}

impl Entry {
    fn new(edition: EditionId, at: i64) -> Self {
        let outcome = Outcome::Unknown;
        Self { edition, first: at, last: at, count: 1, interval: 0, outcome }
    }

    /// The same after another fetch. The usual interval follows a new one by a quarter.
    fn again(self, edition: EditionId, at: i64) -> Self {
        let gap = u32::try_from((at - self.last).max(0) / 1000).unwrap_or(u32::MAX);
        let interval = match self.interval {
            0 => gap,
            usual => usual - usual / 4 + gap / 4,
        };
        let count = self.count.saturating_add(1);
        // A clock that was put back doesn't make an earlier fetch the last one.
        Self { edition, last: at.max(self.last), count, interval, ..self }
    }
}

impl Latest {
    fn of(entry: &Entry) -> Self {
        let is_confirmed = entry.outcome == Outcome::Confirmed;
        let confirmed_at = if is_confirmed { entry.last } else { i64::MIN };
        Self { edition: entry.edition, at: entry.last, confirmed_at }
    }

    /// When the edition was fetched last, by whom speaks for this client.
    fn time(&self, reader: Reader) -> i64 {
        if reader.outcome == Outcome::Confirmed { self.confirmed_at } else { self.at }
    }
}

/// `www.example.com/googlebot`; no site has a slash in its name.
fn key(site: &str, name: &str) -> String {
    let mut key = String::with_capacity(site.len() + 1 + name.len());
    key.push_str(site);
    key.push('/');
    key.push_str(name);
    key[site.len()..].make_ascii_lowercase();
    key
}

/// Makes room for one more, and a quarter of what there is: to double it would take more memory.
fn make_room<T>(list: &mut Vec<T>) {
    if list.len() == list.capacity() {
        list.reserve_exact(1 + list.len() / 4);
    }
}

/// The names under which a crawler may have fetched the file.
fn names(name: Name<'_>) -> impl Iterator<Item = &str> {
    let family = name.known().into_iter().flat_map(|crawler| crawler.groups());
    let alone = name.known().is_none().then(|| name.as_str());
    family.map(|token| token.as_str()).chain(alone)
}

fn read(book: &RwLock<Book>) -> std::sync::RwLockReadGuard<'_, Book> {
    book.read().unwrap_or_else(PoisonError::into_inner)
}

fn write(book: &RwLock<Book>) -> std::sync::RwLockWriteGuard<'_, Book> {
    book.write().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
