//! What was written down before this program started: editions, fetches and files held back.

use std::{collections::HashMap, sync::Arc};

use crate::{
    enforce::{self, Period, Rulebook},
    robots::OriginFile,
    violations::{self, Fetch, Quarantined, Sink, Store},
};

/// What the database keeps of the time before.
#[derive(Clone, Debug, Default)]
pub struct Remembered {
    /// The editions that were in force, by time.
    pub editions: Vec<violations::Edition>,
    /// Who fetched them.
    pub fetches: Vec<Fetch>,
    /// Files of origins that wait for somebody to accept them.
    pub held: Vec<Quarantined>,
}

impl Remembered {
    /// All that matters at `start` or later.
    ///
    /// # Errors
    /// Where the database can't be read.
    pub fn read(store: &Store, start: jiff::Timestamp) -> Result<Self, violations::Error> {
        Ok(Self {
            editions: store.editions(None, Some(start))?,
            fetches: store.fetches()?,
            held: store.quarantine()?,
        })
    }

    /// The periods of each site, by its name. An edition that several have is compiled once.
    pub fn periods(&self) -> HashMap<String, Vec<Period>> {
        let mut compiled: HashMap<&str, Arc<enforce::Edition>> = HashMap::new();
        let mut periods: HashMap<String, Vec<Period>> = HashMap::new();
        for row in &self.editions {
            let edition = compiled
                .entry(&row.sha256)
                .or_insert_with(|| Arc::new(enforce::Edition::of_bytes(row.bytes.to_vec())));
            let period = Period { edition: Arc::clone(edition), from: row.from, until: row.until };
            periods.entry(row.site.to_string()).or_default().push(period);
        }
        periods
    }
}

/// Has the editions in force written down; one that is already costs nothing.
pub(super) fn publish(sink: &Sink, rulebook: &Rulebook) {
    let known = rulebook.sites().iter().filter(|site| !site.edition().is_provisional());
    known.for_each(|site| sink.published(noted(site)));
}

/// Has what only filled in written down where crawlers may hold it, before `next` takes its place.
pub(super) fn publish_given(sink: &Sink, replaced: &Rulebook, next: &Rulebook) {
    let is_followed = |site: &&enforce::Site| {
        let mut sites = next.sites().iter();
        sites.any(|one| one.name == site.name && !one.edition().is_provisional())
    };
    let sites = replaced.sites().iter();
    sites
        .filter(|site| site.edition().is_provisional() && site.edition().may_be_held())
        .filter(is_followed)
        .for_each(|site| sink.published(noted(site)));
}

fn noted(site: &enforce::Site) -> violations::Edition {
    let edition = site.edition();
    violations::Edition {
        site: site.name.as_str().into(),
        id: edition.id().to_string().into(),
        sha256: edition.sha256().into(),
        bytes: edition.bytes().to_vec().into(),
        source: violations::Text::word(site.source.as_str()),
        origin_file: match site.origin_file.as_deref() {
            None => OriginFile::Unknown,
            Some([]) => OriginFile::Absent,
            Some(bytes) => OriginFile::Present(bytes.to_vec().into()),
        },
        from: site.timeline.since(),
        until: None,
    }
}
