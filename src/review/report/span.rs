//! A span of whole hours, and the one of the same length before it.

use jiff::{SignedDuration, Timestamp};

use crate::records::{
    counts::{Dimension, Question},
    tally::Hour,
};

/// The milliseconds of an hour.
const HOUR: i64 = 3_600_000;
/// The longest span that is told apart by hours.
const MOST_HOURS: i64 = 49;

/// A span of time. Counts are kept by hour, so it begins and ends with an hour; the present hour
/// counts as far as it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// The start of the first hour.
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
