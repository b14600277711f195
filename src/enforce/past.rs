//! An edition that is no longer in force.

use std::{cmp::Reverse, sync::Arc};

use jiff::Timestamp;

use super::{edition::Edition, edition_id::EditionId, known_editions::KnownEditions};

/// An edition that is no longer in force.
#[derive(Clone, Debug)]
pub struct Past {
    /// The edition.
    pub edition: Arc<Edition>,
    /// The start of its last time in force.
    pub from: Timestamp,
    /// The end of its last time in force.
    pub until: Timestamp,
    /// Its equivalents. A robots.txt with the time of its generation differs at each fetch.
    pub(super) twins: Vec<Twin>,
}

/// A stored time in force of an edition.
#[derive(Clone, Debug)]
pub struct Period {
    /// The edition.
    pub edition: Arc<Edition>,
    /// The start.
    pub from: Timestamp,
    /// The end; `None` if no other edition followed.
    pub until: Option<Timestamp>,
}

/// An edition that is equivalent to another one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Twin {
    pub(super) id: EditionId,
    /// The end of its last time in force.
    pub(super) until: Timestamp,
}

impl Past {
    /// Whether a client may know this edition or an equivalent one.
    pub fn may_be_known(&self, known: &KnownEditions) -> bool {
        known.has_any(self.ids())
    }

    /// Whether this edition or an equivalent one is among these.
    pub fn is_one_of(&self, editions: &[EditionId]) -> bool {
        self.ids().any(|id| editions.contains(&id))
    }

    fn ids(&self) -> impl Iterator<Item = EditionId> {
        self.twins.iter().map(|twin| twin.id).chain([self.edition.id()])
    }
}

/// Keeps each twin once, with its latest time.
pub(super) fn distinct(twins: &mut Vec<Twin>) {
    twins.sort_unstable_by_key(|twin| (twin.id, Reverse(twin.until)));
    twins.dedup_by_key(|twin| twin.id);
}
