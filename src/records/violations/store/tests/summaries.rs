//! Summaries of records change no answer: only how long it takes.

use std::{path::Path, time::Instant};

use jiff::SignedDuration;
use proptest::prelude::*;
use rusqlite::Connection;

use super::{appender, batch};
use crate::{
    base::text::Text,
    records::{
        record::{COLUMNS, Error, Filter, Obstacle, Violation},
        violations::{
            Store,
            notes::Notes,
            retention::Piece,
            size_limit::Kind,
            store::{
                blocks::{PARTS, Pace},
                connection::BLOCK,
                record_rows::violation as of_row,
            },
            tests::violation,
            writer::Target,
        },
    },
};

/// The sequence numbers of a small block, and of a large one.
const SMALL: i64 = 16;
const LARGE: i64 = PARTS * SMALL;

/// Something that happens to a database.
#[derive(Clone, Debug)]
enum Event {
    /// So many records are written.
    Write(usize),
    /// So many pieces are summarised.
    Summarise(usize),
    /// Records from before the time of this one go, by age.
    Age(u64),
    /// So many of the oldest records go, by size.
    Size(u64),
    /// Another hand runs this on the record, in percent of all sequence numbers.
    Foreign(&'static str, u64),
    Restart,
}

fn open(file: &Path) -> Store {
    let mut store = Store::open(file).expect("a database");
    store.block = SMALL;
    store
}

/// A record of random names, on a clock that jumps.
fn random(number: u64, seed: u64) -> Violation {
    let pick = |from: &[&'static str], at: u64| Text::word(from[(at % from.len() as u64) as usize]);
    let record = violation(number);
    let leap = if seed.is_multiple_of(7) { -90 } else { 0 };
    Violation {
        time: record.time + SignedDuration::from_secs(leap),
        site: pick(&["shop.example", "Shop.Example", "blog.example"], seed),
        product_token: pick(&["GPTBot", "gptbot", "B\u{f6}t", "CCBot"], seed >> 8),
        purpose: (!(seed >> 16).is_multiple_of(3)).then(|| pick(&["seo", "SEO", ""], seed >> 18)),
        action: pick(&["log", "block", "block", "block"], seed >> 24),
        path: pick(
            &[
                "/",
                "/a",
                "/a.pdf",
                "/a/b.pdf?x",
                "/b[1]",
                "/b/caf\u{e9}",
                "/b/caf\u{e9}/\u{ffff}.pdf",
            ],
            seed >> 32,
        ),
        ..record
    }
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let foreign = prop::sample::select(vec![
        "DELETE FROM violations WHERE sequence BETWEEN ?1 AND ?1 + 20",
        "DELETE FROM violations WHERE sequence = ?1",
        "UPDATE violations SET site = 'other.example', path = '/a' WHERE sequence = ?1",
        "UPDATE violations SET path = x'ff' WHERE sequence = ?1",
        "UPDATE violations SET purpose = 'a' || char(0) || 'b' WHERE sequence = ?1",
        "UPDATE violations SET robots_read_state = 'strange' WHERE sequence = ?1",
        "UPDATE record_blocks SET names = x'ff' WHERE first <= ?1 AND last >= ?1",
        "UPDATE record_block_paths SET paths = x'ffff' WHERE first <= ?1 AND first > ?1 - 9",
        "DELETE FROM record_block_paths WHERE first <= ?1 AND first > ?1 - 9",
        "DELETE FROM record_blocks WHERE first <= ?1 AND last >= ?1",
    ]);
    let event = prop_oneof![
        4 => (1..300_usize).prop_map(Event::Write),
        4 => (1..40_usize).prop_map(Event::Summarise),
        1 => (0..400_u64).prop_map(Event::Age),
        1 => (1..60_u64).prop_map(Event::Size),
        3 => (foreign, 0..100_u64).prop_map(|(sql, percent)| Event::Foreign(sql, percent)),
        1 => Just(Event::Restart),
    ];
    prop::collection::vec(event, 1..14)
}

fn filters() -> impl Strategy<Value = Filter> {
    let one_of = |texts: &'static [&'static str]| {
        let some = prop::sample::select(texts).prop_map(|text: &str| Some(text.to_owned()));
        prop_oneof![3 => Just(None), 2 => some]
    };
    let time = || prop_oneof![3 => Just(None), 1 => (0..900_u64).prop_map(Some)];
    (
        one_of(&["SHOP.example", "blog.example", "other.example", "absent"]),
        one_of(&["GPTBOT", "b\u{f6}t", "B\u{d6}T", "absent"]),
        one_of(&["Seo", "", "a", "absent"]),
        one_of(&["log", "Block", "absent"]),
        one_of(&["/", "/a$", "*.pdf$", "/b[", "/*caf\u{e9}/", "/a/b.pdf?x", "/absent", "*absent"]),
        (time(), time()),
    )
        .prop_map(|(site, product_token, purpose, action, path, (since, until))| Filter {
            site,
            product_token,
            purpose,
            action,
            path,
            since: since.map(|number| violation(number).time),
            until: until.map(|number| violation(number).time),
            ..Filter::default()
        })
}

/// All records that can be read, without a condition and without a summary.
fn all(store: &Store) -> Vec<(u64, Violation)> {
    let sql = format!("SELECT sequence, {COLUMNS} FROM violations ORDER BY sequence");
    let rows = store.all(&sql, [], |row| Ok(of_row(row).ok())).expect("rows");
    rows.into_iter().flatten().collect()
}

fn blocks(store: &Store) -> Vec<(i64, i64)> {
    let sql = "SELECT first, last + 1 FROM record_blocks ORDER BY first";
    store.all(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).expect("rows")
}

/// Compares the listing, page by page in both directions, and the count with a scan.
fn check(store: &Store, filter: &Filter, page: usize) -> Result<(), TestCaseError> {
    let expected: Vec<_> =
        all(store).into_iter().filter(|(_, record)| filter.matches(record)).collect();
    let (mut forward, mut after) = (Vec::new(), 0);
    loop {
        let filter = Filter { after_sequence: Some(after), limit: Some(page), ..filter.clone() };
        let listing = store.query(&filter).expect("rows");
        after = listing.end;
        let is_full = listing.records.len() == page;
        forward.extend(listing.records);
        if !is_full {
            break;
        }
    }
    prop_assert_eq!(&forward, &expected);
    let (mut backward, mut before) = (Vec::new(), None);
    loop {
        let filter = Filter { before_sequence: before, limit: Some(page), ..filter.clone() };
        let listing = store.query(&filter).expect("rows");
        before = listing.records.first().map(|(sequence, _)| *sequence);
        backward.splice(0..0, listing.records);
        if before.is_none() {
            break;
        }
    }
    prop_assert_eq!(&backward, &expected);
    prop_assert_eq!(&store.query(filter).expect("rows").records, &expected);
    let middle = expected.get(expected.len() / 2).map_or(7, |(sequence, _)| *sequence);
    for (after, before) in [(None, None), (Some(middle), None), (Some(3), Some(middle))] {
        let filter = Filter { after_sequence: after, before_sequence: before, ..filter.clone() };
        let is_one = |sequence: u64| {
            after.is_none_or(|after| sequence > after) && before.is_none_or(|at| sequence < at)
        };
        let count = expected.iter().filter(|(sequence, _)| is_one(*sequence)).count() as u64;
        // A count knows nothing of records that cannot be read.
        let unreadable = store.query(&filter).expect("rows").unreadable;
        prop_assert_eq!(store.count_records(&filter), Ok(count + unreadable));
    }
    Ok(())
}

fn happen(
    store: &mut Store,
    file: &Path,
    event: Event,
    written: &mut u64,
    seed: &mut u64,
) -> Result<(), Error> {
    match event {
        Event::Write(count) => {
            let records: Vec<_> = (*written..*written + count as u64)
                .map(|number| {
                    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(number | 1);
                    random(number, *seed >> 8)
                })
                .collect();
            *written += count as u64;
            store.add(&records, &Notes::default(), &[])?;
        }
        Event::Summarise(pieces) => {
            for _ in 0..pieces {
                store.summarise()?;
            }
        }
        Event::Age(number) => {
            let before = violation(number).time;
            store.prune(Piece { before, replaced_before: before, limit: 90 })?;
        }
        Event::Size(count) => drop(store.remove_oldest(Kind::Records, count)?),
        Event::Foreign(sql, percent) => {
            let sequence = (*written * percent / 100).cast_signed();
            store.attempt(|connection| connection.execute(sql, [sequence]))?;
        }
        Event::Restart => *store = open(file),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 32))]

    #[test]
    fn a_filter_lists_and_counts_what_a_scan_finds(
        events in events(),
        filters in prop::collection::vec(filters(), 3),
        page in 1..120_usize,
        mut seed in any::<u64>(),
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("beadle.db");
        let mut store = open(&file);
        let mut written = 0;
        happen(&mut store, &file, Event::Write(500), &mut written, &mut seed).expect("written");
        for event in events {
            happen(&mut store, &file, event, &mut written, &mut seed).expect("it happens");
            check(&store, &filters[0], page)?;
        }
        for filter in &filters {
            check(&store, filter, page)?;
        }
        // In the end, all that is full has a summary.
        let mut pieces = 0;
        while store.summarise().expect("summarised") {
            pieces += 1;
            prop_assert!(pieces < 4 * (written as i64 / SMALL + 2), "it comes to an end");
        }
        for filter in &filters {
            check(&store, filter, page)?;
        }
        let span = store.all("SELECT min(sequence), max(sequence) FROM violations", [], |row| {
            Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, Option<i64>>(1)?))
        });
        if let (Some(oldest), Some(latest)) = span.expect("a row")[0] {
            let mut end = oldest / SMALL * SMALL;
            for (first, next) in blocks(&store).into_iter().filter(|(_, next)| *next > oldest) {
                prop_assert!(first <= end, "{} {}", first, end);
                end = next;
            }
            prop_assert!(latest - end < SMALL);
        }
    }
}

