//! The ladder as crawlers see it: steps, clocks, and many names.

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

use super::{climber::Climber, *};

mod fleet;

fn rules() -> policy::Ladder {
    policy::Ladder { min_violations: 3, ..policy::Ladder::default() }
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH.saturating_add(SignedDuration::from_secs(seconds)).expect("a time of day")
}

fn direction(step: &Step) -> &'static str {
    if step.to > step.from { "up" } else { "down" }
}

#[test]
fn violations_move_a_crawler_up_and_compliance_moves_it_down() {
    use Rung::{Block, Observe, Throttle};
    const HOUR: i64 = 3_600;
    let mut climber = Climber::new(at(0));
    // The time, requests that obey, requests that violate, and the rung afterwards.
    for (time, good, bad, rung) in [
        (0, 0, 2, Observe),
        (10, 100, 0, Observe),
        (20, 0, 9, Observe),  // 11 of 111 are below one tenth
        (30, 0, 1, Throttle), // 12 of 112 are above it
        (40, 0, 2, Throttle), // a new count
        (50, 0, 1, Block),
        (60, 0, 500, Block),             // the top rung
        (50 + HOUR, 50, 0, Block),       // a period with violations
        (50 + 2 * HOUR, 1, 0, Throttle), // a period without
        (51 + 2 * HOUR, 0, 2, Throttle),
        (51 + 3 * HOUR, 0, 0, Observe), // a large share, but few violations
        (60 + 3 * HOUR, 0, 4, Throttle),
        (80 + 6 * HOUR, 10, 0, Observe), // no request is compliance
        (90 + 99 * HOUR, 10, 0, Observe),
    ] {
        climber.settle(&rules(), at(time));
        for is_violation in [vec![false; good], vec![true; bad]].concat() {
            climber.note(&rules(), is_violation, at(time));
        }
        assert_eq!(climber.rung, rung, "at {time}");
    }
}

/// Two weeks of a crawler that comes every twelve hours and violates the rules 30 times in 30 minutes, and
/// obeys while nothing comes. Returns how often it climbed, with or without a memory of climbs.
fn climbs_of_two_weeks(has_memory: bool) -> usize {
    let (rules, mut climber) = (policy::Ladder::default(), Climber::new(at(0)));
    let mut climbs = 0;
    for minute in 0..14 * 24 * 60 {
        let now = at(60 * minute);
        let step = match minute % (12 * 60) < 30 {
            true => climber.note(&rules, true, now),
            false => climber.settle(&rules, now),
        };
        climbs += usize::from(step.is_some_and(|step| step.to > step.from));
        if !has_memory {
            climber.forget_climbs();
        }
    }
    climbs
}

#[test]
fn a_rung_that_was_left_is_harder_to_leave_again() {
    assert_eq!((climbs_of_two_weeks(false), climbs_of_two_weeks(true)), (56, 9));
    let (rules, mut climber) = (rules(), Climber::new(at(0)));
    const HOUR: i64 = 3_600;
    let mut now = 0;
    for hours in [1, 2, 4, 8, 16, 32, 64, 128, 168, 168] {
        (0..3).for_each(|_| _ = climber.note(&rules, true, at(now)));
        assert_eq!(climber.rung, Rung::Throttle);
        assert_eq!(climber.comes_down(&rules), at(now + hours * HOUR));
        let mut down = None;
        while down.is_none() {
            now += HOUR;
            down = climber.settle(&rules, at(now));
            assert!(down.is_some() || climber.comes_down(&rules) > at(now), "{hours}");
        }
        assert_eq!(down.map(|step| step.at), Some(at(now)));
    }
    assert_eq!(climber.returns, 9);
    // A week without a climb, and it is a new one.
    (1..=168).for_each(|hour| _ = climber.settle(&rules, at(now + hour * HOUR)));
    assert!(climber.is_at_rest());
}

#[test]
fn a_violation_beyond_the_limits_starts_the_time_on_a_rung_again() {
    let (rules, mut climber) = (rules(), Climber::new(at(0)));
    (0..9).for_each(|_| _ = climber.note(&rules, true, at(0)));
    assert_eq!((climber.rung, climber.comes_down(&rules)), (Rung::Block, at(2 * 3_600)));
    assert_eq!(climber.settle(&rules, at(3_600)), None);
    assert_eq!(climber.comes_down(&rules), at(2 * 3_600));
}

#[test]
fn a_step_has_a_reason() {
    let mut climber = Climber::new(at(0));
    let steps: Vec<_> = (0..6).filter_map(|_| climber.note(&rules(), true, at(1))).collect();
    let shown: Vec<_> =
        steps.iter().map(|step| (step.to.as_str(), direction(step), step.to_string())).collect();
    let why = "3 of its 3 requests within 3600 s violated the rules".to_owned();
    assert_eq!(shown, [("throttle", "up", why.clone()), ("block", "up", why)]);
    let step = climber.settle(&rules(), at(4_000)).expect("it sent no request");
    assert_eq!((step.to, direction(&step)), (Rung::Throttle, "down"));
    assert_eq!(step.to_string(), "no request for 3600 s");
}

