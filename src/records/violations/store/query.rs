//! A filter as a question to the database. Its values are always bound, never written into SQL.

use std::ops::ControlFlow;

use rusqlite::{CachedStatement, Rows, params_from_iter, types::Value};

use super::{
    conditions::Conditions,
    connection::Store,
    record_rows::violation,
    search::{Range, Way},
    values,
};
use crate::{
    base::text::Text,
    records::{
        record::{COLUMNS, Error, Filter, Listing, RecordColumn, Violation},
        tally::FORM,
    },
};

/// The sequence number of the latest record.
const LATEST: &str = "SELECT max(sequence) FROM violations";

impl Store {
    /// The records that the filter lists, in the order of writing.
    pub fn query(&self, filter: &Filter) -> Result<Listing, Error> {
        if let Some(shared) = &self.shared {
            return shared.query(filter);
        }
        let limit = filter.limit.unwrap_or(usize::MAX);
        let mut listing = Listing::default();
        // Read first: what is written meanwhile belongs to the next listing.
        let latest = self.all(LATEST, [], |row| row.get::<_, Option<i64>>(0))?;
        let latest = latest.into_iter().flatten().next().unwrap_or(0).unsigned_abs();
        if limit > 0 {
            listing.unreadable = self.rows(filter, |sequence, violation| {
                listing.records.push((sequence, violation));
                match listing.records.len() < limit {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                }
            })?;
        }
        listing.finish(filter, latest);
        Ok(listing)
    }

    fn rows(
        &self,
        filter: &Filter,
        mut visit: impl FnMut(u64, Violation) -> ControlFlow<()>,
    ) -> Result<u64, Error> {
        let order = if filter.is_backward() { "DESC" } else { "ASC" };
        let conditions = conditions_within(filter);
        let sql = format!(
            "SELECT sequence, {COLUMNS} FROM violations{} ORDER BY sequence {order}",
            conditions.text
        );
        let mut read = || -> rusqlite::Result<u64> {
            let mut unreadable = 0;
            let _snapshot = self.snapshot()?;
            let mut statement = self.prepare_within(&sql, &conditions)?;
            self.ranges(filter, |range| {
                let mut rows = within(&mut statement, range)?;
                while let Some(row) = rows.next()? {
                    match violation(row) {
                        Ok((sequence, violation)) => {
                            if visit(sequence, violation).is_break() {
                                return Ok(ControlFlow::Break(()));
                            }
                        }
                        Err(_) => unreadable += 1,
                    }
                }
                Ok(ControlFlow::Continue(()))
            })?;
            Ok(unreadable)
        };
        read().map_err(|error| self.failure(error))
    }

