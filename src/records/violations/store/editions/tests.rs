use std::{collections::HashSet, path::Path, time::Duration};

use proptest::prelude::*;

use super::*;
use crate::records::{
    record::{Robots, RobotsRead},
    violations::{
        Health, Settings, Sink,
        notes::Notes,
        retention::Piece,
        store::tests::both::Both,
        tests::{edition, eventually, violation},
    },
};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).expect("a time")
}

fn notes(editions: &[Edition]) -> Notes {
    let mut notes = Notes::default();
    for edition in editions {
        notes.take(edition.clone());
    }
    notes
}

fn publish(store: &mut Store, editions: &[(&'static str, &'static str, i64)]) {
    let editions: Vec<_> =
        editions.iter().map(|&(site, id, from)| edition(site, id, from)).collect();
    store.add([], &notes(&editions), &[]).expect("added");
}

fn publish_to(both: &mut Both, editions: &[(&'static str, &'static str, i64)]) {
    let editions: Vec<_> =
        editions.iter().map(|&(site, id, from)| edition(site, id, from)).collect();
    both.add([], &notes(&editions), &[]);
}

/// The periods of a site, in seconds.
fn periods(store: &Store, site: &str) -> Vec<(String, i64, Option<i64>)> {
    let editions = store.editions(Some(site), None).expect("rows");
    let period =
        |e: Edition| (e.id.to_string(), e.from.as_second(), e.until.map(|t| t.as_second()));
    editions.into_iter().map(period).collect()
}

fn period(id: &str, from: i64, until: impl Into<Option<i64>>) -> (String, i64, Option<i64>) {
    (id.to_owned(), from, until.into())
}

fn store(folder: &Path) -> Store {
    Store::open(&folder.join("beadle.db")).expect("a database")
}

#[test]
fn an_edition_comes_back_byte_for_byte() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("beadle.db");
    let settings = Settings { database: Some(path.clone()), ..Settings::default() };
    let published: Vec<_> = [
        Vec::new(),
        b"User-agent: *\nDisallow: /\n".to_vec(),
        b"\xef\xbb\xbf\xff\xfe\0\x1b[2J\r\r\n'; DROP TABLE editions;--".to_vec(),
        (0..500 << 10)
            .map(|number: u32| (number.wrapping_mul(2_654_435_761) >> 24) as u8)
            .collect(),
    ]
    .into_iter()
    .zip(["00", "a1", "b2", "c3"])
    .zip(10..)
    .map(|((bytes, id), from)| Edition {
        origin_file: origin_file(Some(bytes.clone())),
        bytes: bytes.into(),
        sha256: Text::from(id.repeat(32)),
        source: Text::word("merge"),
        ..edition("shop.example", id, from)
    })
    .collect();
    let sink = Sink::start(settings).expect("a sink");
    published.iter().for_each(|edition| sink.note(edition.clone()));
    sink.close(Duration::from_secs(9));
    let found = Store::open_read_only(&path).expect("a database").editions(None, None);
    let mut expected = published;
    for (edition, until) in expected.iter_mut().zip([Some(11), Some(12), Some(13), None]) {
        edition.until = until.map(at);
        if until.is_some() {
            edition.origin_file = OriginFile::Unknown;
        }
    }
    assert!(found.expect("rows") == expected);
}

#[test]
fn an_edition_that_comes_back_is_in_force_twice() {
    let mut both = Both::new();
    for one in [("s", "a", 10), ("s", "b", 20), ("t", "a", 25), ("S", "a", 30), ("s", "a", 40)] {
        publish_to(&mut both, &[one]);
    }
    for (name, store) in both.stores() {
        let expected = [period("a", 10, 20), period("b", 20, 30), period("a", 30, None)];
        assert_eq!(periods(&store, "s"), expected, "{name}");
        assert_eq!(periods(&store, "T"), [period("a", 25, None)], "{name}");
        let since = |since| -> Vec<_> {
            let found = store.editions(Some("s"), Some(at(since))).expect("rows");
            found.into_iter().map(|edition| edition.from.as_second()).collect()
        };
        assert_eq!((since(19), since(21), since(99)), (vec![10, 20, 30], vec![20, 30], vec![30]));
    }
    let count = "SELECT count(*) FROM editions";
    let blobs: i64 = both.local.connection.query_row(count, [], |row| row.get(0)).expect("a count");
    assert_eq!(blobs, 2, "bytes are kept once");
}

