use proptest::prelude::*;

use super::*;

const MOST: u64 = 100_000_000;

#[test]
fn rows_go_from_a_high_mark_down_to_a_low_one() {
    let now = Instant::now();
    let mut limit = SizeLimit::new(MOST, now);
    for (percent, goes, is_full) in [
        (97, false, false),
        (99, true, false),
        (97, true, false),
        (96, true, false),
        (95, false, false),
        (97, false, false),
        (100, true, true),
    ] {
        let extent = Extent { pages: MOST / 100 * percent, log: 0 };
        assert_eq!(limit.is_due(now, extent), goes, "{percent}");
        assert_eq!(limit.is_full(extent), is_full, "{percent}");
    }
}

#[test]
fn a_log_that_a_reader_holds_costs_no_stored_record() {
    let now = Instant::now();
    let mut limit = SizeLimit::new(MOST, now);
    let extent = Extent { pages: MOST / 100 * 90, log: MOST / 100 * 20 };
    assert!(limit.is_full(extent) && !limit.is_due(now, extent));
    assert!(!limit.is_log_too_long(extent.log) && limit.is_log_too_long(MOST / 100 * 26));
    // A small limit leaves the log what a backup needs.
    assert!(!SizeLimit::new(16 << 20, now).is_log_too_long(16 << 20));
}

#[test]
fn counts_go_only_where_they_alone_take_more_than_half() {
    let limit = SizeLimit::new(MOST, Instant::now());
    let million = |number: u64| number * 1_000_000;
    for (pages, records, history, first) in [
        (99, 90, 0, Kind::Records),
        (99, 50, 0, Kind::Records),
        (99, 40, 10, Kind::Records),
        (99, 48, 0, Kind::Counts),
        (99, 0, 0, Kind::Counts),
        (99, 0, 60, Kind::Records),
        (99, 120, 120, Kind::Records),
    ] {
        let extent = Extent { pages: million(pages), log: 0 };
        let parts = Parts { records: million(records), history: million(history) };
        assert_eq!(limit.first(extent, parts), first, "{pages} {records} {history}");
    }
}

#[test]
fn a_sweep_pauses_as_long_as_a_piece_took_unless_the_database_is_full() {
    let start = Instant::now();
    let now = start + Duration::from_millis(40);
    let mut limit = SizeLimit::new(MOST, start);
    assert_eq!(limit.rest(start), None);
    let extent = Extent { pages: MOST, log: 0 };
    assert!(limit.is_due(start, extent));
    for (rows, is_full, rest) in [(1000, false, 40), (1000, true, 0), (0, true, 60_000)] {
        limit.removed(rows, start, now, is_full);
        assert_eq!(limit.rest(now), Some(Duration::from_millis(rest)));
        assert_eq!(limit.is_due(now, extent), rest == 0);
    }
}

proptest! {
    /// Whatever comes in, the size stays below the limit and one batch; counts never take the
    /// room of all records, and records never that of the counts' share.
    #[test]
    fn the_size_is_bounded(batches in prop::collection::vec((0_u64..256, 0_u64..400), 1..400)) {
        const RECORD: u64 = 5_000;
        const COUNT: u64 = 70;
        let start = Instant::now();
        let mut limit = SizeLimit::new(16 << 20, start);
        let (mut records, mut counts, mut folded, mut gone) = (0, 0, 0, 0);
        let (mut seen, mut all_counts, mut gone_counts) = (0, 0, 0);
        let extent = |records: u64, counts: u64| {
            Extent { pages: records * RECORD + counts * COUNT, log: 0 }
        };
        for (new, new_counts) in batches.iter().cycle().take(2_000) {
            seen += new;
            all_counts += new_counts;
            let now = extent(records, counts);
            if limit.is_full(now) { folded += new } else { records += new }
            counts += new_counts;
            let now = extent(records, counts);
            if limit.is_due(start, now) {
                let parts = Parts { records: records * RECORD, history: 0 };
                let mut rows = 0;
                for kind in [limit.first(now, parts), limit.first(now, parts).other()] {
                    if rows == 0 {
                        let left = match kind {
                            Kind::Records => &mut records,
                            Kind::Counts => &mut counts,
                        };
                        rows = (*left).min(PIECE);
                        *left -= rows;
                        match kind {
                            Kind::Records => gone += rows,
                            Kind::Counts => {
                                gone_counts += rows;
                                let share = counts * COUNT + rows * COUNT > limit.most / 2;
                                prop_assert!(share || records == 0);
                            }
                        }
                    }
                }
                limit.removed(rows, start, start, true);
            }
            prop_assert_eq!(seen, records + gone + folded);
            prop_assert_eq!(all_counts, counts + gone_counts);
            let slack = 256 * RECORD + 400 * COUNT;
            prop_assert!(extent(records, counts).bytes() <= limit.most + slack);
        }
    }
}
