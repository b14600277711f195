use std::{
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use jiff::Timestamp;
use rusqlite::Connection;

use super::{Appender, Store, appender, record_rows, removal::Removal};
use crate::{
    base::text::Text,
    records::{
        lines::LogTarget,
        record::{Error, Fetch, Filter, Obstacle, Overflow, Violation},
        violations::{
            Counts, Health, Note, NoteCounts, OnDamage, Settings, Sink,
            fill::Limits,
            notes::{Notes, Recollection},
            queue::Batch,
            retention::Piece,
            tests::{edition, eventually, fetch, violation},
            writer::Target,
        },
    },
};

pub(in crate::records::violations) mod both;
mod counts_by_hour;
mod damaged;
mod fleet;
mod listings;
mod size;
mod summaries;

#[test]
fn a_write_that_the_system_refuses_names_what_to_look_at() {
    for (code, expected) in [
        (rusqlite::ffi::SQLITE_IOERR_WRITE, "store.not_written"),
        (rusqlite::ffi::SQLITE_IOERR_FSYNC, "store.not_written"),
        (rusqlite::ffi::SQLITE_FULL, "store.full"),
        (rusqlite::ffi::SQLITE_IOERR_READ, "store.failed"),
        (rusqlite::ffi::SQLITE_READONLY, "store.denied"),
    ] {
        let error = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None);
        let error = crate::records::lines::database_failure(Path::new("x.db"), error);
        assert_eq!(error.code(), expected, "{code}: {error}");
        assert_eq!(
            error.to_string().contains("quota"),
            expected != "store.failed" && expected != "store.denied"
        );
    }
}

/// The number of the next batch.
static BATCHES: AtomicU64 = AtomicU64::new(1);

fn batch(numbers: std::ops::Range<u64>) -> Batch {
    Batch {
        number: BATCHES.fetch_add(1, Ordering::Relaxed),
        records: numbers.map(|number| Arc::new(violation(number).into())).collect(),
        ..Batch::default()
    }
}

impl Store {
    /// Adds rows without the number of a batch.
    pub(super) fn add<'a>(
        &mut self,
        records: impl IntoIterator<Item = &'a Violation>,
        notes: &Notes,
        overflow: &[Overflow],
    ) -> Result<(), Error> {
        let records: Vec<_> = records.into_iter().collect();
        self.attempt(|connection| {
            let transaction = connection.transaction()?;
            appender::add(&transaction, &records, notes, overflow)?;
            transaction.commit()
        })
    }
}

fn count(path: &Path) -> usize {
    let store = Store::open_read_only(path).expect("a database");
    store.query(&Filter::default()).expect("rows").records.len()
}

fn sink(path: &Path, queue: usize) -> Sink {
    let settings = Settings { database: Some(path.to_owned()), queue, ..Settings::default() };
    Sink::start(settings).expect("a sink")
}

#[test]
fn the_writer_updates_a_database_of_an_older_version() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("beadle.db");
    let connection = Connection::open(&file).expect("a file");
    connection.execute_batch(include_str!("schema.sql")).expect("it runs");
    connection
        .execute_batch("PRAGMA application_id = 0x42454144; PRAGMA user_version = 1")
        .expect("it runs");
    drop(connection);
    let error = Store::open_read_only(&file).expect_err("nothing is changed by reading");
    assert_eq!(error.code(), "store.older");
    assert!(error.to_string().contains("beadle serve"), "{error}");
    let mut store = Store::open(&file).expect("a database");
    store.add([&violation(0)], &Notes::default(), &[]).expect("added");
    drop(store);
    let store = Store::open_read_only(&file).expect("it is up to date");
    let found = store.query(&Filter::default()).expect("rows").records;
    assert_eq!(found[0].1, violation(0));
}

