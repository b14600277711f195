//! The `breaker` of an enforcement: when refusing stops.

use std::time::Duration;

use crate::rules::keys;

use super::{
    fields::{Fields, defaults},
    shape::At,
    share::Share,
};

/// When refusing stops, because far more would be refused than intended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Breaker {
    /// Share of requests that would be refused before the breaker opens (default 50%).
    pub share: Share,
    /// The least number of requests before the breaker opens (default 200).
    pub min_requests: u64,
    /// The time in which requests are counted (default 60 s).
    pub window: Duration,
    /// How long the breaker stays open (default 10 min).
    pub pause: Duration,
}

impl Default for Breaker {
    fn default() -> Self {
        defaults(&keys::BREAKER, breaker)
    }
}

/// Reads the section; a value that it leaves out has its default.
pub(super) fn read(at: &At<'_>) -> Breaker {
    if !at.is_map() {
        let help = "write off, or for example { share: 50%, pause: 10m }";
        at.refuse("neither off nor a mapping", help);
        return Breaker::default();
    }
    at.fields().as_ref().map_or_else(Breaker::default, breaker)
}

fn breaker(fields: &Fields<'_>) -> Breaker {
    Breaker {
        share: fields.get("share"),
        min_requests: fields.get("min_requests"),
        window: fields.get("window"),
        pause: fields.get("pause"),
    }
}
