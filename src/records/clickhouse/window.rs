//! Ranges of sequence numbers, and a way through them in windows that grow.

use std::collections::VecDeque;

use jiff::{civil::Date, tz::Offset};

use super::insert::{BELOW_TIME, day};
use crate::records::record::Filter;

/// The milliseconds of a day.
const DAY: u64 = 24 * 3_600_000;
/// How far from the time of its id a record is looked for first, in milliseconds.
const NEAR: u64 = 600_000;
/// The milliseconds of an hour.
const HOUR: u64 = 3_600_000;
const MOST_RANGES: usize = 64;
/// How many times larger a window is than one with few records.
const GROWTH: u64 = 4;

/// A range of sequence numbers, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) first: u64,
    pub(super) last: u64,
}

/// The days with records, and the number of records on the last one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) rows: u64,
}

#[derive(Debug)]
pub(super) struct Windows {
    rest: VecDeque<Range>,
    length: u64,
    is_backward: bool,
}

impl Range {
    /// All sequence numbers.
    pub(super) const ALL: Self = Self { first: 0, last: u64::MAX };

    /// The sequence numbers that the filter leaves. They begin with the time.
    pub(super) fn of(filter: &Filter) -> Self {
        let [since, end] =
            filter.milliseconds().map(|time| Some(sequence_of(time?.max(0).unsigned_abs())));
        let after = filter.after_sequence.map_or(0, |after| after.saturating_add(1));
        let before = filter.before_sequence.map_or(u64::MAX, |before| before.saturating_sub(1));
        let until = end.map_or(u64::MAX, |end| end.saturating_sub(1));
        if filter.before_sequence == Some(0) || end == Some(0) {
            return Self { first: 1, last: 0 };
        }
        Self { first: after.max(since.unwrap_or(0)), last: before.min(until) }
    }

    pub(super) const fn near(millisecond: u64) -> Self {
        Self {
            first: sequence_of(millisecond.saturating_sub(NEAR)),
            last: sequence_of(millisecond.saturating_add(NEAR)),
        }
    }

    /// Hours since 1970, from the first to the last one.
    pub(super) fn of_hours(first: u32, last: u32) -> Self {
        let begin = |hour: u64| sequence_of(hour * HOUR);
        Self { first: begin(first.into()), last: begin(u64::from(last) + 1) - 1 }
    }

    /// From the first number of these to the last one; the empty range of none.
    pub(super) fn around_all(ranges: &[Self]) -> Self {
        match ranges {
            [first, .., last] => Self { first: first.first, last: last.last },
            [one] => *one,
            [] => Self { first: 1, last: 0 },
        }
    }

    pub(super) const fn is_empty(self) -> bool {
        self.last < self.first
    }

    /// Whether it is at most two hours long.
    pub(super) const fn is_short(self) -> bool {
        self.last.saturating_sub(self.first) <= (2 * HOUR) << BELOW_TIME
    }

    pub(super) fn within(self, other: Self) -> Self {
        Self { first: self.first.max(other.first), last: self.last.min(other.last) }
    }

    pub(super) fn days(self) -> [u32; 2] {
        // The greatest numbers are of no time that a record has.
        let day =
            |sequence: u64| day((sequence >> BELOW_TIME).min(4_102_444_800_000).cast_signed());
        [day(self.first), if self.last == u64::MAX { u32::MAX } else { day(self.last) }]
    }
}

impl Extent {
    pub(super) fn range(self, latest: u64) -> Range {
        Range { first: sequence_of(start(self.first)), last: latest }
    }

    /// The length of a first window, in which there should be some more records than wanted.
    pub(super) fn first_window(self, wanted: usize) -> u64 {
        let wanted = (wanted.min(10_000) as u64).saturating_mul(2).saturating_add(1_000);
        let each = (DAY << BELOW_TIME) / self.rows.max(1);
        each.saturating_mul(wanted).clamp(1_000 << BELOW_TIME, DAY << BELOW_TIME)
    }
}

impl Windows {
    /// Windows in these ranges, which are in order.
    pub(super) fn new(ranges: Vec<Range>, length: u64, is_backward: bool) -> Self {
        let rest = ranges.into_iter().filter(|range| !range.is_empty()).collect();
        Self { rest, length, is_backward }
    }

    /// Chooses the length of the next window by what was found in this one, of so many that the server
    /// returns at once.
    pub(super) fn found(&mut self, found: usize, portion: usize) {
        if found < portion / GROWTH as usize {
            self.length = self.length.saturating_mul(GROWTH);
        } else if found > portion {
            self.length = (self.length / GROWTH).max(1_000 << BELOW_TIME);
        }
    }

    fn take(&mut self, wanted: u64) -> Option<Range> {
        if self.is_backward {
            let Range { first, last } = self.rest.pop_back()?;
            let from = last.saturating_sub(wanted).max(first);
            if from > first {
                self.rest.push_back(Range { first, last: from - 1 });
            }
            Some(Range { first: from, last })
        } else {
            let Range { first, last } = self.rest.pop_front()?;
            let to = first.saturating_add(wanted).min(last);
            if to < last {
                self.rest.push_front(Range { first: to + 1, last });
            }
            Some(Range { first, last: to })
        }
    }
}

