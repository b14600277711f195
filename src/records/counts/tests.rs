//! What is read again, and what is forgotten.

use jiff::Timestamp;

use super::{hours::day, *};
use crate::records::tally::{Claimant, PlaceKind};

const HOUR: i64 = 3_600_000;

fn texts<'a>(site: &'a str, product_token: &'a str, action: &'a str) -> SeriesTexts<'a> {
    SeriesTexts {
        kind: [site, "crawler", product_token, "", "unknown", "", action, "", ""],
        rule: ["00ff", "disallow", "/"],
        line: 2,
    }
}

/// The series of a database, by their ids.
type AllSeries<'a> = [(i64, SeriesTexts<'a>)];

/// Takes in the missing hours of everything, and returns them; `read` has the counts of each hour by the
/// ids of series.
fn take_in(
    table: &mut Table,
    all: &AllSeries<'_>,
    current: &[(i64, i64)],
    read: &[(i64, i64, u64)],
) -> Vec<i64> {
    let missing = table.missing(Part::Requests, current, &Question::default());
    for hour in &missing {
        let mut gathered = Gathered::default();
        for &(_, id, requests) in read.iter().filter(|(at, ..)| *at == hour.0) {
            if let Some((_, texts)) = all.iter().find(|one| one.0 == id) {
                let series = table.series.find(id).unwrap_or_else(|| table.series.add(id, texts));
                gathered.add(series, requests);
            }
        }
        table.take_in(Part::Requests, *hour, gathered);
    }
    missing.into_iter().map(|(hour, _)| hour).collect()
}

fn sums(table: &mut Table, by: &[Dimension]) -> Vec<(Vec<String>, u64)> {
    let question = Question { by: by.to_vec(), ..Question::default() };
    let counted = table.counted(&question).into_iter();
    counted
        .map(|one| (one.key.iter().map(|text| text.to_string()).collect(), one.requests))
        .collect()
}

#[test]
fn only_what_changed_is_read_again() {
    let mut table = Table::default();
    let series = [(1, texts("a.example", "GPTBot", "pass"))];
    let hours = [(0, 10), (HOUR, 11), (2 * HOUR, 12), (3 * HOUR, 13)];
    let all: Vec<_> = hours.iter().map(|&(hour, _)| (hour, 1, 1)).collect();
    assert_eq!(take_in(&mut table, &series, &hours, &all), [0, HOUR, 2 * HOUR, 3 * HOUR]);
    assert_eq!(take_in(&mut table, &series, &hours, &[]), [0_i64; 0]);
    // The second and the last hour changed.
    let hours = [(0, 10), (HOUR, 21), (2 * HOUR, 12), (3 * HOUR, 23)];
    let changed = [(HOUR, 1, 5), (3 * HOUR, 1, 7)];
    assert_eq!(take_in(&mut table, &series, &hours, &changed), [HOUR, 3 * HOUR]);
    assert_eq!(sums(&mut table, &[]), [(vec![], 1 + 5 + 1 + 7)]);
    // The first ones are gone.
    assert_eq!(take_in(&mut table, &series, &hours[2..], &[]), [0_i64; 0]);
    assert_eq!(sums(&mut table, &[]), [(vec![], 1 + 7)]);
}

#[test]
fn an_id_that_is_given_again_is_another_series() {
    let mut table = Table::default();
    let of = |second| [(1, texts("a.example", "GPTBot", "pass")), (2, second)];
    let before = of(texts("a.example", "bingbot", "pass"));
    take_in(&mut table, &before, &[(0, 1), (HOUR, 1)], &[(0, 2, 4), (HOUR, 1, 1)]);
    // The hour of the second series goes, and with it the series.
    let after = of(texts("a.example", "CCBot", "log"));
    let hours = [(HOUR, 1), (5 * HOUR, 1)];
    take_in(&mut table, &after, &hours, &[(5 * HOUR, 2, 9)]);
    let by = [Dimension::ProductToken];
    let expected = [(vec!["CCBot".to_owned()], 9), (vec!["GPTBot".to_owned()], 1)];
    assert_eq!(sums(&mut table, &by), expected);
}

#[test]
fn names_count_in_any_case_and_texts_do_not() {
    let mut table = Table::default();
    let series =
        [(1, texts("a.example", "GPTBot", "pass")), (2, texts("A.EXAMPLE", "gptbot", "PASS"))];
    take_in(&mut table, &series, &[(0, 1)], &[(0, 1, 1), (0, 2, 2)]);
    let by = [Dimension::Site, Dimension::ProductToken];
    assert_eq!(sums(&mut table, &by), [(vec!["a.example".to_owned(), "GPTBot".to_owned()], 3)]);
    let expected = [(vec!["PASS".to_owned()], 2), (vec!["pass".to_owned()], 1)];
    assert_eq!(sums(&mut table, &[Dimension::Action]), expected);
    let question = Question { site: Some("A.Example".to_owned()), ..Question::default() };
    assert_eq!(table.counted(&question).first().map(|one| one.violations), Some(2));
}

