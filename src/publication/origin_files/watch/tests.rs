//! Tests of a watch: results in, events and the file in force out.

use super::*;
use crate::publication::origin_files::access_result::{Refusal, Unreachable};

const OPEN: &str = "User-agent: *\nDisallow: /private/\n";
const OTHER: &str = "User-agent: *\nDisallow: /other/\n";
const CLOSED: &str = "User-agent: *\nDisallow: /\n";
const CLOSED_TOO: &str = "User-agent: *\nDisallow: /\nDisallow: /x\n";

/// A result in short: a file, `-` no file, `=` unchanged, `!` the status 503, `<` a page.
fn result(text: &str) -> Fetched {
    let result = match text {
        "-" => AccessResult::NoFile(404),
        "=" => AccessResult::Unchanged,
        "!" => AccessResult::Unreachable(Unreachable::Status(503)),
        "<" => AccessResult::Refused(Refusal::Html),
        file => AccessResult::File(Bytes::copy_from_slice(file.as_bytes())),
    };
    result.into()
}

fn rules(file: &'static str) -> OriginFile {
    OriginFile::Present(Bytes::from_static(file.as_bytes()))
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).expect("a date of this century")
}

/// The events in short, with the wait in seconds.
fn shown(progress: &Progress) -> String {
    format!("{} {}", summary(&progress.events), progress.wait.as_secs())
}

fn summary(events: &[Event]) -> String {
    let words: Vec<&str> = events
        .iter()
        .map(|event| match event {
            Event::Changed => "changed",
            Event::Quarantined { .. } => "quarantined",
            Event::StillQuarantined { .. } => "still-quarantined",
            Event::Released { is_accepted: true, .. } => "accepted",
            Event::Released { .. } => "released",
            Event::Failed { code, .. } => code.trim_start_matches("origin_robots."),
            Event::Recovered { .. } => "recovered",
        })
        .collect();
    words.join(" ")
}

fn fresh() -> Watch {
    Watch::new(KnownFile::default(), false, at(0))
}

/// Settles results, each at its time, and compares the events and the file in force.
fn walk(watch: &mut Watch, steps: &[(i64, &str, &str, OriginFile)]) {
    for (number, (seconds, text, expected, state)) in steps.iter().enumerate() {
        let progress = watch.settle(result(text), at(*seconds));
        assert_eq!(shown(&progress), *expected, "step {number}, {text:?}");
        assert_eq!(watch.file(), state, "step {number}, {text:?}");
    }
}

#[test]
fn rfc9309_2_3_1_4_the_last_good_file_stays_while_the_origin_fails() {
    walk(
        &mut fresh(),
        &[
            (0, "!", "unreachable 5", OriginFile::Unknown),
            (5, "!", " 10", OriginFile::Unknown),
            // Without a file, no retry is far away.
            (15, "<", "html 15", OriginFile::Unknown),
            (20, "!", " 15", OriginFile::Unknown),
            (30, "!", " 15", OriginFile::Unknown),
            (35, OPEN, "changed recovered 300", rules(OPEN)),
            (335, "=", " 300", rules(OPEN)),
            (635, "!", "unreachable 5", rules(OPEN)),
            (640, "<", "html 10", rules(OPEN)),
            (650, "!", " 20", rules(OPEN)),
            (670, "!", " 40", rules(OPEN)),
            (710, "!", " 80", rules(OPEN)),
            (790, "!", " 160", rules(OPEN)),
            (950, "!", " 300", rules(OPEN)),
            (1_250, "!", " 300", rules(OPEN)),
            // An hour after the first log line.
            (4_235, "!", "unreachable 300", rules(OPEN)),
            (4_535, "!", " 300", rules(OPEN)),
            (4_835, OPEN, "recovered 300", rules(OPEN)),
            (5_135, "!", "unreachable 5", rules(OPEN)),
        ],
    );
}

#[test]
fn rfc9309_2_3_1_3_an_origin_without_a_file_has_no_rules() {
    walk(
        &mut fresh(),
        &[
            (0, "-", "changed 300", OriginFile::Absent),
            (300, "-", " 300", OriginFile::Absent),
            (600, OPEN, "changed 300", rules(OPEN)),
            (900, "-", "changed 300", OriginFile::Absent),
            (1_200, "!", "unreachable 5", OriginFile::Absent),
            // A closing file is sudden where everything was open.
            (1_205, CLOSED, "quarantined recovered 300", OriginFile::Absent),
        ],
    );
}

#[test]
fn a_sudden_full_disallow_stays_in_quarantine_until_the_origin_has_another_file() {
    let mut watch = fresh();
    walk(
        &mut watch,
        &[
            (0, OPEN, "changed 300", rules(OPEN)),
            (300, CLOSED, "quarantined 300", rules(OPEN)),
            (600, CLOSED, " 300", rules(OPEN)),
            (900, "=", " 300", rules(OPEN)),
            (1_200, "!", "unreachable 5", rules(OPEN)),
            (1_205, "<", "html 10", rules(OPEN)),
            (3_900, CLOSED, "recovered still-quarantined 300", rules(OPEN)),
            (4_200, CLOSED, " 300", rules(OPEN)),
            (4_500, CLOSED_TOO, "quarantined 300", rules(OPEN)),
        ],
    );
    assert_eq!(watch.quarantined().map(|file| file.as_ref()), Some(CLOSED_TOO.as_bytes()));
    assert_eq!(watch.accept(&id(CLOSED.as_bytes())), None, "another file is in quarantine now");
    walk(
        &mut watch,
        &[
            (4_800, OPEN, "released 300", rules(OPEN)),
            (5_100, CLOSED, "quarantined 300", rules(OPEN)),
            (5_400, OTHER, "released changed 300", rules(OTHER)),
            (5_700, CLOSED, "quarantined 300", rules(OTHER)),
            (6_000, "-", "released changed 300", OriginFile::Absent),
        ],
    );
    assert_eq!(watch.quarantined(), None);
}

