//! The counts of one hour, or of a whole day, as numbers in few bytes.
//!
//! Counts come in groups: the requests of a kind by rule, the violations of an owner by place. A group has
//! its sum, so that a question that wants no more goes from group to group. Numbers are sorted, and
//! each is written as the difference to the one before: most take a byte.

use crate::records::record::packing::{Packer, Unpacker};

/// A kind and a rule, or an owner and a place.
pub(crate) type Pair = (u32, u32);

#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Requests by kind and rule, or violations by owner and place.
    pub(super) sums: Packed,
    /// Violations without a record: folded and dropped. They are rare, and places have none.
    pub(super) unrecorded: Box<[(Pair, u64, u64)]>,
}

/// Sums by two numbers, in groups by the first.
#[derive(Debug, Default)]
pub(super) struct Packed(Box<[u8]>);

#[derive(Clone, Copy, Debug)]
pub(super) struct Group<'a> {
    pub(super) number: u32,
    pub(super) sum: u64,
    rows: &'a [u8],
}

#[derive(Debug, Default)]
pub(crate) struct Gathered {
    sums: Vec<(Pair, u64)>,
    unrecorded: Vec<(Pair, u64, u64)>,
}

impl Gathered {
    pub(crate) fn add(&mut self, pair: Pair, sum: u64) {
        self.sums.push((pair, sum));
    }

    /// Adds violations without a record, which are in the sum already.
    pub(crate) fn add_unrecorded(&mut self, pair: Pair, folded: u64, dropped: u64) {
        if folded > 0 || dropped > 0 {
            self.unrecorded.push((pair, folded, dropped));
        }
    }

    pub(super) fn pack(self) -> Counts {
        Counts { sums: Packed::of(self.sums), unrecorded: self.unrecorded.into() }
    }
}

impl Counts {
    pub(super) fn sum<'a>(hours: impl Iterator<Item = &'a Self>) -> Self {
        let mut gathered = Gathered::default();
        for hour in hours {
            gathered.sums.extend(hour.sums.rows());
            gathered.unrecorded.extend_from_slice(&hour.unrecorded);
        }
        gathered.pack()
    }
}

impl Packed {
    fn of(mut counts: Vec<(Pair, u64)>) -> Self {
        counts.sort_unstable_by_key(|&(key, _)| key);
        let (mut groups, mut last) = (Packer::default(), 0);
        for group in counts.chunk_by(|((one, _), _), ((other, _), _)| one == other) {
            let (mut number, mut sum, mut last_row) = (last, 0, 0);
            let mut rows = Packer::default();
            for same in group.chunk_by(|(one, _), (other, _)| one == other) {
                let Some(&((first, second), _)) = same.first() else { continue };
                let count: u64 = same.iter().map(|&(_, count)| count).sum();
                rows.number((second - last_row) as usize);
                rows.number(count as usize);
                (number, sum, last_row) = (first, sum + count, second);
            }
            groups.number((number - last) as usize);
            groups.number(sum as usize);
            groups.text(&rows.into_bytes());
            last = number;
        }
        Self(groups.into_bytes().into())
    }

    pub(super) fn groups(&self) -> impl Iterator<Item = Group<'_>> {
        let (mut groups, mut number) = (Unpacker::new(&self.0), 0);
        std::iter::from_fn(move || {
            number += groups.number()? as u32; // a difference of two such numbers
            Some(Group { number, sum: groups.number()? as u64, rows: groups.text()? })
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
        let (mut rows, mut number) = (Unpacker::new(self.rows), 0);
        std::iter::from_fn(move || {
            number += rows.number()? as u32; // a difference of two such numbers
            Some((number, rows.number()? as u64))
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn packed_sums_come_back_in_order(
            counts in prop::collection::vec(
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
            let packed = Packed::of(counts);
            prop_assert!(packed.rows().eq(sums));
            prop_assert!(packed.groups().map(|group| (group.number, group.sum)).eq(groups));
        }
    }
}
