//! The jumps of the clock. Without them, a restart would take them for time that went by.

use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::{connection::Store, values};
use crate::records::record::{ClockLeap, Error};

impl Store {
    /// The jumps of the clock since `since`, in order.
    pub fn clock_leaps(&self, since: Timestamp) -> Result<Vec<ClockLeap>, Error> {
        let sql = "SELECT at, by_ FROM clock_leaps WHERE at >= ? ORDER BY at";
        self.all(sql, [since.as_millisecond()], |row| {
            let by = Duration::from_millis(values::count(row, 1)?);
            Ok(ClockLeap { at: values::time(row, 0)?, by })
        })
    }
}

/// Writes jumps. Those that are written already stay.
pub(super) fn add(connection: &Connection, leaps: &[ClockLeap]) -> rusqlite::Result<()> {
    let mut insert = connection
        .prepare_cached("INSERT INTO clock_leaps VALUES (?, ?) ON CONFLICT DO NOTHING")?;
    for leap in leaps {
        let by = i64::try_from(leap.by.as_millis()).unwrap_or(i64::MAX);
        insert.execute(params![leap.at.as_millisecond(), by])?;
    }
    Ok(())
}
