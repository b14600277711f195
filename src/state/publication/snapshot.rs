//! The published state for requests: the rulebook, the verifier and the sites. Swapped whole.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
};

use arc_swap::ArcSwap;
use jiff::Timestamp;

use crate::{
    base::metrics::{self, Counter, Metrics},
    clients::{conduct::SiteConduct, evidence::Verifier},
    formats::robots::OriginFile,
    records::tally::People,
    rules::{
        crawlers::{Class, Evidence, Outcome, Standing},
        enforce::{Action, History, Moment, Rulebook, Site},
        policy::{self, Policy},
    },
};

use super::{addresses::AddressBook, servers::Servers};

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
        let served = |site: &Site| {
            let before = previous.and_then(|before| before.site_named(&site.name));
            ServedSite::new(site, before.map(|(_, served)| served), addresses, metrics)
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
        let known = |site: &Site| {
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
    pub fn site(&self, number: usize) -> Option<(&Site, &ServedSite)> {
        Some((self.rulebook.sites().get(number)?, self.sites.get(number)?))
    }

    pub(crate) fn site_named(&self, name: &str) -> Option<(&Site, &ServedSite)> {
        self.site(self.rulebook.sites().iter().position(|site| site.name == name)?)
    }
}

impl ServedSite {
    fn new(site: &Site, before: Option<&Self>, addresses: &AddressBook, metrics: &Metrics) -> Self {
        let servers = before.map(|one| one.servers.as_ref());
        let servers = Servers::new(&site.name, &site.backend, servers, addresses, metrics);
        Self {
            conduct: SiteConduct::following(before.map(|one| &one.conduct), site, metrics),
            people: before.map(|one| Arc::clone(&one.people)).unwrap_or_default(),
            last_failure: before.map(|one| Arc::clone(&one.last_failure)).unwrap_or_default(),
            backend: Arc::clone(&site.backend),
            servers: Arc::new(servers),
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

const ACTIONS: usize = Action::ALL.len();

/// The counters of one site. Each is looked up once, so a request only adds one.
#[derive(Debug)]
pub struct Counters {
    requests: [[Counter; ACTIONS]; Class::ALL.len()],
    claims: Vec<(Standing, Counter)>,
    /// By product token. Swapped when a token comes for the first time: a site meets few of the
    /// thousand names in the catalogue.
    crawlers: ArcSwap<HashMap<Box<str>, ByStanding>>,
    origin_failures: Counter,
    cut_tags: AtomicU64,
}

type ByStanding = [[OnceLock<Counter>; ACTIONS]; Outcome::ALL.len()];

const STANDINGS: [Standing; 8] = {
    const fn by(outcome: Outcome, evidence: Evidence) -> Standing {
        Standing { outcome, evidence: Some(evidence) }
    }
    [
        by(Outcome::Confirmed, Evidence::Signature),
        by(Outcome::Confirmed, Evidence::IpRange),
        by(Outcome::Confirmed, Evidence::ReverseDns),
        by(Outcome::Contradicted, Evidence::Signature),
        by(Outcome::Contradicted, Evidence::IpRange),
        by(Outcome::Contradicted, Evidence::ReverseDns),
        Standing::UNVERIFIABLE,
        Standing::UNKNOWN,
    ]
};

impl Counters {
    pub(super) fn new(site: &str, metrics: &Metrics) -> Self {
        Self {
            requests: Class::ALL.map(|class| {
                Action::ALL.map(|action| metrics.requests(site, class.as_str(), action.as_str()))
            }),
            claims: STANDINGS
                .map(|standing| {
                    let evidence = standing.evidence.map_or(metrics::NO_EVIDENCE, Evidence::as_str);
                    (standing, metrics.claims(site, standing.outcome.as_str(), evidence))
                })
                .to_vec(),
            crawlers: ArcSwap::default(),
            origin_failures: metrics.origin_failures(site),
            cut_tags: AtomicU64::new(0),
        }
    }

    pub(crate) fn count_claim(&self, standing: Standing) {
        let known = self.claims.iter().find(|(known, _)| *known == standing);
        known.into_iter().for_each(|(_, counter)| counter.inc());
    }

    pub(crate) fn count(&self, class: Class, action: Action) {
        let at = Class::ALL.iter().position(|other| *other == class).unwrap_or_default();
        if let Some(counter) = self.requests.get(at).and_then(|row| row.get(action as usize)) {
            counter.inc();
        }
    }

    /// Counts a request under the label of a product token. `register` returns the counter of a
    /// label that comes for the first time.
    pub fn count_crawler(
        &self,
        label: &str,
        outcome: Outcome,
        action: Action,
        register: impl Fn() -> Counter,
    ) {
        let count = |counters: &ByStanding| {
            let row = counters.get(outcome as usize);
            if let Some(counter) = row.and_then(|row| row.get(action as usize)) {
                counter.get_or_init(&register).inc();
            }
        };
        if let Some(counters) = self.crawlers.load().get(label) {
            return count(counters);
        }
        // Two requests may add the same label: both count in the one registered counter.
        self.crawlers.rcu(|known| {
            let mut next = HashMap::clone(known);
            next.entry(label.into()).or_default();
            Arc::new(next)
        });
        if let Some(counters) = self.crawlers.load().get(label) {
            count(counters);
        }
    }

    /// Counts a response whose tags were cut. Returns the number of them so far.
    pub fn count_cut_tags(&self) -> u64 {
        self.cut_tags.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(crate) fn count_origin_failure(&self) {
        self.origin_failures.inc();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_registered_once_for_each_action() {
        let metrics = Metrics::new();
        let counters = Counters::new("a.example", &metrics);
        let looked_up = std::cell::Cell::new(0);
        let unknown = Outcome::Unknown;
        for (label, action) in [
            ("GPTBot", Action::Pass),
            ("GPTBot", Action::Pass),
            ("GPTBot", Action::Block),
            ("-", Action::Log),
            ("GPTBot", Action::Pass),
        ] {
            counters.count_crawler(label, unknown, action, || {
                looked_up.set(looked_up.get() + 1);
                metrics.crawler_requests("a.example", label, unknown.as_str(), action.as_str())
            });
        }
        assert_eq!(looked_up.get(), 3);
        let count =
            |label, action| metrics.crawler_requests("a.example", label, "unknown", action).get();
        assert_eq!(
            [count("GPTBot", "pass"), count("GPTBot", "block"), count("-", "log")],
            [3, 1, 1]
        );
    }
}
