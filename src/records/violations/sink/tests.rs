use std::{fs::File, io::Read, os::fd::OwnedFd, path::Path};

use super::*;
use crate::records::{
    lines::Output,
    violations::tests::{eventually, violation},
};

fn piped() -> (std::io::PipeReader, Lane) {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let output = Output::new(Path::new("stdout"), File::from(OwnedFd::from(writer)));
    let log = Log::to(output);
    (
        reader,
        Lane::start("log", 100_000, log, Arc::new(Tally::new(1, false)), Arc::default())
            .expect("a thread"),
    )
}

fn beside(database: PathBuf, log: Lane) -> Sink {
    let settings = Settings { database: Some(database), ..Settings::default() };
    let mut sink = Sink::start(settings).expect("a sink");
    sink.log = Some(log);
    sink
}

#[test]
fn a_reader_of_the_log_that_is_gone_stops_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let (reader, log) = piped();
    let sink = beside(folder.path().join("beadle.db"), log);
    drop(reader);
    (0..300).for_each(|number| sink.record(violation(number)));
    eventually("stored", || sink.counts().stored == 300);
    eventually("noticed", || sink.health() != Health::Ok);
    let start = Instant::now();
    sink.close(Duration::from_secs(9));
    assert!(start.elapsed() < Duration::from_secs(5), "it is not waited for");
    assert_eq!(sink.log_counts().map(|counts| counts.dropped), Some(300));
}

#[test]
fn a_reader_of_the_log_that_stopped_costs_the_database_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut reader, log) = piped();
    let sink = beside(folder.path().join("beadle.db"), log);
    (0..2000).for_each(|number| sink.record(violation(number)));
    eventually("stored", || sink.counts().stored == 2000);
    eventually(
        "noticed",
        || matches!(sink.health(), Health::Degraded(why) if why.contains("has not ended")),
    );
    assert_eq!(sink.destinations()[0], ("database", Health::Ok));
    let closed = sink.close(Duration::from_millis(50));
    assert_eq!((closed.stored, closed.queued), (2000, 0));
    let log = sink.log_counts().expect("a log");
    assert_eq!((log.stored + log.dropped, log.queued), (2000, 0));
    let drops = sink.drops();
    let causes: Vec<_> = drops.iter().map(|one| (one.destination, one.cause, one.count)).collect();
    assert_eq!(causes, [("log", "store.stalled", log.dropped)]);
    drop(sink);
    // The writer is stuck in the pipe until the pipe is read, and then ends.
    let mut lines = Vec::new();
    reader.read_to_end(&mut lines).expect("lines");
    assert!(lines.iter().filter(|&&byte| byte == b'\n').count() as u64 >= log.stored);
}
