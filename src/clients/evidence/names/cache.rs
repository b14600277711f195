//! The results of look-ups, until they expire.
//!
//! A refresh starts in the last tenth of the lifetime. The old entry answers meanwhile, so the
//! standing of a regular client stays stable. A failed refresh changes nothing until the entry
//! expires.

use std::{
    collections::hash_map::RandomState,
    hash::BuildHasher,
    net::IpAddr,
    num::NonZeroUsize,
    time::{Duration, Instant},
};

use lru::LruCache;
use parking_lot::{Mutex, MutexGuard};

use crate::rules::crawlers::Testimony;

use super::proofs::{Proofs, is_under};

/// The lifetime of a complete result with a confirmed name.
const CONFIRMED: Duration = Duration::from_secs(24 * 3_600);
/// The lifetime of a complete result without a name, of an incomplete result with one, and of a
/// withheld result.
const REFUTED: Duration = Duration::from_secs(15 * 60);
/// The time until the next look-up after a failure.
const FAILED: Duration = Duration::from_secs(60);

/// The number of parts, each with its own lock, so that requests seldom wait.
const SHARDS: usize = 16;

#[derive(Debug)]
pub(super) struct Cache {
    hasher: RandomState,
    shards: Vec<Mutex<Shard>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LookUp {
    pub(super) names: Vec<String>,
    /// The names that no query could resolve to any address.
    pub(super) unresolved: Vec<String>,
    pub(super) end: End,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum End {
    /// Every query had an answer.
    Complete,
    /// The zone of the address has no answer, or more names than are resolved. Other names resolve.
    Withheld,
    /// Another query had no answer, so there may be more names.
    #[default]
    Failed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) answer: Testimony,
    pub(super) is_due: bool,
}

#[derive(Debug)]
struct Entry {
    look_up: LookUp,
    due: Instant,
    until: Instant,
}

/// The entries in the order of their insertion. Answers don't change it.
type Entries = LruCache<IpAddr, Entry, RandomState>;

#[derive(Debug)]
struct Shard {
    confirmed: Entries,
    others: Entries,
}

impl Cache {
    /// A cache for this many addresses with and without confirmed names. The oldest go first.
    pub(super) fn new(confirmed: usize, others: usize) -> Self {
        let entries = |most: usize| {
            let mut entries = Entries::unbounded_with_hasher(RandomState::new());
            entries.resize(NonZeroUsize::new(most.div_ceil(SHARDS)).unwrap_or(NonZeroUsize::MIN));
            entries
        };
        let shard = || Shard { confirmed: entries(confirmed), others: entries(others) };
        let shards = (0..SHARDS).map(|_| Mutex::new(shard())).collect();
        Self { hasher: RandomState::new(), shards }
    }

    /// Whether `address` has a confirmed name under one of `suffixes`; `None` without a look-up.
    /// A look-up without a name is an answer only while the proofs for these suffixes hold.
    pub(super) fn answer(
        &self,
        address: IpAddr,
        suffixes: &[String],
        proofs: &Proofs,
        now: Instant,
    ) -> Option<Known> {
        let shard = self.shard(address);
        let entry = shard.get(address).filter(|entry| now < entry.until)?;
        let answer = entry.answer(suffixes);
        let is_due = entry.due <= now;
        let needs_proof = matches!(answer, Testimony::No | Testimony::Withheld);
        if needs_proof && !proofs.hold(suffixes, &entry.look_up.unresolved, now) {
            let is_due = is_due || proofs.may_begin(suffixes, now);
            return Some(Known { answer: Testimony::NotYet, is_due });
        }
        Some(Known { answer, is_due })
    }

    pub(super) fn insert(&self, address: IpAddr, look_up: LookUp, now: Instant) {
        let mut shard = self.shard(address);
        let is_failure = look_up.is_failure();
        let valid = shard.get_mut(address).filter(|entry| now < entry.until);
        // A refresh without an answer changes no answer, and prolongs a withheld one.
        let is_kept =
            |valid: &&mut Entry| !valid.look_up.is_failure() || look_up.end == End::Failed;
        if let Some(valid) = valid.filter(|_| is_failure).filter(is_kept) {
            valid.due = now + FAILED;
            return;
        }
        let lifetime = look_up.lifetime();
        let until = now + lifetime;
        // A failed look-up gets no early refresh, one without an answer an earlier one.
        let due = if is_failure { now + FAILED } else { until - lifetime / 10 };
        shard.insert(address, Entry { look_up, due, until });
    }

    fn shard(&self, address: IpAddr) -> MutexGuard<'_, Shard> {
        let number = self.hasher.hash_one(address) as usize % SHARDS;
        self.shards[number].lock()
    }

    /// The number of addresses.
    #[cfg(test)]
    fn len(&self) -> usize {
        let len = |shard: &Shard| shard.confirmed.len() + shard.others.len();
        self.shards.iter().map(|shard| len(&shard.lock())).sum()
    }
}

