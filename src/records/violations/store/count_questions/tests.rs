use std::collections::BTreeMap;

use jiff::Timestamp;
use proptest::prelude::*;

use super::*;
use crate::records::{
    counts::{Counted, Referral},
    tally::{
        Claimant, Hour, PeopleCount, PlaceCount, ReadState, ReferralCount, Rollup, Rollups, Series,
    },
    violations::{retention::Piece, store::tests::both::Both},
};

const ALL: [Dimension; 15] = [
    Dimension::Site,
    Dimension::Class,
    Dimension::ProductToken,
    Dimension::Purpose,
    Dimension::Standing,
    Dimension::Verdict,
    Dimension::Action,
    Dimension::Reason,
    Dimension::Edition,
    Dimension::Directive,
    Dimension::Pattern,
    Dimension::Line,
    Dimension::ReadState,
    Dimension::Hour,
    Dimension::Day,
];

fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(&folder.path().join("beadle.db")).expect("a database");
    (folder, store)
}

fn at(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

prop_compose! {
    fn series()(
        site in prop::sample::select(vec!["a.example", "b.example"]),
        token in prop::sample::select(vec!["GPTBot", "bingbot", ""]),
        purpose in prop::sample::select(vec!["ai-training", ""]),
        action in prop::sample::select(vec!["pass", "log", "block"]),
        standing in prop::sample::select(vec!["unknown", "contradicted"]),
        line in 0_u32..3,
        read in prop::sample::select(vec![None, Some(ReadState::Never), Some(ReadState::Older)]),
    ) -> Series {
        Series {
            site: Text::word(site),
            class: Text::word(if token.is_empty() { "automation" } else { "crawler" }),
            product_token: Text::word(token),
            purpose: Text::word(purpose),
            standing: Text::word(standing),
            verdict: Text::word(if action == "pass" { "allow" } else { "disallow" }),
            action: Text::word(action),
            reason: Text::word("robots.disallow"),
            edition: Text::word("0123456789abcdef"),
            line,
            directive: Text::word("disallow"),
            pattern: Text::from(format!("/{line}/")),
            read,
        }
    }
}

prop_compose! {
    fn rollup()(series in series(), hour in 0_i64..72, requests in 1_u64..100, folded in 0_u64..9)
        -> Rollup
    {
        let first = at("2026-11-20T00:00:00Z").as_millisecond();
        let hour = Hour::from_millisecond(first + hour * 3_600_000);
        Rollup { hour, series, requests, folded, dropped: requests / 50 }
    }
}

fn value(rollup: &Rollup, dimension: Dimension) -> Text {
    let series = &rollup.series;
    let begin = |length: i64| {
        let hour = rollup.hour.as_millisecond();
        let time = Timestamp::from_millisecond(hour - hour % length).expect("a time");
        Text::from(time.to_string())
    };
    match dimension {
        Dimension::Site => series.site.clone(),
        Dimension::Class => series.class.clone(),
        Dimension::ProductToken => series.product_token.clone(),
        Dimension::Purpose => series.purpose.clone(),
        Dimension::Standing => series.standing.clone(),
        Dimension::Verdict => series.verdict.clone(),
        Dimension::Action => series.action.clone(),
        Dimension::Reason => series.reason.clone(),
        Dimension::Edition => series.edition.clone(),
        Dimension::Directive => series.directive.clone(),
        Dimension::Pattern => series.pattern.clone(),
        Dimension::Line => Text::from(series.line.to_string()),
        Dimension::ReadState => Text::word(series.read.map_or("", ReadState::as_str)),
        Dimension::Hour => begin(3_600_000),
        Dimension::Day => begin(24 * 3_600_000),
    }
}

fn by_key(counted: Vec<Counted>) -> BTreeMap<Vec<String>, [u64; 4]> {
    let row = |one: Counted| {
        let key = one.key.iter().map(|text| text.to_string()).collect();
        (key, [one.requests, one.violations, one.folded, one.dropped])
    };
    counted.into_iter().map(row).collect()
}

/// One count for each series of an hour, as a run counts.
fn added_up(rollups: &[Rollup]) -> Vec<Rollup> {
    let mut sums: Vec<Rollup> = Vec::new();
    for rollup in rollups {
        let same = |one: &&mut Rollup| one.hour == rollup.hour && one.series == rollup.series;
        match sums.iter_mut().find(same) {
            Some(sum) => {
                sum.requests += rollup.requests;
                sum.folded += rollup.folded;
                sum.dropped += rollup.dropped;
            }
            None => sums.push(rollup.clone()),
        }
    }
    sums
}

/// The definition, read literally.
fn naive(rollups: &[Rollup], question: &Question) -> BTreeMap<Vec<String>, [u64; 4]> {
    let mut sums = BTreeMap::<_, [u64; 4]>::new();
    let same = |wanted: &Option<String>, found: &Text| {
        wanted.as_ref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(found))
    };
    for rollup in rollups {
        let begin = Timestamp::from_millisecond(rollup.hour.as_millisecond()).expect("a time");
        let is_violation = rollup.series.action != "pass";
        let counts = begin + std::time::Duration::from_secs(3600) > question.since
            && begin < question.until
            && same(&question.site, &rollup.series.site)
            && same(&question.product_token, &rollup.series.product_token)
            && same(&question.purpose, &rollup.series.purpose)
            && question.claimant.is_none_or(|one| one == Claimant::of(&rollup.series.standing))
            && (is_violation || !question.only_violations);
        if counts {
            let key = question.by.iter().map(|&one| value(rollup, one).to_string()).collect();
            let sum = sums.entry(key).or_default();
            sum[0] += rollup.requests;
            sum[1] += if is_violation { rollup.requests } else { 0 };
            sum[2] += rollup.folded;
            sum[3] += rollup.dropped;
        }
    }
    sums
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn counts_are_the_sums_of_what_was_added(
        rollups in prop::collection::vec(rollup(), 1..60),
        questions in prop::collection::vec(
            (
                prop::sample::subsequence(ALL.to_vec(), 0..4),
                0_i64..80, 0_i64..80, any::<bool>(),
                prop::option::of(Just("A.example".to_owned())),
                prop::option::of(Just("gptbot".to_owned())),
                prop::option::of(Just("ai-training".to_owned())),
                prop::sample::select(vec![
                    None, Some(Claimant::Crawler), Some(Claimant::Impostor),
                ]),
            ),
            8,
        ),
    ) {
        let mut both = Both::new();
        for piece in rollups.chunks(7) {
            let rollups = Rollups { series: added_up(piece), ..Rollups::default() };
            both.add_rollups(&rollups);
        }
        for (by, since, length, only_violations, site, product_token, purpose, claimant) in questions
        {
            // An hour and a day are no two periods of one question.
            let is_both = by.contains(&Dimension::Hour) && by.contains(&Dimension::Day);
            let by = if is_both { vec![Dimension::Day] } else { by };
            let minutes = |minutes: i64| jiff::SignedDuration::from_mins(minutes);
            let since = at("2026-11-20T00:30:00Z") + minutes(since * 60);
            let until = since + minutes(length * 61);
            let question = Question {
                since, until, by, site, product_token, purpose, claimant, only_violations,
            };
            for (name, store) in both.stores() {
                let counted = store.counted(&question).expect("counts");
                prop_assert_eq!(by_key(counted), naive(&rollups, &question), "{}", name);
            }
            let question =
                Question { by: vec![Dimension::Action], only_violations: false, ..question };
            let expected = naive(&rollups, &question).into_iter().map(|(mut key, sums)| {
                (key.remove(0), (sums[2], sums[3]))
            });
            let expected: Vec<_> = expected.filter(|(_, counts)| *counts != (0, 0)).collect();
            for (name, store) in both.stores() {
                let unrecorded = store.unrecorded(&question).expect("counts");
                let unrecorded = unrecorded.into_iter().map(|mut one| {
                    (one.key.remove(0).to_string(), (one.folded, one.dropped))
                });
                prop_assert_eq!(unrecorded.collect::<Vec<_>>(), expected.clone(), "{}", name);
            }
        }
    }
}

