//! The treatment of a past request in one word.

use crate::{
    rules::enforce::{Action, Reason},
    serving::gate::Past,
};

/// The treatment of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Not judged: a person, or a request that the proxy refuses.
    NotJudged,
    /// Allowed by the rules.
    Allow,
    /// Allowed by an edition that the crawler may still use.
    Grace,
    /// Another form of a closed path: no violation.
    Form,
    /// Beyond a rate limit: no violation.
    Limit,
    /// Logged.
    Log,
    /// Throttled.
    Throttle,
    /// Blocked.
    Block,
}

impl Verdict {
    /// All treatments.
    pub const ALL: [Self; 8] = [
        Self::NotJudged,
        Self::Allow,
        Self::Grace,
        Self::Form,
        Self::Limit,
        Self::Log,
        Self::Throttle,
        Self::Block,
    ];

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotJudged => "not judged",
            Self::Allow => "allow",
            Self::Grace => "grace",
            Self::Form => "other form",
            Self::Limit => "limit",
            Self::Log => "log",
            Self::Throttle => "throttle",
            Self::Block => "block",
        }
    }

    /// The treatment of a judged request.
    pub(super) fn of(past: &Past<'_>) -> Self {
        let Some(counted) = &past.counted else { return Self::NotJudged };
        match counted.action {
            _ if counted.reason == Reason::Form => Self::Form,
            _ if counted.reason == Reason::Limit => Self::Limit,
            Action::Log => Self::Log,
            Action::Throttle => Self::Throttle,
            Action::Block => Self::Block,
            Action::Pass if counted.reason == Reason::Grace => Self::Grace,
            Action::Pass => Self::Allow,
        }
    }
}
