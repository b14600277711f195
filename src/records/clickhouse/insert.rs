//! Rows of one table, ready to be sent: pure, so that a file can hold them meanwhile.

use std::collections::BTreeSet;

use serde::Serializer;

use crate::{
    base::escape::hex,
    records::{
        record::{Edition, Overflow, Value, Violation},
        tally::Rollups,
    },
};

use super::{
    rows::{self, Origin, Row},
    tables::Table,
};

/// The beginning of a row that has a day.
const DAY: &[u8] = b"{\"day\":";

/// Rows of one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Insert {
    /// The table.
    pub table: Table,
    /// A JSON object for each row, each with a line feed behind it.
    pub rows: Vec<u8>,
}

/// What is sent together.
#[derive(Clone, Copy, Debug)]
pub struct Portion<'a> {
    /// Records.
    pub records: &'a [&'a Violation],
    /// The whole counts of this run so far, of those that changed. They replace what an earlier batch of
    /// the run sent.
    pub counts: &'a Rollups,
    /// Records that were not kept since the batch before.
    pub overflow: &'a [Overflow],
    /// Editions in the order of their publication. Their ends are not sent: a node's next edition of the
    /// site ends the one before.
    pub editions: &'a [&'a Edition],
}

/// The rows of a portion by table, in the order in which they are to be sent. Tables without rows are
/// absent.
pub fn inserts(origin: Origin<'_>, portion: Portion<'_>) -> Vec<Insert> {
    let Portion { records, counts, overflow, editions } = portion;
    let mut hours: BTreeSet<_> = counts.series.iter().map(|rollup| rollup.hour).collect();
    hours.extend(counts.places.iter().map(|place| place.hour));
    let files: Vec<String> = editions.iter().map(|one| hex(&one.bytes)).collect();
    let files = editions.iter().zip(&files).map(|(one, hex)| rows::edition(one, hex));
    let publications = (0..).zip(editions).map(|(at, one)| rows::publication(one, origin, at));
    let inserts = [
        Insert::of(Table::Editions, files),
        Insert::of(Table::Publications, publications),
        Insert::of(Table::Violations, records.iter().map(|one| rows::record(one))),
        Insert::of(Table::Counts, counts.series.iter().map(|one| rows::count(one, origin))),
        Insert::of(Table::Places, counts.places.iter().map(|one| rows::place(one, origin))),
        Insert::of(Table::People, counts.people.iter().map(|one| rows::people(one, origin))),
        Insert::of(Table::Referrals, counts.referrals.iter().map(|one| rows::visits(one, origin))),
        Insert::of(Table::Overflow, overflow.iter().map(|one| rows::missing(one, origin))),
        Insert::of(Table::CountedHours, hours.iter().map(|hour| rows::counted_hour(*hour, origin))),
    ];
    inserts.into_iter().filter(|insert| !insert.rows.is_empty()).collect()
}

impl Insert {
    fn of<'a>(table: Table, values: impl Iterator<Item = Row<'a>>) -> Self {
        let (columns, mut rows) = (table.columns(), Vec::new());
        for row in values {
            let mut to = serde_json::Serializer::new(&mut rows);
            let written = to.collect_map(columns.split(", ").zip(row));
            written.expect("the keys of a row are texts");
            rows.push(b'\n');
        }
        Self { table, rows }
    }

    /// The number of rows.
    pub fn len(&self) -> u64 {
        self.lines().count() as u64
    }

    /// Whether it has no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Two inserts with a half of the rows each, to find a row that the server refuses; `None` if there
    /// is one row or none.
    pub fn halves(&self) -> Option<[Self; 2]> {
        let half = self.lines().count() / 2;
        let at = self.lines().take(half).map(|line| line.len() + 1).sum();
        let (first, second) = self.rows.split_at_checked(at).filter(|_| half > 0)?;
        let part = |rows: &[u8]| Self { table: self.table, rows: rows.to_vec() };
        Some([part(first), part(second)])
    }

    /// The days of its records, as rows of [`Table::DaysSentAgain`]. A record that is sent again makes its
    /// day one of those.
    pub(super) fn days(&self) -> Self {
        let days: BTreeSet<u32> = self.lines().filter_map(day).collect();
        Self::of(Table::DaysSentAgain, days.into_iter().map(|day| vec![Value::Number(day.into())]))
    }

    fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.rows.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
    }
}

/// The day of a row, which stands at its beginning.
fn day(row: &[u8]) -> Option<u32> {
    let digits = row.strip_prefix(DAY)?;
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    str::from_utf8(digits.get(..end)?).ok()?.parse().ok()
}
