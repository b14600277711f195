//! The span of time that the options name.

use jiff::{SignedDuration, Timestamp, civil::Date, tz::TimeZone};

use crate::{cli::exit::Error, escape};

/// The times from `since` on and before `until`; `None` is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) since: Option<Timestamp>,
    pub(super) until: Option<Timestamp>,
}

impl Span {
    /// The span of these options.
    pub(super) fn of(
        since: Option<&str>,
        until: Option<&str>,
        now: Timestamp,
    ) -> Result<Self, Error> {
        let time = |text| time(text, now);
        let span =
            Self { since: since.map(time).transpose()?, until: until.map(time).transpose()? };
        let (Some(from), Some(to)) = (span.since, span.until) else { return Ok(span) };
        if from < to {
            return Ok(span);
        }
        let is_day = until.is_some_and(|text| text.parse::<Date>().is_ok());
        let repair = match is_day {
            true => "a day begins at 00:00 UTC: name the day after the last one",
            false => "swap the two, or name a later end",
        };
        Err(Error::Refused(format!("--until {to:.0} is not after --since {from:.0} ({repair})")))
    }
}

/// A time, a day in UTC, or an age before `now`.
pub(super) fn time(text: &str, now: Timestamp) -> Result<Timestamp, Error> {
    parse(text, now).ok_or_else(|| {
        let text = escape::bounded(text.as_bytes(), 100);
        Error::Refused(format!(
            "'{text}' is not a time (write 2026-11-20T10:00:00Z, 2026-11-20 or 24h)"
        ))
    })
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

    fn now() -> Timestamp {
        "2026-11-20T12:00:00Z".parse().unwrap()
    }

    #[test]
    fn since_is_a_time_a_day_or_an_age() {
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
            let expected = expected.map(|text| text.parse::<Timestamp>().unwrap());
            assert_eq!(parse(text, now()), expected, "{text}");
        }
    }

    #[test]
    fn an_end_that_is_not_after_the_start_is_refused() {
        for (since, until, says) in [
            ("24h", "1h", None),
            ("2026-11-19", "2026-11-20", None),
            ("1h", "24h", Some("swap the two")),
            ("2026-11-19", "2026-11-19", Some("name the day after the last one")),
            ("2026-11-19T00:00:00Z", "2026-11-19T00:00:00Z", Some("a later end")),
            ("1h", "tomorrow", Some("'tomorrow' is not a time")),
        ] {
            let sentence = match Span::of(Some(since), Some(until), now()) {
                Err(Error::Refused(sentence)) => Some(sentence),
                _ => None,
            };
            let is_as_expected = match (&sentence, says) {
                (None, None) => true,
                (Some(sentence), Some(says)) => sentence.contains(says),
                _ => false,
            };
            assert!(is_as_expected, "{since} {until}: {sentence:?}");
        }
    }
}
