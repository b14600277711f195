//! Messages read and written, and states that do not depend on the order of messages.

use jiff::Timestamp;
use proptest::prelude::*;

use crate::{
    clients::conduct::{
        BreakerCount, Fetches, Key, LadderCount, LadderKey, Limit, Network, Observations, Opening,
        PaceCount, RefusedCount, RungStep,
    },
    formats::robots::Pace,
    rules::{
        crawlers::Outcome,
        enforce::{EditionId, Rung},
    },
};

use super::{registers::Entries, *};

fn at(millisecond: i64) -> Timestamp {
    Timestamp::from_millisecond(millisecond).expect("a time")
}

fn network(number: u8) -> Network {
    Network::of([192, 0, number, 1].into())
}

fn edition(number: u64) -> EditionId {
    EditionId::parse(&format!("{number:016x}")).expect("16 digits")
}

fn key(token: &str) -> LadderKey {
    let (site, product_token) = ("a.example".to_owned(), token.to_owned());
    LadderKey { site, product_token, outcome: Outcome::Confirmed, network: None }
}

fn fetches(network: Network) -> Fetches {
    Fetches {
        site: "a.example".to_owned(),
        product_token: "GPTBot".to_owned(),
        network,
        outcome: Outcome::Unknown,
        edition: edition(7),
        first: at(1_000),
        last: at(5_000),
        count: 3,
        interval: Some(std::time::Duration::from_secs(2)),
    }
}

fn everything() -> Observations {
    let refused = RefusedCount {
        network: network(3),
        product_token: Some("GPTBot".to_owned()),
        is_declared: true,
        requests: 9,
    };
    Observations {
        fetches: vec![
            fetches(network(1)),
            fetches(Network::of("2001:db8::1".parse().expect("an address"))),
            fetches(Network::Former { edition: edition(1), is_confirmed: true }),
        ],
        forgotten: Some(at(1_500)),
        steps: vec![RungStep { key: key("GPTBot"), rung: Rung::Block, returns: 3, at: at(2_000) }],
        ladder: vec![LadderCount {
            number: 77,
            key: LadderKey { network: Some(network(4)), ..key("xbot") },
            period: at(-1_000),
            requests: 7,
            violations: 2,
        }],
        openings: vec![
            Opening { site: "a.example".to_owned(), at: at(3_000), search_engine: None },
            Opening {
                site: "b.example".to_owned(),
                at: at(3_001),
                search_engine: Some("Googlebot".to_owned()),
            },
        ],
        breaker: vec![BreakerCount {
            site: "a.example".to_owned(),
            at: at(4_000),
            passed: 5,
            refused: vec![refused],
        }],
        pace: vec![PaceCount {
            key: Key {
                scope: "www.a.example".to_owned(),
                product_token: None,
                outcome: Outcome::Contradicted,
                network: Some(network(5)),
            },
            limit: Limit { pace: Pace::parse("3/2s").expect("a pace"), times: 2, burst: 3 },
            at: at(4_500),
            requests: 11,
        }],
    }
}

fn news(told: Told) -> News {
    let (node, run) = ("edge-1".to_owned(), "r".to_owned());
    News { v: VERSION, node, run, seq: 1, at: 0, told, serves: None }
}

#[test]
fn a_message_says_the_same_at_another_clock() {
    let (sender, reader) = (Shift(60_000), Shift(-3_600_000));
    let message = news(Told::of(everything(), sender));
    let read = News::read(json(&message).as_bytes()).expect("it is one");
    assert_eq!(read, message);
    assert_eq!(read.told.clone().observations(sender, i64::MIN), everything());
    let other = read.told.clone().observations(reader, i64::MIN);
    assert_eq!(other.fetches[0].last, at(5_000 + 60_000 + 3_600_000));
    // What is older than the window of a count does not come.
    let late = read.told.observations(sender, 4_400 + 60_000);
    assert_eq!((late.breaker.len(), late.pace.len(), late.fetches.len()), (0, 1, 3));
}

#[test]
fn a_network_that_only_its_hash_names_is_not_told() {
    let observations =
        Observations { fetches: vec![fetches(Network::Hashed(1))], ..Observations::default() };
    assert!(Told::of(observations, Shift(0)).is_empty());
}

