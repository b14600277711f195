//! Databases that are damaged, moved or truncated.

use std::path::PathBuf;

use super::*;
use crate::records::{
    record::{ClockLeap, Edition, HostPeriod},
    violations::{Drops, History},
};

/// Damages the bytes of a file.
type Damage = fn(&mut Vec<u8>);

const DAMAGES: [(&str, Damage); 8] = [
    ("overwritten in the middle", |bytes| {
        let half = bytes.len() / 2;
        bytes[half..half + 20_000].fill(0xa5);
    }),
    ("overwritten at its start", |bytes| bytes[..16].fill(0xa5)),
    ("with a first page of zeros", |bytes| bytes[..4096].fill(0)),
    ("overwritten behind its first words", |bytes| bytes[16..20_000].fill(0xff)),
    ("without its first page", |bytes| bytes[100..4096].fill(0)),
    ("cut in the middle", |bytes| bytes.truncate(bytes.len() / 2)),
    ("cut inside a page", |bytes| bytes.truncate(bytes.len() - 1000)),
    ("cut inside its header", |bytes| bytes.truncate(50)),
];

/// A folder with a damaged database of 500 records.
fn damaged(damage: Damage) -> (tempfile::TempDir, PathBuf, Vec<u8>) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("beadle.db");
    let mut store = Store::open(&path).expect("a database");
    let records: Vec<_> = (0..500).map(violation).collect();
    store.add(&records, &Notes::default(), &[]).expect("added");
    drop(store);
    let mut bytes = fs::read(&path).expect("a file");
    damage(&mut bytes);
    fs::write(&path, &bytes).expect("written");
    (folder, path, bytes)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    entries.map(|entry| name(entry.expect("an entry"))).collect()
}

#[test]
fn s144_a_damaged_database_stops_nothing_and_stays_as_it_is() {
    for (what, damage) in DAMAGES {
        let (folder, path, bytes) = damaged(damage);
        let sink = sink(&path, 8192);
        let Health::Degraded(reason) = sink.health() else { panic!("{what}: not noticed") };
        assert!(reason.contains("is damaged") && reason.contains("restore a copy"), "{reason}");
        (0..300).for_each(|number| sink.record(violation(number)));
        sink.note(edition("shop.example", "00ff", 1));
        sink.note(fetch("shop.example", "GPTBot", "-", "00ff", 1));
        assert_eq!(
            sink.counts(),
            Counts { seen: 300, stored: 0, folded: 0, dropped: 0, queued: 300 }
        );
        assert_eq!(sink.close(Duration::from_secs(9)).dropped, 300, "{what}");
        let drops = Drops { destination: "database", cause: "store.corrupt", count: 300 };
        assert_eq!(sink.drops(), [drops], "{what}");
        assert_eq!(sink.lost(), NoteCounts { editions: 1, fetches: 1, ..NoteCounts::default() });
        drop(sink);
        assert_eq!(fs::read(&path).expect("a file"), bytes, "{what}");
        assert!(names(folder.path()).iter().all(|name| !name.contains("damaged")), "{what}");
    }
}

#[test]
fn a_damaged_database_takes_the_waiting_records_once_it_is_replaced() {
    let (folder, path, bytes) = damaged(DAMAGES[0].1);
    let sink = sink(&path, 8192);
    (0..300).for_each(|number| sink.record(violation(number)));
    fs::rename(&path, folder.path().join("away.db")).expect("renamed");
    eventually("stored", || sink.counts().stored == 300);
    eventually("noticed", || sink.health() == Health::Ok);
    assert_eq!(count(&path), 300);
    assert_eq!(fs::read(folder.path().join("away.db")).expect("a file"), bytes);
}

#[test]
fn a_damaged_database_is_moved_aside_if_the_policy_says_so() {
    for (what, damage) in DAMAGES {
        let (folder, path, bytes) = damaged(damage);
        let settings = || Settings {
            database: Some(path.clone()),
            on_damage: OnDamage::Rotate,
            ..Settings::default()
        };
        let sink = Sink::start(settings()).expect("a sink");
        assert_eq!(sink.health(), Health::Ok, "{what}");
        (0..300).for_each(|number| sink.record(violation(number)));
        assert_eq!(sink.close(Duration::from_secs(9)).stored, 300, "{what}");
        drop(sink);
        let aside = names(folder.path());
        let aside: Vec<_> = aside.iter().filter(|name| name.contains(".damaged-")).collect();
        let [aside] = aside.as_slice() else { panic!("{what}: {aside:?}") };
        assert_eq!(fs::read(folder.path().join(aside)).expect("a file"), bytes, "{what}");
        drop(Sink::start(settings()).expect("a sink"));
        assert_eq!(count(&path), 300, "{what}: a whole one stays");
    }
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).expect("a time")
}

