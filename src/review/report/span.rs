//! A span of whole hours, and the one of the same length before it; the bars of a chart over the span.

use jiff::{SignedDuration, Timestamp};

use super::{
    client_total::Count,
    document::{Cell, Section, Table},
};
use crate::records::{
    counts::{Dimension, Question},
    tally::Hour,
};

const HOUR: i64 = 3_600_000;
/// The longest span that is told apart by hours.
const MOST_HOURS: i64 = 49;

/// A span of time. Counts are kept by hour, so it begins and ends with an hour; the present hour
/// counts as far as it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) from: Timestamp,
    /// The end: of the last hour, or now if that hour runs.
    pub(crate) until: Timestamp,
    /// The start of the span before, which ends with `from`.
    pub(crate) before: Timestamp,
    hours: i64,
}

impl Span {
    /// The hours that a span touches.
    pub(crate) fn new(since: Timestamp, until: Timestamp, now: Timestamp) -> Self {
        let first = Hour::of(since).as_millisecond();
        let last = Hour::of(until - SignedDuration::from_nanos(1)).as_millisecond().max(first);
        let time = |millisecond| Timestamp::from_millisecond(millisecond).ok();
        let from = time(first).unwrap_or(since);
        let end = time(last + HOUR).unwrap_or(until);
        Self {
            from,
            until: if now > from { end.min(now) } else { end },
            before: time(first - (last + HOUR - first)).unwrap_or(Timestamp::MIN),
            hours: (last + HOUR - first) / HOUR,
        }
    }

    /// How many hours it has, the one that runs included.
    pub(crate) const fn hours(&self) -> u64 {
        self.hours.unsigned_abs()
    }

    /// The period by which times are told apart.
    pub(crate) const fn period(&self) -> Dimension {
        if self.hours <= MOST_HOURS { Dimension::Hour } else { Dimension::Day }
    }

    pub(crate) fn question(&self) -> Question {
        Question { since: self.from, until: self.until, ..Question::default() }
    }

    pub(crate) fn question_before(&self) -> Question {
        Question { since: self.before, until: self.from, ..Question::default() }
    }

    /// Whether the span before has counts to compare with, by the first hour that has any.
    pub(crate) fn is_compared(&self, first_counts: Option<Timestamp>) -> bool {
        first_counts.is_some_and(|first| first < self.from)
    }

    /// Its ends in words: `2026-11-15 10:00 to 2026-11-22 10:31 UTC`.
    pub(crate) fn in_words(&self) -> String {
        let [from, until] = [self.from, self.until].map(|time| time.strftime("%F %H:%M"));
        format!("{from} to {until} UTC")
    }

    /// Its length in words: `7 days`, `5 hours`.
    pub(crate) fn length(&self) -> String {
        let plural = |number: i64, unit| match number {
            1 => format!("1 {unit}"),
            number => format!("{number} {unit}s"),
        };
        // The hour that runs makes seven days and an hour of seven days.
        let whole = self.until.duration_since(self.from).as_hours().max(1);
        match self.hours {
            hours if hours <= MOST_HOURS => plural(whole, "hour"),
            hours => plural(hours / 24, "day"),
        }
    }
}

const DAY: i64 = 24 * HOUR;
/// The most bars of hours, and of days: a day of hours and the one that runs, a month of days.
const MOST: (i64, i64) = (25, 31);
/// The days of a span that are shown even if none of them was counted.
const LEAST_DAYS: i64 = 90;

/// Periods of the same length, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Axis {
    first: i64,
    step: i64,
    count: usize,
    /// The start of the first counts; the end of time without any.
    counted_from: i64,
    span: (i64, i64),
}

impl Axis {
    /// The periods of a span. One that reaches back far beyond the first counts begins with them,
    /// so that its bars stay apart.
    pub(super) fn of(span: &Span, first_counts: Option<Timestamp>) -> Self {
        let (from, until) = (span.from.as_millisecond(), span.until.as_millisecond());
        let end = until.max(from + 1);
        let (unit, most) =
            if span.period() == Dimension::Hour { (HOUR, MOST.0) } else { (DAY, MOST.1) };
        let counted_from = first_counts.map_or(i64::MAX, Timestamp::as_millisecond);
        let start = counted_from.min(end - LEAST_DAYS * DAY).max(from);
        let first = start.div_euclid(unit) * unit;
        let units = (end - first + unit - 1) / unit;
        let step = (units + most - 1) / most;
        let count = (units + step - 1) / step;
        let count = usize::try_from(count).unwrap_or(1);
        Self { first, step: step * unit, count, counted_from, span: (from, until) }
    }

    /// The number of bars before the first counts. They are unknown, and not zero.
    pub(crate) fn uncounted(&self) -> usize {
        let before = self.counted_from.saturating_sub(self.first).div_euclid(self.step);
        usize::try_from(before).unwrap_or(0).min(self.count)
    }

    pub(crate) const fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn bar(&self, time: Timestamp) -> Option<usize> {
        let at = (time.as_millisecond() - self.first).div_euclid(self.step);
        usize::try_from(at).ok().filter(|&at| at < self.count)
    }