#[test]
fn a_clock_change_moves_a_crawler_by_one_rung_at_most() {
    let blocked = || {
        let mut climber = Climber::new(at(0));
        let steps = (0..6).filter_map(|_| climber.note(&rules(), true, at(0)));
        assert_eq!(steps.count(), 2);
        assert_eq!(climber.rung, Rung::Block);
        climber
    };
    const TEN_YEARS: i64 = 10 * 365 * 86_400;
    let mut leapt = blocked();
    assert!(leapt.settle(&rules(), at(TEN_YEARS)).is_some());
    assert!(leapt.settle(&rules(), at(TEN_YEARS)).is_none());
    assert_eq!(leapt.rung, Rung::Throttle);
    // Set back: it moves down after one period of the new time.
    let mut back = blocked();
    assert!(back.settle(&rules(), at(-TEN_YEARS)).is_none());
    assert!(back.settle(&rules(), at(-TEN_YEARS + 3_600)).is_some());
    for extreme in [Timestamp::MIN, Timestamp::MAX, Timestamp::MIN] {
        back.note(&rules(), true, extreme);
        back.settle(&rules(), extreme);
    }
}

fn network(number: u32) -> Network {
    Network::of((number << 8).to_be_bytes().into())
}

#[test]
fn violations_under_a_borrowed_name_do_not_move_the_real_crawler() {
    let catalogue = policy::built_in_catalogue();
    let bingbot = Name::Known(catalogue.find("bingbot").expect("a known crawler"));
    let mut ladder = Ladder::default();
    // A name of the catalogue has one rung for all its networks.
    let moves: Vec<_> = (0..4)
        .filter_map(|number| {
            let impostor = (Outcome::Contradicted, network(number));
            ladder.note(("a.example", &rules()), bingbot, impostor, true, at(0))
        })
        .collect();
    assert_eq!(moves.len(), 1);
    assert_eq!((moves[0].key.product_token.as_str(), moves[0].key.network), ("bingbot", None));
    assert_eq!(ladder.rung(bingbot, Outcome::Contradicted, network(9)), Rung::Throttle);
    assert_eq!(ladder.rung(bingbot, Outcome::Confirmed, network(1)), Rung::Observe);
    assert!(ladder.settle(&rules(), at(60)).is_empty());
    assert_eq!(ladder.settle(&rules(), at(3_600)).len(), 1, "one violation is below the limit");
    assert!(ladder.settle(&rules(), at(7_200)).is_empty());
    assert!(!ladder.named.is_empty(), "its next climb is a return");
    assert!(ladder.settle(&rules(), at(3_600 + 7 * 86_400)).is_empty());
    assert!(ladder.named.is_empty(), "the ladder forgets it after a week");
}

#[test]
fn invented_names_share_a_rung_for_each_network() {
    let mut ladder = Ladder::default();
    let fresh = |number| format!("Fresh{number}Bot");
    for number in 0..6 {
        let name = fresh(number);
        let claim = (Outcome::Unverifiable, network(1));
        ladder.note(("a.example", &rules()), Name::Declared(&name), claim, true, at(0));
    }
    let rung = |number, name: &str| {
        ladder.rung(Name::Declared(name), Outcome::Unverifiable, network(number))
    };
    assert_eq!((rung(1, &fresh(99)), rung(2, &fresh(1))), (Rung::Block, Rung::Observe));
}

#[test]
fn declared_names_are_bounded_and_evict_no_known_crawler() {
    let catalogue = policy::built_in_catalogue();
    let gptbot = Name::Known(catalogue.find("GPTBot").expect("a known crawler"));
    let (mut ladder, unknown) = (Ladder::default(), Outcome::Unknown);
    for climbs in [gptbot, Name::Declared("firstbot")] {
        let claim = (unknown, network(0));
        (0..3).for_each(|_| drop(ladder.note(("a.example", &rules()), climbs, claim, true, at(0))));
    }
    for number in 0..2 * MOST_DECLARED as u32 + 5 {
        let claim = (unknown, network(1 + number));
        ladder.note(("a.example", &rules()), Name::Declared("xbot"), claim, true, at(0));
    }
    assert!(ladder.declared.len() <= MOST_DECLARED);
    assert_eq!(ladder.rung(gptbot, unknown, network(7)), Rung::Throttle);
    assert_eq!(ladder.rung(Name::Declared("xbot"), unknown, network(0)), Rung::Throttle);
    // Networks that move up are bounded as well.
    for number in 0..MOST_DECLARED as u32 {
        let claim = (unknown, network(number));
        let mut note =
            || ladder.note(("a.example", &rules()), Name::Declared("ybot"), claim, true, at(0));
        (0..3).for_each(|_| drop(note()));
    }
    assert!(ladder.declared.len() <= MOST_DECLARED);
    assert_eq!(ladder.rung(gptbot, unknown, network(7)), Rung::Throttle);
}

proptest! {
    #[test]
    fn no_call_moves_by_more_than_one_rung(
        calls in proptest::collection::vec((any::<Option<bool>>(), -9_000_i64..9_000), 0..200)
    ) {
        let (mut climber, mut now) = (Climber::new(at(0)), 0);
        for (is_violation, later) in calls {
            now += later;
            let before = climber.rung;
            let step = match is_violation {
                Some(is_violation) => climber.note(&rules(), is_violation, at(now)),
                None => climber.settle(&rules(), at(now)),
            };
            let after = climber.rung;
            prop_assert_eq!(step.map(|step| (step.from, step.to)), (before != after).then_some((before, after)));
            prop_assert!((before as i8 - after as i8).abs() <= 1);
        }
    }

    #[test]
    fn a_crawler_without_violations_never_moves_up(
        calls in proptest::collection::vec(-9_000_i64..9_000, 0..500)
    ) {
        let (mut climber, mut now) = (Climber::new(at(0)), 0);
        for later in calls {
            now += later;
            prop_assert_eq!(climber.note(&rules(), false, at(now)), None);
        }
        prop_assert_eq!(climber.rung, Rung::Observe);
    }
}