#[test]
fn an_accepted_file_is_in_force() {
    let mut watch = fresh();
    walk(
        &mut watch,
        &[(0, OPEN, "changed 300", rules(OPEN)), (300, CLOSED, "quarantined 300", rules(OPEN))],
    );
    let name = id(watch.quarantined().expect("a file is quarantined"));
    assert_eq!(watch.accept("0123456789abcdef"), None);
    assert_eq!(watch.accept(&name).as_deref().map(summary).as_deref(), Some("accepted changed"));
    assert_eq!(watch.accept(&name), None);
    walk(
        &mut watch,
        &[
            (600, "=", " 300", rules(CLOSED)),
            // A closed site does not close suddenly.
            (900, CLOSED_TOO, "changed 300", rules(CLOSED_TOO)),
            (1_200, OPEN, "changed 300", rules(OPEN)),
            (1_500, CLOSED, "quarantined 300", rules(OPEN)),
        ],
    );
}

#[test]
fn the_first_file_and_every_file_with_accept_full_disallow_are_in_force_at_once() {
    walk(&mut fresh(), &[(0, CLOSED, "changed 300", rules(CLOSED))]);
    let mut willing = Watch::new(KnownFile::new(rules(OPEN), None, false), true, at(0));
    walk(&mut willing, &[(0, CLOSED, "changed 300", rules(CLOSED))]);
    // It is sudden if earlier rules of the site left anything open.
    let mut second = Watch::new(KnownFile::new(OriginFile::Unknown, None, true), false, at(0));
    walk(&mut second, &[(0, CLOSED, "quarantined 300", OriginFile::Unknown)]);
    // A file that closes the site to some crawlers only is no full disallow.
    let closed_to_one = "User-agent: BadBot\nDisallow: /\n";
    let open_in_part = "User-agent: *\nDisallow: /\nAllow: /$\n";
    walk(
        &mut Watch::new(KnownFile::new(rules(OPEN), None, false), false, at(0)),
        &[
            (0, closed_to_one, "changed 300", rules(closed_to_one)),
            (300, open_in_part, "changed 300", rules(open_in_part)),
        ],
    );
}

#[test]
fn the_first_result_is_compared_with_the_known_file() {
    let closed = || Some(Bytes::from_static(CLOSED.as_bytes()));
    let watch = |file, quarantine, accepts| {
        Watch::new(KnownFile::new(file, quarantine, false), accepts, at(0))
    };
    for (mut watch, text, expected, state) in [
        (watch(rules(OPEN), None, false), OPEN, " 300", rules(OPEN)),
        (watch(rules(OPEN), None, false), "!", "unreachable 5", rules(OPEN)),
        (watch(rules(OPEN), None, false), OTHER, "changed 300", rules(OTHER)),
        (watch(rules(OPEN), None, false), CLOSED, "quarantined 300", rules(OPEN)),
        (watch(OriginFile::Absent, None, false), CLOSED, "quarantined 300", OriginFile::Absent),
        (watch(rules(CLOSED), None, false), CLOSED_TOO, "changed 300", rules(CLOSED_TOO)),
        // A new process logs a reminder.
        (watch(rules(OPEN), closed(), false), CLOSED, "still-quarantined 300", rules(OPEN)),
        (watch(rules(OPEN), closed(), false), "!", "unreachable still-quarantined 5", rules(OPEN)),
        (
            watch(OriginFile::Unknown, closed(), false),
            CLOSED,
            "still-quarantined 300",
            OriginFile::Unknown,
        ),
        (watch(rules(OPEN), closed(), false), OPEN, "released 300", rules(OPEN)),
        // The policy accepts it now.
        (watch(rules(OPEN), closed(), true), CLOSED, "accepted changed 300", rules(CLOSED)),
        (watch(rules(OPEN), closed(), true), "=", "accepted changed 300", rules(CLOSED)),
        // Another file that closes everything is not accepted either.
        (
            watch(OriginFile::Unknown, closed(), false),
            CLOSED_TOO,
            "quarantined 300",
            OriginFile::Unknown,
        ),
    ] {
        walk(&mut watch, &[(0, text, expected, state)]);
    }
}

#[test]
fn the_next_fetch_follows_the_freshness_of_the_response_within_bounds() {
    for (fresh_for, wait) in
        [(None, 300), (Some(0), 60), (Some(59), 60), (Some(600), 600), (Some(86_400), 3_600)]
    {
        let fresh_for = fresh_for.map(Duration::from_secs);
        for text in [OPEN, "-", "="] {
            let progress = fresh().settle(Fetched { fresh_for, ..result(text) }, at(0));
            assert_eq!(progress.wait.as_secs(), wait, "{text} {fresh_for:?}");
        }
        // The freshness of a failure has no effect.
        let progress = fresh().settle(Fetched { fresh_for, ..result("!") }, at(0));
        assert_eq!(progress.wait, FIRST_RETRY);
    }
}
