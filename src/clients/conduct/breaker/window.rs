//! The window of a breaker: requests that passed, and refusals by network and by crawler.
//!
//! One client must not open the breaker, however many requests it sends. So a network counts for at
//! most a fifth of the refusals that open it, and so does a crawler. Allowed requests always count.
//! So the breaker never opens below the share of all requests.

use std::{
    collections::{HashMap, VecDeque},
    hash::Hash,
    time::Duration,
};

use jiff::{SignedDuration, Timestamp};

use crate::{
    clients::conduct::{capacity::has_room, key::Network, observations::RefusedCount},
    rules::{crawlers::Name, policy},
};

/// The least number of networks, and of crawlers, whose refusals open the breaker.
pub(super) const LEAST_CLIENTS: u64 = 5;
/// The number of steps in which the window moves.
pub(super) const SLICES: u32 = 12;
/// The most networks, and the most crawlers, with refusals in the window. Further networks do not
/// count; further crawlers count as one.
const MOST: usize = 4_096;
const MOST_SHOWN: usize = 5;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Refusal<'a> {
    pub network: Network,
    /// The judged name; `None` for a client without one.
    pub name: Option<&'a str>,
    /// Whether only a User-Agent declares the name.
    pub is_declared: bool,
}

impl<'a> Refusal<'a> {
    pub(crate) fn of(network: Network, name: Option<Name<'a>>) -> Self {
        let is_declared = matches!(name, Some(Name::Declared(_)));
        Self { network, name: name.map(|name| name.as_str()), is_declared }
    }

