//! The rows of rules, paths, days and operators.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
};

use jiff::{SignedDuration, Timestamp};

use super::{
    answers::MOST_PATHS_BEFORE,
    model::{CrawlerRow, Exchange, OperatorRow, PathRow, RuleRow},
};
use crate::{
    base::text::Text,
    records::counts::{Counted, Place, Referral},
    review::report::{Count, Span},
    rules::crawlers::Crawler,
};

/// The most days that are listed without counts.
const MOST_EMPTY_DAYS: i64 = 400;
const DAY: SignedDuration = SignedDuration::from_hours(24);

/// A rule of a site, or the reason where no rule is broken.
type RuleKey<'a> = (String, &'a str, &'a str, Option<&'a Text>);

/// One row for each rule that was broken, whatever its line: from counts by
/// [`RULES_BY`](super::RULES_BY) of a span and of the one before.
pub(crate) fn rules(now: &[Counted], before: &[Counted]) -> Vec<RuleRow> {
    let mut rows: BTreeMap<RuleKey<'_>, RuleRow> = BTreeMap::new();
    let periods = [now, before].into_iter().enumerate();
    for (period, counted) in
        periods.flat_map(|(period, all)| all.iter().map(move |one| (period, one)))
    {
        let [site, directive, pattern, line, reason] = counted.key.as_slice() else { continue };
        let reason = directive.is_empty().then_some(reason);
        let line: Option<u32> = line.parse().ok().filter(|&line| line > 0);
        let key = (site.to_ascii_lowercase(), directive.as_str(), pattern.as_str(), reason);
        let row = rows.entry(key).or_insert_with(|| RuleRow {
            site: site.clone(),
            directive: directive.clone(),
            pattern: pattern.clone(),
            line,
            reason: reason.cloned(),
            now: Count::default(),
            before: Count::default(),
        });
        row.line = row.line.filter(|_| row.line == line);
        *(if period == 0 { &mut row.now } else { &mut row.before }) += counted.into();
    }
    let is_broken = |row: &RuleRow| row.now.violations + row.before.violations > 0;
    let mut rows: Vec<_> = rows.into_values().filter(is_broken).collect();
    // Stable: equal numbers stay in the order of their names.
    rows.sort_by_key(|row| Reverse([row.now.violations, row.before.violations]));
    rows
}

pub(super) fn paths(now: &[Place], before: &[Place]) -> Vec<PathRow> {
    let is_complete = before.len() < MOST_PATHS_BEFORE;
    let before: HashMap<&str, u64> =
        before.iter().map(|place| (place.key.as_str(), place.violations)).collect();
    let row = |place: &Place| PathRow {
        path: place.key.clone(),
        now: place.violations,
        before: before.get(place.key.as_str()).copied().or_else(|| is_complete.then_some(0)),
    };
    now.iter().map(row).collect()
}

/// The days of a span, from the first counts on; of a very long span, those with counts.
pub(super) fn days(
    span: &Span,
    first: Option<Timestamp>,
    times: &[Counted],
) -> BTreeMap<Timestamp, Count> {
    let begin = |time: Timestamp| {
        let day = time.as_second().div_euclid(DAY.as_secs()) * DAY.as_secs();
        Timestamp::from_second(day).unwrap_or(time)
    };
    let mut days: BTreeMap<Timestamp, Count> = BTreeMap::new();
    for counted in times {
        if let Some(time) = counted.key.get(1).and_then(|time| time.parse().ok()) {
            *days.entry(begin(time)).or_default() += counted.into();
        }
    }
    let first = first.unwrap_or(span.from).clamp(span.from, span.until);
    let length = span.until.duration_since(first).as_hours() / 24;
    if length <= MOST_EMPTY_DAYS {
        let next = |day: &Timestamp| day.checked_add(DAY).ok();
        let all = std::iter::successors(Some(begin(first)), next);
        for day in all.take_while(|day| *day < span.until) {
            days.entry(day).or_default();
        }
    }
    days
}

/// One row for each operator that sent crawlers or people.
pub(super) fn operators(
    crawlers: &[CrawlerRow<'_>],
    now: &[Referral],
    before: &[Referral],
) -> Vec<OperatorRow> {
    let mut rows: BTreeMap<String, OperatorRow> = BTreeMap::new();
    let mut of = |operator: &str, add: &dyn Fn(&mut OperatorRow)| {
        let row = rows.entry(operator.to_lowercase()).or_insert_with(|| OperatorRow {
            operator: operator.to_owned(),
            now: Exchange::default(),
            before: Exchange::default(),
        });
        add(row);
    };
    for row in crawlers {
        if let Some(operator) = row.entry.and_then(Crawler::operator) {
            of(operator, &|sum| {
                sum.now.requests += row.now.own();
                sum.before.requests += row.before.own();
            });
        }
    }
    for referral in now {
        of(&referral.operator, &|sum| sum.now.visits += referral.visits);
    }
    for referral in before {
        of(&referral.operator, &|sum| sum.before.visits += referral.visits);
    }
    let is_there = |row: &OperatorRow| row.now != Exchange::default();
    let mut rows: Vec<_> = rows.into_values().filter(is_there).collect();
    rows.sort_by_key(|row| Reverse([row.now.requests, row.now.visits]));
    rows
}
