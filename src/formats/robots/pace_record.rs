//! The records of a group that set its pace, and those that state preferences about use
//! (draft-ietf-aipref-attach §3).
//!
//! Of several paces the strictest counts: the one with the longest time for one request. A span
//! belongs to its record, so a rate for the night doesn't apply by day.
//!
//! Of the preferences that match a path those with the longest path decide, counted as for rules. A
//! record without a path matches every path with length 0, so `/` is longer. Several records of the
//! same length all count, and the stricter preference wins for each category. `Content-Usage` and
//! `Content-Signal` never replace each other. In the draft a `Content-Usage` line is a rule, so a
//! user-agent line after it begins a new group. Here it begins none, as for crawlers that know RFC 9309
//! alone: what they may fetch stays the same.

use super::{
    other_record::Record,
    pace::{self, Pace, Span},
    pattern::Pattern,
};
use crate::formats::usage::{Carrier, Category, Statement, split_path};

/// How many records with a span count in one group: one for each hour of a day.
const MOST_SPANS: usize = 24;

/// A record of a group that sets a pace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaceRecord {
    /// The pace.
    pub pace: Pace,
    /// The span of the day in which it applies; `None` is always.
    pub span: Option<Span>,
    /// The record as written, with its line.
    pub record: Record,
}

impl PaceRecord {
    /// The pace that `record` sets, if it does. One that says a limit sets none.
    pub fn of(record: &Record) -> Option<Self> {
        let (pace, span) = if record.name.eq_ignore_ascii_case("crawl-delay") {
            (Pace::new(1, pace::read_delay(&record.value)?)?, None)
        } else if record.name.eq_ignore_ascii_case("request-rate") {
            let (requests, per, span) = pace::read_rate(&record.value)?;
            (Pace::new(requests, per)?, span)
        } else {
            return None;
        };
        if record.is_limit {
            return None;
        }
        Some(Self { pace, span, record: record.clone() })
    }

    /// The strictest of `all` that apply at a minute of the day; the first of equal ones.
    pub(super) fn strictest<'a>(
        all: impl Iterator<Item = &'a Self>,
        minute_of_day: u16,
    ) -> Option<&'a Self> {
        all.filter(|one| one.span.is_none_or(|span| span.contains(minute_of_day))).reduce(
            |so_far, one| {
                if one.pace.is_stricter_than(so_far.pace) { one } else { so_far }
            },
        )
    }

    /// The paces that can be the strictest: the strictest of those that always apply, and those with
    /// a span. Their number is bounded, so no file can make a look-up expensive.
    pub(super) fn candidates<'a>(records: impl Iterator<Item = &'a Record>) -> Vec<Self> {
        let (spans, always): (Vec<_>, Vec<_>) =
            records.filter_map(Self::of).partition(|one| one.span.is_some());
        let always = Self::strictest(always.iter(), 0).cloned();
        always.into_iter().chain(spans.into_iter().take(MOST_SPANS)).collect()
    }
}

/// A record of a group that states preferences.
#[derive(Clone, Debug)]
pub struct UsageRecord {
    /// The form of the record.
    pub carrier: Carrier,
    /// What it states for the paths that it matches.
    pub statement: Statement,
    /// The record as written, with its line.
    pub record: Record,
    /// `None` matches every path.
    pattern: Option<Pattern>,
}

/// What records of one carrier state about a path.
#[derive(Clone, Debug, Default)]
pub struct Usage<'m> {
    /// What they state together.
    pub statement: Statement,
    /// The records with the longest path, in the order of the file.
    pub records: Vec<&'m UsageRecord>,
}

impl UsageRecord {
    /// The preferences that `record` states, if it is of that kind.
    pub fn of(record: &Record) -> Option<Self> {
        let carrier = Carrier::named(&record.name)?;
        let (path, statement) = split_path(&record.value);
        Some(Self {
            carrier,
            statement: carrier.read(statement.as_bytes()),
            record: record.clone(),
            pattern: path.map(|path| Pattern::compile(path.as_bytes())),
        })
    }

    fn matches(&self, path: &[u8]) -> bool {
        self.pattern.as_ref().is_none_or(|pattern| pattern.matches(path))
    }

    fn specificity(&self) -> u32 {
        self.pattern.as_ref().map_or(0, Pattern::specificity)
    }
}

impl<'m> Usage<'m> {
    /// What the longest of `all` state about a path in normal form.
    pub(super) fn about(all: impl Iterator<Item = &'m UsageRecord>, path: &[u8]) -> Self {
        let mut records: Vec<_> = all.filter(|one| one.matches(path)).collect();
        let longest = records.iter().map(|one| one.specificity()).max();
        records.retain(|one| Some(one.specificity()) == longest);
        records.sort_by_key(|one| one.record.line);
        let together = |so_far: Statement, one: &&UsageRecord| so_far.combine(one.statement);
        Self { statement: records.iter().fold(Statement::default(), together), records }
    }

    /// The first record that states what counts for a category.
    pub fn decider(&self, category: Category) -> Option<&'m Record> {
        let said = self.statement.get(category)?;
        let decides = |one: &&&UsageRecord| one.statement.get(category) == Some(said);
        self.records.iter().find(decides).map(|one| &one.record)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::formats::robots::{self, Matcher};

    const NOON: u16 = 12 * 60;

    fn pace(text: &str, name: &str, minute: u16) -> Option<(String, u32)> {
        let matcher = Matcher::new(&robots::parse(text.as_bytes()).0);
        let scope = matcher.group(name).or_else(|| matcher.star())?;
        matcher.pace(scope, minute).map(|one| (one.pace.to_string(), one.record.line))
    }