/// What happens to a database between questions.
#[derive(Clone, Debug)]
enum Event {
    Added(Vec<Rollup>),
    /// The rows before this hour go, so many at a time.
    Removed(i64, u64),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        3 => prop::collection::vec(rollup(), 1..20).prop_map(Event::Added),
        1 => (0_i64..80, 1_u64..30).prop_map(|(hour, limit)| Event::Removed(hour, limit)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn counts_in_memory_follow_the_database(events in prop::collection::vec(event(), 1..12)) {
        let (folder, mut store) = store();
        let file = folder.path().join("beadle.db");
        let first = at("2026-11-20T00:00:00Z");
        let memory = CountsInMemory::default();
        let mut rollups = Vec::new();
        for event in events {
            match event {
                Event::Added(added) => {
                    rollups.extend(added.clone());
                    let places = added.iter().map(place).collect();
                    let all = Rollups { series: added, places, ..Rollups::default() };
                    store.add_rollups(&all).expect("added");
                }
                Event::Removed(hour, limit) => {
                    let before = first + jiff::SignedDuration::from_hours(hour);
                    let piece = Piece { before, replaced_before: before, limit };
                    while store.prune(piece).expect("removed").most() > 0 {
                        // A part of the rows is a state that is asked for, too.
                        let reader = Store::open_read_only(&file).expect("a database");
                        let other = Store::open_read_only(&file).expect("a database");
                        let question = Question { by: vec![Dimension::Hour], ..Question::default() };
                        let counted = reader.sharing(&memory).counted(&question);
                        prop_assert_eq!(counted, other.counted(&question));
                    }
                    rollups.retain(|one| one.hour.as_millisecond() >= before.as_millisecond());
                }
            }
            for by in [vec![], vec![Dimension::Day, Dimension::Pattern], vec![Dimension::Hour]] {
                let question = Question { by, ..Question::default() };
                let reader = Store::open_read_only(&file).expect("a database").sharing(&memory);
                let counted = reader.counted(&question).expect("counts");
                prop_assert_eq!(by_key(counted), naive(&rollups, &question));
                let places = reader.places(PlaceKind::Path, &question, 99).expect("places");
                let violations: u64 = places.iter().map(|one| one.violations).sum();
                prop_assert_eq!(violations, rollups.iter().map(|one| one.requests).sum::<u64>());
                for claimant in [Claimant::Crawler, Claimant::Impostor] {
                    let question = Question { claimant: Some(claimant), ..question.clone() };
                    let places = reader.places(PlaceKind::Path, &question, 99).expect("places");
                    let of = |one: &&Rollup| Claimant::of(&one.series.standing) == claimant;
                    let expected: u64 = rollups.iter().filter(of).map(|one| one.requests).sum();
                    let found: u64 = places.iter().map(|one| one.violations).sum();
                    prop_assert_eq!(found, expected, "{:?}", claimant);
                }
            }
        }
    }
}

/// Each request of the rollup at a path.
fn place(rollup: &Rollup) -> PlaceCount {
    PlaceCount {
        hour: rollup.hour,
        kind: PlaceKind::Path,
        site: rollup.series.site.clone(),
        product_token: rollup.series.product_token.clone(),
        claimant: Claimant::of(&rollup.series.standing),
        place: rollup.series.pattern.clone(),
        violations: rollup.requests,
    }
}

#[test]
fn the_counts_of_an_older_database_are_found_after_the_update() {
    let (folder, mut store) = store();
    let hour = Hour::of(at("2026-11-20T10:00:00Z"));
    let rollup = Rollup { hour, series: a_series(), requests: 7, folded: 0, dropped: 0 };
    store.add_rollups(&Rollups { series: vec![rollup], ..Rollups::default() }).expect("added");
    let back = "DROP INDEX rollups_unrecorded; DROP TABLE counted_hours; DROP TABLE probed;
        DROP TABLE policy_history; DROP TABLE policy_files; ALTER TABLE held_robots DROP COLUMN discarded;
        PRAGMA user_version = 6";
    store.connection.execute_batch(back).expect("the tables of version 6");
    drop(store);
    let store = Store::open(&folder.path().join("beadle.db")).expect("it is updated");
    assert_eq!(store.counted(&Question::default()).expect("counts")[0].requests, 7);
    assert_eq!(store.first_hour(&Question::default()), Ok(Some(at("2026-11-20T10:00:00Z"))));
}

#[test]
fn another_database_in_the_same_place_is_read_anew() {
    let (folder, mut store) = store();
    let file = folder.path().join("beadle.db");
    let memory = CountsInMemory::default();
    let hour = Hour::of(at("2026-11-20T10:00:00Z"));
    let requests = |store: &mut Store, site, requests| {
        let series = Series { site: Text::word(site), ..a_series() };
        let rollup = Rollup { hour, series, requests, folded: 0, dropped: 0 };
        store.add_rollups(&Rollups { series: vec![rollup], ..Rollups::default() }).expect("added");
        let reader = Store::open_read_only(&file).expect("a database").sharing(&memory);
        let question = Question { by: vec![Dimension::Site], ..Question::default() };
        let counted = reader.counted(&question).expect("counts").into_iter();
        counted.map(|one| (one.key[0].to_string(), one.requests)).collect::<Vec<_>>()
    };
    assert_eq!(requests(&mut store, "a.example", 7), [("a.example".to_owned(), 7)]);
    drop(store);
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(folder.path().join(format!("beadle.db{end}")));
    }
    let mut store = Store::open(&file).expect("a database");
    assert_eq!(requests(&mut store, "b.example", 2), [("b.example".to_owned(), 2)]);
}