/// The ranges of each window are in order, also from window to window on the way back.
impl Iterator for Windows {
    type Item = Vec<Range>;

    fn next(&mut self) -> Option<Vec<Range>> {
        let mut window = Vec::new();
        let mut wanted = self.length;
        while wanted > 0 && window.len() < MOST_RANGES {
            let Some(range) = self.take(wanted) else { break };
            wanted = wanted.saturating_sub(range.last - range.first);
            window.push(range);
        }
        if self.is_backward {
            window.reverse();
        }
        (!window.is_empty()).then_some(window)
    }
}

const fn sequence_of(millisecond: u64) -> u64 {
    let most = (1 << (u64::BITS - BELOW_TIME)) - 1;
    (if millisecond < most { millisecond } else { most }) << BELOW_TIME
}

/// The first millisecond of a day.
fn start(day: u32) -> u64 {
    let date = Date::strptime("%Y%m%d", format!("{day:08}"));
    let time = date.and_then(|date| Offset::UTC.to_timestamp(date.at(0, 0, 0, 0)));
    time.map_or(0, |time| time.as_millisecond().max(0).unsigned_abs())
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn windows_cover_ranges_once_from_either_end() {
        const MAX: u64 = u64::MAX;
        let many: Vec<_> = (0..1_000).map(|number| (number * 100, number * 100 + 7)).collect();
        for is_backward in [false, true] {
            for ranges in [
                &[(0, 0)][..],
                &[(0, 100)],
                &[(7, 1_000_000)],
                &[(MAX - 9, MAX)],
                &[(0, 0), (2, 3), (70, 1_000), (2_000, 2_001), (MAX, MAX)],
                &many,
            ] {
                let ranges: Vec<_> =
                    ranges.iter().map(|&(first, last)| Range { first, last }).collect();
                let mut way = Windows::new(ranges.clone(), 10, is_backward);
                let mut windows = Vec::new();
                while let Some(window) = way.next() {
                    assert!((1..=MOST_RANGES).contains(&window.len()));
                    windows.push(window);
                    way.found(0, 100);
                }
                assert!(windows.len() < 12 + ranges.len() / MOST_RANGES);
                if is_backward {
                    windows.reverse();
                }
                // Joined again, where one was cut, they are the same.
                let mut joined: Vec<Range> = Vec::new();
                for range in windows.into_iter().flatten() {
                    match joined.last_mut() {
                        Some(last) if last.last + 1 == range.first => last.last = range.last,
                        _ => joined.push(range),
                    }
                }
                assert_eq!(joined, ranges);
            }
        }
        let none = vec![Range { first: 1, last: 0 }];
        assert_eq!(Windows::new(none, 10, true).next(), None);
    }

    #[test]
    fn an_hour_has_its_own_numbers() {
        let [first, second] = [Range::of_hours(0, 0), Range::of_hours(1, 2)];
        assert_eq!(first, Range { first: 0, last: (3_600_000 << 22) - 1 });
        assert_eq!(second, Range { first: 3_600_000 << 22, last: ((3 * 3_600_000) << 22) - 1 });
        assert_eq!(Range::around_all(&[first, second]), Range { first: 0, last: second.last });
        assert_eq!(Range::around_all(&[first]), first);
        assert!(Range::around_all(&[]).is_empty());
    }

    #[test]
    fn a_filter_leaves_a_range_of_its_times() {
        let at = |text: &str| Some(text.parse::<Timestamp>().expect("a time"));
        let filter = |since, until| Filter { since, until, ..Filter::default() };
        let range =
            Range::of(&filter(at("1970-01-01T00:00:00.001Z"), at("1970-01-01T00:00:00.002Z")));
        assert_eq!(range, Range { first: 1 << 22, last: (2 << 22) - 1 });
        // Times between milliseconds: a record has none.
        let range =
            Range::of(&filter(at("1970-01-01T00:00:00.0001Z"), at("1970-01-01T00:00:00.0011Z")));
        assert_eq!(range, Range { first: 1 << 22, last: (2 << 22) - 1 });
        assert!(Range::of(&filter(None, at("1960-01-01T00:00:00Z"))).is_empty());
        assert_eq!(Range::of(&Filter::default()), Range::ALL);
        assert_eq!(Range::of(&Filter::default()).days(), [19_700_101, u32::MAX]);
    }

    #[test]
    fn a_day_begins_at_midnight_of_utc() {
        for (day, millisecond) in
            [(19_700_101, 0), (19_700_102, DAY), (20_231_114, 1_699_920_000_000)]
        {
            assert_eq!(start(day), millisecond);
            assert_eq!(super::day(millisecond.cast_signed()), day);
        }
    }
}
