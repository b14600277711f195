//! The presence of a node: a beat at each exchange, and a report for operators and new nodes.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{news::VERSION, statements::Statement};

/// A place in the stream of messages: the milliseconds and the number of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Position(pub u64, pub u64);

/// What a node has told and taken in so far.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beat {
    pub(crate) v: u32,
    pub(crate) node: String,
    pub(crate) run: String,
    /// The time of the fleet up to which everything was told.
    pub at: i64,
    /// The number of the last message that was told by then.
    pub seq: u64,
    /// The last message of others that was taken in.
    pub read: Position,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) gone: bool,
    /// Whether the node missed others at this server.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub apart: bool,
}

/// A node in detail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    pub(crate) v: u32,
    pub(crate) node: String,
    pub(crate) run: String,
    /// The time of the fleet at which the report was written.
    pub at: i64,
    /// The time of the fleet at which the run began.
    #[serde(default)]
    pub started: i64,
    #[serde(default)]
    pub(crate) version: String,
    /// The fingerprint of the policy in force.
    #[serde(default)]
    pub policy: String,
    /// Why the node is degraded; empty if it is not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub degraded: Vec<String>,
    /// The milliseconds since the last message of each other node, at most.
    #[serde(default)]
    pub lag: i64,
    /// The node's clock, less the time of the fleet, in milliseconds.
    #[serde(default)]
    pub offset: i64,
    #[serde(default)]
    pub(crate) serves: Statement,
}

impl Beat {
    /// Reads a beat.
    pub fn read(text: &[u8]) -> Option<Self> {
        serde_json::from_slice(text).ok()
    }
}

impl Report {
    /// Reads a report; `None` for one of a newer version.
    pub fn read(text: &[u8]) -> Option<Self> {
        serde_json::from_slice(text).ok().filter(|report: &Self| report.v <= VERSION)
    }
}

impl Position {
    /// Reads `1700000000000-3`.
    pub fn parse(text: &str) -> Option<Self> {
        let (time, number) = text.split_once('-')?;
        Some(Self(time.parse().ok()?, number.parse().ok()?))
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.0, self.1)
    }
}

impl From<Position> for String {
    fn from(position: Position) -> Self {
        position.to_string()
    }
}

impl TryFrom<String> for Position {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or(text)
    }
}
