//! Times in logs, as microseconds since the Unix epoch.

use jiff::{Timestamp, civil::DateTime, tz::TimeZone};

const SECOND: i64 = 1_000_000;

/// The common log format: `22/Nov/2026:19:30:05 +0000`.
pub(super) fn common(bytes: &[u8]) -> Option<i64> {
    let zone = bytes.get(20..).filter(|rest| !rest.is_empty());
    let offset = zone.map_or(Some(0), |rest| offset(rest.trim_ascii()))?;
    Some(civil(bytes.get(..20)?)? - offset * SECOND)
}

/// `22/Nov/2026:19:30:05` or with milliseconds, `22/Nov/2026:19:30:05.123`, taken as UTC.
pub(super) fn civil(bytes: &[u8]) -> Option<i64> {
    let [
        d1,
        d2,
        b'/',
        m1,
        m2,
        m3,
        b'/',
        y1,
        y2,
        y3,
        y4,
        b':',
        h1,
        h2,
        b':',
        n1,
        n2,
        b':',
        s1,
        s2,
        fraction @ ..,
    ] = bytes
    else {
        return None;
    };
    let month = match [*m1, *m2, *m3] {
        [b'J', b'a', b'n'] => 1,
        [b'F', b'e', b'b'] => 2,
        [b'M', b'a', b'r'] => 3,
        [b'A', b'p', b'r'] => 4,
        [b'M', b'a', b'y'] => 5,
        [b'J', b'u', b'n'] => 6,
        [b'J', b'u', b'l'] => 7,
        [b'A', b'u', b'g'] => 8,
        [b'S', b'e', b'p'] => 9,
        [b'O', b'c', b't'] => 10,
        [b'N', b'o', b'v'] => 11,
        [b'D', b'e', b'c'] => 12,
        _ => return None,
    };
    let year = two(*y1, *y2)? * 100 + two(*y3, *y4)?;
    let (day, hour, minute) = (two(*d1, *d2)?, two(*h1, *h2)?, two(*n1, *n2)?);
    let second = two(*s1, *s2)?;
    if !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let seconds = days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    let micros = match fraction {
        [] => 0,
        [b'.', digits @ ..] => micros(digits)?,
        _ => return None,
    };
    Some(seconds * SECOND + micros)
}

/// `+0100`, `+01:00`, `-0700` or `Z`, in seconds.
fn offset(bytes: &[u8]) -> Option<i64> {
    let (sign, hours, minutes) = match bytes {
        [b'Z'] => return Some(0),
        [sign, h1, h2, m1, m2] | [sign, h1, h2, b':', m1, m2] => {
            (*sign, two(*h1, *h2)?, two(*m1, *m2)?)
        }
        _ => return None,
    };
    let seconds = hours * 3_600 + minutes * 60;
    match sign {
        b'+' => Some(seconds),
        b'-' => Some(-seconds),
        _ => None,
    }
}

fn two(tens: u8, ones: u8) -> Option<i64> {
    let digit = |byte: u8| byte.is_ascii_digit().then(|| i64::from(byte - b'0'));
    Some(digit(tens)? * 10 + digit(ones)?)
}

/// The days since the Unix epoch of a date of the Gregorian calendar.
const fn days(year: i64, month: i64, day: i64) -> i64 {
    // The year begins with March, so that the leap day is its last.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The digits after the decimal point, as microseconds.
fn micros(digits: &[u8]) -> Option<i64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let digit = |at: usize| digits.get(at).map_or(0, |byte| i64::from(byte - b'0'));
    Some((0..6).fold(0, |number, at| number * 10 + digit(at)))
}

/// RFC 3339 and ISO 8601, with `T` or a space; without a zone it is UTC.
pub(super) fn iso(bytes: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(bytes).ok()?;
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time.as_microsecond());
    }
    // `+0100` without a colon.
    if let Ok(time) = Timestamp::strptime("%Y-%m-%dT%H:%M:%S%.f%z", text) {
        return Some(time.as_microsecond());
    }
    let time = text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok()?;
    Some(time.timestamp().as_microsecond())
}

