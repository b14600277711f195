//! Requests of people: one number for each site and hour.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};

use parking_lot::Mutex;

use super::rollup::Hour;

/// The requests of people to one site that are not yet written, by hour.
#[derive(Debug, Default)]
pub struct People {
    /// The hour's number in the upper half, its requests in the lower one: nearly all count without a lock.
    first: AtomicU64,
    /// Those of further hours: a turn of the hour, or a clock that jumps.
    others: Mutex<BTreeMap<Hour, u64>>,
    is_watched: AtomicBool,
}

impl People {
    pub(super) fn add(&self, hour: Hour) {
        let one_more = |first| {
            let (of, requests) = parts(first);
            let is_room = requests == 0 || (of == hour && requests < u32::MAX);
            is_room
                .then(|| u64::from(hour.number().cast_unsigned()) << 32 | u64::from(requests + 1))
        };
        if self.first.fetch_update(Ordering::Release, Ordering::Relaxed, one_more).is_err() {
            *self.others.lock().entry(hour).or_default() += 1;
        }
    }

    pub(super) fn drain(&self) -> BTreeMap<Hour, u64> {
        let (hour, requests) = parts(self.first.swap(0, Ordering::Acquire));
        let mut counts = std::mem::take(&mut *self.others.lock());
        if requests > 0 {
            *counts.entry(hour).or_default() += u64::from(requests);
        }
        counts
    }

    pub(super) fn is_empty(&self) -> bool {
        parts(self.first.load(Ordering::Relaxed)).1 == 0 && self.others.lock().is_empty()
    }

    /// Whether its counts are not drained yet by anyone; from now on, they are.
    pub(super) fn watch(&self) -> bool {
        !self.is_watched.load(Ordering::Relaxed) && !self.is_watched.swap(true, Ordering::AcqRel)
    }
}

fn parts(first: u64) -> (Hour, u32) {
    (Hour::numbered(((first >> 32) as u32).cast_signed()), first as u32)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn every_request_counts_once_in_its_hour() {
        const EACH: u64 = 30_000;
        let people = People::default();
        let hours = [-3, 0, 7, 494_000].map(Hour::numbered);
        let mut counts: BTreeMap<Hour, u64> = BTreeMap::new();
        thread::scope(|scope| {
            let count = |thread: u64| {
                let hour = |number: u64| hours[((number / 97 + thread) % 4) as usize];
                (0..EACH).for_each(|number| people.add(hour(number)));
            };
            let threads: Vec<_> = (0..4).map(|thread| scope.spawn(move || count(thread))).collect();
            let mut is_over = false;
            while !is_over {
                is_over = threads.iter().all(|thread| thread.is_finished());
                people
                    .drain()
                    .into_iter()
                    .for_each(|(hour, more)| *counts.entry(hour).or_default() += more);
            }
        });
        assert!(people.is_empty());
        assert_eq!(counts, hours.map(|hour| (hour, EACH)).into_iter().collect());
    }
}
