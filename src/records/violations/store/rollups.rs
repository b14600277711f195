//! Counts by hour as rows, written.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension, Statement, params, params_from_iter};

use super::connection::Store;
use crate::records::{
    record::{Error, of_series},
    tally::{Hour, PeopleCount, PlaceCount, ReferralCount, Rollup, Rollups, Series},
};

/// The series is found far more often than it is new.
const FIND: &str = "SELECT id, last FROM series WHERE site = ? AND class = ? AND product_token = ? \
    AND purpose = ? AND standing = ? AND verdict = ? AND action = ? AND reason = ? \
    AND robots_edition = ? AND robots_line = ? AND robots_directive = ? AND robots_pattern = ? \
    AND read_state = ?";
const ADD: &str = "INSERT INTO series (site, class, product_token, purpose, standing, verdict, \
    action, reason, robots_edition, robots_line, robots_directive, robots_pattern, read_state, last) \
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0) RETURNING id, last";

/// The number of a batch of one run of the program.
#[derive(Clone, Copy, Debug)]
pub(in crate::records::violations) struct BatchNumber<'a> {
    /// The run, by an id of its own.
    pub(in crate::records::violations) run: &'a str,
    /// The batch, counted from 1.
    pub(in crate::records::violations) batch: u64,
}

impl Store {
    /// Adds the counts to those that are there.
    ///
    /// # Errors
    /// Where the database cannot be written; nothing is added then.
    pub fn add_rollups(&mut self, rollups: &Rollups) -> Result<(), Error> {
        self.write(|transaction| add(transaction, rollups))
    }
}

/// Notes a batch, and returns whether it is not there already. A failed commit leaves the fate of
/// its batch open, so the batch comes again.
pub(super) fn is_new(connection: &Connection, number: BatchNumber<'_>) -> rusqlite::Result<bool> {
    let batch = self::number(number.batch);
    let known: Option<i64> = connection
        .prepare_cached("SELECT batch FROM rollup_batches WHERE run = ?")?
        .query_row([number.run], |row| row.get(0))
        .optional()?;
    if known.is_some_and(|known| known >= batch) {
        return Ok(false);
    }
    let sql = "INSERT INTO rollup_batches (run, batch, at) VALUES (?, ?, unixepoch('now') * 1000) \
               ON CONFLICT (run) DO UPDATE SET batch = excluded.batch, at = excluded.at";
    connection.prepare_cached(sql)?.execute(params![number.run, batch])?;
    Ok(true)
}

pub(super) fn add(connection: &Connection, rollups: &Rollups) -> rusqlite::Result<()> {
    add_series(connection, &rollups.series)?;
    add_places(connection, &rollups.places)?;
    let series = rollups.series.iter().map(|rollup| rollup.hour);
    renew_hours(connection, series.chain(rollups.places.iter().map(|place| place.hour)))?;
    add_people(connection, &rollups.people)?;
    add_referrals(connection, &rollups.referrals)
}

fn add_series(connection: &Connection, rollups: &[Rollup]) -> rusqlite::Result<()> {
    let mut find = connection.prepare_cached(FIND)?;
    let mut new = connection.prepare_cached(ADD)?;
    let mut count = connection.prepare_cached(
        "INSERT INTO rollups (hour, series, requests, folded, dropped) VALUES (?, ?, ?, ?, ?) \
         ON CONFLICT (hour, series) DO UPDATE SET requests = requests + excluded.requests, \
         folded = folded + excluded.folded, dropped = dropped + excluded.dropped",
    )?;
    let mut renew = connection.prepare_cached("UPDATE series SET last = ? WHERE id = ?")?;
    for rollup in rollups {
        let (id, last) = match id(&mut find, &rollup.series).optional()? {
            Some(found) => found,
            None => id(&mut new, &rollup.series)?,
        };
        let hour = rollup.hour.as_millisecond();
        if last < hour {
            renew.execute([hour, id])?;
        }
        count.execute(params![
            hour,
            id,
            number(rollup.requests),
            number(rollup.folded),
            number(rollup.dropped),
        ])?;
    }
    Ok(())
}

fn id(statement: &mut Statement<'_>, series: &Series) -> rusqlite::Result<(i64, i64)> {
    let bound = params_from_iter(of_series(series));
    statement.query_row(bound, |row| Ok((row.get(0)?, row.get(1)?)))
}

fn add_places(connection: &Connection, places: &[PlaceCount]) -> rusqlite::Result<()> {
    let mut count = connection.prepare_cached(
        "INSERT INTO rollup_places (hour, kind, site, product_token, place, violations) \
         VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (hour, kind, site, product_token, place) \
         DO UPDATE SET violations = violations + excluded.violations",
    )?;
    for place in places {
        count.execute(params![
            place.hour.as_millisecond(),
            place.kind.word(place.claimant),
            place.site,
            place.product_token,
            place.place,
            number(place.violations),
        ])?;
    }
    Ok(())
}

/// Gives the hours another version.
fn renew_hours(connection: &Connection, hours: impl Iterator<Item = Hour>) -> rusqlite::Result<()> {
    let mut renew = connection.prepare_cached(
        "INSERT INTO counted_hours (hour, version) VALUES (?, random()) \
         ON CONFLICT (hour) DO UPDATE SET version = excluded.version",
    )?;
    let hours: BTreeSet<i64> = hours.map(Hour::as_millisecond).collect();
    hours.iter().try_for_each(|hour| renew.execute([hour]).map(drop))
}

fn add_people(connection: &Connection, people: &[PeopleCount]) -> rusqlite::Result<()> {
    let mut count = connection.prepare_cached(
        "INSERT INTO people (hour, site, requests) VALUES (?, ?, ?) \
         ON CONFLICT (hour, site) DO UPDATE SET requests = requests + excluded.requests",
    )?;
    people.iter().try_for_each(|one| {
        let bound = params![one.hour.as_millisecond(), one.site, number(one.requests)];
        count.execute(bound).map(drop)
    })
}

fn add_referrals(connection: &Connection, referrals: &[ReferralCount]) -> rusqlite::Result<()> {
    let mut count = connection.prepare_cached(
        "INSERT INTO referrals (hour, site, operator, visits) VALUES (?, ?, ?, ?) \
         ON CONFLICT (hour, site, operator) DO UPDATE SET visits = visits + excluded.visits",
    )?;
    referrals.iter().try_for_each(|one| {
        let bound = params![one.hour.as_millisecond(), one.site, one.operator, number(one.visits)];
        count.execute(bound).map(drop)
    })
}

fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
