//! A filter as a question to the database. Its values are always bound, never written into SQL.

use std::ops::ControlFlow;

use jiff::Timestamp;
use rusqlite::{params_from_iter, types::Value};

use super::{
    conditions::Conditions,
    connection::Store,
    records::{COLUMNS, violation},
};
use crate::violations::{Error, Filter, Listing, Text, Violation};

/// The sequence number of the latest record.
const LATEST: &str = "SELECT max(sequence) FROM violations";

/// A column by which records can be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordColumn {
    /// The judged product token.
    ProductToken,
    /// The stable code of the reason.
    Reason,
    /// The rule's directive.
    Directive,
    /// The rule's path pattern.
    Pattern,
    /// The path without its query.
    Path,
    /// The client, as recorded.
    ClientIp,
    /// The day of UTC, as `2026-11-20`.
    Day,
}

impl RecordColumn {
    const fn sql(self) -> &'static str {
        match self {
            Self::ProductToken => "product_token",
            Self::Reason => "reason",
            Self::Directive => "robots_directive",
            Self::Pattern => "robots_pattern",
            Self::Path => "substr(path, 1, instr(path || '?', '?') - 1)",
            Self::ClientIp => "client_ip",
            Self::Day => "strftime('%Y-%m-%d', time / 1000, 'unixepoch')",
        }
    }
}

impl Store {
    /// The records that the filter lists, in the order of writing.
    ///
    /// # Errors
    /// Where the database cannot be read.
    pub fn query(&self, filter: &Filter) -> Result<Listing, Error> {
        let limit = filter.limit.unwrap_or(usize::MAX);
        // The latest records are found from the end.
        let is_backward = filter.limit.is_some() && filter.after_sequence.is_none();
        let mut listing = Listing::default();
        // Read first: what is written meanwhile belongs to the next listing.
        let latest = self.all(LATEST, [], |row| row.get::<_, Option<i64>>(0))?;
        let latest = latest.into_iter().flatten().next().unwrap_or(0).unsigned_abs();
        if limit > 0 {
            listing.unreadable = self.rows(filter, is_backward, |sequence, violation| {
                listing.records.push((sequence, violation));
                match listing.records.len() < limit {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                }
            })?;
        }
        if is_backward {
            listing.records.reverse();
        }
        let last = listing.records.last().map_or(0, |&(sequence, _)| sequence);
        // After a full listing forward, the next one begins behind the last record.
        let is_full = !is_backward && listing.records.len() == limit;
        let end = if is_full { last } else { latest.max(last) };
        listing.end = end.max(filter.after_sequence.unwrap_or(0));
        Ok(listing)
    }

    fn rows(
        &self,
        filter: &Filter,
        is_backward: bool,
        mut visit: impl FnMut(u64, Violation) -> ControlFlow<()>,
    ) -> Result<u64, Error> {
        let order = if is_backward { "DESC" } else { "ASC" };
        let Conditions { text, values } = conditions(filter);
        let sql =
            format!("SELECT sequence, {COLUMNS} FROM violations{text} ORDER BY sequence {order}");
        let read = || -> rusqlite::Result<u64> {
            let mut unreadable = 0;
            let mut statement = self.connection.prepare_cached(&sql)?;
            let mut rows = statement.query(params_from_iter(values))?;
            while let Some(row) = rows.next()? {
                match violation(row) {
                    Ok((sequence, violation)) => {
                        if visit(sequence, violation).is_break() {
                            break;
                        }
                    }
                    Err(_) => unreadable += 1,
                }
            }
            Ok(unreadable)
        };
        read().map_err(|error| self.failure(error))
    }

    /// The number of records that meet the conditions, whatever the limit.
    ///
    /// # Errors
    /// Where the database cannot be read.
    pub fn count_records(&self, filter: &Filter) -> Result<u64, Error> {
        let Conditions { text, values } = conditions(filter);
        let sql = format!("SELECT count(*) FROM violations{text}");
        let count = self.all(&sql, params_from_iter(values), |row| row.get::<_, i64>(0))?;
        Ok(count.first().map_or(0, |count| count.unsigned_abs()))
    }

    /// The numbers of records that meet the conditions, by the values of these columns.
    ///
    /// # Errors
    /// Where the database cannot be read.
    pub fn group_records(
        &self,
        filter: &Filter,
        by: &[RecordColumn],
    ) -> Result<Vec<(Vec<Text>, u64)>, Error> {
        let Conditions { text, values } = conditions(filter);
        let columns = by.iter().map(|column| column.sql()).collect::<Vec<_>>().join(", ");
        let sql = format!("SELECT {columns}, count(*) FROM violations{text} GROUP BY {columns}");
        self.all(&sql, params_from_iter(values), |row| {
            let key = (0..by.len()).map(|at| row.get(at)).collect::<rusqlite::Result<_>>()?;
            Ok((key, row.get::<_, i64>(by.len())?.unsigned_abs()))
        })
    }
}

/// The conditions on records.
fn conditions(filter: &Filter) -> Conditions {
    let mut conditions = Conditions::default();
    let text = |wanted: &Option<String>| wanted.clone().map(Value::Text);
    let number = |wanted: u64| Value::Integer(i64::try_from(wanted).unwrap_or(i64::MAX));
    conditions.require("id = ?", text(&filter.id));
    conditions.require("site = ?", text(&filter.site));
    conditions.require("product_token = ?", text(&filter.product_token));
    conditions.require("purpose = ?", text(&filter.purpose));
    conditions.require("action = ?", text(&filter.action));
    conditions.require("time >= ?", filter.since.map(|at| Value::Integer(ceiling(at))));
    conditions.require("time < ?", filter.until.map(|at| Value::Integer(ceiling(at))));
    conditions.require("sequence > ?", filter.after_sequence.map(number));
    conditions.require("sequence < ?", filter.before_sequence.map(number));
    conditions.require("path GLOB ?", filter.path_glob().map(Value::Text));
    conditions
}

/// The first whole millisecond at or after the time.
fn ceiling(time: Timestamp) -> i64 {
    let floor = time.as_millisecond();
    let is_later = Timestamp::from_millisecond(floor).is_ok_and(|floor| floor < time);
    floor + i64::from(is_later)
}
