//! The counts of this run so far, by hour. They only grow, so that a row replaces an earlier one.

use std::collections::{BTreeMap, HashMap};

use crate::{
    base::text::Text,
    records::tally::{
        Claimant, Hour, PeopleCount, PlaceCount, PlaceKind, ReferralCount, Rollup, Rollups, Series,
    },
};

/// The most hours. Requests are counted now, so there are two at most unless the clock jumps.
const HOURS: usize = 3;

/// The counts of the last hours.
#[derive(Debug, Default)]
pub(super) struct Totals {
    hours: BTreeMap<Hour, Counts>,
    /// The latest hour that was forgotten.
    forgotten: Option<Hour>,
}

#[derive(Debug, Default)]
struct Counts {
    /// Requests, and those of them that were folded and dropped.
    series: HashMap<Series, [u64; 3]>,
    places: HashMap<((PlaceKind, Claimant), Text, Text, Text), u64>,
    people: HashMap<Text, u64>,
    referrals: HashMap<(Text, Text), u64>,
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
        let Rollups { series, places, people, referrals } = rollups;
        for one in series {
            let counts = self.hours.entry(one.hour).or_default();
            let new = [one.requests, one.folded, one.dropped];
            match counts.series.get_mut(&one.series) {
                Some(total) => total.iter_mut().zip(new).for_each(|(sum, new)| *sum += new),
                None => drop(counts.series.insert(one.series.clone(), new)),
            }
        }
        for one in places {
            *self.hours.entry(one.hour).or_default().places.entry(place(one)).or_default() +=
                one.violations;
        }
        for one in people {
            let counts = self.hours.entry(one.hour).or_default();
            *counts.people.entry(one.site.clone()).or_default() += one.requests;
        }
        for one in referrals {
            let counts = self.hours.entry(one.hour).or_default();
            *counts.referrals.entry(visit(one)).or_default() += one.visits;
        }
        let whole = self.of(rollups);
        while self.hours.len() > HOURS {
            self.forgotten = self.forgotten.max(self.hours.pop_first().map(|(hour, _)| hour));
        }
        whole
    }

    /// The totals of what these counts name.
    fn of(&self, rollups: &Rollups) -> Rollups {
        let Rollups { series, places, people, referrals } = rollups;
        let none = Counts::default();
        let at = |hour: &Hour| self.hours.get(hour).unwrap_or(&none);
        let total = |one: &Rollup| {
            let total = at(&one.hour).series.get(&one.series).copied().unwrap_or_default();
            let [requests, folded, dropped] = total;
            Rollup { requests, folded, dropped, ..one.clone() }
        };
        let of_place = |one: &PlaceCount| {
            let violations = at(&one.hour).places.get(&place(one)).copied().unwrap_or_default();
            PlaceCount { violations, ..one.clone() }
        };
        let of_people = |one: &PeopleCount| {
            let requests = at(&one.hour).people.get(&one.site).copied().unwrap_or_default();
            PeopleCount { requests, ..one.clone() }
        };
        let of_visits = |one: &ReferralCount| {
            let visits = at(&one.hour).referrals.get(&visit(one)).copied().unwrap_or_default();
            ReferralCount { visits, ..one.clone() }
        };
        Rollups {
            series: series.iter().map(total).collect(),
            places: places.iter().map(of_place).collect(),
            people: people.iter().map(of_people).collect(),
            referrals: referrals.iter().map(of_visits).collect(),
        }
    }
}

fn place(one: &PlaceCount) -> ((PlaceKind, Claimant), Text, Text, Text) {
    ((one.kind, one.claimant), one.site.clone(), one.product_token.clone(), one.place.clone())
}

fn visit(one: &ReferralCount) -> (Text, Text) {
    (one.site.clone(), one.operator.clone())
}
