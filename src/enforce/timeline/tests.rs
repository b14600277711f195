//! Sequences of editions: which are kept, and for how long.

use super::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).expect("a time")
}

fn edition(path: &str) -> Arc<Edition> {
    Arc::new(Edition::of_bytes(format!("User-agent: *\nDisallow: {path}\n").into()))
}

/// `name from until` of each, the one in force first.
fn shown(timeline: &Timeline) -> String {
    let name = |edition: &Edition| {
        let rules = edition.file().groups.iter().flat_map(|group| &group.rules);
        rules.map(|rule| rule.pattern.clone()).collect::<String>()
    };
    let past = timeline.past.iter().map(|past| {
        let (from, until) = (past.from.as_second(), past.until.as_second());
        format!(", {} {from} {until}", name(&past.edition))
    });
    let now = format!("{} {}", name(&timeline.current), timeline.since.as_second());
    [now].into_iter().chain(past).collect()
}

#[test]
fn editions_follow_each_other_and_the_same_bytes_are_the_same_edition() {
    let one = Timeline::new(edition("/a"), at(0));
    let same = one.followed_by(edition("/a"), at(5));
    let two = same.followed_by(edition("/b"), at(10));
    let three = two.followed_by(edition("/a"), at(20));
    let four = three.followed_by(edition("/c"), at(30));
    for (timeline, expected) in [
        (&same, "/a 0"),
        (&two, "/b 10, /a 0 10"),
        (&three, "/a 20, /b 10 20"),
        (&four, "/c 30, /a 20 30, /b 10 20"),
        (&four.clone().without_before(at(20)), "/c 30, /a 20 30"),
    ] {
        assert_eq!(shown(timeline), expected);
    }
}

#[test]
fn equivalent_editions_are_one() {
    let commented = |number: i64| {
        let text = format!("# made at {number}\nUser-agent: *\nDisallow: /x # {number}\n");
        Arc::new(Edition::of_bytes(text.into()))
    };
    let mut timeline = Timeline::new(edition("/"), at(0));
    for number in 1..=300 {
        timeline = timeline.followed_by(commented(number), at(number));
    }
    assert_eq!(shown(&timeline), "/x 300, / 0 1");
    assert!(timeline.keeps(commented(7).id()) && timeline.forgotten().is_none());
    // After the next edition, each of them was in force until now.
    let next = timeline.followed_by(edition("/y"), at(400));
    assert_eq!(shown(&next), "/y 400, /x 300 400, / 0 1");
    let known = [commented(7).id()];
    assert!(next.past.first().is_some_and(|past| past.is_one_of(&known)));
    assert!(!next.without_before(at(8)).past.iter().any(|past| past.is_one_of(&known)));
}

#[test]
fn a_site_that_takes_over_hosts_takes_over_their_editions() {
    let one = Timeline::new(edition("/a"), at(0)).followed_by(edition("/b"), at(10));
    let other = Timeline::new(edition("/c"), at(5));
    let after = one.followed_by(edition("/d"), at(20)).after(&other, at(20));
    assert_eq!(shown(&after), "/d 20, /b 10 20, /c 5 20, /a 0 10");
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
        ("/a", 50, "/a 20, /b 10 20", 20),
        ("/c", 50, "/c 50, /a 20 50, /b 10 20", 50),
        // The clock stands before the stored times.
        ("/a", 15, "/a 15, /b 10 15", 20),
        ("/c", 5, "/c 5, /a 5 5, /b 5 5", 21),
    ] {
        let timeline = Timeline::resume(periods(), edition(path), at(now));
        assert_eq!(shown(&timeline), expected, "{path} at {now}");
        assert_eq!(timeline.last_modified(), at(modified), "{path} at {now}");
    }
}

#[test]
fn rfc9110_8_8_2_each_edition_has_a_later_last_modified() {
    let mut timeline = Timeline::new(edition("/a"), at(100));
    let mut last = timeline.last_modified();
    // Several in one second, then with the clock put back.
    for (path, now) in [("/b", 100), ("/c", 100), ("/a", 101), ("/b", 7), ("/c", 200)] {
        timeline = timeline.followed_by(edition(path), at(now));
        assert!(timeline.last_modified().as_second() > last.as_second(), "{path} at {now}");
        last = timeline.last_modified();
    }
    assert_eq!(last, at(200));
}

#[test]
fn too_many_changes_excuse_crawlers_whose_fetch_is_unknown() {
    let mut timeline = Timeline::new(edition("/x"), at(0));
    for number in 1..=MAX_PAST as i64 + 2 {
        timeline = timeline.followed_by(edition(&format!("/{number}")), at(number));
    }
    timeline = timeline.followed_by(edition("/"), at(100));
    let excuse = |known: &KnownEditions, start| {
        let star = timeline.current.matcher().star().expect("a group");
        let doubt = timeline.doubt(star, None, std::iter::empty());
        timeline.excuse(doubt, at(start), |_, _| false, || known.clone()).is_some()
    };
    let current = KnownEditions::Of(vec![timeline.current.id()]);
    assert!(excuse(&KnownEditions::Any, 0) && !excuse(&KnownEditions::Any, 50));
    assert!(!excuse(&current, 0));
    let forgotten = KnownEditions::Of(vec![edition("/x").id()]);
    assert!(excuse(&forgotten, 0));
}
