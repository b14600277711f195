//! What is judged, and by what is known of who asks.

use std::time::Duration;

use jiff::Timestamp;

use crate::{
    crawlers::{Claim, Crawler, Name, Outcome, Standing},
    robots::Target,
};

use super::{ladder::Rung, timeline::Holding};

/// A request, as far as it is judged.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'r, 'a> {
    /// What its User-Agent claims.
    pub claim: &'r Claim<'r>,
    /// Whether it has no User-Agent worth the name: such a client is bound by `*` where the site
    /// says so, one with an unknown User-Agent is not.
    pub is_nameless: bool,
    /// What it asks for.
    pub target: &'a Target<'a>,
}

/// When a request is judged.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// The time of the request.
    pub now: Timestamp,
    /// How the clock was put forward lately.
    pub leap: Option<Leap>,
}

/// A clock put forward: what was just now was long ago by it.
#[derive(Clone, Copy, Debug)]
pub struct Leap {
    /// By how much.
    pub by: Duration,
    /// How long ago.
    pub ago: Duration,
}

/// What is known of a request beside what it says.
pub trait Knowledge {
    /// When it is judged; asked for only where that matters.
    fn moment(&self) -> Moment;

    /// What is known of the claim to be this crawler; asked once for each name, but not for one
    /// that another crawler of the claim is known to borrow.
    fn standing(&self, crawler: &Crawler) -> Standing {
        Standing::unexamined(crawler)
    }

    /// Where the bearer of this name stands on the site's ladder.
    fn rung(&self, name: Name<'_>, outcome: Outcome) -> Rung {
        let _ = (name, outcome);
        Rung::Observe
    }

    /// Which editions the bearer of this name may be going by, of those that it fetched after
    /// `start`.
    fn holding(&self, name: Name<'_>, standing: Standing, start: Timestamp) -> Holding {
        let _ = (name, standing, start);
        Holding::Any
    }
}

/// Nothing is known but the time.
impl Knowledge for Moment {
    fn moment(&self) -> Moment {
        *self
    }
}

impl Moment {
    /// A moment by a clock that can be trusted.
    pub const fn at(now: Timestamp) -> Self {
        Self { now, leap: None }
    }

    /// When a window that ends now began.
    pub fn start_of(self, window: Duration) -> Timestamp {
        let leap =
            self.leap.filter(|leap| leap.ago < window).map_or(Duration::ZERO, |leap| leap.by);
        self.now.checked_sub(window.saturating_add(leap)).unwrap_or(Timestamp::MIN)
    }
}