/// Two editions, of which one came back, a host that moved, a jump of the clock, and a fetch.
fn history() -> History {
    let until = |until, edition| Edition { until: Some(at(until)), ..edition };
    let period = |host, site, from, until: Option<i64>| HostPeriod {
        host: Text::word(host),
        site: Text::word(site),
        from: at(from),
        until: until.map(at),
    };
    History {
        editions: vec![
            until(20, edition("shop.example", "00ff", 10)),
            until(30, edition("shop.example", "11ff", 20)),
            edition("shop.example", "00ff", 30),
        ],
        hosts: vec![
            period("a.example", "b.example", 5, Some(15)),
            period("a.example", "shop.example", 15, None),
        ],
        leaps: vec![ClockLeap { at: at(7), by: Duration::from_secs(100) }],
        fetches: vec![fetch("shop.example", "GPTBot", "192.0.2.0/24", "11ff", 25)],
    }
}

/// The history in a database.
fn stored(path: &Path) -> History {
    let store = Store::open_read_only(path).expect("a database");
    History {
        editions: store.editions(None, None).expect("rows"),
        hosts: store.hosts(Timestamp::MIN).expect("rows"),
        leaps: store.clock_leaps(Timestamp::MIN).expect("rows"),
        fetches: store.fetches().expect("rows"),
    }
}

#[test]
fn a_history_comes_into_a_database_that_has_a_part_of_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = history();
    for number in 0..8 {
        let path = folder.path().join(format!("{number}.db"));
        let mut store = Store::open(&path).expect("a database");
        // A copy from an earlier time: one period is open that has ended since.
        let mut earlier = History { editions: whole.editions[..number % 4].to_vec(), ..history() };
        earlier.editions.iter_mut().rev().take(1).for_each(|last| last.until = None);
        earlier.hosts.truncate(number % 3);
        earlier.hosts.iter_mut().rev().take(1).for_each(|last| last.until = None);
        earlier.fetches.truncate(number % 2);
        store.restore(&earlier).expect("written");
        assert_eq!(stored(&path), earlier, "{number}");
        for _ in 0..2 {
            store.restore(&whole).expect("written");
            assert_eq!(stored(&path), whole, "{number}");
        }
        // Publications that waited meanwhile come again.
        for editions in [&whole.editions[..], &whole.editions[..1], &whole.editions[1..2]] {
            let mut notes = Notes::default();
            let again = |edition: &Edition| Edition { until: None, ..edition.clone() };
            for edition in editions {
                notes.take(again(edition));
            }
            store.add([], &notes, &[]).expect("written");
            assert_eq!(stored(&path), whole, "{number}");
        }
    }
}

#[test]
fn a_database_that_another_program_writes_is_inspected() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("beadle.db");
    let mut appender = appender(&path);
    appender.append(&batch(0..300)).expect("added");
    let sees = |appender: &mut Appender, is_damaged: bool| {
        let start = std::time::Instant::now();
        eventually("inspected", || {
            // It is inspected a second after the last time.
            let damaged = appender.tend().is_err_and(|error| error.is_damage());
            damaged == is_damaged && (is_damaged || start.elapsed() > Duration::from_secs(2))
        });
    };
    let other = Connection::open(&path).expect("a connection");
    other.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)").expect("written");
    sees(&mut appender, false);
    let mut bytes = fs::read(&path).expect("a file");
    bytes[4096 * 2..4096 * 6].fill(0xa5);
    fs::write(&path, &bytes).expect("written");
    sees(&mut appender, true);
    drop(appender);
    assert_eq!(fs::read(&path).expect("a file"), bytes, "it stays as it is");
}

#[test]
fn damage_while_it_is_in_use_is_noticed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("beadle.db");
    for (on_damage, left) in [(OnDamage::Keep, 0), (OnDamage::Rotate, 1)] {
        let settings = Settings { database: Some(path.clone()), on_damage, ..Settings::default() };
        let sink = Sink::start(settings).expect("a sink");
        sink.remember(history);
        (0..2000).for_each(|number| sink.record(violation(number)));
        eventually("stored", || sink.counts().queued == 0);
        let length = fs::metadata(&path).expect("a file").len();
        let file = fs::OpenOptions::new().write(true).open(&path).expect("a file");
        file.set_len(length / 2).expect("cut");
        (2000..2100).for_each(|number| sink.record(violation(number)));
        if on_damage == OnDamage::Rotate {
            eventually("written to a new one", || sink.counts().stored == 2100);
            assert_eq!(stored(&path), history());
        } else {
            eventually(
                "noticed",
                || matches!(sink.health(), Health::Degraded(why) if why.contains("is damaged")),
            );
            assert_eq!(sink.counts().stored, 2000);
        }
        sink.close(Duration::from_secs(9));
        drop(sink);
        let aside = names(folder.path());
        assert_eq!(aside.iter().filter(|name| name.contains(".damaged-")).count(), left);
        for name in aside {
            fs::remove_file(folder.path().join(name)).expect("removed");
        }
    }
}

