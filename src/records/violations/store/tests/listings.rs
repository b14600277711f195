//! Listings and numbers of records, the same in both stores.

use jiff::Timestamp;
use proptest::prelude::*;

use super::both::Both;
use crate::{
    base::text::Text,
    records::{
        record::{Filter, Overflow, RecordColumn, Violation},
        violations::{notes::Notes, tests::violation},
    },
};

fn numbers(store: &super::Store, filter: &Filter) -> Vec<String> {
    let listing = store.query(filter).expect("rows");
    assert_eq!(listing.unreadable, 0);
    listing.records.into_iter().map(|(_, record)| record.id.to_string()).collect()
}

/// A record of this number; later numbers have later times, some by days. Its id was made `ahead` of
/// its time, by so many hours.
fn made(number: u64, ahead: u64) -> Violation {
    let second = 1_700_000_000 + number * number * 40;
    let id = (second + ahead * 3_600) * 1_000;
    Violation {
        id: format!("{:08x}-{:04x}-7000-8000-{number:012x}", id >> 16, id & 0xffff).into(),
        time: Timestamp::from_second(second.cast_signed()).expect("a time"),
        ..violation(number)
    }
}

fn spread(number: u64) -> Violation {
    made(number, 0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 128))]

    #[test]
    fn a_filter_lists_counts_and_pages_the_same_records(
        amount in 1_u64..200,
        filters in prop::collection::vec(
            (
                prop::option::of(0_u64..200),
                prop::option::of(prop::sample::select(vec!["SHOP.example", "blog.example", "x'"])),
                prop::option::of(prop::sample::select(vec!["gptbot", "CCBot"])),
                prop::option::of(prop::sample::select(vec!["BLOCK", "log"])),
                prop::option::of(prop::sample::select(vec!["AI-training", "search"])),
                prop::option::of(prop::sample::select(vec!["/private/1", "*page=3$", "/x_", "*"])),
                (prop::option::of(0_u64..200), prop::option::of(0_u64..220)),
                prop::option::of(0_usize..40),
            ),
            12,
        ),
    ) {
        let mut both = Both::new();
        let records: Vec<_> = (0..amount).map(spread).collect();
        for part in records.chunks(60) {
            both.add(part, &Notes::default(), &[]);
        }
        for (id, site, product_token, action, purpose, path, (since, until), limit) in filters {
            let id = id.filter(|id| id % 4 == 0);
            // With more conditions, hardly any id has a record.
            let [site, action, purpose, path] =
                [site, action, purpose, path].map(|text| text.filter(|_| id.is_none()));
            let text = |text: Option<&str>| text.map(str::to_owned);
            let filter = Filter {
                id: id.map(|id| spread(id).id.to_string()),
                site: text(site),
                product_token: text(product_token),
                action: text(action),
                purpose: text(purpose),
                path: text(path),
                since: since.map(|number| spread(number).time),
                until: until.map(|number| spread(number).time),
                ..Filter::default()
            };
            let mut expected: Vec<_> = records.iter().filter(|one| filter.matches(one)).collect();
            for (name, store) in both.stores() {
                let all: Vec<_> = expected.iter().map(|one| one.id.to_string()).collect();
                prop_assert_eq!(numbers(&store, &filter), all.clone(), "{} {:?}", name, filter);
                prop_assert_eq!(store.count_records(&filter), Ok(all.len() as u64), "{}", name);
                let listing = store.query(&filter).expect("rows");
                prop_assert!(listing.records.iter().map(|(_, one)| one).eq(expected.iter().copied()));
                // From page to page, forward and back.
                let page = limit.unwrap_or(7).max(1);
                let (mut forward, mut after) = (Vec::new(), 0);
                loop {
                    let next =
                        Filter { after_sequence: Some(after), limit: Some(page), ..filter.clone() };
                    let listing = store.query(&next).expect("rows");
                    forward.extend(listing.records.iter().map(|(_, one)| one.id.to_string()));
                    after = listing.end;
                    if listing.records.len() < page {
                        break;
                    }
                }
                prop_assert_eq!(&forward, &all, "{}", name);
                let (mut back, mut before) = (Vec::new(), None);
                loop {
                    let next =
                        Filter { before_sequence: before, limit: Some(page), ..filter.clone() };
                    let listing = store.query(&next).expect("rows");
                    let Some((first, _)) = listing.records.first() else { break };
                    before = Some(*first);
                    let ids = listing.records.iter().map(|(_, one)| one.id.to_string());
                    back = ids.chain(back).collect();
                }
                prop_assert_eq!(&back, &all, "{}", name);
                let none = Filter { limit: Some(0), ..filter.clone() };
                let end = store.query(&none).expect("rows").end;
                prop_assert!(store.query(&Filter::default()).expect("rows").end == end);
            }
            expected.truncate(limit.unwrap_or(3));
        }
    }
}

