//! Counts by hour: each counts once, whatever happens to the database.

use std::thread;

use super::*;
use crate::records::{
    counts::{Counted, Dimension, Question},
    record::Overflow,
    tally::{
        Claimant, Detail, Hour, People, PlaceCount, PlaceKind, Places, ReadState, Rollup, Rollups,
        SeriesKey,
    },
};

const KEY: SeriesKey<'_> = SeriesKey {
    site: "shop.example",
    class: "crawler",
    product_token: "GPTBot",
    is_declared: false,
    purpose: "ai-training",
    standing: "confirmed",
    verdict: "allow",
    action: "pass",
    reason: "robots.allow",
    edition: "00ff",
    line: 0,
    directive: "",
    pattern: "",
    read: None,
};
const VIOLATION: SeriesKey<'_> = SeriesKey {
    verdict: "disallow",
    action: "block",
    reason: "robots.disallow",
    line: 7,
    directive: "disallow",
    pattern: "/private/",
    read: Some(ReadState::Never),
    ..KEY
};

/// Hands over a violation as the gate does.
fn violate(sink: &Sink, number: u64) {
    let violation = violation(number);
    let key = SeriesKey { product_token: &violation.product_token, ..VIOLATION };
    let places = || Places { path: "/private/".into(), network: Text::word("192.0.2.0/24") };
    if let Detail::Recorded(tallied) = sink.tally.admit(violation.time, &key, places) {
        sink.record(crate::records::violations::Record { violation, tallied });
    }
}

fn pass(sink: &Sink, number: u64) {
    sink.tally.count(violation(number).time, &KEY);
}

/// The sums of a database: requests that passed, violations, rows, folded and dropped ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sums {
    passed: u64,
    violations: u64,
    rows: u64,
    folded: u64,
    dropped: u64,
}

fn sums(path: &Path) -> Sums {
    let store = Store::open_read_only(path).expect("a database");
    let counted = store.counted(&Question::default()).expect("a row");
    let all = counted.into_iter().next().unwrap_or_default();
    let Counted { requests, violations, folded, dropped, .. } = all;
    let rows = store.query(&Filter::default()).expect("rows").records.len() as u64;
    assert_eq!(violations, rows + folded + dropped, "{all:?}");
    for kind in [PlaceKind::Path, PlaceKind::Network] {
        let places = store.places(kind, &Question::default(), usize::MAX).expect("rows");
        assert_eq!(places.iter().map(|place| place.violations).sum::<u64>(), violations);
    }
    Sums { passed: requests - violations, violations, rows, folded, dropped }
}

/// The requests that passed. Sums of several questions may have a batch between them.
fn passed(path: &Path) -> u64 {
    let store = Store::open_read_only(path).expect("a database");
    let counted = store.counted(&Question::default()).expect("a row");
    counted.first().map_or(0, |all| all.requests - all.violations)
}

fn detailed(path: &Path, queue: usize, detail: u64) -> Sink {
    let database = Some(path.to_owned());
    Sink::start(Settings { database, queue, detail, ..Settings::default() }).expect("a sink")
}

#[test]
fn a_batch_of_counts_that_comes_again_counts_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("beadle.db");
    let mut appender = appender(&path);
    let hour = Hour::of(violation(0).time);
    let series = crate::records::tally::Series::of(&violation(0), "crawler");
    let rollup = Rollup { hour, series, requests: 3, folded: 1, dropped: 1 };
    let overflow = Overflow {
        site: Text::word("shop.example"),
        product_token: Text::word("GPTBot"),
        rule: Text::word("/"),
        count: 5,
        first: violation(0).time,
        last: violation(0).time,
    };
    let with_counts = |numbers| Batch {
        rollups: Rollups { series: vec![rollup.clone()], ..Rollups::default() },
        overflow: vec![overflow.clone()],
        ..batch(numbers)
    };
    let first = with_counts(0..1);
    for _ in 0..3 {
        appender.append(&first).expect("added");
    }
    // Another run begins with the same numbers.
    let mut other = super::appender(&path);
    other.append(&first).expect("added");
    appender.append(&with_counts(1..2)).expect("added");
    let store = Store::open_read_only(&path).expect("a database");
    assert_eq!(store.counted(&Question::default()).expect("a row")[0].requests, 9);
    assert_eq!(store.overflow().expect("rows")[0].count, 15);
}

#[test]
fn counts_without_a_record_are_soon_in_the_database() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("beadle.db");
    let sink = detailed(&path, 10, 1);
    let written = || fs::metadata(&path).expect("a file").modified().expect("a time");
    let reader = Store::open_read_only(&path).expect("another connection");
    let people = Arc::new(People::default());
    for number in 1..4 {
        pass(&sink, 0);
        sink.tally.count_person(&people, "shop.example", violation(0).time);
        sink.tally.count_referral(violation(0).time, "shop.example", "OpenAI");
        eventually("read", || {
            let question = Question::default();
            let counted = reader.counted(&question).expect("rows");
            let people = reader.people(&question).expect("rows");
            let visits = reader.referrals(&question).expect("rows");
            counted.iter().all(|one| one.requests == number)
                && people.iter().all(|one| one.requests == number)
                && visits.iter().all(|one| one.visits == number)
                && [counted.len(), people.len(), visits.len()] == [1; 3]
        });
    }
    // Without requests nothing is written.
    eventually("quiet", || {
        let before = written();
        thread::sleep(Duration::from_millis(900));
        written() == before
    });
}

