//! Counts by hour, and counts of records that were not kept, as rows, written.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension, Statement, params, params_from_iter};

use super::connection::Store;
use crate::records::{
    record::{CountRow, Error, Overflow, Value, of_series},
    tally::{Hour, Rollup, Rollups, Series},
};

/// A table of counts by hour: its name, the columns of its key, and those of its numbers.
pub(super) type CountTable = (&'static str, &'static str, &'static [&'static str]);

const SERIES: CountTable = ("rollups", "hour, series", &["requests", "folded", "dropped"]);
const PLACES: CountTable =
    ("rollup_places", "hour, kind, site, product_token, place", &["violations"]);
const PEOPLE: CountTable = ("people", "hour, site", &["requests"]);
const REFERRALS: CountTable = ("referrals", "hour, site, operator", &["visits"]);
pub(super) const COUNTS: [CountTable; 4] = [SERIES, PLACES, PEOPLE, REFERRALS];

/// The series is found far more often than it is new.
const FIND: &str = "SELECT id, last FROM series WHERE site = ? AND class = ? AND product_token = ? \
    AND purpose = ? AND standing = ? AND verdict = ? AND action = ? AND reason = ? \
    AND robots_edition = ? AND robots_line = ? AND robots_directive = ? AND robots_pattern = ? \
    AND read_state = ?";
const ADD: &str = "INSERT INTO series (site, class, product_token, purpose, standing, verdict, \
    action, reason, robots_edition, robots_line, robots_directive, robots_pattern, read_state, last) \
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0) RETURNING id, last";

impl Store {
    /// Adds the counts to those that are there.
    pub fn add_rollups(&mut self, rollups: &Rollups) -> Result<(), Error> {
        self.write(|transaction| add(transaction, rollups))
    }
}

/// Notes a batch, and returns whether it is not there already. A failed commit leaves the fate of
/// its batch open, so the batch comes again.
pub(super) fn is_new(connection: &Connection, run: &str, batch: u64) -> rusqlite::Result<bool> {
    let batch = number(batch);
    let known: Option<i64> = connection
        .prepare_cached("SELECT batch FROM rollup_batches WHERE run = ?")?
        .query_row([run], |row| row.get(0))
        .optional()?;
    if known.is_some_and(|known| known >= batch) {
        return Ok(false);
    }
    let sql = "INSERT INTO rollup_batches (run, batch, at) VALUES (?, ?, unixepoch('now') * 1000) \
               ON CONFLICT (run) DO UPDATE SET batch = excluded.batch, at = excluded.at";
    connection.prepare_cached(sql)?.execute(params![run, batch])?;
    Ok(true)
}

pub(super) fn add(connection: &Connection, rollups: &Rollups) -> rusqlite::Result<()> {
    let Rollups { series, places, people, referrals } = rollups;
    add_series(connection, series)?;
    add_to(connection, PLACES, places.iter().map(of_hour))?;
    let series = series.iter().map(|rollup| rollup.hour);
    renew_hours(connection, series.chain(places.iter().map(|place| place.hour)))?;
    add_to(connection, PEOPLE, people.iter().map(of_hour))?;
    add_to(connection, REFERRALS, referrals.iter().map(of_hour))
}

/// Adds numbers to those in the rows of a table.
fn add_to<'a>(
    connection: &Connection,
    (table, key, numbers): CountTable,
    mut rows: impl Iterator<Item = Vec<Value<'a>>>,
) -> rusqlite::Result<()> {
    let columns = format!("{key}, {}", numbers.join(", "));
    let places = columns.split(", ").map(|_| "?").collect::<Vec<_>>().join(", ");
    let sums = numbers.iter().map(|one| format!("{one} = {one} + excluded.{one}"));
    let mut add = connection.prepare_cached(&format!(
        "INSERT INTO {table} ({columns}) VALUES ({places}) ON CONFLICT ({key}) DO UPDATE SET {}",
        sums.collect::<Vec<_>>().join(", ")
    ))?;
    rows.try_for_each(|row| add.execute(params_from_iter(row)).map(drop))
}

fn of_hour<'a, T>(count: &'a T) -> Vec<Value<'a>>
where
    CountRow<'a>: From<&'a T>,
{
    let CountRow { hour, key, numbers } = count.into();
    let hour = Value::Number(hour.as_millisecond());
    [hour].into_iter().chain(key).chain(numbers.into_iter().map(Value::Count)).collect()
}

fn add_series(connection: &Connection, rollups: &[Rollup]) -> rusqlite::Result<()> {
    let mut find = connection.prepare_cached(FIND)?;
    let mut new = connection.prepare_cached(ADD)?;
    let mut renew = connection.prepare_cached("UPDATE series SET last = ? WHERE id = ?")?;
    let mut rows = Vec::new();
    for Rollup { hour, series, requests, folded, dropped } in rollups {
        let (id, last) = match id(&mut find, series).optional()? {
            Some(found) => found,
            None => id(&mut new, series)?,
        };
        let hour = hour.as_millisecond();
        if last < hour {
            renew.execute([hour, id])?;
        }
        let numbers = [requests, folded, dropped].map(|number| Value::Count(*number));
        rows.push([Value::Number(hour), Value::Number(id)].into_iter().chain(numbers).collect());
    }
    add_to(connection, SERIES, rows.into_iter())
}

fn id(statement: &mut Statement<'_>, series: &Series) -> rusqlite::Result<(i64, i64)> {
    let bound = params_from_iter(of_series(series));
    statement.query_row(bound, |row| Ok((row.get(0)?, row.get(1)?)))
}

fn renew_hours(connection: &Connection, hours: impl Iterator<Item = Hour>) -> rusqlite::Result<()> {
    let mut renew = connection.prepare_cached(
        "INSERT INTO counted_hours (hour, version) VALUES (?, random()) \
         ON CONFLICT (hour) DO UPDATE SET version = excluded.version",
    )?;
    let hours: BTreeSet<i64> = hours.map(Hour::as_millisecond).collect();
    hours.iter().try_for_each(|hour| renew.execute([hour]).map(drop))
}

pub(super) fn add_overflow(connection: &Connection, overflow: &[Overflow]) -> rusqlite::Result<()> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO overflow (site, product_token, rule, count, first, last) \
         VALUES (?, ?, ?, ?, ?, ?)",
    )?;
    for Overflow { site, product_token, rule, count, first, last } in overflow {
        let (first, last) = (first.as_millisecond(), last.as_millisecond());
        insert.execute(params![site, product_token, rule, count.cast_signed(), first, last])?;
    }
    Ok(())
}

fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
