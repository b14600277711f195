//! The memory of earlier runs in the database: editions, fetches and quarantined files.

use std::{collections::HashMap, sync::Arc, time::Duration};

use jiff::Timestamp;

use crate::{
    conduct::{Fetches, Ledger, Network},
    crawlers::Outcome,
    enforce::{self, EditionId, History, Moment, Period, Rulebook},
    policy::{Policy, Source},
    robots::{self, OriginFile, closes_everything},
    violations::{self, Fetch, Obstacle, Quarantined, Sink, Store},
};

use super::origin_files::KnownFile;

/// The least time to read back. Recent editions affect the dates of later ones, even outside every
/// window.
const LEAST_WINDOW: Duration = Duration::from_secs(60);

/// The rows of the database that still matter.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// The editions that were in force, by time.
    pub editions: Vec<violations::Edition>,
    /// The fetches of robots.txt.
    pub fetches: Vec<Fetch>,
    /// The files of origins in quarantine.
    pub quarantine: Vec<Quarantined>,
}

impl Memory {
    /// The rows of the policy's database that matter at `now`; none without a database.
    ///
    /// # Errors
    /// The database is unreadable.
    pub fn read(policy: &Policy, now: Timestamp) -> Result<Self, violations::Error> {
        let Some(file) = &policy.violations.database else { return Ok(Self::default()) };
        let start = Moment::at(now).start_of(longest_window(policy).max(LEAST_WINDOW));
        match Store::open_read_only(file).and_then(|store| Self::of(&store, start)) {
            Err(error) if matches!(error.obstacle, Obstacle::NoFile | Obstacle::NoFolder) => {
                Ok(Self::default())
            }
            read => read,
        }
    }

    fn of(store: &Store, start: Timestamp) -> Result<Self, violations::Error> {
        Ok(Self {
            editions: store.editions(None, Some(start))?,
            fetches: store.fetches()?,
            quarantine: store.quarantine()?,
        })
    }

    /// The policy as a server would publish it at `now`, without any fetch from an origin.
    pub fn rulebook(&self, policy: &Policy, now: Timestamp) -> Rulebook {
        let mut history = History::after(None, now);
        history.periods = self.periods();
        Rulebook::compile_with(policy, &mut history)
    }

    /// The periods of each site, by name. Sites with the same edition share it.
    pub fn periods(&self) -> HashMap<String, Vec<Period>> {
        let mut compiled: HashMap<&str, Arc<enforce::Edition>> = HashMap::new();
        let mut periods: HashMap<String, Vec<Period>> = HashMap::new();
        for row in &self.editions {
            let edition = compiled
                .entry(&row.sha256)
                .or_insert_with(|| Arc::new(enforce::Edition::of_bytes(row.bytes.clone())));
            let period = Period { edition: Arc::clone(edition), from: row.from, until: row.until };
            periods.entry(row.site.to_string()).or_default().push(period);
        }
        periods
    }

    /// The ledger of fetches.
    pub fn ledger(&self) -> Ledger {
        Ledger::of(self.fetches.iter().filter_map(|fetch| {
            Some(Fetches {
                site: fetch.site.to_string(),
                product_token: fetch.product_token.to_string(),
                network: Network::parse(&fetch.network),
                outcome: Outcome::from_word(&fetch.standing).unwrap_or(Outcome::Unknown),
                edition: EditionId::parse(&fetch.edition)?,
                first: fetch.first,
                last: fetch.last,
                count: u32::try_from(fetch.count).unwrap_or(u32::MAX),
                interval: fetch.interval,
            })
        }))
    }

    /// The known file of the origin of a site: its last file, never the policy's.
    pub(super) fn origin_file(&self, site: &str) -> KnownFile {
        let last = self.editions.iter().rev().find(|edition| edition.site.as_str() == site);
        let was_open = last.is_some_and(|last| !closes_everything(&robots::parse(&last.bytes).0));
        let file = last.map_or(OriginFile::Unknown, |last| match &last.origin_file {
            OriginFile::Unknown if last.source.as_str() == Source::Origin.as_str() => {
                OriginFile::Present(last.bytes.clone())
            }
            file => file.clone(),
        });
        let quarantined = self.quarantine.iter().find(|one| one.site.as_str() == site);
        KnownFile::new(file, quarantined.map(|one| one.bytes.clone()), was_open)
    }
}

/// The longest cache window of all sites.
pub fn longest_window(policy: &Policy) -> Duration {
    let windows = policy.sites.iter().map(|site| site.robots_txt.cache_window);
    windows.max().unwrap_or_default()
}

/// Stores the editions in force. A stored edition is not written again.
pub(super) fn store(sink: &Sink, rulebook: &Rulebook) {
    let known = rulebook.sites().iter().filter(|site| !site.edition().is_provisional());
    known.for_each(|site| sink.published(row(site)));
}

/// Stores the provisional editions that a client fetched, before `next` replaces them.
pub(super) fn store_provisional(sink: &Sink, replaced: &Rulebook, next: &Rulebook) {
    let is_followed = |site: &&enforce::Site| {
        let mut sites = next.sites().iter();
        sites.any(|one| one.name == site.name && !one.edition().is_provisional())
    };
    let sites = replaced.sites().iter();
    sites
        .filter(|site| site.edition().is_provisional() && site.edition().may_be_known())
        .filter(is_followed)
        .for_each(|site| sink.published(row(site)));
}

fn row(site: &enforce::Site) -> violations::Edition {
    let edition = site.edition();
    violations::Edition {
        site: site.name.as_str().into(),
        id: edition.id().to_string().into(),
        sha256: edition.sha256().into(),
        bytes: edition.bytes().clone(),
        source: violations::Text::word(site.source.as_str()),
        origin_file: site.origin_file.clone(),
        from: site.timeline.since(),
        until: None,
    }
}
