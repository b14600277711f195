//! The limits of a database: of age and of size.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use crate::records::violations::{fill::Fill, retention::Retention, size_limit::SizeLimit};

/// The limits of a database, and who is told how full it is. The default has none.
#[derive(Debug, Default)]
pub(in crate::records::violations) struct Limits {
    pub(in crate::records::violations) age: Option<Retention>,
    pub(in crate::records::violations) size: Option<SizeLimit>,
    pub(in crate::records::violations) fill: Arc<Fill>,
}

impl Limits {
    /// Ends failed passes and schedules the next ones.
    pub(super) fn put_off(&mut self, now: Instant) {
        self.age.iter_mut().for_each(|age| age.put_off(now));
        self.size.iter_mut().for_each(|size| size.put_off(now));
    }

    /// The time until there may be something to remove.
    pub(super) fn rest(&self, now: Instant) -> Duration {
        let age = self.age.as_ref().map(|age| age.rest(now));
        let size = self.size.as_ref().and_then(|size| size.rest(now));
        age.into_iter().chain(size).min().unwrap_or(Duration::MAX)
    }
}
