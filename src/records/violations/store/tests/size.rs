//! Databases at their limit of size.

use std::time::Instant;

use super::*;
use crate::records::{
    counts::Question,
    tally::{Claimant, Hour, PlaceCount, PlaceKind, Rollups},
    violations::{
        Removed,
        size_limit::{Kind, SizeLimit},
    },
};

const MIB: u64 = 1 << 20;

/// A batch of records, without counts, notes and a limit of time.
fn limited(path: &Path, most: u64) -> Appender {
    let size = Some(SizeLimit::new(most, Instant::now()));
    let limits = Limits { size, ..Limits::default() };
    Appender::open(path, OnDamage::Keep, Recollection::default(), limits).expect("a database").0
}

/// Counts of this many paths in an hour.
fn places(hour: i64, count: usize) -> Rollups {
    let place = |number: usize| PlaceCount {
        hour: Hour::from_millisecond(hour * 3_600_000),
        kind: PlaceKind::Path,
        site: Text::word("shop.example"),
        product_token: Text::word("GPTBot"),
        claimant: Claimant::Crawler,
        place: format!("/a/path/of/the/shop/{number:06}").into(),
        violations: 1,
    };
    Rollups { places: (0..count).map(place).collect(), ..Rollups::default() }
}

fn rows(store: &Store, sql: &str) -> u64 {
    let count: i64 = store.connection.query_row(sql, [], |row| row.get(0)).expect("a row");
    count.unsigned_abs()
}

#[test]
fn a_flood_of_records_keeps_the_database_below_its_limit_and_the_newest_records() {
    const MOST: u64 = 2 * MIB;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("beadle.db");
    let settings = || Settings {
        database: Some(path.clone()),
        max_size: Some(MOST),
        detail: u64::MAX,
        ..Settings::default()
    };
    let sink = Sink::start(settings()).expect("a sink");
    let mut largest = 0;
    for block in 0..40 {
        (block * 250..(block + 1) * 250).for_each(|number| sink.record(violation(number)));
        eventually("written", || sink.counts().queued == 0);
        largest = largest.max(fs::metadata(&path).expect("a file").len());
    }
    assert!(largest <= MOST + MIB / 2, "{largest}");
    let counts = sink.close(Duration::from_secs(9));
    assert_eq!((counts.seen, counts.dropped, counts.queued), (10_000, 0, 0));
    assert_eq!(counts.stored + counts.folded, 10_000, "{counts:?}");
    let store = Store::open_read_only(&path).expect("a database");
    let kept = rows(&store, "SELECT count(*) FROM violations");
    let Removed { by_age, by_size, .. } = sink.removed();
    assert_eq!((by_age, by_size), (0, counts.stored - kept));
    assert!(by_size > 0 && kept > 1_000, "{kept} left");
    assert_eq!(rows(&store, "SELECT max(sequence) - min(sequence) + 1 FROM violations"), kept);
    // Every violation is counted, whatever became of its record.
    let all = &store.counted(&Question::default()).expect("a row")[0];
    assert_eq!((all.violations, all.folded, all.dropped), (10_000, counts.folded, 0));
    assert!(sink.database_bytes().is_some_and(|bytes| bytes <= MOST));
}

#[test]
fn a_database_that_is_full_folds_what_comes_until_there_is_room() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("beadle.db");
    // The tables alone take more, so nothing can make room.
    let full = || Settings {
        database: Some(path.clone()),
        log: Some(LogTarget::File(folder.path().join("log"))),
        max_size: Some(4096),
        ..Settings::default()
    };
    let sink = Sink::start(full()).expect("a sink");
    eventually("measured", || sink.database_bytes().is_some_and(|bytes| bytes > 4096));
    (0..300).for_each(|number| sink.record(violation(number)));
    let counts = sink.counts();
    assert_eq!((counts.seen, counts.folded, counts.queued), (300, 300, 0));
    eventually("logged", || sink.log_counts().is_some_and(|log| log.stored == 300));
    assert_eq!(sink.log_counts().map(|log| (log.seen, log.folded)), Some((300, 0)));
    let counts = sink.close(Duration::from_secs(9));
    assert_eq!((counts.stored, counts.folded, counts.dropped), (0, 300, 0));
    let store = Store::open_read_only(&path).expect("a database");
    let all = &store.counted(&Question::default()).expect("a row")[0];
    assert_eq!((all.violations, all.folded), (300, 300));
    let places = "SELECT coalesce(sum(violations), 0) FROM rollup_places WHERE kind = 'path'";
    assert_eq!(rows(&store, places), 300);
}

