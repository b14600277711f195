//! Requests that are counted by hour, until the writer takes the counts.
//!
//! Every request that Beadle judges counts once. Memory is bounded: names beyond a limit count as
//! `other`, places beyond a limit as `…`. The numbers are exact in any case.
//!
//! May use: text. Must not know: violations, the disk, any clock.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use jiff::Timestamp;
use parking_lot::Mutex;

pub use self::{
    claimant::Claimant,
    people::People,
    rollup::{
        FORM, Hour, LIMITS, PeopleCount, PlaceCount, PlaceKind, Places, ReadState, ReferralCount,
        Rollup, Rollups, Series, SeriesKey, Tallied, is_limited, is_violation,
    },
};
use self::{
    folds::Folds,
    invented_names::{Names, OTHER},
    places::PlaceTable,
    series::{Count, SeriesTable},
};
use crate::base::text::Text;

mod claimant; // who a request counts for
mod folds; // the number of full records for each crawler, rule and hour
mod invented_names; // names that only clients use, bounded
mod people; // requests of people
mod places; // paths and networks of violations
mod rollup; // requests counted by hour: the values
mod series; // requests by series

/// How a violation is kept.
#[derive(Debug)]
pub enum Detail {
    /// As a record.
    Recorded(Option<Tallied>),
    /// As a number alone. It is counted already.
    Folded,
}

/// The counts that are not yet written.
#[derive(Debug)]
pub struct Tally {
    state: Mutex<State>,
    people: Mutex<Vec<(Text, Arc<People>)>>,
    folded: AtomicU64,
    /// Whether a writer takes the counts: there is a database. Otherwise only violations beyond the detail
    /// are counted.
    pub keeps_rollups: bool,
}

#[derive(Debug)]
struct State {
    names: Names,
    folds: Folds,
    series: SeriesTable,
    places: PlaceTable,
    referrals: HashMap<(Hour, Text, Text), u64>,
}

/// The counts that a writer took.
#[derive(Debug, Default)]
pub struct Drained {
    series: series::Drained,
    /// All but the series.
    others: Rollups,
}

impl Tally {
    /// A tally that lets `detail` violations of each crawler, rule and hour become records.
    pub fn new(detail: u64, keeps_rollups: bool) -> Self {
        let state = State {
            names: Names::default(),
            folds: Folds::new(detail),
            series: SeriesTable::default(),
            places: PlaceTable::default(),
            referrals: HashMap::new(),
        };
        let (people, folded) = (Mutex::default(), AtomicU64::new(0));
        Self { state: Mutex::new(state), people, folded, keeps_rollups }
    }

    /// Counts a request that is no violation and not a person's.
    pub fn count(&self, at: Timestamp, key: &SeriesKey<'_>) {
        if !self.keeps_rollups {
            return;
        }
        let hour = Hour::of(at);
        let state = &mut *self.state.lock();
        let key = state.named(hour, key);
        state.series.count(hour, &key, Count { requests: 1, ..Count::default() });
    }

    /// Decides how a violation is kept, and counts it if that is all.
    pub fn admit(
        &self,
        at: Timestamp,
        key: &SeriesKey<'_>,
        places: impl FnOnce() -> Places,
    ) -> Detail {
        let hour = Hour::of(at);
        let places = self.keeps_rollups.then(places);
        let state = &mut *self.state.lock();
        let key = state.named(hour, key);
        let is_folded = state.folds.is_beyond(hour, &key);
        if is_folded {
            self.folded.fetch_add(1, Ordering::Relaxed);
        }
        let folded = Count { requests: 1, folded: 1, dropped: 0 };
        let count = if is_folded { folded } else { Count::default() };
        let tallied = places.and_then(|places| {
            let series = Arc::clone(state.series.count(hour, &key, count)?);
            Some(Tallied { series, places })
        });
        match (is_folded, &tallied) {
            (false, _) => Detail::Recorded(tallied),
            (true, None) => Detail::Folded,
            (true, Some(Tallied { series, places })) => {
                state.places.count(hour, series, places);
                Detail::Folded
            }
        }
    }

    /// Counts a record that found no room.
    pub fn drop_record(&self, at: Timestamp, tallied: &Tallied) {
        self.count_unrecorded(at, tallied, Count { requests: 1, folded: 0, dropped: 1 });
    }

    /// Counts a record that is folded on its way to a database without room. It is none of
    /// [`Self::folded`]: another destination may have room.
    pub fn fold_record(&self, at: Timestamp, tallied: &Tallied) {
        self.count_unrecorded(at, tallied, Count { requests: 1, folded: 1, dropped: 0 });
    }

