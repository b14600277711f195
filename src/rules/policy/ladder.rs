//! The `ladder` of an enforcement: how a crawler climbs and comes down.

use std::time::Duration;

use crate::{formats::robots::Pace, rules::keys};

use super::{
    fields::Fields,
    findings::Findings,
    rate,
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
        ladder(&Fields::absent(&keys::LADDER), &mut Findings::default())
    }
}

/// Reads the section; a value that it leaves out has its default.
pub(super) fn read(at: Option<&At<'_>>, findings: &mut Findings) -> Ladder {
    ladder(&Fields::of(at, &keys::LADDER, findings), findings)
}

fn ladder(fields: &Fields<'_>, findings: &mut Findings) -> Ladder {
    let minute_to_week = Duration::from_secs(60)..=Duration::from_secs(7 * 86_400);
    Ladder {
        period: fields.time("period", minute_to_week, findings),
        share: fields.value("share", share::read, Share::parse, findings),
        min_violations: fields.number("min_violations", findings),
        throttle: fields.value("throttle", rate::read, Pace::parse, findings),
    }
}
