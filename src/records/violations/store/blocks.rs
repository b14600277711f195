//! Summaries of records, made a piece at a time.
//!
//! Records never change, and no sequence number is given twice. So a summary of a range that is full stays
//! true. A removal leaves gaps in it, which a trigger notes. Small blocks become a large one: its
//! records have most of their paths in common.

use std::time::{Duration, Instant};

use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use super::connection::{BLOCK, Store};
use crate::records::{
    record::{
        Error,
        block::{Builder, FORM_MARK, Names, Summary},
    },
    tally::FORM,
};

/// The small blocks of a large one.
pub(super) const PARTS: i64 = Builder::MOST as i64 / BLOCK;
/// The sequence numbers of a large block, which is the longest.
pub(super) const LARGE: i64 = PARTS * BLOCK;
/// The most bytes of paths that are made into one summary.
const MOST_PATHS: i64 = 8 << 20;
/// The time between two searches for records without a summary.
const INTERVAL: Duration = Duration::from_secs(10);
/// How much longer than a piece the pause after it is, so that a writer with many records has most of
/// its time.
const PAUSE: u32 = 4;
/// The records since the piece before that are many.
const MANY: usize = 256;
const AFTER_FAILURE: Duration = Duration::from_secs(60);

const PART: &str = "SELECT records, earliest, latest, names, names_of, paths, paths_of \
    FROM record_blocks JOIN record_block_paths USING (first) WHERE first = ?";
const COMPLETE: &str = "SELECT first / ?1 * ?1 FROM record_blocks WHERE last - first + 1 = ?2 \
    GROUP BY 1 HAVING count(*) = ?1 / ?2 AND min(is_readable) AND sum(path_bytes) <= ?3 \
    ORDER BY 1 DESC LIMIT 1";

#[derive(Debug)]
pub(super) struct Pace {
    next: Instant,
    /// Whether nothing was missing at the last search.
    is_done: bool,
    /// The records since the last piece.
    fresh: usize,
}

impl Pace {
    pub(super) const fn new(now: Instant) -> Self {
        Self { next: now, is_done: false, fresh: 0 }
    }

    /// Counts new records: with enough of them, a summary may be missing.
    pub(super) fn note(&mut self, records: usize, now: Instant) {
        self.fresh += records;
        if self.is_done && self.fresh >= BLOCK as usize {
            self.next = now;
        }
    }

    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.next <= now
    }

    /// Schedules the next piece after one that began at `start`; nothing was missing unless it did
    /// something.
    pub(super) fn did(&mut self, something: bool, start: Instant, now: Instant) {
        let longer = if self.fresh >= MANY { PAUSE } else { 1 };
        let pause = now.saturating_duration_since(start) * longer;
        (self.is_done, self.fresh) = (!something, 0);
        self.next = now + if something { pause } else { INTERVAL };
    }

    pub(super) fn put_off(&mut self, now: Instant) {
        self.next = now + AFTER_FAILURE;
    }

    pub(super) fn rest(&self, now: Instant) -> Duration {
        self.next.saturating_duration_since(now)
    }
}

impl Store {
    /// Summarises a piece of the records, the latest first, and returns whether there was one.
    pub(super) fn summarise(&mut self) -> Result<bool, Error> {
        let small = self.block;
        self.write(|transaction| {
            let whole = transaction
                .prepare_cached(COMPLETE)?
                .query_row([PARTS * small, small, MOST_PATHS], |row| row.get(0))
                .optional()?;
            match whole {
                Some(first) => join(transaction, first, small)?,
                None => match missing(transaction, small)? {
                    Some(first) => summarise(transaction, first, small)?,
                    None => return Ok(false),
                },
            }
            Ok(true)
        })
    }
}

/// Removes the summaries whose records are all gone.
pub(super) fn forget(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let sql = "DELETE FROM record_blocks \
               WHERE last < coalesce((SELECT min(sequence) FROM violations), last + 1)";
    transaction.execute(sql, []).map(drop)
}

/// The first sequence number of the latest small block that is full and has no summary.
fn missing(connection: &Connection, small: i64) -> rusqlite::Result<Option<i64>> {
    let sql =
        "SELECT (SELECT min(sequence) FROM violations), (SELECT max(sequence) FROM violations)";
    let (oldest, latest): (Option<i64>, Option<i64>) =
        connection.prepare_cached(sql)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (Some(oldest), Some(latest)) = (oldest, latest) else { return Ok(None) };
    let mut end = (latest + 1) / small * small;
    let mut statement = connection
        .prepare_cached("SELECT first, last FROM record_blocks WHERE first < ? ORDER BY 1 DESC")?;
    let mut rows = statement.query([end])?;
    while let Some(row) = rows.next()? {
        let (first, last): (i64, i64) = (row.get(0)?, row.get(1)?);
        if last + 1 < end {
            break;
        }
        end = first;
    }
    Ok((end > oldest).then_some(end - small))
}

