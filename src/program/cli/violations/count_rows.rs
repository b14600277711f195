//! Violations counted by crawler, rule, path, network, day, standing or site: by hour, and record by record
//! where hours can't tell.

use std::{cmp::Reverse, collections::HashMap, io::Write, ops::ControlFlow};

use serde::Serialize;

use super::{
    record_source::{Source, is_wanted, questions},
    selection::{By, Format},
};
use crate::{
    base::text::Text,
    clients::conduct::Network,
    program::console::{Error, json},
    records::{
        counts::{Dimension, Question},
        record::{Filter, RecordColumn, Violation, csv, rule_line},
        tally::{Claimant, PlaceKind},
        violations::{
            Store,
            jsonl::{self, Line},
        },
    },
    review::report::{
        Screen,
        grid::{Cell, Column, Grid},
    },
};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Row {
    key: String,
    /// Or requests for other forms of closed paths, where only these are counted.
    violations: u64,
    requests: u64,
    /// Of impostors alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    standing: Option<&'static str>,
}

/// What is counted: one of the values, or the impostors of a crawler.
type Key = (String, Claimant);

#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) rows: Vec<Row>,
    /// The number of keys beyond the limit.
    pub(super) more: usize,
    /// All violations, those of the keys beyond the limit, too.
    pub(super) violations: u64,
    requests: u64,
    /// Lines or rows that are no valid records.
    pub(super) unreadable: u64,
}

/// Stands for the keys that an hour has no count of its own for.
const REST: &str = "…";

impl By {
    /// The key of a record.
    fn key(self, violation: &Violation) -> Key {
        let name = match self {
            Self::Crawler => {
                let claimant = Claimant::of(&violation.standing);
                return (violation.product_token.to_string(), claimant);
            }
            Self::Rule => rule_line(&violation.robots.directive, &violation.robots.pattern)
                .unwrap_or_else(|| violation.reason.to_string()),
            Self::Path => violation.path.split('?').next().unwrap_or_default().to_owned(),
            Self::Network => network(&violation.client_ip),
            Self::Day => violation.time.strftime("%Y-%m-%d").to_string(),
            Self::Standing => violation.standing.to_string(),
            Self::Site => violation.site.to_string(),
        };
        (name, Claimant::default())
    }
}

impl Row {
    fn name(&self) -> String {
        Claimant::of(self.standing.unwrap_or_default()).name(&self.key)
    }

    /// The number of violations: none among requests for other forms.
    fn violations_by(&self, filter: &Filter) -> u64 {
        if filter.is_of_forms() { 0 } else { self.violations }
    }
}

/// The network of a client as recorded; a network or a hash stays as it is.
fn network(client_ip: &str) -> String {
    client_ip
        .parse()
        .map_or_else(|_| client_ip.to_owned(), |address| Network::of(address).to_string())
}

type Tally = HashMap<Key, (u64, u64)>;

impl Counts {
    /// Most violations first, days in their order; of more than `limit` days the latest.
    fn of(
        by: By,
        tally: impl IntoIterator<Item = (Key, (u64, u64))>,
        unreadable: u64,
        limit: Option<usize>,
    ) -> Self {
        let mut rows: Vec<_> = tally
            .into_iter()
            .map(|((key, claimant), (violations, requests))| Row {
                key,
                violations,
                requests,
                standing: claimant.standing(),
            })
            .collect();
        let (violations, requests) =
            rows.iter().fold((0, 0), |(v, r), row| (v + row.violations, r + row.requests));
        match by {
            By::Day => rows.sort_by(|a, b| a.key.cmp(&b.key)),
            _ => rows.sort_by(|a, b| {
                let rank = |row: &Row| (row.key == REST, Reverse(row.violations));
                rank(a).cmp(&rank(b)).then_with(|| (&a.key, a.standing).cmp(&(&b.key, b.standing)))
            }),
        }
        let more = rows.len().saturating_sub(limit.unwrap_or(usize::MAX));
        match by {
            By::Day => drop(rows.drain(..more)),
            _ => rows.truncate(rows.len() - more),
        }
        Self { rows, more, violations, requests, unreadable }
    }

    pub(super) fn print(
        &self,
        by: By,
        (format, filter): (Format, &Filter),
        out: &mut dyn Write,
    ) -> Result<(), Error> {
        match format {
            Format::Json => self.rows.iter().try_for_each(|row| {
                json(out, &Row { violations: row.violations_by(filter), ..row.clone() })
            }),
            Format::Csv => {
                let mut lines = Vec::new();
                // Only crawlers have impostors.
                let cells = if by == By::Crawler { 4 } else { 3 };
                let heading = ["key", "violations", "requests", "standing"];
                csv::push_row(&mut lines, heading.into_iter().take(cells));
                for one in &self.rows {
                    let Row { key, requests, standing, .. } = one;
                    let violations = one.violations_by(filter).to_string();
                    let requests = requests.to_string();
                    let row = [key.as_str(), &violations, &requests, standing.unwrap_or_default()];
                    csv::push_row(&mut lines, row.into_iter().take(cells));
                }
                Ok(out.write_all(&lines)?)
            }
            Format::Text => self.print_table(by, filter, out),
        }
    }

