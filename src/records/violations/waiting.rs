//! A record on its way to the store.

use crate::records::{record::Violation, tally::Tallied};

/// A violation on its way to the store, with what only the counts by hour need.
#[derive(Clone, Debug)]
pub struct Record {
    /// The violation.
    pub violation: Violation,
    /// Its place in the counts; `None` if nothing keeps counts.
    pub tallied: Option<Tallied>,
}
