//! One event, as JSON and on its way.

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::rules::policy::AlertKind;

/// An event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The kind, or `test`.
    pub kind: &'static str,
    /// What it is about: two events of one kind with the same subject tell the same.
    pub subject: String,
    /// The time at which Beadle noticed it.
    pub at: Timestamp,
    pub(crate) summary: String,
    /// What it is about: `site`, `crawlers`, …
    pub details: Map<String, Value>,
}

/// An event on its way, with the id that all attempts share.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) id: String,
    pub(super) event: Event,
}

impl Event {
    pub(super) fn new(
        kind: AlertKind,
        subject: &str,
        at: Timestamp,
        summary: String,
        details: Value,
    ) -> Self {
        let details = match details {
            Value::Object(details) => details,
            _ => Map::new(),
        };
        Self { kind: kind.as_str(), subject: subject.to_owned(), at, summary, details }
    }

    /// An event that only shows that a receiver works.
    pub(super) fn test(at: Timestamp) -> Self {
        let summary = "a test of this receiver; nothing happened".to_owned();
        Self { kind: "test", subject: String::new(), at, summary, details: Map::new() }
    }

    pub(super) fn title(&self) -> String {
        format!("Beadle {}", self.kind.replace('_', " "))
    }

    /// The body of the request: `type`, `timestamp`, and `data` with the `summary` and the details.
    pub fn body(&self) -> String {
        let mut data = Map::new();
        data.insert("summary".to_owned(), Value::String(self.summary.clone()));
        data.extend(self.details.clone());
        let timestamp = format!("{:.3}", self.at);
        json!({ "type": self.kind, "timestamp": timestamp, "data": data }).to_string()
    }
}

impl Message {
    /// An id that no other event has. Those of later events are greater.
    pub(super) fn new_id() -> String {
        format!("msg_{}", Uuid::now_v7().simple())
    }
}
