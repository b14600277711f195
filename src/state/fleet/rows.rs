//! Observations as rows of a message, with times of the fleet.
//!
//! A row that can't be read is left out: a newer node may say something that this one does not know.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    clients::conduct::{
        BreakerCount, Fetches, LadderCount, LadderKey, Network, Observations, Opening, PaceCount,
        RefusedCount, RungStep,
    },
    formats::robots::Pace,
    rules::{
        crawlers::Outcome,
        enforce::{EditionId, Rung},
    },
};

/// The longest name in a row, in octets.
const LONGEST: usize = 512;

/// The time of the fleet, less a node's own, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shift(pub i64);

impl Shift {
    /// An own time as one of the fleet.
    pub fn told(self, own: Timestamp) -> i64 {
        own.as_millisecond().saturating_add(self.0)
    }

    /// A time of the fleet as an own one.
    pub fn own(self, fleet: i64) -> Timestamp {
        let own = fleet.saturating_sub(self.0);
        Timestamp::from_millisecond(own).unwrap_or(if own < 0 {
            Timestamp::MIN
        } else {
            Timestamp::MAX
        })
    }
}

/// Observations in the form of a message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Told {
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Vec::is_empty")]
    pub(super) fetches: Vec<FetchRow>,
    /// The time until which fetches are unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) forgotten: Option<i64>,
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Vec::is_empty")]
    pub(super) steps: Vec<StepRow>,
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Vec::is_empty")]
    pub(super) ladder: Vec<LadderRow>,
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Vec::is_empty")]
    pub(super) openings: Vec<OpeningRow>,
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Vec::is_empty")]
    pub(super) breaker: Vec<BreakerRow>,
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Vec::is_empty")]
    pub(super) pace: Vec<PaceRow>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct FetchRow {
    site: String,
    token: String,
    network: String,
    standing: String,
    edition: String,
    first: i64,
    pub(super) last: i64,
    count: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    interval: Option<u64>,
}

