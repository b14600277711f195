//! The published state for requests: the rulebook, the verifier and the sites. Swapped whole.

use std::{collections::HashSet, sync::Arc};

use crate::{
    conduct::SiteConduct,
    crawlers::{Class, Evidence, Outcome, Standing},
    enforce::{self, Action, Rulebook},
    evidence::Verifier,
    metrics::{self, Counter, Metrics},
    policy,
    violations::People,
};

use super::addresses::{AddressBook, Addresses};

/// The published state for requests.
#[derive(Debug)]
pub struct Snapshot {
    /// The compiled policy.
    pub rulebook: Arc<Rulebook>,
    /// The verifier of claims; `None` for a policy without evidence.
    pub verifier: Option<Arc<Verifier>>,
    /// In the order of the rulebook's sites.
    sites: Vec<ServedSite>,
}

/// One site with its origin, its conduct and its counters.
#[derive(Debug)]
pub struct ServedSite {
    /// The server behind the site.
    pub origin: policy::Origin,
    /// Whether fields whose names have an underscore go on to it.
    pub underscore_fields: bool,
    /// Its addresses.
    pub addresses: Arc<Addresses>,
    /// The conduct of the site's clients.
    pub conduct: SiteConduct,
    /// The requests of people.
    pub people: Arc<People>,
    /// By class and action. Created once, so a request only adds one.
    requests: [[Counter; Action::ALL.len()]; CLASSES.len()],
    /// In the order of [`STANDINGS`].
    claims: [Counter; STANDINGS.len()],
}

/// Every standing.
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

const CLASSES: [Class; 5] =
    [Class::Crawler, Class::UserTriggered, Class::Automation, Class::Browser, Class::None];

impl Snapshot {
    /// The published state after `previous`, with the conduct of the same sites.
    pub fn new(
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
        let used: HashSet<&policy::Origin> = sites.iter().map(|site| &site.origin).collect();
        addresses.retain(|origin| used.contains(origin));
        metrics.policy(rulebook.fingerprint());
        Self { rulebook, verifier, sites }
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
            claims: STANDINGS.map(|Standing { outcome, evidence }| {
                let evidence = evidence.map_or(metrics::NO_EVIDENCE, Evidence::as_str);
                metrics.claims(&site.name, outcome.as_str(), evidence)
            }),
            conduct: SiteConduct::following(before.map(|one| &one.conduct), site, metrics),
            people: before.map(|one| Arc::clone(&one.people)).unwrap_or_default(),
            origin: site.origin.clone(),
            underscore_fields: site.underscore_fields,
            addresses: addresses.of(&site.origin),
            requests: CLASSES.map(|class| {
                Action::ALL
                    .map(|action| metrics.requests(&site.name, class.as_str(), action.as_str()))
            }),
        }
    }

    /// Counts the claim of a known crawler.
    pub fn count_claim(&self, standing: Standing) {
        let known = STANDINGS.iter().zip(&self.claims).find(|(known, _)| **known == standing);
        if let Some((_, counter)) = known {
            counter.inc();
        }
    }

    /// Counts a request.
    pub fn count(&self, class: Class, action: Action) {
        let at = CLASSES.iter().position(|other| *other == class).unwrap_or_default();
        if let Some(counter) = self.requests.get(at).and_then(|row| row.get(action as usize)) {
            counter.inc();
        }
    }
}
