//! Counts over time, one row for each bar of a chart. Those before the first counts are one row.

use super::{
    axis::Axis,
    client_total::Count,
    document::{Cell, Section, Table},
};

/// What a row says before the first counts: nobody knows whether it would be zero.
const NOT_COUNTED: &str = "not counted";

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
        [axis.name(0).into(), Cell::number(NOT_COUNTED), Cell::number("-"), Cell::Bar(0, 0)]
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
    use jiff::Timestamp;

    use super::*;
    use crate::review::report::Span;

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
