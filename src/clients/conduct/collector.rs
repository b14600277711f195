//! What the ladders and breakers of all sites have to tell the other nodes of a fleet.

use std::collections::HashMap;

use jiff::Timestamp;
use parking_lot::Mutex;

use crate::rules::crawlers::Name;

use super::{
    breaker::Refusal,
    capacity::has_room,
    network::Network,
    observations::{
        BreakerCount, LadderCount, LadderKey, Observations, Opening, RefusedCount, RungStep,
    },
};

/// The most crawlers with news of the ladder, and the most with steps. A sum that is left out comes
/// with the next request of its crawler.
const MOST_CRAWLERS: usize = 16_384;
/// The most refused clients of a site with news. The requests of further ones stay unknown to the
/// other nodes.
const MOST_REFUSED: usize = 4_096;

/// What changed since the last collection.
#[derive(Debug, Default)]
pub(super) struct Collector(Mutex<Changes>);

#[derive(Debug, Default)]
struct Changes {
    steps: HashMap<LadderKey, RungStep>,
    ladder: HashMap<LadderKey, LadderCount>,
    openings: HashMap<String, Opening>,
    breaker: HashMap<String, Requests>,
}

/// The requests at one site that count for its breaker.
#[derive(Debug)]
struct Requests {
    at: Timestamp,
    passed: u64,
    refused: HashMap<Client, u64>,
}

/// A refused client.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Client {
    network: Network,
    product_token: Option<String>,
    is_declared: bool,
}

impl Collector {
    /// Notes the present sum of a crawler.
    pub(super) fn count(&self, count: LadderCount) {
        put(&mut self.0.lock().ladder, count.key.clone(), count);
    }

    /// Notes a step on a ladder.
    pub(super) fn step(&self, step: RungStep) {
        put(&mut self.0.lock().steps, step.key.clone(), step);
    }

    /// Notes a request that passed.
    pub(super) fn pass(&self, site: &str, now: Timestamp) {
        self.0.lock().requests(site, now).passed += 1;
    }

    /// Notes a request that would be refused.
    pub(super) fn refuse(
        &self,
        site: &str,
        Refusal { network, name }: Refusal<'_>,
        now: Timestamp,
    ) {
        let is_declared = matches!(name, Some(Name::Declared(_)));
        let product_token = name.map(|name| name.as_str().to_owned());
        let client = Client { network, product_token, is_declared };
        let mut changes = self.0.lock();
        let refused = &mut changes.requests(site, now).refused;
        if has_room(refused, &client, MOST_REFUSED) {
            *refused.entry(client).or_default() += 1;
        }
    }

    /// Notes that a breaker opened. Its counts from before are of no use any more.
    pub(super) fn opening(&self, opening: Opening) {
        let mut changes = self.0.lock();
        changes.breaker.remove(&opening.site);
        changes.openings.insert(opening.site.clone(), opening);
    }

    /// Takes it all.
    pub(super) fn take(&self) -> Observations {
        let Changes { steps, ladder, openings, breaker } = std::mem::take(&mut *self.0.lock());
        let counts = breaker.into_iter().map(|(site, Requests { at, passed, refused })| {
            let refused = refused.into_iter().map(|(client, requests)| {
                let Client { network, product_token, is_declared } = client;
                RefusedCount { network, product_token, is_declared, requests }
            });
            BreakerCount { site, at, passed, refused: refused.collect() }
        });
        Observations {
            steps: steps.into_values().collect(),
            ladder: ladder.into_values().collect(),
            openings: openings.into_values().collect(),
            breaker: counts.collect(),
            ..Observations::default()
        }
    }
}

impl Changes {
    fn requests(&mut self, site: &str, now: Timestamp) -> &mut Requests {
        let new = || Requests { at: now, passed: 0, refused: HashMap::new() };
        self.breaker.entry(site.to_owned()).or_insert_with(new)
    }
}

/// Replaces the value of a crawler. Beyond the limit, new crawlers are left out.
fn put<T>(values: &mut HashMap<LadderKey, T>, key: LadderKey, value: T) {
    if has_room(values, &key, MOST_CRAWLERS) {
        values.insert(key, value);
    }
}