    /// Visits the ranges in which there may be records that the filter lists, in order.
    fn ranges(
        &self,
        filter: &Filter,
        mut visit: impl FnMut(Range) -> rusqlite::Result<ControlFlow<()>>,
    ) -> rusqlite::Result<()> {
        if filter.id.is_some() {
            return visit(Range::of(filter)).map(drop);
        }
        let way = Way::of(filter);
        let mut spans = self.spans(Range::of(filter))?;
        if filter.is_backward() {
            spans.reverse();
        }
        for span in spans {
            let mut ranges = self.candidates(&way, span)?.ranges;
            if filter.is_backward() {
                ranges.reverse();
            }
            for range in ranges {
                if visit(range)?.is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// The number of records that meet the conditions, whatever the limit.
    pub fn count_records(&self, filter: &Filter) -> Result<u64, Error> {
        if let Some(shared) = &self.shared {
            return shared.count_records(filter);
        }
        let conditions = conditions_within(filter);
        let sql = format!("SELECT count(*) FROM violations{}", conditions.text);
        let read = || -> rusqlite::Result<u64> {
            let _snapshot = self.snapshot()?;
            let mut statement = self.prepare_within(&sql, &conditions)?;
            let mut count = |range| -> rusqlite::Result<u64> {
                let mut rows = within(&mut statement, range)?;
                let count = rows.next()?.map(|row| row.get::<_, i64>(0)).transpose()?;
                Ok(count.unwrap_or(0).unsigned_abs())
            };
            if filter.id.is_some() {
                return count(Range::of(filter));
            }
            let way = Way::of(filter);
            let mut all = 0;
            for span in self.spans(Range::of(filter))? {
                let candidates = self.candidates(&way, span)?;
                all += match candidates.count {
                    Some(count) => count,
                    None => candidates.ranges.into_iter().map(&mut count).sum::<Result<_, _>>()?,
                };
            }
            Ok(all)
        };
        read().map_err(|error| self.failure(error))
    }

    /// Prepares a question with [`conditions_within`].
    fn prepare_within(
        &self,
        sql: &str,
        conditions: &Conditions,
    ) -> rusqlite::Result<CachedStatement<'_>> {
        let mut statement = self.connection.prepare_cached(sql)?;
        for (at, value) in (1..).zip(&conditions.values) {
            statement.raw_bind_parameter(at, value)?;
        }
        Ok(statement)
    }

    /// The numbers of records that meet the conditions, by the values of these columns.
    pub fn group_records(
        &self,
        filter: &Filter,
        by: &[RecordColumn],
    ) -> Result<Vec<(Vec<Text>, u64)>, Error> {
        if let Some(shared) = &self.shared {
            return shared.group_records(filter, by);
        }
        let Conditions { text, values } = conditions(filter);
        let columns = by.iter().map(|column| sql(*column)).collect::<Vec<_>>().join(", ");
        let sql = format!("SELECT {columns}, count(*) FROM violations{text} GROUP BY {columns}");
        self.all(&sql, params_from_iter(values), |row| {
            let key = (0..by.len()).map(|at| row.get(at)).collect::<rusqlite::Result<_>>()?;
            Ok((key, values::count(row, by.len())?))
        })
    }
}

const fn sql(column: RecordColumn) -> &'static str {
    match column {
        RecordColumn::ProductToken => "product_token",
        RecordColumn::Standing => "standing",
        RecordColumn::Reason => "reason",
        RecordColumn::Directive => "robots_directive",
        RecordColumn::Pattern => "robots_pattern",
        RecordColumn::Path => "substr(path, 1, instr(path || '?', '?') - 1)",
        RecordColumn::ClientIp => "client_ip",
        RecordColumn::Site => "site",
        RecordColumn::Day => "strftime('%Y-%m-%d', time / 1000, 'unixepoch')",
    }
}

/// Asks a question with [`conditions_within`] for the records of this range.
fn within<'a>(statement: &'a mut CachedStatement<'_>, range: Range) -> rusqlite::Result<Rows<'a>> {
    statement.raw_bind_parameter(1, range.first)?;
    statement.raw_bind_parameter(2, range.last)?;
    Ok(statement.raw_query())
}

/// The conditions on records within a range of sequence numbers, whose ends are the first two values.
fn conditions_within(filter: &Filter) -> Conditions {
    let mut conditions = Conditions {
        text: " WHERE sequence BETWEEN ? AND ?".to_owned(),
        values: vec![Value::Null, Value::Null],
    };
    let Way { since, until, .. } = Way::of(filter);
    // The plus keeps SQLite from the index by time, whose rows would have to be sorted.
    conditions.require("+time >= ?", since.map(Value::Integer));
    conditions.require("+time < ?", until.map(Value::Integer));
    require_values(&mut conditions, filter);
    conditions
}

fn conditions(filter: &Filter) -> Conditions {
    let mut conditions = Conditions::default();
    let number = |wanted: u64| Value::Integer(i64::try_from(wanted).unwrap_or(i64::MAX));
    let Way { since, until, .. } = Way::of(filter);
    conditions.require("time >= ?", since.map(Value::Integer));
    conditions.require("time < ?", until.map(Value::Integer));
    conditions.require("sequence > ?", filter.after_sequence.map(number));
    conditions.require("sequence < ?", filter.before_sequence.map(number));
    require_values(&mut conditions, filter);
    conditions
}

/// The conditions on the values of records, but for their times.
fn require_values(conditions: &mut Conditions, filter: &Filter) {
    let text = |wanted: &Option<String>| wanted.clone().map(Value::Text);
    conditions.require("id = ?", text(&filter.id));
    conditions.require("site = ?", text(&filter.site));
    conditions.require("product_token = ?", text(&filter.product_token));
    conditions.require("purpose = ?", text(&filter.purpose));
    conditions.require("action = ?", text(&filter.action));
    conditions.require("reason = ?", text(&filter.reason));
    let form = filter.has_violations_alone().then(|| Value::Text(FORM.to_owned()));
    conditions.require("reason <> ?", form);
    filter.claimant.iter().for_each(|one| conditions.add(one.condition()));
    if let Some(rule) = &filter.rule {
        conditions.require("robots_directive = ?", Some(Value::Text(rule.directive.to_owned())));
        conditions.require("robots_pattern = ?", Some(Value::Text(rule.pattern.clone())));
        conditions.require("reason = ?", text(&rule.reason));
    }
    if let Some(path) = &filter.exact_path {
        conditions.add(&format!("{} = ?", sql(RecordColumn::Path)));
        conditions.values.push(Value::Text(path.clone()));
    }
    conditions.require("path GLOB ?", filter.path_glob().map(Value::Text));
}
