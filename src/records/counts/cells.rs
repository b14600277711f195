//! The counts of one hour, or of a whole day, as numbers in few bytes.
//!
//! Counts come in groups: the requests of a kind by rule, the violations of an owner by place. A group has
//! its sum, so that a question that wants no more goes from group to group. Numbers are sorted, and
//! each is written as the difference to the one before: most take a byte.

/// The counts of a series in an hour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SeriesCounts {
    pub(crate) requests: u64,
    pub(crate) folded: u64,
    pub(crate) dropped: u64,
}

/// A kind and a rule, or an owner and a place.
pub(super) type Pair = (u32, u32);

/// The counts of an hour or of a day.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Requests by kind and rule.
    pub(super) requests: Packed,
    /// Violations by owner and place.
    pub(super) places: Packed,
    /// Violations without a record by kind and rule: folded and dropped. They are rare.
    pub(super) unrecorded: Box<[(Pair, u64, u64)]>,
}

/// Sums by two numbers, in groups by the first.
#[derive(Debug, Default)]
pub(super) struct Packed(Box<[u8]>);

/// The sums of one first number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group<'a> {
    pub(super) number: u32,
    pub(super) sum: u64,
    rows: &'a [u8],
}

/// Counts that come one by one.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    requests: Vec<(Pair, u64)>,
    places: Vec<(Pair, u64)>,
    unrecorded: Vec<(Pair, u64, u64)>,
}

impl Gathered {
    /// Adds the requests of a kind and a rule.
    pub(super) fn add(&mut self, series: Pair, counts: SeriesCounts) {
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
        self.requests.extend(counts.requests.rows());
        self.places.extend(counts.places.rows());
        self.unrecorded.extend_from_slice(&counts.unrecorded);
    }

    /// Packs what has come, and is empty then.
    pub(super) fn pack(&mut self) -> Counts {
        Counts {
            requests: Packed::of(&mut self.requests),
            places: Packed::of(&mut self.places),
            unrecorded: std::mem::take(&mut self.unrecorded).into(),
        }
    }
}

impl Counts {
    /// The sum of several hours.
    pub(super) fn sum<'a>(hours: impl Iterator<Item = &'a Self>) -> Self {
        let mut gathered = Gathered::default();
        hours.for_each(|hour| gathered.add_all(hour));
        gathered.pack()
    }
}

impl Packed {
    /// Packs the sums, and empties the list.
    fn of(counts: &mut Vec<(Pair, u64)>) -> Self {
        counts.sort_unstable_by_key(|&(key, _)| key);
        let (mut bytes, mut rows, mut last) = (Vec::new(), Vec::new(), 0);
        for group in counts.chunk_by(|((one, _), _), ((other, _), _)| one == other) {
            let (mut number, mut sum, mut last_row) = (last, 0, 0);
            for same in group.chunk_by(|(one, _), (other, _)| one == other) {
                let Some(&((first, second), _)) = same.first() else { continue };
                let count = same.iter().map(|&(_, count)| count).sum();
                put(&mut rows, u64::from(second - last_row));
                put(&mut rows, count);
                (number, sum, last_row) = (first, sum + count, second);
            }
            put(&mut bytes, u64::from(number - last));
            put(&mut bytes, sum);
            put(&mut bytes, rows.len() as u64);
            bytes.append(&mut rows);
            last = number;
        }
        counts.clear();
        Self(bytes.into())
    }

    /// The groups in the order of their numbers.
    pub(super) fn groups(&self) -> impl Iterator<Item = Group<'_>> {
        let (mut bytes, mut number) = (&*self.0, 0);
        std::iter::from_fn(move || {
            number += take(&mut bytes)? as u32; // a difference of two such numbers
            let sum = take(&mut bytes)?;
            let length = take(&mut bytes)? as usize;
            let (rows, rest) = bytes.split_at_checked(length)?;
            bytes = rest;
            Some(Group { number, sum, rows })
        })
    }

    fn rows(&self) -> impl Iterator<Item = (Pair, u64)> {
        self.groups()
            .flat_map(|group| group.rows().map(move |(row, count)| ((group.number, row), count)))
    }
}

impl<'a> Group<'a> {
    /// The sums by the second number, in order.
    pub(super) fn rows(self) -> impl Iterator<Item = (u32, u64)> + use<'a> {
        let (mut bytes, mut number) = (self.rows, 0);
        std::iter::from_fn(move || {
            number += take(&mut bytes)? as u32; // a difference of two such numbers
            Some((number, take(&mut bytes)?))
        })
    }
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
        fn packed_sums_come_back_in_order(
            mut counts in prop::collection::vec(
                ((prop_oneof![0_u32..5, any::<u32>()], prop_oneof![0_u32..5, any::<u32>()]),
                1..u64::from(u32::MAX)), 0..80,
            ),
        ) {
            let mut sums = std::collections::BTreeMap::<_, u64>::new();
            let mut groups = std::collections::BTreeMap::<_, u64>::new();
            for &((first, second), count) in &counts {
                *sums.entry((first, second)).or_default() += count;
                *groups.entry(first).or_default() += count;
            }
            let packed = Packed::of(&mut counts);
            prop_assert!(packed.rows().eq(sums));
            prop_assert!(packed.groups().map(|group| (group.number, group.sum)).eq(groups));
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
