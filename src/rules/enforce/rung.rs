//! The rungs of the ladder.

use crate::rules::policy::Mode;

/// The place of a crawler on the ladder of a site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rung {
    /// Violations are recorded.
    #[default]
    Observe,
    /// The crawler must keep a pace.
    Throttle,
    /// Violations are refused.
    Block,
}

impl Rung {
    /// Every rung, the lowest first.
    pub const ALL: [Self; 3] = [Self::Observe, Self::Throttle, Self::Block];

    /// The rung as written in logs and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Observe => "observe",
            Self::Throttle => "throttle",
            Self::Block => "block",
        }
    }

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