/// A database with so many records and all summaries.
fn summarised(file: &Path, records: u64) -> Store {
    let mut store = open(file);
    let records: Vec<_> = (0..records).map(violation).collect();
    store.add(&records, &Notes::default(), &[]).expect("added");
    while store.summarise().expect("summarised") {}
    store
}

#[test]
fn small_blocks_become_large_ones_and_a_removal_leaves_gaps() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = summarised(&folder.path().join("beadle.db"), 300);
    let small = |number: i64| (number * SMALL, (number + 1) * SMALL);
    assert_eq!(blocks(&store), [(0, LARGE), small(15), small(16), small(17)]);
    let records = "SELECT records FROM record_blocks ORDER BY first";
    let records = store.all(records, [], |row| row.get::<_, i64>(0)).expect("rows");
    assert_eq!(records, [239, 16, 16, 16], "the first sequence number is 1");

    let gaps = |store: &Store| {
        let sql = "SELECT first FROM record_blocks WHERE has_gaps";
        store.all(sql, [], |row| row.get::<_, i64>(0)).expect("rows")
    };
    assert_eq!(gaps(&store), [0; 0]);
    store.remove_oldest(Kind::Records, 100).expect("removed");
    assert_eq!((gaps(&store), blocks(&store).len()), (vec![0], 4));
    store.remove_oldest(Kind::Records, 139).expect("removed");
    assert_eq!(blocks(&store), [small(15), small(16), small(17)]);
    let before = violation(260).time;
    store.prune(Piece { before, replaced_before: before, limit: 90 }).expect("pruned");
    assert_eq!((gaps(&store), blocks(&store)), (vec![256], vec![small(16), small(17)]));
    let parts = "SELECT first FROM record_block_paths ORDER BY first";
    assert_eq!(store.all(parts, [], |row| row.get::<_, i64>(0)).expect("rows"), [256, 272]);
    // A foreign change makes the summary anew.
    let sql = "UPDATE violations SET action = 'log' WHERE sequence = 280";
    store.connection.execute(sql, []).expect("a row");
    assert_eq!(blocks(&store), [small(16)]);
    while store.summarise().expect("summarised") {}
    assert_eq!(blocks(&store), [small(16), small(17)]);
}