#[test]
fn unknown_fields_kinds_and_rows_are_ignored_and_newer_versions_skipped() {
    let row = r#"{"site":"a","token":"b","standing":"unknown","rung":"block","at":1,"new":[1]}"#;
    let text = |v: u32, steps: &str| {
        format!(
            r#"{{"v":{v},"node":"n","run":"r","seq":3,"at":9,"steps":[{steps}],"moods":[{{"a":1}}]}}"#
        )
    };
    let steps = |text: &str| {
        let news = News::read(text.as_bytes()).expect(text);
        news.told.observations(Shift(0), 0).steps.len()
    };
    assert_eq!(steps(&text(1, row)), 1);
    let odd = [
        r#"{"site":"a"}"#,
        "7",
        &row.replace("block", "banish"),
        &row.replace("unknown", "famous"),
        &row.replace("\"a\"", &format!("\"{}\"", "x".repeat(600))),
        row,
    ];
    assert_eq!(steps(&text(1, &odd.join(","))), 1);
    let no_list = text(1, "").replace("\"steps\":[]", "\"steps\":null,\"fetches\":{\"a\":[1]}");
    assert_eq!(steps(&no_list), 0, "{no_list}");
    let at = |at: &str| text(1, &row.replace("\"at\":1", &format!("\"at\":{at}")));
    assert_eq!(steps(&at(&i64::MAX.to_string())), 1, "a time that can't be");
    let opening = r#"{"v":1,"node":"n","run":"r","seq":3,"at":9,"openings":[{"site":"a","at":1,"search_engine":null}]}"#;
    let openings =
        News::read(opening.as_bytes()).expect("news").told.observations(Shift(0), 0).openings;
    assert_eq!(openings.first().map(|one| one.search_engine.clone()), Some(None));
    for none in ["", "{}", "[]", "\u{0}", &text(2, row), &text(1, row).replace("3", "0")] {
        assert_eq!(News::read(none.as_bytes()), None, "{none}");
    }
    assert!(Beat::read(b"{}").is_none() && Report::read(b"").is_none());
    let least = r#"{"v":1,"node":"n","run":"r","at":1,"x":2}"#;
    assert!(Report::read(least.as_bytes()).is_some());
    assert!(Report::read(least.replace("\"v\":1", "\"v\":2").as_bytes()).is_none());
}

#[test]
fn a_register_gives_back_what_a_node_told() {
    let (shift, told) = (Shift(500), Told::of(everything(), Shift(500)));
    let entries = Entries::of("run-1", &told);
    let dated = |(member, at): &(String, i64)| (member.clone().into_bytes(), *at);
    let found = entries.fetches.iter().map(dated);
    let found: Vec<_> =
        found.filter_map(|(one, at)| registers::fetch_of(&one, at, shift)).collect();
    let steps = entries.rungs.iter().map(dated);
    let steps: Vec<_> = steps.filter_map(|(one, at)| registers::step_of(&one, at, shift)).collect();
    let openings = entries.openings.iter().map(dated);
    let openings: Vec<_> =
        openings.filter_map(|(one, at)| registers::opening_of(&one, at, shift)).collect();
    let counts = entries.ladder.iter();
    let counts: Vec<_> = counts
        .filter_map(|(field, value)| registers::count_of(field.as_bytes(), value.as_bytes(), shift))
        .collect();
    let Observations { fetches, steps: of_steps, ladder, openings: of_openings, .. } = everything();
    assert_eq!((steps, openings), (of_steps, of_openings));
    let run_1 = |count| ("run-1".to_owned(), count);
    assert_eq!(counts, ladder.into_iter().map(run_1).collect::<Vec<_>>());
    let alone = |one: Fetches| Fetches { first: one.last, count: 1, interval: None, ..one };
    assert_eq!(found, fetches.into_iter().map(alone).collect::<Vec<_>>());
    for odd in ["", "{}", "[1]"] {
        assert_eq!(registers::fetch_of(odd.as_bytes(), 1, shift), None);
        assert_eq!(registers::count_of(odd.as_bytes(), odd.as_bytes(), shift), None);
    }
}

#[test]
fn a_long_message_is_split_and_nothing_is_lost() {
    let many = Observations {
        fetches: vec![fetches(network(1)); MOST_ITEMS + 1],
        steps: vec![RungStep { key: key("a"), rung: Rung::Block, returns: 0, at: at(1) }; 3],
        ..everything()
    };
    let told = Told::of(many, Shift(0));
    let parts = told.clone().split();
    assert!(parts.len() > 2 && parts.iter().all(|part| part.len() <= MOST_ITEMS));
    assert_eq!(parts.iter().map(Told::len).sum::<usize>(), told.len());
    assert_eq!(Told::default().split(), []);
    assert_eq!(Told::of(everything(), Shift(0)).split().len(), 1);
}