    fn count_unrecorded(&self, at: Timestamp, Tallied { series, places }: &Tallied, count: Count) {
        if self.keeps_rollups {
            let hour = Hour::of(at);
            let state = &mut *self.state.lock();
            state.series.add_other(hour, series, count);
            state.places.count(hour, series, places);
        }
    }

    /// Counts a request of a person to the site of `people`.
    pub fn count_person(&self, people: &Arc<People>, site: &str, at: Timestamp) {
        if !self.keeps_rollups {
            return;
        }
        if people.watch() {
            self.people.lock().push((site.into(), Arc::clone(people)));
        }
        people.add(Hour::of(at));
    }

    /// Counts a visit of a person that came from an operator of crawlers.
    pub fn count_referral(&self, at: Timestamp, site: &str, operator: &str) {
        if !self.keeps_rollups {
            return;
        }
        let name = (Hour::of(at), site.into(), operator.into());
        *self.state.lock().referrals.entry(name).or_default() += 1;
    }

    /// The violations beyond the detail since the start.
    pub fn folded(&self) -> u64 {
        self.folded.load(Ordering::Relaxed)
    }

    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        let people_are_counted = || self.people.lock().iter().any(|(_, one)| !one.is_empty());
        !self.keeps_rollups || (self.state.lock().is_empty() && !people_are_counted())
    }

    /// Takes the counts, and the places of records that are about to be written.
    pub fn take<'a>(&self, records: impl IntoIterator<Item = (Timestamp, &'a Tallied)>) -> Drained {
        if !self.keeps_rollups {
            return Drained::default();
        }
        for (at, Tallied { series, places }) in records {
            // Not locked for all of them at once: requests wait for this lock.
            self.state.lock().places.count(Hour::of(at), series, places);
        }
        let mut people = Vec::new();
        self.people.lock().retain(|(site, one)| {
            // A site that is gone counts nothing more.
            let is_served = Arc::strong_count(one) > 1;
            let counts = one.drain().into_iter();
            people.extend(counts.map(|(hour, requests)| PeopleCount {
                hour,
                site: site.clone(),
                requests,
            }));
            is_served
        });
        let state = &mut *self.state.lock();
        let referrals = state
            .referrals
            .drain()
            .map(|((hour, site, operator), visits)| ReferralCount { hour, site, operator, visits });
        let (series, referrals) = (Vec::new(), referrals.collect());
        let others = Rollups { series, places: state.places.drain(), people, referrals };
        Drained { series: state.series.drain(), others }
    }

    /// Logs the folded violations of other hours than `now`, one line for each site and crawler.
    pub fn tell_folded(&self, now: Option<Timestamp>) {
        let told = self.state.lock().folds.tell(now.map(Hour::of));
        for folds::Folded { hour, site, product_token, count } in told {
            let hour = Timestamp::from_millisecond(hour.as_millisecond()).unwrap_or_default();
            let names = [site.as_str(), product_token.as_str()];
            let [site, product_token] = if site.is_empty() { [OTHER, OTHER] } else { names };
            tracing::info!(
                code = "violations.folded",
                site,
                product_token,
                %hour,
                folded = count,
                "violations beyond violations.detail were counted without a record"
            );
        }
    }
}

impl State {
    fn named<'a>(&mut self, hour: Hour, key: &SeriesKey<'a>) -> SeriesKey<'a> {
        match key.is_declared {
            true => {
                let product_token = self.names.counted(hour, key.product_token);
                SeriesKey { product_token, ..*key }
            }
            false => *key,
        }
    }

    fn is_empty(&self) -> bool {
        self.series.is_empty() && self.referrals.is_empty() && self.places.is_empty()
    }
}

impl Drained {
    /// The number of requests, without those of dropped records.
    pub fn requests(&self) -> u64 {
        let people = self.others.people.iter().map(|one| one.requests);
        self.series.requests() + people.sum::<u64>()
    }

    /// The rollups of a batch: the counts, and one for each of its records.
    pub fn rollups<'a>(self, records: impl Iterator<Item = (Timestamp, &'a Tallied)>) -> Rollups {
        let mut counts = self.series.merged();
        for (at, Tallied { series, .. }) in records {
            counts.add(Hour::of(at), series, Count { requests: 1, ..Count::default() });
        }
        Rollups { series: counts.rollups(), ..self.others }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use crate::records::tally::SeriesKey;

    /// The key of a violation of a rule.
    pub(crate) const fn key<'a>(
        site: &'a str,
        product_token: &'a str,
        pattern: &'a str,
    ) -> SeriesKey<'a> {
        SeriesKey {
            site,
            class: "crawler",
            product_token,
            is_declared: false,
            purpose: "search",
            standing: "confirmed",
            verdict: "disallow",
            action: "block",
            reason: "robots.disallow",
            edition: "00ff",
            line: 3,
            directive: "disallow",
            pattern,
            read: None,
        }
    }
}
