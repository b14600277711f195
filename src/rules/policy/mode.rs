//! The treatment of violations and of requests that come too soon.

/// The treatment of a violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// The request is not judged.
    Off,
    /// The violation is recorded and passes.
    Log,
    /// The violation is recorded and passes; a request before its `Crawl-delay` is over gets 429.
    Throttle,
    /// The violation is recorded and refused.
    Block,
}

impl Mode {
    /// The mode as the policy writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Log => "log",
            Self::Throttle => "throttle",
            Self::Block => "block",
        }
    }
}

/// The treatment of a request whose path the rules allow, but not another form of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherForms {
    /// It passes, and nothing is recorded.
    Pass,
    /// It passes and is recorded.
    Log,
    /// It is recorded and refused.
    Refuse,
}

impl OtherForms {
    /// The word in the policy.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Log => "log",
            Self::Refuse => "refuse",
        }
    }
}

/// The treatment of a request that comes too soon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaceMode {
    /// It is counted.
    Log,
    /// It is answered with 429.
    Throttle,
}

impl PaceMode {
    /// The word in the policy.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Throttle => "throttle",
        }
    }
}

/// The treatment of a request that only the newest robots.txt disallows, while the crawler may
/// still use an older one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grace {
    /// It passes and is counted.
    #[default]
    Count,
    /// It is a violation like any other.
    Enforce,
}

impl Grace {
    /// The word in the policy.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Enforce => "enforce",
        }
    }
}
