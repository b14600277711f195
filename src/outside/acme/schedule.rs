//! When to renew a certificate, and when to try again.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    time::Duration,
};

use jiff::{SignedDuration, Timestamp};

/// The pauses after failures in a row. Let's Encrypt allows five failed proofs of a host an hour.
const PAUSES: [Duration; 5] = [
    Duration::from_secs(60),
    Duration::from_secs(5 * 60),
    Duration::from_secs(15 * 60),
    Duration::from_secs(60 * 60),
    Duration::from_secs(6 * 60 * 60),
];

/// When to renew a certificate: at the time that its authority suggests, else after two thirds of its
/// lifetime. Never later than after nine tenths of it.
pub(super) fn due(begins: Timestamp, ends: Timestamp, suggested: Option<Timestamp>) -> Timestamp {
    let lifetime = ends.duration_since(begins);
    let after = |part: i32, of: i32| begins.saturating_add(lifetime / of * part).unwrap_or(ends);
    suggested.unwrap_or_else(|| after(2, 3)).min(after(9, 10))
}

/// The pause after `failures` in a row, at least one.
pub(super) fn pause(failures: usize) -> Duration {
    PAUSES[failures.saturating_sub(1).min(PAUSES.len() - 1)]
}

/// The pause after an order, in which no other one is made, whatever the authority suggests.
pub(super) fn rest(begins: Timestamp, ends: Timestamp) -> SignedDuration {
    (ends.duration_since(begins) / 3).min(SignedDuration::from_hours(1))
}

/// A moment of the window that an authority suggests (RFC 9773 §4.2), always the same for one
/// certificate. Those of many clients spread over the window.
pub(super) fn moment_of(window: (Timestamp, Timestamp), certificate: &[u8]) -> Timestamp {
    let (start, end) = window;
    let mut hash = DefaultHasher::new();
    certificate.hash(&mut hash);
    let share = (hash.finish() % 1_000) as i32;
    let length = end.duration_since(start).max(SignedDuration::ZERO);
    start.saturating_add(length / 1_000 * share).unwrap_or(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(day: &str) -> Timestamp {
        format!("2026-{day}T00:00:00Z").parse().expect("a time")
    }

    #[test]
    fn a_certificate_is_renewed_after_two_thirds_or_when_the_authority_says() {
        let (begins, ends) = (at("01-01"), at("04-01")); // 90 days
        for (suggested, expected) in [
            (None, "03-02"),
            (Some("02-10"), "02-10"),
            (Some("03-20"), "03-20"),
            // A window after nine tenths would leave no time to try again.
            (Some("03-30"), "03-23"),
            (Some("05-01"), "03-23"),
        ] {
            let found = due(begins, ends, suggested.map(at));
            assert_eq!(found, at(expected), "{suggested:?}");
        }
    }

    #[test]
    fn pauses_grow_and_leave_the_limit_of_five_failures_an_hour() {
        let pauses: Vec<u64> = (1..=8).map(|failures| pause(failures).as_secs()).collect();
        assert!(pauses.is_sorted(), "{pauses:?}");
        let mut attempts_at = vec![0];
        for pause in &pauses {
            attempts_at.push(attempts_at[attempts_at.len() - 1] + pause);
        }
        let in_an_hour = attempts_at.iter().filter(|at| **at < 3_600).count();
        assert!(in_an_hour < 5, "{attempts_at:?}");
    }

    #[test]
    fn rfc9773_4_2_a_moment_lies_in_the_window() {
        let window = (at("02-01"), at("02-03"));
        let moments: Vec<Timestamp> =
            (0..100_u8).map(|certificate| moment_of(window, &[certificate])).collect();
        assert!(moments.iter().all(|moment| (window.0..window.1).contains(moment)), "{moments:?}");
        assert!(moments.iter().any(|moment| *moment > at("02-02")));
        assert!(moments.iter().any(|moment| *moment < at("02-02")));
        assert_eq!(moment_of(window, b"x"), moment_of(window, b"x"));
        assert_eq!(moment_of((window.1, window.0), b"x"), window.1, "an empty window");
    }

    #[test]
    fn an_order_is_followed_by_a_rest() {
        assert_eq!(rest(at("01-01"), at("04-01")), SignedDuration::from_hours(1));
        assert_eq!(rest(at("01-01"), at("01-01") + SignedDuration::from_mins(9)).as_mins(), 3);
    }
}