fn served(site: &str, number: u64, since: i64) -> Served {
    Served { site: site.to_owned(), edition: edition(number).to_string(), since }
}

#[test]
fn an_edition_is_in_force_from_the_first_node_until_the_last() {
    let mut all = Statements::default();
    let state = |at, editions: &[Served]| Statement { at, editions: editions.to_vec() };
    assert!(all.take("one", &state(10, &[served("a", 1, 5)])));
    assert!(!all.take("one", &state(10, &[served("a", 1, 5)])));
    assert!(all.take("two", &state(20, &[served("a", 1, 15), served("a", 2, 20)])));
    all.take("one", &state(30, &[served("a", 2, 30)]));
    let of =
        |all: &Statements, number| all.periods().get(&("a".to_owned(), edition(number))).copied();
    assert_eq!((of(&all, 1), of(&all, 2)), (Some((5, None)), Some((20, None))));
    all.take("two", &state(40, &[served("a", 2, 20)]));
    assert_eq!((of(&all, 1), of(&all, 2)), (Some((5, Some(40))), Some((20, None))));
    assert!(all.end("two", 50) && !all.end("two", 51) && all.end("one", 45));
    assert_eq!(of(&all, 2), Some((20, Some(50))));
    assert!(all.take_past("a", &edition(3).to_string(), 1, 2));
    assert!(!all.take_past("a", &edition(3).to_string(), 1, 2));
    assert_eq!(of(&all, 3), Some((1, Some(2))));
    all.forget_before(45);
    assert_eq!((of(&all, 1), of(&all, 3)), (None, None));
    assert_eq!(of(&all, 2), Some((20, Some(50))));
    all.forget_before(60);
    assert_eq!(all, Statements::default());
}

fn beat(node: &str, at: i64, seq: u64, read: u64) -> Beat {
    let (node, run) = (node.to_owned(), format!("{node}-1"));
    let read = Position(read, 0);
    Beat { v: VERSION, node, run, at, seq, read, gone: false, apart: false }
}

#[test]
fn the_horizon_is_the_time_up_to_which_every_node_was_heard() {
    let (mut roster, mut heard) = (Roster::new("me", "me-1", 0), Heard::default());
    assert_eq!((roster.horizon(9_000), roster.count(0)), (8_000, 0));
    let beats = vec![beat("me", 1, 9, 0), beat("a", 9_000, 0, 5), beat("b", 8_000, 1, 7)];
    roster.take(beats, &heard, 9_000);
    assert_eq!(roster.horizon(9_100), i64::MIN, "b told something that did not come");
    heard.take("b-1", 1, 0);
    roster.take(vec![beat("a", 9_000, 0, 5), beat("b", 8_000, 1, 7)], &heard, 9_100);
    assert_eq!((roster.horizon(9_100), roster.count(9_100)), (7_000, 2));
    assert!(roster.have_read(Position(5, 0), 9_100) && !roster.have_read(Position(6, 0), 9_100));
    // A message that is on its way holds the horizon back.
    roster.take(vec![beat("b", 9_500, 2, 7)], &heard, 9_600);
    assert_eq!(roster.horizon(9_600), 7_000);
    // A silent node does, too, but nobody waits for it.
    roster.take(vec![beat("b", 19_500, 1, 7)], &heard, 19_600);
    assert_eq!((roster.horizon(19_600), roster.count(19_600)), (8_000, 1));
    assert!(roster.have_read(Position(7, 0), 19_600));
    // One that said goodbye does not.
    let gone = Beat { gone: true, ..beat("a", 19_000, 0, 5) };
    let ends = roster.take(vec![gone], &heard, 19_600);
    assert_eq!(ends, Ends { goodbyes: vec![("a-1".to_owned(), 19_000)], is_any_lost: false });
    assert_eq!(roster.horizon(19_600), 18_500);
    // A new run of a node takes the place of the one before, which may have seen more than it told. That
    // one holds the horizon back while it may be alive, but nobody waits for it.
    let again = Beat { run: "b-2".to_owned(), ..beat("b", 20_000, 0, 9) };
    let ends = roster.take(vec![again], &heard, 20_000);
    assert_eq!(ends, Ends { goodbyes: vec![], is_any_lost: true });
    assert_eq!((roster.horizon(20_000), roster.count(20_000)), (18_500, 1));
    assert!(roster.have_read(Position(9, 0), 20_000));
    // A goodbye of the run before comes too late.
    let late = Beat { gone: true, ..beat("b", 20_050, 1, 9) };
    let ends = roster.take(vec![late], &heard, 20_100);
    assert_eq!(ends, Ends { goodbyes: vec![("b-1".to_owned(), 20_050)], is_any_lost: false });
    assert_eq!((roster.horizon(20_100), roster.count(20_100)), (19_000, 1));
    assert_eq!(roster.forget_silent(20_100), Silent::default());
    assert!(!roster.knows("b-1") && roster.knows("b-2"));
}

