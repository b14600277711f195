//! The room of a request at the origin, and the answer if there is none.

use crate::{
    clients::conduct::{Limited, PutOff, Seat, Stay},
    rules::enforce::Reason,
};

use super::{answer::Answer, page, visit::Visit};

/// What a request takes of the origin; free again on drop.
#[derive(Debug, Default)]
pub(super) struct Room {
    pub(super) seats: Vec<Seat>,
    pub(super) stay: Option<Stay>,
}

/// Why there is no room for a request.
#[derive(Clone, Copy, Debug)]
pub(super) enum NoRoom<'a> {
    /// It is beyond a limit of the operator.
    Limit(Limited<'a>),
    /// It has to come back later.
    PutOff(PutOff),
    /// It waits. Nothing of it counts.
    Waits,
}

impl NoRoom<'_> {
    /// The answer; none to a request that waits.
    pub(super) fn answer(&self, visit: &Visit<'_>) -> Option<Answer> {
        let rules = visit.site.enforcement.people_first.as_ref();
        match self {
            Self::Limit(one) => Some(Answer::limited(page::limit(one), one)),
            Self::PutOff(_) => Some(Answer::later(rules?.status, page::later(visit))),
            Self::Waits => None,
        }
    }

    pub(super) fn reason(&self) -> Reason {
        match self {
            Self::Limit(_) => Reason::Limit,
            Self::PutOff(_) | Self::Waits => Reason::PeopleFirst,
        }
    }
}
