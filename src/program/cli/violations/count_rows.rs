//! Violations counted by crawler, rule, path, network, day, standing or site.

use std::{cmp::Reverse, collections::HashMap, io::Write};

use serde::Serialize;

use super::args::{By, Format};
use crate::{
    clients::conduct::Network,
    program::console::{Cell, Column, Error, Screen, Table, json},
    records::{
        record::{Filter, Violation, csv, rule_line},
        tally::Claimant,
    },
};

/// The counts of one key.
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) name: String,
    pub(super) claimant: Claimant,
}

/// The counts in the order in which they are shown.
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
    const fn heading(self) -> &'static str {
        match self {
            Self::Crawler => "CRAWLER",
            Self::Rule => "RULE",
            Self::Path => "PATH",
            Self::Network => "NETWORK",
            Self::Day => "DAY",
            Self::Standing => "STANDING",
            Self::Site => "SITE",
        }
    }

    /// The key of a record.
    pub(super) fn key(self, violation: &Violation) -> Key {
        Key::from(match self {
            Self::Crawler => {
                let claimant = Claimant::of(&violation.standing);
                return Key { name: violation.product_token.to_string(), claimant };
            }
            Self::Rule => rule_line(&violation.robots.directive, &violation.robots.pattern)
                .unwrap_or_else(|| violation.reason.to_string()),
            Self::Path => violation.path.split('?').next().unwrap_or_default().to_owned(),
            Self::Network => network(&violation.client_ip),
            Self::Day => violation.time.strftime("%Y-%m-%d").to_string(),
            Self::Standing => violation.standing.to_string(),
            Self::Site => violation.site.to_string(),
        })
    }
}

impl From<String> for Key {
    fn from(name: String) -> Self {
        Self { name, ..Self::default() }
    }
}

impl Row {
    /// The key in a text.
    fn name(&self) -> String {
        Claimant::of(self.standing.unwrap_or_default()).name(&self.key)
    }

    /// The number of violations: none among requests for other forms.
    fn violations_by(&self, filter: &Filter) -> u64 {
        if filter.is_of_forms() { 0 } else { self.violations }
    }
}

/// The network of a client as recorded; a network or a hash stays as it is.
pub(super) fn network(client_ip: &str) -> String {
    client_ip
        .parse()
        .map_or_else(|_| client_ip.to_owned(), |address| Network::of(address).to_string())
}

/// The violations and requests of each key.
pub(super) type Tally = HashMap<Key, (u64, u64)>;

impl Counts {
    /// Most violations first, days in their order; of more than `limit` days the latest.
    pub(super) fn of(
        by: By,
        tally: impl IntoIterator<Item = (Key, (u64, u64))>,
        unreadable: u64,
        limit: Option<usize>,
    ) -> Self {
        let mut rows: Vec<_> = tally
            .into_iter()
            .map(|(key, (violations, requests))| Row {
                key: key.name,
                violations,
                requests,
                standing: key.claimant.standing(),
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

    /// Prints the counts of the records that `filter` selects.
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
        let number = |heading, rank| Column { heading, rank, least: 10, is_number: true };
        let mut columns = vec![
            Column { heading: by.heading(), rank: 0, least: 20, is_number: false },
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
        let Screen { width, has_colours } = Screen::of_standard_output();
        let table = Table::fit(&columns, &rows, width, has_colours, false);
        writeln!(out, "{}", table.heading())?;
        rows.iter().try_for_each(|row| writeln!(out, "{}", table.line(row)))?;
        Ok(())
    }
}

/// A part in percent, to a tenth.
fn share(part: u64, all: u64) -> String {
    let tenths = (u128::from(part) * 2_000 + u128::from(all)) / (2 * u128::from(all)).max(1);
    format!("{}.{}%", tenths / 10, tenths % 10)
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
                .map(|(key, count)| (Key::from(key.to_owned()), (count, count + 1)))
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
