//! A book of the fetches of many crawlers, bounded in number and in octets.

use std::{collections::BTreeMap, time::Duration};

use jiff::Timestamp;

use crate::{
    clients::conduct::key::Network,
    rules::{crawlers::Outcome, enforce::EditionId},
};

use super::fetch::{Fetches, Reading};

/// The most octets for the names of crawlers and sites, on average for each pair. Most pairs share
/// a name. With these limits the ledger takes less than 32 MiB.
const MAX_TEXT: usize = 80;
/// The most networks of one crawler at one site, so that one crawler doesn't crowd out the others;
/// also the most editions that these networks may know.
pub(super) const MAX_NETWORKS: usize = 4_096;

#[derive(Debug)]
pub(super) struct Book {
    /// By [`key`]. All sites share one tree, because a tree takes 700 octets even for one crawler.
    crawlers: BTreeMap<Box<str>, CrawlerFetches>,
    text: usize,
    pairs: usize,
    max: usize,
    /// The time until which fetches are not known; the least number if all are.
    pub(super) forgotten: i64,
}

#[derive(Debug)]
pub(super) struct CrawlerFetches {
    /// By network, ascending.
    networks: Vec<(Network, Entry)>,
    /// The last fetch of each edition that is the last one of some network.
    pub(super) latest: Vec<Latest>,
}

/// The fetches from one network; times in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) edition: EditionId,
    first: i64,
    last: i64,
    count: u32,
    /// The usual time between two fetches, in seconds; 0 before the second.
    interval: u32,
    pub(super) outcome: Outcome,
}

/// The last fetch of one edition by any network; times in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Latest {
    pub(super) edition: EditionId,
    pub(super) at: i64,
    /// The last confirmed fetch; the least number without one.
    pub(super) confirmed_at: i64,
}

impl Book {
    pub(super) const fn new(max: usize) -> Self {
        Self { crawlers: BTreeMap::new(), text: 0, pairs: 0, max, forgotten: i64::MIN }
    }

    /// The pairs of crawler and network.
    #[cfg(test)]
    pub(super) const fn pairs(&self) -> usize {
        self.pairs
    }

    pub(super) fn fetches(&self, site: &str, name: &str) -> Option<&CrawlerFetches> {
        self.crawlers.get(key(site, name).as_str())
    }

    pub(super) fn entry(&self, site: &str, name: &str, network: Network) -> Option<Entry> {
        self.fetches(site, name)?.of(network).copied()
    }

    pub(super) fn put(&mut self, site: &str, name: &str, network: Network, entry: Entry) {
        let key = key(site, name);
        let has_place =
            |fetches: &CrawlerFetches| self.pairs < self.max || !fetches.has_room_for(network);
        if !self.crawlers.get(key.as_str()).is_some_and(has_place) {
            while self.pairs >= self.max || self.text + key.len() > MAX_TEXT * self.max {
                self.forget_the_oldest();
            }
        }
        // The crawler may be gone now, or it may still be here with other networks.
        match self.crawlers.get_mut(key.as_str()) {
            Some(fetches) => {
                let before = fetches.networks.len();
                self.forgotten = self.forgotten.max(fetches.put(network, entry));
                self.pairs = self.pairs - before + fetches.networks.len();
            }
            None => {
                self.text += key.len();
                self.pairs += 1;
                let (networks, latest) = (vec![(network, entry)], vec![Latest::of(&entry)]);
                self.crawlers.insert(key.into_boxed_str(), CrawlerFetches { networks, latest });
            }
        }
    }

    /// All fetches. Names are in lower case.
    pub(super) fn all(&self) -> Vec<Fetches> {
        let pairs = self.crawlers.iter().filter_map(|(key, fetches)| {
            let (site, name) = key.split_once('/')?;
            Some(
                fetches
                    .networks
                    .iter()
                    .map(move |(network, entry)| entry.fetches(site, name, *network)),
            )
        });
        pairs.flatten().collect()
    }

    /// Moves times after `now` to `now`. Their order is lost, so no fetch until then is known.
    pub(super) fn set_back(&mut self, now: i64) {
        self.forgotten = self.forgotten.min(now);
        for fetches in self.crawlers.values_mut() {
            for (_, entry) in &mut fetches.networks {
                if entry.last > now {
                    self.forgotten = now;
                }
                entry.last = entry.last.min(now);
                entry.first = entry.first.min(now);
            }
            fetches.recompute_latest();
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
            self.forgotten = self.forgotten.max(cutoff);
        }
        self.text = self.crawlers.keys().map(|key| key.len()).sum();
        self.pairs = self.crawlers.values().map(|fetches| fetches.networks.len()).sum();
    }
}

