use std::{
    fs::{self, File},
    io::Read,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use crate::base::metrics::Metrics;

use super::*;

const LONG: Duration = Duration::from_secs(20);

fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + LONG;
    while !is_so() {
        assert!(Instant::now() < deadline, "not {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

fn log_to(path: &Path, metrics: &Arc<Metrics>) -> Log {
    Log::start(&LogTarget::File(path.to_owned()), Arc::clone(metrics)).expect("a log")
}

fn push(log: &Log, numbers: std::ops::Range<u32>) {
    numbers.for_each(|number| log.push(format!("line {number}\n").as_bytes()));
}

fn lines(numbers: std::ops::Range<u32>) -> String {
    numbers.map(|number| format!("line {number}\n")).collect()
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).expect("a file")
}

/// A log to a pipe of which nothing is read.
fn stopped(room: usize, metrics: &Arc<Metrics>) -> (std::io::PipeReader, Log) {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let output = Output::new(Path::new("stdout"), File::from(OwnedFd::from(writer)));
    (reader, Log::with_room(output, room, Arc::clone(metrics)).expect("a thread"))
}

#[test]
fn each_line_is_written_once_in_its_order() {
    let (folder, metrics) = (tempfile::tempdir().expect("a folder"), Arc::default());
    let path = folder.path().join("access.log");
    let log = log_to(&path, &metrics);
    push(&log, 0..5_000);
    log.close(LONG);
    assert_eq!(text(&path), lines(0..5_000));
    assert_eq!(metrics.access_log_lines(), (5_000, 0));
    push(&log, 0..3);
    assert_eq!(metrics.access_log_lines(), (5_000, 3), "a closed log takes nothing");
}

#[test]
fn the_file_is_reopened_after_rotation() {
    let (folder, metrics) = (tempfile::tempdir().expect("a folder"), Arc::default());
    let (path, old) = (folder.path().join("access.log"), folder.path().join("access.log.1"));
    let log = log_to(&path, &metrics);
    push(&log, 0..10);
    eventually("written", || metrics.access_log_lines() == (10, 0));
    fs::rename(&path, &old).expect("moved");
    push(&log, 10..20);
    log.close(LONG);
    assert_eq!((text(&old), text(&path)), (lines(0..10), lines(10..20)));
}

#[test]
fn a_line_that_a_killed_process_left_open_is_ended() {
    let (folder, metrics) = (tempfile::tempdir().expect("a folder"), Arc::default());
    let path = folder.path().join("access.log");
    fs::write(&path, "half a li").expect("written");
    let log = log_to(&path, &metrics);
    push(&log, 0..1);
    log.close(LONG);
    assert_eq!(text(&path), "half a li\nline 0\n");
}

#[test]
fn lines_for_a_full_disk_are_counted_exactly() {
    let metrics = Arc::<Metrics>::default();
    let log = log_to(&PathBuf::from("/dev/full"), &metrics);
    push(&log, 0..300);
    log.close(Duration::from_millis(300));
    assert_eq!(metrics.access_log_lines(), (0, 300));
}

#[test]
fn a_log_recovers_by_itself() {
    let (folder, metrics) = (tempfile::tempdir().expect("a folder"), Arc::default());
    let place = folder.path().join("logs");
    fs::create_dir(&place).expect("a folder");
    let path = place.join("access.log");
    let log = log_to(&path, &metrics);
    fs::rename(&place, folder.path().join("away")).expect("moved");
    push(&log, 0..10);
    let exposition = || metrics.exposition(|_| ());
    eventually("degraded", || exposition().contains("beadle_access_log_degraded 1"));
    fs::create_dir(&place).expect("a folder");
    eventually("written", || metrics.access_log_lines() == (10, 0));
    eventually("well", || exposition().contains("beadle_access_log_degraded 0"));
    log.close(LONG);
    assert_eq!(text(&path), lines(0..10));
}

#[test]
fn lines_beyond_the_room_are_counted_exactly_and_nobody_waits() {
    let metrics = Arc::<Metrics>::default();
    let (mut reader, log) = stopped(200_000, &metrics);
    // More than the pipe and the room take.
    push(&log, 0..60_000);
    let (_, dropped) = metrics.access_log_lines();
    assert!(dropped > 20_000, "{dropped}");
    // The reader returns: everything that was not counted as dropped arrives.
    let read = thread::spawn(move || {
        let mut text = String::new();
        reader.read_to_string(&mut text).map(|_| text)
    });
    log.close(LONG);
    drop(log);
    let (written, after) = metrics.access_log_lines();
    assert_eq!((written + dropped, after), (60_000, dropped));
    let text = read.join().expect("no panic").expect("UTF-8");
    assert_eq!(text.lines().count() as u64, written);
    assert!(text.lines().all(|line| line.starts_with("line ")));
}

#[test]
fn a_stop_leaves_a_reader_behind_that_never_returns() {
    let metrics = Arc::<Metrics>::default();
    let (_reader, log) = stopped(1 << 20, &metrics);
    push(&log, 0..30_000);
    log.close(Duration::from_millis(300));
    let (written, dropped) = metrics.access_log_lines();
    assert_eq!(written + dropped, 30_000);
    assert!(dropped > 0);
}

#[test]
fn a_folder_that_does_not_exist_is_named() {
    let target = LogTarget::File("/nowhere/at/all/access.log".into());
    let error = Log::start(&target, Arc::default()).expect_err("no folder").to_string();
    assert!(error.contains("mkdir -p '/nowhere/at/all'"), "{error}");
}
