//! The editions that count, and those that are equivalent.

use super::*;
use crate::{formats::robots, rules::enforce::past::Period};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).expect("a time")
}

fn edition(path: &str) -> Arc<Edition> {
    Arc::new(Edition::of_bytes(format!("User-agent: *\nDisallow: {path}\n").into()))
}

fn timeline(editions: &Editions, start: i64, now: i64) -> Timeline {
    Timeline::of(editions, Vec::new(), (at(start), at(now)), None).expect("it is in force")
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
fn an_earlier_time_of_the_edition_in_force_excuses_no_client() {
    let mut editions = Editions::first(edition("/a"), at(0));
    editions.publish(edition("/b"), at(10));
    editions.publish(edition("/a"), at(20));
    assert_eq!(shown(&timeline(&editions, -1, 20)), "/a 20, /b 10 20");
    assert_eq!(shown(&timeline(&editions, 20, 20)), "/a 20");
}

#[test]
fn equivalent_editions_are_one() {
    let commented = |number: i64| {
        let text = format!("# made at {number}\nUser-agent: *\nDisallow: /x # {number}\n");
        Arc::new(Edition::of_bytes(text.into()))
    };
    let mut editions = Editions::first(edition("/"), at(0));
    for number in 1..=300 {
        editions.publish(commented(number), at(number));
    }
    let before = timeline(&editions, -1, 300);
    assert_eq!(shown(&before), "/x 300, / 0 1");
    assert!(before.keeps(commented(7).id()) && before.summed_up() == 0);
    // After the next edition, each of them was in force until now.
    editions.publish(edition("/y"), at(400));
    let next = timeline(&editions, -1, 400);
    assert_eq!(shown(&next), "/y 400, /x 300 400, / 0 1");
    let known = [commented(7).id()];
    assert!(next.past.first().is_some_and(|past| past.is_one_of(&known)));
    let later = timeline(&editions, 8, 400);
    assert!(!later.past.iter().any(|past| past.is_one_of(&known)));
}

#[test]
fn editions_of_other_sites_count_like_its_own() {
    let mut own = Editions::first(edition("/a"), at(0));
    own.publish(edition("/b"), at(10));
    own.publish(edition("/d"), at(20));
    let other = Editions::first(edition("/c"), at(5));
    let inherited = other.between(at(5), at(20)).collect();
    let timeline = Timeline::of(&own, inherited, (at(-1), at(20)), None).expect("in force");
    assert_eq!(shown(&timeline), "/d 20, /b 10 20, /c 5 20, /a 0 10");
}

#[test]
fn the_comparison_is_made_again_only_for_other_editions() {
    let mut editions = Editions::first(edition("/a"), at(0));
    editions.publish(edition("/b"), at(10));
    let first = timeline(&editions, -1, 10);
    let again = Timeline::of(&editions, Vec::new(), (at(-1), at(15)), Some(&first));
    assert!(again.is_some_and(|again| Arc::ptr_eq(&again.common, &first.common)));
    // The same files, read once more.
    let mut read = Editions::first(edition("/a"), at(0));
    read.publish(edition("/b"), at(10));
    let again = Timeline::of(&read, Vec::new(), (at(-1), at(15)), Some(&first));
    assert!(again.is_some_and(|again| Arc::ptr_eq(&again.common, &first.common)));
    editions.publish(edition("/c"), at(20));
    let next = Timeline::of(&editions, Vec::new(), (at(-1), at(20)), Some(&first));
    assert!(next.is_some_and(|next| !Arc::ptr_eq(&next.common, &first.common)));
}

#[test]
fn many_changes_excuse_no_crawler_from_what_all_editions_disallow() {
    let text = |number: i64| format!("User-agent: *\nDisallow: /both/\nDisallow: /{number}/\n");
    let numbered = |number| Arc::new(Edition::of_bytes(text(number).into()));
    let period = |number: i64| Period {
        edition: numbered(number),
        from: at(number),
        until: (number < 200).then(|| at(number + 1)),
    };
    let editions = Editions::of((0..=200).map(period).collect(), at(1_000)).expect("periods");
    let timeline = timeline(&editions, -1, 1_000);
    assert!(timeline.past.len() <= ROOM.editions && timeline.summed_up() > 100);
    let excused = |path: &str, known: &KnownEditions, start: i64| {
        let matcher = timeline.current.matcher();
        let star = matcher.star().expect("a group");
        let target = robots::Target::new(path.as_bytes());
        let is_allowed = |matcher: &Matcher| {
            let star = matcher.star().expect("a group");
            matcher.verdict(star, &target).access == robots::Access::Allow
        };
        assert!(!is_allowed(matcher), "{path}");
        let rule = matcher.verdict(star, &target).rule;
        let doubt = timeline.doubt(star, rule, std::iter::empty());
        let allows = |matcher: &Matcher, _| is_allowed(matcher);
        timeline.excuse(doubt, at(start), allows, || known.clone()).is_some()
    };
    let of = |number| KnownEditions::Of(vec![numbered(number).id()]);
    for (path, known, start, expected) in [
        ("/both/x", KnownEditions::Any, -1, false),
        ("/both/x", of(3), -1, false),
        ("/both/x", of(200), -1, false),
        ("/200/x", KnownEditions::Any, -1, true),
        ("/200/x", KnownEditions::Any, 200, false),
        ("/200/x", of(3), -1, true),
        ("/200/x", of(199), -1, true),
        ("/200/x", of(200), -1, false),
    ] {
        assert_eq!(excused(path, &known, start), expected, "{path} {known:?} {start}");
    }
}