#[test]
fn an_update_keeps_fetches_and_editions() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("beadle.db");
    let connection = Connection::open(&file).expect("a file");
    connection.execute_batch(include_str!("schema.sql")).expect("it runs");
    let sql = "ALTER TABLE violations ADD COLUMN evidence TEXT;
        PRAGMA application_id = 0x42454144; PRAGMA user_version = 2;
        INSERT INTO fetches VALUES ('b', 'CCBot', 'ff', 2000), ('a', 'GPTBot', '00', 1500)";
    connection.execute_batch(sql).expect("it runs");
    let mut old = violation(0);
    old.robots_read.edition = Some(Text::word("beef"));
    record_rows::add(&connection, &[&old]).expect("the columns are the same");
    drop(connection);
    let error = Store::open_read_only(&file).expect_err("nothing is changed by reading");
    assert_eq!(error.obstacle, Obstacle::Older);
    let error = Store::open_existing(&file).expect_err("nor by a command");
    assert_eq!(error.obstacle, Obstacle::Older);
    let mut store = Store::open(&file).expect("a database");
    let unknown = |fetch| Fetch { standing: Text::word("unknown"), ..fetch };
    let mut expected =
        [unknown(fetch("a", "GPTBot", "-", "00", 0)), unknown(fetch("b", "CCBot", "-", "ff", 2))];
    expected[0].first = Timestamp::from_millisecond(1500).expect("a time");
    expected[0].last = expected[0].first;
    assert_eq!(store.fetches().expect("rows"), expected);
    assert_eq!(store.query(&Filter::default()).expect("rows").records[0].1, old);
    assert_eq!((store.editions(None, None), store.quarantine()), (Ok(vec![]), Ok(vec![])));
    // What the old record names stays for as long as the record does.
    let mut notes = Notes::default();
    for (id, from) in [("beef", 1), ("cafe", 2), ("00", 3)] {
        notes.take(edition("a", id, from));
    }
    store.add([], &notes, &[]).expect("added");
    let before = old.time;
    store.prune(Piece { before, replaced_before: before, limit: 9 }).expect("pruned");
    let kept: Vec<_> = store.editions(None, None).expect("rows");
    assert_eq!(kept.iter().map(|e| e.id.as_str()).collect::<Vec<_>>(), ["beef", "00"]);
}

#[test]
fn a_file_that_is_no_database_of_beadle_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name);
    fs::write(file("text"), "not a database, but a text that is long enough to be one".repeat(40))
        .expect("written");
    for (name, sql) in [
        ("foreign", "CREATE TABLE t (x)"),
        ("foreign_version", "PRAGMA user_version = 1"),
        (
            "newer",
            "PRAGMA application_id = 0x42454144; PRAGMA user_version = 99; CREATE TABLE t (x)",
        ),
    ] {
        let connection = Connection::open(file(name)).expect("a file");
        connection.execute_batch(sql).expect("it runs");
    }
    for (path, code, says) in [
        (file("none/beadle.db"), "store.no_folder", "mkdir -p '"),
        (folder.path().to_owned(), "store.no_regular_file", "name a file"),
        (file("text"), "store.no_database", "name another file"),
        (file("foreign"), "store.foreign", "another program"),
        (file("foreign_version"), "store.foreign", "another program"),
        (file("newer"), "store.newer", "as schema 99"),
        ("/proc/beadle.db".into(), "store.no_file", "correct the path"),
        ("/dev/null".into(), "store.no_regular_file", "name a file"),
    ] {
        let before = path.is_file().then(|| fs::read(&path).expect("a file"));
        let settings = Settings { database: Some(path.clone()), ..Settings::default() };
        let error = Sink::start(settings).expect_err("refused");
        let text = error.to_string();
        assert_eq!(error.code(), code, "{text}");
        assert!(text.contains(says) && text.contains(&*path.to_string_lossy()), "{text}");
        assert_eq!(path.is_file().then(|| fs::read(&path).expect("a file")), before, "{text}");
    }
    // The disk was full before the tables were created.
    let connection = Connection::open(file("empty")).expect("a file");
    connection.execute_batch("PRAGMA journal_mode = wal").expect("it runs");
    for (name, code) in [
        ("none.db", "store.no_file"),
        ("text", "store.no_database"),
        ("foreign", "store.foreign"),
        ("empty", "store.empty"),
    ] {
        assert_eq!(Store::open_read_only(&file(name)).expect_err("refused").code(), code);
    }
}

#[test]
fn a_locked_database_delays_nothing_and_loses_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("beadle.db");
    let log = folder.path().join("violations.jsonl");
    let sink = Sink::start(Settings {
        database: Some(path.clone()),
        log: Some(LogTarget::File(log)),
        ..Settings::default()
    })
    .expect("a sink");
    let other = Connection::open(&path).expect("a second connection");
    other.execute_batch("BEGIN EXCLUSIVE").expect("a lock");
    (0..1000).for_each(|number| sink.record(violation(number)));
    eventually("degraded", || sink.health() != Health::Ok);
    let Health::Degraded(reason) = sink.health() else { panic!("just seen to be degraded") };
    assert!(reason.contains("locked by another process"), "{reason}");
    assert_eq!(
        sink.counts(),
        Counts { seen: 1000, stored: 0, folded: 0, dropped: 0, queued: 1000 }
    );
    eventually("logged", || sink.log_counts().expect("a log").stored == 1000);
    sink.note(edition("shop.example", "00ff", 1));
    sink.note(fetch("shop.example", "GPTBot", "-", "00ff", 1));
    sink.note(Note::Released(Text::word("shop.example")));
    assert!(sink.close(Duration::ZERO).dropped == 1000, "the time was up");
    assert_eq!(
        sink.lost(),
        NoteCounts { editions: 1, fetches: 1, quarantine: 1, ..NoteCounts::default() }
    );
    let drops = sink.drops();
    let causes: Vec<_> = drops.iter().map(|one| (one.destination, one.cause, one.count)).collect();
    assert_eq!(causes, [("database", "store.locked", 1000)]);
    drop(sink);
    assert_eq!(count(&path), 0);

    let sink = self::sink(&path, 8192);
    (0..1000).for_each(|number| sink.record(violation(number)));
    eventually("degraded", || sink.health() != Health::Ok);
    other.execute_batch("ROLLBACK").expect("unlocked");
    eventually("stored", || sink.counts().stored == 1000);
    assert_eq!(sink.health(), Health::Ok);
    assert_eq!(count(&path), 1000);
}

