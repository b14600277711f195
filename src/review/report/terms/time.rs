//! Times, days and ages.

use jiff::{SignedDuration, Timestamp, civil::Date, tz::TimeZone};

use super::Refusal;
use crate::base::escape;

/// A time, a day in UTC, or an age before `now`.
pub(crate) fn time(text: &str, now: Timestamp) -> Result<Timestamp, Refusal> {
    parse(text, now).ok_or_else(|| {
        let text = escape::bounded(text.as_bytes(), 100);
        Refusal::Term(format!(
            "'{text}' is not a time (write 2026-11-20T10:00:00Z, 2026-11-20 or 24h)"
        ))
    })
}

/// The repair of a span whose end, written as `text`, is not after its start.
pub(crate) fn disorder(since: Timestamp, until: Timestamp, text: &str) -> Option<&'static str> {
    match text.parse::<Date>().is_ok() {
        _ if since < until => None,
        true => Some("a day begins at 00:00 UTC: name the day after the last one"),
        false => Some("swap the two, or name a later end"),
    }
}

fn parse(text: &str, now: Timestamp) -> Option<Timestamp> {
    let day = || {
        let date: Date = text.parse().ok()?;
        Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp())
    };
    let ago = || {
        let unit_at = text.find(|c: char| !c.is_ascii_digit())?;
        let (number, unit) = text.split_at(unit_at);
        let seconds = match unit {
            "s" => 1,
            "m" => 60,
            "h" => 3_600,
            "d" => 86_400,
            _ => return None,
        };
        let ago = number.parse::<i64>().ok()?.checked_mul(seconds)?;
        now.checked_sub(SignedDuration::from_secs(ago)).ok()
    };
    text.parse::<Timestamp>().ok().or_else(day).or_else(ago)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn since_is_a_time_a_day_or_an_age() {
        let now = "2026-11-20T12:00:00Z".parse().expect("a time");
        for (text, expected) in [
            ("2026-11-20T10:00:00Z", Some("2026-11-20T10:00:00Z")),
            ("2026-11-20T10:00:00+02:00", Some("2026-11-20T08:00:00Z")),
            ("2026-11-19", Some("2026-11-19T00:00:00Z")),
            ("24h", Some("2026-11-19T12:00:00Z")),
            ("7d", Some("2026-11-13T12:00:00Z")),
            ("yesterday", None),
            ("24", None),
            ("-1h", None),
            ("99999999999999999999d", None),
        ] {
            let expected = expected.map(|text| text.parse::<Timestamp>().expect("a time"));
            assert_eq!(parse(text, now), expected, "{text}");
        }
    }
}
