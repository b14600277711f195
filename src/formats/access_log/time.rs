//! Times in logs, as microseconds since the Unix epoch.

use jiff::{Timestamp, civil::DateTime, tz::Offset};

const SECOND: i64 = 1_000_000;
const MONTHS: &[u8] = b"JanFebMarAprMayJunJulAugSepOctNovDec";

/// The common log format: `22/Nov/2026:19:30:05 +0000`.
pub(super) fn common(bytes: &[u8]) -> Option<i64> {
    let zone = bytes.get(20..).filter(|rest| !rest.is_empty());
    let offset = zone.map_or(Some(0), |rest| offset(rest.trim_ascii()))?;
    Some(civil(bytes.get(..20)?)? - offset * SECOND)
}

/// `22/Nov/2026:19:30:05` or with milliseconds, `22/Nov/2026:19:30:05.123`, taken as UTC.
pub(super) fn civil(bytes: &[u8]) -> Option<i64> {
    let (text, fraction) = bytes.split_at_checked(20)?;
    let separators = [(2, b'/'), (6, b'/'), (11, b':'), (14, b':'), (17, b':')];
    if !separators.iter().all(|(at, octet)| text.get(*at) == Some(octet)) {
        return None;
    }
    let month = MONTHS.chunks(3).zip(1..).find(|(name, _)| text.get(3..6) == Some(name))?.1;
    let number = |at: usize| two(text.get(at..at + 2)?);
    let year = i16::from(number(7)?) * 100 + i16::from(number(9)?);
    let (day, hour, minute, second) = (number(0)?, number(12)?, number(15)?, number(18)?);
    // A leap second is the first one of the next minute.
    let (second, leap) = if second == 60 { (59, SECOND) } else { (second, 0) };
    let time = DateTime::new(year, month, day, hour, minute, second, 0).ok()?;
    let time = in_utc(time)? + leap;
    match fraction {
        [] => Some(time),
        [b'.', digits @ ..] => Some(time + micros(digits)?),
        _ => None,
    }
}

/// `+0100`, `+01:00`, `-0700` or `Z`, in seconds.
fn offset(bytes: &[u8]) -> Option<i64> {
    let (sign, hours, minutes) = match bytes {
        b"Z" => return Some(0),
        [b'+', h1, h2, m @ ..] => (1, [*h1, *h2], m),
        [b'-', h1, h2, m @ ..] => (-1, [*h1, *h2], m),
        _ => return None,
    };
    let minutes = two(minutes.strip_prefix(b":").unwrap_or(minutes))?;
    Some(sign * (i64::from(two(&hours)?) * 3_600 + i64::from(minutes) * 60))
}

fn two(digits: &[u8]) -> Option<i8> {
    let [tens @ b'0'..=b'9', ones @ b'0'..=b'9'] = digits else { return None };
    i8::try_from((tens - b'0') * 10 + (ones - b'0')).ok()
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
    in_utc(text.parse().ok()?)
}

fn in_utc(time: DateTime) -> Option<i64> {
    Some(Offset::UTC.to_timestamp(time).ok()?.as_microsecond())
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
    in_utc(DateTime::strptime(format, text).ok()?)
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
            (common, "31/Dec/2016:23:59:60 +0000", Some(at("2017-01-01T00:00:00Z"))),
            (common, "31/Dec/2016:23:59:61 +0000", None),
            (common, "31/Feb/2026:19:30:05 +0000", None),
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