/// A crawler on a ladder, as a part of a row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Climber {
    site: String,
    token: String,
    standing: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    network: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct StepRow {
    #[serde(flatten)]
    pub(super) climber: Climber,
    pub(super) rung: String,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) returns: u32,
    pub(super) at: i64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct LadderRow {
    #[serde(flatten)]
    pub(super) climber: Climber,
    /// Not a time of the fleet: it only tells the periods of a run apart.
    pub(super) number: i64,
    pub(super) period: i64,
    pub(super) requests: u64,
    pub(super) violations: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OpeningRow {
    pub(super) site: String,
    pub(super) at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) search_engine: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct BreakerRow {
    site: String,
    at: i64,
    passed: u64,
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Vec::is_empty")]
    refused: Vec<RefusedRow>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct RefusedRow {
    network: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    token: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    declared: bool,
    requests: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PaceRow {
    scope: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    token: Option<String>,
    standing: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    network: Option<String>,
    /// Requests, and their time in milliseconds.
    pace: (u32, u64),
    times: u32,
    /// For a limit.
    #[serde(default, skip_serializing_if = "is_zero")]
    burst: u32,
    at: i64,
    requests: u32,
}

impl Told {
    /// Observations of this node. A row whose network is known only by its hash is left out: the hash
    /// means nothing to another node.
    pub fn of(observations: &Observations, shift: Shift) -> Self {
        let Observations { fetches, forgotten, steps, ladder, openings, breaker, pace } =
            observations;
        Self {
            forgotten: forgotten.map(|until| shift.told(until)),
            fetches: fetches.iter().filter_map(|one| FetchRow::of(one, shift)).collect(),
            steps: steps.iter().filter_map(|one| StepRow::of(one, shift)).collect(),
            ladder: ladder.iter().filter_map(|one| LadderRow::of(one, shift)).collect(),
            openings: openings.iter().map(|one| OpeningRow::of(one, shift)).collect(),
            breaker: breaker.iter().map(|one| BreakerRow::of(one, shift)).collect(),
            pace: pace.iter().filter_map(|one| PaceRow::of(one, shift)).collect(),
        }
    }

    /// The observations, by the clock of this node. Counts of requests before `oldest`, a time of the
    /// fleet, are left out: they no longer matter.
    pub fn observations(&self, shift: Shift, oldest: i64) -> Observations {
        let breaker = self.breaker.iter().filter(|row| row.at >= oldest);
        let pace = self.pace.iter().filter(|row| row.at >= oldest);
        Observations {
            forgotten: self.forgotten.map(|until| shift.own(until)),
            fetches: self.fetches.iter().filter_map(|row| row.fetches(shift)).collect(),
            steps: self.steps.iter().filter_map(|row| row.step(shift)).collect(),
            ladder: self.ladder.iter().filter_map(|row| row.count(shift)).collect(),
            openings: self.openings.iter().filter_map(|row| row.opening(shift)).collect(),
            breaker: breaker.filter_map(|row| row.count(shift)).collect(),
            pace: pace.filter_map(|row| row.count(shift)).collect(),
        }
    }

    /// Whether it tells nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        let refused: usize = self.breaker.iter().map(|row| row.refused.len()).sum();
        let ladders = self.steps.len() + self.ladder.len();
        let breakers = self.openings.len() + self.breaker.len() + refused;
        let fetches = self.fetches.len() + usize::from(self.forgotten.is_some());
        fetches + ladders + breakers + self.pace.len()
    }
}

impl FetchRow {
    pub(super) fn of(one: &Fetches, shift: Shift) -> Option<Self> {
        Some(Self {
            site: one.site.clone(),
            token: one.product_token.clone(),
            network: network_text(one.network)?,
            standing: one.outcome.as_str().to_owned(),
            edition: one.edition.to_string(),
            first: shift.told(one.first),
            last: shift.told(one.last),
            count: one.count,
            interval: one.interval.map(|interval| interval.as_secs()),
        })
    }

    pub(super) fn fetches(&self, shift: Shift) -> Option<Fetches> {
        Some(Fetches {
            site: name(&self.site)?,
            product_token: name(&self.token)?,
            network: network(&self.network)?,
            outcome: Outcome::from_word(&self.standing)?,
            edition: EditionId::parse(&self.edition)?,
            first: shift.own(self.first.min(self.last)),
            last: shift.own(self.last),
            count: self.count.max(1),
            interval: self.interval.filter(|seconds| *seconds > 0).map(Duration::from_secs),
        })
    }

    /// The same client and edition, without what each fetch changes.
    pub(super) fn without_times(self) -> Self {
        Self { first: 0, last: 0, count: 1, interval: None, ..self }
    }

    pub(super) fn at(self, last: i64) -> Self {
        Self { first: last, last, ..self }
    }
}

impl Climber {
    fn of(key: &LadderKey) -> Option<Self> {
        Some(Self {
            site: key.site.clone(),
            token: key.product_token.clone(),
            standing: key.outcome.as_str().to_owned(),
            network: optional(key.network, network_text)?,
        })
    }

    fn key(&self) -> Option<LadderKey> {
        Some(LadderKey {
            site: name(&self.site)?,
            product_token: name(&self.token)?,
            outcome: Outcome::from_word(&self.standing)?,
            network: optional(self.network.as_deref(), network)?,
        })
    }
}

impl StepRow {
    pub(super) fn of(one: &RungStep, shift: Shift) -> Option<Self> {
        let rung = one.rung.as_str().to_owned();
        let (climber, at) = (Climber::of(&one.key)?, shift.told(one.at));
        Some(Self { climber, rung, returns: one.returns.into(), at })
    }

    pub(super) fn step(&self, shift: Shift) -> Option<RungStep> {
        let rung = Rung::from_word(&self.rung)?;
        let (key, at) = (self.climber.key()?, shift.own(self.at));
        Some(RungStep { key, rung, returns: u8::try_from(self.returns).unwrap_or(u8::MAX), at })
    }
}

impl LadderRow {
    pub(super) fn of(one: &LadderCount, shift: Shift) -> Option<Self> {
        Some(Self {
            climber: Climber::of(&one.key)?,
            number: one.number,
            period: shift.told(one.period),
            requests: one.requests,
            violations: one.violations,
        })
    }

    pub(super) fn count(&self, shift: Shift) -> Option<LadderCount> {
        Some(LadderCount {
            key: self.climber.key()?,
            number: self.number,
            period: shift.own(self.period),
            requests: self.requests,
            violations: self.violations.min(self.requests),
        })
    }
}

impl OpeningRow {
    pub(super) fn of(one: &Opening, shift: Shift) -> Self {
        let search_engine = one.search_engine.clone();
        Self { site: one.site.clone(), at: shift.told(one.at), search_engine }
    }

    pub(super) fn opening(&self, shift: Shift) -> Option<Opening> {
        let search_engine = optional(self.search_engine.as_deref(), name)?;
        Some(Opening { site: name(&self.site)?, at: shift.own(self.at), search_engine })
    }
}

impl BreakerRow {
    fn of(one: &BreakerCount, shift: Shift) -> Self {
        let refused = one.refused.iter().filter_map(|one| {
            Some(RefusedRow {
                network: network_text(one.network)?,
                token: one.product_token.clone(),
                declared: one.is_declared,
                requests: one.requests,
            })
        });
        let refused = refused.collect();
        Self { site: one.site.clone(), at: shift.told(one.at), passed: one.passed, refused }
    }

    fn count(&self, shift: Shift) -> Option<BreakerCount> {
        let refused = self.refused.iter().filter_map(|row| {
            Some(RefusedCount {
                network: network(&row.network)?,
                product_token: optional(row.token.as_deref(), name)?,
                is_declared: row.declared,
                requests: row.requests,
            })
        });
        let refused = refused.collect();
        Some(BreakerCount {
            site: name(&self.site)?,
            at: shift.own(self.at),
            passed: self.passed,
            refused,
        })
    }
}

impl PaceRow {
    fn of(one: &PaceCount, shift: Shift) -> Option<Self> {
        let per = u64::try_from(one.pace.per().as_millis()).ok()?;
        Some(Self {
            scope: one.scope.clone(),
            token: one.product_token.clone(),
            standing: one.outcome.as_str().to_owned(),
            network: optional(one.network, network_text)?,
            pace: (one.pace.requests(), per),
            times: one.times,
            burst: one.burst,
            at: shift.told(one.at),
            requests: one.requests,
        })
    }

    fn count(&self, shift: Shift) -> Option<PaceCount> {
        Some(PaceCount {
            scope: name(&self.scope)?,
            product_token: optional(self.token.as_deref(), name)?,
            outcome: Outcome::from_word(&self.standing)?,
            network: optional(self.network.as_deref(), network)?,
            pace: Pace::new(self.pace.0, Duration::from_millis(self.pace.1))?,
            times: self.times.max(1),
            burst: self.burst,
            at: shift.own(self.at),
            requests: self.requests,
        })
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// The text of a network; `None` if only its hash is known.
fn network_text(network: Network) -> Option<String> {
    (!matches!(network, Network::Hashed(_))).then(|| network.to_string())
}

fn network(text: &str) -> Option<Network> {
    Some(Network::parse(text)).filter(|network| !matches!(network, Network::Hashed(_)))
}

/// A value that may be absent; `None` if it is there and can't be read.
fn optional<T, U>(value: Option<T>, read: impl FnOnce(T) -> Option<U>) -> Option<Option<U>> {
    value.map_or(Some(None), |value| read(value).map(Some))
}

fn name(text: &str) -> Option<String> {
    (!text.is_empty() && text.len() <= LONGEST).then(|| text.to_owned())
}

/// The items of a list that can be read.
pub(super) fn lenient<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let items = match Value::deserialize(deserializer)? {
        Value::Array(items) => items,
        _ => Vec::new(),
    };
    Ok(items.into_iter().filter_map(|item| serde_json::from_value(item).ok()).collect())
}
