//! The `breaker` of an enforcement: when refusing stops.

use std::time::Duration;

use crate::rules::keys;

use super::{
    findings::Findings,
    shape::At,
    share::{self, Share},
    yaml::Value,
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
        Self {
            share: Share::HALF,
            min_requests: 200,
            window: Duration::from_secs(60),
            pause: Duration::from_secs(600),
        }
    }
}

/// Reads the section; a value that it leaves out has its default.
pub(super) fn read(at: &At<'_>, findings: &mut Findings) -> Breaker {
    let default = Breaker::default();
    if !matches!(at.node.value, Value::Map(_)) {
        findings.refuse(
            at,
            "neither off nor a mapping",
            "write off, or for example { share: 50%, pause: 10m }",
        );
        return default;
    }
    let Some(fields) = at.fields(&keys::BREAKER, findings) else { return default };
    let second_to_hour = Duration::from_secs(1)..=Duration::from_secs(3_600);
    let second_to_day = Duration::from_secs(1)..=Duration::from_secs(86_400);
    let share = share::read(&fields, findings);
    let min_requests = fields.count("min_requests", findings);
    let window = fields.duration("window", second_to_hour, findings);
    let pause = fields.duration("pause", second_to_day, findings);
    Breaker {
        share: share.unwrap_or(default.share),
        min_requests: min_requests.unwrap_or(default.min_requests),
        window: window.unwrap_or(default.window),
        pause: pause.unwrap_or(default.pause),
    }
}
