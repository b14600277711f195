//! A site compiled for serving.

use std::{sync::Arc, time::Duration};

use crate::{crawlers::SiteNames, policy, robots};

use super::{edition::Edition, tags::Tags, timeline::Timeline};

/// A site compiled for serving.
#[derive(Debug)]
pub struct Site {
    /// The name in records and metrics.
    pub name: String,
    /// The servers that get its requests, and how they get them.
    pub backend: Arc<policy::Backend>,
    /// How these servers read a path.
    pub reading: robots::Reading,
    /// The source of its rules.
    pub source: policy::Source,
    /// The origin's robots.txt that is merged into the rules. Unknown where none is merged, or none
    /// has been fetched yet.
    pub origin_file: robots::OriginFile,
    /// The editions of its robots.txt in time.
    pub timeline: Timeline,
    /// How long a copy of robots.txt stays fresh: `Cache-Control: max-age`.
    pub max_age: Duration,
    /// How long crawlers may use a copy of robots.txt (RFC 9309 §2.4).
    pub cache_window: Duration,
    /// The names of its groups and overrides that are in no catalogue.
    pub names: SiteNames,
    /// The tags of its answers.
    pub tags: Tags,
    /// The treatment of violations.
    pub enforcement: policy::Enforcement,
}

impl Site {
    /// The edition in force.
    pub fn edition(&self) -> &Edition {
        self.timeline.current()
    }
}
