//! A rulebook together with what belongs to serving it: origin addresses and counters by site.

use std::{collections::HashSet, sync::Arc};

use crate::{
    crawlers::{self, Class},
    enforce::{Action, Judgement, Rulebook},
    metrics::{self, Counter, Metrics},
    policy,
};

use super::origins::{Addresses, Origins};

/// What requests are served by; swapped whole.
#[derive(Debug)]
pub(super) struct Serving {
    pub(super) rulebook: Rulebook,
    sites: Vec<ServingSite>,
}

/// One site of it.
#[derive(Debug)]
pub(super) struct ServingSite {
    pub(super) origin: policy::Origin,
    pub(super) addresses: Arc<Addresses>,
    /// By class and action, looked up once: a request only adds one.
    requests: [[Counter; 3]; 5],
}

const CLASSES: [Class; 5] =
    [Class::Crawler, Class::UserTriggered, Class::Automation, Class::Browser, Class::None];

impl Serving {
    pub(super) fn new(rulebook: Rulebook, origins: &Origins, metrics: &Metrics) -> Self {
        let site = |site: &crate::enforce::Site| ServingSite {
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
        Self { rulebook, sites }
    }

    pub(super) fn site(&self, number: usize) -> Option<&ServingSite> {
        self.sites.get(number)
    }
}

impl ServingSite {
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
