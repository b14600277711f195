use super::*;
use crate::{
    base::text::Text,
    records::{
        record::Filter,
        tally::{Hour, Rollup, Rollups, Series},
        violations::{
            notes::Notes,
            store::tests::both::Both,
            tests::{edition, fetch, violation},
        },
    },
};

#[test]
fn a_name_is_found_in_any_case_and_others_are_listed_once() {
    let mut both = Both::new();
    let records: Vec<_> = (0..40).map(violation).collect();
    let mut notes = Notes::default();
    notes.take(fetch("shop.example", "FetchBot", "-", "00", 0));
    notes.take(edition("quiet.example", "00", 0));
    both.add(&records, &notes, &[]);
    let quiet = crate::records::record::Violation {
        product_token: Text::word("QuietBot"),
        purpose: Some(Text::word("ai-training")),
        ..violation(0)
    };
    let hour = Hour::of(quiet.time);
    let counted = ["crawler", "fetcher"].map(|kind| {
        let series = Series::of(&quiet, kind);
        Rollup { hour, series, requests: 1, folded: 1, dropped: 0 }
    });
    let rollups = Rollups { series: counted.into(), ..Rollups::default() };
    both.add_rollups(&rollups);
    for (which, store) in both.stores() {
        for (kind, name) in [
            (NameKind::Site, "SHOP.example"),
            (NameKind::Site, "quiet.example"),
            (NameKind::ProductToken, "bytespider"),
            (NameKind::ProductToken, "fetchbot"),
            (NameKind::Purpose, "AI-training"),
        ] {
            assert_eq!(store.find_name(kind, name), Ok(NameFound::Itself), "{which} {name}");
        }
        for (kind, expected) in [
            (NameKind::Site, &["blog.example", "quiet.example", "shop.example"][..]),
            (NameKind::ProductToken, &["Bytespider", "CCBot", "FetchBot", "GPTBot", "QuietBot"]),
            (NameKind::Purpose, &["ai-training"]),
        ] {
            for name in ["", "' OR 1=1 --", "shop"] {
                let found = store.find_name(kind, name).expect("an answer");
                let NameFound::Others(mut names) = found else { panic!("{name}: {found:?}") };
                names.sort_unstable();
                assert_eq!(names, expected, "{which} {kind:?} {name}");
            }
        }
    }
}

#[test]
fn a_path_pattern_lists_and_counts_the_same_records() {
    let mut both = Both::new();
    let paths = ["/a", "/ab", "/a?b", "/a[b]", "/a*b", "/a$", "/x/a", "/caf\u{e9}", "/a\\b", "/A"];
    let records: Vec<_> = (0..)
        .zip(paths)
        .map(|(number, path)| {
            let path = Text::path(path.as_bytes());
            crate::records::record::Violation { path, ..violation(number) }
        })
        .collect();
    both.add(&records, &Notes::default(), &[]);
    for pattern in [
        "/",
        "/a",
        "/a$",
        "/a?",
        "/a[",
        "/a[b]$",
        "/*a",
        "*a$",
        "*",
        "*$",
        "/a*b",
        "/a$$",
        "/caf\u{e9}",
        "/a\\b",
        "/a]",
        "/[ab]",
        "/a^",
    ] {
        let filter = Filter { path: Some(pattern.to_owned()), ..Filter::default() };
        let expected = records.iter().filter(|record| filter.matches(record)).count();
        for (name, store) in both.stores() {
            let found = store.query(&filter).expect("rows").records.len();
            assert_eq!(found, expected, "{name} {pattern}");
            assert_eq!(store.count_records(&filter), Ok(expected as u64), "{name} {pattern}");
        }
    }
}
