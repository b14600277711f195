//! Whether a database holds together, and what takes its room.

use std::{collections::BTreeMap, path::Path};

use jiff::Timestamp;
use rusqlite::{Connection, OpenFlags};

use super::{blocks, connection::Store, damage::log_of, migrations, rollups::COUNTS, values};
use crate::records::{
    lines::Stamp,
    record::{Error, Obstacle},
    tally::LIMITS,
};

/// The most messages of one check of SQLite.
const MOST_MESSAGES: usize = 100;
/// The first records that are left tell where a removal ended, whatever the order of their times.
const FIRST: &str =
    "SELECT max(time) FROM (SELECT time FROM violations ORDER BY sequence LIMIT 1000)";
const HOUR: i64 = 3_600_000;
const RECORDS_BY_HOUR: &str =
    "SELECT time / 3600000 * 3600000, count(*) FROM violations GROUP BY 1";
const SIZES: &str = "SELECT coalesce(tbl_name, size.name), sum(size.bytes) \
    FROM (SELECT name, pgsize AS bytes FROM dbstat WHERE aggregate = TRUE) AS size \
    LEFT JOIN sqlite_schema ON sqlite_schema.name = size.name GROUP BY 1 ORDER BY 2 DESC, 1";

/// What an examination of a database found.
#[derive(Clone, Debug, Default)]
pub struct Examination {
    /// The version of the tables.
    pub version: u32,
    /// The database file.
    pub file_bytes: u64,
    /// Its write-ahead log.
    pub log_bytes: u64,
    /// The pages that a removal left, which take new rows.
    pub free_bytes: u64,
    /// The tables with their indexes, the largest first.
    pub tables: Vec<Table>,
    /// The times of the oldest and the newest record.
    pub records: Option<(Timestamp, Timestamp)>,
    /// The oldest and the latest hour with counts.
    pub hours: Option<(Timestamp, Timestamp)>,
    /// What does not hold together.
    pub faults: Vec<Fault>,
}

/// A table with its indexes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The name.
    pub name: String,
    /// The number of rows.
    pub rows: u64,
    /// The bytes of its pages.
    pub bytes: u64,
}

/// Something that does not hold together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// A stable code.
    pub code: &'static str,
    /// The sentence.
    pub message: String,
}

impl Examination {
    /// The bytes that count against the limit of size.
    pub fn bytes(&self) -> u64 {
        (self.file_bytes + self.log_bytes).saturating_sub(self.free_bytes)
    }

    /// The table of records.
    pub fn record_table(&self) -> Table {
        self.sum("records", &["violations"])
    }

    /// The tables of counts, as one.
    pub fn count_tables(&self) -> Table {
        self.sum("counts", &COUNTS.map(|(table, ..)| table))
    }

    fn sum(&self, name: &str, of: &[&str]) -> Table {
        let tables = || self.tables.iter().filter(|table| of.contains(&table.name.as_str()));
        let (rows, bytes) = (tables().map(|one| one.rows), tables().map(|one| one.bytes));
        Table { name: name.to_owned(), rows: rows.sum(), bytes: bytes.sum() }
    }
}

impl Table {
    /// The bytes of a row, with its indexes.
    pub fn bytes_of_row(&self) -> Option<u64> {
        self.bytes.checked_div(self.rows)
    }
}

impl Store {
    /// Opens an existing database to examine it. Leaves no file behind.
    pub fn open_to_examine(path: &Path) -> Result<Self, Error> {
        // A reader of a database that nobody uses would leave an empty log behind. A writer, which
        // changes nothing here, removes it.
        let is_in_use = Stamp::of(&log_of(path)).identity.is_some();
        let access = match is_in_use {
            true => OpenFlags::SQLITE_OPEN_READ_ONLY,
            false => OpenFlags::SQLITE_OPEN_READ_WRITE,
        };
        let mut store = Self::open_found(path, access)?;
        store.attempt(|connection| connection.pragma_update(None, "query_only", true))?;
        Ok(store)
    }

    /// Examines everything. Reads the whole database.
    pub fn examine(&mut self) -> Result<Examination, Error> {
        let path = self.path().to_owned();
        let mut found = Examination {
            file_bytes: Stamp::of(&path).length,
            log_bytes: Stamp::of(&log_of(&path)).length,
            ..Examination::default()
        };
        let result = self.attempt(|connection| {
            check(connection, &mut found)?;
            let transaction = connection.transaction()?;
            measure(&transaction, &mut found)?;
            add_up(&transaction, &mut found)?;
            for [first, last] in blocks::wrong(&transaction)? {
                let message = format!(
                    "the summary of the records {first} to {last} is not theirs, so that lists may \
                     lack some (stop Beadle, and run: DELETE FROM record_blocks)"
                );
                found.faults.push(Fault { code: "store.summaries", message });
            }
            Ok(())
        });
        match result {
            // Damage is what the examination looks for.
            Err(Error { obstacle: Obstacle::Corrupt(message), .. }) => {
                if found.faults.is_empty() {
                    found.faults.push(Fault { code: "store.damaged", message });
                }
                Ok(found)
            }
            Err(error) => Err(error),
            Ok(()) => Ok(found),
        }
    }
}

