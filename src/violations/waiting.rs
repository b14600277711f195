//! A record on its way to the store.

use std::sync::Arc;

use crate::violations::{Series, Text, Violation};

/// A violation on its way to the store, with what only the counts by hour need.
#[derive(Clone, Debug)]
pub struct Record {
    /// The violation.
    pub violation: Violation,
    /// Its place in the counts; `None` if nothing keeps counts.
    pub tallied: Option<Tallied>,
}

/// The place of a violation in the counts by hour.
#[derive(Clone, Debug)]
pub struct Tallied {
    pub(super) series: Arc<Series>,
    pub(super) places: Places,
}

/// What a violation requested and where it came from, as the counts by hour keep it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The path without its query.
    pub path: Text,
    /// The network of the client; `-` if the policy keeps none.
    pub network: Text,
}