impl CrawlerFetches {
    pub(super) fn of(&self, network: Network) -> Option<&Entry> {
        let at = self.networks.binary_search_by_key(&network, |(network, _)| *network).ok()?;
        self.networks.get(at).map(|(_, entry)| entry)
    }

    fn has_room_for(&self, network: Network) -> bool {
        self.networks.len() < MAX_NETWORKS && self.of(network).is_none()
    }

    /// Adds a fetch. At the limit, the quarter of the networks with the oldest fetches goes. Returns
    /// the time until which it forgot; the least number if it forgot nothing.
    fn put(&mut self, network: Network, entry: Entry) -> i64 {
        let mut forgotten = i64::MIN;
        if self.networks.len() >= MAX_NETWORKS && self.of(network).is_none() {
            let mut times: Vec<i64> = self.networks.iter().map(|(_, entry)| entry.last).collect();
            let (_, &mut cutoff, _) = times.select_nth_unstable(MAX_NETWORKS / 4);
            self.forget_until(cutoff);
            forgotten = cutoff;
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
                self.recompute_latest();
            }
            _ => self.add_latest(Latest::of(&entry)),
        }
        forgotten
    }

    fn add_latest(&mut self, one: Latest) {
        match self.latest.iter_mut().find(|latest| latest.edition == one.edition) {
            Some(latest) => {
                latest.at = latest.at.max(one.at);
                latest.confirmed_at = latest.confirmed_at.max(one.confirmed_at);
            }
            None => {
                // Forgotten networks may leave any number of editions behind.
                let earliest = (0..).zip(&self.latest).min_by_key(|(_, latest)| latest.at);
                if let Some((at, _)) = earliest.filter(|_| self.latest.len() >= MAX_NETWORKS) {
                    self.latest.swap_remove(at);
                }
                make_room(&mut self.latest);
                self.latest.push(one);
            }
        }
    }

    /// Forgets fetches up to this time. Returns whether any are left.
    fn forget_until(&mut self, cutoff: i64) -> bool {
        let known = self.networks.len();
        self.networks.retain(|(_, entry)| entry.last > cutoff);
        if self.networks.len() < known {
            self.networks.shrink_to_fit();
            self.recompute_latest();
        }
        !self.networks.is_empty()
    }

    fn recompute_latest(&mut self) {
        let entries: Vec<Latest> =
            self.networks.iter().map(|(_, entry)| Latest::of(entry)).collect();
        self.latest = Vec::with_capacity(1);
        entries.into_iter().for_each(|one| self.add_latest(one));
    }
}

impl Entry {
    pub(super) const fn new(edition: EditionId, at: i64) -> Self {
        let outcome = Outcome::Unknown;
        Self { edition, first: at, last: at, count: 1, interval: 0, outcome }
    }

    pub(super) fn of(fetches: &Fetches) -> Self {
        let seconds = |gap: Duration| u32::try_from(gap.as_secs()).unwrap_or(u32::MAX);
        Self {
            edition: fetches.edition,
            first: fetches.first.as_millisecond(),
            last: fetches.last.as_millisecond(),
            count: fetches.count,
            interval: fetches.interval.map_or(0, seconds),
            outcome: fetches.outcome,
        }
    }

    /// The entry after another fetch. The usual interval moves towards the new one by a quarter.
    pub(super) fn again(self, edition: EditionId, at: i64) -> Self {
        let gap = u32::try_from((at - self.last).max(0) / 1000).unwrap_or(u32::MAX);
        let interval = match self.interval {
            0 => gap,
            usual => usual - usual / 4 + gap / 4,
        };
        let count = self.count.saturating_add(1);
        // After a clock was set back, an earlier fetch does not become the last one.
        Self { edition, last: at.max(self.last), count, interval, ..self }
    }

    pub(super) const fn is_confirmed(&self) -> bool {
        matches!(self.outcome, Outcome::Confirmed)
    }

    /// The network under which it stays after another fetch of the same network.
    pub(super) const fn former(&self) -> Network {
        Network::Former { edition: self.edition, is_confirmed: self.is_confirmed() }
    }

    /// The last fetch without those before it.
    pub(super) const fn alone(self) -> Self {
        Self { first: self.last, count: 1, interval: 0, ..self }
    }

    pub(super) fn joined(self, other: Self) -> Self {
        let (first, last) = (self.first.min(other.first), self.last.max(other.last));
        Self { first, last, count: self.count.saturating_add(other.count), ..self }
    }

    /// The entry without times after `now`.
    pub(super) fn by(self, now: i64) -> Self {
        Self { first: self.first.min(now), last: self.last.min(now), ..self }
    }

