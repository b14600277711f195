//! Equal values, counted.

use std::{cmp::Reverse, collections::BTreeMap};

/// How often each value occurs, the most frequent first; of equally frequent ones the lesser.
pub(super) fn tally<T: Ord>(values: impl IntoIterator<Item = T>) -> Vec<(T, u64)> {
    let mut counts: BTreeMap<T, u64> = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| Reverse(*count));
    counts
}
