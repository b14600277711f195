//! What another policy does with the same requests.

use std::collections::BTreeMap;

use crate::{base::escape, records::tally::Claimant};

use super::{totals::Client, treatment::Verdict};

/// The paths that are kept as examples.
const EXAMPLES: usize = 3;
/// The most rows; further ones are counted together.
const MOST_ROWS: usize = 10_000;
const OTHER: &str = "…";

/// The requests that another policy treats otherwise.
#[derive(Debug, Default)]
pub(crate) struct Changes(BTreeMap<Key, Change>);

/// Site, name, claimant, before, after.
type Key = (String, String, Claimant, Verdict, Verdict);

/// Requests of one crawler whose treatment changes alike.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) requests: u64,
    /// The first paths.
    pub(crate) paths: Vec<String>,
}

impl Changes {
    pub(super) fn add(
        &mut self,
        site: &str,
        Client { name, claimant }: Client<'_>,
        (before, after): (Verdict, Verdict),
        target: &[u8],
    ) {
        let mut key = (site.to_owned(), name.to_owned(), claimant, before, after);
        if self.0.len() >= MOST_ROWS && !self.0.contains_key(&key) {
            OTHER.clone_into(&mut key.1);
        }
        let change = self.0.entry(key).or_default();
        change.requests += 1;
        if change.paths.len() < EXAMPLES {
            let path = escape::bounded(target, 256);
            if !change.paths.contains(&path) {
                change.paths.push(path);
            }
        }
    }

    /// The changes, most requests first: site, client name, before, after.
    pub(crate) fn rows(&self) -> Vec<(&str, Client<'_>, Verdict, Verdict, &Change)> {
        let rows = self.0.iter();
        let mut rows: Vec<_> = rows
            .map(|((site, name, claimant, before, after), change)| {
                (site.as_str(), Client { name, claimant: *claimant }, *before, *after, change)
            })
            .collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.4.requests));
        rows
    }
}
