//! The removal of old rows: records, counts, and the editions that only they needed.

use rusqlite::Connection;

use super::{blocks, connection::Store, record_rows, rollups::COUNTS};
use crate::records::{
    record::Error,
    tally::Hour,
    violations::{
        retention::Piece,
        size_limit::{Kind, Parts},
    },
};

/// By size, the records that were written first go first, whatever the clock said.
const FORGET_FIRST: &str = "DELETE FROM violations WHERE sequence IN \
    (SELECT sequence FROM violations ORDER BY sequence LIMIT ?)";
/// How many records are looked at to tell the size of all.
const SAMPLE: i64 = 32;
/// The bytes of a row of the fetches, with its indexes.
const FETCH: u64 = 190;

/// An edition stays as long as a record that names it, because the record is shown with its rules.
/// The oldest records go first. So all records of an edition are gone when its last mention is
/// older than every record that is left.
const FORGET_MENTIONS: &str = "DELETE FROM edition_mentions WHERE edition IN \
    (SELECT edition FROM edition_mentions \
     WHERE last < coalesce((SELECT min(time) FROM violations), last + 1) LIMIT ?)";
const END_PERIODS: &str = "DELETE FROM edition_periods WHERE sequence IN \
    (SELECT sequence FROM edition_periods WHERE until_ < ? \
     AND edition NOT IN (SELECT edition FROM edition_mentions) ORDER BY until_ LIMIT ?)";
const DROP_EDITIONS: &str = "DELETE FROM editions WHERE id IN \
    (SELECT id FROM editions WHERE id NOT IN (SELECT edition FROM edition_periods) LIMIT ?)";

/// An hour that lost counts is another one; an hour that lost all of them is none.
const RENEW_HOURS: &str = "UPDATE counted_hours SET version = random() WHERE hour < ?";
const FORGET_HOURS: &str = "DELETE FROM counted_hours WHERE hour < ? \
    AND NOT EXISTS (SELECT 1 FROM rollups WHERE rollups.hour = counted_hours.hour) \
    AND NOT EXISTS (SELECT 1 FROM rollup_places WHERE rollup_places.hour = counted_hours.hour)";
const FORGET_SERIES: &str = "DELETE FROM series WHERE id IN \
    (SELECT id FROM series WHERE last < ?1 \
     AND last < coalesce((SELECT min(hour) FROM rollups), ?1) LIMIT ?2)";
const FORGET_RUNS: &str = "DELETE FROM rollup_batches WHERE run IN \
    (SELECT run FROM rollup_batches WHERE at < ? LIMIT ?)";
/// The most fetches that are kept: a client can use any number of networks.
const MOST_FETCHES: i64 = 131_072;
const BOUND_FETCHES: &str = "DELETE FROM fetches WHERE rowid IN \
    (SELECT rowid FROM fetches ORDER BY last \
     LIMIT min(max((SELECT count(*) FROM fetches) - ?, 0), ?))";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::records::violations) struct Removal {
    pub(in crate::records::violations) records: u64,
    /// Counts, of the kind with the most.
    pub(in crate::records::violations) counts: u64,
}

impl Removal {
    pub(in crate::records::violations) fn most(self) -> u64 {
        self.records.max(self.counts)
    }
}

impl Store {
    /// Removes a piece of the old rows, the oldest first. An edition in force always stays.
    pub(in crate::records::violations) fn prune(&mut self, piece: Piece) -> Result<Removal, Error> {
        let (before, limit) = (piece.before.as_millisecond(), piece.limit.cast_signed());
        self.write(|transaction| {
            let records = forget(transaction, ("violations", "time"), [before, limit])?;
            blocks::forget(transaction)?;
            forget(transaction, ("overflow", "last"), [before, limit])?;
            let counts = forget_counts(transaction, Hour::of(piece.before), limit)?;
            let replaced_before = piece.replaced_before.as_millisecond();
            forget(transaction, ("fetches", "last"), [replaced_before, limit])?;
            bound_fetches(transaction, MOST_FETCHES, limit)?;
            forget(transaction, ("host_periods", "until_"), [replaced_before, limit])?;
            forget(transaction, ("clock_leaps", "at"), [replaced_before, limit])?;
            transaction.execute(FORGET_MENTIONS, [limit])?;
            transaction.execute(END_PERIODS, [replaced_before, limit])?;
            transaction.execute(DROP_EDITIONS, [limit])?;
            Ok(Removal { records: records as u64, counts: counts as u64 })
        })
    }

    /// Removes a piece of the oldest rows of a kind, whatever their age. Counts of the latest hour stay.
    pub(super) fn remove_oldest(&mut self, kind: Kind, limit: u64) -> Result<Removal, Error> {
        let limit = limit.cast_signed();
        self.write(|transaction| {
            let mut removal = Removal::default();
            match kind {
                Kind::Records => {
                    removal.records = transaction.execute(FORGET_FIRST, [limit])? as u64;
                    blocks::forget(transaction)?;
                }
                Kind::Counts => {
                    if let Some(before) = second_hour(transaction)? {
                        removal.counts = forget_counts(transaction, before, limit)? as u64;
                        forget(
                            transaction,
                            ("overflow", "last"),
                            [before.as_millisecond(), limit],
                        )?;
                    }
                }
            }
            Ok(removal)
        })
    }

    pub(super) fn bytes_in_use(&mut self) -> Result<u64, Error> {
        let sql = "SELECT (page_count - freelist_count) * page_size \
                   FROM pragma_page_count, pragma_freelist_count, pragma_page_size";
        self.number(sql)
    }

