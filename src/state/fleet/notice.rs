//! An event that a node raised, as JSON: the fleet's server keeps it until it was sent.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::news::VERSION;

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
