//! The limiter: the request rate of each crawler.
//!
//! There is a leaky bucket (GCRA) for each host and crawler; for the pace of the ladder, for each
//! site. A confirmed crawler has one bucket for all its addresses. Without confirmation, each
//! network has its own, so a stranger under the same name does not use up the pace of an honest
//! crawler. All of them together keep [`NETWORKS`] times the pace. A refused request does not count
//! for its network, so a crawler that waits for `Retry-After` passes.
//!
//! A crawler that keeps its pace must never see a 429, so the limit has some tolerance. Three
//! requests may come at once, because crawlers follow redirects at once and networks delay
//! requests. The bucket drains a tenth faster than the pace, because the clock of a crawler is not
//! exact. `Request-rate: 10/1m` allows ten at once, and twenty at the boundary of two minutes.
//!
//! In a fleet, the requests that passed at other nodes count here when they are heard of. A crawler
//! that keeps its pace over all nodes is never throttled, however late that is. A faster one can
//! pass at each node what it could pass alone until then: with `n` nodes and a lag `l`, at most
//! `n - 1` times the requests that may come at once and those of the time `l` more than at one.

use std::{collections::HashMap, sync::Arc, time::Duration};

use parking_lot::{Mutex, RwLock};

use crate::{
    formats::robots::Pace,
    rules::enforce::{AppliedLimit, Moment},
};

use super::{
    capacity::make_room,
    collector::Fleet,
    key::{Key, Limit},
    observations::PaceCount,
};

use self::cell::{Cell, Rate};

mod cell; // one crawler at one limit
#[cfg(test)]
mod tests;

/// The multiple of a pace that all networks under one unconfirmed name may keep together.
const NETWORKS: u32 = 4;
/// The most crawlers in the buckets of one pace. Beyond it, idle ones go first.
const MOST_KEYS: usize = 8_192;
/// The most different limits. Reloads add new ones.
const MOST_LIMITS: usize = 512;

/// Whole seconds until a request passes that has to wait for so long; at least 1.
fn seconds(wait: Duration) -> u64 {
    let partial = u64::from(wait.subsec_nanos() > 0);
    wait.as_secs().saturating_add(partial).max(1)
}

/// A request beyond a limit of the operator.
#[derive(Clone, Copy, Debug)]
pub struct Limited<'r> {
    pub(crate) applied: AppliedLimit<'r>,
    /// Whole seconds until the next request passes; at least 1.
    pub retry_after: u64,
}

/// When a request may have its turn under limits of the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Now, or it is refused.
    Now,
    /// As late as each limit lets it wait.
    Later,
    /// It has waited for it, and counts already.
    Had,
}

impl Turn {
    fn patience(self, applied: &AppliedLimit<'_>) -> Duration {
        if self == Self::Later { applied.limit.wait } else { Duration::ZERO }
    }
}

#[derive(Debug, Default)]
pub(super) struct Limiter {
    by_limit: RwLock<HashMap<Limit, Arc<Cells>>>,
}

#[derive(Debug)]
struct Cells {
    rate: Rate,
    by_key: Mutex<HashMap<Key, Cell>>,
}

impl Limiter {
    /// Counts a request of a crawler against `pace`, by a monotonic clock. One that comes too soon does not
    /// count; the error is the whole seconds until the next one passes.
    pub(super) fn check(
        &self,
        key: &Key,
        pace: Pace,
        fleet: Fleet<'_>,
        now: Duration,
    ) -> Result<(), u64> {
        let (limit, whole) = (|times| Limit { pace, times, burst: 0 }, Fleet { nodes: 1, ..fleet });
        let charge = |key: &Key, times| self.charge(key, limit(times), whole, Duration::ZERO, now);
        charge(key, 1).map_err(seconds)?;
        let Some(key) = key.of_all_networks() else { return Ok(()) };
        // The network has paid for this request already. So it waits for its own next one at least.
        charge(&key, NETWORKS).map_err(|wait| seconds(wait.max(pace.interval())))
    }

