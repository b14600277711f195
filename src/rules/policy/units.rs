//! Times, sizes in bytes, shares, and requests in a time, as a policy writes them.

use std::{fmt, time::Duration};

/// The written form of a duration, in the largest unit that is exact.
pub(crate) fn duration_text(duration: Duration) -> String {
    if duration.subsec_millis() > 0 {
        return format!("{}ms", duration.as_millis());
    }
    let seconds = duration.as_secs();
    let units = [(86_400, "d"), (3_600, "h"), (60, "m"), (1, "s")];
    let exact =
        units.into_iter().find(|(unit, _)| seconds >= *unit && seconds.is_multiple_of(*unit));
    exact.map_or_else(|| "0s".to_owned(), |(unit, name)| format!("{}{name}", seconds / unit))
}

/// Reads `500ms`, `30s`, `5m`, `24h` or `90d`.
pub fn duration(text: &str) -> Option<Duration> {
    let unit_at = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(unit_at);
    let number: u64 = number.parse().ok()?;
    let milliseconds = match unit.trim() {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    number.checked_mul(milliseconds).map(Duration::from_millis)
}

const UNITS: [(&str, u64); 8] = [
    ("TiB", 1 << 40),
    ("TB", 1_000_000_000_000),
    ("GiB", 1 << 30),
    ("GB", 1_000_000_000),
    ("MiB", 1 << 20),
    ("MB", 1_000_000),
    ("KiB", 1 << 10),
    ("kB", 1_000),
];

/// The written form of a size, in the largest unit that is exact.
pub fn size_text(bytes: u64) -> String {
    let exact = UNITS.into_iter().find(|(_, unit)| bytes >= *unit && bytes.is_multiple_of(*unit));
    exact.map_or_else(|| bytes.to_string(), |(name, unit)| format!("{}{name}", bytes / unit))
}

/// Reads `500MiB`, `2GiB` or `1GB`.
pub(super) fn size(text: &str) -> Option<u64> {
    let unit_at = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, name) = text.split_at(unit_at);
    let number: u64 = number.parse().ok()?;
    let (_, unit) = UNITS.into_iter().find(|(unit, _)| *unit == name.trim())?;
    number.checked_mul(unit)
}

/// A part of a whole, in tenths of a per cent: 1 to 1000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share(u16);

impl Share {
    /// Whether `part` is at least this share of `whole`. True if `whole` is 0.
    pub(crate) const fn is_reached(self, part: u64, whole: u64) -> bool {
        part as u128 * 1_000 >= whole as u128 * self.0 as u128
    }

    /// The least number that is this share of itself and `rest` together.
    pub(crate) fn least_beside(self, rest: u64) -> u64 {
        let (rest, share) = (u128::from(rest), u128::from(self.0));
        match 1_000 - share {
            0 if rest > 0 => u64::MAX,
            0 => 0,
            others => u64::try_from((rest * share).div_ceil(others)).unwrap_or(u64::MAX),
        }
    }

    /// Reads `10%`, `2.5%` or `100%`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (whole, part) = match text.strip_suffix('%')?.trim_end().split_once('.') {
            Some((whole, part)) => (whole, part),
            None => (text.strip_suffix('%')?.trim_end(), "0"),
        };
        let is_number = |digits: &str, most: usize| {
            (1..=most).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit())
        };
        if !is_number(whole, 3) || !is_number(part, 1) {
            return None;
        }
        let share = whole.parse::<u16>().ok()? * 10 + part.parse::<u16>().ok()?;
        (1..=1_000).contains(&share).then_some(Self(share))
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0 / 10, self.0 % 10) {
            (whole, 0) => write!(f, "{whole}%"),
            (whole, part) => write!(f, "{whole}.{part}%"),
        }
    }
}

#[cfg(test)]
mod share_tests;
#[cfg(test)]
mod tests;
