//! How a crawler reads robots.txt.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::{
    answers::Answers,
    model::{Following, Reading},
};
use crate::{
    enforce::Reason,
    violations::{Counted, Edition, Hour, Text},
};

const HOUR: i64 = 3_600_000;
/// The most changes of robots.txt that are told.
const MOST_CHANGES: usize = 20;

/// A fetch, to the hour.
struct Fetched<'a> {
    hour: Hour,
    site: &'a Text,
    edition: &'a Text,
    count: u64,
}

/// The fetches of robots.txt in the counts.
fn fetched(answers: &Answers) -> impl Iterator<Item = Fetched<'_>> {
    answers.read.iter().filter_map(|counted| {
        let Counted { key, requests, .. } = counted;
        let [hour, site, reason, edition] = key.as_slice() else { return None };
        let is_fetch = reason.as_str() == Reason::RobotsTxt.as_str();
        let hour = Hour::of(hour.parse().ok()?);
        is_fetch.then_some(Fetched { hour, site, edition, count: *requests })
    })
}

/// How often the crawler read the file in the span.
pub(super) fn reading(answers: &Answers) -> Reading {
    let first = Hour::of(answers.span.from);
    let (mut fetches, mut hours) = (0, BTreeSet::new());
    for one in fetched(answers).filter(|one| one.hour >= first) {
        fetches += one.count;
        hours.insert(one.hour);
    }
    let last = answers.fetches.iter().map(|fetch| fetch.last);
    let mut intervals: Vec<_> = answers.fetches.iter().filter_map(|fetch| fetch.interval).collect();
    intervals.sort_unstable();
    Reading {
        fetches,
        hours: hours.len() as u64,
        last: last.filter(|last| *last < answers.span.until).max(),
        interval: intervals.get(intervals.len() / 2).copied(),
    }
}

/// The changes of robots.txt on sites that the crawler visited, and when it fetched the new edition.
pub(super) fn following(answers: &Answers) -> Vec<Following> {
    let visited: BTreeSet<String> = answers
        .read
        .iter()
        .filter_map(|counted| Some(counted.key.get(1)?.to_ascii_lowercase()))
        .collect();
    let mut by_site: BTreeMap<String, Vec<&Edition>> = BTreeMap::new();
    for edition in &answers.editions {
        let site = edition.site.to_ascii_lowercase();
        if visited.contains(&site) {
            by_site.entry(site).or_default().push(edition);
        }
    }
    let mut all = Vec::new();
    for editions in by_site.values_mut() {
        editions.sort_by_key(|edition| edition.from);
        for pair in editions.windows(2) {
            let [older, newer] = pair else { continue };
            let is_change = older.id != newer.id && newer.from >= answers.span.before;
            if is_change && newer.from < answers.span.until {
                all.push(change(answers, newer));
            }
        }
    }
    all.sort_by_key(|one| std::cmp::Reverse(one.from));
    all.truncate(MOST_CHANGES);
    all
}

fn change(answers: &Answers, newer: &Edition) -> Following {
    let until = newer.until.filter(|until| *until < answers.span.until);
    let is_it = |one: &Fetched<'_>| {
        one.site.eq_ignore_ascii_case(&newer.site)
            && *one.edition == newer.id
            && one.hour >= Hour::of(newer.from)
    };
    let first = fetched(answers).filter(is_it).map(|one| one.hour).min();
    let hours = first.map(|hour| {
        let end = (hour.as_millisecond() + HOUR).min(answers.span.until.as_millisecond());
        let after = end.saturating_sub(newer.from.as_millisecond()).max(1);
        (after + HOUR - 1).div_euclid(HOUR).unsigned_abs()
    });
    Following {
        site: newer.site.clone(),
        edition: newer.id.clone(),
        from: newer.from,
        until: until.filter(|until: &Timestamp| *until > newer.from),
        hours,
    }
}
