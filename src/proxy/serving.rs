//! A rulebook together with what belongs to serving it: origin addresses and counters by site.

use std::{collections::HashSet, sync::Arc};

use crate::{
    crawlers::{self, Class, Evidence, Outcome, Standing},
    enforce::{Action, Judgement, Rulebook},
    metrics::{self, Counter, Metrics},
    policy,
};

use super::{
    conduct::Conduct,
    evidence::Verifier,
    origins::{Addresses, Origins},
};

/// What requests are served by; swapped whole.
#[derive(Debug)]
pub(super) struct Serving {
    pub(super) rulebook: Rulebook,
    /// Tells who is asking; `None` where nothing is looked at.
    pub(super) verifier: Option<Arc<Verifier>>,
    sites: Vec<ServingSite>,
}

/// One site of it.
#[derive(Debug)]
pub(super) struct ServingSite {
    pub(super) origin: policy::Origin,
    pub(super) addresses: Arc<Addresses>,
    pub(super) conduct: Conduct,
    /// By class and action, looked up once: a request only adds one.
    requests: [[Counter; Action::ALL.len()]; CLASSES.len()],
    /// In the order of [`STANDINGS`].
    claims: [Counter; STANDINGS.len()],
}

/// Every standing there is.
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

impl Serving {
    /// What follows `previous`: what was seen of the clients of its sites goes on.
    pub(super) fn new(
        rulebook: Rulebook,
        previous: Option<&Self>,
        verifier: Option<Arc<Verifier>>,
        origins: &Origins,
        metrics: &Metrics,
    ) -> Self {
        let site = |site: &crate::enforce::Site| ServingSite {
            claims: STANDINGS.map(|Standing { outcome, evidence }| {
                let evidence = evidence.map_or(metrics::NO_EVIDENCE, Evidence::as_str);
                metrics.claims(&site.name, outcome.as_str(), evidence)
            }),
            conduct: Conduct::following(
                previous.and_then(|before| before.site_named(&site.name)).map(|one| &one.conduct),
                site,
                metrics,
            ),
            origin: site.origin.clone(),
            addresses: origins.addresses(&site.origin),
            requests: CLASSES.map(|class| {
                Action::ALL
                    .map(|action| metrics.requests(&site.name, class.as_str(), action.as_str()))
            }),
        };
        let sites: Vec<ServingSite> = rulebook.sites().iter().map(site).collect();
        let used: HashSet<&policy::Origin> = sites.iter().map(|site| &site.origin).collect();
        origins.retain(|origin| used.contains(origin));
        metrics.policy(rulebook.fingerprint());
        Self { rulebook, verifier, sites }
    }

    pub(super) fn site(&self, number: usize) -> Option<&ServingSite> {
        self.sites.get(number)
    }

    fn site_named(&self, name: &str) -> Option<&ServingSite> {
        let number = self.rulebook.sites().iter().position(|site| site.name == name)?;
        self.sites.get(number)
    }
}

impl ServingSite {
    /// Counts a claim to be a known crawler.
    pub(super) fn count_claim(&self, standing: Standing) {
        let known = STANDINGS.iter().zip(&self.claims).find(|(known, _)| **known == standing);
        if let Some((_, counter)) = known {
            counter.inc();
        }
    }

    /// Counts a request.
    pub(super) fn count(&self, class: Class, action: Action) {
        let at = CLASSES.iter().position(|other| *other == class).unwrap_or_default();
        if let Some(counter) = self.requests.get(at).and_then(|row| row.get(action as usize)) {
            counter.inc();
        }
    }
}

/// The metric label of a judged name: one that the catalogue or the policy knows.
pub(super) fn label<'r>(judgement: &Judgement<'r>) -> &'r str {
    match judgement.name {
        None => metrics::NO_TOKEN,
        Some(crawlers::Name::Declared(_)) => metrics::OTHER_TOKEN,
        Some(name) => name.as_str(),
    }
}
