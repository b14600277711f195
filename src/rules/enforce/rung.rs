//! The rungs of the ladder.

use crate::{base::text::words, rules::policy::Mode};

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

    pub(crate) const fn above(self) -> Option<Self> {
        match self {
            Self::Observe => Some(Self::Throttle),
            Self::Throttle => Some(Self::Block),
            Self::Block => None,
        }
    }

    pub(crate) const fn below(self) -> Option<Self> {
        match self {
            Self::Observe => None,
            Self::Throttle => Some(Self::Observe),
            Self::Block => Some(Self::Throttle),
        }
    }
}
