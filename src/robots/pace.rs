//! The pace of a group: `Crawl-delay` and `Request-rate`, which no standard defines.
//!
//! | record | pace |
//! |---|---|
//! | `Crawl-delay: 2.5` | one request every 2.5 seconds |
//! | `Request-rate: 10/1m` | ten requests a minute, in any rhythm; units `s` (default), `m`, `h`, `d` |
//! | `Request-rate: 20/1h 1800-0600` | twenty requests an hour, from 18:00 until the end of 06:00 UTC |
//!
//! A record with another value sets no pace, and neither does a delay of 0. Of several paces the
//! strictest counts: the one with the longest time for one request. A span belongs to its record,
//! so a rate for the night doesn't apply by day.

use std::{cmp::Reverse, fmt, time::Duration};

use super::record::Record;

/// The longest time for one request. A longer one is shortened to it.
const LONGEST: Duration = Duration::from_secs(86_400);
/// The shortest time for one request. A faster pace is none.
const SHORTEST: Duration = Duration::from_millis(1);
/// How many records with a span count in one group: one for each hour of a day.
const MOST_SPANS: usize = 24;

/// A number of requests, at least one, in a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pace {
    requests: u32,
    per: Duration,
}

/// The order of paces: the greater, the stricter.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Strictness {
    /// The time for one request.
    interval: Duration,
    /// Of equal intervals, fewer requests at once are stricter.
    requests: Reverse<u32>,
}

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

/// A span of the day in minutes from midnight, UTC, both ends included. It may go past midnight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    from: u16,
    to: u16,
}

impl Pace {
    /// `requests` in the time `per`. `None` if either is zero, or for more than a thousand requests
    /// a second. No pace is slower than one request a day.
    pub fn new(requests: u32, per: Duration) -> Option<Self> {
        let interval = per.checked_div(requests)?;
        let per = if interval > LONGEST { LONGEST.saturating_mul(requests) } else { per };
        (interval >= SHORTEST).then_some(Self { requests, per })
    }

    /// The pace of a text such as `1/10s` or `10/1m`: requests, a slash, and a time in seconds or
    /// with `s`, `m`, `h`, `d`.
    pub fn parse(text: &str) -> Option<Self> {
        let (requests, time) = text.split_once('/')?;
        let unit = time.chars().last().map(|unit| unit.to_ascii_lowercase());
        let (number, seconds) = match unit {
            Some('s') => (time.get(..time.len() - 1)?, 1),
            Some('m') => (time.get(..time.len() - 1)?, 60),
            Some('h') => (time.get(..time.len() - 1)?, 3_600),
            Some('d') => (time.get(..time.len() - 1)?, 86_400),
            _ => (time, 1),
        };
        let per = number_of(number)?.checked_mul(seconds)?;
        Self::new(u32::try_from(number_of(requests)?).ok()?, Duration::from_secs(per))
    }

    /// The number of requests in [`Self::per`].
    pub const fn requests(self) -> u32 {
        self.requests
    }

    /// The time for [`Self::requests`].
    pub const fn per(self) -> Duration {
        self.per
    }

    /// The time for one request: from a millisecond to a day.
    pub fn interval(self) -> Duration {
        self.per.checked_div(self.requests).unwrap_or(LONGEST)
    }

    /// Whether the pace is stricter than another: more time for one request, or fewer at once.
    pub fn is_stricter_than(self, other: Self) -> bool {
        self.strictness() > other.strictness()
    }

    fn strictness(self) -> Strictness {
        Strictness { interval: self.interval(), requests: Reverse(self.requests) }
    }
}

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.requests == 1 { "request" } else { "requests" };
        write!(f, "{} {word} every {} s", self.requests, self.per.as_secs_f64())
    }
}

impl PaceRecord {
    /// The pace that `record` sets, if it does.
    pub fn of(record: &Record) -> Option<Self> {
        let (pace, span) = if record.name.eq_ignore_ascii_case("crawl-delay") {
            (Pace::new(1, seconds(&record.value)?)?, None)
        } else if record.name.eq_ignore_ascii_case("request-rate") {
            match record.value.split_once([' ', '\t']) {
                Some((rate, span)) => (Pace::parse(rate)?, Some(Span::parse(span)?)),
                None => (Pace::parse(&record.value)?, None),
            }
        } else {
            return None;
        };
        Some(Self { pace, span, record: record.clone() })
    }

    /// The strictest of `all` that apply at a minute of the day; the first of equal ones.
    pub(super) fn strictest<'a>(
        all: impl Iterator<Item = &'a Self>,
        minute_of_day: u16,
    ) -> Option<&'a Self> {
        all.filter(|one| one.span.is_none_or(|span| span.contains(minute_of_day))).reduce(
            |so_far, one| {
                if one.pace.strictness() > so_far.pace.strictness() { one } else { so_far }
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

impl Span {
    /// `hhmm-hhmm`.
    fn parse(text: &str) -> Option<Self> {
        let minute = |text: &str| {
            let (hour, minute) = text.trim().split_at_checked(2)?;
            let (hour, minute) = (number_of(hour)?, number_of(minute)?);
            let fits = text.trim().len() == 4 && hour <= 24 && minute <= 59;
            u16::try_from(hour * 60 + minute).ok().filter(|_| fits)
        };
        let (from, to) = text.split_once('-')?;
        Some(Self { from: minute(from)?, to: minute(to)? })
    }

    /// Whether a minute of the day, 0 to 1439, lies in the span.
    pub const fn contains(self, minute_of_day: u16) -> bool {
        let (after, before) = (self.from <= minute_of_day, minute_of_day <= self.to);
        if self.from <= self.to { after && before } else { after || before }
    }
}

/// `1*DIGIT ["." 1*DIGIT]`, at most [`LONGEST`].
fn seconds(text: &str) -> Option<Duration> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = [whole, part].iter().all(|digits| is_digits(digits));
    let seconds: f64 = is_number.then(|| text.parse().ok()).flatten()?;
    Duration::try_from_secs_f64(seconds.min(LONGEST.as_secs_f64())).ok()
}

fn number_of(text: &str) -> Option<u64> {
    is_digits(text).then(|| text.parse().ok()).flatten()
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::robots::{self, Matcher};

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
            ("Request-rate", "1/99999999999999999999d", None),
            ("Request-rate", "1/\u{664}s", None),
            ("Request-rate", "1", None),
            ("Visit-time", "0600-0845", None),
        ] {
            let record = Record { name: name.into(), value: value.into(), line: 0 };
            let found = PaceRecord::of(&record).map(|one| one.pace.to_string());
            assert_eq!(found.as_deref(), expected, "{name}: {value}");
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
                let record = Record { name: name.into(), value: value.clone(), line: 0 };
                let found = PaceRecord::of(&record);
                if let Some(one) = &found {
                    prop_assert!(record.check(true).is_none(), "check says that it is ignored");
                    prop_assert!((SHORTEST..=LONGEST).contains(&one.pace.interval()));
                }
            }
        }
    }
}
