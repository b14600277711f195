//! Requests of people: one number for each site and hour.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};

use parking_lot::Mutex;

use super::rollup::Hour;

/// The requests of people to one site that are not yet written. Counting takes no lock.
#[derive(Debug, Default)]
pub struct People {
    /// The hour's number in the upper half, the requests in the lower one.
    latest: AtomicU64,
    /// Further hours: a turn of the hour, or a clock that jumps.
    others: Mutex<BTreeMap<Hour, u64>>,
    is_watched: AtomicBool,
}

impl People {
    /// Counts a request.
    pub(super) fn add(&self, hour: Hour) {
        let mut before = self.latest.load(Ordering::Relaxed);
        loop {
            let (latest, count) = parts(before);
            let is_same = latest == hour && count < u32::MAX;
            let (after, displaced) = match count {
                0 => (whole(hour, 1), 0),
                _ if is_same => (before + 1, 0),
                _ => (whole(hour, 1), count),
            };
            let (success, failure) = (Ordering::Release, Ordering::Relaxed);
            match self.latest.compare_exchange_weak(before, after, success, failure) {
                Ok(_) if displaced == 0 => return,
                Ok(_) => {
                    *self.others.lock().entry(latest).or_default() += u64::from(displaced);
                    return;
                }
                Err(now) => before = now,
            }
        }
    }

    /// Takes the counts.
    pub(super) fn drain(&self) -> BTreeMap<Hour, u64> {
        let (hour, count) = parts(self.latest.swap(0, Ordering::Acquire));
        let mut counts = std::mem::take(&mut *self.others.lock());
        if count > 0 {
            *counts.entry(hour).or_default() += u64::from(count);
        }
        counts
    }

    pub(super) fn is_empty(&self) -> bool {
        parts(self.latest.load(Ordering::Relaxed)).1 == 0 && self.others.lock().is_empty()
    }

    /// Whether its counts are not drained yet by anyone; from now on, they are.
    pub(super) fn watch(&self) -> bool {
        !self.is_watched.load(Ordering::Relaxed) && !self.is_watched.swap(true, Ordering::AcqRel)
    }
}

const fn whole(hour: Hour, count: u32) -> u64 {
    (hour.number().cast_unsigned() as u64) << 32 | count as u64
}

const fn parts(whole: u64) -> (Hour, u32) {
    (Hour::numbered(((whole >> 32) as u32).cast_signed()), whole as u32)
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, thread};

    use super::*;

    #[test]
    fn every_request_counts_once_in_its_hour() {
        const EACH: u64 = 30_000;
        let people = Arc::new(People::default());
        let hours = [-3, 0, 7, 494_000].map(Hour::numbered);
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                let people = Arc::clone(&people);
                thread::spawn(move || {
                    for number in 0..EACH {
                        people.add(hours[((number / 97 + thread) % 4) as usize]);
                    }
                })
            })
            .collect();
        let mut drained: BTreeMap<Hour, u64> = BTreeMap::new();
        let mut drain = || {
            people.drain().into_iter().for_each(|(hour, n)| *drained.entry(hour).or_default() += n);
        };
        while threads.iter().any(|thread| !thread.is_finished()) {
            drain();
        }
        threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
        drain();
        let mut expected = BTreeMap::new();
        for (thread, number) in (0..4_u64).flat_map(|t| (0..EACH).map(move |n| (t, n))) {
            *expected.entry(hours[((number / 97 + thread) % 4) as usize]).or_default() += 1;
        }
        assert_eq!(drained, expected);
        assert!(people.is_empty());
    }

    #[test]
    fn a_full_counter_goes_on() {
        let people = People::default();
        let hour = Hour::numbered(5);
        people.latest.store(whole(hour, u32::MAX), Ordering::Relaxed);
        people.add(hour);
        assert_eq!(people.drain(), BTreeMap::from([(hour, 1 << 32)]));
    }
}
