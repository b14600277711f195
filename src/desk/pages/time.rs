//! Times as people read them, in UTC, and their lengths.

use std::time::Duration;

use jiff::Timestamp;

/// A time without parts of a second: `2026-11-22 10:31:00`.
pub(super) fn second(at: Timestamp) -> String {
    at.strftime("%F %H:%M:%S").to_string()
}

/// A time as the filter of violations reads it: `2026-11-22T10:00:00Z`.
pub(super) fn exact(at: Timestamp) -> String {
    at.strftime("%FT%H:%M:%SZ").to_string()
}

/// The length of a time in the largest unit that is exact: `24 hours`, `1 minute`, `500 ms`.
pub(super) fn length(duration: Duration) -> String {
    if duration.is_zero() {
        return "no time".to_owned();
    }
    let units = [(86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1_000, "second")];
    let milliseconds = duration.as_millis();
    let exact = units
        .into_iter()
        .find(|(unit, _)| milliseconds >= *unit && milliseconds.is_multiple_of(*unit));
    match exact.map(|(unit, name)| (milliseconds / unit, name)) {
        Some((1, "day")) => "24 hours".to_owned(),
        Some((1, name)) => format!("1 {name}"),
        Some((number, name)) => format!("{number} {name}s"),
        None => format!("{milliseconds} ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_well() {
        for (milliseconds, text) in [
            (0, "no time"),
            (500, "500 ms"),
            (1_000, "1 second"),
            (90_000, "90 seconds"),
            (3_600_000, "1 hour"),
            (86_400_000, "24 hours"),
            (90 * 86_400_000, "90 days"),
        ] {
            assert_eq!(length(Duration::from_millis(milliseconds)), text);
        }
    }
}
