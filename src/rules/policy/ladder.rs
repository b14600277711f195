//! The `ladder` of an enforcement, on which a crawler climbs and comes down, and its `breaker`.

use std::time::Duration;

use crate::{formats::robots::Pace, rules::keys};

use super::{
    fields::{Fields, defaults},
    share::Share,
};

/// How a crawler climbs and comes down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ladder {
    pub(crate) period: Duration,
    pub(crate) share: Share,
    pub(crate) min_violations: u64,
    pub(crate) throttle: Pace,
}

/// When refusing stops, because far more would be refused than intended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Breaker {
    pub(crate) share: Share,
    pub(crate) min_requests: u64,
    pub(crate) window: Duration,
    pub(crate) pause: Duration,
}

impl Default for Ladder {
    fn default() -> Self {
        defaults(&keys::LADDER, ladder)
    }
}

impl Default for Breaker {
    fn default() -> Self {
        defaults(&keys::BREAKER, breaker)
    }
}

pub(super) fn ladder(fields: &Fields<'_>) -> Ladder {
    Ladder {
        period: fields.get("period"),
        share: fields.get("share"),
        min_violations: fields.get("min_violations"),
        throttle: fields.get("throttle"),
    }
}

pub(super) fn breaker(fields: &Fields<'_>) -> Breaker {
    Breaker {
        share: fields.get("share"),
        min_requests: fields.get("min_requests"),
        window: fields.get("window"),
        pause: fields.get("pause"),
    }
}
