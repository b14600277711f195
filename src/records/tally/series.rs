//! Requests counted by series.
//!
//! A known series is found by the borrowed values of a request, without an allocation.

use std::{
    collections::HashMap,
    hash::{Hash, Hasher},
    sync::Arc,
};

use derive_more::AddAssign;
use hashbrown::DefaultHashBuilder;
use indexmap::{Equivalent, IndexMap};

use super::{
    invented_names::OTHER,
    rollup::{Hour, ReadState, Rollup, Series, SeriesKey},
};

/// The most combinations of hour and series that wait; beyond that, names count as `other`.
const MOST: usize = 32_768;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, AddAssign)]
pub(super) struct Count {
    pub(super) requests: u64,
    pub(super) folded: u64,
    pub(super) dropped: u64,
}

/// The known series, with the requests that are not yet written.
#[derive(Debug, Default)]
pub(super) struct SeriesTable {
    slots: IndexMap<Key, Slot, DefaultHashBuilder>,
    /// The positions of the slots with requests.
    changed: Vec<usize>,
    /// Requests of slots in other hours, and dropped records.
    others: SeriesCounts,
    /// The hour of the last request, and the one at the last time that the table was emptied.
    hour: Hour,
    emptied: Hour,
}

#[derive(Debug)]
struct Slot {
    series: Arc<Series>,
    hour: Hour,
    count: Count,
}

/// An owned [`SeriesKey`]. The texts of a [`Series`] are bounded and escaped, so they don't serve
/// for comparison.
#[derive(Debug, PartialEq, Eq)]
struct Key {
    site: Box<str>,
    product_token: Box<str>,
    edition: Box<str>,
    directive: Box<str>,
    pattern: Box<str>,
    line: u32,
    read: Option<ReadState>,
    /// Class, purpose, standing, verdict, action and reason.
    words: [&'static str; 6],
}

#[derive(Debug, Default)]
pub(super) struct SeriesCounts(HashMap<(Hour, usize), (Arc<Series>, Count)>);

impl SeriesTable {
    pub(super) fn count(
        &mut self,
        hour: Hour,
        key: &SeriesKey<'_>,
        count: Count,
    ) -> Option<&Arc<Series>> {
        self.hour = hour;
        let mut number = self.number(key);
        let is_new_pair = |slot: &Slot| slot.hour != hour && slot.count != Count::default();
        if self.is_full() && self.slots.get_index(number).is_some_and(|(_, slot)| is_new_pair(slot))
        {
            number = self.number(&other(key));
        }
        let (_, slot) = self.slots.get_index_mut(number)?;
        if count == Count::default() {
            return Some(&slot.series);
        }
        if slot.count == Count::default() {
            self.changed.push(number);
        } else if slot.hour != hour {
            self.others.add(slot.hour, &slot.series, std::mem::take(&mut slot.count));
        }
        slot.hour = hour;
        slot.count += count;
        Some(&slot.series)
    }

    pub(super) fn add_other(&mut self, hour: Hour, series: &Arc<Series>, count: Count) {
        self.others.add(hour, series, count);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.others.0.is_empty()
    }

    /// Takes the counts. Once an hour, the known series are forgotten, too.
    pub(super) fn drain(&mut self) -> Drained {
        let others = std::mem::take(&mut self.others);
        let slots = &mut self.slots;
        let taken = self.changed.drain(..).filter_map(|number| {
            let (_, slot) = slots.get_index_mut(number)?;
            Some((slot.hour, Arc::clone(&slot.series), std::mem::take(&mut slot.count)))
        });
        let latest = taken.collect();
        if self.emptied != self.hour {
            self.emptied = self.hour;
            self.slots.clear();
        }
        Drained { latest, others }
    }

    fn is_full(&self) -> bool {
        self.slots.len() + self.others.0.len() >= MOST
    }

    /// The number of the slot with these values; beyond the limit, of the one of other names.
    fn number(&mut self, key: &SeriesKey<'_>) -> usize {
        if let Some(number) = self.slots.get_index_of(key) {
            return number;
        }
        let mut key = *key;
        if self.is_full() {
            key = other(&key);
            if let Some(number) = self.slots.get_index_of(&key) {
                return number;
            }
        }
        let series = Arc::new(key.to_series());
        let slot = Slot { series, hour: self.hour, count: Count::default() };
        self.slots.insert_full(Key::of(&key), slot).0
    }
}

fn other<'a>(key: &SeriesKey<'a>) -> SeriesKey<'a> {
    SeriesKey { product_token: OTHER, purpose: "", ..*key }
}

#[derive(Debug, Default)]
pub(super) struct Drained {
    latest: Vec<(Hour, Arc<Series>, Count)>,
    others: SeriesCounts,
}

