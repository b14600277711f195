//! The sites with fetches from their origins, and the known files.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use tokio::sync::mpsc;

use crate::{
    base::metrics::Metrics,
    formats::robots::{OriginFile, closes_everything},
    rules::{
        enforce::Chronicle,
        policy::{self, Policy, Source},
    },
};

use super::{
    change::FilesBySite,
    memory::Memory,
    origin_files::{Clients, KnownFile, KnownHosts, News, OriginFiles, OriginReports, WatchedSite},
};

/// The most time that a start waits for the first files of the origins.
pub(super) const AT_START: Duration = Duration::from_secs(3);
/// The most time that a reload waits: it takes effect within a second. A file that comes later takes
/// effect when it comes.
pub(super) const AT_RELOAD: Duration = Duration::from_millis(600);
/// The most time that a reload waits if an origin failed before.
pub(super) const AFTER_FAILURE: Duration = Duration::from_millis(300);

/// Starts to fetch from the origins of the sites that publish their files. `known` returns the known file
/// of a site.
pub(super) fn start(
    clients: &Clients,
    policy: &Policy,
    known: impl Fn(&policy::Site) -> KnownFile,
    news: &mpsc::UnboundedSender<News>,
    shown: (&Arc<Metrics>, &OriginReports),
) -> OriginFiles {
    let sites = watched(policy).map(|site| (WatchedSite::of(site, policy), known(site))).collect();
    let is_shared = |site: &&policy::Site| policy.fleet.is_some() && site.shares_origin_file();
    for site in watched(policy).filter(is_shared) {
        tracing::warn!(
            site = site.name(),
            code = "lint.shared_origin_file",
            host = site.backend.host,
            "in a fleet, all hosts below a wildcard share the robots.txt that the origin has for \
             one host: add each host with another file to 'hosts'"
        );
    }
    let hosts = KnownHosts::of(&policy.sites);
    OriginFiles::start(clients.clone(), sites, hosts, news.clone(), shown)
}

/// The known files of the origins. Without a file that was unknown for too long, its site is published.
pub(super) fn files(policy: &Policy, origins: &OriginFiles) -> FilesBySite {
    let file = |site: &policy::Site| {
        let KnownFile { file, unknown_since, .. } = origins.known(site.name())?;
        (file != OriginFile::Unknown || unknown_since.is_some()).then_some(file)
    };
    watched(policy).filter_map(|site| Some((site.name().to_owned(), file(site)?))).collect()
}

/// The known file of a site at a start: the one that the database has.
pub(super) fn of_memory(
    memory: &Memory,
    chronicle: &Chronicle,
    site: &policy::Site,
    now: Timestamp,
) -> KnownFile {
    let known = memory.origin_file(site.name());
    let unknown_since = unknown_since(chronicle, site, now);
    KnownFile {
        unknown_since: unknown_since.filter(|_| known.file == OriginFile::Unknown),
        ..known
    }
}

/// Since when a site has its hosts, if it has published nothing but a substitute.
fn unknown_since(chronicle: &Chronicle, site: &policy::Site, now: Timestamp) -> Option<Timestamp> {
    let known = chronicle.edition_before(site, now).filter(|edition| !edition.is_provisional());
    known.is_none().then(|| chronicle.served_since(site.name()).unwrap_or(now))
}

/// The known file of a site under a new policy: the one fetched `before`. Without one, whether the
/// rules of the same hosts left anything open.
pub(super) fn known(
    before: &OriginFiles,
    chronicle: &Chronicle,
    site: &policy::Site,
    now: Timestamp,
) -> KnownFile {
    if let Some(known) = before.known(site.name()) {
        return known;
    }
    let known = chronicle.edition_before(site, now).filter(|edition| !edition.is_provisional());
    let was_open = known.is_some_and(|edition| !closes_everything(edition.file()));
    let unknown_since = unknown_since(chronicle, site, now);
    KnownFile { was_open, unknown_since, ..KnownFile::default() }
}

pub(super) fn any_failing(policy: &Policy, before: &OriginFiles) -> bool {
    watched(policy).any(|site| before.is_failing(site.name()))
}

pub(super) fn is_watched(policy: &Policy, site: &str) -> bool {
    watched(policy).any(|one| one.name() == site)
}

fn watched(policy: &Policy) -> impl Iterator<Item = &policy::Site> {
    policy.sites.iter().filter(|site| site.robots_txt.source != Source::Policy)
}
