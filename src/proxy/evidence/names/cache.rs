//! What look-ups have found, as long as it is believed.
//!
//! An entry is refreshed in the last tenth of its time and answers meanwhile, so the standing of
//! those who keep coming does not flicker. A refresh that fails changes nothing before that time
//! is over.

use std::{
    collections::{HashMap, VecDeque, hash_map::RandomState},
    hash::BuildHasher,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::crawlers::Testimony;

use super::suffixes::{Suffixes, is_under};

/// How long a confirmed name is believed.
const CONFIRMED: Duration = Duration::from_secs(24 * 3_600);
/// How long it is believed that there is none; also of names that some other look-up failed for.
const REFUTED: Duration = Duration::from_secs(15 * 60);
/// How long nothing is tried after a failure.
const FAILED: Duration = Duration::from_secs(60);

/// Parts with a lock each, so that requests seldom meet at one.
const SHARDS: usize = 16;

/// What is known of many addresses.
#[derive(Debug)]
pub(super) struct Cache {
    hasher: RandomState,
    shards: Vec<Mutex<Shard>>,
}

/// What a look-up found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// The names that lead back to the address, in lower case, without a final dot.
    pub(super) names: Vec<String>,
    /// Whether every question was answered. If not, there may be more names.
    pub(super) complete: bool,
}

/// What is known of one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) answer: Testimony,
    /// Whether it is time to look again.
    pub(super) is_due: bool,
}

#[derive(Debug)]
struct Entry {
    found: Found,
    /// Names under other suffixes were not looked at.
    suffixes: Arc<Suffixes>,
    since: Instant,
    due: Instant,
    until: Instant,
}

#[derive(Debug)]
struct Shard {
    entries: HashMap<IpAddr, Entry>,
    confirmed: Row,
    others: Row,
}

/// Addresses in the order in which they came, with the time that tells a later entry of the same
/// address apart.
#[derive(Debug)]
struct Row {
    order: VecDeque<(IpAddr, Instant)>,
    most: usize,
}

impl Cache {
    /// Room for that many addresses with and without confirmed names; the oldest go first.
    pub(super) fn new(confirmed: usize, others: usize) -> Self {
        let row = |most: usize| Row { order: VecDeque::new(), most: most.div_ceil(SHARDS).max(1) };
        let shard =
            || Shard { entries: HashMap::new(), confirmed: row(confirmed), others: row(others) };
        let shards = (0..SHARDS).map(|_| Mutex::new(shard())).collect();
        Self { hasher: RandomState::new(), shards }
    }

    /// What is known at `now` of the names of `address` that end in one of `suffixes`.
    pub(super) fn answer(
        &self,
        address: IpAddr,
        suffixes: &[String],
        now: Instant,
    ) -> Option<Known> {
        let shard = self.shard(address);
        let entry = shard.entries.get(&address).filter(|entry| now < entry.until)?;
        let answer = entry.answer(suffixes)?;
        Some(Known { answer, is_due: entry.due <= now })
    }

    /// Keeps what was found at `now` with regard to `suffixes`.
    pub(super) fn insert(
        &self,
        address: IpAddr,
        found: Found,
        suffixes: &Arc<Suffixes>,
        now: Instant,
    ) {
        let mut shard = self.shard(address);
        let is_failure = found.names.is_empty() && !found.complete;
        let believed = shard.entries.get_mut(&address).filter(|entry| now < entry.until);
        if let Some(believed) = believed.filter(|_| is_failure) {
            believed.due = now + FAILED;
            return;
        }
        let lifetime = found.lifetime();
        let (due, until) = (now + lifetime - lifetime / 10, now + lifetime);
        let suffixes = Arc::clone(suffixes);
        // Nothing is gained by trying again before its time what has failed.
        let due = if is_failure { until } else { due };
        shard.insert(address, Entry { found, suffixes, since: now, due, until });
    }

    fn shard(&self, address: IpAddr) -> MutexGuard<'_, Shard> {
        let number = self.hasher.hash_one(address) as usize % SHARDS;
        lock(&self.shards[number])
    }

    /// How many addresses are remembered.
    #[cfg(test)]
    fn len(&self) -> usize {
        self.shards.iter().map(|shard| lock(shard).entries.len()).sum()
    }
}

