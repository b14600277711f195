//! The treatment of a past request in one word.

use crate::{
    base::text::words,
    rules::enforce::{Action, Reason},
    serving::gate::Past,
};

words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub(crate) enum Verdict {
        /// Not judged: a person, or a request that the proxy refuses.
        NotJudged = "not judged",
        Allow = "allow",
        /// Allowed by an edition that the crawler may still use.
        Grace = "grace",
        /// Another form of a closed path: no violation.
        Form = "other form",
        /// Beyond a rate limit: no violation.
        Limit = "limit",
        Log = "log",
        Throttle = "throttle",
        Block = "block",
    }
}

impl Verdict {
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