impl Drained {
    pub(super) fn merged(self) -> SeriesCounts {
        let Self { latest, others: mut counts } = self;
        latest.iter().for_each(|(hour, series, count)| counts.add(*hour, series, *count));
        counts
    }

    /// The number of requests, without those of dropped records.
    pub(super) fn requests(&self) -> u64 {
        let latest = self.latest.iter().map(|(.., count)| count);
        let others = self.others.0.values().map(|(_, count)| count);
        latest.chain(others).map(|count| count.requests - count.dropped).sum()
    }
}

impl SeriesCounts {
    pub(super) fn add(&mut self, hour: Hour, series: &Arc<Series>, count: Count) {
        // The address is the name of a series while the map holds it.
        let name = (hour, Arc::as_ptr(series).addr());
        self.0.entry(name).or_insert_with(|| (Arc::clone(series), Count::default())).1 += count;
    }

    pub(super) fn rollups(&self) -> Vec<Rollup> {
        let rollup = |((hour, _), (series, count)): (&(Hour, usize), &(Arc<Series>, Count))| {
            let Count { requests, folded, dropped } = *count;
            Rollup { hour: *hour, series: Series::clone(series), requests, folded, dropped }
        };
        self.0.iter().map(rollup).collect()
    }
}

impl Key {
    fn of(key: &SeriesKey<'_>) -> Self {
        Self {
            site: key.site.into(),
            product_token: key.product_token.into(),
            edition: key.edition.into(),
            directive: key.directive.into(),
            pattern: key.pattern.into(),
            line: key.line,
            read: key.read,
            words: words(key),
        }
    }
}

impl Equivalent<Key> for SeriesKey<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        key.line == self.line
            && key.read == self.read
            && *key.product_token == *self.product_token
            && *key.edition == *self.edition
            && *key.site == *self.site
            && *key.pattern == *self.pattern
            && *key.directive == *self.directive
            && key.words == words(self)
    }
}

impl Hash for SeriesKey<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        hash([self.site, self.product_token, self.edition], self.line, words(self), state);
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let texts = [&*self.site, &*self.product_token, &*self.edition];
        hash(texts, self.line, self.words, state);
    }
}

/// The values that tell most series apart are enough for a hash.
fn hash(texts: [&str; 3], line: u32, words: [&str; 6], state: &mut impl Hasher) {
    let [_, _, standing, _, _, reason] = words;
    texts.into_iter().chain([reason]).for_each(|text| state.write(text.as_bytes()));
    (line, standing.len()).hash(state);
}

const fn words(key: &SeriesKey<'_>) -> [&'static str; 6] {
    [key.class, key.purpose, key.standing, key.verdict, key.action, key.reason]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::tally::tests::key;

    const ONE: Count = Count { requests: 1, folded: 0, dropped: 0 };

    #[test]
    fn a_series_is_found_again_whatever_its_texts_hold() {
        let mut table = SeriesTable::default();
        let long = "x".repeat(5_000);
        let (hour, mut keys) = (Hour::numbered(3), Vec::new());
        for text in ["", "/a", "/a\\b", "/a\\\\b", "/caf\u{e9}", "\u{1b}[2J", &long] {
            keys.extend([key("a", text, "/"), key("a", "A", text), key("b", "A", text)]);
        }
        for _ in 0..3 {
            keys.iter().for_each(|key| drop(table.count(hour, key, ONE).cloned()));
        }
        let distinct = 3 * 7;
        assert_eq!(table.slots.len(), distinct);
        let rollups = table.drain().merged().rollups();
        assert_eq!(rollups.len(), distinct);
        assert!(rollups.iter().all(|rollup| rollup.requests == 3 && rollup.hour == hour));
        assert!(table.is_empty() && table.slots.is_empty());
    }

    #[test]
    fn counting_stays_exact_in_bounded_memory() {
        let mut table = SeriesTable::default();
        let names: Vec<String> = (0..MOST + 1_000).map(|number| format!("Bot{number}")).collect();
        for hour in [5, 6, 5] {
            for name in &names {
                table.count(Hour::numbered(hour), &key("a", name, "/"), ONE);
            }
        }
        // Each hour has `other` once.
        assert!(table.slots.len() + table.others.0.len() <= MOST + 4, "{}", table.slots.len());
        let drained = table.drain();
        assert_eq!(drained.requests(), 3 * names.len() as u64);
        let rollups = drained.merged().rollups();
        let sum = |hour: i32| {
            let of_hour = rollups.iter().filter(|rollup| rollup.hour == Hour::numbered(hour));
            of_hour.map(|rollup| rollup.requests).sum::<u64>()
        };
        assert_eq!((sum(5), sum(6)), (2 * names.len() as u64, names.len() as u64));
    }
}
