//! Hours with their counts, and sums of days that are over.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::{cells::Counts, question::DAY};

/// How many hours more may go than are left, before everything is read anew.
const SPARE: usize = 24;

/// Hours that were taken in, each with its version in the database.
#[derive(Debug, Default)]
pub(super) struct Hours {
    hours: BTreeMap<i64, (i64, Counts)>,
    /// Made when they are asked for.
    days: HashMap<i64, Counts>,
    /// How many hours went for good.
    gone: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Nothing, or the latest hour alone.
    Usual,
    /// Earlier hours changed, or are gone.
    Earlier,
    /// No hour is as it was: this may be another database. Or most of what is remembered is of hours that
    /// went long ago.
    All,
}

impl Hours {
    /// Forgets the hours that changed or are gone. `current` has all hours of the database with their
    /// versions, in order.
    pub(super) fn compare(&mut self, current: &[(i64, i64)]) -> Change {
        let version = |hour: i64| {
            let found = current.binary_search_by_key(&hour, |&(hour, _)| hour).ok()?;
            current.get(found).map(|&(_, version)| version)
        };
        let latest = self.hours.last_key_value().map(|(hour, _)| *hour);
        let (days, gone, mut change) = (&mut self.days, &mut self.gone, Change::Usual);
        self.hours.retain(|hour, (known, _)| {
            let version = version(*hour);
            let is_same = version == Some(*known);
            if !is_same {
                days.remove(&day(*hour));
                *gone += usize::from(version.is_none());
                if version.is_none() || Some(*hour) != latest {
                    change = Change::Earlier;
                }
            }
            is_same
        });
        let is_empty = latest.is_some() && self.hours.is_empty();
        if is_empty || self.gone > self.hours.len() + SPARE { Change::All } else { change }
    }

    /// The hours from `first` and before `until` that are not there, as `current` has them.
    pub(super) fn missing(
        &self,
        current: &[(i64, i64)],
        first: i64,
        until: i64,
    ) -> Vec<(i64, i64)> {
        let is_missing =
            |hour: &i64| first <= *hour && *hour < until && !self.hours.contains_key(hour);
        current.iter().filter(|(hour, _)| is_missing(hour)).copied().collect()
    }

    pub(super) fn take_in(&mut self, (hour, version): (i64, i64), counts: Counts) {
        self.days.remove(&day(hour));
        self.hours.insert(hour, (version, counts));
    }

    /// Makes the sums of the days that are whole within the span.
    pub(super) fn sum_days(&mut self, first: i64, until: i64) {
        let Some((&latest, _)) = self.hours.last_key_value() else { return };
        // The latest day changes all the time.
        let until = until.min(day(latest));
        let day_from = |hour| self.hours.range(hour..).next().map(|(hour, _)| day(*hour));
        let mut next = day_from(first);
        while let Some(day) = next.filter(|day| *day < until && day + DAY <= until) {
            if first <= day && !self.days.contains_key(&day) {
                let hours = self.hours.range(day..day + DAY).map(|(_, (_, counts))| counts);
                self.days.insert(day, Counts::sum(hours));
            }
            next = day_from(day + DAY);
        }
    }

    /// The counts of the span in order, each with its hour or the start of its day. With `is_by_hour`,
    /// no hours come as a day.
    pub(super) fn counts(
        &self,
        first: i64,
        until: i64,
        is_by_hour: bool,
    ) -> impl Iterator<Item = (i64, &Counts)> {
        let mut next = first;
        std::iter::from_fn(move || {
            let (&hour, (_, counts)) = self.hours.range(next..until.max(next)).next()?;
            let day = day(hour);
            let is_whole = !is_by_hour && first <= day && day + DAY <= until;
            let whole = self.days.get(&day).filter(|_| is_whole);
            next = if whole.is_some() { day + DAY } else { hour + 1 };
            Some(whole.map_or((hour, counts), |whole| (day, whole)))
        })
    }
}

pub(super) const fn day(hour: i64) -> i64 {
    hour - hour.rem_euclid(DAY)
}