    #[test]
    fn a_record_sets_a_pace() {
        for (name, value, expected) in [
            ("Crawl-delay", "10", Some("1 request every 10 s")),
            ("crawl-DELAY", "0.5", Some("1 request every 0.5 s")),
            ("Crawl-delay", "99999999999999999999", Some("1 request every 86400 s")),
            ("Crawl-delay", "0", None),
            ("Crawl-delay", "0.0001", None),
            ("Crawl-delay", "-1", None),
            ("Crawl-delay", "inf", None),
            ("Crawl-delay", "1e3", None),
            ("Crawl-delay", "5s", None),
            ("Crawl-delay", "", None),
            ("Request-rate", "1/5", Some("1 request every 5 s")),
            ("Request-rate", "10/1m", Some("10 requests every 60 s")),
            ("Request-rate", "20/2H", Some("20 requests every 7200 s")),
            ("Request-rate", "1/30d", Some("1 request every 86400 s")),
            ("Request-rate", "20/1h 1800-0600", Some("20 requests every 3600 s")),
            ("Request-rate", "0/5", None),
            ("Request-rate", "1/0", None),
            ("Request-rate", "9999/1s", None),
            ("Request-rate", "1/5w", None),
            ("Request-rate", "1/5 noon", None),
            ("Request-rate", "1/99999999999999999999d", Some("1 request every 86400 s")),
            ("Request-rate", "99999999999999999999/1d", None),
            ("Request-rate", "1/\u{664}s", None),
            ("Request-rate", "1", None),
            ("Visit-time", "0600-0845", None),
        ] {
            let record =
                Record { name: name.into(), value: value.into(), line: 0, ..Record::default() };
            let found = PaceRecord::of(&record).map(|one| one.pace.to_string());
            assert_eq!(found.as_deref(), expected, "{name}: {value}");
        }
    }

    #[test]
    fn a_value_without_a_finding_sets_a_pace_or_asks_for_none() {
        for (name, value, is_valid) in [
            ("Crawl-delay", "0", true),
            ("Crawl-delay", "0.0", true),
            ("Crawl-delay", "0.0001", true),
            ("Crawl-delay", "-0", false),
            ("Crawl-delay", "0s", false),
            ("Request-rate", "9999/1s", true),
            ("Request-rate", "1/99999999999999999999d", true),
            ("Request-rate", "0/5", false),
            ("Request-rate", "1/0", false),
            ("Request-rate", "1/5 noon", false),
        ] {
            let record =
                Record { name: name.into(), value: value.into(), line: 0, ..Record::default() };
            assert_eq!(record.check(true).is_none(), is_valid, "{name}: {value}");
        }
    }

    #[test]
    fn the_strictest_of_the_merged_groups_counts() {
        let text = "User-agent: a\nCrawl-delay: 2\nRequest-rate: 10/1m\nDisallow: /x\n\
                    User-agent: *\nDisallow: /x\nCrawl-delay: 60\n\
                    User-agent: A\nUser-agent: b\nDisallow: /x\nCrawl-delay: 4\n\
                    User-agent: c\nDisallow: /x\n";
        let some = |pace: &str, line| Some((pace.to_owned(), line));
        assert_eq!(pace(text, "a", NOON), some("10 requests every 60 s", 3));
        assert_eq!(pace(text, "b", NOON), some("1 request every 4 s", 11));
        assert_eq!(pace(text, "c", NOON), None, "a group of its own replaces those for '*'");
        assert_eq!(pace(text, "d", NOON), some("1 request every 60 s", 7));
    }

    #[test]
    fn a_rate_for_a_span_of_the_day_counts_only_then() {
        let text = "User-agent: *\nRequest-rate: 1/10m 0600-1759\nRequest-rate: 1/1s 1800-0559\n";
        for (minute, line) in [(0, 3), (359, 3), (360, 2), (NOON, 2), (1079, 2), (1080, 3)] {
            assert_eq!(pace(text, "x", minute).map(|(_, line)| line), Some(line), "{minute}");
        }
        assert_eq!(pace("User-agent: *\nRequest-rate: 1/1s 0100-0200", "x", NOON), None);
    }

    #[test]
    fn a_file_full_of_paces_is_looked_up_at_the_same_cost() {
        let mut text = "User-agent: *\n".to_owned();
        text.push_str(&"Request-rate: 1/5 0000-2400\nCrawl-delay: 3\n".repeat(5_000));
        let (robots, _) = robots::parse(text.as_bytes());
        let records = robots.groups.iter().flat_map(|group| &group.records);
        assert_eq!(PaceRecord::candidates(records).len(), 1 + MOST_SPANS);
        assert_eq!(pace(&text, "x", NOON).map(|(_, line)| line), Some(2));
    }

    proptest! {
        #[test]
        fn no_value_is_misread(value in "[-0-9./smhd \u{e9}]{0,24}") {
            for name in ["Crawl-delay", "Request-rate"] {
                let record = Record { name: name.into(), value: value.clone(), line: 0, ..Record::default() };
                let found = PaceRecord::of(&record);
                if let Some(one) = &found {
                    prop_assert!(record.check(true).is_none(), "check says that it is ignored");
                    let (least, most) = (Duration::from_millis(1), Duration::from_secs(86_400));
                    prop_assert!((least..=most).contains(&one.pace.interval()));
                }
            }
        }
    }
}
