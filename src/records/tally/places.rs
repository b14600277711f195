//! The paths and networks of violations, counted.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::{
    claimant::Claimant,
    rollup::{Hour, PlaceCount, PlaceKind, Places, Series, is_violation},
};
use crate::base::text::Text;

/// The most places of one kind that an hour tells apart.
const MOST: usize = 512;

#[derive(Debug)]
pub(super) struct PlaceTable {
    hour: Hour,
    kinds: [Kind; 2],
    /// Counts of earlier hours that are not yet written.
    earlier: Vec<PlaceCount>,
    hasher: DefaultHashBuilder,
}

#[derive(Debug)]
struct Kind {
    kind: PlaceKind,
    table: HashTable<Slot>,
    /// The number of places without [`PlaceCount::REST`].
    places: usize,
}

#[derive(Debug)]
struct Slot {
    site: Text,
    product_token: Text,
    claimant: Claimant,
    place: Text,
    violations: u64,
}

impl Default for PlaceTable {
    fn default() -> Self {
        let kind = |kind| Kind { kind, table: HashTable::new(), places: 0 };
        Self {
            hour: Hour::default(),
            kinds: [PlaceKind::Path, PlaceKind::Network].map(kind),
            earlier: Vec::new(),
            hasher: DefaultHashBuilder::default(),
        }
    }
}

impl PlaceTable {
    /// Counts a violation of this series. What is recorded without being one has no places.
    pub(super) fn count(&mut self, hour: Hour, series: &Series, places: &Places) {
        if !is_violation(&series.action, &series.reason) {
            return;
        }
        if self.hour != hour {
            self.take_counts();
            self.kinds.iter_mut().for_each(|kind| {
                kind.table.clear();
                kind.places = 0;
            });
            self.hour = hour;
        }
        for (kind, place) in self.kinds.iter_mut().zip([&places.path, &places.network]) {
            kind.count(&self.hasher, series, place);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        let mut slots = self.kinds.iter().flat_map(|kind| kind.table.iter());
        self.earlier.is_empty() && slots.all(|slot| slot.violations == 0)
    }

    /// Takes the counts. The known places stay for the rest of the hour.
    pub(super) fn drain(&mut self) -> Vec<PlaceCount> {
        self.take_counts();
        std::mem::take(&mut self.earlier)
    }

    fn take_counts(&mut self) {
        let hour = self.hour;
        for Kind { kind, table, .. } in &mut self.kinds {
            let counted = table.iter_mut().filter(|slot| slot.violations > 0);
            self.earlier.extend(counted.map(|slot| PlaceCount {
                hour,
                kind: *kind,
                site: slot.site.clone(),
                product_token: slot.product_token.clone(),
                claimant: slot.claimant,
                place: slot.place.clone(),
                violations: std::mem::take(&mut slot.violations),
            }));
        }
    }
}

impl Kind {
    fn count(&mut self, hasher: &DefaultHashBuilder, series: &Series, place: &Text) {
        let Series { site, product_token, standing, .. } = series;
        let claimant = Claimant::of(standing);
        let hash = |place: &Text| hasher.hash_one((site, product_token, claimant, place));
        let is = |slot: &Slot, place: &Text| {
            slot.place == *place
                && slot.product_token == *product_token
                && slot.site == *site
                && slot.claimant == claimant
        };
        if let Some(slot) = self.table.find_mut(hash(place), |slot| is(slot, place)) {
            slot.violations += 1;
            return;
        }
        let is_one_more = self.places < MOST;
        self.places += usize::from(is_one_more);
        let place = if is_one_more { place } else { &PlaceCount::REST };
        let rehash = |slot: &Slot| {
            hasher.hash_one((&slot.site, &slot.product_token, slot.claimant, &slot.place))
        };
        let entry = self.table.entry(hash(place), |slot| is(slot, place), rehash);
        let new = || Slot {
            site: site.clone(),
            product_token: product_token.clone(),
            claimant,
            place: place.clone(),
            violations: 0,
        };
        entry.or_insert_with(new).into_mut().violations += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::tally::tests::key;

    #[test]
    fn each_hour_tells_a_limited_number_of_places_apart_and_counts_all() {
        let mut table = PlaceTable::default();
        let series = ["GPTBot", "CCBot"].map(|name| key("a", name, "/").to_series());
        let hour = Hour::numbered(4);
        for number in 0..3 * MOST {
            let path = Text::from(format!("/{}", number % (MOST + 20)));
            let places = Places { path, network: Text::word("192.0.2.0/24") };
            table.count(hour, &series[usize::from(number % 3 == 0)], &places);
        }
        let first = table.drain();
        let sum = |kind| {
            let of_kind = first.iter().filter(|place| place.kind == kind);
            of_kind.map(|place| place.violations).sum::<u64>()
        };
        assert_eq!((sum(PlaceKind::Path), sum(PlaceKind::Network)), (3 * 512, 3 * 512));
        let rest = first.iter().filter(|place| place.place == PlaceCount::REST).count();
        assert_eq!((first.len() - rest, rest), (MOST + 2, 2));
        assert!(table.is_empty());
        // What the hour knows stays known.
        let places = Places { path: Text::word("/0"), network: Text::word("192.0.2.0/24") };
        table.count(hour, &series[1], &places);
        table.count(Hour::numbered(5), &series[1], &places);
        let paths: Vec<_> = table.drain().iter().map(|place| place.place.to_string()).collect();
        assert_eq!(paths, ["/0", "192.0.2.0/24", "/0", "192.0.2.0/24"]);
    }
}
