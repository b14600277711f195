//! Counts of the last minute, from counts since the start.

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

const WINDOW: Duration = Duration::from_secs(60);

/// A crawler by its product token, and whether these are its impostors.
pub(super) type Name = (String, bool);

/// Counts since the start, by site and name.
pub(super) type Counts = BTreeMap<(String, Name), u64>;

#[derive(Debug, Default)]
pub(super) struct Rates {
    samples: VecDeque<(Duration, Counts)>,
}

impl Rates {
    /// Adds the counts at a time since the start, and returns what came in the last minute: for each
    /// site the names, most first. The first counts are where the measurement begins.
    pub(super) fn add(
        &mut self,
        since_start: Duration,
        counts: Counts,
    ) -> BTreeMap<String, Vec<(Name, u64)>> {
        // The newest sample that is older than the window stays: the difference to it is the rate.
        while self.samples.get(1).is_some_and(|(at, _)| since_start.saturating_sub(*at) >= WINDOW) {
            self.samples.pop_front();
        }
        let mut sites: BTreeMap<String, Vec<(Name, u64)>> = BTreeMap::new();
        let oldest = self.samples.front().map_or(&counts, |(_, counts)| counts);
        for (key @ (site, name), count) in &counts {
            // A site that was removed and came back counts from zero.
            let before = oldest.get(key).copied().unwrap_or_default();
            let new = count.checked_sub(before).unwrap_or(*count);
            if new > 0 {
                sites.entry(site.clone()).or_default().push((name.clone(), new));
            }
        }
        self.samples.push_back((since_start, counts));
        sites.values_mut().for_each(|one| one.sort_by_key(|(_, count)| std::cmp::Reverse(*count)));
        sites
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_minute_counts() {
        let mut rates = Rates::default();
        let counts = |a: u64, b: u64| {
            let key = |token: &str| ("s".to_owned(), (token.to_owned(), false));
            Counts::from([(key("A"), a), (key("B"), b)])
        };
        for (second, counted, expected) in [
            (0, counts(5, 0), vec![]),
            (30, counts(5, 9), vec![("B", 9)]),
            (59, counts(6, 9), vec![("B", 9), ("A", 1)]),
            (61, counts(6, 9), vec![("B", 9), ("A", 1)]),
            (95, counts(6, 9), vec![("A", 1)]),
            (130, counts(6, 9), vec![]),
            (140, counts(2, 9), vec![("A", 2)]),
        ] {
            let found = rates.add(Duration::from_secs(second), counted);
            let found = found.get("s").cloned().unwrap_or_default();
            let expected: Vec<(Name, u64)> = expected
                .into_iter()
                .map(|(token, count)| ((token.to_owned(), false), count))
                .collect();
            assert_eq!(found, expected, "{second}");
        }
    }
}
