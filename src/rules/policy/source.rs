//! The source of a site's rules.

/// The source of the rules that a site publishes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// The policy. The origin's own file is not fetched.
    #[default]
    Policy,
    /// The origin's file, as it is.
    Origin,
    /// Both, merged by crawler.
    Merge,
}

impl Source {
    /// The word in the policy.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Policy => "policy",
            Self::Origin => "origin",
            Self::Merge => "merge",
        }
    }
}