    pub(super) fn told(one: &'a RefusedCount) -> Self {
        let RefusedCount { network, ref product_token, is_declared, .. } = *one;
        Self { network, name: product_token.as_deref(), is_declared }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusals {
    pub refusals: u64,
    pub requests: u64,
    pub networks: usize,
    pub crawlers: usize,
    pub most: Vec<String>,
}

#[derive(Debug, Default)]
pub(super) struct Window {
    /// The slices with requests, the oldest first.
    slices: VecDeque<Slice>,
    total: Counts,
}

#[derive(Debug)]
struct Slice {
    since: Timestamp,
    counts: Counts,
}

#[derive(Debug, Default)]
struct Counts {
    passed: u64,
    refused: u64,
    nameless: u64,
    by_network: HashMap<Network, u64>,
    by_crawler: HashMap<String, u64>,
}

impl Window {
    #[cfg(test)]
    pub(super) fn slices(&self) -> usize {
        self.slices.len()
    }

    /// The networks and the crawlers.
    #[cfg(test)]
    pub(super) fn clients(&self) -> [usize; 2] {
        [self.total.by_network.len(), self.total.by_crawler.len()]
    }

    pub(super) fn pass(&mut self, length: Duration, now: Timestamp) {
        self.advance(length, now);
        self.add_passed(self.newest(), 1);
    }

    pub(super) fn refuse(&mut self, refusal: Refusal<'_>, length: Duration, now: Timestamp) {
        self.advance(length, now);
        self.add_refused(self.newest(), refusal, 1);
    }

    /// Counts requests at another node, at `at`: those that passed, and those of each client that
    /// would be refused. What left the window does not count.
    pub(super) fn take_in(
        &mut self,
        (passed, refused): (u64, &[RefusedCount]),
        at: Timestamp,
        (length, now): (Duration, Timestamp),
    ) {
        let at = at.min(now);
        if now.duration_since(at) >= signed(length) {
            return;
        }
        self.advance(length, now);
        let place = self.slices.iter().rposition(|slice| slice.since <= at).unwrap_or_default();
        self.add_passed(place, passed);
        for one in refused {
            self.add_refused(place, Refusal::told(one), one.requests);
        }
    }

    fn newest(&self) -> usize {
        self.slices.len().saturating_sub(1)
    }

    fn add_passed(&mut self, place: usize, requests: u64) {
        let slice = self.slices.get_mut(place).map(|slice| &mut slice.counts);
        for counts in [Some(&mut self.total), slice].into_iter().flatten() {
            counts.passed = counts.passed.saturating_add(requests);
        }
    }

    /// Adds refused requests of a client to a slice, if there is room for its network.
    fn add_refused(&mut self, place: usize, refusal: Refusal<'_>, requests: u64) {
        let Refusal { network, name, is_declared } = refusal;
        if !has_room(&self.total.by_network, &network, MOST) {
            return;
        }
        let crawler = name.map(|name| {
            let written = if is_declared { name.to_ascii_lowercase() } else { name.to_owned() };
            let has_room = has_room(&self.total.by_crawler, &written, MOST);
            if has_room { written } else { String::new() }
        });
        self.total.refuse(network, crawler.clone(), requests);
        if let Some(slice) = self.slices.get_mut(place) {
            slice.counts.refuse(network, crawler, requests);
        }
    }

    pub(super) fn alarming(&self, rules: &policy::Breaker) -> Option<Refusals> {
        let total = &self.total;
        let all = total.passed.saturating_add(total.refused);
        if all < rules.min_requests || !rules.share.is_reached(total.refused, all) {
            return None;
        }
        let needed = rules
            .share
            .least_beside(total.passed)
            .max(rules.min_requests.saturating_sub(total.passed))
            .max(LEAST_CLIENTS);
        let most = needed / LEAST_CLIENTS;
        let by_network = || capped(&total.by_network, most);
        let by_crawler = || capped(&total.by_crawler, most).saturating_add(total.nameless);
        // The shorter list first. A flood of one client ends here, however many names it invents.
        let has_fewer_crawlers = total.by_crawler.len() < total.by_network.len();
        let is_reached = |refusals: &u64| *refusals >= needed;
        let shorter = if has_fewer_crawlers { by_crawler() } else { by_network() };
        let shorter = Some(shorter).filter(is_reached)?;
        let longer = if has_fewer_crawlers { by_network() } else { by_crawler() };
        let refusals = Some(shorter.min(longer)).filter(is_reached)?;
        Some(Refusals {
            refusals,
            requests: total.passed.saturating_add(refusals),
            networks: total.by_network.len(),
            crawlers: total.by_crawler.len(),
            most: total.most(),
        })
    }

    /// Drops the slices that have left the window. Begins a new one if the newest is full.
    fn advance(&mut self, length: Duration, now: Timestamp) {
        let step = length / SLICES;
        // Threads may arrive here out of order. Only a larger step back restarts the window.
        let is_set_back = |newest: &Slice| {
            now < newest.since && newest.since.duration_since(now).unsigned_abs() > step
        };
        if self.slices.back().is_some_and(is_set_back) {
            *self = Self::default();
        }
        let is_past = |one: &Slice| now.duration_since(one.since) >= signed(length);
        while let Some(past) = self.slices.pop_front_if(|one| is_past(one)) {
            self.total.subtract(&past.counts);
        }
        let is_full = |newest: &Slice| now.duration_since(newest.since) >= signed(step);
        if self.slices.back().is_none_or(is_full) {
            self.slices.push_back(Slice { since: now, counts: Counts::default() });
        }
    }
}

impl Counts {
    fn refuse(&mut self, network: Network, crawler: Option<String>, requests: u64) {
        let nameless = if crawler.is_none() { requests } else { 0 };
        self.refused = self.refused.saturating_add(requests);
        self.nameless = self.nameless.saturating_add(nameless);
        add_to(&mut self.by_network, network, requests);
        if let Some(crawler) = crawler {
            add_to(&mut self.by_crawler, crawler, requests);
        }
    }

    fn subtract(&mut self, other: &Self) {
        self.passed = self.passed.saturating_sub(other.passed);
        self.refused = self.refused.saturating_sub(other.refused);
        self.nameless = self.nameless.saturating_sub(other.nameless);
        subtract(&mut self.by_network, &other.by_network);
        subtract(&mut self.by_crawler, &other.by_crawler);
    }

    fn most(&self) -> Vec<String> {
        let mut crawlers: Vec<(&String, &u64)> =
            self.by_crawler.iter().filter(|(name, _)| !name.is_empty()).collect();
        crawlers.sort_by(|(a, a_count), (b, b_count)| b_count.cmp(a_count).then(a.cmp(b)));
        crawlers.into_iter().take(MOST_SHOWN).map(|(name, _)| name.clone()).collect()
    }
}

/// The sum of the counts, each up to `most`.
fn capped<K>(counts: &HashMap<K, u64>, most: u64) -> u64 {
    counts.values().map(|count| *count.min(&most)).sum()
}

fn add_to<K: Eq + Hash>(counts: &mut HashMap<K, u64>, key: K, count: u64) {
    let sum = counts.entry(key).or_default();
    *sum = sum.saturating_add(count);
}

fn subtract<K: Eq + Hash>(from: &mut HashMap<K, u64>, counts: &HashMap<K, u64>) {
    from.retain(|key, left| {
        *left = left.saturating_sub(counts.get(key).copied().unwrap_or_default());
        *left > 0
    });
}

pub(super) fn signed(duration: Duration) -> SignedDuration {
    SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX)
}