    /// Both entries of one network, which two nodes made: the earlier and the later one. The later
    /// one has what is known of both.
    pub(super) fn in_order(self, other: Self) -> (Self, Self) {
        let order = |one: &Self| (one.last, one.edition, one.is_confirmed());
        let is_later = order(&self) > order(&other);
        let (older, newer) = if is_later { (other, self) } else { (self, other) };
        let interval = if newer.interval > 0 { newer.interval } else { older.interval };
        let (first, count) = (newer.first.min(older.first), newer.count.max(older.count));
        (older, Self { first, count, interval, ..newer })
    }

    pub(super) const fn reading(&self) -> Reading {
        Reading { at: self.last, edition: self.edition }
    }

    pub(super) fn fetches(&self, site: &str, name: &str, network: Network) -> Fetches {
        let time = |at| Timestamp::from_millisecond(at).unwrap_or(Timestamp::UNIX_EPOCH);
        Fetches {
            site: site.to_owned(),
            product_token: name.to_owned(),
            network,
            outcome: self.outcome,
            edition: self.edition,
            first: time(self.first),
            last: time(self.last),
            count: self.count,
            interval: (self.interval > 0).then(|| Duration::from_secs(u64::from(self.interval))),
        }
    }
}

impl Latest {
    fn of(entry: &Entry) -> Self {
        let confirmed_at = if entry.is_confirmed() { entry.last } else { i64::MIN };
        Self { edition: entry.edition, at: entry.last, confirmed_at }
    }

    /// The last fetch that counts for a client with this outcome.
    pub(super) fn reading(&self, outcome: Outcome) -> Option<Reading> {
        let is_confirmed = outcome == Outcome::Confirmed;
        let at = if is_confirmed { self.confirmed_at } else { self.at };
        (at > i64::MIN).then_some(Reading { at, edition: self.edition })
    }
}

/// The key of a crawler at a site: `www.example.com/googlebot`. A site name has no slash.
fn key(site: &str, name: &str) -> String {
    let mut key = String::with_capacity(site.len() + 1 + name.len());
    key.push_str(site);
    key.push('/');
    key.push_str(name);
    key[site.len()..].make_ascii_lowercase();
    key
}

/// Makes room for a quarter more. Doubling would take more memory.
fn make_room<T>(list: &mut Vec<T>) {
    if list.len() == list.capacity() {
        list.reserve_exact(1 + list.len() / 4);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn network(number: u8) -> Network {
        Network::of([192, 0, number, 1].into())
    }

    proptest! {
        #[test]
        fn a_book_keeps_its_limits_and_has_the_latest_fetch(
            fetches in prop::collection::vec((0_u8..4, 0_u8..6, 1_usize..128, 0_u8..5), 1..60),
        ) {
            let mut book = Book::new(8);
            for (at, (site, network_number, length, edition)) in (0..).zip(fetches) {
                let site = format!("{site}.example");
                let token = "x".repeat(length);
                let edition = EditionId::parse(&format!("{edition:016x}")).expect("16 digits");
                book.put(&site, &token, network(network_number), Entry::new(edition, at));
                let kept = book.entry(&site, &token.to_uppercase(), network(network_number));
                prop_assert_eq!(kept.map(|entry| (entry.edition, entry.last)), Some((edition, at)));
                let counts = (book.pairs, book.text);
                prop_assert!(counts.0 <= 8 && counts.1 <= 8 * MAX_TEXT, "{:?}", counts);
                let pairs = book.crawlers.values().map(|fetches| fetches.networks.len()).sum::<usize>();
                let text = book.crawlers.keys().map(|key| key.len()).sum::<usize>();
                prop_assert_eq!(counts, (pairs, text));
                prop_assert!(book.crawlers.values().all(|fetches| !fetches.latest.is_empty()));
            }
        }
    }

    #[test]
    fn many_networks_with_an_edition_each_are_bounded() {
        let edition =
            |number: usize| EditionId::parse(&format!("{number:016x}")).expect("16 digits");
        let mut fetches = CrawlerFetches { networks: Vec::new(), latest: Vec::new() };
        fetches.put(Network::V4(0), Entry::new(edition(0), 0));
        for (number, at) in (1..2 * MAX_NETWORKS).zip(1..) {
            fetches.put(Network::V4(number as u32), Entry::new(edition(number), at));
        }
        let lengths = [fetches.networks.len(), fetches.latest.len()];
        assert!(lengths.iter().all(|length| *length <= MAX_NETWORKS), "{lengths:?}");
        let newest = edition(2 * MAX_NETWORKS - 1);
        assert!(fetches.latest.iter().any(|latest| latest.edition == newest));
    }
}