#[test]
fn counts_beyond_a_number_stay_exact() {
    let mut table = Table::default();
    let series = table.series.add(1, &texts("a.example", "GPTBot", "log"));
    let large = 3 * u64::from(u32::MAX) + 17;
    let hours: Vec<_> = (0..30).map(|hour| (hour * HOUR, 1)).collect();
    for hour in table.missing(Part::Requests, &hours, &Question::default()) {
        let mut gathered = Gathered::default();
        gathered.add(series, large);
        gathered.add_unrecorded(series, large - 1, large - 2);
        table.take_in(Part::Requests, hour, gathered);
    }
    for by in [vec![], vec![Dimension::Day], vec![Dimension::Hour]] {
        let counted = table.counted(&Question { by, ..Question::default() });
        let sum = |value: fn(&Counted) -> u64| counted.iter().map(value).sum::<u64>();
        assert_eq!(sum(|one| one.requests), 30 * large);
        assert_eq!(sum(|one| one.violations), 30 * large);
        assert_eq!(sum(|one| one.folded), 30 * (large - 1));
        assert_eq!(sum(|one| one.dropped), 30 * (large - 2));
    }
}

#[test]
fn places_are_those_of_their_kind_owner_and_span() {
    let mut table = Table::default();
    let hours: Vec<_> = (0..50).map(|hour| (hour * HOUR, 1)).collect();
    let (path, network) = (PlaceKind::Path, PlaceKind::Network);
    for hour in table.missing(Part::Places, &hours, &Question::default()) {
        let mut gathered = Gathered::default();
        for (kind, names, violations) in [
            (path, ["a.example", "GPTBot", "/a"], 1),
            (path, ["b.example", "gptbot", "/a"], 2),
            (path, ["b.example", "gptbot", "/b"], 3),
            (network, ["a.example", "GPTBot", "/a"], 9),
        ] {
            gathered.add(table.place((kind, Claimant::Crawler), names), violations);
        }
        table.take_in(Part::Places, hour, gathered);
    }
    let at = |hour: i64| Timestamp::from_millisecond(hour * HOUR).expect("a time");
    let mut places = |site: Option<&str>, since, until, limit| {
        let site = site.map(str::to_owned);
        let product_token = Some("GPTBOT".to_owned());
        let span = Question { since: at(since), until: at(until), ..Question::default() };
        let question = Question { site, product_token, ..span };
        let places = table.places(PlaceKind::Path, &question, limit);
        places.into_iter().map(|one| (one.key.to_string(), one.violations)).collect::<Vec<_>>()
    };
    let (a, b) = ("/a".to_owned(), "/b".to_owned());
    // A whole day, a part of one, and no more than asked for.
    assert_eq!(places(None, 0, 50, 9), [(a.clone(), 150), (b.clone(), 150)]);
    assert_eq!(places(Some("B.example"), 20, 50, 9), [(b, 90), (a.clone(), 60)]);
    assert_eq!(places(None, 23, 25, 1), [(a, 6)]);
    assert_eq!(places(Some("c.example"), 0, 50, 9), []);
    assert_eq!(places(None, 0, 50, 0), []);
}

#[test]
fn a_day_begins_at_midnight_before_1970_too() {
    for (hour, start) in [(0, 0), (23, 0), (24, 24), (-1, -24), (-24, -24), (-25, -48)] {
        assert_eq!(day(hour * HOUR), start * HOUR);
    }
}

#[test]
fn the_first_hour_is_that_of_what_is_asked_for() {
    let mut table = Table::default();
    let series =
        [(1, texts("a.example", "GPTBot", "pass")), (2, texts("b.example", "GPTBot", "pass"))];
    let hours = [(5 * HOUR, 1), (30 * HOUR, 1), (60 * HOUR, 1)];
    take_in(&mut table, &series, &hours, &[(5 * HOUR, 1, 1), (30 * HOUR, 2, 1), (60 * HOUR, 1, 1)]);
    let at = |hour: i64| Timestamp::from_millisecond(hour * HOUR).expect("a time");
    for (site, since, until, expected) in [
        (None, 0, 99, Some(5)),
        (None, 6, 99, Some(30)),
        (Some("B.example"), 0, 99, Some(30)),
        (Some("a.example"), 6, 99, Some(60)),
        (Some("a.example"), 6, 60, None),
        (Some("c.example"), 0, 99, None),
    ] {
        let site = site.map(str::to_owned);
        let question = Question { since: at(since), until: at(until), site, ..Question::default() };
        assert_eq!(table.first_hour(&question), expected.map(at), "{question:?}");
    }
}
