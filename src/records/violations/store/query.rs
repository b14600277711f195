//! A filter as a question to the database. Its values are always bound, never written into SQL.

use std::ops::ControlFlow;

use rusqlite::{CachedStatement, Rows, params_from_iter, types::Value};

use super::{
    connection::Store,
    record_rows::violation,
    search::{Candidates, Range, Way},
    values::{self, Conditions},
};
use crate::{
    base::text::Text,
    records::{
        record::{COLUMNS, Error, Filter, Listing, RecordColumn},
        tally::FORM,
    },
};

const LATEST: &str = "SELECT max(sequence) FROM violations";

impl Store {
    /// The records that the filter lists, in the order of writing.
    pub fn query(&self, filter: &Filter) -> Result<Listing, Error> {
        if let Some(shared) = &self.shared {
            return shared.query(filter);
        }
        self.list(filter).map_err(|error| self.failure(error))
    }

    fn list(&self, filter: &Filter) -> rusqlite::Result<Listing> {
        let limit = filter.limit.unwrap_or(usize::MAX);
        let mut listing = Listing::default();
        // Read first: what is written meanwhile belongs to the next listing.
        let mut latest = self.connection.prepare_cached(LATEST)?;
        let latest: Option<i64> = latest.query_row([], |row| row.get(0))?;
        if limit > 0 {
            let order = if filter.is_backward() { "DESC" } else { "ASC" };
            let conditions = conditions_within(filter);
            let sql = format!(
                "SELECT sequence, {COLUMNS} FROM violations{} ORDER BY sequence {order}",
                conditions.text
            );
            let _snapshot = self.snapshot()?;
            let mut statement = self.prepare_within(&sql, &conditions)?;
            self.visit(filter, |candidates| {
                for range in candidates.ranges {
                    let mut rows = within(&mut statement, range)?;
                    while let Some(row) = rows.next()? {
                        match violation(row) {
                            Ok(found) => listing.records.push(found),
                            Err(_) => listing.unreadable += 1,
                        }
                        if listing.records.len() >= limit {
                            return Ok(ControlFlow::Break(()));
                        }
                    }
                }
                Ok(ControlFlow::Continue(()))
            })?;
        }
        listing.finish(filter, latest.unwrap_or(0).unsigned_abs());
        Ok(listing)
    }

    /// Visits what the filter may list, in order.
    fn visit(
        &self,
        filter: &Filter,
        mut visit: impl FnMut(Candidates) -> rusqlite::Result<ControlFlow<()>>,
    ) -> rusqlite::Result<()> {
        let within = Range::of(filter);
        if filter.id.is_some() {
            return visit(Candidates { ranges: vec![within], count: None }).map(drop);
        }
        let way = Way::of(filter);
        let mut spans = self.spans(within)?;
        if filter.is_backward() {
            spans.reverse();
        }
        for span in spans {
            let mut candidates = self.candidates(&way, span)?;
            if filter.is_backward() {
                candidates.ranges.reverse();
            }
            if visit(candidates)?.is_break() {
                break;
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
            let mut all = 0;
            self.visit(filter, |Candidates { ranges, count }| {
                for range in ranges.into_iter().filter(|_| count.is_none()) {
                    let mut rows = within(&mut statement, range)?;
                    all += rows.next()?.map_or(Ok(0), |row| values::count(row, 0))?;
                }
                all += count.unwrap_or(0);
                Ok(ControlFlow::Continue(()))
            })?;
            Ok(all)
        };
        read().map_err(|error| self.failure(error))
    }

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
        RecordColumn::Path => "substr(path, 1, instr(path || '?', '?') - 1)",
        RecordColumn::Day => "strftime('%Y-%m-%d', time / 1000, 'unixepoch')",
        plain => plain.as_str(),
    }
}

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
    let [since, until] = filter.milliseconds();
    // The plus keeps SQLite from the index by time, whose rows would have to be sorted.
    conditions.require("+time >= ?", since.map(Value::Integer));
    conditions.require("+time < ?", until.map(Value::Integer));
    require_values(&mut conditions, filter);
    conditions
}

fn conditions(filter: &Filter) -> Conditions {
    let mut conditions = Conditions::default();
    let number = |wanted: u64| Value::Integer(i64::try_from(wanted).unwrap_or(i64::MAX));
    let [since, until] = filter.milliseconds();
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
    // In GLOB a question mark and a bracket are special, too; in brackets they are not.
    let glob = filter.path_as("*", |plain| plain.replace('[', "[[]").replace('?', "[?]"));
    conditions.require("path GLOB ?", glob.map(Value::Text));
}
