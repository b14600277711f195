//! What one node of a fleet tells the others about its clients, as plain values.
//!
//! All times are by the clock of the node that holds the value. A network between nodes converts
//! them. The names of the fields in JSON are a contract between nodes of different versions.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::rules::{crawlers::Outcome, enforce::Rung};

use super::{
    key::{Key, Limit, Network},
    ledger::Fetches,
    wire,
};

/// What the requests at one node changed since it last told the others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Observations {
    /// Fetches of robots.txt: the rows that changed.
    #[serde(deserialize_with = "wire::lenient", skip_serializing_if = "Vec::is_empty")]
    pub fetches: Vec<Fetches>,
    /// The time until which fetches were left out, because there were too many.
    #[serde(with = "wire::milliseconds_if", skip_serializing_if = "Option::is_none")]
    pub forgotten: Option<Timestamp>,
    /// The steps on the ladders of all sites. To be taken in before the counts.
    #[serde(deserialize_with = "wire::lenient", skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<RungStep>,
    /// Requests and violations on the ladders: the cells that changed.
    #[serde(deserialize_with = "wire::lenient", skip_serializing_if = "Vec::is_empty")]
    pub ladder: Vec<LadderCount>,
    /// The breakers that opened. To be taken in before their counts.
    #[serde(deserialize_with = "wire::lenient", skip_serializing_if = "Vec::is_empty")]
    pub openings: Vec<Opening>,
    /// Requests that passed or would be refused since the last collection, for the breakers.
    #[serde(deserialize_with = "wire::lenient", skip_serializing_if = "Vec::is_empty")]
    pub breaker: Vec<BreakerCount>,
    /// Requests that passed at their pace since the last collection.
    #[serde(deserialize_with = "wire::lenient", skip_serializing_if = "Vec::is_empty")]
    pub pace: Vec<PaceCount>,
}

/// A crawler on the ladder of a site.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LadderKey {
    #[serde(deserialize_with = "wire::name")]
    pub(crate) site: String,
    /// The product token as the catalogue or the site writes it, else as first declared.
    #[serde(rename = "token", deserialize_with = "wire::name")]
    pub product_token: String,
    /// The outcome of the evidence for the claim.
    #[serde(rename = "standing", with = "wire::outcome")]
    pub outcome: Outcome,
    /// The network of a name that only User-Agents declare; `None` for every other crawler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
}

/// The requests of a crawler at this node in one period of the ladder, all together. A later value
/// of the same key and number replaces the earlier one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LadderCount {
    #[serde(flatten)]
    pub(crate) key: LadderKey,
    /// What tells the period from others of the same node: the milliseconds of its start by the node's
    /// own clock. A later period has a greater one. It stays what it is in a network between nodes.
    pub number: i64,
    /// The start of the period.
    #[serde(with = "wire::milliseconds")]
    pub period: Timestamp,
    pub(crate) requests: u64,
    pub(crate) violations: u64,
}

/// A step of a crawler on the ladder. Of several, the last one counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RungStep {
    #[serde(flatten)]
    pub(crate) key: LadderKey,
    /// The rung after the step.
    #[serde(with = "wire::rung")]
    pub rung: Rung,
    /// How often the crawler climbed again after it came down.
    #[serde(default, skip_serializing_if = "wire::is_default")]
    pub returns: u8,
    /// The time of the step.
    #[serde(with = "wire::milliseconds")]
    pub at: Timestamp,
}

/// Requests at a site that count for its breaker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BreakerCount {
    #[serde(deserialize_with = "wire::name")]
    pub(crate) site: String,
    /// The time of the first of them.
    #[serde(with = "wire::milliseconds")]
    pub at: Timestamp,
    pub(crate) passed: u64,
    /// The requests that would be refused, by client.
    #[serde(default, deserialize_with = "wire::lenient", skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedCount>,
}

/// Requests of one client that would be refused.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RefusedCount {
    pub(crate) network: Network,
    /// The judged name; `None` for a client without one.
    #[serde(rename = "token", default, deserialize_with = "wire::name_if")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub product_token: Option<String>,
    /// Whether only a User-Agent declares the name.
    #[serde(rename = "declared", default, skip_serializing_if = "wire::is_default")]
    pub is_declared: bool,
    pub(crate) requests: u64,
}

/// The opening of a site's breaker. Of several, the last one counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opening {
    #[serde(deserialize_with = "wire::name")]
    pub(crate) site: String,
    /// The time.
    #[serde(with = "wire::milliseconds")]
    pub at: Timestamp,
    /// The confirmed search engine that would have been refused; `None` if the share of refusals
    /// reached the limit.
    #[serde(default, deserialize_with = "wire::name_if", skip_serializing_if = "Option::is_none")]
    pub search_engine: Option<String>,
}

/// Requests that passed at one pace, or at one limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaceCount {
    #[serde(flatten)]
    pub(crate) key: Key,
    #[serde(flatten)]
    pub(crate) limit: Limit,
    /// The time of the first request.
    #[serde(with = "wire::milliseconds")]
    pub at: Timestamp,
    pub(crate) requests: u32,
}

impl Observations {
    /// Whether there is nothing to tell.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
    /// All times in it.
    pub fn times_mut(&mut self) -> impl Iterator<Item = &mut Timestamp> {
        let fetches = self.fetches.iter_mut().flat_map(|one| [&mut one.first, &mut one.last]);
        fetches
            .chain(&mut self.forgotten)
            .chain(self.steps.iter_mut().map(|one| &mut one.at))
            .chain(self.ladder.iter_mut().map(|one| &mut one.period))
            .chain(self.openings.iter_mut().map(|one| &mut one.at))
            .chain(self.breaker.iter_mut().map(|one| &mut one.at))
            .chain(self.pace.iter_mut().map(|one| &mut one.at))
    }
}
