//! The questions that are asked of the database. What is asked for is always bound, never written
//! into the question's text.

use jiff::Timestamp;
use rusqlite::{
    Params, Row, params_from_iter,
    types::{FromSql, FromSqlError, Type, Value},
};

use super::{COLUMNS, Store, from_sqlite};
use crate::violations::{
    Error, Filter, Listing, Overflow, ReadState, Robots, RobotsRead, Text, Violation,
};

/// Conditions on records, and the values bound in them.
#[derive(Default)]
struct Conditions {
    text: String,
    values: Vec<Value>,
}

impl Store {
    /// The records that the filter lists, in the order in which they were written.
    ///
    /// # Errors
    /// Where the database cannot be read.
    pub fn query(&self, filter: &Filter) -> Result<Listing, Error> {
        let limit = filter.limit.unwrap_or(usize::MAX);
        // The latest ones are found from the end.
        let is_backward = filter.limit.is_some() && filter.after_sequence.is_none();
        let order = if is_backward { "DESC" } else { "ASC" };
        let Conditions { text, values } = Conditions::of(filter);
        let sql =
            format!("SELECT sequence, {COLUMNS} FROM violations{text} ORDER BY sequence {order}");
        let found = || -> rusqlite::Result<Listing> {
            let mut listing =
                Listing { end: filter.after_sequence.unwrap_or(0), ..Listing::default() };
            let mut statement = self.connection.prepare_cached(&sql)?;
            let mut rows = statement.query(params_from_iter(values))?;
            while listing.records.len() < limit
                && let Some(row) = rows.next()?
            {
                match violation(row) {
                    Ok(record) if filter.matches_path(&record.1.path) => {
                        listing.records.push(record);
                    }
                    Ok(_) => {}
                    Err(_) => listing.unreadable += 1,
                }
            }
            if is_backward {
                listing.records.reverse();
            }
            let last = listing.records.last().map_or(0, |&(sequence, _)| sequence);
            listing.end = listing.end.max(last);
            Ok(listing)
        };
        found().map_err(|error| from_sqlite(&self.path, error))
    }

    /// What was not kept in detail, over all runs, the most first.
    ///
    /// # Errors
    /// Where the database cannot be read.
    pub fn overflow(&self) -> Result<Vec<Overflow>, Error> {
        let sql = "SELECT site, product_token, rule, sum(count), min(first), max(last) \
                   FROM overflow GROUP BY site, product_token, rule \
                   ORDER BY sum(count) DESC, site, product_token, rule";
        self.all(sql, [], |row| {
            Ok(Overflow {
                site: row.get(0)?,
                product_token: row.get(1)?,
                rule: row.get(2)?,
                count: row.get::<_, i64>(3)?.unsigned_abs(),
                first: time(row.get(4)?, 4)?,
                last: time(row.get(5)?, 5)?,
            })
        })
    }

    pub(super) fn all<T>(
        &self,
        sql: &str,
        bound: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, Error> {
        let found = || self.connection.prepare_cached(sql)?.query_map(bound, read)?.collect();
        let found: rusqlite::Result<_> = found();
        found.map_err(|error| from_sqlite(&self.path, error))
    }
}

impl Conditions {
    fn of(filter: &Filter) -> Self {
        let mut conditions = Self::default();
        let text = |wanted: &Option<String>| wanted.clone().map(Value::Text);
        let number = |wanted: u64| Value::Integer(i64::try_from(wanted).unwrap_or(i64::MAX));
        conditions.require("id = ?", text(&filter.id));
        conditions.require("site = ?", text(&filter.site));
        conditions.require("product_token = ?", text(&filter.product_token));
        conditions.require("purpose = ?", text(&filter.purpose));
        conditions.require("action = ?", text(&filter.action));
        conditions.require("time >= ?", filter.since.map(|at| Value::Integer(ceiling(at))));
        conditions.require("sequence > ?", filter.after_sequence.map(number));
        // Narrows the search; whether the whole pattern matches is for the filter to say.
        conditions.require("instr(path, ?) = 1", filter.path_prefix().map(Value::Text));
        conditions
    }

    fn require(&mut self, condition: &'static str, value: Option<Value>) {
        let Some(value) = value else { return };
        self.text.push_str(if self.values.is_empty() { " WHERE " } else { " AND " });
        self.text.push_str(condition);
        self.values.push(value);
    }
}

/// The first whole millisecond that is not before the time.
fn ceiling(time: Timestamp) -> i64 {
    let floor = time.as_millisecond();
    let is_later = Timestamp::from_millisecond(floor).is_ok_and(|floor| floor < time);
    floor + i64::from(is_later)
}

/// Reads a row column by column, in the order of [`COLUMNS`].
struct Columns<'a, 'b> {
    row: &'a Row<'b>,
    next: usize,
}

impl Columns<'_, '_> {
    fn next<T: FromSql>(&mut self) -> rusqlite::Result<T> {
        let at = self.next;
        self.next += 1;
        self.row.get(at)
    }

    fn list(&mut self) -> rusqlite::Result<Vec<Text>> {
        let text: String = self.next()?;
        serde_json::from_str(&text).map_err(|error| unreadable(self.next - 1, error))
    }

    fn time(&mut self) -> rusqlite::Result<Timestamp> {
        time(self.next()?, self.next - 1)
    }
}

fn violation(row: &Row<'_>) -> rusqlite::Result<(u64, Violation)> {
    let mut columns = Columns { row, next: 0 };
    let sequence: i64 = columns.next()?;
    let violation = Violation {
        schema: columns.next()?,
        id: columns.next()?,
        time: columns.time()?,
        site: columns.next()?,
        client_ip: columns.next()?,
        method: columns.next()?,
        host: columns.next()?,
        path: columns.next()?,
        user_agent: columns.next()?,
        product_token: columns.next()?,
        product_tokens: columns.list()?,
        operator: columns.next()?,
        purpose: columns.next()?,
        standing: columns.next()?,
        evidence: columns.next()?,
        verdict: columns.next()?,
        reason: columns.next()?,
        action: columns.next()?,
        status: columns.next()?,
        robots: Robots {
            edition: columns.next()?,
            line: columns.next()?,
            directive: columns.next()?,
            pattern: columns.next()?,
            group: columns.list()?,
        },
        robots_read: RobotsRead {
            state: {
                let word: String = columns.next()?;
                let state = ReadState::from_word(&word);
                state.ok_or_else(|| unreadable(25, FromSqlError::InvalidType))?
            },
            edition: columns.next()?,
            at: {
                let at: Option<i64> = columns.next()?;
                at.map(|at| time(at, 27)).transpose()?
            },
        },
    };
    Ok((sequence.unsigned_abs(), violation))
}

pub(super) fn time(milliseconds: i64, column: usize) -> rusqlite::Result<Timestamp> {
    Timestamp::from_millisecond(milliseconds).map_err(|error| unreadable(column, error))
}

fn unreadable(
    column: usize,
    error: impl std::error::Error + Send + Sync + 'static,
) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
}
