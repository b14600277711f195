use super::*;
use crate::proxy::origin_rules::answer::{Refusal, Unreachable};

const OPEN: &str = "User-agent: *\nDisallow: /private/\n";
const OTHER: &str = "User-agent: *\nDisallow: /other/\n";
const CLOSED: &str = "User-agent: *\nDisallow: /\n";
const CLOSED_TOO: &str = "User-agent: *\nDisallow: /\nDisallow: /x\n";

/// What an origin answers: a file, `-` no file, `=` unchanged, `!` a status of 503, `<` a page.
fn answer(text: &str) -> Fetched {
    let answer = match text {
        "-" => Answer::NoRules(404),
        "=" => Answer::Unchanged,
        "!" => Answer::Unreachable(Unreachable::Status(503)),
        "<" => Answer::Refused(Refusal::Html),
        file => Answer::Rules(file.as_bytes().to_vec()),
    };
    answer.into()
}

fn rules(file: &'static str) -> State {
    State::Rules(Bytes::from_static(file.as_bytes()))
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).expect("a date of this century")
}

/// The events in short, with the wait in seconds.
fn shown(heard: &Heard) -> String {
    format!("{} {}", said(&heard.events), heard.wait.as_secs())
}

fn said(events: &[Event]) -> String {
    let words: Vec<&str> = events
        .iter()
        .map(|event| match event {
            Event::Changed => "changed",
            Event::Held { .. } => "held",
            Event::StillHeld { .. } => "still-held",
            Event::Released { is_accepted: true, .. } => "accepted",
            Event::Released { .. } => "released",
            Event::Failed { code, .. } => code.trim_start_matches("origin_robots."),
            Event::Recovered { .. } => "recovered",
        })
        .collect();
    words.join(" ")
}

fn fresh() -> Watch {
    Watch::new(Remembered::default(), false, at(0))
}

/// Has a watch hear answers, each at its time, and compares what is said and what is in force then.
fn walk(watch: &mut Watch, steps: &[(i64, &str, &str, State)]) {
    for (number, (seconds, text, expected, state)) in steps.iter().enumerate() {
        let heard = watch.hear(answer(text), at(*seconds));
        assert_eq!(shown(&heard), *expected, "step {number}, {text:?}");
        assert_eq!(watch.state(), state, "step {number}, {text:?}");
    }
}

#[test]
fn rfc9309_2_3_1_4_the_last_good_file_stays_while_the_origin_fails() {
    walk(
        &mut fresh(),
        &[
            (0, "!", "unreachable 5", State::Unknown),
            (5, "!", " 10", State::Unknown),
            (15, "<", "html 20", State::Unknown),
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
            // An hour after it was said first.
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
            (0, "-", "changed 300", State::NoRules),
            (300, "-", " 300", State::NoRules),
            (600, OPEN, "changed 300", rules(OPEN)),
            (900, "-", "changed 300", State::NoRules),
            (1_200, "!", "unreachable 5", State::NoRules),
            // Closed where everything was open is as sudden as anything.
            (1_205, CLOSED, "held recovered 300", State::NoRules),
        ],
    );
}

#[test]
fn ours_a_file_that_suddenly_closes_everything_is_held_until_the_origin_takes_it_back() {
    let mut watch = fresh();
    walk(
        &mut watch,
        &[
            (0, OPEN, "changed 300", rules(OPEN)),
            (300, CLOSED, "held 300", rules(OPEN)),
            (600, CLOSED, " 300", rules(OPEN)),
            (900, "=", " 300", rules(OPEN)),
            (1_200, "!", "unreachable 5", rules(OPEN)),
            (1_205, "<", "html 10", rules(OPEN)),
            (3_900, CLOSED, "recovered still-held 300", rules(OPEN)),
            (4_200, CLOSED, " 300", rules(OPEN)),
            (4_500, CLOSED_TOO, "held 300", rules(OPEN)),
        ],
    );
    assert_eq!(watch.held().map(|(file, _)| file.as_ref()), Some(CLOSED_TOO.as_bytes()));
    assert_eq!(watch.accept(&id(CLOSED.as_bytes())), None, "it is another one now");
    walk(
        &mut watch,
        &[
            (4_800, OPEN, "released 300", rules(OPEN)),
            (5_100, CLOSED, "held 300", rules(OPEN)),
            (5_400, OTHER, "released changed 300", rules(OTHER)),
            (5_700, CLOSED, "held 300", rules(OTHER)),
            (6_000, "-", "released changed 300", State::NoRules),
        ],
    );
    assert_eq!(watch.held(), None);
}

