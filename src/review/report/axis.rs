//! The bars of a chart over time.

use jiff::Timestamp;

use super::span::Span;
use crate::records::counts::Dimension;

const HOUR: i64 = 3_600_000;
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
    /// The start and the end of the span.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a time")
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
}
