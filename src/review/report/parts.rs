//! Parts that several JSON lines have.

use serde_json::{Value, json};

use super::client_total::{Count, Tally};

/// Requests, and the violations among them.
pub(super) fn count(Count { requests, violations }: Count) -> Value {
    json!({ "requests": requests, "violations": violations })
}

/// Violations by what the client had read.
pub(super) fn read(tally: &Tally) -> Value {
    json!({ "never": tally.never, "older": tally.older, "current": tally.current })
}
