//! A request as the rules judge it, and the knowledge about its client: identity, rung and editions.

use jiff::Timestamp;

use crate::{
    formats::robots::Target,
    rules::crawlers::{Claim, Class, Crawler, Name, Outcome, Standing},
};

use super::{edition_id::KnownEditions, moment::Moment, rung::Rung};

/// A request as the rules judge it.
#[derive(Clone, Copy, Debug)]
pub struct Case<'r, 'a> {
    /// What its User-Agent claims.
    pub claim: &'r Claim<'r>,
    /// Whether the client sends no usable User-Agent. Such a client is bound by `*` where the site
    /// says so; a client with an unknown User-Agent is not.
    pub is_nameless: bool,
    /// The requested target.
    pub target: &'a Target<'a>,
}

impl Case<'_, '_> {
    pub(super) fn standing(&self, name: Name<'_>, knowledge: &impl Knowledge) -> Standing {
        let known = name.known().filter(|crawler| !self.claim.is_borrowed(crawler));
        known.map_or(Standing::UNVERIFIABLE, |known| knowledge.standing(known))
    }

    /// The class of a client that `*` can bind without a name: one without a User-Agent, or an app.
    pub(super) fn nameless(&self) -> Option<Class> {
        match self.claim.class() {
            Class::None => self.is_nameless.then_some(Class::None),
            class => (class == Class::App).then_some(class),
        }
    }
}

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
