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
    /// The mode that applies to a crawler on this rung.
    pub const fn mode(self) -> Mode {
        match self {
            Self::Observe => Mode::Log,
            Self::Throttle => Mode::Throttle,
            Self::Block => Mode::Block,
        }
    }

    /// The next rung up.
    pub const fn above(self) -> Option<Self> {
        match self {
            Self::Observe => Some(Self::Throttle),
            Self::Throttle => Some(Self::Block),
            Self::Block => None,
        }
    }

    /// The next rung down.
    pub const fn below(self) -> Option<Self> {
        match self {
            Self::Observe => None,
            Self::Throttle => Some(Self::Observe),
            Self::Block => Some(Self::Throttle),
        }
    }
}