fn check(connection: &Connection, found: &mut Examination) -> rusqlite::Result<()> {
    found.version = migrations::version(connection)?.unwrap_or_default();
    let mut statement = connection.prepare(&format!("PRAGMA integrity_check({MOST_MESSAGES})"))?;
    for message in statement.query_map([], |row| row.get::<_, String>(0))? {
        let message = message?;
        if message != "ok" {
            found.faults.push(Fault { code: "store.damaged", message });
        }
    }
    let mut statement = connection.prepare(
        "SELECT \"table\", parent, count(*) FROM pragma_foreign_key_check GROUP BY 1, 2",
    )?;
    let rows = statement.query_map([], |row| {
        let (table, parent): (String, String) = (row.get(0)?, row.get(1)?);
        let count: i64 = row.get(2)?;
        Ok(format!("{count} rows of '{table}' name a row that '{parent}' lacks"))
    })?;
    for message in rows {
        found.faults.push(Fault { code: "store.foreign_key", message: message? });
    }
    Ok(())
}

fn measure(connection: &Connection, found: &mut Examination) -> rusqlite::Result<()> {
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let free =
        number("SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size");
    found.free_bytes = free?.unsigned_abs();
    let mut statement = connection.prepare(SIZES)?;
    let sizes = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    for size in sizes {
        let (name, bytes): (String, i64) = size?;
        let rows = number(&format!("SELECT count(*) FROM \"{}\"", name.replace('"', "\"\"")))?;
        let (rows, bytes) = (rows.unsigned_abs(), bytes.unsigned_abs());
        found.tables.push(Table { name, rows, bytes });
    }
    found.records = span(connection, "SELECT min(time), max(time) FROM violations")?;
    found.hours = span(connection, "SELECT min(hour), max(hour) FROM rollups")?;
    Ok(())
}

fn span(connection: &Connection, sql: &str) -> rusqlite::Result<Option<(Timestamp, Timestamp)>> {
    let (first, last): (Option<i64>, Option<i64>) =
        connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (Some(first), Some(last)) = (first, last) else { return Ok(None) };
    Ok(Some((values::timestamp(first, 0)?, values::timestamp(last, 1)?)))
}

/// Records against counts: every record was counted in its hour; where none was removed, every
/// counted record is there.
fn add_up(connection: &Connection, found: &mut Examination) -> rusqlite::Result<()> {
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, Option<i64>>(0));
    let odd = number(
        "SELECT count(*) FROM rollups WHERE folded < 0 OR dropped < 0 OR requests < folded + dropped",
    )?;
    if let Some(odd @ 1..) = odd {
        let message = format!("{odd} counts have more folded or dropped violations than requests");
        found.faults.push(Fault { code: "store.counts", message });
    }
    let records = by_hour(connection, RECORDS_BY_HOUR)?;
    let counts = by_hour(connection, &counts_by_hour())?;
    let (Some(&first_hour), Some((&first_record, _))) =
        (counts.keys().next(), records.first_key_value())
    else {
        return Ok(());
    };
    let is_untouched =
        number("SELECT min(sequence) FROM violations")? == Some(1) && first_record >= first_hour;
    // An older version kept records without counts, and a removal may have begun with the first hour.
    let is_counted = |hour: i64| hour > first_hour || (is_untouched && hour == first_hour);
    let is_clock_true = number("SELECT count(*) FROM clock_leaps")? == Some(0);
    let removed_until = match is_untouched {
        true => i64::MIN,
        false => number(FIRST)?.unwrap_or(i64::MAX).saturating_add(HOUR),
    };
    for (&hour, &counted) in counts.iter().filter(|(hour, _)| is_counted(**hour)) {
        let kept = records.get(&hour).copied().unwrap_or(0);
        let is_complete = is_clock_true && hour > removed_until;
        let code = match kept.cmp(&counted) {
            std::cmp::Ordering::Greater => "store.uncounted_records",
            std::cmp::Ordering::Less if is_complete => "store.missing_records",
            _ => continue,
        };
        let hour = values::timestamp(hour, 0)?;
        let message = format!("the hour {hour:.0} has {kept} records, and counted {counted}");
        found.faults.push(Fault { code, message });
    }
    let uncounted = records.keys().filter(|hour| is_counted(**hour) && !counts.contains_key(hour));
    for &hour in uncounted {
        let message =
            format!("the hour {:.0} has records, and counted none", values::timestamp(hour, 0)?);
        found.faults.push(Fault { code: "store.uncounted_records", message });
    }
    Ok(())
}

/// The requests by hour that had a record. Those beyond a limit have none.
fn counts_by_hour() -> String {
    let limits = LIMITS.join("', '");
    format!(
        "SELECT hour, sum(iif(action = 'pass' OR reason IN ('{limits}'), 0, requests - folded - dropped)) \
         FROM rollups JOIN series ON id = series GROUP BY hour"
    )
}

fn by_hour(connection: &Connection, sql: &str) -> rusqlite::Result<BTreeMap<i64, i64>> {
    connection.prepare(sql)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}