#[test]
fn overflow_is_written_once_there_is_room() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("beadle.db");
    let sink = sink(&path, 10);
    let other = Connection::open(&path).expect("a second connection");
    other.execute_batch("BEGIN IMMEDIATE").expect("a lock");
    (0..100).for_each(|number| sink.record(violation(number)));
    assert_eq!(sink.counts(), Counts { seen: 100, stored: 0, folded: 0, dropped: 90, queued: 10 });
    assert_ne!(sink.health(), Health::Ok);
    other.execute_batch("ROLLBACK").expect("unlocked");
    eventually("stored", || sink.counts().queued == 0 && sink.health() == Health::Ok);
    sink.close(Duration::from_secs(9));
    let overflow = Store::open_read_only(&path).expect("a database").overflow().expect("rows");
    assert_eq!(overflow, sink.overflow());
    assert_eq!(overflow.iter().map(|o| o.count).sum::<u64>(), 90);
    assert_eq!(overflow.iter().map(|o| o.first).min(), Some(violation(10).time));
    assert_eq!(overflow.iter().map(|o| o.last).max(), Some(violation(99).time));
}

#[test]
fn the_latest_fetch_of_each_crawler_from_each_network_survives_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("beadle.db");
    let later = |token, network, count: u64, last| Fetch {
        first: Timestamp::from_second(10).expect("a time"),
        count,
        interval: Some(Duration::from_secs(3600)),
        standing: Text::word("contradicted"),
        ..fetch("a", token, network, "2", last)
    };
    for fetches in [
        vec![
            fetch("a", "GPTBot", "192.0.2.0/24", "1", 10),
            fetch("b", "GPTBot", "192.0.2.0/24", "1", 11),
            fetch("a", "GPTBot", "2001:db8::/48", "1", 12),
            fetch("a", "CCBot", "-", "1", 13),
        ],
        vec![
            Fetch { first: Timestamp::UNIX_EPOCH, ..later("gptbot", "192.0.2.0/24", 7, 20) },
            fetch("a", "CCBot", "-", "0", 5),
            later("GPTBot", "198.51.100.0/24", u64::MAX, 30),
        ],
    ] {
        let sink = sink(&path, 10);
        fetches.into_iter().for_each(|fetch| sink.note(fetch));
        sink.close(Duration::from_secs(9));
    }
    let fetches = Store::open_read_only(&path).expect("a database").fetches().expect("rows");
    let earlier = Timestamp::from_second(5).expect("a time");
    let expected = [
        fetch("b", "GPTBot", "192.0.2.0/24", "1", 11),
        fetch("a", "GPTBot", "2001:db8::/48", "1", 12),
        Fetch { first: earlier, ..fetch("a", "CCBot", "-", "1", 13) },
        Fetch { first: Timestamp::UNIX_EPOCH, ..later("GPTBot", "192.0.2.0/24", 7, 20) },
        later("GPTBot", "198.51.100.0/24", i64::MAX.unsigned_abs(), 30),
    ];
    assert_eq!(fetches, expected);
}

#[test]
fn a_fetch_that_a_wrong_clock_dated_ahead_gives_way_to_the_next() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = Store::open(&folder.path().join("beadle.db")).expect("a database");
    let now = Timestamp::now().as_second();
    // A clock that is some seconds ahead of another is not wrong.
    for (edition, at, kept) in
        [("a", now + 30, "a"), ("b", now, "a"), ("c", now + 86_400, "c"), ("d", now, "d")]
    {
        let mut notes = Notes::default();
        notes.take(fetch("s", "GPTBot", "192.0.2.0/24", edition, at));
        store.add([], &notes, &[]).expect("added");
        let found = store.fetches().expect("rows");
        assert_eq!((found.len(), found[0].edition.as_str()), (1, kept));
        assert_eq!(found[0].first.as_second(), if edition == "a" { at } else { now });
    }
    assert_eq!(store.fetches().expect("rows")[0].last.as_second(), now);
}

