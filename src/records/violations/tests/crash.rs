use crate::{
    base::text::Text,
    records::{
        counts::Question,
        record::{Edition, Filter},
        tally::{Places, SeriesKey},
    },
};
use std::{
    collections::HashSet,
    process::{Command, Stdio},
};

use super::*;

/// The process that is killed publishes an edition before each record of such a number.
const EDITION_EACH: u64 = 50;

#[test]
fn a_process_that_was_killed_keeps_the_acknowledged_records() {
    let folder = tempfile::tempdir().expect("a folder");
    for _ in 0..3 {
        let before = fs::read_to_string(folder.path().join("acknowledged")).unwrap_or_default();
        let mut child = Command::new(std::env::current_exe().expect("this test"))
            .args(["--ignored", "--exact", "--test-threads=1"])
            .arg(format!(
                "{}::writes_until_it_is_killed",
                module_path!().split_once("::").expect("a crate").1
            ))
            .env("BEADLE_TEST_FOLDER", folder.path())
            .stdout(Stdio::null())
            .spawn()
            .expect("it starts");
        eventually("acknowledged", || {
            let now = fs::read_to_string(folder.path().join("acknowledged")).unwrap_or_default();
            now != before && now.parse::<u64>().is_ok_and(|count| count >= 200)
        });
        child.kill().expect("it runs");
        child.wait().expect("it ends");
        let acknowledged = fs::read_to_string(folder.path().join("acknowledged")).expect("a count");
        let acknowledged = acknowledged.parse::<usize>().expect("whole, as it is renamed");
        drop(Sink::start(settings(folder.path())).expect("both open again, checked"));
        let (rows, lines) = listed(folder.path(), &Filter::default());
        assert!(rows.records.len() >= acknowledged, "{} < {acknowledged}", rows.records.len());
        assert!(rows.records.is_sorted_by(|a, b| a.0 < b.0));
        assert!(lines.records.len() >= acknowledged && lines.unreadable <= 3);
        // Counts are written with their records, and those beside them.
        let store = Store::open_read_only(&folder.path().join("beadle.db")).expect("a database");
        let all = &store.counted(&Question::default()).expect("a row")[0];
        let kept = rows.records.len() as u64;
        assert_eq!(all.violations, kept + all.folded + all.dropped, "{all:?}");
        assert!(all.requests - all.violations >= kept, "each record came after a request");
        assert!(all.folded > 0, "{all:?}");
        // An edition that was published before a record is written no later than the record.
        let editions = store.editions(None, None).expect("rows");
        let ids: HashSet<_> = editions.iter().map(|edition| edition.id.to_string()).collect();
        for number in (0..acknowledged).step_by(EDITION_EACH as usize) {
            assert!(ids.contains(&format!("{number:016x}")), "{number} of {acknowledged}");
        }
        assert_eq!(editions.iter().filter(|edition| edition.until.is_none()).count(), 1);
    }
}

/// The other side of the test above, in a process of its own.
#[test]
#[ignore = "runs until it is killed"]
fn writes_until_it_is_killed() {
    let Some(folder) = std::env::var_os("BEADLE_TEST_FOLDER") else { return };
    let folder = Path::new(&folder);
    let sink = Sink::start(Settings { detail: 20, ..settings(folder) }).expect("a sink");
    let (rows, lines) = listed(folder, &Filter::default());
    let before = rows.records.len().min(lines.records.len()) as u64;
    for number in before.. {
        if number.is_multiple_of(EDITION_EACH) {
            let id = Text::from(format!("{number:016x}"));
            sink.note(Edition { id, ..edition("shop.example", "", number.cast_signed()) });
        }
        let (now, passed) =
            (violation(number).time, crate::records::tally::tests::key("s", "GPTBot", "/"));
        sink.tally.count(now, &SeriesKey { action: "pass", ..passed });
        sink.tally.admit(
            now,
            &crate::records::tally::tests::key("s", "CCBot", "/folded/"),
            Places::default,
        );
        sink.record(violation(number + u64::from(std::process::id()) * 1_000_000));
        let stored = sink.counts().stored.min(sink.log_counts().map_or(0, |c| c.stored));
        fs::write(folder.join("next"), (before + stored).to_string()).expect("written");
        fs::rename(folder.join("next"), folder.join("acknowledged")).expect("renamed");
        thread::sleep(Duration::from_micros(200));
    }
}
