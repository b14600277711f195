//! The decision about one request: action and reason.

use crate::{
    formats::robots::{self, Access},
    rules::{
        crawlers::{self, Standing},
        policy::Mode,
    },
};

use super::{excuse::Excuse, rung::Rung};

/// The action for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// The request passes; nothing is recorded.
    Pass,
    /// The request passes and is recorded.
    Log,
    /// The request came too soon, or is beyond a limit. It gets 429, or 503 if it makes room for people.
    Throttle,
    /// The request is refused and recorded.
    Block,
}

impl Action {
    /// Every action, the mildest first.
    pub const ALL: [Self; 4] = [Self::Pass, Self::Log, Self::Throttle, Self::Block];

    /// The action as written in records and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Log => "log",
            Self::Throttle => "throttle",
            Self::Block => "block",
        }
    }
}

/// The reason of a decision. The codes are stable, for records and metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// No rule of the group matches, or the most specific one allows.
    Allow,
    /// The most specific rule disallows the path as written.
    Disallow,
    /// The rules allow the path, but not another form that an origin may read it as. No violation.
    Form,
    /// The User-Agent has more names or octets than are read, so every group counts, and one of them
    /// disallows the path.
    Hidden,
    /// The edition in force disallows the path, but the crawler may know an earlier one that allows
    /// it.
    Grace,
    /// The client is a confirmed search engine. It is not refused by the rules for `*` unless the
    /// policy says so, nor by rules for which the breaker opened before.
    Spared,
    /// The client is a proven impostor, and the site records or refuses impostors whatever the
    /// rules allow.
    Impostor,
    /// The request came before the `Crawl-delay` was over that the crawler promises to keep.
    TooSoon,
    /// The request came before the pace of the crawler's rung allows it.
    Slowed,
    /// The request is beyond a limit of the operator. No violation.
    Limit,
    /// A crawler makes room for people. No violation.
    PeopleFirst,
    /// The request would be refused, but the site's breaker is open.
    BreakerOpen,
    /// Enforcement is off for this crawler.
    Off,
    /// No group binds this client: none names it, and `*` does not bind it.
    Unbound,
    /// The request is for robots.txt itself, which is always allowed (RFC 9309 §2.2.2).
    RobotsTxt,
    /// The rules of the site are not known yet, so no request is judged, and robots.txt is answered
    /// with 503.
    Unknown,
}

impl Reason {
    /// Every reason.
    pub const ALL: [Self; 16] = [
        Self::Allow,
        Self::Disallow,
        Self::Form,
        Self::Hidden,
        Self::Grace,
        Self::Spared,
        Self::Impostor,
        Self::TooSoon,
        Self::Slowed,
        Self::Limit,
        Self::PeopleFirst,
        Self::BreakerOpen,
        Self::Off,
        Self::Unbound,
        Self::RobotsTxt,
        Self::Unknown,
    ];

    /// Whether it refuses a request that breaks no rule, because there are too many.
    pub const fn is_limit(self) -> bool {
        matches!(self, Self::Limit | Self::PeopleFirst)
    }

    /// The stable code.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "robots.allow",
            Self::Disallow => "robots.disallow",
            Self::Form => "robots.form",
            Self::Hidden => "robots.disallow.hidden",
            Self::Grace => "robots.disallow.grace",
            Self::Spared => "robots.disallow.spared",
            Self::Impostor => "claim.contradicted",
            Self::TooSoon => "robots.crawl_delay",
            Self::Slowed => "ladder.throttle",
            Self::Limit => "limit",
            Self::PeopleFirst => "people_first",
            Self::BreakerOpen => "breaker.open",
            Self::Off => "enforcement.off",
            Self::Unbound => "robots.unbound",
            Self::RobotsTxt => "robots.robots_txt",
            Self::Unknown => "robots.unknown",
        }
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
    pub fn is_violation(&self) -> bool {
        self.access == Access::Disallow && self.reason != Reason::Grace
    }
}

/// One product token judged by one group.
#[derive(Clone, Copy)]
pub struct Judgement<'r> {
    /// The judged name; `None` for a client without one.
    pub name: Option<crawlers::Name<'r>>,
    /// The group that binds it; `None` if none does and the false claim itself is the violation.
    pub group: Option<robots::Scope>,
    /// The rule that decided; `None` if no rule matches.
    pub rule: Option<&'r robots::Rule>,
}

impl std::fmt::Debug for Judgement<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Judgement")
            .field("name", &self.name.map(crawlers::Name::as_str))
            .field("rule", &self.rule)
            .finish_non_exhaustive()
    }
}