#[test]
fn the_origins_part_is_the_latest_of_the_edition_in_force() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = store(folder.path());
    let with = |id, from, base: Option<&str>| Edition {
        origin_file: origin_file(base.map(|base| base.as_bytes().to_vec())),
        ..edition("s", id, from)
    };
    for (batch, expected) in [
        (vec![with("a", 1, Some("x"))], vec![Some("x")]),
        (vec![with("a", 1, Some("y"))], vec![Some("y")]),
        (vec![with("a", 1, Some("")), with("a", 1, Some("z"))], vec![Some("z")]),
        (vec![with("b", 2, None)], vec![None, None]),
        (vec![with("b", 2, Some("")), with("c", 3, Some("x"))], vec![None, None, Some("x")]),
        (vec![with("c", 3, None)], vec![None, None, None]),
    ] {
        for _ in 0..2 {
            store.add([], &notes(&batch), &[]).expect("added");
            let found = store.editions(Some("S"), None).expect("rows");
            let bases: Vec<_> = found.iter().map(|edition| base(&edition.origin_file)).collect();
            let expected: Vec<_> = expected.iter().map(|base| base.map(str::as_bytes)).collect();
            assert_eq!(bases, expected, "{batch:?}");
        }
    }
}

#[test]
fn two_instances_that_publish_the_same_make_one_edition() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut one, mut other) = (store(folder.path()), store(folder.path()));
    publish(&mut one, &[("s", "a", 10)]);
    publish(&mut other, &[("s", "a", 11)]);
    publish(&mut other, &[("s", "b", 20)]);
    publish(&mut one, &[("s", "b", 22)]);
    assert_eq!(periods(&one, "s"), [period("a", 10, 20), period("b", 20, None)]);
}

#[test]
fn a_batch_of_editions_that_comes_again_changes_nothing() {
    for batch in [
        vec![("s", "b", 20)],
        vec![("s", "b", 20), ("s", "a", 30)],
        vec![("s", "a", 20), ("s", "b", 30)],
        vec![("s", "b", 20), ("s", "a", 30), ("s", "a", 35), ("t", "b", 36), ("s", "b", 40)],
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let mut store = store(folder.path());
        publish(&mut store, &[("s", "a", 10)]);
        publish(&mut store, &batch);
        let once = [periods(&store, "s"), periods(&store, "t")];
        publish(&mut store, &batch);
        assert_eq!([periods(&store, "s"), periods(&store, "t")], once, "{batch:?}");
    }
}

#[test]
fn a_clock_that_goes_back_keeps_periods_in_order() {
    let mut both = Both::new();
    publish_to(&mut both, &[("s", "a", 100)]);
    publish_to(&mut both, &[("s", "b", 50), ("s", "c", 60)]);
    publish_to(&mut both, &[("s", "a", 200)]);
    let expected = [
        period("a", 100, 100),
        period("b", 100, 100),
        period("c", 100, 200),
        period("a", 200, None),
    ];
    for (name, store) in both.stores() {
        assert_eq!(periods(&store, "s"), expected, "{name}");
    }
}

#[test]
fn editions_are_found_by_the_beginning_of_their_id() {
    let mut both = Both::new();
    let published =
        [("s", "00ff", 10), ("s", "00aa", 20), ("s", "00ff", 30), ("t", "00ff", 5), ("t", "1", 9)];
    publish_to(&mut both, &published);
    for (prefix, site, expected) in [
        ("00f", None, vec![("00ff", 30)]),
        ("00F", Some("T"), vec![("00ff", 5)]),
        ("0", None, vec![("00aa", 20), ("00ff", 30)]),
        ("1", Some("s"), vec![]),
        ("", None, vec![]),
        ("2", None, vec![]),
        ("*", None, vec![]),
        ("[0-9]", None, vec![]),
        ("0'", None, vec![]),
    ] {
        for (name, store) in both.stores() {
            let found = store.editions_by_id(prefix, site).expect("rows");
            let found: Vec<_> = found.iter().map(|e| (e.id.as_str(), e.from.as_second())).collect();
            assert_eq!(found, expected, "{name} {prefix} {site:?}");
        }
    }
}

