//! What a search finds in a summary is what meets the filter, for all blocks and filters.

use proptest::prelude::*;

use super::*;
use crate::records::record::Filter;

/// A record: whether it is there, its time, and numbers of its names and its path.
type Row = (bool, i64, usize, usize);

const NAMES: [Names<'static>; 6] = [
    Names { site: "a.example", product_token: "GPTBot", purpose: Some("seo"), action: "log" },
    Names { site: "a.example", product_token: "GPTBot", purpose: None, action: "log" },
    Names { site: "a.example", product_token: "gptbot", purpose: Some(""), action: "block" },
    Names { site: "b.example", product_token: "B\u{f6}t", purpose: Some("SEO"), action: "log" },
    Names { site: "b.example", product_token: "CCBot", purpose: None, action: "throttle" },
    Names { site: "a.example", product_token: "CCBot", purpose: None, action: "form:log" },
];
const PATHS: [&str; 8] =
    ["", "/", "/a", "/a.pdf", "/a/b.pdf?x", "/ab/c", "/b/caf\u{e9}", "/b/caf\u{e9}/a.pdf"];

fn build(first: i64, rows: &[Row]) -> Builder {
    let mut builder = Builder::new(first, rows.len());
    for (sequence, (is_there, time, names, path)) in (first..).zip(rows) {
        if *is_there {
            builder.add(sequence, *time, NAMES[*names], PATHS[*path]);
        }
    }
    builder
}

fn found(filter: &Filter, summary: &Summary) -> Vec<usize> {
    let search = Search::of(filter);
    let names = Some(search.names(&summary.names).expect("packed"));
    let paths = search.path.is_some().then(|| search.paths(&summary.paths).expect("packed"));
    let places = positions(
        names.as_ref().map(|chosen| (chosen, summary.names_of.as_slice())),
        paths.as_ref().map(|chosen| (chosen, summary.paths_of.as_slice())),
    );
    let is_empty = |chosen: &Option<Chosen>| chosen.as_ref().is_some_and(|chosen| chosen.is_empty);
    assert!(places.is_empty() || !is_empty(&names) && !is_empty(&paths));
    places
}

fn filters() -> impl Strategy<Value = Filter> {
    let one_of = |texts: &'static [&'static str]| {
        prop::option::of(prop::sample::select(texts).prop_map(str::to_owned))
    };
    (
        one_of(&["a.example", "B.EXAMPLE", "absent"]),
        one_of(&["GPTBot", "b\u{f6}t", "B\u{d6}T", "absent"]),
        one_of(&["seo", "", "absent"]),
        one_of(&["log", "Block", "absent"]),
        one_of(&["robots.form"]),
        one_of(&["", "/a", "/b$", "*.pdf$", "/*caf", "*b*f", "/absent", "*absent", "/a/b.pdf?x$"]),
    )
        .prop_map(|(site, product_token, purpose, action, reason, path)| Filter {
            site,
            product_token,
            purpose,
            action,
            reason,
            path,
            ..Filter::default()
        })
}

fn matches(filter: &Filter, (is_there, _, names, path): &Row) -> bool {
    let names = NAMES[*names];
    let same = |wanted: &Option<String>, found: Option<&str>| {
        wanted
            .as_ref()
            .is_none_or(|wanted| found.is_some_and(|found| wanted.eq_ignore_ascii_case(found)))
    };
    *is_there
        && same(&filter.site, Some(names.site))
        && same(&filter.product_token, Some(names.product_token))
        && same(&filter.purpose, names.purpose)
        && same(&filter.action, names.action.split(':').next_back())
        && filter.reason.is_some() == names.action.starts_with("form:")
        && filter.path_pattern().is_none_or(|pattern| pattern.matches(PATHS[*path]))
}

proptest! {
    #[test]
    fn a_search_finds_what_meets_the_filter(
        rows in prop::collection::vec((any::<bool>(), 0..9_i64, 0..6_usize, 0..8_usize), 1..60),
        filter in filters(),
        cut in 0..60_usize,
    ) {
        let summary = build(100, &rows).finish();
        let times = rows.iter().filter(|row| row.0).map(|row| row.1);
        prop_assert_eq!(summary.records, times.clone().count() as u64);
        if let (Some(earliest), Some(latest)) = (times.clone().min(), times.max()) {
            prop_assert_eq!((summary.earliest, summary.latest), (earliest, latest));
        }
        let expected: Vec<_> = (0..rows.len()).filter(|at| matches(&filter, &rows[*at])).collect();
        prop_assert_eq!(found(&filter, &summary), expected);
        // A summary of summaries is that of their records.
        let cut = cut.min(rows.len());
        let mut whole = Builder::new(100, rows.len());
        for (first, rows) in [(100, &rows[..cut]), (100 + cut as i64, &rows[cut..])] {
            prop_assert_eq!(whole.append(first, &build(first, rows).finish()), Some(()));
        }
        prop_assert_eq!(whole.finish(), summary);
    }

    #[test]
    fn foreign_bytes_are_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let filter = Filter { path: Some("/*a".to_owned()), ..Filter::default() };
        let search = Search::of(&filter);
        let (names, paths) = (search.names(&bytes), search.paths(&bytes));
        for chosen in [names, paths].iter().flatten() {
            prop_assert!(positions(Some((chosen, &bytes)), None).len() <= bytes.len() / 2);
        }
        let foreign = Summary { names: bytes.clone(), paths: bytes.clone(), names_of: bytes.clone(),
            paths_of: bytes, ..Summary::default() };
        let _ = Builder::new(0, 9).append(0, &foreign);
    }
}

#[test]
fn a_block_of_the_most_records_tells_each_apart() {
    let mut builder = Builder::new(1, Builder::MOST + 1);
    let texts: Vec<String> = (0..=Builder::MOST).map(|number| format!("/{number}")).collect();
    for (sequence, text) in (1..).zip(&texts) {
        builder.add(sequence, 0, Names { site: text, ..NAMES[0] }, text);
    }
    let summary = builder.finish();
    assert_eq!(summary.records, Builder::MOST as u64, "one is outside");
    for number in [0, 7, Builder::MOST - 1] {
        let site = Some(texts[number].clone());
        let path = Some(format!("{}$", texts[number]));
        for filter in [Filter { site, ..Filter::default() }, Filter { path, ..Filter::default() }] {
            assert_eq!(found(&filter, &summary), [number]);
        }
    }
}
