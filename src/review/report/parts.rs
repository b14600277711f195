//! Parts that several JSON lines have.

use serde::Serialize;

use super::client_total::{Count, Tally};

/// Requests, and the violations among them.
#[derive(Serialize)]
pub(super) struct CountPart {
    requests: u64,
    violations: u64,
}

/// Violations by what the client had read.
#[derive(Serialize)]
pub(super) struct ReadPart {
    never: u64,
    older: u64,
    current: u64,
}

impl From<Count> for CountPart {
    fn from(Count { requests, violations }: Count) -> Self {
        Self { requests, violations }
    }
}

impl From<&Tally> for ReadPart {
    fn from(tally: &Tally) -> Self {
        Self { never: tally.never, older: tally.older, current: tally.current }
    }
}
