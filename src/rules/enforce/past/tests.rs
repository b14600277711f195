//! Sequences of editions: which are kept, and for how long.

use super::*;
use crate::rules::enforce::EditionId;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).expect("a time")
}

fn edition(path: &str) -> Arc<Edition> {
    Arc::new(Edition::of_bytes(format!("User-agent: *\nDisallow: {path}\n").into()))
}

fn name(edition: &Edition) -> String {
    let rules = edition.file().groups.iter().flat_map(|group| &group.rules);
    rules.map(|rule| rule.pattern.clone()).collect()
}

/// `name from until` of each, the one in force first.
fn shown(editions: &Editions) -> String {
    let past = editions.past.iter().map(|past| {
        let (from, until) = (past.from.as_second(), past.until.as_second());
        format!("{} {from} {until}", name(&past.edition))
    });
    let now =
        editions.in_force.iter().map(|(now, from)| format!("{} {}", name(now), from.as_second()));
    now.chain(past).collect::<Vec<_>>().join(", ")
}

fn published(steps: &[(&str, i64)]) -> Editions {
    let ((path, second), rest) = steps.split_first().expect("a first one");
    let mut editions = Editions::first(edition(path), at(*second));
    rest.iter().for_each(|(path, second)| editions.publish(edition(path), at(*second)));
    editions
}

#[test]
fn editions_follow_each_other_and_the_same_bytes_are_the_same_edition() {
    let steps = [("/a", 0), ("/a", 5), ("/b", 10), ("/a", 20), ("/c", 30)];
    for (count, expected) in [
        (1, "/a 0"),
        (2, "/a 0"),
        (3, "/b 10, /a 0 10"),
        (4, "/a 20, /b 10 20, /a 0 10"),
        (5, "/c 30, /a 20 30, /b 10 20"),
    ] {
        assert_eq!(shown(&published(&steps[..count])), expected);
    }
    let mut editions = published(&steps);
    editions.without_before(at(20));
    assert_eq!(shown(&editions), "/c 30, /a 20 30");
}

#[test]
fn a_moved_host_takes_the_editions_of_its_time() {
    let editions = published(&[("/a", 0), ("/b", 10), ("/c", 20), ("/a", 30)]);
    for (from, until, expected) in [
        (0, 40, "/c 20 30, /b 10 20, /a 0 10, /a 30 40"),
        (5, 15, "/b 10 15, /a 0 10"),
        (20, 30, "/c 20 30"),
        (30, 30, ""),
    ] {
        let found = editions.between(at(from), at(until)).map(|past| {
            let (from, until) = (past.from.as_second(), past.until.as_second());
            format!("{} {from} {until}", name(&past.edition))
        });
        assert_eq!(found.collect::<Vec<_>>().join(", "), expected, "{from} {until}");
    }
}

#[test]
fn r6_stored_periods_go_on() {
    let period = |path: &str, from, until: Option<i64>| Period {
        edition: edition(path),
        from: at(from),
        until: until.map(at),
    };
    let periods =
        || vec![period("/a", 0, Some(10)), period("/b", 10, Some(20)), period("/a", 20, None)];
    for (path, now, expected, modified) in [
        ("/a", 50, "/a 20, /b 10 20, /a 0 10", 20),
        ("/c", 50, "/c 50, /a 20 50, /b 10 20", 50),
        // The clock stands before the stored times.
        ("/a", 15, "/a 15, /b 10 15, /a 0 10", 20),
        ("/c", 5, "/c 5, /a 5 5, /b 5 5", 21),
    ] {
        let mut editions = Editions::of(periods(), at(now)).expect("there are periods");
        editions.publish(edition(path), at(now));
        assert_eq!(shown(&editions), expected, "{path} at {now}");
        assert_eq!(editions.last_modified, at(modified), "{path} at {now}");
    }
    assert!(Editions::of(Vec::new(), at(0)).is_none());
}

#[test]
fn editions_that_are_read_later_join_the_others() {
    let ended = |path: &str, from| Period {
        edition: edition(path),
        from: at(from),
        until: Some(at(from + 10)),
    };
    let older = Editions::of(vec![ended("/a", 0), ended("/b", 10)], at(50)).expect("two periods");
    let mut editions = published(&[("/c", 20), ("/d", 30)]);
    editions.recall(&older, at(50));
    assert_eq!(shown(&editions), "/d 30, /c 20 30, /b 10 20, /a 0 10");
}

#[test]
fn rfc9110_8_8_2_each_edition_has_a_later_last_modified() {
    let mut editions = published(&[("/a", 100)]);
    let mut last = editions.last_modified;
    // Several in one second, then with the clock put back.
    for (path, now) in [("/b", 100), ("/c", 100), ("/a", 101), ("/b", 7), ("/c", 200)] {
        editions.publish(edition(path), at(now));
        assert!(editions.last_modified.as_second() > last.as_second(), "{path} at {now}");
        last = editions.last_modified;
    }
    assert_eq!(last, at(200));
}

#[test]
fn older_editions_are_summed_up_and_none_is_forgotten() {
    let text = |number: i64| format!("User-agent: *\nDisallow: /both/\nDisallow: /{number}/\n");
    let numbered = |number| Arc::new(Edition::of_bytes(text(number).into()));
    let mut editions = Editions::first(numbered(0), at(0));
    let count = 1_500;
    for number in 1..=count {
        editions.publish(numbered(number), at(60 * number));
    }
    let now = 60 * count;
    assert_eq!(editions.past.len(), ROOM.editions);
    assert_eq!(editions.past.iter().map(Past::count).sum::<usize>(), count as usize);
    let known: Vec<EditionId> = (0..count).map(|number| numbered(number).id()).collect();
    for id in &known {
        assert!(editions.past.iter().any(|past| past.is_one_of(&[*id])));
    }
    // What all disallow is disallowed; the last editions are apart.
    for past in &editions.past {
        let rules: Vec<_> = past.edition.file().groups.iter().flat_map(|one| &one.rules).collect();
        assert!(rules.iter().any(|rule| rule.pattern == "/both/"), "{rules:?}");
        assert_eq!(rules.len(), if past.count() == 1 { 2 } else { 1 }, "{rules:?}");
        // A sum is no wider than a part of its age.
        let (span, age) =
            (past.until.as_second() - past.first.as_second(), now - past.until.as_second());
        assert!(span <= 60 + age / 2, "{span} s, {age} s ago");
    }
    assert!(editions.past.iter().take(4).all(|past| past.count() == 1));
    // The oldest end like any other.
    editions.without_before(at(now - 3_600));
    assert!(editions.past.iter().all(|past| past.until > at(now - 3_600)));
}

#[test]
fn the_files_of_past_editions_have_a_bounded_size() {
    let text = "/with/some/text".repeat(20);
    let rules: String = (0..1_000).map(|number| format!("Disallow: /{number}{text}\n")).collect();
    let numbered = |number: i64| {
        Arc::new(Edition::of_bytes(format!("User-agent: *\nDisallow: /n{number}\n{rules}").into()))
    };
    let size = numbered(0).bytes().len();
    let periods = (0..30).map(|number| Period {
        edition: numbered(number),
        from: at(number * 60),
        until: Some(at(number * 60 + 60)),
    });
    let editions = Editions::of(periods.collect(), at(3_600)).expect("there are periods");
    let bytes = editions.past.iter().map(|past| past.edition.bytes().len()).sum::<usize>();
    assert!(30 * size > 2 * ROOM.bytes && bytes <= ROOM.bytes, "{bytes}");
    assert_eq!(editions.past.iter().map(Past::count).sum::<usize>(), 30);
}