#[test]
fn a_wrong_summary_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("beadle.db");
    let store = summarised(&file, 300);
    let faults = || {
        let found = Store::open_to_examine(&file).expect("ours").examine().expect("it is read");
        let summaries = found.faults.into_iter().filter(|fault| fault.code == "store.summaries");
        summaries.map(|fault| fault.message).collect::<Vec<_>>()
    };
    assert_eq!(faults(), [""; 0]);
    let sql = "UPDATE record_blocks SET names_of = zeroblob(length(names_of)) WHERE first = 256";
    store.connection.execute(sql, []).expect("a row");
    store.connection.execute("DELETE FROM record_block_paths WHERE first = 0", []).expect("a row");
    let found = faults();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("0 to 239 ") && found[1].contains("256 to 271 "), "{found:?}");
    store.connection.execute("DELETE FROM record_blocks", []).expect("rows");
    assert_eq!(faults(), [""; 0]);
}

#[test]
fn a_search_reads_only_records_that_it_lists() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = summarised(&folder.path().join("beadle.db"), 1_000);
    // Whoever looks at another record finds it unreadable.
    let sql = "UPDATE violations SET robots_read_state = '?' WHERE path NOT LIKE '%/77%'";
    store.connection.execute(sql, []).expect("rows");
    let path = Some("/*/77".to_owned());
    let filter = Filter { path, limit: Some(9), ..Filter::default() };
    let listing = store.query(&filter).expect("rows");
    assert_eq!(listing.unreadable, 0);
    assert!(!listing.records.is_empty());
}

