//! A request as the rules judge it, its time, and the knowledge about its client: identity, rung and editions.

use std::time::Duration;

use jiff::Timestamp;

use crate::{
    formats::robots::Target,
    rules::crawlers::{Claim, Class, Crawler, Name, Outcome, Standing},
};

use super::{decision::Rung, edition::KnownEditions};

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

/// The time at which a request is judged.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// The time of day.
    pub now: Timestamp,
    /// The time since a fixed start, by a clock that is never set. It measures how fast requests
    /// come.
    pub steady: Duration,
    /// The recent jump of the clock, if there was one.
    pub leap: Option<Leap>,
}

/// A clock that was put forward: by it, what just happened lies far in the past.
#[derive(Clone, Copy, Debug)]
pub struct Leap {
    /// How far the clock was put forward.
    pub by: Duration,
    /// The time since then.
    pub ago: Duration,
}

impl Moment {
    /// A moment by a single clock, which is taken to be right: `steady` is the time since the Unix
    /// epoch.
    pub fn at(now: Timestamp) -> Self {
        // Before the epoch there is no time to measure.
        let seconds = u64::try_from(now.as_second()).unwrap_or_default();
        let nanoseconds = u32::try_from(now.subsec_nanosecond()).unwrap_or_default();
        Self { now, steady: Duration::new(seconds, nanoseconds), leap: None }
    }

    /// The start of a window that ends now.
    pub fn start_of(self, window: Duration) -> Timestamp {
        let leap =
            self.leap.filter(|leap| leap.ago < window).map_or(Duration::ZERO, |leap| leap.by);
        self.now.checked_sub(window.saturating_add(leap)).unwrap_or(Timestamp::MIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_clock_is_the_steady_one_too() {
        let at = |second| Moment::at(Timestamp::from_second(second).expect("a time"));
        assert_eq!(at(7).steady, Duration::from_secs(7));
        assert_eq!(at(-7).steady, Duration::ZERO);
    }
}
