//! The editions that each run of a node serves, in time.
//!
//! A run states all editions that it serves, whenever one begins or ends. So the periods of an
//! edition follow from the statements of a run in their order; how they came does not matter. A
//! node that is about to serve an edition states it beside the one that it still serves.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{clients::conduct::lenient, rules::enforce::EditionId};

/// The most statements of a run; the oldest are forgotten.
const MOST: usize = 512;
const MOST_RUNS: usize = 1_024;

/// All editions that a node serves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statement {
    /// The time of the fleet from which it holds.
    pub at: i64,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) editions: Vec<Served>,
}

/// An edition of a site that a node serves.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Served {
    pub(crate) site: String,
    pub(crate) edition: String,
    /// The time of the fleet since which the node serves it, or will.
    pub since: i64,
}

/// The statements of other runs, and periods from registers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statements {
    runs: BTreeMap<String, BTreeMap<i64, BTreeSet<Served>>>,
    /// First and last time, by site and edition, of nodes that may be gone.
    past: BTreeMap<(String, String), (i64, i64)>,
}

impl Statements {
    /// Takes a statement of a run. Whether it was unknown.
    pub fn take(&mut self, run: &str, statement: &Statement) -> bool {
        if self.runs.len() >= MOST_RUNS && !self.runs.contains_key(run) {
            return false;
        }
        let all = self.runs.entry(run.to_owned()).or_default();
        let editions: BTreeSet<Served> = statement.editions.iter().cloned().collect();
        // Two statements of one millisecond: both hold.
        let known = all.entry(statement.at).or_default();
        let before = known.len();
        known.extend(editions);
        let is_new = known.len() != before || statement.editions.is_empty();
        if all.len() > MOST {
            // Those that say what the one before said.
            let mut last = None;
            all.retain(|_, editions| last.replace(editions.clone()).as_ref() != Some(editions));
        }
        while all.len() > MOST {
            all.pop_first();
        }
        is_new
    }

    /// The runs that serve something, with the times of their last statements.
    pub fn open(&self) -> impl Iterator<Item = (&str, i64)> {
        let last = self.runs.iter().filter_map(|(run, all)| Some((run, all.last_key_value()?)));
        last.filter(|(_, (_, last))| !last.is_empty()).map(|(run, (at, _))| (run.as_str(), *at))
    }

    /// Notes that a run serves nothing since `at`: it said so, or it was silent for too long.
    /// Whether that is news.
    pub fn end(&mut self, run: &str, at: i64) -> bool {
        let Some(all) = self.runs.get_mut(run) else { return false };
        if all.last_key_value().is_none_or(|(_, last)| last.is_empty()) {
            return false;
        }
        let last = all.last_key_value().map_or(at, |(last, _)| at.max(last.saturating_add(1)));
        all.insert(last, BTreeSet::new());
        true
    }

    /// Takes a period of a register. Whether that is news.
    pub fn take_past(&mut self, site: &str, edition: &str, first: i64, last: i64) -> bool {
        let key = (site.to_owned(), edition.to_owned());
        let known = self.past.entry(key).or_insert((i64::MAX, i64::MIN));
        let next = (known.0.min(first), known.1.max(last));
        std::mem::replace(known, next) != next
    }

    /// Forgets what ended before `oldest`.
    pub fn forget_before(&mut self, oldest: i64) {
        self.past.retain(|_, (_, last)| *last >= oldest);
        for all in self.runs.values_mut() {
            // A statement holds until the next one.
            while all.len() > 1 && all.keys().nth(1).is_some_and(|next| *next < oldest) {
                all.pop_first();
            }
            if all.len() == 1 && all.first_key_value().is_some_and(|(_, set)| set.is_empty()) {
                all.clear();
            }
        }
        self.runs.retain(|_, all| !all.is_empty());
    }

    /// The periods of all editions: from the first run that served one until the last that stopped;
    /// without an end while any run serves it.
    pub fn periods(&self) -> BTreeMap<(String, EditionId), (i64, Option<i64>)> {
        let mut periods: BTreeMap<(String, EditionId), (i64, Option<i64>)> = BTreeMap::new();
        let mut add = |site: &str, edition: &str, since: i64, until: Option<i64>| {
            let Some(id) = EditionId::parse(edition) else { return };
            let joined = match periods.get(&(site.to_owned(), id)) {
                Some((first, last)) => {
                    ((*first).min(since), last.zip(until).map(|(a, b)| a.max(b)))
                }
                None => (since, until),
            };
            periods.insert((site.to_owned(), id), joined);
        };
        for ((site, edition), (first, last)) in &self.past {
            add(site, edition, *first, Some(*last));
        }
        for all in self.runs.values() {
            let ends = all.keys().skip(1).map(|at| Some(*at)).chain([None]);
            for ((at, editions), until) in all.iter().zip(ends) {
                for one in editions {
                    add(&one.site, &one.edition, one.since.min(*at), until);
                }
            }
        }
        periods
    }
}