#[test]
fn a_record_is_found_by_its_id_also_where_the_clock_was_set_back() {
    let mut both = Both::new();
    let records = [made(1, 0), made(100, 0), made(100, 3), made(101, 100)];
    both.add(&records, &Notes::default(), &[]);
    for (name, store) in both.stores() {
        for record in &records {
            let id = record.id.to_string();
            let filter = Filter { id: Some(id.clone()), ..Filter::default() };
            assert_eq!(numbers(&store, &filter), [id], "{name}");
        }
        let filter = Filter { id: Some(made(7, 0).id.to_string()), ..Filter::default() };
        assert_eq!(numbers(&store, &filter), [""; 0], "{name}");
    }
}

#[test]
fn records_are_counted_by_columns_in_any_case_of_their_names() {
    let mut both = Both::new();
    let mut records: Vec<_> = (0..40).map(spread).collect();
    records[3].product_token = Text::word("GPTBOT");
    both.add(&records, &Notes::default(), &[]);
    both.add(&records[..0], &Notes::default(), &[]);
    // Sent again, as after a failure.
    both.add(&records, &Notes::default(), &[]);
    let columns: [&[RecordColumn]; 5] = [
        &[RecordColumn::ProductToken],
        &[RecordColumn::Reason, RecordColumn::Directive, RecordColumn::Pattern],
        &[RecordColumn::Path],
        &[RecordColumn::ClientIp],
        &[RecordColumn::Day],
    ];
    let filter = Filter { action: Some("LOG".to_owned()), ..Filter::default() };
    let found: Vec<Vec<_>> = both
        .stores()
        .into_iter()
        .map(|(_, store)| {
            assert_eq!(store.count_records(&Filter::default()), Ok(40));
            assert_eq!(store.query(&Filter::default()).expect("rows").records.len(), 40);
            columns
                .iter()
                .map(|by| {
                    let mut groups = store.group_records(&filter, by).expect("rows");
                    groups.iter_mut().flat_map(|(keys, _)| keys).for_each(|key| {
                        *key = Text::from(key.to_ascii_lowercase());
                    });
                    groups.sort_unstable();
                    groups
                })
                .collect()
        })
        .collect();
    assert_eq!(found[0][4].len(), 2);
    for other in &found[1..] {
        assert_eq!(*other, found[0]);
    }
}

#[test]
fn what_was_not_kept_adds_up_by_name() {
    let mut both = Both::new();
    let at = |second| Timestamp::from_second(second).expect("a time");
    let overflow = |rule, count, first, last| Overflow {
        site: Text::word("a.example"),
        product_token: Text::word("GPTBot"),
        rule: Text::word(rule),
        count,
        first: at(first),
        last: at(last),
    };
    for (count, time) in [(3, 10), (4, 5)] {
        let all = [overflow("/a", count, time, time + 1), overflow("/b", 1, time, time)];
        both.add([], &Notes::default(), &all);
    }
    for (name, store) in both.stores() {
        let expected = [overflow("/a", 7, 5, 11), overflow("/b", 2, 5, 10)];
        assert_eq!(store.overflow().expect("rows"), expected, "{name}");
    }
}
