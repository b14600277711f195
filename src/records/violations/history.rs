//! The history by which the running program judges, for a database that lacks it.
//!
//! A database may be moved away, emptied or replaced while it is in use. The writer then writes the
//! history into the new one, so that the next start judges as the running program does.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use crate::records::record::{ClockLeap, Edition, Fetch, HostPeriod};

/// Everything that the judgement needs after a restart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// The editions of all sites. Of a site, in the order of their ends; the one in force is last.
    pub editions: Vec<Edition>,
    /// The sites of hosts; of a host, in their order.
    pub hosts: Vec<HostPeriod>,
    /// The jumps of the clock.
    pub leaps: Vec<ClockLeap>,
    /// The fetches of robots.txt.
    pub fetches: Vec<Fetch>,
}

/// The source of the history. There is none before the program has one in force.
#[derive(Clone, Default)]
pub(super) struct Recollection(Arc<OnceLock<Source>>);

type Source = Box<dyn Fn() -> History + Send + Sync>;

impl Recollection {
    /// Sets the source. The first one stays.
    pub(super) fn set(&self, source: impl Fn() -> History + Send + Sync + 'static) {
        let _ = self.0.set(Box::new(source));
    }

    /// The history at this moment.
    pub(super) fn history(&self) -> Option<History> {
        self.0.get().map(|source| source())
    }
}

impl fmt::Debug for Recollection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recollection").field("is_set", &self.0.get().is_some()).finish()
    }
}