#[test]
fn the_size_of_the_records_is_estimated_well_enough_to_share() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = Store::open(&folder.path().join("beadle.db")).expect("a database");
    for (from, padding) in [(0, 0), (4_000, 200), (8_000, 1_500)] {
        let long = |number| Violation {
            path: Text::path(format!("/{number}/{}", "x".repeat(padding)).as_bytes()),
            ..violation(number)
        };
        let records: Vec<_> = (from..from + 4_000).map(long).collect();
        store.add(&records, &Notes::default(), &[]).expect("added");
        let sql = "SELECT sum(pgsize) FROM dbstat WHERE name IN \
                   (SELECT name FROM sqlite_schema WHERE tbl_name = 'violations')";
        let (real, told) = (rows(&store, sql), store.parts().expect("parts").records);
        assert!(told.abs_diff(real) < real / 5, "{told} instead of {real}");
    }
    assert!(store.bytes_in_use().is_ok_and(|bytes| bytes > 0));
}

#[test]
fn counts_go_where_they_alone_take_more_than_half_and_the_latest_hour_stays() {
    const MOST: u64 = 3 * MIB;
    let folder = tempfile::tempdir().expect("a folder");
    let mut appender = limited(&folder.path().join("beadle.db"), MOST);
    appender.append(&batch(0..1_000)).expect("added");
    for hour in 0..20 {
        let store = appender.store.as_mut().expect("it is open");
        store.add_rollups(&places(hour, 2_000)).expect("added");
    }
    let over = |appender: &mut Appender| {
        let store = appender.store.as_mut().expect("it is open");
        store.bytes_in_use().is_ok_and(|bytes| bytes > MOST * 95 / 100)
    };
    assert!(over(&mut appender));
    while over(&mut appender) {
        appender.tend().expect("removed");
    }
    let store = appender.store.as_mut().expect("it is open");
    assert_eq!(rows(store, "SELECT count(*) FROM violations"), 1_000, "records have their share");
    let hours = rows(store, "SELECT count(DISTINCT hour) FROM rollup_places");
    assert!((2..20).contains(&hours), "{hours}");
    assert_eq!(rows(store, "SELECT max(hour) / 3600000 FROM rollup_places"), 19);
    // Whatever the limit, the latest hour stays.
    while store.remove_oldest(Kind::Counts, 1_000).expect("removed").most() > 0 {}
    assert_eq!(rows(store, "SELECT count(*) FROM rollup_places WHERE hour = 19 * 3600000"), 2_000);
    assert_eq!(rows(store, "SELECT count(*) FROM rollup_places"), 2_000);
}

#[test]
fn records_go_in_the_order_in_which_they_were_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = Store::open(&folder.path().join("beadle.db")).expect("a database");
    // The clock went back after the first ones.
    let records: Vec<_> = [9_000, 9_001, 5, 6, 7].map(violation).into();
    store.add(&records, &Notes::default(), &[]).expect("added");
    let removal = store.remove_oldest(Kind::Records, 2).expect("removed");
    assert_eq!((removal.records, removal.counts), (2, 0));
    let left = store.query(&Filter::default()).expect("rows").records;
    assert_eq!(left.iter().map(|(sequence, _)| *sequence).collect::<Vec<_>>(), [3, 4, 5]);
}

#[test]
fn a_reader_that_does_not_end_stops_the_growth_of_the_log() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("beadle.db");
    let mut appender = limited(&path, 64 * MIB);
    appender.append(&batch(0..10)).expect("added");
    let reader = Connection::open(&path).expect("a connection");
    reader.execute_batch("BEGIN; SELECT * FROM violations").expect("it reads");
    let mut number = 1_000;
    let error = loop {
        number += 256;
        match appender.append(&batch(number - 256..number)) {
            Ok(()) => assert!(number < 300_000, "it grows"),
            Err(error) => break error,
        }
    };
    assert!(matches!(error.obstacle, Obstacle::LogHeld(length) if length > 16 * MIB), "{error}");
    let log = fs::metadata(path.with_extension("db-wal")).expect("a log").len();
    assert!(log < 20 * MIB, "{log}");
    reader.execute_batch("ROLLBACK").expect("it ends");
    appender.append(&batch(number - 256..number)).expect("written");
    assert_eq!(fs::metadata(path.with_extension("db-wal")).expect("a log").len(), 0);
    assert_eq!(count(&path) as u64, number - 1_000 + 10);
}
