//! What the requests at this node have to tell the other nodes of a fleet, and whether it hears of them.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::atomic::{AtomicBool, AtomicU32, AtomicU64},
    time::Duration,
};

use jiff::{SignedDuration, Timestamp};
use parking_lot::Mutex;

use crate::rules::enforce::Moment;

use super::{
    breaker::Refusal,
    capacity::has_room,
    key::{Key, Limit, Network},
    ledger::Fetches,
    observations::{
        BreakerCount, LadderCount, LadderKey, Observations, Opening, PaceCount, RefusedCount,
        RungStep,
    },
};

/// The most fetches that are told one by one. Of further ones, the others get the latest time alone.
const MOST_FETCHES: usize = 65_536;

/// The most crawlers with news of the ladder, and the most with steps. A sum that is left out comes
/// with the next request of its crawler.
const MOST_CRAWLERS: usize = 16_384;
/// The most refused clients of a site with news. The requests of further ones stay unknown to the
/// other nodes.
const MOST_REFUSED: usize = 4_096;
/// The most buckets with news. The requests of further ones stay unknown to the other nodes.
const MOST_BUCKETS: usize = 8_192;

/// What changed since the last collection.
#[derive(Debug, Default)]
pub(super) struct Collector(Mutex<Changes>);

#[derive(Debug, Default)]
struct Changes {
    /// By site, product token and network.
    fetches: HashMap<(String, String, Network), Fetches>,
    forgotten: Option<Timestamp>,
    steps: HashMap<LadderKey, RungStep>,
    ladder: HashMap<LadderKey, LadderCount>,
    openings: HashMap<String, Opening>,
    breaker: HashMap<String, Requests>,
    /// The time of the first request in each bucket, and their number.
    pace: HashMap<(Key, Limit), (Duration, u32)>,
}

#[derive(Debug)]
struct Requests {
    at: Timestamp,
    passed: u64,
    /// By client, which has no number of requests here.
    refused: HashMap<RefusedCount, u64>,
}

impl Collector {
    pub(super) fn fetched(&self, rows: &[Fetches]) {
        let mut changes = self.0.lock();
        for row in rows {
            let key = (row.site.clone(), row.product_token.to_ascii_lowercase(), row.network);
            if !put(&mut changes.fetches, key, row.clone(), MOST_FETCHES) {
                changes.forgotten = changes.forgotten.max(Some(row.last));
            }
        }
    }

    pub(super) fn count(&self, count: LadderCount) {
        put(&mut self.0.lock().ladder, count.key.clone(), count, MOST_CRAWLERS);
    }

    pub(super) fn step(&self, step: RungStep) {
        put(&mut self.0.lock().steps, step.key.clone(), step, MOST_CRAWLERS);
    }

    pub(super) fn charge(&self, key: &Key, limit: Limit, now: Duration) {
        let (mut changes, bucket) = (self.0.lock(), (key.clone(), limit));
        if has_room(&changes.pace, &bucket, MOST_BUCKETS) {
            let (_, requests) = changes.pace.entry(bucket).or_insert((now, 0));
            *requests = requests.saturating_add(1);
        }
    }

    pub(super) fn pass(&self, site: &str, now: Timestamp) {
        self.0.lock().requests(site, now).passed += 1;
    }

    pub(super) fn refuse(&self, site: &str, refusal: Refusal<'_>, now: Timestamp) {
        let Refusal { network, name, is_declared } = refusal;
        let product_token = name.map(str::to_owned);
        let client = RefusedCount { network, product_token, is_declared, requests: 0 };
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

    pub(super) fn take(&self, moment: Moment) -> Observations {
        let Changes { fetches, forgotten, steps, ladder, openings, breaker, pace } =
            std::mem::take(&mut *self.0.lock());
        let counts = breaker.into_iter().map(|(site, Requests { at, passed, refused })| {
            let refused = refused.into_iter();
            let refused = refused.map(|(client, requests)| RefusedCount { requests, ..client });
            BreakerCount { site, at, passed, refused: refused.collect() }
        });
        let paces = pace.into_iter().map(|((key, limit), (first, requests))| {
            let ago = SignedDuration::try_from(moment.steady.saturating_sub(first));
            let at = moment.now.checked_sub(ago.unwrap_or_default()).unwrap_or(moment.now);
            PaceCount { key, limit, at, requests }
        });
        Observations {
            fetches: fetches.into_values().collect(),
            forgotten,
            steps: steps.into_values().collect(),
            ladder: ladder.into_values().collect(),
            openings: openings.into_values().collect(),
            breaker: counts.collect(),
            pace: paces.collect(),
        }
    }
}

impl Changes {
    fn requests(&mut self, site: &str, now: Timestamp) -> &mut Requests {
        let new = || Requests { at: now, passed: 0, refused: HashMap::new() };
        self.breaker.entry(site.to_owned()).or_insert_with(new)
    }
}

/// Replaces a value. Whether there is room: beyond the limit, new keys are left out.
fn put<K: Eq + Hash, V>(values: &mut HashMap<K, V>, key: K, value: V, most: usize) -> bool {
    let has_room = has_room(values, &key, most);
    if has_room {
        values.insert(key, value);
    }
    has_room
}

/// Until when this node hears of the others. The steady clock decides, so that a process that was paused
/// judges no request by what it heard before. While the machine is suspended, that clock stands still.
#[derive(Debug)]
pub(super) struct Contacts {
    /// In milliseconds of the steady clock.
    pub(super) until: AtomicU64,
    /// Whether violations are excused from then on.
    pub(super) excuses: AtomicBool,
    /// The nodes of the fleet, as far as this one heard of them.
    pub(super) nodes: AtomicU32,
}

/// The fleet of a request; without one, nothing of it costs a lock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fleet<'a> {
    pub(super) collector: Option<&'a Collector>,
    pub(super) is_alone: bool,
    /// Whether it excuses what its rules disallow: another node may have published rules that allow more.
    pub(super) excuses: bool,
    /// The nodes that share a limit without telling each other: all, if this one is alone.
    pub(super) nodes: u32,
}

impl Default for Contacts {
    /// There are no others.
    fn default() -> Self {
        let (excuses, nodes) = (AtomicBool::new(false), AtomicU32::new(1));
        Self { until: AtomicU64::new(u64::MAX), excuses, nodes }
    }
}

#[cfg(test)]
impl Fleet<'_> {
    pub(super) const NONE: Self =
        Self { collector: None, is_alone: false, excuses: false, nodes: 1 };
}