fn lock(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Found {
    fn lifetime(&self) -> Duration {
        match (self.names.is_empty(), self.complete) {
            (false, true) => CONFIRMED,
            (false, false) | (true, true) => REFUTED,
            (true, false) => FAILED,
        }
    }
}

impl Entry {
    /// `None` where these suffixes would have to be looked at first.
    fn answer(&self, suffixes: &[String]) -> Option<Testimony> {
        if self.found.names.iter().any(|name| is_under(name, suffixes)) {
            Some(Testimony::Yes)
        } else if !self.found.complete {
            Some(Testimony::NotYet)
        } else {
            self.suffixes.cover(suffixes).then_some(Testimony::No)
        }
    }
}

impl Shard {
    fn insert(&mut self, address: IpAddr, entry: Entry) {
        let row = if entry.found.names.is_empty() { &mut self.others } else { &mut self.confirmed };
        while row.order.len() >= row.most {
            let Some((oldest, since)) = row.order.pop_front() else { break };
            if self.entries.get(&oldest).is_some_and(|entry| entry.since == since) {
                self.entries.remove(&oldest);
            }
        }
        row.order.push_back((address, entry.since));
        self.entries.insert(address, entry);
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn found(names: &[&str], complete: bool) -> Found {
        Found { names: names.iter().map(|&name| name.to_owned()).collect(), complete }
    }

    fn suffixes(list: &[&str]) -> Vec<String> {
        list.iter().map(|&suffix| suffix.to_owned()).collect()
    }

    fn set(list: &[&str]) -> Arc<Suffixes> {
        Arc::new(Suffixes::default().with(&suffixes(list)))
    }

    #[test]
    fn ours_each_outcome_is_believed_for_its_time_and_refreshed_in_the_last_tenth() {
        let address = IpAddr::from([192, 0, 2, 1]);
        let asked = suffixes(&[".a.example"]);
        for (found, answer, lifetime, due) in [
            (found(&["x.a.example"], true), Testimony::Yes, CONFIRMED, CONFIRMED * 9 / 10),
            (found(&["x.a.example"], false), Testimony::Yes, REFUTED, REFUTED * 9 / 10),
            (found(&[], true), Testimony::No, REFUTED, REFUTED * 9 / 10),
            (found(&[], false), Testimony::NotYet, FAILED, FAILED),
        ] {
            let (cache, start) = (Cache::new(16, 16), Instant::now());
            assert_eq!(cache.answer(address, &asked, start), None);
            cache.insert(address, found, &set(&[".a.example"]), start);
            let at = |after| cache.answer(address, &asked, start + after);
            assert_eq!(at(Duration::ZERO), Some(Known { answer, is_due: false }));
            assert_eq!(at(due - SECOND), Some(Known { answer, is_due: false }));
            if due < lifetime {
                assert_eq!(at(due + SECOND), Some(Known { answer, is_due: true }));
                assert_eq!(at(lifetime - SECOND), Some(Known { answer, is_due: true }));
            }
            assert_eq!(at(lifetime), None);
        }
    }

    #[test]
    fn ours_one_look_up_answers_for_every_crawler_it_was_made_for() {
        let (cache, now) = (Cache::new(16, 16), Instant::now());
        let address = IpAddr::from([192, 0, 2, 1]);
        let looked_at = set(&[".a.example", ".b.example"]);
        let answer =
            |list: &[&str]| cache.answer(address, &suffixes(list), now).map(|known| known.answer);
        cache.insert(address, found(&["x.a.example"], true), &looked_at, now);
        assert_eq!(answer(&[".a.example"]), Some(Testimony::Yes));
        assert_eq!(answer(&[".b.example", ".A.example"]), Some(Testimony::Yes));
        assert_eq!(answer(&[".b.example"]), Some(Testimony::No));
        assert_eq!(answer(&[".c.example"]), None, "nobody has looked for that");
        assert_eq!(answer(&[".b.example", ".c.example"]), None);
        cache.insert(address, found(&["x.a.example"], false), &looked_at, now);
        assert_eq!(answer(&[".b.example"]), Some(Testimony::NotYet), "that may have failed");
    }

    #[test]
    fn ours_a_refresh_that_fails_changes_nothing_before_its_time() {
        let (cache, start) = (Cache::new(16, 16), Instant::now());
        let address = IpAddr::from([192, 0, 2, 1]);
        let (asked, looked_at) = (suffixes(&[".a.example"]), set(&[".a.example"]));
        cache.insert(address, found(&["x.a.example"], true), &looked_at, start);
        let late = start + CONFIRMED - 3 * FAILED;
        cache.insert(address, found(&[], false), &looked_at, late);
        let at = |now| cache.answer(address, &asked, now);
        assert_eq!(at(late), Some(Known { answer: Testimony::Yes, is_due: false }));
        assert_eq!(at(late + FAILED), Some(Known { answer: Testimony::Yes, is_due: true }));
        assert_eq!(at(start + CONFIRMED), None);
        cache.insert(address, found(&[], false), &looked_at, start + CONFIRMED);
        let after = at(start + CONFIRMED);
        assert_eq!(after, Some(Known { answer: Testimony::NotYet, is_due: false }));
    }

    #[test]
    fn ours_a_flood_of_addresses_is_bounded_and_pushes_no_crawler_out() {
        let (cache, start) = (Cache::new(160, 320), Instant::now());
        let looked_at = set(&[".a.example"]);
        let crawler = IpAddr::from([198, 51, 100, 1]);
        cache.insert(crawler, found(&["x.a.example"], true), &looked_at, start);
        for number in 0..20_000_u32 {
            let address = Ipv4Addr::from(0xC000_0000 + number).into();
            let now = start + Duration::from_micros(number.into());
            cache.insert(address, found(&[], number % 2 == 0), &looked_at, now);
        }
        assert_eq!(cache.len(), 321);
        let asked = suffixes(&[".a.example"]);
        let known = cache.answer(crawler, &asked, start).map(|known| known.answer);
        assert_eq!(known, Some(Testimony::Yes));
        let newest = Ipv4Addr::from(0xC000_0000 + 19_999).into();
        assert!(cache.answer(newest, &asked, start).is_some());
        for number in 0..1_000_u32 {
            let address = Ipv4Addr::from(0xC100_0000 + number).into();
            cache.insert(address, found(&["y.a.example"], true), &looked_at, start + SECOND);
        }
        assert!(cache.len() <= 480, "{}", cache.len());
        assert!(cache.answer(crawler, &asked, start).is_none(), "the oldest goes first");
    }

    #[test]
    fn ours_an_address_that_is_looked_up_again_and_again_takes_one_place() {
        let (cache, start) = (Cache::new(16, 16), Instant::now());
        let (address, looked_at) = (IpAddr::from([192, 0, 2, 1]), set(&[".a.example"]));
        for turn in 0..10 {
            let names: &[&str] = if turn % 2 == 0 { &[] } else { &["x.a.example"] };
            cache.insert(address, found(names, true), &looked_at, start + turn * SECOND);
            assert_eq!(cache.len(), 1);
        }
        let asked = suffixes(&[".a.example"]);
        let known = cache.answer(address, &asked, start + 10 * SECOND).map(|known| known.answer);
        assert_eq!(known, Some(Testimony::Yes));
    }
}
