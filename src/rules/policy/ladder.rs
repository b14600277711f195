//! The `ladder` of an enforcement: how a crawler climbs and comes down.

use std::time::Duration;

use crate::{formats::robots::Pace, rules::keys};

use super::{
    findings::Findings,
    pace,
    shape::At,
    share::{self, Share},
};

/// How a crawler climbs and comes down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ladder {
    /// The time in which violations are counted (default 1 h).
    pub period: Duration,
    /// The share of violations among a crawler's requests from which it climbs (default 10%).
    pub share: Share,
    /// The least number of violations from which a crawler climbs (default 10).
    pub min_violations: u64,
    /// The pace on the rung `throttle` for a crawler without a pace of its own (default one request
    /// every 10 s).
    pub throttle: Pace,
}

impl Default for Ladder {
    fn default() -> Self {
        Self {
            period: Duration::from_secs(3_600),
            share: Share::TENTH,
            min_violations: 10,
            throttle: Pace::new(1, Duration::from_secs(10))
                .expect("one request every 10 s is a pace"),
        }
    }
}

/// Reads the section; a value that it leaves out has its default.
pub(super) fn read(at: &At<'_>, findings: &mut Findings) -> Ladder {
    let default = Ladder::default();
    let Some(fields) = at.fields(&keys::LADDER, findings) else { return default };
    let minute_to_week = Duration::from_secs(60)..=Duration::from_secs(7 * 86_400);
    let period = fields.duration("period", minute_to_week, findings);
    let share = share::read(&fields, findings);
    let min_violations = fields.count("min_violations", findings);
    let throttle = fields.take("throttle").and_then(|at| pace::read(&at, findings));
    Ladder {
        period: period.unwrap_or(default.period),
        share: share.unwrap_or(default.share),
        min_violations: min_violations.unwrap_or(default.min_violations),
        throttle: throttle.unwrap_or(default.throttle),
    }
}
