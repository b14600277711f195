//! One message: what a run of a node saw, numbered, as JSON.

use serde::{Deserialize, Serialize};

use super::{rows::Told, statements::Statement};

/// The version of messages, beats and reports. A reader ignores those of a newer one.
pub const VERSION: u32 = 1;
/// The most rows of one message.
pub const MOST_ITEMS: usize = 2_000;
/// The longest message that is read, in octets.
const LONGEST: usize = 4 << 20;

/// A message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct News {
    /// The version.
    pub v: u32,
    /// The node.
    pub node: String,
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
    /// The JSON of the message.
    pub fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads a message. `None` for what is none, and for a newer version.
    pub fn read(text: &[u8]) -> Option<Self> {
        let news: Self = (text.len() <= LONGEST).then(|| serde_json::from_slice(text).ok())??;
        (news.v <= VERSION && news.seq > 0).then_some(news)
    }
}

/// Observations in parts of at most [`MOST_ITEMS`] rows.
pub fn split(told: Told) -> Vec<Told> {
    if told.len() <= MOST_ITEMS {
        return if told.is_empty() { Vec::new() } else { vec![told] };
    }
    let Told { fetches, forgotten, steps, ladder, openings, breaker, pace } = told;
    let mut parts = Vec::new();
    let mut add = |part: Told| parts.push(part);
    if forgotten.is_some() {
        add(Told { forgotten, ..Told::default() });
    }
    fetches
        .chunks(MOST_ITEMS)
        .for_each(|some| add(Told { fetches: some.to_vec(), ..Told::default() }));
    steps.chunks(MOST_ITEMS).for_each(|some| add(Told { steps: some.to_vec(), ..Told::default() }));
    ladder
        .chunks(MOST_ITEMS)
        .for_each(|some| add(Told { ladder: some.to_vec(), ..Told::default() }));
    openings
        .chunks(MOST_ITEMS)
        .for_each(|some| add(Told { openings: some.to_vec(), ..Told::default() }));
    // Each has a list of clients.
    breaker.chunks(16).for_each(|some| add(Told { breaker: some.to_vec(), ..Told::default() }));
    pace.chunks(MOST_ITEMS).for_each(|some| add(Told { pace: some.to_vec(), ..Told::default() }));
    parts
}