    pub(crate) fn start(&self, bar: usize) -> Timestamp {
        let start = self.first + self.step * i64::try_from(bar).unwrap_or(0);
        Timestamp::from_millisecond(start).unwrap_or(Timestamp::MIN)
    }

    /// Whether only a part of the period of a bar is in the span.
    pub(crate) fn is_partial(&self, bar: usize) -> bool {
        let [start, end] = [bar, bar + 1].map(|bar| self.start(bar).as_millisecond());
        start < self.span.0 || self.span.1 < end
    }

    /// The name of a bar: `Sun 2026-11-15`, `2026-11-15 10:00`.
    pub(crate) fn name(&self, bar: usize) -> String {
        let start = self.start(bar);
        if self.is_hours() { start.strftime("%F %H:%M") } else { start.strftime("%a %F") }
            .to_string()
    }

    /// The name of a bar where there is little room: `Nov 15`, `10:00`.
    pub(crate) fn short_name(&self, bar: usize) -> String {
        let format = if self.is_hours() { "%H:%M" } else { "%b %-d" };
        self.start(bar).strftime(format).to_string()
    }

    /// The length of a bar: `day`, `2 hours`.
    pub(crate) fn period(&self) -> String {
        let (unit, name) = if self.is_hours() { (HOUR, "hour") } else { (DAY, "day") };
        match self.step / unit {
            1 => name.to_owned(),
            number => format!("{number} {name}s"),
        }
    }

    const fn is_hours(&self) -> bool {
        self.step < DAY
    }
}

