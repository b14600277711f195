//! Records that a filter selects: listed, counted, grouped.
//!
//! The order of sequence numbers is the order of time, and the table is sorted by it. A listing from
//! the end goes back in windows of time, each larger than the one before, until it has enough.

use serde_json::Value;

use super::{
    condition::{self, Conditions, text},
    insert::BELOW_TIME,
    reader::Reader,
    tables::RECORD_HOURS,
    window::{Extent, Range, Windows},
};
use crate::{
    base::text::Text,
    records::record::{COLUMNS, Error, Filter, Listing, RecordColumn, Violation},
};

const PORTION: usize = 20_000;
/// How old a record is before a follower passes it, in seconds. Until then, an earlier one may arrive
/// from another node.
const SETTLED: u32 = 5;

/// The sequence numbers of the latest record, and up to which no other should arrive.
struct Ends {
    latest: u64,
    settled: u64,
}

impl Reader {
    pub(crate) fn query(&self, filter: &Filter) -> Result<Listing, Error> {
        let limit = filter.limit.unwrap_or(usize::MAX);
        let mut listing = Listing::default();
        let Some(extent) = self.extent()? else {
            listing.end = filter.after_sequence.unwrap_or(0);
            return Ok(listing);
        };
        let Ends { latest, settled } = self.ends(&extent)?;
        let known = latest.min(settled);
        let mut range = Range::of(filter).within(extent.range(latest));
        // A reader that goes on later must not pass over a record that is still on its way. One that
        // names the end does not go on.
        if filter.after_sequence.is_some() && filter.before_sequence.is_none() {
            range.last = range.last.min(known);
        }
        if limit > 0 {
            self.list(filter, range, extent, limit, &mut listing)?;
        }
        listing.finish(filter, known);
        Ok(listing)
    }

    fn list(
        &self,
        filter: &Filter,
        range: Range,
        extent: Extent,
        limit: usize,
        listing: &mut Listing,
    ) -> Result<(), Error> {
        let once = self.once(range)?;
        if let Some(time) = time(filter) {
            self.list_ranges((filter, once), &[Range::near(time).within(range)], limit, listing)?;
            // Where the clock was set back, an id is ahead of its record.
            if !listing.records.is_empty() {
                return Ok(());
            }
        }
        let parts = self.parts(filter, range)?;
        let mut windows = Windows::new(parts, extent.first_window(limit), filter.is_backward());
        while let Some(window) = windows.next() {
            let before = listing.records.len();
            self.list_ranges((filter, once), &window, limit, listing)?;
            let found = listing.records.len();
            if found >= limit {
                break;
            }
            windows.found(found - before, PORTION);
        }
        Ok(())
    }

    /// Adds the records of these ranges, up to the limit; `once` is the clause that lists each record once.
    fn list_ranges(
        &self,
        (filter, once): (&Filter, &str),
        ranges: &[Range],
        limit: usize,
        listing: &mut Listing,
    ) -> Result<(), Error> {
        let (order, behind) = if filter.is_backward() { ("DESC", '<') } else { ("ASC", '>') };
        let (values, mut times) = (condition::of_filter(filter), within(ranges));
        loop {
            let portion = limit.saturating_sub(listing.records.len()).min(PORTION);
            if portion == 0 || Range::around_all(ranges).is_empty() {
                return Ok(());
            }
            let sql = format!(
                "SELECT sequence, {COLUMNS} FROM violations{values}{times} \
                 ORDER BY sequence {order}, id {order}{once} LIMIT {portion}"
            );
            let rows: Vec<Vec<Value>> = self.all(&sql)?;
            let is_last = rows.len() < portion;
            if let Some([sequence, _, Value::String(id), ..]) = rows.last().map(Vec::as_slice) {
                times.require(format_args!("sequence {behind}= {sequence}"));
                let id = text(id);
                times.require(format_args!("(sequence != {sequence} OR id {behind} {id})"));
            }
            for row in rows {
                match violation(row) {
                    Some(found) => listing.records.push(found),
                    None => listing.unreadable += 1,
                }
            }
            if is_last {
                return Ok(());
            }
        }
    }

    pub(crate) const fn numbers_of(milliseconds: u64) -> u64 {
        milliseconds << BELOW_TIME
    }

    pub(crate) fn count_records(&self, filter: &Filter) -> Result<u64, Error> {
        let range = self.range(filter)?;
        let number = self.number(range)?;
        let (values, times) = (condition::of_filter(filter), within(&[range]));
        let sql = format!("SELECT {number} AS number FROM violations{values}{times}");
        Ok(self.one(&sql)?.unwrap_or(0))
    }

