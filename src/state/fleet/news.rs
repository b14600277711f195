//! One message: what a run of a node saw, numbered, as JSON; and an event, which the fleet's server keeps
//! until it was sent.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

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
