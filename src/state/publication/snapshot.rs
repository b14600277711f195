//! The published state for requests: the rulebook, the verifier and the sites. Swapped whole.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use jiff::Timestamp;

use crate::{
    base::metrics::Metrics,
    clients::{conduct::SiteConduct, evidence::Verifier},
    formats::robots::OriginFile,
    records::tally::People,
    rules::{
        crawlers::Outcome,
        enforce::{self, Action, History, Moment, Rulebook},
        policy::{self, Policy},
    },
};

use super::{addresses::AddressBook, counters::Counters, servers::Servers};

/// The policy in force.
#[derive(Clone, Debug)]
pub struct PolicyInForce {
    pub(crate) policy: Arc<Policy>,
    /// The time at which it took effect.
    pub since: Timestamp,
}

/// The published state for requests.
#[derive(Debug)]
pub struct Snapshot {
    pub(crate) policy: PolicyInForce,
    pub(crate) rulebook: Arc<Rulebook>,
    /// The verifier of claims; `None` for a policy without evidence.
    pub verifier: Option<Arc<Verifier>>,
    /// In the order of the rulebook.
    pub(super) sites: Vec<ServedSite>,
}

/// One site with its origins, its conduct and its counters.
#[derive(Debug)]
pub struct ServedSite {
    /// How requests go to the servers behind the site.
    pub backend: Arc<policy::Backend>,
    pub(crate) servers: Arc<Servers>,
    pub(crate) conduct: SiteConduct,
    pub(crate) people: Arc<People>,
    /// The millisecond since 1970 at which the origin last failed to answer a request; 0 for never.
    last_failure: Arc<AtomicI64>,
    /// What is counted of it.
    pub counters: Counters,
}

impl PolicyInForce {
    /// The policy in force after this one; the same policy keeps its time.
    pub fn followed_by(&self, policy: &Arc<Policy>, now: Timestamp) -> Self {
        let is_same = Arc::ptr_eq(&self.policy, policy);
        Self { policy: Arc::clone(policy), since: if is_same { self.since } else { now } }
    }
}

impl Snapshot {
    /// The published state after `previous`, with the conduct of the same sites.
    pub fn new(
        policy: PolicyInForce,
        rulebook: Arc<Rulebook>,
        previous: Option<&Self>,
        verifier: Option<Arc<Verifier>>,
        addresses: &AddressBook,
        metrics: &Metrics,
    ) -> Self {
        let served = |site: &enforce::Site| {
            let before = previous.and_then(|before| before.site_named(&site.name));
            ServedSite::new(site, before, addresses, metrics)
        };
        let sites: Vec<ServedSite> = rulebook.sites().iter().map(served).collect();
        let used: HashSet<&policy::Origin> =
            sites.iter().flat_map(|site| &site.backend.origins).collect();
        addresses.retain(|origin| used.contains(origin));
        metrics.policy(policy.policy.shown_fingerprint());
        Self { policy, rulebook, verifier, sites }
    }

    /// The rulebook that would follow if this policy came into force: with the files of the origins
    /// that are in force now.
    pub fn rulebook_of(&self, policy: &Policy, moment: Moment) -> Rulebook {
        let known = |site: &enforce::Site| {
            let file = match site.source {
                policy::Source::Origin if site.edition().is_provisional() => return None,
                policy::Source::Origin => OriginFile::Present(site.edition().bytes().clone()),
                policy::Source::Policy | policy::Source::Merge => site.origin_file.clone(),
            };
            (file != OriginFile::Unknown).then(|| (site.name.clone(), file))
        };
        let origins = self.rulebook.sites().iter().filter_map(known).collect();
        let history = History::after(Some(&self.rulebook), moment.now);
        Rulebook::compile_with(policy, &mut History { origins, moment, ..history })
    }

    /// The site with this number, with its rules and with its origin.
    pub fn site(&self, number: usize) -> Option<(&enforce::Site, &ServedSite)> {
        Some((self.rulebook.sites().get(number)?, self.sites.get(number)?))
    }

    fn site_named(&self, name: &str) -> Option<&ServedSite> {
        let number = self.rulebook.sites().iter().position(|site| site.name == name)?;
        self.sites.get(number)
    }
}

impl ServedSite {
    fn new(
        site: &enforce::Site,
        before: Option<&Self>,
        addresses: &AddressBook,
        metrics: &Metrics,
    ) -> Self {
        Self {
            conduct: SiteConduct::following(before.map(|one| &one.conduct), site, metrics),
            people: before.map(|one| Arc::clone(&one.people)).unwrap_or_default(),
            last_failure: before.map(|one| Arc::clone(&one.last_failure)).unwrap_or_default(),
            backend: Arc::clone(&site.backend),
            servers: Arc::new(Servers::new(
                &site.name,
                &site.backend,
                before.map(|one| one.servers.as_ref()),
                addresses,
                metrics,
            )),
            counters: Counters::new(&site.name, metrics),
        }
    }

    /// Counts a request of a client other than a browser. `label` is its product token as a metric
    /// label.
    pub fn count_crawler(
        &self,
        site: &str,
        label: &str,
        (outcome, action): (Outcome, Action),
        metrics: &Metrics,
    ) {
        let register = || metrics.crawler_requests(site, label, outcome.as_str(), action.as_str());
        self.counters.count_crawler(label, outcome, action, register);
    }

    /// Counts a request that the origin failed to answer, answered with 502, 503 or 504.
    pub fn count_origin_failure(&self, now: Timestamp) {
        self.last_failure.store(now.as_millisecond(), Ordering::Relaxed);
        self.counters.count_origin_failure();
    }

    /// The last time at which the origin failed to answer a request, since the start.
    pub fn last_origin_failure(&self) -> Option<Timestamp> {
        let at = self.last_failure.load(Ordering::Relaxed);
        Timestamp::from_millisecond(at).ok().filter(|_| at > 0)
    }
}
