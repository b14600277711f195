//! Counts violations: by hour, and record by record where hours can't tell.

use std::ops::ControlFlow;

use super::{
    args::By,
    count_rows::{Counts, Key, Tally, network},
    hours::{first_hour, is_wanted, questions},
    record_source::Source,
};
use crate::{
    base::text::Text,
    program::console::Error,
    records::{
        counts::{Dimension, Question},
        record::{Filter, RecordColumn, Violation, rule_line},
        tally::{Claimant, PlaceKind},
        violations::{
            Store,
            jsonl::{self, Line},
        },
    },
};

/// Whether the counts by hour have all values that the filter is about.
pub(super) fn can_answer(by: By, filter: &Filter) -> bool {
    let is_place = matches!(by, By::Path | By::Network);
    filter.path.is_none()
        && filter.id.is_none()
        && filter.reason.is_none()
        && filter.rule.is_none()
        && !(is_place && filter.action.is_some())
}

/// Counts the records that meet the conditions.
pub(super) fn of_records(by: By, source: &Source, filter: &Filter) -> Result<Counts, Error> {
    let (tally, unreadable) = tally(by, source, filter)?;
    Ok(Counts::of(by, tally, unreadable, filter.limit))
}

/// The counts of records by key, and the number of those that can't be read.
fn tally(by: By, source: &Source, filter: &Filter) -> Result<(Tally, u64), Error> {
    let mut tally = Tally::new();
    let mut add = |key: Key, count: u64| {
        let (violations, requests) = tally.entry(key).or_default();
        *violations += count;
        *requests += count;
    };
    let unreadable = match source {
        Source::Database(store) => {
            for (values, count) in store.group_records(filter, columns(by))? {
                add(name(by, &values), count);
            }
            0
        }
        Source::Lines(file) => {
            let reading = jsonl::scan(file, None, |_, line| {
                match line {
                    Line::Record(violation) if filter.matches(&violation) => {
                        add(by.key(&violation), 1);
                    }
                    Line::Record(_) | Line::Overflow(_) => {}
                }
                ControlFlow::Continue(())
            })?;
            reading.unreadable
        }
    };
    Ok((tally, unreadable))
}

/// The columns of records that make a key, in the order of [`dimensions`].
const fn columns(by: By) -> &'static [RecordColumn] {
    match by {
        By::Crawler => &[RecordColumn::ProductToken, RecordColumn::Standing],
        By::Rule => &[RecordColumn::Reason, RecordColumn::Directive, RecordColumn::Pattern],
        By::Path => &[RecordColumn::Path],
        By::Network => &[RecordColumn::ClientIp],
        By::Day => &[RecordColumn::Day],
        By::Standing => &[RecordColumn::Standing],
        By::Site => &[RecordColumn::Site],
    }
}

/// Counts the violations of the hours in the span. Records that are older than all counts come from
/// an older version of the program, and are counted one by one.
pub(super) fn of_hours(by: By, source: &Source, filter: &Filter) -> Result<Counts, Error> {
    let Some(store) = source.hours() else { return of_records(by, source, filter) };
    let begin = first_hour(store, filter)?;
    let older = Filter {
        until: match (filter.until, begin) {
            (Some(until), Some(begin)) => Some(until.min(begin)),
            (until, begin) => until.or(begin),
        },
        ..filter.clone()
    };
    let (mut tally, unreadable) = tally(by, source, &older)?;
    let mut add = |key: Key, violations: u64, requests: u64| {
        let sums = tally.entry(key).or_default();
        *sums = (sums.0 + violations, sums.1 + requests);
    };
    for question in questions(filter) {
        match by {
            By::Path | By::Network => {
                for (place, violations) in places(by, store, &question)? {
                    add(Key::from(place), violations, violations);
                }
            }
            By::Crawler | By::Rule | By::Day | By::Standing | By::Site => {
                let by_action = [Dimension::Action].into_iter().chain(dimensions(by));
                let question = Question { by: by_action.collect(), ..question };
                for one in store.counted(&question)? {
                    let [action, key @ ..] = one.key.as_slice() else { continue };
                    let is_wanted = is_wanted(filter, action);
                    let violations = if is_wanted { one.violations } else { 0 };
                    add(name(by, key), violations, one.requests);
                }
            }
        }
    }
    // A quiet day is a fact; anything else without a violation is not asked for.
    tally.retain(|_, (violations, _)| by == By::Day || *violations > 0);
    Ok(Counts::of(by, tally, unreadable, filter.limit))
}

fn dimensions(by: By) -> impl Iterator<Item = Dimension> {
    let dimensions: &[Dimension] = match by {
        By::Crawler => &[Dimension::ProductToken, Dimension::Standing],
        By::Rule => &[Dimension::Reason, Dimension::Directive, Dimension::Pattern],
        By::Day => &[Dimension::Day],
        By::Standing => &[Dimension::Standing],
        By::Site => &[Dimension::Site],
        By::Path | By::Network => &[],
    };
    dimensions.iter().copied()
}

/// The key of these values, as records have it.
fn name(by: By, values: &[Text]) -> Key {
    Key::from(match (by, values) {
        (By::Rule, [reason, directive, pattern]) => {
            rule_line(directive, pattern).unwrap_or_else(|| reason.to_string())
        }
        (By::Crawler, [token, standing]) => {
            let token = if token.is_empty() { Violation::NAMELESS } else { token };
            return Key { name: token.to_owned(), claimant: Claimant::of(standing) };
        }
        (By::Day, [day]) => day.split('T').next().unwrap_or_default().to_owned(),
        (By::Network, [client]) => network(client),
        (_, values) => values.first().map_or_else(String::new, Text::to_string),
    })
}

/// The paths or networks of the violations. These are kept by crawler; a purpose has several.
fn places(by: By, store: &Store, question: &Question) -> Result<Vec<(String, u64)>, Error> {
    let kind = if by == By::Path { PlaceKind::Path } else { PlaceKind::Network };
    let tokens = match &question.purpose {
        None => vec![question.product_token.clone()],
        Some(_) => {
            let by = vec![Dimension::ProductToken];
            let question = Question { by, only_violations: true, ..question.clone() };
            let counted = store.counted(&question)?;
            counted.iter().map(|one| one.key.first().map(Text::to_string)).collect()
        }
    };
    let mut places = Vec::new();
    for product_token in tokens {
        let question = Question { product_token, ..question.clone() };
        let found = store.places(kind, &question, usize::MAX)?;
        places.extend(found.into_iter().map(|place| (place.key.to_string(), place.violations)));
    }
    Ok(places)
}