    pub(crate) fn group_records(
        &self,
        filter: &Filter,
        by: &[RecordColumn],
    ) -> Result<Vec<(Vec<Text>, u64)>, Error> {
        let range = self.range(filter)?;
        let number = self.number(range)?;
        let (conditions, times) = (condition::of_filter(filter), within(&[range]));
        let all = |of: fn(RecordColumn) -> &'static str| {
            by.iter().map(|column| of(*column)).collect::<Vec<_>>().join(", ")
        };
        let (values, keys) = (all(value), all(key));
        let sql = format!(
            "SELECT [{values}] AS keys, {number} AS number FROM violations{conditions}{times} \
             GROUP BY {keys}"
        );
        self.all(&sql)
    }

    fn range(&self, filter: &Filter) -> Result<Range, Error> {
        Ok(Range::around_all(&self.parts(filter, Range::of(filter))?))
    }

    /// The parts of the range in which there can be records that the filter selects, in order.
    ///
    /// The server adds a record's hour a moment after the record. A follower may not miss it, so a short
    /// range is read in any case.
    pub(super) fn parts(&self, filter: &Filter, range: Range) -> Result<Vec<Range>, Error> {
        let mut conditions = Conditions::new();
        conditions.require_names(filter);
        if conditions.is_empty() || range.is_short() {
            return Ok(vec![range]);
        }
        let [first, last] = range.days();
        conditions.require(format_args!("day BETWEEN {first} AND {last}"));
        let sql = format!("SELECT DISTINCT hour FROM {RECORD_HOURS}{conditions} ORDER BY hour");
        let hours = joined(self.all(&sql)?.into_iter().map(|(hour,)| hour));
        let parts = hours.into_iter().map(|[first, last]| Range::of_hours(first, last));
        Ok(parts.map(|part| part.within(range)).filter(|part| !part.is_empty()).collect())
    }

    /// The days of records that were sent again, within the range.
    fn days_sent_again(&self, range: Range) -> Result<Vec<u32>, Error> {
        let [first, last] = range.days();
        let sql = format!(
            "SELECT DISTINCT day FROM days_sent_again WHERE day BETWEEN {first} AND {last}"
        );
        Ok(self.all(&sql)?.into_iter().map(|(day,)| day).collect())
    }

    /// The clause that lists each record once, if one may be there twice.
    fn once(&self, range: Range) -> Result<&'static str, Error> {
        let is_again = !self.days_sent_again(range)?.is_empty();
        Ok(if is_again { " LIMIT 1 BY sequence, id" } else { "" })
    }

    /// The expression for the number of records, each counted once.
    fn number(&self, range: Range) -> Result<String, Error> {
        let days = self.days_sent_again(range)?;
        if days.is_empty() {
            return Ok("count()".to_owned());
        }
        let days = days.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        Ok(format!("countIf(day NOT IN ({days})) + uniqExactIf(id, day IN ({days}))"))
    }

    fn extent(&self) -> Result<Option<Extent>, Error> {
        let sql = "SELECT toUInt32(partition) AS day, toUInt64(sum(rows)) AS number \
                   FROM system.parts WHERE database = currentDatabase() \
                   AND table = 'violations' AND active GROUP BY partition ORDER BY day";
        let days: Vec<(u32, u64)> = self.all(sql)?;
        let ends = days.first().zip(days.last());
        Ok(ends.map(|(&(first, _), &(last, rows))| Extent { first, last, rows }))
    }

    /// The sequence number of the latest record, and the one up to which no other should arrive.
    fn ends(&self, extent: &Extent) -> Result<Ends, Error> {
        let day = extent.last;
        // The last hour is far less than the last day.
        for within in ["AND sequence >= bitShiftLeft(toUInt64(now() - 3600) * 1000, 22)", ""] {
            let sql = format!(
                "SELECT max(sequence) AS latest, \
                 bitShiftLeft(toUInt64(now() - {SETTLED}) * 1000, {BELOW_TIME}) AS settled \
                 FROM violations WHERE day = {day} {within}"
            );
            if let Some((latest @ 1.., settled)) = self.all(&sql)?.pop() {
                return Ok(Ends { latest, settled });
            }
        }
        Ok(Ends { latest: 0, settled: u64::MAX })
    }
}

fn violation(row: Vec<Value>) -> Option<(u64, Violation)> {
    let mut columns = row.into_iter();
    let sequence = columns.next()?.as_u64()?;
    Some((sequence, Violation::read(columns).ok()?))
}

fn within(ranges: &[Range]) -> Conditions {
    let mut conditions = Conditions::new();
    // A condition that all records meet would only be read.
    if ranges != [Range::ALL] {
        let [first_day, last_day] = Range::around_all(ranges).days();
        conditions.require(format_args!("day BETWEEN {first_day} AND {last_day}"));
        let within = |Range { first, last }: &Range| format!("sequence BETWEEN {first} AND {last}");
        let within = ranges.iter().map(within).collect::<Vec<_>>().join(" OR ");
        conditions.require(format_args!("({within})"));
    }
    conditions
}

/// The time in the filter's id, in milliseconds, if it is a UUIDv7 (RFC 9562 §5.7).
fn time(filter: &Filter) -> Option<u64> {
    let id = filter.id.as_ref().filter(|id| id.as_bytes().get(14) == Some(&b'7'))?;
    let [first, second] = [id.get(..8)?, id.get(9..13)?];
    u64::from_str_radix(&format!("{first}{second}"), 16).ok()
}

const fn value(column: RecordColumn) -> &'static str {
    match column {
        RecordColumn::ProductToken => "any(product_token)",
        other => key(other),
    }
}

const fn key(column: RecordColumn) -> &'static str {
    match column {
        RecordColumn::ProductToken => "lower(product_token)",
        RecordColumn::Path => condition::PAGE,
        RecordColumn::Day => {
            "concat(substring(toString(day), 1, 4), '-', substring(toString(day), 5, 2), '-', \
             substring(toString(day), 7, 2))"
        }
        plain => plain.as_str(),
    }
}

/// The first and the last hour of each row of hours without a gap.
fn joined(hours: impl Iterator<Item = u32>) -> Vec<[u32; 2]> {
    let mut joined: Vec<[u32; 2]> = Vec::new();
    for hour in hours {
        match joined.last_mut() {
            Some([_, last]) if last.checked_add(1) == Some(hour) => *last = hour,
            _ => joined.push([hour, hour]),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_without_a_gap_are_one_part() {
        for (hours, parts) in [
            (vec![], vec![]),
            (vec![7], vec![[7, 7]]),
            (vec![1, 2, 3, 5, 8, 9], vec![[1, 3], [5, 5], [8, 9]]),
            (vec![u32::MAX - 1, u32::MAX], vec![[u32::MAX - 1, u32::MAX]]),
        ] {
            assert_eq!(joined(hours.into_iter()), parts);
        }
    }
}
