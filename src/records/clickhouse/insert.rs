//! Rows of one table, ready to be sent: pure, so that a file can hold them meanwhile.

use std::collections::BTreeSet;

use jiff::{Timestamp, tz::Offset};
use serde::Serializer;

use super::tables::Table;
use crate::{
    base::escape::hex,
    records::{
        record::{CountRow, Edition, Overflow, Value, Violation},
        tally::Rollups,
    },
};

/// The bits of a sequence number below the time.
pub(super) const BELOW_TIME: u32 = 22;
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

/// The source of rows. It is a part of their keys.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// The node, by the name that the operator gives it.
    pub node: &'a str,
    /// The run of the program, by a UUIDv7: a later run has a greater one.
    pub run: &'a str,
    /// The number of the batch in this run; a later batch has a greater one.
    pub batch: u64,
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
    let hours = hours.into_iter().map(|hour| CountRow { hour, key: vec![], numbers: vec![] });
    let files: Vec<String> = editions.iter().map(|one| hex(&one.bytes)).collect();
    let files = editions.iter().zip(&files);
    let files =
        files.map(|(one, hex)| [&one.id, &one.sha256, hex.as_str()].map(Value::Word).into());
    let publications = (0..).zip(editions).map(|(at, one)| publication(one, origin, at));
    let inserts = [
        Insert::of(Table::Editions, files),
        Insert::of(Table::Publications, publications),
        Insert::of(Table::Violations, records.iter().map(|one| record(one))),
        Insert::of_hours(Table::Counts, &counts.series, origin),
        Insert::of_hours(Table::Places, &counts.places, origin),
        Insert::of_hours(Table::People, &counts.people, origin),
        Insert::of_hours(Table::Referrals, &counts.referrals, origin),
        Insert::of(Table::Overflow, overflow.iter().map(|one| missing(one, origin))),
        Insert::of(Table::CountedHours, hours.map(|one| of_hour(one, origin))),
    ];
    inserts.into_iter().filter(|insert| !insert.rows.is_empty()).collect()
}

impl Insert {
    fn of_hours<'a, T>(table: Table, counts: &'a [T], origin: Origin<'a>) -> Self
    where
        CountRow<'a>: From<&'a T>,
    {
        Self::of(table, counts.iter().map(|one| of_hour(one.into(), origin)))
    }

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
        let days: BTreeSet<u32> = self.lines().filter_map(day_of).collect();
        Self::of(Table::DaysSentAgain, days.into_iter().map(|day| vec![Value::Number(day.into())]))
    }

    fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.rows.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
    }
}

/// The day of a row, which stands at its beginning.
fn day_of(row: &[u8]) -> Option<u32> {
    let digits = row.strip_prefix(DAY)?;
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    str::from_utf8(digits.get(..end)?).ok()?.parse().ok()
}

/// The day of UTC as a number: 20261123. Times before 1970 are of its first day, and those beyond every
/// date of the last one.
pub(crate) fn day(millisecond: i64) -> u32 {
    let time = Timestamp::from_millisecond(millisecond.max(0)).unwrap_or(Timestamp::MAX);
    let date = Offset::UTC.to_datetime(time).date();
    let [year, month, day] = [date.year(), date.month().into(), date.day().into()];
    u32::from(year.unsigned_abs()) * 10_000 + u32::from((month * 100 + day).unsigned_abs())
}

/// The sequence number of a record: its time, then what its id has behind the time. So the order by
/// sequence is the order of decisions, also within a millisecond of one node.
pub(super) fn sequence(violation: &Violation) -> u64 {
    let millisecond = violation.time.as_millisecond().max(0).unsigned_abs();
    let most = (1 << (u64::BITS - BELOW_TIME)) - 1;
    millisecond.min(most) << BELOW_TIME | behind_time(&violation.id)
}

/// The first 22 bits behind the time and the version of a UUIDv7 (RFC 9562 §5.7); of another id, a sum
/// of its bytes.
fn behind_time(id: &str) -> u64 {
    let digits = |range| id.get(range).and_then(|part| u64::from_str_radix(part, 16).ok());
    let is_uuid = id.len() == 36 && id.as_bytes().get(14) == Some(&b'7');
    let bits = digits(15..18).zip(digits(19..22)).filter(|_| is_uuid);
    let bits = bits.map(|(first, second)| first << 10 | (second & 0x3ff));
    bits.unwrap_or_else(|| {
        let fold = |sum: u64, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        id.bytes().fold(0xcbf2_9ce4_8422_2325, fold) & ((1 << BELOW_TIME) - 1)
    })
}

type Row<'a> = Vec<Value<'a>>;

impl<'a> Origin<'a> {
    const fn values(self) -> [Value<'a>; 3] {
        [Value::Word(self.node), Value::Word(self.run), Value::Count(self.batch)]
    }
}

fn record(violation: &Violation) -> Row<'_> {
    let day = day(violation.time.as_millisecond());
    let key = [Value::Number(day.into()), Value::Count(sequence(violation))];
    key.into_iter().chain(violation.values()).collect()
}

fn missing<'a>(overflow: &'a Overflow, origin: Origin<'a>) -> Row<'a> {
    let Overflow { site, product_token, rule, count, first, last } = overflow;
    let day = Value::Number(day(last.as_millisecond()).into());
    let names = [site, product_token, rule].map(|name| Value::Word(name));
    let counts = [Value::Count(*count), Value::Time(*first), Value::Time(*last)];
    [day].into_iter().chain(names).chain(origin.values()).chain(counts).collect()
}

fn publication<'a>(edition: &'a Edition, origin: Origin<'a>, place: u32) -> Row<'a> {
    let Edition { site, id, source, from, .. } = edition;
    let names = [site, id, source].map(|name| Value::Word(name));
    let (from, place) = (Value::Time(*from), Value::Number(place.into()));
    names.into_iter().chain([from]).chain(origin.values()).chain([place]).collect()
}

fn of_hour<'a>(CountRow { hour, key, numbers }: CountRow<'a>, origin: Origin<'a>) -> Row<'a> {
    let hour = hour.as_millisecond();
    let times = [Value::Number(day(hour).into()), Value::Number(hour)];
    let key = times.into_iter().chain(key).chain(origin.values());
    key.chain(numbers.into_iter().map(Value::Count)).collect()
}
