//! Tests of a watch: results in, events and the file in force out.

use bytes::Bytes;

use super::*;
use crate::state::publication::origin_files::{access_result::Fault, hold::id};

const OPEN: &str = "User-agent: *\nDisallow: /private/\n";
const OTHER: &str = "User-agent: *\nDisallow: /other/\n";
const CLOSED: &str = "User-agent: *\nDisallow: /\n";
const CLOSED_TOO: &str = "User-agent: *\nDisallow: /\nDisallow: /x\n";

/// A result in short: a file, `-` no file, `=` unchanged, `!` the status 503, `?` not text, `<` a
/// page without rules.
fn result(text: &str) -> Fetched {
    let result = match text {
        "-" => AccessResult::NoFile(404),
        "=" => AccessResult::Unchanged,
        "!" => AccessResult::Failed(Fault::Unreachable(503)),
        "?" => AccessResult::Failed(Fault::Binary),
        "<" => AccessResult::Document,
        file => AccessResult::File(Bytes::copy_from_slice(file.as_bytes())),
    };
    let remarks = match result {
        AccessResult::Document => vec![Diagnostic::error("origin_robots.html", "a page")],
        AccessResult::File(ref file) => crate::formats::robots::parse(file).1,
        _ => Vec::new(),
    };
    Fetched { remarks, ..Fetched::from(result) }
}

fn rules(file: &'static str) -> OriginFile {
    OriginFile::Present(Bytes::from_static(file.as_bytes()))
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).expect("a date of this century")
}

/// The events in short, with the wait in seconds.
fn shown((events, wait): &(Vec<Event>, Duration)) -> String {
    format!("{} {}", summary(events), wait.as_secs())
}

fn summary(events: &[Event]) -> String {
    let words: Vec<&str> = events
        .iter()
        .map(|event| match event {
            Event::Changed => "changed",
            Event::Held { .. } => "held",
            Event::StillHeld { .. } => "still-held",
            Event::Released { by: Release::Accepted, .. } => "accepted",
            Event::Released { by: Release::Expired, .. } => "expired",
            Event::Released { by: Release::Replaced, .. } => "released",
            Event::Remarked(_) => "remarked",
            Event::GivenUp { .. } => "given-up",
            Event::Failed { code, .. } => code.trim_start_matches("origin_robots."),
            Event::Recovered { .. } => "recovered",
        })
        .collect();
    words.join(" ")
}

fn fresh() -> Watch {
    Watch::new(KnownFile::default(), Caution::default())
}

fn known(file: OriginFile) -> Watch {
    Watch::new(KnownFile { file, ..KnownFile::default() }, Caution::default())
}

const HOUR: i64 = 3_600;

/// Settles results, each at its time, and compares the events and the file in force.
fn walk(watch: &mut Watch, steps: &[(i64, &str, &str, OriginFile)]) {
    for (number, (seconds, text, expected, state)) in steps.iter().enumerate() {
        let progress = watch.settle(result(text), at(*seconds));
        assert_eq!(shown(&progress), *expected, "step {number}, {text:?}");
        assert_eq!(&watch.known.file, state, "step {number}, {text:?}");
    }
}

fn held_file(watch: &Watch) -> Option<&OriginFile> {
    watch.known.held.as_ref().map(|held| &held.file)
}