fn a_series() -> Series {
    let words = ["", "crawler", "GPTBot", "", "unknown", "allow", "pass", "robots.allow"];
    let [site, class, product_token, purpose, standing, verdict, action, reason] =
        words.map(Text::word);
    let edition = Text::word("0123456789abcdef");
    let (directive, pattern) = (Text::default(), Text::default());
    Series {
        site,
        class,
        product_token,
        purpose,
        standing,
        verdict,
        action,
        reason,
        edition,
        line: 0,
        directive,
        pattern,
        read: None,
    }
}

#[test]
fn places_people_and_referrals_add_up_over_hours() {
    let mut both = Both::new();
    let site = Text::word("a.example");
    for (hour, count) in [("2026-11-20T10:00:00Z", 2), ("2026-11-20T11:00:00Z", 3)] {
        let hour = Hour::of(at(hour));
        let place = |kind, product_token, place| PlaceCount {
            hour,
            kind,
            site: site.clone(),
            product_token: Text::word(product_token),
            claimant: Claimant::Crawler,
            place: Text::word(place),
            violations: count,
        };
        let rollups = Rollups {
            places: vec![
                place(PlaceKind::Path, "GPTBot", "/a"),
                place(PlaceKind::Path, "bingbot", "/a"),
                place(PlaceKind::Path, "bingbot", "/b"),
                place(PlaceKind::Network, "GPTBot", "192.0.2.0/24"),
            ],
            people: vec![PeopleCount { hour, site: site.clone(), requests: count }],
            referrals: vec![ReferralCount {
                hour,
                site: site.clone(),
                operator: Text::word("OpenAI"),
                visits: count,
            }],
            ..Rollups::default()
        };
        both.add_rollups(&rollups);
    }
    for (_, store) in both.stores() {
        let paths = |question: Question, limit| {
            let places = store.places(PlaceKind::Path, &question, limit).expect("places");
            places.into_iter().map(|one| (one.key.to_string(), one.violations)).collect::<Vec<_>>()
        };
        let both = [("/a".to_owned(), 10), ("/b".to_owned(), 5)];
        assert_eq!(paths(Question::default(), 9), both);
        assert_eq!(paths(Question::default(), 1), both[..1]);
        let later = Question {
            since: at("2026-11-20T11:59:00Z"),
            product_token: Some("BINGBOT".to_owned()),
            ..Question::default()
        };
        assert_eq!(paths(later, 9), [("/a".to_owned(), 3), ("/b".to_owned(), 3)]);

        let question = Question { by: vec![Dimension::Day], ..Question::default() };
        let people = store.people(&question).expect("people");
        let key = vec![Text::word("2026-11-20T00:00:00Z")];
        assert_eq!(people, [Counted { key, requests: 5, ..Counted::default() }]);
        let referrals = store.referrals(&Question::default()).expect("referrals");
        let site = site.clone();
        assert_eq!(referrals, [Referral { operator: Text::word("OpenAI"), site, visits: 5 }]);
        let by = vec![Dimension::Site, Dimension::Hour];
        let question = Question { by, site: Some("A.example".to_owned()), ..Question::default() };
        let people = store.people(&question).expect("people");
        let people: Vec<_> = people.iter().map(|one| (&*one.key[0], one.requests)).collect();
        assert_eq!(people, [("a.example", 2), ("a.example", 3)]);
        let all = store.people(&Question::default()).expect("people");
        assert_eq!(all, [Counted { requests: 5, ..Counted::default() }]);
        let nowhere = Question { site: Some("b".to_owned()), ..Question::default() };
        assert_eq!(store.people(&nowhere), Ok(vec![]));
        assert_eq!(store.first_counted_hour(), Ok(Some(at("2026-11-20T10:00:00Z"))));
    }
}