#[test]
fn runs_with_one_name_count_both_until_one_is_silent() {
    let heard = Heard::default();
    let mut roster = Roster::new("me", "me-1", 0);
    let first = |at| beat("a", at, 0, 5);
    let second = |at| Beat { run: "a-2".to_owned(), ..beat("a", at, 0, 9) };
    assert_eq!(roster.take(vec![first(9_000)], &heard, 9_000), Ends::default());
    assert!(roster.take(vec![second(9_200)], &heard, 9_200).is_any_lost);
    assert_eq!(roster.take(vec![first(9_400)], &heard, 9_400), Ends::default(), "it is up yet");
    assert_eq!((roster.count(9_400), roster.horizon(9_400)), (2, 8_200));
    assert!(!roster.have_read(Position(9, 0), 9_400));
    // The beats of the first one are overwritten, but it tells something.
    roster.take(vec![second(19_000)], &heard, 19_000);
    roster.note_message("a-1", 15_000);
    assert_eq!((roster.forget_silent(24_999), roster.horizon(19_000)), (Silent::default(), 8_400));
    let silent = roster.forget_silent(25_000);
    let runs = vec!["a-1".to_owned()];
    assert_eq!(silent, Silent { runs, is_any_lost: true, ..Silent::default() });
    assert_eq!((roster.count(25_000), roster.horizon(25_000)), (1, 18_000));
    // One that is not seen beside the next one was killed.
    let third = Beat { run: "a-3".to_owned(), ..beat("a", 25_000, 0, 9) };
    assert!(roster.take(vec![third], &heard, 25_000).is_any_lost);
    roster.note_message("a-2", 24_000);
    assert_eq!(roster.forget_silent(25_999), Silent::default());
    let runs = vec!["a-2".to_owned()];
    assert_eq!(roster.forget_silent(26_000), Silent { runs, ..Silent::default() });
    // Another run with the name of this node: none that it waits for, unless it writes.
    let rival = |at| Beat { run: "me-2".to_owned(), ..beat("me", at, 0, 0) };
    roster.take(vec![rival(25_000)], &heard, 25_000);
    assert!(roster.have_read(Position(9, 0), 25_000));
    roster.take(vec![rival(25_200)], &heard, 25_200);
    assert!(!roster.have_read(Position(9, 0), 25_200));
    let ends = roster.take(vec![Beat { gone: true, ..rival(25_400) }], &heard, 25_400);
    assert_eq!(ends.goodbyes, [("me-2".to_owned(), 25_400)]);
    assert_eq!((roster.forget_silent(25_400), roster.knows("me-2")), (Silent::default(), false));
}

#[test]
fn what_a_run_states_again_takes_no_room() {
    let mut all = Statements::default();
    let state = |at, number| Statement { at, editions: vec![served("a", number, 1)] };
    assert!(all.take("one", &state(1, 1)));
    assert!((2..2_000).all(|at| all.take("one", &state(at, 2))));
    let periods = all.periods();
    assert_eq!(periods.get(&("a".to_owned(), edition(1))), Some(&(1, Some(2))));
    let open: Vec<_> = all.open().collect();
    assert_eq!(open.len(), 1);
    assert!(all.end("one", 2_000) && all.open().next().is_none());
}