impl LookUp {
    fn lifetime(&self) -> Duration {
        match (self.names.is_empty(), self.end) {
            (false, End::Complete) => CONFIRMED,
            (true, End::Failed) => FAILED,
            (false, _) | (true, End::Complete | End::Withheld) => REFUTED,
        }
    }

    fn is_failure(&self) -> bool {
        self.names.is_empty() && self.end != End::Complete
    }
}

impl Entry {
    fn answer(&self, suffixes: &[String]) -> Testimony {
        match self.look_up.end {
            _ if self.look_up.names.iter().any(|name| is_under(name, suffixes)) => Testimony::Yes,
            End::Failed => Testimony::NotYet,
            End::Withheld => Testimony::Withheld,
            End::Complete => Testimony::No,
        }
    }
}

impl Shard {
    fn get(&self, address: IpAddr) -> Option<&Entry> {
        self.confirmed.peek(&address).or_else(|| self.others.peek(&address))
    }

    fn get_mut(&mut self, address: IpAddr) -> Option<&mut Entry> {
        self.confirmed.peek_mut(&address).or_else(|| self.others.peek_mut(&address))
    }

    fn insert(&mut self, address: IpAddr, entry: Entry) {
        let Self { confirmed, others } = self;
        let is_other = entry.look_up.names.is_empty();
        let (own, left) = if is_other { (others, confirmed) } else { (confirmed, others) };
        left.pop(&address);
        own.put(address, entry);
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn look_up(names: &[&str], is_complete: bool) -> LookUp {
        let end = if is_complete { End::Complete } else { End::Failed };
        LookUp { names: suffixes(names), unresolved: Vec::new(), end }
    }

    fn withheld() -> LookUp {
        LookUp { end: End::Withheld, ..LookUp::default() }
    }

    /// Proofs for all suffixes.
    fn proofs(now: Instant) -> Proofs {
        let proofs = Proofs::default();
        for suffix in [".a.example", ".b.example", ".c.example"] {
            proofs.end_probe(suffix, true, now);
        }
        proofs
    }

    fn suffixes(list: &[&str]) -> Vec<String> {
        list.iter().map(|&suffix| suffix.to_owned()).collect()
    }

    #[test]
    fn each_outcome_has_its_lifetime_and_a_refresh_in_the_last_tenth() {
        let address = IpAddr::from([192, 0, 2, 1]);
        let suffixes_of_a = suffixes(&[".a.example"]);
        for (found, answer, lifetime, due) in [
            (look_up(&["x.a.example"], true), Testimony::Yes, CONFIRMED, CONFIRMED * 9 / 10),
            (look_up(&["x.a.example"], false), Testimony::Yes, REFUTED, REFUTED * 9 / 10),
            (look_up(&[], true), Testimony::No, REFUTED, REFUTED * 9 / 10),
            (look_up(&[], false), Testimony::NotYet, FAILED, FAILED),
            (withheld(), Testimony::Withheld, REFUTED, FAILED),
        ] {
            let (cache, start) = (Cache::new(16, 16), Instant::now());
            let proofs = proofs(start);
            assert_eq!(cache.answer(address, &suffixes_of_a, &proofs, start), None);
            cache.insert(address, found, start);
            let at = |after| cache.answer(address, &suffixes_of_a, &proofs, start + after);
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
    fn one_look_up_answers_for_every_suffix() {
        let (cache, now) = (Cache::new(16, 16), Instant::now());
        let (address, proofs) = (IpAddr::from([192, 0, 2, 1]), proofs(now));
        let answer = |list: &[&str]| {
            cache.answer(address, &suffixes(list), &proofs, now).map(|known| known.answer)
        };
        cache.insert(address, look_up(&["x.a.example"], true), now);
        assert_eq!(answer(&[".a.example"]), Some(Testimony::Yes));
        assert_eq!(answer(&[".b.example", ".A.example"]), Some(Testimony::Yes));
        assert_eq!(answer(&[".b.example"]), Some(Testimony::No));
        assert_eq!(answer(&[".b.example", ".c.example"]), Some(Testimony::No));
        cache.insert(address, look_up(&["x.a.example"], false), now);
        assert_eq!(
            answer(&[".b.example"]),
            Some(Testimony::NotYet),
            "the missing answer may be that name"
        );
    }

    #[test]
    fn a_failed_refresh_changes_nothing_before_the_entry_expires() {
        let (cache, start) = (Cache::new(16, 16), Instant::now());
        let address = IpAddr::from([192, 0, 2, 1]);
        let suffixes_of_a = suffixes(&[".a.example"]);
        cache.insert(address, look_up(&["x.a.example"], true), start);
        let late = start + CONFIRMED - 3 * FAILED;
        cache.insert(address, look_up(&[], false), late);
        let proofs = proofs(start);
        let at = |now| cache.answer(address, &suffixes_of_a, &proofs, now);
        assert_eq!(at(late), Some(Known { answer: Testimony::Yes, is_due: false }));
        assert_eq!(at(late + FAILED), Some(Known { answer: Testimony::Yes, is_due: true }));
        assert_eq!(at(start + CONFIRMED), None);
        cache.insert(address, look_up(&[], false), start + CONFIRMED);
        let after = at(start + CONFIRMED);
        assert_eq!(after, Some(Known { answer: Testimony::NotYet, is_due: false }));
    }

    #[test]
    fn a_flood_of_addresses_is_bounded_and_evicts_no_crawler() {
        let (cache, start) = (Cache::new(160, 320), Instant::now());
        let proofs = proofs(start);
        let crawler = IpAddr::from([198, 51, 100, 1]);
        cache.insert(crawler, look_up(&["x.a.example"], true), start);
        for number in 0..20_000_u32 {
            let address = Ipv4Addr::from(0xC000_0000 + number).into();
            let now = start + Duration::from_micros(number.into());
            cache.insert(address, look_up(&[], number % 2 == 0), now);
        }
        assert_eq!(cache.len(), 321);
        let suffixes_of_a = suffixes(&[".a.example"]);
        let known = cache.answer(crawler, &suffixes_of_a, &proofs, start).map(|known| known.answer);
        assert_eq!(known, Some(Testimony::Yes));
        let newest = Ipv4Addr::from(0xC000_0000 + 19_999).into();
        assert!(cache.answer(newest, &suffixes_of_a, &proofs, start).is_some());
        for number in 0..1_000_u32 {
            let address = Ipv4Addr::from(0xC100_0000 + number).into();
            cache.insert(address, look_up(&["y.a.example"], true), start + SECOND);
        }
        assert!(cache.len() <= 480, "{}", cache.len());
        assert!(
            cache.answer(crawler, &suffixes_of_a, &proofs, start).is_none(),
            "the oldest goes first"
        );
    }

    #[test]
    fn repeated_look_ups_of_one_address_take_one_entry() {
        let (cache, start) = (Cache::new(16, 16), Instant::now());
        let address = IpAddr::from([192, 0, 2, 1]);
        for turn in 0..10 {
            let names: &[&str] = if turn % 2 == 0 { &[] } else { &["x.a.example"] };
            cache.insert(address, look_up(names, true), start + turn * SECOND);
            assert_eq!(cache.len(), 1);
        }
        let suffixes_of_a = suffixes(&[".a.example"]);
        let known = cache.answer(address, &suffixes_of_a, &proofs(start), start + 10 * SECOND);
        let known = known.map(|known| known.answer);
        assert_eq!(known, Some(Testimony::Yes));
    }

    #[test]
    fn a_withheld_answer_lasts_while_refreshes_bring_no_other() {
        let (cache, start) = (Cache::new(16, 16), Instant::now());
        let address = IpAddr::from([192, 0, 2, 1]);
        let (suffixes_of_a, proofs) = (suffixes(&[".a.example"]), proofs(start));
        let answer = |after| cache.answer(address, &suffixes_of_a, &proofs, start + after);
        for minute in 0..30 {
            let found = if minute % 5 == 3 { look_up(&[], false) } else { withheld() };
            cache.insert(address, found, start + minute * FAILED);
            let known = answer(minute * FAILED + SECOND);
            assert_eq!(known, Some(Known { answer: Testimony::Withheld, is_due: false }));
            assert!(answer((minute + 1) * FAILED).is_some_and(|known| known.is_due));
        }
        cache.insert(address, look_up(&["x.a.example"], true), start + 30 * FAILED);
        cache.insert(address, withheld(), start + 31 * FAILED);
        let known = answer(31 * FAILED).map(|known| known.answer);
        assert_eq!(known, Some(Testimony::Yes), "a failed refresh changes nothing");
    }

    #[test]
    fn a_look_up_without_a_name_is_no_answer_without_a_proof() {
        let address = IpAddr::from([192, 0, 2, 1]);
        let suffixes_of_a = suffixes(&[".a.example"]);
        for (found, proven) in
            [(look_up(&[], true), Testimony::No), (withheld(), Testimony::Withheld)]
        {
            let (cache, proofs, now) = (Cache::new(16, 16), Proofs::default(), Instant::now());
            let answer = || cache.answer(address, &suffixes_of_a, &proofs, now);
            cache.insert(address, found, now);
            let open = |is_due| Some(Known { answer: Testimony::NotYet, is_due });
            assert_eq!(answer(), open(true));
            assert!(proofs.begin_probe(&suffixes_of_a[0], &suffixes_of_a, &[], now));
            assert_eq!(answer(), open(false), "a probe has begun");
            proofs.end_probe(".a.example", true, now);
            assert_eq!(answer(), Some(Known { answer: proven, is_due: false }));
        }
    }
}