#[test]
fn rfc9309_2_3_1_4_the_last_good_file_stays_while_the_origin_fails() {
    walk(
        &mut fresh(),
        &[
            (0, "!", "unreachable 5", OriginFile::Unknown),
            (5, "!", " 10", OriginFile::Unknown),
            // Without a file, no retry is far away.
            (15, "?", "binary 15", OriginFile::Unknown),
            (20, "!", " 15", OriginFile::Unknown),
            (30, "!", " 15", OriginFile::Unknown),
            (35, OPEN, "changed recovered 300", rules(OPEN)),
            (335, "=", " 300", rules(OPEN)),
            (635, "!", "unreachable 5", rules(OPEN)),
            (640, "?", "binary 10", rules(OPEN)),
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
    for none in ["-", "<"] {
        let first = if none == "<" { "changed remarked 300" } else { "changed 300" };
        walk(
            &mut fresh(),
            &[
                (0, none, first, OriginFile::Absent),
                (300, none, " 300", OriginFile::Absent),
                (600, "!", "unreachable 5", OriginFile::Absent),
                // A closing file is sudden where everything was open.
                (605, CLOSED, "held recovered 300", OriginFile::Absent),
                (905, OPEN, "released changed 300", rules(OPEN)),
            ],
        );
    }
    // The mistake is logged every hour.
    walk(
        &mut fresh(),
        &[
            (0, "<", "changed remarked 300", OriginFile::Absent),
            (HOUR - 1, "<", " 300", OriginFile::Absent),
            (HOUR, "<", "remarked 300", OriginFile::Absent),
            (HOUR + 300, "-", " 300", OriginFile::Absent),
        ],
    );
}

#[test]
fn vanished_rules_stay_in_force_for_a_day_at_most() {
    const DAY: i64 = 24 * HOUR;
    let comment = "# closed for repairs\n";
    for (gone, held, after) in [
        ("-", "held 300", OriginFile::Absent),
        ("<", "held remarked 300", OriginFile::Absent),
        ("", "held 300", rules("")),
        (comment, "held 300", rules(comment)),
    ] {
        let mut watch = known(rules(OPEN));
        walk(
            &mut watch,
            &[
                (0, OPEN, " 300", rules(OPEN)),
                (300, gone, held, rules(OPEN)),
                (600, gone, " 300", rules(OPEN)),
                (900, "!", "unreachable 5", rules(OPEN)),
            ],
        );
        // A restart does not begin the day anew.
        let mut watch = Watch::new(watch.known.clone(), Caution::default());
        let progress = watch.settle(result(gone), at(300 + DAY - 90));
        assert!(summary(&progress.0).contains("still-held"), "{gone:?}: {progress:?}");
        assert_eq!((progress.1.as_secs(), &watch.known.file), (90, &rules(OPEN)), "{gone:?}");
        // No fetch, no answer: only a file without rules opens the site.
        assert!(!summary(&watch.settle(result("!"), at(300 + 2 * DAY)).0).contains("expired"));
        let events = summary(&watch.settle(result(gone), at(300 + 2 * DAY)).0);
        assert!(events.starts_with("expired changed"), "{gone:?}: {events}");
        assert_eq!((&watch.known.file, held_file(&watch)), (&after, None), "{gone:?}");
    }
}

#[test]
fn vanished_rules_that_come_back_were_never_gone() {
    let mut watch = known(rules(OPEN));
    walk(
        &mut watch,
        &[
            (0, "-", "held 300", rules(OPEN)),
            // Another answer without rules is the same loss.
            (300, "", "held 300", rules(OPEN)),
            (600, "=", " 300", rules(OPEN)),
            (900, OPEN, "released 300", rules(OPEN)),
            (1_200, "-", "held 300", rules(OPEN)),
            (1_500, OTHER, "released changed 300", rules(OTHER)),
            (1_800, "-", "held 300", rules(OTHER)),
            (2_100, CLOSED, "held 300", rules(OTHER)),
            (2_400, "-", "held 300", rules(OTHER)),
        ],
    );
    // The operator releases it.
    let name = id(&OriginFile::Absent);
    assert_eq!(watch.accept(&name).as_deref().map(summary).as_deref(), Some("accepted changed"));
    walk(&mut watch, &[(2_700, "-", " 300", OriginFile::Absent)]);
    let caution = Caution { vanish_after: Duration::ZERO, ..Caution::default() };
    let open = KnownFile { file: rules(OPEN), ..KnownFile::default() };
    let mut watch = Watch::new(open, caution);
    walk(&mut watch, &[(0, "-", "changed 300", OriginFile::Absent)]);
}

#[test]
fn rfc9309_2_3_1_4_an_unknown_file_is_given_up_after_a_day() {
    let day = 24 * HOUR;
    for (since, steps) in [
        (0, &[(0, "!", "unreachable"), (day - 1, "!", "unreachable"), (day, "!", "given-up")][..]),
        // A restart goes on with the time of the first run.
        (-day, &[(0, "!", "unreachable given-up"), (15, "!", "")]),
        // Only a failure of this process ends it.
        (-2 * day, &[(0, OPEN, "changed")]),
        // The clock was set back.
        (9 * day, &[(0, "!", "unreachable"), (day, "!", "unreachable given-up")]),
        (0, &[(0, "?", "binary"), (day, OPEN, "changed recovered"), (2 * day, "!", "unreachable")]),
        (0, &[(0, "!", "unreachable"), (60, "-", "changed recovered")]),
    ] {
        let unknown_since = Some(at(since));
        let mut watch =
            Watch::new(KnownFile { unknown_since, ..KnownFile::default() }, Caution::default());
        assert!(watch.known.unknown_since.is_some());
        for (seconds, text, expected) in steps {
            let events = watch.settle(result(text), at(*seconds)).0;
            assert_eq!(summary(&events), *expected, "{seconds} {text}");
        }
        assert!(watch.known.unknown_since.is_none());
    }
}

#[test]
fn warnings_about_a_file_are_logged_once() {
    let list = "User-agent: GPTBot, CCBot\nDisallow: /x\n";
    let mut watch = fresh();
    walk(
        &mut watch,
        &[
            (0, list, "changed remarked 300", rules(list)),
            (HOUR, list, " 300", rules(list)),
            (2 * HOUR, "=", " 300", rules(list)),
        ],
    );
    let codes: Vec<_> = watch.report().findings.iter().map(|one| one.code).collect();
    assert_eq!(codes, ["robots.user_agent"]);
    walk(&mut watch, &[(3 * HOUR, OPEN, "changed 300", rules(OPEN))]);
    assert_eq!(watch.report(), OriginReport::default());
}

#[test]
fn a_sudden_full_disallow_stays_in_quarantine_until_the_origin_has_another_file() {
    let mut watch = fresh();
    walk(
        &mut watch,
        &[
            (0, OPEN, "changed 300", rules(OPEN)),
            (300, CLOSED, "held 300", rules(OPEN)),
            (600, CLOSED, " 300", rules(OPEN)),
            (900, "=", " 300", rules(OPEN)),
            (1_200, "!", "unreachable 5", rules(OPEN)),
            (1_205, "?", "binary 10", rules(OPEN)),
            (3_900, CLOSED, "recovered still-held 300", rules(OPEN)),
            (4_200, CLOSED, " 300", rules(OPEN)),
            (4_500, CLOSED_TOO, "held 300", rules(OPEN)),
        ],
    );
    assert_eq!(held_file(&watch), Some(&rules(CLOSED_TOO)));
    assert_eq!(watch.accept(&id(&rules(CLOSED))), None, "another file is in quarantine now");
    walk(
        &mut watch,
        &[
            (4_800, OPEN, "released 300", rules(OPEN)),
            (5_100, CLOSED, "held 300", rules(OPEN)),
            (5_400, OTHER, "released changed 300", rules(OTHER)),
            (5_700, CLOSED, "held 300", rules(OTHER)),
            (6_000, OPEN, "released changed 300", rules(OPEN)),
        ],
    );
    assert_eq!(held_file(&watch), None);
}

#[test]
fn a_discarded_file_is_no_news_until_the_origin_has_another_one() {
    let mut watch = fresh();
    walk(
        &mut watch,
        &[(0, OPEN, "changed 300", rules(OPEN)), (300, CLOSED, "held 300", rules(OPEN))],
    );
    let name = id(&rules(CLOSED));
    assert_eq!((watch.discard("0123456789abcdef"), watch.discard(&name)), (false, true));
    assert!(!watch.discard(&name) && watch.report().held.is_none(), "it is no alarm any more");
    walk(
        &mut watch,
        &[
            (600, CLOSED, " 300", rules(OPEN)),
            (900, "=", " 300", rules(OPEN)),
            (2 * HOUR, CLOSED, " 300", rules(OPEN)),
        ],
    );
    // A restart changes nothing.
    let mut watch = Watch::new(watch.known.clone(), Caution::default());
    assert_eq!(watch.report().held, None);
    walk(
        &mut watch,
        &[
            (3 * HOUR, CLOSED, " 300", rules(OPEN)),
            (3 * HOUR + 300, CLOSED_TOO, "held 300", rules(OPEN)),
            (3 * HOUR + 600, CLOSED, "held 300", rules(OPEN)),
        ],
    );
    assert!(watch.discard(&name));
    walk(
        &mut watch,
        &[
            (4 * HOUR, OPEN, "released 300", rules(OPEN)),
            (5 * HOUR, CLOSED, "held 300", rules(OPEN)),
        ],
    );
    assert!(watch.discard(&name));
    assert_eq!(watch.accept(&name).as_deref().map(summary).as_deref(), Some("accepted changed"));
    // The operator discarded the loss of these rules: they stay beyond `vanish_after`.
    walk(&mut watch, &[(6 * HOUR, "-", "held 300", rules(CLOSED))]);
    assert!(watch.discard(&id(&OriginFile::Absent)));
    walk(
        &mut watch,
        &[
            (9 * 24 * HOUR, "", " 300", rules(CLOSED)),
            (9 * 24 * HOUR + 300, "# none\n", "held 300", rules(CLOSED)),
            (9 * 24 * HOUR + 600, CLOSED, "released 300", rules(CLOSED)),
        ],
    );
}

#[test]
fn an_accepted_file_is_in_force() {
    let mut watch = fresh();
    walk(
        &mut watch,
        &[(0, OPEN, "changed 300", rules(OPEN)), (300, CLOSED, "held 300", rules(OPEN))],
    );
    let name = id(held_file(&watch).expect("a file is held"));
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
            (1_500, CLOSED, "held 300", rules(OPEN)),
        ],
    );
}