fn appender(path: &Path) -> Appender {
    Appender::open(path, OnDamage::Keep, Recollection::default(), Limits::default())
        .expect("a database")
        .0
}

#[test]
fn a_batch_that_comes_again_is_kept_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("beadle.db");
    let mut appender = appender(&path);
    appender.append(&batch(0..3)).expect("added");
    appender.append(&batch(0..5)).expect("added");
    assert_eq!(count(&path), 5);
}

#[test]
fn a_full_database_takes_the_batch_when_there_is_room() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("beadle.db");
    let mut appender = appender(&path);
    let store = appender.store.as_ref().expect("just opened");
    let pages = |count: i64| {
        store.connection.query_row(&format!("PRAGMA max_page_count = {count}"), [], |_| Ok(()))
    };
    pages(12).expect("set");
    let error = appender.append(&batch(0..256)).expect_err("there is no room");
    assert_eq!(error, Error::new(&path, Obstacle::Full));
    assert_eq!(count(&path), 0, "all or nothing");
    appender.append(&batch(0..256)).expect("opened again, without the bound");
    assert_eq!(count(&path), 256);
}

#[test]
fn a_deleted_database_is_noticed_and_created_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("beadle.db");
    let mut appender = appender(&path);
    appender.append(&batch(0..3)).expect("added");
    for name in ["beadle.db", "beadle.db-wal", "beadle.db-shm"] {
        fs::remove_file(folder.path().join(name)).expect("it was there");
    }
    let error = appender.append(&batch(3..5)).expect_err("it would be lost");
    assert_eq!(error.obstacle, Obstacle::Displaced);
    appender.append(&batch(3..5)).expect("a new one");
    assert_eq!(count(&path), 2);
    assert_eq!(appender.limits.fill.removed().by_loss, 3, "those of the deleted one");
    fs::File::create(&path).expect("emptied");
    let error = appender.append(&batch(5..6)).expect_err("it would be lost");
    assert_eq!(error.obstacle, Obstacle::Truncated);
    appender.append(&batch(5..6)).expect("a new one");
    assert_eq!((count(&path), appender.limits.fill.removed().by_loss), (1, 5));
}

#[test]
fn a_database_that_is_lost_between_a_write_and_its_end_is_noticed() {
    type Loss = fn(&Path, &Path);
    let losses: [(Loss, Obstacle); 3] = [
        (|path, _| fs::remove_file(path).expect("it was there"), Obstacle::Displaced),
        (|path, other| fs::rename(other, path).expect("replaced"), Obstacle::Displaced),
        (|path, _| drop(fs::File::create(path).expect("emptied")), Obstacle::Truncated),
    ];
    for (lose, obstacle) in losses {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("beadle.db");
        let other = folder.path().join("other.db");
        drop(Store::open(&other).expect("a database"));
        let mut appender = appender(&path);
        appender.append(&batch(0..3)).expect("added");
        lose(&path, &other);
        // A write empties the log too, and looks at the files afterwards.
        appender.empty_log().expect("the open file takes it");
        let error = appender.append(&batch(3..5)).expect_err("it would be lost");
        assert_eq!(error.obstacle, obstacle);
        appender.append(&batch(3..5)).expect("into the new one");
        assert_eq!(count(&path), 2);
    }
}

#[test]
fn pruning_takes_the_oldest_and_never_gives_a_sequence_number_twice() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("beadle.db");
    let mut store = Store::open(&path).expect("a database");
    let add = |store: &mut Store, numbers: std::ops::Range<u64>| {
        let records: Vec<_> = numbers.map(violation).collect();
        store.add(&records, &Notes::default(), &[]).expect("added");
    };
    let piece = |number, limit| {
        let before = violation(number).time;
        Piece { before, replaced_before: before, limit }
    };
    add(&mut store, 0..10);
    assert_eq!(store.extent(), Ok(10));
    assert_eq!(store.prune(piece(5, 3)).map(Removal::most), Ok(3));
    assert_eq!(store.prune(piece(5, 9)).map(Removal::most), Ok(2));
    assert_eq!(store.prune(piece(5, 9)).map(Removal::most), Ok(0));
    assert_eq!(store.extent(), Ok(5));
    assert_eq!(store.prune(piece(1_000_000, 99)).map(Removal::most), Ok(5));
    assert_eq!(store.extent(), Ok(0));
    add(&mut store, 10..11);
    assert_eq!(store.query(&Filter::default()).expect("rows").end, 11);
}