/// The section with this heading and the period after it. `length` makes the bars.
pub(super) fn over_time(
    heading: &str,
    axis: &Axis,
    counts: &[Count],
    length: impl Fn(&Count) -> u64,
) -> Section {
    let most = counts.iter().map(&length).max().unwrap_or(0);
    let uncounted = axis.uncounted();
    // A row says from when it holds, so one row says it of all times up to the next one.
    let before = (uncounted > 0).then(|| {
        [axis.name(0).into(), Cell::number("not counted"), Cell::number("-"), Cell::Bar(0, 0)]
    });
    let row = |(at, count): (usize, &Count)| -> [Cell; 4] {
        let Count { requests, violations } = *count;
        [axis.name(at).into(), requests.into(), violations.into(), Cell::Bar(length(count), most)]
    };
    let rows = counts.iter().enumerate().skip(uncounted).map(row);
    let headings = ["from", "requests", "violations", ""];
    let table = Table::new(headings, usize::MAX, before.into_iter().chain(rows));
    Section::new(format!("{heading} by {}", axis.period()), table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::report::Span;
    use jiff::Timestamp;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    #[test]
    fn a_span_has_whole_hours_and_the_one_before_has_as_many() {
        let now = at("2026-11-22T10:31:00Z");
        for (since, until, from, end, before, hours, length) in [
            (
                "2026-11-15T10:31:00Z",
                "2026-11-22T10:31:00Z",
                "2026-11-15T10:00:00Z",
                "2026-11-22T10:31:00Z",
                "2026-11-08T09:00:00Z",
                169,
                "7 days",
            ),
            (
                "2026-11-15T00:00:00Z",
                "2026-11-22T00:00:00Z",
                "2026-11-15T00:00:00Z",
                "2026-11-22T00:00:00Z",
                "2026-11-08T00:00:00Z",
                168,
                "7 days",
            ),
            (
                "2026-11-22T10:30:00Z",
                "2026-11-22T10:31:00Z",
                "2026-11-22T10:00:00Z",
                "2026-11-22T10:31:00Z",
                "2026-11-22T09:00:00Z",
                1,
                "1 hour",
            ),
            (
                "2026-11-22T08:30:00Z",
                "2026-11-22T09:10:00Z",
                "2026-11-22T08:00:00Z",
                "2026-11-22T10:00:00Z",
                "2026-11-22T06:00:00Z",
                2,
                "2 hours",
            ),
            (
                "2026-11-21T10:31:00Z",
                "2026-11-22T10:31:00Z",
                "2026-11-21T10:00:00Z",
                "2026-11-22T10:31:00Z",
                "2026-11-20T09:00:00Z",
                25,
                "24 hours",
            ),
            (
                "2026-12-01T00:00:00Z",
                "2026-12-02T00:00:00Z",
                "2026-12-01T00:00:00Z",
                "2026-12-02T00:00:00Z",
                "2026-11-30T00:00:00Z",
                24,
                "24 hours",
            ),
        ] {
            let span = Span::new(at(since), at(until), now);
            assert_eq!((span.from, span.until, span.before), (at(from), at(end), at(before)));
            assert_eq!((span.hours(), span.length().as_str()), (hours, length));
        }
    }

    #[test]
    fn the_ends_of_time_are_a_span() {
        let span = Span::new(Timestamp::MIN, Timestamp::MAX, at("2026-11-22T10:31:00Z"));
        assert_eq!(span.before, Timestamp::MIN);
        assert_eq!(span.until, at("2026-11-22T10:31:00Z"));
    }

    #[test]
    fn a_span_has_a_few_bars_and_each_of_its_times_is_in_one() {
        let until = at("2026-11-22T10:31:00Z");
        for (since, period, count, first, last) in [
            ("2026-11-22T10:00:00Z", "hour", 1, "2026-11-22 10:00", "2026-11-22 10:00"),
            ("2026-11-21T11:00:00Z", "hour", 24, "2026-11-21 11:00", "2026-11-22 10:00"),
            ("2026-11-20T11:00:00Z", "2 hours", 24, "2026-11-20 11:00", "2026-11-22 09:00"),
            ("2026-11-15T10:00:00Z", "day", 8, "Sun 2026-11-15", "Sun 2026-11-22"),
            ("2026-10-23T00:00:00Z", "day", 31, "Fri 2026-10-23", "Sun 2026-11-22"),
            ("2026-08-24T00:00:00Z", "3 days", 31, "Mon 2026-08-24", "Sun 2026-11-22"),
        ] {
            let span = Span::new(at(since), until, until);
            let axis = Axis::of(&span, None);
            assert_eq!((axis.period().as_str(), axis.count()), (period, count), "{since}");
            assert_eq!([axis.name(0), axis.name(count - 1)], [first, last], "{since}");
            let short = if span.period() == Dimension::Hour { 5 } else { 6 };
            assert_eq!(axis.short_name(0).len(), short, "{since}");
            assert_eq!(axis.bar(span.from), Some(0));
            assert_eq!(axis.bar(span.until), Some(count - 1));
            let partial: Vec<_> = (0..count).filter(|at| axis.is_partial(*at)).collect();
            let is_first = span.from != axis.start(0);
            let expected: Vec<_> = is_first.then_some(0).into_iter().chain([count - 1]).collect();
            assert_eq!(partial, if count == 1 { vec![0] } else { expected }, "{since}");
        }
    }

    #[test]
    fn a_far_start_gives_way_to_the_first_counts_but_not_to_less_than_a_quarter() {
        let now = at("2026-11-22T10:31:00Z");
        for (first, name, count, uncounted) in [
            (Some("2026-05-01T00:00:00Z"), "Fri 2026-05-01", 30, 0),
            (Some("2026-11-21T00:00:00Z"), "Mon 2026-08-24", 31, 29),
            (None, "Mon 2026-08-24", 31, 31),
        ] {
            let axis = Axis::of(&Span::new(Timestamp::MIN, now, now), first.map(at));
            assert_eq!((axis.name(0).as_str(), axis.count()), (name, count), "{first:?}");
            assert_eq!(axis.uncounted(), uncounted, "{first:?}");
        }
    }

    #[test]
    fn bars_before_the_first_counts_are_told_from_zero() {
        let until = at("2026-11-22T10:31:00Z");
        for (since, first, count, uncounted) in [
            ("2026-11-15T10:00:00Z", None, 8, 8),
            ("2026-11-15T10:00:00Z", Some("2026-11-22T00:00:00Z"), 8, 7),
            ("2026-11-15T10:00:00Z", Some("2026-11-15T00:00:00Z"), 8, 0),
            ("2026-11-15T10:00:00Z", Some("2026-11-01T00:00:00Z"), 8, 0),
            // An hour of the first day was counted from somewhere within.
            ("2026-11-21T10:00:00Z", Some("2026-11-22T09:00:00Z"), 25, 23),
            // Three days a bar: the one with the first counts is counted.
            ("2026-08-24T00:00:00Z", Some("2026-11-21T00:00:00Z"), 31, 29),
            ("2026-08-24T00:00:00Z", Some("2026-11-19T00:00:00Z"), 31, 29),
            ("2026-08-24T00:00:00Z", Some("2026-11-18T00:00:00Z"), 31, 28),
        ] {
            let axis = Axis::of(&Span::new(at(since), until, until), first.map(at));
            assert_eq!((axis.count(), axis.uncounted()), (count, uncounted), "{since} {first:?}");
        }
    }

    #[test]
    fn days_before_the_first_counts_are_not_counted_and_later_ones_may_be_zero() {
        let at = |text: &str| text.parse::<Timestamp>().expect("a time");
        let until = at("2026-11-22T10:31:00Z");
        let span = Span::new(at("2026-11-19T00:00:00Z"), until, until);
        let axis = Axis::of(&span, Some(at("2026-11-21T00:00:00Z")));
        let none = Count::default();
        let counts = [none, none, none, Count { requests: 9, violations: 3 }];
        let section = over_time("Violations", &axis, &counts, |count| count.violations);
        assert_eq!(section.heading, "Violations by day");
        let rows: [[Cell; 4]; 3] = [
            [
                "Thu 2026-11-19".into(),
                Cell::number("not counted"),
                Cell::number("-"),
                Cell::Bar(0, 0),
            ],
            ["Sat 2026-11-21".into(), 0_u64.into(), 0_u64.into(), Cell::Bar(0, 3)],
            ["Sun 2026-11-22".into(), 9_u64.into(), 3_u64.into(), Cell::Bar(3, 3)],
        ];
        assert_eq!(section.table.rows, rows.map(Vec::from));
    }
}
