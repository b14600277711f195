use std::{path::Path, thread, time::Duration};

use super::*;
use crate::records::{
    record::Obstacle,
    violations::{
        Note, Settings, Sink,
        tests::{eventually, violation},
    },
};

/// The quarantined file of the site, whatever it is.
const SHOP: (&str, Option<&str>) = ("shop.example", None);

fn quarantined(id: &'static str, since: i64) -> Quarantined {
    Quarantined {
        site: Text::word("shop.example"),
        id: Text::word(id),
        bytes: (&b"User-agent: *\nDisallow: /\n\xff\0"[..]).into(),
        since: Timestamp::from_second(since).expect("a time"),
        accepted: None,
        discarded: None,
    }
}

fn run(path: &Path, notes: impl FnOnce(&Sink)) -> Vec<Quarantined> {
    let settings = Settings { database: Some(path.to_owned()), ..Settings::default() };
    let sink = Sink::start(settings).expect("a sink");
    notes(&sink);
    sink.close(Duration::from_secs(9));
    Store::open_read_only(path).expect("a database").quarantine().expect("rows")
}

#[test]
fn a_decision_belongs_to_the_file_and_not_to_the_site() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("beadle.db");
    let at = |second| Timestamp::from_second(second).expect("a time");
    let accept = |second| {
        let mut store = Store::open_existing(&path).expect("a database");
        store.decide(("SHOP.example", None), QuarantineAct::Accept, at(second)).expect("written")
    };
    assert_eq!(run(&path, |sink| sink.note(quarantined("a", 10))), [quarantined("a", 10)]);
    let accepted = Quarantined { accepted: Some(at(20)), ..quarantined("a", 10) };
    assert_eq!(accept(20), Some(accepted.clone()));
    assert_eq!(accept(30), Some(accepted.clone()), "the first time counts");
    let mut store = Store::open_existing(&path).expect("a database");
    let mut named = |id| {
        store.decide(("shop.example", Some(id)), QuarantineAct::Accept, at(35)).expect("written")
    };
    assert_eq!((named("b"), named("a")), (None, Some(accepted.clone())), "by its id");
    assert_eq!(store.quarantine_of("SHOP.example").expect("rows"), Some(accepted.clone()));
    assert_eq!(store.quarantine_of("x.example").expect("rows"), None);
    drop(store);
    assert_eq!(run(&path, |sink| sink.note(quarantined("a", 40))), [accepted]);
    assert_eq!(run(&path, |sink| sink.note(quarantined("b", 50))), [quarantined("b", 50)]);
    let discarded = Quarantined { discarded: Some(at(55)), ..quarantined("b", 50) };
    let mut store = Store::open_existing(&path).expect("a database");
    let discard =
        store.decide(("SHOP.example", Some("b")), QuarantineAct::Discard, at(55)).expect("written");
    assert_eq!(discard.as_ref(), Some(&discarded));
    drop(store);
    assert_eq!(run(&path, |sink| sink.note(quarantined("b", 57))), [discarded]);
    assert_eq!(run(&path, |sink| sink.note(quarantined("c", 58))), [quarantined("c", 58)]);
    assert_eq!(run(&path, |sink| sink.note(quarantined("b", 50))), [quarantined("b", 50)]);
    let accepted = accept(60).expect("it is in quarantine");
    assert_eq!((accepted.accepted, accepted.discarded), (Some(at(60)), None));
    let again = |sink: &Sink| {
        sink.note(Note::Released(Text::word("shop.example")));
        sink.note(quarantined("b", 70));
    };
    assert_eq!(
        run(&path, again),
        [quarantined("b", 70)],
        "a file that comes back needs a new acceptance"
    );
    assert_eq!(run(&path, |sink| sink.note(Note::Released(Text::word("shop.example")))), []);
    assert_eq!(accept(80), None);
}

#[test]
fn a_file_is_accepted_while_another_process_writes() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("beadle.db");
    let settings = Settings { database: Some(path.clone()), ..Settings::default() };
    let sink = Sink::start(settings).expect("a sink");
    sink.note(quarantined("a", 10));
    sink.record(violation(0));
    eventually("written", || sink.counts().stored == 1);
    let now = Timestamp::from_second(20).expect("a time");
    thread::scope(|scope| {
        let writing = scope.spawn(|| {
            (1..400).for_each(|number| {
                sink.record(violation(number));
                thread::sleep(Duration::from_millis(1));
            });
        });
        let mut store = Store::open_existing(&path).expect("a database");
        store
            .decide(SHOP, QuarantineAct::Accept, now)
            .expect("written")
            .expect("it is in quarantine");
        writing.join().expect("it ends");
    });
    assert_eq!(sink.close(Duration::from_secs(9)).stored, 400);

    // A lock that lasts longer than a writer's patience, but not than an operator's.
    let other = Connection::open(&path).expect("a connection");
    other.execute_batch("BEGIN IMMEDIATE").expect("a lock");
    thread::scope(|scope| {
        scope.spawn(move || {
            thread::sleep(Duration::from_millis(600));
            other.execute_batch("ROLLBACK").expect("unlocked");
        });
        let mut store = Store::open_existing(&path).expect("a database");
        let found = store.decide(SHOP, QuarantineAct::Accept, now).expect("written");
        assert_eq!(found.and_then(|file| file.accepted), Some(now));
    });
    let mut store = Store::open_read_only(&path).expect("a database");
    let error = store.decide(SHOP, QuarantineAct::Accept, now).expect_err("it is read only");
    assert_eq!(error.obstacle, Obstacle::Denied);
    let error = Store::open_existing(&folder.path().join("none.db")).expect_err("not made");
    assert_eq!(error.obstacle, Obstacle::NoFile);
}