#[test]
fn a_locked_database_loses_and_doubles_no_count() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("beadle.db");
    let sink = Arc::new(detailed(&path, 40, 30));
    let other = Connection::open(&path).expect("a connection");
    other.busy_timeout(Duration::from_secs(9)).expect("a number");
    let requests: Vec<_> = (0..3_u64)
        .map(|thread| {
            let sink = Arc::clone(&sink);
            thread::spawn(move || {
                for number in 0..600 {
                    // Several hours, as ten seconds go by between two of them.
                    let number = (thread * 600 + number) * 10;
                    violate(&sink, number);
                    pass(&sink, number);
                    pass(&sink, 0);
                    let counts = sink.counts();
                    let Counts { seen, stored, folded, dropped, queued } = counts;
                    assert_eq!(seen, stored + folded + dropped + queued);
                    thread::sleep(Duration::from_micros(300));
                }
            })
        })
        .collect();
    while requests.iter().any(|thread| !thread.is_finished()) {
        other.execute_batch("BEGIN IMMEDIATE").expect("locked");
        thread::sleep(Duration::from_millis(40));
        other.execute_batch("ROLLBACK").expect("free again");
        thread::sleep(Duration::from_millis(15));
    }
    requests.into_iter().for_each(|thread| thread.join().expect("no panic"));
    let counts = sink.close(Duration::from_secs(20));
    assert_eq!((counts.seen, sink.lost_requests()), (1_800, 0));
    let found = sums(&path);
    assert_eq!((found.passed, found.violations), (3_600, 1_800));
    assert_eq!(
        (found.rows, found.folded, found.dropped),
        (counts.stored, counts.folded, counts.dropped)
    );
}

#[test]
fn a_stop_without_a_database_says_how_many_counts_are_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("beadle.db");
    let sink = detailed(&path, 40, 3);
    (0..9).for_each(|_| pass(&sink, 0));
    eventually("written", || passed(&path) == 9);
    let other = Connection::open(&path).expect("a connection");
    other.execute_batch("BEGIN EXCLUSIVE").expect("locked");
    (0..7).for_each(|_| pass(&sink, 0));
    thread::sleep(Duration::from_millis(600)); // some wait in the writer, others in the tally
    let people = Arc::new(People::default());
    (0..4).for_each(|_| sink.tally.count_person(&people, "shop.example", violation(0).time));
    (0..8).for_each(|_| violate(&sink, 0));
    let counts = sink.close(Duration::from_millis(100));
    assert_eq!((counts.dropped, counts.folded), (3, 5));
    assert_eq!(sink.lost_requests(), 7 + 4 + 5);
}

#[test]
fn a_moved_database_takes_along_its_counts_and_the_new_one_has_the_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, moved) = (folder.path().join("beadle.db"), folder.path().join("moved.db"));
    let sink = detailed(&path, 9_000, 20);
    let send = |from: u64| {
        for number in from..from + 200 {
            violate(&sink, number);
            pass(&sink, number);
        }
    };
    send(0);
    eventually("written", || passed(&path) == 200 && sink.counts().queued == 0);
    fs::rename(&path, &moved).expect("moved");
    send(200);
    eventually("written", || sink.counts().queued == 0 && path.exists());
    sink.close(Duration::from_secs(9));
    let (before, after) = (sums(&moved), sums(&path));
    assert_eq!((before.passed, after.passed), (200, 200));
    assert_eq!((before.violations, after.violations), (200, 200));
}

#[test]
fn old_counts_go_in_pieces_and_their_series_with_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = Store::open(&folder.path().join("beadle.db")).expect("a database");
    let hour = |number| Hour::numbered(400_000 + number);
    let series = |token: &'static str| SeriesKey { product_token: token, ..KEY }.to_series();
    let rollup = |at, token| Rollup {
        hour: hour(at),
        series: series(token),
        requests: 1,
        folded: 0,
        dropped: 0,
    };
    let place = |number: i32| PlaceCount {
        hour: hour(number),
        kind: PlaceKind::Path,
        site: Text::word("s"),
        product_token: Text::word("t"),
        claimant: Claimant::Crawler,
        place: Text::word("/"),
        violations: 1,
    };
    let rollups = Rollups {
        series: (0..40).flat_map(|at| [rollup(at, "GPTBot"), rollup(at / 4, "CCBot")]).collect(),
        places: (0..40).map(place).collect(),
        ..Rollups::default()
    };
    store.add_rollups(&rollups).expect("added");
    let known = |store: &Store| {
        let by = vec![Dimension::ProductToken];
        store.counted(&Question { by, ..Question::default() }).expect("rows").len()
    };
    let series_left = |store: &Store| -> i64 {
        let count = "SELECT count(*) FROM series";
        store.connection.query_row(count, [], |row| row.get(0)).expect("a row")
    };
    let before = Timestamp::from_millisecond(hour(20).as_millisecond() + 5).expect("a time");
    let piece = Piece { before, replaced_before: before, limit: 8 };
    let removed: Vec<_> = std::iter::repeat_with(|| store.prune(piece).expect("pruned").most())
        .take_while(|count| *count > 0)
        .collect();
    assert_eq!(removed, [8, 8, 8, 6], "the hour that has begun stays");
    assert_eq!((known(&store), series_left(&store)), (1, 1));
    let left = store.counted(&Question::default()).expect("a row")[0].requests;
    assert_eq!(left, 20);
}
