//! The removal of old rows: records, counts, and the editions that only they needed.

use rusqlite::{Connection, TransactionBehavior};

use super::connection::Store;
use crate::violations::{Error, Hour, retention::Piece};

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

const FORGET_FETCHES: &str = "DELETE FROM fetches WHERE rowid IN \
    (SELECT rowid FROM fetches WHERE last < ? LIMIT ?)";
const FORGET_HOSTS: &str = "DELETE FROM host_periods WHERE sequence IN \
    (SELECT sequence FROM host_periods WHERE until_ < ? ORDER BY until_ LIMIT ?)";
const FORGET_LEAPS: &str = "DELETE FROM clock_leaps WHERE rowid IN \
    (SELECT rowid FROM clock_leaps WHERE at < ? LIMIT ?)";
/// Counts by hour go with the records of the hour.
const FORGET_COUNTS: [&str; 4] = [
    "DELETE FROM rollups WHERE (hour, series) IN \
     (SELECT hour, series FROM rollups WHERE hour < ? ORDER BY hour LIMIT ?)",
    "DELETE FROM rollup_places WHERE (hour, kind, site, product_token, place) IN \
     (SELECT hour, kind, site, product_token, place FROM rollup_places WHERE hour < ? \
     ORDER BY hour LIMIT ?)",
    "DELETE FROM people WHERE (hour, site) IN \
     (SELECT hour, site FROM people WHERE hour < ? ORDER BY hour LIMIT ?)",
    "DELETE FROM referrals WHERE (hour, site, operator) IN \
     (SELECT hour, site, operator FROM referrals WHERE hour < ? ORDER BY hour LIMIT ?)",
];
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

impl Store {
    /// Removes a piece of the old rows, the oldest first, and returns the number of removed rows of
    /// the kind with the most: records or counts. An edition in force always stays.
    pub(in crate::violations) fn prune(&mut self, piece: Piece) -> Result<u64, Error> {
        let (before, limit) = (piece.before.as_millisecond(), piece.limit.cast_signed());
        self.attempt(|connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let removed = transaction.execute(
                "DELETE FROM violations WHERE sequence IN \
                 (SELECT sequence FROM violations WHERE time < ? ORDER BY time LIMIT ?)",
                [before, limit],
            )?;
            transaction.execute(
                "DELETE FROM overflow WHERE rowid IN \
                 (SELECT rowid FROM overflow WHERE last < ? LIMIT ?)",
                [before, limit],
            )?;
            let removed = removed.max(forget_counts(&transaction, Hour::of(piece.before), limit)?);
            let replaced_before = piece.replaced_before.as_millisecond();
            transaction.execute(FORGET_FETCHES, [replaced_before, limit])?;
            bound_fetches(&transaction, MOST_FETCHES, limit)?;
            transaction.execute(FORGET_HOSTS, [replaced_before, limit])?;
            transaction.execute(FORGET_LEAPS, [replaced_before, limit])?;
            transaction.execute(FORGET_MENTIONS, [limit])?;
            transaction.execute(END_PERIODS, [replaced_before, limit])?;
            transaction.execute(DROP_EDITIONS, [limit])?;
            transaction.commit()?;
            Ok(removed as u64)
        })
    }

    /// The approximate number of records: exact unless records were removed out of order.
    pub(super) fn extent(&mut self) -> Result<u64, Error> {
        let sql = "SELECT coalesce((SELECT max(sequence) FROM violations) \
                   - (SELECT min(sequence) FROM violations) + 1, 0)";
        let extent: i64 = self.attempt(|connection| connection.query_row(sql, [], |r| r.get(0)))?;
        Ok(extent.unsigned_abs())
    }
}

/// Removes up to `limit` counts of each kind from before an hour, and returns the number of the most.
fn forget_counts(connection: &Connection, before: Hour, limit: i64) -> rusqlite::Result<usize> {
    let bound = [before.as_millisecond(), limit];
    let mut most = 0;
    for sql in FORGET_COUNTS {
        most = most.max(connection.execute(sql, bound)?);
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
    use crate::violations::{notes::Notes, tests::fetch};

    #[test]
    fn a_fetch_within_the_window_survives_a_short_retention() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut store = Store::open(&folder.path().join("beadle.db")).expect("a database");
        let mut notes = Notes::default();
        notes.fetched(fetch("s", "GPTBot", "192.0.2.0/24", "a", 1_000));
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