    /// The time until a request has its turn under limits of the operator. Nothing counts.
    ///
    /// A node that is alone takes its part of each limit.
    /// Of several limits that refuse the request, the one with the longest wait is the error.
    pub(super) fn time_to_turn<'r>(
        &self,
        limits: &[(Key, AppliedLimit<'r>)],
        fleet: Fleet<'_>,
        turn: Turn,
        now: Duration,
    ) -> Result<Duration, Limited<'r>> {
        let (mut time, mut refused) = (Duration::ZERO, None);
        for (key, applied) in limits {
            let Some(limit) = Limit::of(applied.limit) else { continue };
            let cells = self.cells(limit, now);
            let rate = cells.rate.of_one(fleet.nodes);
            let wait = cells.change(key, now, |cell| cell.wait(rate, now));
            time = time.max(wait);
            if wait > turn.patience(applied) && refused.is_none_or(|(longest, _)| wait > longest) {
                refused = Some((wait, *applied));
            }
        }
        let limited = |(wait, applied)| Limited { applied, retry_after: seconds(wait) };
        refused.map_or(Ok(time), |refused| Err(limited(refused)))
    }

    /// Counts a request against limits of the operator. Returns the time until it has its turn.
    /// If some refuse it as in [`Self::time_to_turn`], it counts for none.
    pub(super) fn count<'r>(
        &self,
        limits: &[(Key, AppliedLimit<'r>)],
        fleet: Fleet<'_>,
        turn: Turn,
        now: Duration,
    ) -> Result<Duration, Limited<'r>> {
        let time = self.time_to_turn(limits, fleet, turn, now)?;
        for (key, applied) in limits {
            let Some(limit) = Limit::of(applied.limit) else { continue };
            // Another request may have come in between.
            let beyond = |wait| Limited { applied: *applied, retry_after: seconds(wait) };
            self.charge(key, limit, fleet, turn.patience(applied), now).map_err(beyond)?;
        }
        Ok(time)
    }

    /// Counts requests that passed at another node. They are never refused, but the next ones here
    /// have to wait for them.
    pub(super) fn learn(&self, PaceCount { key, limit, at, requests }: PaceCount, moment: Moment) {
        let ago = moment.now.duration_since(at);
        // A time ahead of the clock is now.
        let at = moment.steady.saturating_sub(Duration::try_from(ago).unwrap_or_default());
        let rate = Rate::of(limit);
        if at.saturating_add(rate.interval.saturating_mul(requests)) <= moment.steady
            && !self.knows(&key, limit)
        {
            return;
        }
        self.cells(limit, moment.steady).change(&key, moment.steady, |cell| {
            cell.take_in(rate, at, requests);
        });
    }

    /// Counts a request in one bucket, if it may wait for so long. The error is the time until the next one
    /// passes.
    fn charge(
        &self,
        key: &Key,
        limit: Limit,
        fleet: Fleet<'_>,
        patience: Duration,
        now: Duration,
    ) -> Result<(), Duration> {
        let (cells, collector) = (self.cells(limit, now), fleet.collector);
        let mut rate = cells.rate.of_one(fleet.nodes);
        rate.tolerance = rate.tolerance.saturating_add(patience);
        cells.change(key, now, |cell| cell.charge(rate, now, collector.is_some()))?;
        collector.into_iter().for_each(|collector| collector.charge(key, limit, now));
        Ok(())
    }

    fn knows(&self, key: &Key, limit: Limit) -> bool {
        let cells = self.by_limit.read().get(&limit).cloned();
        cells.is_some_and(|cells| cells.by_key.lock().contains_key(key))
    }

    fn cells(&self, limit: Limit, now: Duration) -> Arc<Cells> {
        if let Some(known) = self.by_limit.read().get(&limit) {
            return Arc::clone(known);
        }
        let mut by_limit = self.by_limit.write();
        if by_limit.len() >= MOST_LIMITS && !by_limit.contains_key(&limit) {
            by_limit.retain(|_, cells| {
                let mut by_key = cells.by_key.lock();
                by_key.retain(|_, cell| !cell.is_idle(cells.rate, now));
                !by_key.is_empty()
            });
            if by_limit.len() >= MOST_LIMITS {
                by_limit.clear();
            }
        }
        // Another thread may have been faster.
        let new = || Arc::new(Cells { rate: Rate::of(limit), by_key: Mutex::default() });
        Arc::clone(by_limit.entry(limit).or_insert_with(new))
    }
}

impl Cells {
    fn change<T>(&self, key: &Key, now: Duration, change: impl FnOnce(&mut Cell) -> T) -> T {
        let mut by_key = self.by_key.lock();
        if let Some(known) = by_key.get_mut(key) {
            return change(known);
        }
        make_room(&mut by_key, key, MOST_KEYS, |cell| !cell.is_idle(self.rate, now));
        change(by_key.entry(key.clone()).or_default())
    }
}
