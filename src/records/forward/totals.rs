//! The counts of this run so far, by hour. They only grow, so that a row replaces an earlier one.

use std::collections::{BTreeMap, HashMap};

use crate::{
    base::text::Text,
    records::tally::{Claimant, Hour, PlaceKind, Rollups, Series},
};

/// The most hours. Requests are counted now, so there are two at most unless the clock jumps.
const HOURS: usize = 3;

#[derive(Debug, Default)]
pub(super) struct Totals {
    /// Requests, and those of them that were folded and dropped; of other keys, one number.
    hours: BTreeMap<Hour, HashMap<Key, [u64; 3]>>,
    forgotten: Option<Hour>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
enum Key {
    Series(Series),
    Place((PlaceKind, Claimant), [Text; 3]),
    People(Text),
    Referral([Text; 2]),
}

impl Totals {
    /// Whether the counts belong to an hour that was forgotten. They would replace larger ones, so they
    /// need totals and a run of their own.
    pub(super) fn have_forgotten(&self, rollups: &Rollups) -> bool {
        let Rollups { series, places, people, referrals } = rollups;
        let hours = series.iter().map(|one| one.hour).chain(places.iter().map(|one| one.hour));
        let others = people.iter().map(|one| one.hour).chain(referrals.iter().map(|one| one.hour));
        let is_forgotten = |hour| Some(hour) <= self.forgotten && !self.hours.contains_key(&hour);
        hours.chain(others).any(is_forgotten)
    }

    /// Adds the counts, and returns the totals of what changed.
    pub(super) fn add(&mut self, rollups: &Rollups) -> Rollups {
        let mut whole = rollups.clone();
        for one in &mut whole.series {
            let new = [one.requests, one.folded, one.dropped];
            let total = self.count(one.hour, Key::Series(one.series.clone()), new);
            [one.requests, one.folded, one.dropped] = total;
        }
        for one in &mut whole.places {
            let names = [&one.site, &one.product_token, &one.place].map(Text::clone);
            let key = Key::Place((one.kind, one.claimant), names);
            [one.violations, ..] = self.count(one.hour, key, [one.violations, 0, 0]);
        }
        for one in &mut whole.people {
            let key = Key::People(one.site.clone());
            [one.requests, ..] = self.count(one.hour, key, [one.requests, 0, 0]);
        }
        for one in &mut whole.referrals {
            let key = Key::Referral([&one.site, &one.operator].map(Text::clone));
            [one.visits, ..] = self.count(one.hour, key, [one.visits, 0, 0]);
        }
        while self.hours.len() > HOURS {
            self.forgotten = self.forgotten.max(self.hours.pop_first().map(|(hour, _)| hour));
        }
        whole
    }

    fn count(&mut self, hour: Hour, key: Key, new: [u64; 3]) -> [u64; 3] {
        let total = self.hours.entry(hour).or_default().entry(key).or_default();
        total.iter_mut().zip(new).for_each(|(sum, new)| *sum += new);
        *total
    }
}