#[test]
fn a_node_is_awaited_until_it_writes_to_the_present_server() {
    let heard = Heard::default();
    let missed = |roster: &Roster, now| roster.missed(now).map(str::to_owned).collect::<Vec<_>>();
    let mut roster = Roster::new("me", "me-1", 0);
    let take = |roster: &mut Roster, beats: &[Beat], now| {
        roster.take(beats.to_vec(), &heard, now);
    };
    let gone = Beat { gone: true, ..beat("gone", 99_000, 0, 0) };
    let old = beat("old", 100_000 - RECENT, 0, 0);
    // At a start, the nodes with a recent beat are missed.
    take(&mut roster, &[beat("a", 99_000, 0, 0), beat("b", 50_000, 0, 0), gone, old], 100_000);
    assert_eq!(missed(&roster, 100_000), ["a", "b"]);
    take(&mut roster, &[beat("a", 99_200, 0, 0), beat("b", 50_000, 0, 0)], 100_200);
    assert_eq!(missed(&roster, 100_200), ["b"]);
    // One that starts later has announced its rules.
    take(&mut roster, &[beat("c", 100_400, 0, 0)], 100_400);
    assert_eq!(missed(&roster, 50_000 + RECENT), Vec::<String>::new());
    take(&mut roster, &[Beat { gone: true, ..beat("b", 100_400, 0, 0) }], 100_400);
    // After a new connection, the nodes that were live are missed until their beats change.
    roster.miss_live(100_400);
    assert_eq!(missed(&roster, 100_400), ["a", "c"]);
    let copies = [beat("a", 100_600, 0, 0), beat("c", 100_600, 0, 0)];
    take(&mut roster, &copies, 101_000);
    take(&mut roster, &copies, 101_200);
    assert_eq!(missed(&roster, 101_200 + RECENT), ["a", "c"], "copies at another server");
    // That one may have another clock.
    take(&mut roster, &[beat("a", 160_000, 0, 0), beat("c", 100_600, 0, 0)], 160_000);
    assert_eq!(missed(&roster, 160_000), ["c"]);
    take(&mut roster, &[Beat { gone: true, ..beat("c", 160_200, 0, 0) }], 160_200);
    assert_eq!(missed(&roster, 160_200), Vec::<String>::new());
}

#[test]
fn a_node_that_is_silent_for_a_day_and_the_longest_window_is_lost_once() {
    let (heard, day) = (Heard::default(), 24 * 3_600_000);
    for (window, lost_after) in [(0, day), (day / 2, day), (2 * day, 2 * day)] {
        let mut roster = Roster::new("me", "me-1", window);
        let gone = Beat { gone: true, ..beat("gone", 5_000, 0, 0) };
        let beats = vec![beat("a", 20_000, 0, 0), gone];
        roster.take(beats.clone(), &heard, 20_000);
        assert_eq!(roster.forget_silent(4_999 + lost_after), Silent::default());
        let silent = roster.forget_silent(20_000 + lost_after);
        assert_eq!(silent.lost, ["a"]);
        assert_eq!(silent.all, ["a", "gone"], "their beats are removed");
        // Until that is done, they come again.
        roster.take(beats, &heard, 20_000 + lost_after);
        assert_eq!(roster.forget_silent(20_000 + lost_after), Silent::default());
    }
}

proptest! {
    #[test]
    fn statements_in_any_order_and_number_give_the_same_periods(
        statements in prop::collection::vec(
            (0_u8..3, 0_i64..50, prop::collection::vec((0_u8..2, 0_u64..4, 0_i64..50), 0..4)), 0..30,
        ),
        order in prop::collection::vec(any::<prop::sample::Index>(), 0..90),
    ) {
        let take = |all: &mut Statements, index: usize| {
            let (node, at, editions) = &statements[index];
            let editions = editions.iter();
            let editions = editions.map(|(site, id, since)| served(&site.to_string(), *id, *since));
            all.take(&node.to_string(), &Statement { at: *at, editions: editions.collect() });
        };
        let (mut one, mut other) = (Statements::default(), Statements::default());
        (0..statements.len()).for_each(|index| take(&mut one, index));
        if !statements.is_empty() {
            order.iter().for_each(|index| take(&mut other, index.index(statements.len())));
        }
        (0..statements.len()).rev().for_each(|index| take(&mut other, index));
        prop_assert_eq!(one.periods(), other.periods());
        prop_assert_eq!(one, other);
    }

    #[test]
    fn no_text_breaks_a_reader(text in "\\PC{0,200}") {
        drop(News::read(text.as_bytes()));
        drop((Beat::read(text.as_bytes()), Report::read(text.as_bytes())));
        drop(registers::edition_of(text.as_bytes()));
        let _ = Position::parse(&text);
    }
}
