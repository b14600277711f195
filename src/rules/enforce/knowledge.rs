//! The knowledge about a client beside its request: identity, rung and editions.

use jiff::Timestamp;

use crate::rules::crawlers::{Crawler, Name, Outcome, Standing};

use super::{known_editions::KnownEditions, moment::Moment, rung::Rung};

/// The knowledge about the client of one request. Each method is called only where its answer
/// matters.
pub trait Knowledge {
    /// The time at which the request is judged.
    fn moment(&self) -> Moment;

    /// The standing of the claim to be this crawler. Called once for each name, but not for a name
    /// that another crawler of the claim is known to borrow.
    fn standing(&self, crawler: &Crawler) -> Standing {
        Standing::unexamined(crawler)
    }

    /// The rung of this name on the site's ladder.
    fn rung(&self, name: Name<'_>, outcome: Outcome) -> Rung {
        let _ = (name, outcome);
        Rung::Observe
    }

    /// The editions that a client with this name may know, from its fetches after `start`.
    fn known_editions(
        &self,
        name: Name<'_>,
        standing: Standing,
        start: Timestamp,
    ) -> KnownEditions {
        let _ = (name, standing, start);
        KnownEditions::Any
    }

    /// Whether another node of the fleet may have an edition that this one has not heard of, and
    /// clients are excused for that.
    fn may_miss_editions(&self) -> bool {
        false
    }
}

/// The time alone.
impl Knowledge for Moment {
    fn moment(&self) -> Moment {
        *self
    }
}
