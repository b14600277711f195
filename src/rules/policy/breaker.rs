//! The `breaker` of an enforcement: when refusing stops.

use std::time::Duration;

use crate::rules::keys;

use super::{
    fields::Fields,
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
        breaker(&Fields::absent(&keys::BREAKER), &mut Findings::default())
    }
}

/// Reads the section; a value that it leaves out has its default.
pub(super) fn read(at: &At<'_>, findings: &mut Findings) -> Breaker {
    if !matches!(at.node.value, Value::Map(_)) {
        findings.refuse(
            at,
            "neither off nor a mapping",
            "write off, or for example { share: 50%, pause: 10m }",
        );
        return Breaker::default();
    }
    breaker(&Fields::of(Some(at), &keys::BREAKER, findings), findings)
}

fn breaker(fields: &Fields<'_>, findings: &mut Findings) -> Breaker {
    let second_to = |seconds| Duration::from_secs(1)..=Duration::from_secs(seconds);
    Breaker {
        share: fields.value("share", share::read, Share::parse, findings),
        min_requests: fields.number("min_requests", findings),
        window: fields.time("window", second_to(3_600), findings),
        pause: fields.time("pause", second_to(86_400), findings),
    }
}
