//! One message: what a run of a node saw, numbered, as JSON; and an event, which the fleet's server keeps
//! until it was sent.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::clients::conduct::{self, Network, Observations};

use super::statements::Statement;

/// The version of messages, beats and reports. A reader ignores those of a newer one.
pub const VERSION: u32 = 1;
/// The longest message that is read, in octets.
const LONGEST: usize = 4 << 20;

/// A message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct News {
    pub(crate) v: u32,
    pub(crate) node: String,
    /// The run of the node: another one at each start.
    pub run: String,
    /// The number of the message within the run, from 1.
    pub seq: u64,
    /// The time of the fleet at which it was written.
    pub at: i64,
    /// What requests changed.
    #[serde(flatten)]
    pub told: Told,
    /// The editions that the node serves from now on; `None` if they did not change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serves: Option<Statement>,
}

impl News {
    /// Reads a message. `None` for what is none, and for a newer version.
    pub fn read(text: &[u8]) -> Option<Self> {
        let news: Self = (text.len() <= LONGEST).then(|| serde_json::from_slice(text).ok())??;
        (news.v <= VERSION && news.seq > 0).then_some(news)
    }
}

/// An event for the operator, raised at a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Notice {
    pub(crate) v: u32,
    pub(crate) node: String,
    pub(crate) run: String,
    pub(crate) kind: String,
    /// What it is about: two events of one kind with the same subject tell the same.
    #[serde(default)]
    pub subject: String,
    /// The time of the fleet at which it was noticed.
    pub at: i64,
    /// The event in one sentence.
    pub summary: String,
    #[serde(default)]
    pub(crate) details: Map<String, Value>,
    /// The webhook that wants it: what tells it from others in all nodes.
    pub webhook: String,
}

impl Notice {
    /// Reads a notice. `None` for what is none, and for a newer version.
    pub fn read(text: &[u8]) -> Option<Self> {
        let notice: Self = serde_json::from_slice(text).ok()?;
        (notice.v <= VERSION).then_some(notice)
    }
}

/// The JSON of a message, a beat, a report or a part of them.
pub fn json(value: &impl Serialize) -> String {
    // Neither maps with odd keys nor anything else that has no JSON is in one.
    serde_json::to_string(value).unwrap_or_default()
}

/// The most rows of one message.
pub const MOST_ITEMS: usize = 2_000;

/// The time of the fleet, less a node's own, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shift(pub i64);

impl Shift {
    pub(crate) fn told(self, own: Timestamp) -> i64 {
        own.as_millisecond().saturating_add(self.0)
    }

    pub(crate) fn own(self, fleet: i64) -> Timestamp {
        conduct::time(fleet.saturating_sub(self.0))
    }
}

/// Observations with times of the fleet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Told(pub(super) Observations);

impl Told {
    /// Observations of this node. A row whose network is known only by its hash is left out: the hash
    /// means nothing to another node.
    pub fn of(mut all: Observations, shift: Shift) -> Self {
        let is_told = |network: Option<Network>| !matches!(network, Some(Network::Hashed(_)));
        all.fetches.retain(|one| is_told(Some(one.network)));
        all.steps.retain(|one| is_told(one.key.network));
        all.ladder.retain(|one| is_told(one.key.network));
        all.pace.retain(|one| is_told(one.key.network));
        for count in &mut all.breaker {
            count.refused.retain(|one| is_told(Some(one.network)));
        }
        all.times_mut().for_each(|at| *at = Shift::default().own(shift.told(*at)));
        Self(all)
    }

    /// The observations, by the clock of this node. Counts of requests before `oldest`, a time of the
    /// fleet, are left out: they no longer matter. Another node may say what can't be.
    pub fn observations(self, shift: Shift, oldest: i64) -> Observations {
        let Self(mut all) = self;
        all.breaker.retain(|one| one.at.as_millisecond() >= oldest);
        all.pace.retain(|one| one.at.as_millisecond() >= oldest);
        for one in &mut all.fetches {
            (one.first, one.count) = (one.first.min(one.last), one.count.max(1));
        }
        all.ladder.iter_mut().for_each(|one| one.violations = one.violations.min(one.requests));
        all.pace.iter_mut().for_each(|one| one.limit.times = one.limit.times.max(1));
        all.times_mut().for_each(|at| *at = shift.own(at.as_millisecond()));
        all
    }

    pub(crate) fn len(&self) -> usize {
        let Observations { fetches, forgotten, steps, ladder, openings, breaker, pace } = &self.0;
        let refused: usize = breaker.iter().map(|row| row.refused.len()).sum();
        let fetches = fetches.len() + usize::from(forgotten.is_some());
        fetches + steps.len() + ladder.len() + openings.len() + breaker.len() + refused + pace.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Parts of at most [`MOST_ITEMS`] rows.
    pub fn split(self) -> Vec<Self> {
        if self.len() <= MOST_ITEMS {
            return if self.is_empty() { Vec::new() } else { vec![self] };
        }
        let Observations { fetches, forgotten, steps, ladder, openings, breaker, pace } = self.0;
        let (none, most) = (Observations::default, MOST_ITEMS);
        let forgotten = forgotten.map(|at| Self(Observations { forgotten: Some(at), ..none() }));
        // Each of a breaker has a list of clients.
        forgotten
            .into_iter()
            .chain(chunks(&fetches, most, |fetches| Observations { fetches, ..none() }))
            .chain(chunks(&steps, most, |steps| Observations { steps, ..none() }))
            .chain(chunks(&ladder, most, |ladder| Observations { ladder, ..none() }))
            .chain(chunks(&openings, most, |openings| Observations { openings, ..none() }))
            .chain(chunks(&breaker, 16, |breaker| Observations { breaker, ..none() }))
            .chain(chunks(&pace, most, |pace| Observations { pace, ..none() }))
            .collect()
    }
}

fn chunks<T: Clone>(
    rows: &[T],
    most: usize,
    part: impl Fn(Vec<T>) -> Observations,
) -> impl Iterator<Item = Told> {
    rows.chunks(most).map(move |some| Told(part(some.to_vec())))
}
