//! The `ladder` of an enforcement: how a crawler climbs and comes down.

use std::time::Duration;

use crate::{formats::robots::Pace, rules::keys};

use super::{
    fields::{Fields, defaults},
    share::Share,
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
        defaults(&keys::LADDER, read)
    }
}

/// Reads the section; a value that it leaves out has its default.
pub(super) fn read(fields: &Fields<'_>) -> Ladder {
    Ladder {
        period: fields.get("period"),
        share: fields.get("share"),
        min_violations: fields.get("min_violations"),
        throttle: fields.get("throttle"),
    }
}
