//! The hours that were taken in from a database, with the texts of their numbers.

use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use super::{
    cells::{Gathered, Pair},
    hours::{Change, Hours},
    kinds::{AllSeries, Keys, Name, number, number_of_name},
    question::Question,
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
    pub(crate) series: AllSeries,
    pub(super) requests: Hours,
    pub(super) owners: Owners,
    pub(super) place_names: Keys<Box<str>>,
    pub(super) places: Hours,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Requests,
    /// Violations by path and by network.
    Places,
}

#[derive(Debug, Default)]
pub(super) struct Owners {
    pub(super) all: Keys<Owner>,
    /// Sites and product tokens.
    pub(super) names: Keys<Name>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Owner {
    pub(super) kind: PlaceKind,
    pub(super) site: u32,
    pub(super) product_token: u32,
    pub(super) claimant: Claimant,
}

impl CountsInMemory {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock()
    }
}

impl Table {
    /// Forgets the hours that changed or are gone, and returns those of the question that are to be read.
    /// `current` has all hours of the database with their versions, in order.
    pub(crate) fn missing(
        &mut self,
        part: Part,
        current: &[(i64, i64)],
        question: &Question,
    ) -> Vec<(i64, i64)> {
        match self.hours(part).compare(current) {
            Change::All => *self = Self::default(),
            Change::Earlier => self.series.forget_ids(),
            Change::Usual => {}
        }
        let [first, until] = question.hours();
        self.hours(part).missing(current, first, until)
    }

    const fn hours(&mut self, part: Part) -> &mut Hours {
        match part {
            Part::Requests => &mut self.requests,
            Part::Places => &mut self.places,
        }
    }

    /// A place, and whose violations it has.
    pub(crate) fn place(
        &mut self,
        (kind, claimant): (PlaceKind, Claimant),
        [site, product_token, place]: [&str; 3],
    ) -> Pair {
        let Owners { all, names } = &mut self.owners;
        let [site, product_token] = [site, product_token].map(|name| number_of_name(names, name));
        let owner = all.insert_full(Owner { kind, site, product_token, claimant }).0;
        (owner as u32, number(&mut self.place_names, place)) // a row is longer than a number
    }

    pub(crate) fn take_in(&mut self, part: Part, hour: (i64, i64), counts: Gathered) {
        self.hours(part).take_in(hour, counts.pack());
    }
}
