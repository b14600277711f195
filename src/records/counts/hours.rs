//! Hours with their counts, and sums of days that are over.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::{
    cells::{Counts, Gathered},
    question::DAY,
};

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

/// Hours that are being read, each with its version. They count once all of them are there.
#[derive(Debug)]
pub(crate) struct Loading {
    hours: BTreeMap<i64, (i64, Counts)>,
    /// The hour that is being read, which is not yet packed.
    hour: i64,
    gathered: Gathered,
}

/// What a comparison with the database found.
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

    /// The hours from `first` and before `until` that are not there, as runs of `current`.
    pub(super) fn missing(&self, current: &[(i64, i64)], first: i64, until: i64) -> Vec<Loading> {
        let is_wanted = |&&(hour, _): &&(i64, i64)| first <= hour && hour < until;
        let wanted: Vec<_> = current
            .iter()
            .filter(is_wanted)
            .map(|&(hour, version)| (self.hours.contains_key(&hour), hour, version))
            .collect();
        let runs = wanted.chunk_by(|(one, ..), (other, ..)| one == other);
        let missing = runs.filter(|run| run.first().is_some_and(|(is_there, ..)| !is_there));
        let empty = |&(_, hour, version): &(bool, i64, i64)| (hour, (version, Counts::default()));
        let loading = |run: &[(bool, i64, i64)]| {
            let hours: BTreeMap<_, _> = run.iter().map(empty).collect();
            let hour = hours.first_key_value().map_or(0, |(hour, _)| *hour);
            Loading { hours, hour, gathered: Gathered::default() }
        };
        missing.map(loading).collect()
    }

    /// Takes in hours that were read whole.
    pub(super) fn take_in(&mut self, mut loading: Loading) {
        loading.pack();
        for (hour, (version, counts)) in loading.hours {
            self.days.remove(&day(hour));
            self.hours.insert(hour, (version, counts));
        }
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

impl Loading {
    /// The first and the last hour.
    pub(crate) fn span(&self) -> [i64; 2] {
        let ends = [self.hours.first_key_value(), self.hours.last_key_value()];
        ends.map(|end| end.map_or(0, |(hour, _)| *hour))
    }

    /// The first and the last hour of each part, of so many hours at most.
    pub(crate) fn parts(&self, most: usize) -> Vec<[i64; 2]> {
        let hours: Vec<i64> = self.hours.keys().copied().collect();
        let ends = |part: &[i64]| Some([*part.first()?, *part.last()?]);
        hours.chunks(most).filter_map(ends).collect()
    }

    /// The counts of an hour, for one more. The hours come in order.
    pub(super) fn hour(&mut self, hour: i64) -> &mut Gathered {
        if hour != self.hour {
            self.pack();
            self.hour = hour;
        }
        &mut self.gathered
    }

    fn pack(&mut self) {
        let counts = self.gathered.pack();
        if let Some((_, hour)) = self.hours.get_mut(&self.hour) {
            *hour = counts;
        }
    }
}

/// The start of the day that contains the hour.
pub(super) const fn day(hour: i64) -> i64 {
    hour - hour.rem_euclid(DAY)
}