#[test]
fn pruning_spares_editions_in_the_window_and_those_that_a_record_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = store(folder.path());
    let published = [
        ("s", "a", 10), // named as what forbade the first record
        ("s", "b", 20), // named as what the second crawler had read
        ("s", "c", 30), // named by nothing, but in force for another site
        ("s", "d", 40), // named by nothing
        ("s", "e", 50), // in the window still
        ("s", "f", 90), // in force
        ("t", "c", 30),
    ];
    publish(&mut store, &published);
    let record = |number, forbade, read: Option<&'static str>| {
        let named = violation(number);
        let edition = Text::word(forbade);
        Violation {
            robots: Robots { edition, ..named.robots },
            robots_read: RobotsRead { edition: read.map(Text::word), ..named.robots_read },
            ..named
        }
    };
    let records = [
        record(0, "a", None),
        record(1, "f", None),
        record(2, "f", Some("b")),
        record(3, "f", None),
    ];
    store.add(&records, &Notes::default(), &[]).expect("added");
    let prune = |store: &mut Store, before, replaced_before| {
        let (before, replaced_before) = (violation(before).time, at(replaced_before));
        store.prune(Piece { before, replaced_before, limit: 1000 }).expect("pruned");
        let of_s: String = periods(store, "s").into_iter().map(|(id, ..)| id).collect();
        let sql = "SELECT group_concat(id, '') FROM (SELECT id FROM editions ORDER BY id)";
        let all: String = store.connection.query_row(sql, [], |row| row.get(0)).expect("ids");
        (of_s, all)
    };
    let of = |s: &str, all: &str| (s.to_owned(), all.to_owned());
    assert_eq!(prune(&mut store, 0, 15), of("abcdef", "abcdef"));
    assert_eq!(prune(&mut store, 0, 89), of("abef", "abcef"));
    assert_eq!(prune(&mut store, 1, 89), of("bef", "bcef"), "the record that named it is gone");
    assert_eq!(prune(&mut store, 2, 89), of("bef", "bcef"));
    assert_eq!(prune(&mut store, 3, 89), of("ef", "cef"));
    assert_eq!(prune(&mut store, 9, 1000), of("f", "cf"), "what is in force never goes");
}

#[test]
fn a_locked_database_loses_no_edition() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("beadle.db");
    let settings = Settings { database: Some(path.clone()), queue: 1, ..Settings::default() };
    let sink = Sink::start(settings).expect("a sink");
    let other = Connection::open(&path).expect("a second connection");
    other.execute_batch("BEGIN IMMEDIATE").expect("a lock");
    for number in 0..2000 {
        let id = Text::from(format!("{number:016x}"));
        sink.note(Edition { id, ..edition("s", "", number) });
        sink.record(violation(number.unsigned_abs()));
    }
    eventually("degraded", || sink.health() != Health::Ok);
    other.execute_batch("ROLLBACK").expect("unlocked");
    sink.close(Duration::from_secs(9));
    let found = Store::open_read_only(&path).expect("a database").editions(None, None);
    assert_eq!(found.expect("rows").len(), 2000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn periods_follow_each_other_whatever_is_published(
        batches in prop::collection::vec(
            (prop::collection::vec((0..2_usize, 0..4_usize, 0..50_i64), 0..5), any::<bool>()), 1..8,
        )
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut store = store(folder.path());
        let mut last = [None; 2];
        // No two publications share a moment, even where the clock goes back.
        let mut number = 0;
        for (batch, comes_again) in batches {
            let batch: Vec<_> = batch
                .iter()
                .map(|&(site, id, from)| {
                    number += 1;
                    (["s", "t"][site], ["a", "b", "c", "d"][id], from * 100 + number)
                })
                .collect();
            for _ in 0..=usize::from(comes_again) {
                publish(&mut store, &batch);
            }
            for (site, id, _) in batch {
                last[usize::from(site == "t")] = Some(id);
            }
        }
        for (site, last) in ["s", "t"].into_iter().zip(last) {
            let periods = periods(&store, site);
            for pair in periods.windows(2) {
                prop_assert!(pair[0].1 <= pair[1].1 && pair[0].2 == Some(pair[1].1));
                prop_assert_ne!(&pair[0].0, &pair[1].0);
            }
            let in_force = periods.last().filter(|period| period.2.is_none());
            prop_assert_eq!(in_force.map(|period| period.0.as_str()), last);
            let named: HashSet<_> = periods.iter().map(|period| &period.0).collect();
            let found = ["a", "b", "c", "d"].map(|id| store.editions_by_id(id, Some(site)));
            prop_assert_eq!(found.into_iter().flatten().flatten().count(), named.len());
        }
    }
}