    /// The parts of the pages in use, from a sample of the records.
    pub(super) fn parts(&mut self) -> Result<Parts, Error> {
        let count = self.extent()?;
        self.attempt(|connection| {
            let mut sample = connection.prepare_cached(&record_rows::size_of_next())?;
            let (first, last): (i64, i64) = connection.query_row(
                "SELECT coalesce(min(sequence), 0), coalesce(max(sequence), -1) FROM violations",
                [],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?;
            let step = ((last - first) / SAMPLE).max(1);
            let (mut bytes, mut looked) = (0, 0);
            for number in 0..SAMPLE.min(last - first + 1) {
                bytes += sample.query_row([first + number * step], |row| row.get::<_, i64>(0))?;
                looked += 1;
            }
            let average = (bytes / looked.max(1)).unsigned_abs();
            let number = |sql| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
            let files = number("SELECT coalesce(sum(length(bytes)), 0) FROM editions")?;
            let parts = number("SELECT coalesce(sum(length(base)), 0) FROM edition_periods")?;
            let fetches = number("SELECT count(*) FROM fetches")?.unsigned_abs();
            let history = files.unsigned_abs() + parts.unsigned_abs() + fetches * FETCH;
            Ok(Parts { records: count * average, history })
        })
    }

    /// The approximate number of records: exact unless records were removed out of order.
    pub(super) fn extent(&mut self) -> Result<u64, Error> {
        let sql = "SELECT coalesce((SELECT max(sequence) FROM violations) \
                   - (SELECT min(sequence) FROM violations) + 1, 0)";
        self.number(sql)
    }
}

/// Removes up to `limit` rows of a table, the oldest by the time in this column, from before a time.
fn forget(
    connection: &Connection,
    (table, column): (&str, &str),
    [before, limit]: [i64; 2],
) -> rusqlite::Result<usize> {
    let oldest = format!("SELECT rowid FROM {table} WHERE {column} < ? ORDER BY {column} LIMIT ?");
    let sql = format!("DELETE FROM {table} WHERE rowid IN ({oldest})");
    connection.execute(&sql, [before, limit])
}

/// The hour after the oldest one that has counts, unless that is the latest.
fn second_hour(connection: &Connection) -> rusqlite::Result<Option<Hour>> {
    let hours = COUNTS
        .map(|(table, ..)| format!("SELECT min(hour) AS first, max(hour) AS last FROM {table}"));
    let sql = format!("SELECT min(first), max(last) FROM ({})", hours.join(" UNION ALL "));
    let (first, last): (Option<i64>, Option<i64>) =
        connection.query_row(&sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let hour = first.zip(last).filter(|(first, last)| first < last).map(|(first, _)| first);
    Ok(hour.map(|first| Hour::numbered(Hour::from_millisecond(first).number() + 1)))
}

/// Removes up to `limit` counts of each kind from before an hour, and returns the number of the most.
fn forget_counts(connection: &Connection, before: Hour, limit: i64) -> rusqlite::Result<usize> {
    let bound = [before.as_millisecond(), limit];
    let mut most = 0;
    for (table, key, _) in COUNTS {
        let oldest = format!("SELECT {key} FROM {table} WHERE hour < ? ORDER BY hour LIMIT ?");
        let sql = format!("DELETE FROM {table} WHERE ({key}) IN ({oldest})");
        most = most.max(connection.execute(&sql, bound)?);
    }
    if most > 0 {
        connection.execute(RENEW_HOURS, [before.as_millisecond()])?;
        connection.execute(FORGET_HOURS, [before.as_millisecond()])?;
    }
    connection.execute(FORGET_SERIES, bound)?;
    connection.execute(FORGET_RUNS, bound)?;
    Ok(most)
}

/// Removes up to `limit` of the fetches beyond the latest `most`.
fn bound_fetches(connection: &Connection, most: i64, limit: i64) -> rusqlite::Result<usize> {
    connection.execute(BOUND_FETCHES, [most, limit])
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::records::violations::{notes::Notes, tests::fetch};

    #[test]
    fn a_fetch_within_the_window_survives_a_short_retention() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut store = Store::open(&folder.path().join("beadle.db")).expect("a database");
        let mut notes = Notes::default();
        notes.take(fetch("s", "GPTBot", "192.0.2.0/24", "a", 1_000));
        store.add([], &notes, &[]).expect("added");
        let time = |second| Timestamp::from_second(second).expect("a time");
        // A retention of an hour and a window of a day, two hours and more than a day later.
        for (before, replaced_before, left) in [(4_600, -78_200, 1), (90_000, 1_001, 0)] {
            let (before, replaced_before) = (time(before), time(replaced_before));
            store.prune(Piece { before, replaced_before, limit: 100 }).expect("pruned");
            assert_eq!(store.fetches().expect("rows").len(), left);
        }
    }

    #[test]
    fn fetches_are_bounded_and_the_latest_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(&folder.path().join("beadle.db")).expect("a database");
        for number in 0..50 {
            let sql = "INSERT INTO fetches VALUES ('a', 'b', ?1, 'unknown', 'c', ?1, ?1, 1, NULL)";
            store.connection.execute(sql, [number]).expect("a row");
        }
        let forget = |limit| bound_fetches(&store.connection, 20, limit).expect("removed");
        assert_eq!((forget(12), forget(1000), forget(1000)), (12, 18, 0));
        let left: i64 = store
            .connection
            .query_row("SELECT min(last) FROM fetches", [], |row| row.get(0))
            .expect("a row");
        assert_eq!(left, 30);
    }
}