#[test]
fn ours_what_is_held_is_in_force_once_it_is_accepted() {
    let mut watch = fresh();
    walk(
        &mut watch,
        &[(0, OPEN, "changed 300", rules(OPEN)), (300, CLOSED, "held 300", rules(OPEN))],
    );
    let name = watch.held().expect("it is held").1.to_owned();
    assert_eq!(watch.accept("0123456789abcdef"), None);
    assert_eq!(watch.accept(&name).as_deref().map(said).as_deref(), Some("accepted changed"));
    assert_eq!(watch.accept(&name), None);
    walk(
        &mut watch,
        &[
            (600, "=", " 300", rules(CLOSED)),
            // What is closed already is not closed suddenly.
            (900, CLOSED_TOO, "changed 300", rules(CLOSED_TOO)),
            (1_200, OPEN, "changed 300", rules(OPEN)),
            (1_500, CLOSED, "held 300", rules(OPEN)),
        ],
    );
}

#[test]
fn ours_the_first_file_ever_is_taken_whatever_it_says_and_so_is_any_where_that_is_wanted() {
    walk(&mut fresh(), &[(0, CLOSED, "changed 300", rules(CLOSED))]);
    let mut willing = Watch::new(Remembered::new(rules(OPEN), None), true, at(0));
    walk(&mut willing, &[(0, CLOSED, "changed 300", rules(CLOSED))]);
    // It is sudden where the site published something open before, whoever wrote that.
    let mut second = Watch::new(Remembered::default().after(true), false, at(0));
    walk(&mut second, &[(0, CLOSED, "held 300", State::Unknown)]);
    // Others than everybody may be closed out without a word.
    let closed_to_one = "User-agent: BadBot\nDisallow: /\n";
    let open_in_part = "User-agent: *\nDisallow: /\nAllow: /$\n";
    walk(
        &mut Watch::new(Remembered::new(rules(OPEN), None), false, at(0)),
        &[
            (0, closed_to_one, "changed 300", rules(closed_to_one)),
            (300, open_in_part, "changed 300", rules(open_in_part)),
        ],
    );
}

#[test]
fn ours_what_is_remembered_is_what_the_first_answer_is_compared_with() {
    let closed = || Some(Bytes::from_static(CLOSED.as_bytes()));
    let watch = |state, held, accepts| Watch::new(Remembered::new(state, held), accepts, at(0));
    for (mut watch, text, expected, state) in [
        (watch(rules(OPEN), None, false), OPEN, " 300", rules(OPEN)),
        (watch(rules(OPEN), None, false), "!", "unreachable 5", rules(OPEN)),
        (watch(rules(OPEN), None, false), OTHER, "changed 300", rules(OTHER)),
        (watch(rules(OPEN), None, false), CLOSED, "held 300", rules(OPEN)),
        (watch(State::NoRules, None, false), CLOSED, "held 300", State::NoRules),
        (watch(rules(CLOSED), None, false), CLOSED_TOO, "changed 300", rules(CLOSED_TOO)),
        // A new process reminds of it.
        (watch(rules(OPEN), closed(), false), CLOSED, "still-held 300", rules(OPEN)),
        (watch(rules(OPEN), closed(), false), "!", "unreachable still-held 5", rules(OPEN)),
        (watch(State::Unknown, closed(), false), CLOSED, "still-held 300", State::Unknown),
        (watch(rules(OPEN), closed(), false), OPEN, "released 300", rules(OPEN)),
        // It was confirmed in the policy since.
        (watch(rules(OPEN), closed(), true), CLOSED, "accepted changed 300", rules(CLOSED)),
        (watch(rules(OPEN), closed(), true), "=", "accepted changed 300", rules(CLOSED)),
        // Another that closes everything is no more confirmed than the first.
        (watch(State::Unknown, closed(), false), CLOSED_TOO, "held 300", State::Unknown),
    ] {
        walk(&mut watch, &[(0, text, expected, state)]);
    }
}

#[test]
fn ours_an_origin_is_asked_again_when_its_answer_is_stale_within_bounds() {
    for (fresh_for, wait) in
        [(None, 300), (Some(0), 60), (Some(59), 60), (Some(600), 600), (Some(86_400), 3_600)]
    {
        let fresh_for = fresh_for.map(Duration::from_secs);
        for text in [OPEN, "-", "="] {
            let heard = fresh().hear(Fetched { fresh_for, ..answer(text) }, at(0));
            assert_eq!(heard.wait.as_secs(), wait, "{text} {fresh_for:?}");
        }
        // A failure is none the better for being fresh.
        let heard = fresh().hear(Fetched { fresh_for, ..answer("!") }, at(0));
        assert_eq!(heard.wait, FIRST_RETRY);
    }
}