#[test]
fn an_edition_that_comes_back_in_the_same_moment_is_in_force() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = store(folder.path());
    publish(&mut store, &[("t", "d", 31), ("t", "a", 0)]);
    publish(&mut store, &[("t", "d", 31)]);
    let in_force: Vec<_> =
        periods(&store, "t").into_iter().filter(|period| period.2.is_none()).collect();
    assert_eq!(in_force, [("d".to_owned(), 31, None)]);
}

#[test]
fn the_latest_editions_come_first_and_the_rest_in_parts() {
    let mut both = Both::new();
    let ids = ["a", "b", "c", "d", "e"];
    let mut notes = Notes::default();
    for (id, from) in ids.into_iter().zip(0..) {
        notes.take(edition("s", id, from));
    }
    // Two files in turn, each read once.
    for from in 5..25 {
        notes.take(edition("s", ids[from as usize % 2], from));
    }
    notes.take(edition("t", "a", 3));
    both.add([], &notes, &[]);
    for (_, store) in both.stores() {
        come_in_parts(&store);
    }
}

fn come_in_parts(store: &Store) {
    let since = Timestamp::UNIX_EPOCH;
    let all = store.editions(None, Some(since)).expect("rows");
    let size = all[0].bytes.len();
    let shown = |rows: &[Edition]| -> Vec<String> {
        rows.iter().map(|row| format!("{} {} {}", row.site, row.id, row.from.as_second())).collect()
    };
    let (rows, rest) = store.latest_editions(since, None, usize::MAX).expect("rows");
    let mut expected = shown(&all);
    expected.sort();
    let mut found = shown(&rows);
    found.sort();
    assert_eq!((found, rest), (expected.clone(), None));
    // Parts of two files.
    let (mut found, mut rest) = store.latest_editions(since, None, 2 * size).expect("rows");
    assert!(found.iter().any(|row| row.site == "t" && row.until.is_none()), "it is in force");
    assert!(found.iter().filter(|row| row.site == "s").count() >= 20, "they share two files");
    while let Some(unread) = rest {
        let latest = all.iter().filter(|row| !found.contains(row)).filter_map(|row| row.until);
        assert_eq!(Some(unread.until), latest.max());
        let (more, next) = store.latest_editions(since, rest, 2 * size).expect("rows");
        assert!(more.windows(2).all(|pair| pair[0].from <= pair[1].from));
        found.extend(more);
        rest = next;
    }
    let mut found = shown(&found);
    found.sort();
    assert_eq!(found, expected);
}

#[test]
fn a_list_of_periods_has_the_latest_first_and_no_large_file() {
    let mut both = Both::new();
    let large = Edition { bytes: vec![b'x'; 70_000].into(), ..edition("a.example", "a", 10) };
    let others = [("a.example", "b", 20), ("b.example", "b", 25), ("a.example", "c", 30)];
    let others = others.map(|(site, id, from)| edition(site, id, from));
    both.add([], &notes(&[&[large][..], &others].concat()), &[]);
    let row = |id: &str, from, until, is_small| (id.to_owned(), from, until, is_small);
    let (a, b, c) =
        (row("a", 10, Some(20), false), row("b", 20, Some(30), true), row("c", 30, None, true));
    for (name, store) in both.stores() {
        let list = |since: Option<i64>, most| {
            let found = store.edition_periods("A.example", since.map(at), most).expect("rows");
            let found = found.into_iter().map(|one| {
                let until = one.until.map(|until| until.as_second());
                (one.id.to_string(), one.from.as_second(), until, one.bytes.is_some())
            });
            found.collect::<Vec<_>>()
        };
        assert_eq!(list(None, 9), [c.clone(), b.clone(), a.clone()], "{name}");
        assert_eq!(list(None, 1), [row("c", 30, None, true)], "{name}");
        assert_eq!(list(Some(25), 9), [c.clone(), b.clone()], "{name}");
    }
}
