//! Observations as a message tells them: with times of the fleet.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::clients::conduct::{self, Network, Observations};

/// The most rows of one message.
pub const MOST_ITEMS: usize = 2_000;

/// The time of the fleet, less a node's own, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shift(pub i64);

impl Shift {
    /// An own time as one of the fleet.
    pub fn told(self, own: Timestamp) -> i64 {
        own.as_millisecond().saturating_add(self.0)
    }

    /// A time of the fleet as an own one.
    pub fn own(self, fleet: i64) -> Timestamp {
        conduct::time(fleet.saturating_sub(self.0))
    }
}

/// Observations with times of the fleet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Told(pub(super) Observations);

impl Told {
    /// Observations of this node. A row whose network is known only by its hash is left out: the hash
    /// means nothing to another node.
    pub fn of(mut all: Observations, shift: Shift) -> Self {
        let is_told = |network: Option<Network>| !matches!(network, Some(Network::Hashed(_)));
        all.fetches.retain(|one| is_told(Some(one.network)));
        all.steps.retain(|one| is_told(one.key.network));
        all.ladder.retain(|one| is_told(one.key.network));
        all.pace.retain(|one| is_told(one.network));
        for count in &mut all.breaker {
            count.refused.retain(|one| is_told(Some(one.network)));
        }
        all.times_mut().for_each(|at| *at = Shift::default().own(shift.told(*at)));
        Self(all)
    }

    /// The observations, by the clock of this node. Counts of requests before `oldest`, a time of the
    /// fleet, are left out: they no longer matter. Another node may say what can't be.
    pub fn observations(self, shift: Shift, oldest: i64) -> Observations {
        let Self(mut all) = self;
        all.breaker.retain(|one| one.at.as_millisecond() >= oldest);
        all.pace.retain(|one| one.at.as_millisecond() >= oldest);
        for one in &mut all.fetches {
            (one.first, one.count) = (one.first.min(one.last), one.count.max(1));
        }
        all.ladder.iter_mut().for_each(|one| one.violations = one.violations.min(one.requests));
        all.pace.iter_mut().for_each(|one| one.times = one.times.max(1));
        all.times_mut().for_each(|at| *at = shift.own(at.as_millisecond()));
        all
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        let Observations { fetches, forgotten, steps, ladder, openings, breaker, pace } = &self.0;
        let refused: usize = breaker.iter().map(|row| row.refused.len()).sum();
        let fetches = fetches.len() + usize::from(forgotten.is_some());
        fetches + steps.len() + ladder.len() + openings.len() + breaker.len() + refused + pace.len()
    }

    /// Whether it tells nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Parts of at most [`MOST_ITEMS`] rows.
    pub fn split(self) -> Vec<Self> {
        if self.len() <= MOST_ITEMS {
            return if self.is_empty() { Vec::new() } else { vec![self] };
        }
        let Observations { fetches, forgotten, steps, ladder, openings, breaker, pace } = self.0;
        let mut parts = Vec::new();
        let mut add = |part| parts.push(Self(part));
        let none = Observations::default;
        if forgotten.is_some() {
            add(Observations { forgotten, ..none() });
        }
        for some in fetches.chunks(MOST_ITEMS) {
            add(Observations { fetches: some.to_vec(), ..none() });
        }
        for some in steps.chunks(MOST_ITEMS) {
            add(Observations { steps: some.to_vec(), ..none() });
        }
        for some in ladder.chunks(MOST_ITEMS) {
            add(Observations { ladder: some.to_vec(), ..none() });
        }
        for some in openings.chunks(MOST_ITEMS) {
            add(Observations { openings: some.to_vec(), ..none() });
        }
        // Each has a list of clients.
        for some in breaker.chunks(16) {
            add(Observations { breaker: some.to_vec(), ..none() });
        }
        for some in pace.chunks(MOST_ITEMS) {
            add(Observations { pace: some.to_vec(), ..none() });
        }
        parts
    }
}
