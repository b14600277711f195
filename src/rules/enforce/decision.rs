//! A request as the rules judge it, the knowledge about its client, and the decision: action and reason, and
//! the rungs of the ladder.

use std::time::Duration;

use jiff::Timestamp;

use crate::{
    base::text::words,
    formats::robots::{self, Access, Target},
    rules::{
        crawlers::{Claim, Class, Crawler, Name, Outcome, Standing},
        policy::Mode,
    },
};

use super::{edition::KnownEditions, timeline::Excuse};

words! {
    /// The action for a request.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Action {
        /// The request passes; nothing is recorded.
        Pass = "pass",
        /// The request passes and is recorded.
        Log = "log",
        /// The request came too soon, or is beyond a limit. It gets 429, or 503 if it makes room for people.
        Throttle = "throttle",
        /// The request is refused and recorded.
        Block = "block",
    }
}

words! {
    /// The reason of a decision. The codes are stable, for records and metrics.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Reason {
        /// No rule of the group matches, or the most specific one allows.
        Allow = "robots.allow",
        /// The most specific rule disallows the path as written.
        Disallow = "robots.disallow",
        /// The rules allow the path, but not another form that an origin may read it as. No violation.
        Form = "robots.form",
        /// The User-Agent has more names or octets than are read, so every group counts, and one of them
        /// disallows the path.
        Hidden = "robots.disallow.hidden",
        /// The edition in force disallows the path, but the crawler may know an earlier one that allows
        /// it.
        Grace = "robots.disallow.grace",
        /// The client is a confirmed search engine. It is not refused by the rules for `*` unless the
        /// policy says so, nor by rules for which the breaker opened before.
        Spared = "robots.disallow.spared",
        /// The client is a proven impostor, and the site records or refuses impostors whatever the
        /// rules allow.
        Impostor = "claim.contradicted",
        /// The request came before the `Crawl-delay` was over that the crawler promises to keep. One that
        /// passes is no violation: the pace is only measured.
        TooSoon = "robots.crawl_delay",
        /// The request came before the pace of the crawler's rung allows it.
        Slowed = "ladder.throttle",
        /// The request is beyond a limit of the operator. No violation.
        Limit = "limit",
        /// A crawler makes room for people. No violation.
        PeopleFirst = "people_first",
        /// The request would be refused, but the site's breaker is open.
        BreakerOpen = "breaker.open",
        /// Enforcement is off for this crawler.
        Off = "enforcement.off",
        /// No group binds this client: none names it, and `*` does not bind it.
        Unbound = "robots.unbound",
        /// The request is for robots.txt itself, which is always allowed (RFC 9309 §2.2.2).
        RobotsTxt = "robots.robots_txt",
        /// The rules of the site are not known yet, so no request is judged, and robots.txt is answered
        /// with 503.
        Unknown = "robots.unknown",
    }
}

impl Reason {
    /// Whether it refuses a request that breaks no rule, because there are too many.
    pub(crate) const fn is_limit(self) -> bool {
        matches!(self, Self::Limit | Self::PeopleFirst)
    }
}

/// The decision about one request.
#[derive(Clone, Copy, Debug)]
pub struct Decision<'r> {
    /// Whether the rules allow the request.
    pub access: Access,
    /// The action.
    pub action: Action,
    /// The reason.
    pub reason: Reason,
    /// The judgement that decided, if one was made.
    pub judgement: Option<Judgement<'r>>,
    /// The standing of the client's claim.
    pub standing: Standing,
    /// The reason why a disallowed request is no violation.
    pub excuse: Option<Excuse<'r>>,
    /// The treatment of this client's violations.
    pub mode: Mode,
    /// The rung of the client, if the mode comes from the ladder.
    pub rung: Option<Rung>,
}

impl Decision<'_> {
    /// Whether the rules disallow the request, and nothing excuses it.
    pub(crate) fn is_violation(&self) -> bool {
        self.access == Access::Disallow && self.reason != Reason::Grace
    }
}

/// One product token judged by one group.
#[derive(Clone, Copy, Debug)]
pub struct Judgement<'r> {
    /// The judged name; `None` for a client without one.
    pub name: Option<Name<'r>>,
    /// The group that binds it; `None` if none does and the false claim itself is the violation.
    pub(crate) group: Option<robots::Scope>,
    /// The rule that decided; `None` if no rule matches.
    pub(crate) rule: Option<&'r robots::Rule>,
}

words! {
    /// The place of a crawler on the ladder of a site.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Rung {
        /// Violations are recorded.
        #[default]
        Observe = "observe",
        /// The crawler must keep a pace.
        Throttle = "throttle",
        /// Violations are refused.
        Block = "block",
    }
}

impl Rung {
    pub(crate) const fn mode(self) -> Mode {
        match self {
            Self::Observe => Mode::Log,
            Self::Throttle => Mode::Throttle,
            Self::Block => Mode::Block,
        }
    }

    pub(crate) fn above(self) -> Option<Self> {
        Self::ALL.into_iter().find(|one| *one > self)
    }

    pub(crate) fn below(self) -> Option<Self> {
        Self::ALL.into_iter().rfind(|one| *one < self)
    }
}

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
    fn rung(&self, _name: Name<'_>, _outcome: Outcome) -> Rung {
        Rung::Observe
    }

    /// The editions that a client with this name may know, from its fetches after `start`.
    fn known_editions(
        &self,
        _name: Name<'_>,
        _standing: Standing,
        _start: Timestamp,
    ) -> KnownEditions {
        KnownEditions::Any
    }

    /// Whether another node of the fleet may have an edition that this one has not heard of, and
    /// clients are excused for that.
    fn may_miss_editions(&self) -> bool {
        false
    }
}

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
