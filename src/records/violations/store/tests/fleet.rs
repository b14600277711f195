//! What only several nodes show: whole counts that replace each other, and editions of all nodes.

use jiff::Timestamp;

use super::super::{Location, Store};
use crate::{
    base::text::Text,
    records::{
        clickhouse::{Attempt, Client, Origin, Portion, inserts, tests::server},
        counts::{CountsInMemory, Dimension, Question},
        record::{Edition, Filter, Violation},
        tally::{
            Claimant, Hour, PeopleCount, PlaceCount, PlaceKind, ReferralCount, Rollup, Rollups,
            Series,
        },
        violations::tests::{edition, violation},
    },
};

fn send(client: &Client, origin: Origin<'_>, portion: Portion<'_>) {
    for insert in inserts(origin, portion) {
        client.insert(&insert, Attempt::First, server::DEADLINE).expect("added");
    }
}

fn rollups(hour: i64, requests: u64) -> Rollups {
    let hour = Hour::from_millisecond(hour * 3_600_000);
    let record = violation(0);
    let [site, product_token] = [record.site.clone(), record.product_token.clone()];
    let series = Series::of(&record, "crawler");
    let (folded, dropped) = (requests / 2, requests / 4);
    let place = PlaceCount {
        hour,
        kind: PlaceKind::Path,
        site: site.clone(),
        product_token,
        claimant: Claimant::Crawler,
        place: Text::word("/a"),
        violations: requests,
    };
    let operator = Text::word("OpenAI");
    Rollups {
        series: vec![Rollup { hour, series, requests, folded, dropped }],
        places: vec![place],
        people: vec![PeopleCount { hour, site: site.clone(), requests }],
        referrals: vec![ReferralCount { hour, site, operator, visits: requests }],
    }
}

fn sums(store: &Store) -> [u64; 5] {
    let all = Question::default();
    let counted = store.counted(&all).expect("counts");
    let by_hour = Question { by: vec![Dimension::Hour], ..Question::default() };
    let by_hour = store.counted(&by_hour).expect("counts").iter().map(|one| one.requests).sum();
    assert_eq!(counted.iter().map(|one| one.requests).sum::<u64>(), by_hour);
    let unrecorded = store.unrecorded(&all).expect("counts");
    [
        by_hour,
        unrecorded.iter().map(|one| one.folded).sum(),
        store.places(PlaceKind::Path, &all, 9).expect("places").iter().map(|p| p.violations).sum(),
        store.people(&all).expect("people").iter().map(|one| one.requests).sum(),
        store.referrals(&all).expect("referrals").iter().map(|one| one.visits).sum(),
    ]
}

#[test]
fn a_whole_count_replaces_the_one_before_and_runs_add_up() {
    let Some(client) = server::database() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let local = folder.path().join("own.db");
    drop(Store::open(&local).expect("a database"));
    let location = Location { local, shared: Some(client.clone()) };
    let memory = CountsInMemory::default();
    for ((node, run, batch), hour, requests, sum) in [
        (("a", "1", 1), 480_000, 10, 10),
        (("a", "1", 2), 480_000, 14, 14),
        // A retry of each, in the wrong order.
        (("a", "1", 2), 480_000, 14, 14),
        (("a", "1", 1), 480_000, 10, 14),
        (("b", "2", 1), 480_000, 6, 20),
        (("a", "3", 1), 480_000, 2, 22),
        (("a", "3", 2), 480_030, 4, 26),
        (("b", "2", 2), 480_000, 8, 28),
    ] {
        let counts = rollups(hour, requests);
        let origin = Origin { node, run, batch };
        let portion = Portion { records: &[], counts: &counts, overflow: &[], editions: &[] };
        send(&client, origin, portion);
        for _ in 0..2 {
            let store = location.open().expect("a database").sharing(&memory);
            let found = sums(&store);
            assert_eq!([found[0], found[2], found[3], found[4]], [sum; 4], "{node} {run} {batch}");
            assert_eq!(sums(&location.open().expect("a database")), found);
        }
    }
    for table in ["counts", "places", "people", "referrals", "counted_hours"] {
        client.execute(&format!("OPTIMIZE TABLE {table} FINAL"), server::DEADLINE).expect("merged");
    }
    let store = location.open().expect("a database");
    assert_eq!(sums(&store), [28, 14, 28, 28, 28]);
}

#[test]
fn editions_of_all_nodes_are_periods_of_the_fleet() {
    let Some(client) = server::database() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let local = folder.path().join("own.db");
    drop(Store::open(&local).expect("a database"));
    let location = Location { local, shared: Some(client.clone()) };
    for (node, run, batch, editions) in [
        ("a", "1", 1, &[("s", "00", 10), ("s", "11", 20)][..]),
        ("b", "2", 1, &[("s", "00", 12)]),
        ("b", "2", 2, &[("s", "11", 24)]),
        // A restart serves what it served.
        ("a", "3", 1, &[("s", "11", 20)]),
    ] {
        let editions: Vec<Edition> =
            editions.iter().map(|&(s, id, at)| edition(s, id, at)).collect();
        let editions: Vec<_> = editions.iter().collect();
        let counts = Rollups::default();
        let portion = Portion { records: &[], counts: &counts, overflow: &[], editions: &editions };
        send(&client, Origin { node, run, batch }, portion);
    }
    let store = location.open().expect("a database");
    let second = |time: Timestamp| time.as_second();
    let found: Vec<_> = store
        .editions(Some("s"), None)
        .expect("rows")
        .into_iter()
        .map(|one| (one.id.to_string(), second(one.from), one.until.map(second), one.bytes))
        .collect();
    let bytes = |id| edition("s", id, 0).bytes;
    let expected =
        [("00".to_owned(), 10, Some(24), bytes("00")), ("11".to_owned(), 20, None, bytes("11"))];
    assert_eq!(found, expected);
}

#[test]
fn a_follower_waits_until_no_earlier_record_should_arrive() {
    let Some(client) = server::database() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let local = folder.path().join("own.db");
    drop(Store::open(&local).expect("a database"));
    let store = Location { local, shared: Some(client.clone()) }.open().expect("a database");
    let now = Timestamp::now();
    let records: Vec<_> = [-60, -30, 0, 60]
        .into_iter()
        .zip(0..)
        .map(|(second, number)| Violation {
            time: now + jiff::SignedDuration::from_secs(second),
            ..violation(number)
        })
        .collect();
    let counts = Rollups::default();
    let all: Vec<_> = records.iter().collect();
    let portion = Portion { records: &all, counts: &counts, overflow: &[], editions: &[] };
    send(&client, Origin { node: "a", run: "1", batch: 1 }, portion);
    let ids = |filter: &Filter| -> Vec<_> {
        let listing = store.query(filter).expect("rows");
        let ids = listing.records.into_iter().map(|(_, one)| one.id.to_string());
        ids.zip(std::iter::repeat(listing.end)).collect()
    };
    let found = ids(&Filter { after_sequence: Some(0), ..Filter::default() });
    assert_eq!(found.iter().map(|(id, _)| id).collect::<Vec<_>>(), [&*all[0].id, &*all[1].id]);
    let again = Filter { after_sequence: Some(found[0].1), ..Filter::default() };
    assert_eq!(ids(&again), []);
    assert_eq!(ids(&Filter { limit: Some(9), ..Filter::default() }).len(), 4);
}