#[test]
fn a_database_of_the_version_before_is_summarised_while_it_is_used() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("beadle.db");
    let mut store = Store::open(&file).expect("a database");
    let records: Vec<_> = (0..700).map(violation).collect();
    store.add(&records, &Notes::default(), &[]).expect("added");
    let back = "DROP TRIGGER record_blocks_removed; DROP TRIGGER violations_changed;
        DROP TRIGGER violations_removed; DROP TABLE record_block_paths; DROP TABLE record_blocks;
        DROP INDEX rollups_unrecorded; DROP TABLE counted_hours; DROP TABLE probed;
        DROP TABLE policy_history; DROP TABLE policy_files; ALTER TABLE held_robots DROP COLUMN discarded;
        PRAGMA user_version = 5";
    store.connection.execute_batch(back).expect("the tables of version 5");
    drop(store);
    let error = Store::open_read_only(&file).expect_err("nothing is changed by reading");
    assert_eq!(error.obstacle, Obstacle::Older);

    let mut appender = appender(&file);
    appender.store.as_mut().expect("it is open").block = SMALL;
    let filter = Filter { site: Some("SHOP.example".to_owned()), ..Filter::default() };
    let reader = Store::open_read_only(&file).expect("it is up to date");
    assert!(blocks(&reader).is_empty());
    check(&reader, &filter, 50).expect("the same as a scan");
    appender.append(&batch(700..710)).expect("records go first");
    let mut found = 0;
    super::eventually("summarised", || {
        appender.tend().expect("no trouble");
        let now = blocks(&reader);
        if now.len() != found {
            found = now.len();
            check(&reader, &filter, 50).expect("the same as a scan");
        }
        // Two large blocks, and the small ones behind them.
        now.len() == (2 + (711 - 2 * LARGE) / SMALL) as usize
    });
}

#[test]
fn summaries_leave_the_writer_most_of_its_time() {
    let start = Instant::now();
    let after = |milliseconds| start + std::time::Duration::from_millis(milliseconds);
    let mut pace = Pace::new(start);
    assert!(pace.is_due(start));
    pace.did(true, start, after(10));
    assert!(!pace.is_due(after(19)) && pace.is_due(after(20)), "there is nothing else to do");
    pace.note(BLOCK as usize, after(15));
    assert!(!pace.is_due(after(19)), "more is missing in any case");
    pace.did(true, start, after(10));
    assert!(!pace.is_due(after(49)) && pace.is_due(after(50)), "there are many records");
    pace.did(false, after(50), after(51));
    assert!(!pace.is_due(after(10_050)) && pace.is_due(after(10_051)));
    pace.note(BLOCK as usize - 1, after(60));
    assert!(!pace.is_due(after(60)));
    pace.note(1, after(60));
    assert!(pace.is_due(after(60)), "a block is full");
    pace.put_off(after(60));
    assert!(!pace.is_due(after(60_059)) && pace.is_due(after(60_060)));
}

#[test]
fn a_reader_that_holds_the_log_keeps_no_summary_from_being_made() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("beadle.db");
    let mut appender = appender(&file);
    appender.store.as_mut().expect("it is open").block = SMALL;
    appender.append(&batch(0..40)).expect("added");
    let reader = super::damaged::reader(&file);
    appender.append(&batch(40..50)).expect("added");
    assert!(appender.is_log_held);
    let store = Store::open_read_only(&file).expect("a database");
    super::eventually("summarised", || {
        appender.tend().expect("no trouble");
        blocks(&store).len() == 3
    });
    drop(reader);
}

#[test]
fn a_summary_that_fails_costs_no_record() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("beadle.db");
    let mut appender = appender(&file);
    appender.store.as_mut().expect("it is open").block = SMALL;
    let other = Connection::open(&file).expect("a second connection");
    other.execute_batch("DROP TABLE record_block_paths").expect("dropped");
    appender.append(&batch(0..40)).expect("added");
    appender.tend().expect("nothing stops the writing");
    appender.append(&batch(40..50)).expect("added");
    assert_eq!(super::count(&file), 50);
}
