//! A filter as a question to the database. Its values are always bound, never written into SQL.

use jiff::Timestamp;
use rusqlite::{params_from_iter, types::Value};

use super::{
    connection::Store,
    records::{COLUMNS, violation},
};
use crate::violations::{Error, Filter, Listing};

/// Conditions on records, and the values bound in them.
#[derive(Default)]
struct Conditions {
    text: String,
    values: Vec<Value>,
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
        found().map_err(|error| self.failure(error))
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
        conditions.require("time < ?", filter.until.map(|at| Value::Integer(ceiling(at))));
        conditions.require("sequence > ?", filter.after_sequence.map(number));
        // Narrows the search; the filter matches the whole pattern.
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

/// The first whole millisecond at or after the time.
fn ceiling(time: Timestamp) -> i64 {
    let floor = time.as_millisecond();
    let is_later = Timestamp::from_millisecond(floor).is_ok_and(|floor| floor < time);
    floor + i64::from(is_later)
}
