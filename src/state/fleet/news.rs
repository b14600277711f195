//! One message: what a run of a node saw, numbered, as JSON.

use serde::{Deserialize, Serialize};

use super::{statements::Statement, told::Told};

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

/// The JSON of a message, a beat, a report or a part of them.
pub fn json(value: &impl Serialize) -> String {
    // Neither maps with odd keys nor anything else that has no JSON is in one.
    serde_json::to_string(value).unwrap_or_default()
}