#[test]
fn the_first_file_and_every_file_with_accept_full_disallow_are_in_force_at_once() {
    walk(&mut fresh(), &[(0, CLOSED, "changed 300", rules(CLOSED))]);
    let caution = Caution { accept_full_disallow: true, ..Caution::default() };
    let open = KnownFile { file: rules(OPEN), ..KnownFile::default() };
    let mut willing = Watch::new(open, caution);
    walk(&mut willing, &[(0, CLOSED, "changed 300", rules(CLOSED))]);
    // It is sudden if earlier rules of the site left anything open.
    let second = KnownFile { was_open: true, ..KnownFile::default() };
    let mut second = Watch::new(second, Caution::default());
    walk(&mut second, &[(0, CLOSED, "held 300", OriginFile::Unknown)]);
    // A file that closes the site to some crawlers only is no full disallow.
    let closed_to_one = "User-agent: BadBot\nDisallow: /\n";
    let all_but_the_first_page = "User-agent: *\nDisallow: /\nAllow: /$\n";
    walk(
        &mut known(rules(OPEN)),
        &[
            (0, closed_to_one, "changed 300", rules(closed_to_one)),
            (300, all_but_the_first_page, "held 300", rules(closed_to_one)),
        ],
    );
}

#[test]
fn the_first_result_is_compared_with_the_known_file() {
    let closed = || Some(Held::known(rules(CLOSED), at(0), false));
    let watch = |file, held, accept_full_disallow| {
        let caution = Caution { accept_full_disallow, ..Caution::default() };
        Watch::new(KnownFile { file, held, ..KnownFile::default() }, caution)
    };
    for (mut watch, text, expected, state) in [
        (watch(rules(OPEN), None, false), OPEN, " 300", rules(OPEN)),
        (watch(rules(OPEN), None, false), "!", "unreachable 5", rules(OPEN)),
        (watch(rules(OPEN), None, false), OTHER, "changed 300", rules(OTHER)),
        (watch(rules(OPEN), None, false), CLOSED, "held 300", rules(OPEN)),
        (watch(OriginFile::Absent, None, false), CLOSED, "held 300", OriginFile::Absent),
        (watch(rules(CLOSED), None, false), CLOSED_TOO, "changed 300", rules(CLOSED_TOO)),
        // A new process logs a reminder.
        (watch(rules(OPEN), closed(), false), CLOSED, "still-held 300", rules(OPEN)),
        (watch(rules(OPEN), closed(), false), "!", "unreachable still-held 5", rules(OPEN)),
        (
            watch(OriginFile::Unknown, closed(), false),
            CLOSED,
            "still-held 300",
            OriginFile::Unknown,
        ),
        (watch(rules(OPEN), closed(), false), OPEN, "released 300", rules(OPEN)),
        // The policy accepts it now.
        (watch(rules(OPEN), closed(), true), CLOSED, "accepted changed 300", rules(CLOSED)),
        (watch(rules(OPEN), closed(), true), "=", "accepted changed 300", rules(CLOSED)),
        // Another file that closes everything is not accepted either.
        (watch(OriginFile::Unknown, closed(), false), CLOSED_TOO, "held 300", OriginFile::Unknown),
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
            assert_eq!(progress.1.as_secs(), wait, "{text} {fresh_for:?}");
        }
        // The freshness of a failure has no effect.
        let progress = fresh().settle(Fetched { fresh_for, ..result("!") }, at(0));
        assert_eq!(progress.1, FIRST_RETRY);
    }
}
