//! The treatment of a violation that follows from the policy alone, before any request.

use jiff::Timestamp;

use crate::rules::{
    crawlers::{Name, Outcome, Standing},
    policy::{Enforcement, Mode},
};

use crate::base::text::words;

use super::overrides::{first_for, is_protected};

words! {
    /// What happens to the violations of a crawler, the mildest first.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Treatment {
        /// Its requests are not judged.
        Pass = "off",
        /// They are recorded.
        Log = "log",
        /// They are recorded, and its pace is enforced.
        Throttle = "throttle",
        /// Its place on the ladder decides.
        Ladder = "ladder",
        /// They are refused.
        Block = "block",
    }
}

impl Treatment {
    /// The treatment of a client with this name and standing. `None` is a client without a
    /// User-Agent. `is_by_star` says that a group for `*` disallows the request. At the least time,
    /// every override that ends counts.
    pub fn of(
        enforcement: &Enforcement,
        name: Option<Name<'_>>,
        standing: Standing,
        is_by_star: bool,
        now: Timestamp,
    ) -> Self {
        let own = match first_for(enforcement, name, standing.outcome, || now) {
            Some(one) => Self::of_mode(one.mode),
            None if name.is_some() && enforcement.ladder.is_some() => Self::Ladder,
            None => Self::of_mode(enforcement.mode),
        };
        let is_pending = name.is_some_and(Name::is_pending);
        let own = if is_pending { own.min(Self::Log) } else { own };
        let is_spared = own == Self::Block
            && is_by_star
            && name.is_some_and(|name| is_protected(enforcement, name, standing, || now));
        match enforcement.impostors {
            Some(mode) if own > Self::Pass && standing.outcome == Outcome::Contradicted => {
                own.max(Self::of_mode(mode))
            }
            _ if is_spared => Self::Log,
            _ => own,
        }
    }

    const fn of_mode(mode: Mode) -> Self {
        match mode {
            Mode::Off => Self::Pass,
            Mode::Log => Self::Log,
            Mode::Throttle => Self::Throttle,
            Mode::Block => Self::Block,
        }
    }
}
