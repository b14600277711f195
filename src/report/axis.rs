//! The bars of a chart over time.

use jiff::Timestamp;

use super::span::Span;
use crate::violations::Dimension;

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;
/// The most bars of hours, and of days: a day of hours and the one that runs, a month of days.
const MOST: (i64, i64) = (25, 31);

/// Periods of the same length, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    first: i64,
    step: i64,
    count: usize,
}

impl Axis {
    /// The periods of a span. A long span begins with the day of the first counts.
    pub(super) fn of(span: &Span, first_counts: Option<Timestamp>) -> Self {
        let end = span.until.as_millisecond().max(span.from.as_millisecond() + 1);
        let (unit, most) =
            if span.period() == Dimension::Hour { (HOUR, MOST.0) } else { (DAY, MOST.1) };
        let start = first_counts.map_or(span.from, |first| first.clamp(span.from, span.until));
        let start = if unit == HOUR { span.from } else { start };
        let first = start.as_millisecond().div_euclid(unit) * unit;
        let units = (end - first + unit - 1) / unit;
        let step = (units + most - 1) / most;
        let count = (units + step - 1) / step;
        Self { first, step: step * unit, count: usize::try_from(count).unwrap_or(1) }
    }

    /// The number of bars.
    pub const fn count(&self) -> usize {
        self.count
    }

    /// The bar of a time.
    pub fn bar(&self, time: Timestamp) -> Option<usize> {
        let at = (time.as_millisecond() - self.first).div_euclid(self.step);
        usize::try_from(at).ok().filter(|&at| at < self.count)
    }

    /// The start of a bar.
    pub fn start(&self, bar: usize) -> Timestamp {
        let start = self.first + self.step * i64::try_from(bar).unwrap_or(0);
        Timestamp::from_millisecond(start).unwrap_or(Timestamp::MIN)
    }

    /// The name of a bar: `Sun 2026-11-15`, `2026-11-15 10:00`.
    pub fn name(&self, bar: usize) -> String {
        let start = self.start(bar);
        if self.is_hours() { start.strftime("%F %H:%M") } else { start.strftime("%a %F") }
            .to_string()
    }

    /// The name of a bar where there is little room: `Nov 15`, `10:00`.
    pub fn short_name(&self, bar: usize) -> String {
        let format = if self.is_hours() { "%H:%M" } else { "%b %-d" };
        self.start(bar).strftime(format).to_string()
    }

    /// The length of a bar: `day`, `2 hours`.
    pub fn period(&self) -> String {
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
        }
    }

    #[test]
    fn all_of_time_begins_with_the_first_counts() {
        let now = at("2026-11-22T10:31:00Z");
        let span = Span::new(Timestamp::MIN, now, now);
        let axis = Axis::of(&span, Some(at("2026-11-01T00:00:00Z")));
        assert_eq!((axis.name(0).as_str(), axis.count()), ("Sun 2026-11-01", 22));
    }
}
