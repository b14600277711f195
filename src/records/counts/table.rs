//! The hours that were taken in from a database, with the texts of their numbers.

use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use super::{
    cells::SeriesCounts,
    hours::{Change, Hours, Loading},
    kinds::{AllSeries, SeriesTexts},
    numbers::{Keys, Names},
};
use crate::records::tally::{Claimant, PlaceKind};

/// Counts in memory, for all who ask the same database. A clone shares them.
#[derive(Clone, Debug, Default)]
pub struct CountsInMemory(Arc<Mutex<Table>>);

/// The counts of hours, in memory.
///
/// The database gives an hour another version with each change. So what was taken in is read again only
/// where something changed.
#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(super) series: AllSeries,
    pub(super) requests: Hours,
    pub(super) owners: Owners,
    pub(super) place_names: Names,
    pub(super) places: Hours,
}

/// What is read of an hour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Requests by series.
    Requests,
    /// Violations by path and by network.
    Places,
}

/// Whose violations places have.
#[derive(Debug)]
pub(super) struct Owners {
    pub(super) all: Keys<Owner>,
    /// Sites and product tokens.
    pub(super) names: Names,
}

/// Whose violations a place has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Owner {
    pub(super) kind: PlaceKind,
    pub(super) site: u32,
    pub(super) product_token: u32,
    pub(super) claimant: Claimant,
}

impl Default for Owners {
    fn default() -> Self {
        Self { all: Keys::default(), names: Names::in_any_case() }
    }
}

impl CountsInMemory {
    /// The table, for one question at a time.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock()
    }
}

impl Table {
    /// Forgets the hours that changed or are gone, and returns those from `first` and before `until` that
    /// are to be read, as runs. `current` has all hours of the database with their versions, in order.
    pub(crate) fn missing(
        &mut self,
        part: Part,
        current: &[(i64, i64)],
        first: i64,
        until: i64,
    ) -> Vec<Loading> {
        match self.hours(part).compare(current) {
            Change::All => *self = Self::default(),
            Change::Earlier => self.series.forget_ids(),
            Change::Usual => {}
        }
        self.hours(part).missing(current, first, until)
    }

    const fn hours(&mut self, part: Part) -> &mut Hours {
        match part {
            Part::Requests => &mut self.requests,
            Part::Places => &mut self.places,
        }
    }

    /// Whether the series with this id is known.
    pub(crate) fn knows(&self, id: i64) -> bool {
        self.series.find(id).is_some()
    }

    /// Takes in a series.
    pub(crate) fn learn(&mut self, id: i64, texts: &SeriesTexts<'_>) {
        self.series.add(id, texts);
    }

    /// Adds the counts of a known series to an hour that is being read.
    pub(crate) fn add(&self, loading: &mut Loading, hour: i64, id: i64, counts: SeriesCounts) {
        if let Some(series) = self.series.find(id) {
            loading.hour(hour).add(series, counts);
        }
    }

    /// The number of those whose violations a place has.
    pub(crate) fn owner(
        &mut self,
        (kind, claimant): (PlaceKind, Claimant),
        site: &str,
        product_token: &str,
    ) -> u32 {
        let Owners { all, names } = &mut self.owners;
        let (site, product_token) = (names.number(site), names.number(product_token));
        all.number(Owner { kind, site, product_token, claimant })
    }

    /// Adds the violations of a place to an hour that is being read.
    pub(crate) fn add_place(
        &mut self,
        loading: &mut Loading,
        hour: i64,
        owner: u32,
        place: &str,
        violations: u64,
    ) {
        let place = self.place_names.number(place);
        loading.hour(hour).add_place(owner, place, violations);
    }

    /// Takes in hours that were read whole.
    pub(crate) fn take_in(&mut self, part: Part, loading: Loading) {
        self.hours(part).take_in(loading);
    }
}
