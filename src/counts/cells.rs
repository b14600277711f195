//! The counts of one hour, or of a whole day, as numbers.

/// The counts of a series in an hour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SeriesCounts {
    pub(crate) requests: u64,
    pub(crate) folded: u64,
    pub(crate) dropped: u64,
}

/// The counts of an hour or of a day. A count that is too large for its number is several.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Requests by series.
    pub(super) requests: Vec<(u32, u32)>,
    /// Violations without a record by series: folded and dropped. They are rare.
    pub(super) unrecorded: Vec<(u32, [u32; 2])>,
    /// Violations by owner and place.
    pub(super) places: Vec<(u32, u32, u32)>,
}

impl Counts {
    pub(super) fn add(&mut self, series: u32, counts: SeriesCounts) {
        pieces(counts.requests).for_each(|piece| self.requests.push((series, piece)));
        pieces(counts.folded).for_each(|piece| self.unrecorded.push((series, [piece, 0])));
        pieces(counts.dropped).for_each(|piece| self.unrecorded.push((series, [0, piece])));
    }

    pub(super) fn add_place(&mut self, owner: u32, place: u32, violations: u64) {
        pieces(violations).for_each(|piece| self.places.push((owner, place, piece)));
    }

    /// The sum of several hours.
    pub(super) fn sum<'a>(hours: impl Iterator<Item = &'a Self>) -> Self {
        let (mut requests, mut places) = (Vec::new(), Vec::new());
        let mut sum = Self::default();
        for hour in hours {
            requests.extend_from_slice(&hour.requests);
            places.extend(hour.places.iter().map(|&(owner, place, count)| ((owner, place), count)));
            sum.unrecorded.extend_from_slice(&hour.unrecorded);
        }
        each_sum(requests, |series, count| {
            pieces(count).for_each(|piece| sum.requests.push((series, piece)));
        });
        each_sum(places, |(owner, place), count| sum.add_place(owner, place, count));
        sum.shrink();
        sum
    }

    /// Gives back memory that is not needed.
    pub(super) fn shrink(&mut self) {
        self.requests.shrink_to_fit();
        self.unrecorded.shrink_to_fit();
        self.places.shrink_to_fit();
    }
}

/// The count in pieces that fit; none for 0.
fn pieces(mut count: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let piece = u32::try_from(count).unwrap_or(u32::MAX);
        count -= u64::from(piece);
        (piece > 0).then_some(piece)
    })
}

fn each_sum<K: Copy + Ord>(mut counts: Vec<(K, u32)>, mut visit: impl FnMut(K, u64)) {
    counts.sort_unstable_by_key(|&(key, _)| key);
    for same in counts.chunk_by(|(one, _), (other, _)| one == other) {
        if let Some(&(key, _)) = same.first() {
            visit(key, same.iter().map(|&(_, count)| u64::from(count)).sum());
        }
    }
}