    fn print_table(&self, by: By, filter: &Filter, out: &mut dyn Write) -> Result<(), Error> {
        let number = |heading, rank| Column::number(heading, rank, 10);
        let mut columns = vec![
            Column::text(by.as_str(), 0, 20),
            number(if filter.is_of_forms() { "REQUESTS" } else { "VIOLATIONS" }, 1),
            number("SHARE", 2),
        ];
        // Where only violations are counted, the column would say everything twice.
        let has_requests = self.requests != self.violations;
        columns.extend(has_requests.then(|| number("REQUESTS", 3)));
        let row = |key: &str, violations: u64, requests: u64| -> Vec<Cell> {
            let share = share(violations, self.violations);
            let mut cells = vec![key.to_owned(), violations.to_string(), share];
            cells.extend(has_requests.then(|| requests.to_string()));
            cells.into_iter().map(Cell::from).collect()
        };
        let rows = self.rows.iter().map(|one| row(&one.name(), one.violations, one.requests));
        let rows: Vec<_> = rows.chain([row("total", self.violations, self.requests)]).collect();
        let grid = Grid::fit(&columns, &rows, Screen::of_standard_output(), false);
        Ok(write!(out, "{}", grid.text(&rows))?)
    }
}

fn share(part: u64, all: u64) -> String {
    let tenths = (u128::from(part) * 2_000 + u128::from(all)) / (2 * u128::from(all)).max(1);
    format!("{}.{}%", tenths / 10, tenths % 10)
}

/// Whether the counts by hour have all values that the filter is about.
pub(super) fn can_answer(by: By, filter: &Filter) -> bool {
    let is_place = matches!(by, By::Path | By::Network);
    filter.path.is_none()
        && filter.id.is_none()
        && filter.reason.is_none()
        && filter.rule.is_none()
        && !(is_place && filter.action.is_some())
}

pub(super) fn of_records(by: By, source: &Source, filter: &Filter) -> Result<Counts, Error> {
    let (tally, unreadable) = tally(by, source, filter)?;
    Ok(Counts::of(by, tally, unreadable, filter.limit))
}

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
    let first = store.first_counted_hour()?;
    let begin = first.map(|first| filter.since.map_or(first, |since| since.max(first)));
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
                    add((place, Claimant::default()), violations, violations);
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

fn name(by: By, values: &[Text]) -> Key {
    let name = match (by, values) {
        (By::Rule, [reason, directive, pattern]) => {
            rule_line(directive, pattern).unwrap_or_else(|| reason.to_string())
        }
        (By::Crawler, [token, standing]) => {
            let token = if token.is_empty() { Violation::NAMELESS } else { token };
            return (token.to_owned(), Claimant::of(standing));
        }
        (By::Day, [day]) => day.split('T').next().unwrap_or_default().to_owned(),
        (By::Network, [client]) => network(client),
        (_, values) => values.first().map_or_else(String::new, Text::to_string),
    };
    (name, Claimant::default())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(counts: &Counts) -> Vec<&str> {
        counts.rows.iter().map(|row| row.key.as_str()).collect()
    }

    #[test]
    fn most_violations_come_first_and_days_in_their_order() {
        let tally = || {
            [("b", 3), ("a", 3), (REST, 9), ("c", 5)]
                .map(|(key, count)| ((key.to_owned(), Claimant::default()), (count, count + 1)))
        };
        let counts = Counts::of(By::Path, tally(), 0, None);
        assert_eq!(keys(&counts), ["c", "a", "b", REST]);
        assert_eq!((counts.violations, counts.requests, counts.more), (20, 24, 0));
        let counts = Counts::of(By::Path, tally(), 0, Some(2));
        assert_eq!((keys(&counts), counts.violations, counts.more), (vec!["c", "a"], 20, 2));
        let counts = Counts::of(By::Day, tally(), 0, Some(2));
        assert_eq!((keys(&counts), counts.more), (vec!["c", REST], 2), "the latest");
    }

    #[test]
    fn a_share_is_rounded_to_a_tenth() {
        for (part, all, expected) in [
            (0, 0, "0.0%"),
            (0, 7, "0.0%"),
            (1, 3, "33.3%"),
            (2, 3, "66.7%"),
            (7, 7, "100.0%"),
            (u64::MAX / 2, u64::MAX, "50.0%"),
        ] {
            assert_eq!(share(part, all), expected);
        }
    }
}
