//! Counts violations: by hour, and record by record where hours can't tell.

use super::{
    args::By,
    columns::rule,
    counts::{Counts, Tally},
    hours::{NO_NAME, first_hour, is_wanted, questions},
    source::Source,
};
use crate::{
    cli::exit::Error,
    violations::{Dimension, Filter, PlaceKind, Question, Store, Text},
};

/// Whether the counts by hour have all values that the filter is about.
pub(super) fn can_answer(by: By, filter: &Filter) -> bool {
    let is_place = matches!(by, By::Path | By::Network);
    filter.path.is_none() && filter.id.is_none() && !(is_place && filter.action.is_some())
}

/// Counts the records that meet the conditions.
pub(super) fn of_records(by: By, source: &Source, filter: &Filter) -> Result<Counts, Error> {
    let (tally, unreadable) = tally(by, source, filter)?;
    Ok(Counts::of(by, tally, unreadable, filter.limit))
}

fn tally(by: By, source: &Source, filter: &Filter) -> Result<(Tally, u64), Error> {
    let mut tally = Tally::new();
    let unreadable = source.scan(filter, |violation| {
        let (violations, requests) = tally.entry(by.key(violation)).or_default();
        *violations += 1;
        *requests += 1;
    })?;
    Ok((tally, unreadable))
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
    let mut add = |key: String, violations: u64, requests: u64| {
        let sums = tally.entry(key).or_default();
        *sums = (sums.0 + violations, sums.1 + requests);
    };
    for question in questions(filter) {
        match by {
            By::Path | By::Network => {
                for (place, violations) in places(by, store, &question)? {
                    add(place, violations, violations);
                }
            }
            By::Crawler | By::Rule | By::Day => {
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
    // A quiet day is a fact; a crawler or a rule without a violation is not asked for.
    tally.retain(|_, (violations, _)| by == By::Day || *violations > 0);
    Ok(Counts::of(by, tally, unreadable, filter.limit))
}

fn dimensions(by: By) -> impl Iterator<Item = Dimension> {
    let dimensions: &[Dimension] = match by {
        By::Crawler => &[Dimension::ProductToken],
        By::Rule => &[Dimension::Reason, Dimension::Directive, Dimension::Pattern],
        By::Day => &[Dimension::Day],
        By::Path | By::Network => &[],
    };
    dimensions.iter().copied()
}

/// The key of these values, as records have it.
fn name(by: By, values: &[Text]) -> String {
    match (by, values) {
        (By::Rule, [reason, directive, pattern]) => {
            rule(directive, pattern).unwrap_or_else(|| reason.to_string())
        }
        (By::Crawler, [token]) if token.is_empty() => NO_NAME.to_owned(),
        (By::Day, [day]) => day.split('T').next().unwrap_or_default().to_owned(),
        (_, values) => values.first().map_or_else(String::new, Text::to_string),
    }
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