fn truncate(file: &Path, length: u64) {
    let file = fs::OpenOptions::new().write(true).open(file).expect("a file");
    file.set_len(length).expect("cut");
}

/// A reader, which keeps SQLite from copying and emptying the log.
pub(super) fn reader(path: &Path) -> Connection {
    let reader = Connection::open(path).expect("a connection");
    reader.execute_batch("BEGIN; SELECT count(*) FROM violations").expect("it reads");
    reader
}

#[test]
fn a_truncated_log_loses_nothing_that_was_acknowledged() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("beadle.db");
    let log = folder.path().join("beadle.db-wal");
    let mut appender = appender(&path);
    appender.append(&batch(0..100)).expect("added");
    assert_eq!(fs::metadata(&log).expect("a file").len(), 0, "everything is in the database");
    truncate(&log, 0);
    appender.append(&batch(100..200)).expect("added");
    // A log that is gone would take all further records with it.
    fs::remove_file(&log).expect("removed");
    assert_eq!(appender.tend().expect_err("noticed").obstacle, Obstacle::Truncated);
    appender.append(&batch(200..300)).expect("opened again");
    // A log that another process emptied was not cut.
    let reader = reader(&path);
    appender.append(&batch(300..400)).expect("added");
    assert!(fs::metadata(&log).expect("a file").len() > 0);
    reader.execute_batch("COMMIT; PRAGMA wal_checkpoint(TRUNCATE); VACUUM").expect("emptied");
    appender.tend().expect("nothing is lost");
    appender.append(&batch(400..500)).expect("added");
    assert_eq!(count(&path), 500);
}

#[test]
fn a_log_that_is_truncated_while_it_is_needed_is_noticed() {
    for divisor in [2, 10, u64::MAX] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("beadle.db");
        let log = folder.path().join("beadle.db-wal");
        let mut appender = appender(&path);
        appender.append(&batch(0..100)).expect("added");
        let reader = reader(&path);
        appender.append(&batch(100..200)).expect("added");
        truncate(&log, fs::metadata(&log).expect("a file").len() / divisor);
        let error = appender.append(&batch(200..300)).expect_err("noticed");
        assert_eq!(error.obstacle, Obstacle::Truncated);
        drop(reader);
    }
}

#[test]
fn a_moved_database_takes_along_what_was_acknowledged() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, moved) = (folder.path().join("beadle.db"), folder.path().join("moved.db"));
    let recollection = Recollection::default();
    let opened = Appender::open(&path, OnDamage::Keep, recollection.clone(), Limits::default());
    let mut appender = opened.expect("a database").0;
    recollection.set(history);
    appender.append(&batch(0..100)).expect("added");
    let reader = Connection::open(&path).expect("a connection");
    reader.execute_batch("BEGIN; SELECT count(*) FROM violations").expect("it reads");
    appender.append(&batch(100..200)).expect("added");
    fs::rename(&path, &moved).expect("moved");
    let error = appender.append(&batch(200..300)).expect_err("the log is not copied yet");
    assert_eq!(error.obstacle, Obstacle::Locked);
    drop(reader);
    let error = appender.append(&batch(200..300)).expect_err("the path is another file's");
    assert_eq!(error.obstacle, Obstacle::Displaced);
    appender.append(&batch(200..300)).expect("a new one");
    drop(appender);
    assert_eq!((count(&moved), count(&path)), (200, 100));
    assert_eq!(stored(&moved), History::default(), "it had none");
    assert_eq!(stored(&path), history(), "the new one has what the program judges by");
}

#[test]
fn a_log_that_a_killed_process_left_is_not_deleted() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, log) = (folder.path().join("beadle.db"), folder.path().join("beadle.db-wal"));
    fs::write(&log, "what a database would delete").expect("written");
    drop(Store::open(&path).expect("a new database"));
    let left = names(folder.path()).into_iter().find(|name| name.contains(".left-"));
    let left = folder.path().join(left.expect("moved aside"));
    assert_eq!(fs::read(left).expect("a file"), b"what a database would delete");

    fs::write(&path, "").expect("emptied");
    fs::write(&log, "what a database would delete").expect("written");
    let error = Store::open(&path).expect_err("it was emptied");
    assert_eq!(error.code(), "store.corrupt");
    assert_eq!(fs::read(&log).expect("a file"), b"what a database would delete");
}
