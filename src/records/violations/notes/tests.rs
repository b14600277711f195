use jiff::Timestamp;

use super::*;
use crate::{
    formats::robots::OriginFile,
    records::violations::tests::{edition, fetch},
};

#[test]
fn the_latest_state_of_fetches_waits_and_the_first_time_is_kept() {
    let mut notes = Notes::default();
    for (edition, first, last) in [("a", 5, 20), ("b", 7, 30), ("c", 1, 10)] {
        notes.take(Fetch {
            first: Timestamp::from_second(first).expect("a time"),
            ..fetch("s", "GPTBot", "192.0.2.0/24", edition, last)
        });
    }
    let waiting: Vec<_> = notes.fetches.values().collect();
    let first = Timestamp::from_second(1).expect("a time");
    assert_eq!(waiting, [&Fetch { first, ..fetch("s", "GPTBot", "192.0.2.0/24", "b", 30) }]);
}

#[test]
fn fetches_from_made_up_networks_are_bounded() {
    let mut notes = Notes::default();
    for number in 0..FETCHES + 100 {
        let network = Text::from(number.to_string());
        let lost = notes.take(Fetch { network, ..fetch("s", "GPTBot", "-", "a", 1) }).fetches;
        assert_eq!(lost, u64::from(number >= FETCHES));
    }
    assert_eq!(notes.take(fetch("s", "GPTBot", "0", "b", 2)).fetches, 0);
    assert_eq!(notes.fetches.len(), FETCHES);
    assert_eq!(notes.fetches.values().filter(|fetch| fetch.edition == "b").count(), 1);
}

#[test]
fn the_newest_editions_are_kept_in_bounded_memory() {
    let blank = |length| Bytes::from(vec![b'#'; length]);
    let mut notes = Notes::default();
    let named =
        |number: i64| Edition { id: number.to_string().into(), ..edition("s", "x", number) };
    let large = |number| Edition { bytes: blank(1 << 20), ..named(number) };
    let lost: u64 = (0..70).map(|number| notes.take(large(number)).editions).sum();
    assert_eq!((lost, notes.editions.len()), (6, 64));
    assert_eq!(notes.editions.front().map(|e| e.from), Some(large(6).from));
    let huge = Edition { bytes: blank(EDITION_BYTES + 1), ..named(99) };
    assert_eq!(notes.take(huge).editions, 64, "the newest is never the one that goes");
    assert_eq!(notes.editions.len(), 1);
    let origin_file = OriginFile::Present(blank(EDITION_BYTES));
    assert_eq!(notes.take(Edition { origin_file, ..named(100) }).editions, 1);

    let mut notes = Notes::default();
    let small = |number| notes.take(named(number)).editions;
    assert_eq!((0..EDITIONS as i64 + 5).map(small).sum::<u64>(), 5);
}

#[test]
fn an_edition_that_waits_already_counts_once() {
    let publish = |ids: &[(&'static str, &'static str)]| {
        let mut notes = Notes::default();
        let lost: u64 =
            (0..).zip(ids).map(|(at, (site, id))| notes.take(edition(site, id, at)).editions).sum();
        assert_eq!(lost, 0);
        notes
    };
    let earlier = publish(&[("s", "a"), ("t", "a"), ("s", "a"), ("s", "b"), ("s", "a")]);
    assert_eq!(earlier.counts().editions, 4);
    let later = publish(&[("t", "a"), ("s", "a"), ("s", "c")]);
    assert_eq!(later.counts_with(&earlier).editions, 5);
    let mut merged = publish(&[("s", "a")]);
    let origin_file = OriginFile::Present(Bytes::from_static(b"new"));
    merged.take(Edition { origin_file: origin_file.clone(), ..edition("s", "a", 9) });
    let waiting: Vec<_> = merged.editions.iter().collect();
    assert_eq!(waiting, [&Edition { origin_file, ..edition("s", "a", 0) }]);
    assert_eq!(merged.edition_bytes, waiting.iter().map(|one| size(one)).sum::<usize>());
}

#[test]
fn what_is_noted_again_counts_once() {
    let note = |network: &'static str| {
        let mut notes = Notes::default();
        notes.take(fetch("s", "GPTBot", network, "a", 1));
        notes.take(Note::Released(Text::word("s")));
        let at = Timestamp::UNIX_EPOCH;
        notes.take(SiteHosts { site: Text::word("s"), hosts: Vec::new(), at });
        notes
    };
    let counts = NoteCounts { fetches: 2, hosts: 1, quarantine: 1, ..NoteCounts::default() };
    assert_eq!(note("a").counts_with(&note("b")), counts);
}