fn summarise(connection: &Connection, first: i64, small: i64) -> rusqlite::Result<()> {
    let range = [first, first + small - 1];
    let summary = of_records(connection, range)?;
    let is_readable = summary.is_some();
    keep(connection, range, &summary.unwrap_or_default(), is_readable, false)
}

/// The blocks whose summary is not that of their records. Those with gaps are left out.
pub(super) fn wrong(connection: &Connection) -> rusqlite::Result<Vec<[i64; 2]>> {
    let sql = "SELECT first, last FROM record_blocks WHERE is_readable AND NOT has_gaps";
    let mut statement = connection.prepare(sql)?;
    let blocks = statement.query_map([], |row| Ok([row.get(0)?, row.get(1)?]))?;
    let mut wrong = Vec::new();
    for block in blocks {
        let range: [i64; 2] = block?;
        let kept = connection.prepare_cached(PART)?.query_row([range[0]], part).optional()?;
        if kept.is_none() || kept != of_records(connection, range)? {
            wrong.push(range);
        }
    }
    Ok(wrong)
}

fn of_records(
    connection: &Connection,
    [first, last]: [i64; 2],
) -> rusqlite::Result<Option<Summary>> {
    let mut builder = Builder::new(first, usize::try_from(last - first + 1).unwrap_or(0));
    let mut statement = connection.prepare_cached(
        "SELECT sequence, time, path, site, product_token, purpose, \
         CASE reason WHEN ? THEN ? || action ELSE action END \
         FROM violations WHERE sequence BETWEEN ? AND ? ORDER BY sequence",
    )?;
    let mut rows = statement.query(params![FORM, FORM_MARK, first, last])?;
    while let Some(row) = rows.next()? {
        let Some((sequence, time, names, path)) = record(row) else { return Ok(None) };
        builder.add(sequence, time, names, path);
    }
    Ok(Some(builder.finish()))
}

/// What a summary needs of a record; `None` if that cannot be read.
fn record<'a>(row: &'a Row<'_>) -> Option<(i64, i64, Names<'a>, &'a str)> {
    // SQLite compares texts only up to a NUL, which no record of ours has.
    let is_plain = |text: &&str| !text.contains('\0');
    let text = |at| row.get_ref(at).ok()?.as_str().ok().filter(is_plain);
    let names = Names {
        site: text(3)?,
        product_token: text(4)?,
        purpose: match row.get_ref(5).ok()?.as_str_or_null().ok()? {
            Some(purpose) => Some(is_plain(&purpose).then_some(purpose)?),
            None => None,
        },
        action: text(6)?,
    };
    Some((row.get(0).ok()?, row.get(1).ok()?, names, text(2)?))
}

fn join(connection: &Connection, first: i64, small: i64) -> rusqlite::Result<()> {
    let range = [first, first + PARTS * small - 1];
    let mut builder = Builder::new(first, (PARTS * small) as usize);
    let mut is_readable = true;
    for number in 0..PARTS {
        let first = first + number * small;
        let part = connection.prepare_cached(PART)?.query_row([first], part).optional()?;
        is_readable &= part.and_then(|part| builder.append(first, &part)).is_some();
    }
    let sql = "SELECT max(has_gaps) FROM record_blocks WHERE first BETWEEN ? AND ?";
    let has_gaps = connection.query_row(sql, range, |row| row.get(0))?;
    connection.execute("DELETE FROM record_blocks WHERE first BETWEEN ? AND ?", range)?;
    match is_readable {
        true => keep(connection, range, &builder.finish(), true, has_gaps),
        // Nothing of ours packed one of them. All are made anew from their records.
        false => Ok(()),
    }
}

fn part(row: &Row<'_>) -> rusqlite::Result<Summary> {
    Ok(Summary {
        records: row.get::<_, i64>(0)?.unsigned_abs(),
        earliest: row.get(1)?,
        latest: row.get(2)?,
        names: row.get::<_, Option<_>>(3)?.unwrap_or_default(),
        names_of: row.get::<_, Option<_>>(4)?.unwrap_or_default(),
        paths: row.get(5)?,
        paths_of: row.get(6)?,
    })
}

fn keep(
    connection: &Connection,
    [first, last]: [i64; 2],
    summary: &Summary,
    is_readable: bool,
    has_gaps: bool,
) -> rusqlite::Result<()> {
    let Summary { records, earliest, latest, names, names_of, paths, paths_of } = summary;
    let path_bytes = paths.len();
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO record_blocks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?
        .execute(params![
            first,
            last,
            records.cast_signed(),
            earliest,
            latest,
            is_readable,
            has_gaps,
            path_bytes.cast_signed() as i64,
            names,
            names_of
        ])?;
    connection
        .prepare_cached("INSERT OR REPLACE INTO record_block_paths VALUES (?, ?, ?)")?
        .execute(params![first, paths, paths_of])?;
    Ok(())
}