/// A number since the Unix epoch: seconds (with a fraction or without), milliseconds, microseconds or
/// nanoseconds, told by its size.
pub(super) fn epoch(bytes: &[u8]) -> Option<i64> {
    let (whole, fraction) = match bytes.iter().position(|&byte| byte == b'.') {
        Some(at) => (bytes.get(..at)?, micros(bytes.get(at + 1..)?)?),
        None => (bytes, 0),
    };
    let whole: i64 = std::str::from_utf8(whole).ok()?.parse().ok()?;
    // The year 5138 in seconds is the year 1973 in milliseconds.
    let time = match whole {
        ..0 => return None,
        0..100_000_000_000 => whole * SECOND + fraction,
        100_000_000_000..100_000_000_000_000 => whole * 1_000,
        100_000_000_000_000..100_000_000_000_000_000 => whole,
        _ => whole / 1_000,
    };
    Timestamp::from_microsecond(time).ok().map(|_| time)
}

/// A time in any of these forms.
pub(super) fn of_any_form(bytes: &[u8]) -> Option<i64> {
    if bytes.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.') {
        return epoch(bytes);
    }
    iso(bytes).or_else(|| common(bytes))
}

/// A time by the directives of `strftime`, as Apache's `%{…}t` writes it.
pub(super) fn formatted(format: &str, bytes: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(bytes).ok()?;
    if let Ok(time) = Timestamp::strptime(format, text) {
        return Some(time.as_microsecond());
    }
    let time = DateTime::strptime(format, text).ok()?.to_zoned(TimeZone::UTC).ok()?;
    Some(time.timestamp().as_microsecond())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(text: &str) -> i64 {
        text.parse::<Timestamp>().expect("a time").as_microsecond()
    }

    #[test]
    fn times_of_all_servers_are_read() {
        let half_past = Some(at("2026-11-22T19:30:05Z"));
        let later = Some(at("2026-11-22T19:30:05.123Z"));
        for (read, text, expected) in [
            (common as fn(&[u8]) -> Option<i64>, "22/Nov/2026:19:30:05 +0000", half_past),
            (common, "22/Nov/2026:20:30:05 +0100", half_past),
            (common, "22/Nov/2026:12:00:05 -0730", half_past),
            (common, "22/Nov/2026:19:30:05", half_past),
            (common, "22/Now/2026:19:30:05 +0000", None),
            (common, "32/Nov/2026:19:30:05 +0000", None),
            (common, "22/Nov/2026:19:30:05 0000", None),
            (common, "", None),
            (civil, "22/Nov/2026:19:30:05.123", later),
            (civil, "22/Nov/2026:19:30:05.", None),
            (iso, "2026-11-22T19:30:05Z", half_past),
            (iso, "2026-11-22T19:30:05+00:00", half_past),
            (iso, "2026-11-22T20:30:05+0100", half_past),
            (iso, "2026-11-22 19:30:05", half_past),
            (iso, "2026-11-22T19:30:05.123456Z", Some(at("2026-11-22T19:30:05.123456Z"))),
            (epoch, "1795375805", half_past),
            (epoch, "1795375805.123", later),
            (epoch, "1795375805.1234567", Some(at("2026-11-22T19:30:05.123456Z"))),
            (epoch, "1795375805123", later),
            (epoch, "1795375805123000", later),
            (epoch, "1795375805123000000", later),
            (epoch, "-5", None),
            (epoch, "99999999999999999999", None),
            (of_any_form, "1795375805.123", later),
            (of_any_form, "22/Nov/2026:20:30:05 +0100", half_past),
        ] {
            assert_eq!(read(text.as_bytes()), expected, "{text}");
        }
        assert_eq!(formatted("%Y%m%d-%H%M%S", b"20261122-193005"), half_past);
        assert_eq!(formatted("%Y%m%d-%H%M%S%z", b"20261122-203005+0100"), half_past);
    }

    proptest! {
        #[test]
        fn the_common_form_is_that_of_the_calendar(second in -60_000_000_000_i64..60_000_000_000) {
            let time = Timestamp::from_second(second).expect("a time");
            let text = time.strftime("%d/%b/%Y:%H:%M:%S +0000").to_string();
            prop_assert_eq!(common(text.as_bytes()), Some(second * SECOND), "{}", text);
        }
    }
}
