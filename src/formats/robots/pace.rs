//! The pace of a group: `Crawl-delay` and `Request-rate`, which no standard defines.
//!
//! | record | pace |
//! |---|---|
//! | `Crawl-delay: 2.5` | one request every 2.5 seconds |
//! | `Request-rate: 10/1m` | ten requests a minute, in any rhythm; units `s` (default), `m`, `h`, `d` |
//! | `Request-rate: 20/1h 1800-0600` | twenty requests an hour, from 18:00 until the end of 06:00 UTC |
//!
//! Any other value is invalid ([`Record::check`](super::Record::check) reports it) and sets no pace.
//! A delay of 0 is valid and asks for no pace. A pace of more than a thousand requests a second is
//! none, one of less than a request a day counts as a request a day.

use std::{cmp::Reverse, time::Duration};

use derive_more::Display;

/// The longest time for one request. A longer one is shortened to it.
const LONGEST: Duration = Duration::from_secs(86_400);
/// The shortest time for one request. A faster pace is none.
const SHORTEST: Duration = Duration::from_millis(1);

/// A number of requests, at least one, in a time.
#[derive(Clone, Copy, Debug, Display, PartialEq, Eq, Hash)]
#[display("{requests} request{} every {} s", if *requests == 1 { "" } else { "s" }, per.as_secs_f64())]
pub struct Pace {
    requests: u32,
    per: Duration,
}

/// A span of the day in minutes from midnight, UTC, both ends included. It may go past midnight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    from: u16,
    to: u16,
}

impl Pace {
    /// `requests` in the time `per`. `None` if either is zero, or for more than a thousand requests
    /// a second. No pace is slower than one request a day.
    pub fn new(requests: u32, per: Duration) -> Option<Self> {
        let interval = per.checked_div(requests)?;
        let per = if interval > LONGEST { LONGEST.saturating_mul(requests) } else { per };
        (interval >= SHORTEST).then_some(Self { requests, per })
    }

    /// The pace of a text such as `1/10s` or `10/1m`: requests, a slash, and a time in seconds or
    /// with `s`, `m`, `h`, `d`.
    pub fn parse(text: &str) -> Option<Self> {
        let (requests, per) = requests_in_time(text)?;
        Self::new(requests, per)
    }

    /// The number of requests in [`Self::per`].
    pub const fn requests(self) -> u32 {
        self.requests
    }

    /// The time for [`Self::requests`].
    pub const fn per(self) -> Duration {
        self.per
    }

    /// The time for one request: from a millisecond to a day.
    pub fn interval(self) -> Duration {
        self.per.checked_div(self.requests).unwrap_or(LONGEST)
    }

    /// Whether the pace is stricter than another: more time for one request, or fewer at once.
    pub(crate) fn is_stricter_than(self, other: Self) -> bool {
        self.strictness() > other.strictness()
    }

    /// The greater, the stricter: the time for one request, and of equal ones, fewer requests at once.
    fn strictness(self) -> (Duration, Reverse<u32>) {
        (self.interval(), Reverse(self.requests))
    }
}

impl Span {
    /// `hhmm-hhmm`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let minute = |text: &str| {
            let (hour, minute) = text.trim().split_at_checked(2)?;
            let (hour, minute) = (number_of(hour)?, number_of(minute)?);
            let fits = text.trim().len() == 4 && hour <= 24 && minute <= 59;
            u16::try_from(hour * 60 + minute).ok().filter(|_| fits)
        };
        let (from, to) = text.split_once('-')?;
        Some(Self { from: minute(from)?, to: minute(to)? })
    }

    /// Whether a minute of the day, 0 to 1439, lies in the span.
    pub const fn contains(self, minute_of_day: u16) -> bool {
        let (after, before) = (self.from <= minute_of_day, minute_of_day <= self.to);
        if self.from <= self.to { after && before } else { after || before }
    }
}

/// The value of a `Crawl-delay`, `1*DIGIT ["." 1*DIGIT]`: the time for one request, at most [`LONGEST`].
pub(super) fn read_delay(text: &str) -> Option<Duration> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = [whole, part].iter().all(|digits| is_digits(digits));
    let seconds: f64 = is_number.then(|| text.parse().ok()).flatten()?;
    Duration::try_from_secs_f64(seconds.min(LONGEST.as_secs_f64())).ok()
}

/// The value of a `Request-rate`: requests, their time, and the span of the day in which it applies.
pub(super) fn read_rate(text: &str) -> Option<(u32, Duration, Option<Span>)> {
    let (rate, span) = match text.split_once([' ', '\t']) {
        Some((rate, span)) => (rate, Some(Span::parse(span)?)),
        None => (text, None),
    };
    let (requests, per) = requests_in_time(rate)?;
    Some((requests, per, span))
}

/// Requests, a slash, and a time. Neither of the two numbers may be 0; more requests than a pace has are
/// the most.
fn requests_in_time(text: &str) -> Option<(u32, Duration)> {
    let (requests, time) = text.split_once('/')?;
    let unit = time.chars().last().map(|unit| unit.to_ascii_lowercase());
    let (number, seconds) = match unit {
        Some('s') => (time.get(..time.len() - 1)?, 1),
        Some('m') => (time.get(..time.len() - 1)?, 60),
        Some('h') => (time.get(..time.len() - 1)?, 3_600),
        Some('d') => (time.get(..time.len() - 1)?, 86_400),
        _ => (time, 1),
    };
    let (requests, number) = (number_of(requests)?, number_of(number)?);
    let per = Duration::from_secs(number.saturating_mul(seconds));
    let requests = u32::try_from(requests).unwrap_or(u32::MAX);
    (requests > 0 && number > 0).then_some((requests, per))
}

/// A number, or the greatest one if it has too many digits.
fn number_of(text: &str) -> Option<u64> {
    is_digits(text).then(|| text.parse().unwrap_or(u64::MAX))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}
