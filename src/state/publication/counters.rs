//! The counters of one site. Each is looked up once, so a request only adds one.

use std::{
    collections::HashMap,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use arc_swap::ArcSwap;

use crate::{
    base::metrics::{self, Counter, Metrics},
    rules::{
        crawlers::{Class, Evidence, Outcome, Standing},
        enforce::Action,
    },
};

const ACTIONS: usize = Action::ALL.len();

/// The counters of one site.
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
    /// The counters of the site with this name.
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
