//! The counts of one hour, or of a whole day, as numbers in few bytes.
//!
//! They are sorted, so that a number is written as the difference to the one before: three bytes for most
//! counts.

/// The counts of a series in an hour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SeriesCounts {
    pub(crate) requests: u64,
    pub(crate) folded: u64,
    pub(crate) dropped: u64,
}

/// The counts of an hour or of a day.
#[derive(Debug, Default)]
pub(super) struct Counts {
    requests: Box<[u8]>,
    places: Box<[u8]>,
    /// Violations without a record by series: folded and dropped. They are rare.
    pub(super) unrecorded: Box<[(u32, u64, u64)]>,
}

/// Counts that come one by one.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    requests: Vec<(u32, u64)>,
    places: Vec<((u32, u32), u64)>,
    unrecorded: Vec<(u32, u64, u64)>,
}

impl Gathered {
    pub(super) fn add(&mut self, series: u32, counts: SeriesCounts) {
        let SeriesCounts { requests, folded, dropped } = counts;
        self.requests.push((series, requests));
        if folded > 0 || dropped > 0 {
            self.unrecorded.push((series, folded, dropped));
        }
    }

    pub(super) fn add_place(&mut self, owner: u32, place: u32, violations: u64) {
        self.places.push(((owner, place), violations));
    }

    fn add_all(&mut self, counts: &Counts) {
        self.requests.extend(counts.requests());
        let place = |(owner, place, violations)| ((owner, place), violations);
        self.places.extend(counts.places().map(place));
        self.unrecorded.extend_from_slice(&counts.unrecorded);
    }

    /// Packs what has come, and is empty then.
    pub(super) fn pack(&mut self) -> Counts {
        let (mut requests, mut places) = (Vec::new(), Vec::new());
        let mut last = 0;
        each_sum(&mut self.requests, |series, count| {
            put(&mut requests, u64::from(series - last));
            put(&mut requests, count);
            last = series;
        });
        let (mut last_owner, mut last_place) = (0, 0);
        each_sum(&mut self.places, |(owner, place), count| {
            if owner != last_owner {
                last_place = 0;
            }
            put(&mut places, u64::from(owner - last_owner));
            put(&mut places, u64::from(place - last_place));
            put(&mut places, count);
            (last_owner, last_place) = (owner, place);
        });
        let unrecorded = std::mem::take(&mut self.unrecorded).into();
        Counts { requests: requests.into(), places: places.into(), unrecorded }
    }
}

impl Counts {
    /// The sum of several hours.
    pub(super) fn sum<'a>(hours: impl Iterator<Item = &'a Self>) -> Self {
        let mut gathered = Gathered::default();
        hours.for_each(|hour| gathered.add_all(hour));
        gathered.pack()
    }

    /// Requests by series, in order.
    pub(super) fn requests(&self) -> impl Iterator<Item = (u32, u64)> {
        let (mut bytes, mut series) = (&*self.requests, 0);
        std::iter::from_fn(move || {
            let (step, requests) = (take(&mut bytes)?, take(&mut bytes)?);
            series += step as u32; // a difference of two such numbers
            Some((series, requests))
        })
    }

    /// Violations by owner and place, in order.
    pub(super) fn places(&self) -> impl Iterator<Item = (u32, u32, u64)> {
        let (mut bytes, mut owner, mut place) = (&*self.places, 0, 0);
        std::iter::from_fn(move || {
            let (owners, places) = (take(&mut bytes)?, take(&mut bytes)?);
            if owners > 0 {
                place = 0;
            }
            // Differences of two such numbers.
            owner += owners as u32;
            place += places as u32;
            Some((owner, place, take(&mut bytes)?))
        })
    }
}

/// Sums counts of the same key, in the order of the keys.
fn each_sum<K: Copy + Ord>(counts: &mut Vec<(K, u64)>, mut visit: impl FnMut(K, u64)) {
    counts.sort_unstable_by_key(|&(key, _)| key);
    for same in counts.chunk_by(|(one, _), (other, _)| one == other) {
        if let Some(&(key, _)) = same.first() {
            visit(key, same.iter().map(|&(_, count)| count).sum());
        }
    }
    counts.clear();
}

/// Writes seven bits a byte, the lowest first; the eighth says that there are more.
fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80); // the lowest bits
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take(bytes: &mut &[u8]) -> Option<u64> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn packed_counts_are_the_sums_in_order(
            requests in prop::collection::vec((any::<u32>(), 1..u64::from(u32::MAX)), 0..50),
            places in prop::collection::vec((0_u32..5, any::<u32>(), 1_u64..300), 0..50),
        ) {
            let mut gathered = Gathered::default();
            let (mut sums, mut place_sums) = (std::collections::BTreeMap::new(), std::collections::BTreeMap::new());
            for &(series, requests) in &requests {
                gathered.add(series, SeriesCounts { requests, ..SeriesCounts::default() });
                *sums.entry(series).or_default() += requests;
            }
            for &(owner, place, violations) in &places {
                gathered.add_place(owner, place, violations);
                *place_sums.entry((owner, place)).or_default() += violations;
            }
            let counts = gathered.pack();
            prop_assert!(counts.requests().eq(sums));
            let places = counts.places().map(|(owner, place, violations)| ((owner, place), violations));
            prop_assert!(places.eq(place_sums));
        }
    }

    #[test]
    fn a_number_of_any_size_comes_back() {
        for number in [0, 1, 0x7f, 0x80, 0x3fff, 0x4000, u64::from(u32::MAX), u64::MAX] {
            let mut bytes = Vec::new();
            put(&mut bytes, number);
            assert_eq!(take(&mut bytes.as_slice()), Some(number));
        }
    }
}
