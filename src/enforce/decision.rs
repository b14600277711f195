//! The decision: what is done with one request, and why.

use crate::{
    crawlers::{self, Standing},
    policy::Mode,
    robots::{self, Access},
};

use super::{rung::Rung, timeline::Excuse};

/// What is done with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// It goes on; nothing is recorded.
    Pass,
    /// It goes on and is recorded.
    Log,
    /// It came too soon: it is told to wait, and recorded.
    Throttle,
    /// It is refused and recorded.
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

/// Why a decision is what it is. The codes are stable, for records and metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// No rule of the group matches, or the most specific one allows.
    Allow,
    /// The most specific rule disallows the path as written.
    Disallow,
    /// The path as written is allowed, but a form that an origin may make of it is not.
    Evasion,
    /// The edition in force disallows the path, but the crawler may be going by an earlier one, which
    /// does not.
    Grace,
    /// The rules disallow the path, but only those for `*`, and a search engine that is proven to be
    /// one asks: it is not refused unless the policy says so.
    Spared,
    /// Whatever the rules say: the client is proven not to be who it says, and the site asks that
    /// such are recorded or refused.
    Impostor,
    /// It came sooner than the crawler has promised to the rules.
    TooSoon,
    /// It came sooner than the crawler may on its rung of the ladder.
    Slowed,
    /// It would be refused, but the site's breaker is open.
    BreakerOpen,
    /// The site's rules are off for this crawler.
    Off,
    /// Nothing in the file is for this client: no group names it, and `*` does not bind it.
    Unbound,
    /// robots.txt itself, which is open to everyone (RFC 9309 §2.2.2).
    RobotsTxt,
}

impl Reason {
    /// The stable code.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "robots.allow",
            Self::Disallow => "robots.disallow",
            Self::Evasion => "robots.disallow.evasion",
            Self::Grace => "robots.disallow.grace",
            Self::Spared => "robots.disallow.spared",
            Self::Impostor => "claim.contradicted",
            Self::TooSoon => "robots.crawl_delay",
            Self::Slowed => "ladder.throttle",
            Self::BreakerOpen => "breaker.open",
            Self::Off => "enforcement.off",
            Self::Unbound => "robots.unbound",
            Self::RobotsTxt => "robots.robots_txt",
        }
    }
}

/// What is done with one request, and why.
#[derive(Clone, Copy, Debug)]
pub struct Decision<'r> {
    /// Whether the rules allow the request.
    pub access: Access,
    /// What is done.
    pub action: Action,
    /// Why.
    pub reason: Reason,
    /// The judgement that decided, where one was made.
    pub judgement: Option<Judgement<'r>>,
    /// Whether the client is who it says.
    pub standing: Standing,
    /// Why it is not held against the client that the edition in force disallows what it asks for.
    pub excuse: Option<Excuse<'r>>,
    /// What happens to violations of this client.
    pub mode: Mode,
    /// Where it stands on the site's ladder, if that is what the mode comes from.
    pub rung: Option<Rung>,
}

/// One product token judged by one group.
#[derive(Clone, Copy)]
pub struct Judgement<'r> {
    /// The name that was judged; `None` for a client that gives no name.
    pub name: Option<crawlers::Name<'r>>,
    /// The group that binds it; `None` where none does, and its claim is what is held against it.
    pub group: Option<robots::Scope>,
    /// The rule that decided; `None` where no rule matches.
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
