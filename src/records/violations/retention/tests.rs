use super::*;

const DAY: Duration = Duration::from_secs(86400);

/// Plays passes until one ends; returns how many records went.
fn pass(retention: &mut Retention, now: Instant, wall: Timestamp, old: u64, all: u64) -> u64 {
    let mut gone = 0;
    while let Some(piece) = retention.piece(now, wall, all) {
        let count = piece.limit.min(old - gone);
        gone += count;
        retention.removed(piece, count, now);
    }
    gone
}

#[test]
fn a_pass_takes_a_bounded_share() {
    let (now, wall) = (Instant::now(), Timestamp::UNIX_EPOCH + 400 * DAY);
    for (old, all, gone) in
        [(0, 0, 0), (10, 10, 10), (5000, 5000, 1000), (200_000, 200_000, 10_000), (3, 1_000_000, 3)]
    {
        let mut retention = Retention::new(90 * DAY, DAY, now, wall);
        assert_eq!(pass(&mut retention, now, wall, old, all), 0, "not right at the start");
        let (now, wall) = (now + FIRST, wall + FIRST);
        assert_eq!(pass(&mut retention, now, wall, old, all), gone);
        assert_eq!(retention.rest(now), INTERVAL);
    }
}

#[test]
fn a_clock_that_jumped_removes_nothing_at_once() {
    let (start, wall) = (Instant::now(), Timestamp::UNIX_EPOCH + 20_000 * DAY);
    for moved in [wall + 365 * DAY, wall - 365 * DAY, Timestamp::UNIX_EPOCH, Timestamp::MAX] {
        let mut retention = Retention::new(90 * DAY, DAY, start, wall);
        assert_eq!(pass(&mut retention, start + FIRST, moved, 9000, 9000), 0);
        assert_eq!(retention.rest(start + FIRST), INTERVAL);
    }
}

#[test]
fn a_piece_spares_the_retention_and_the_cache_window() {
    let (start, wall) = (Instant::now(), Timestamp::UNIX_EPOCH + 400 * DAY);
    for (keep, window, before, replaced_before) in [
        (90 * DAY, DAY, wall - 90 * DAY, wall - 91 * DAY),
        (DAY / 2, DAY, wall - DAY / 2, wall - DAY * 3 / 2),
        (DAY, Duration::MAX, wall - DAY, Timestamp::MIN),
    ] {
        let mut retention = Retention::new(keep, window, start, wall);
        let piece = retention.piece(start + FIRST, wall, 1).expect("a pass is due");
        assert_eq!((piece.before, piece.replaced_before), (before, replaced_before));
    }
}
