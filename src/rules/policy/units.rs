//! Durations, and sizes in bytes, as a policy writes them.

use std::time::Duration;

/// The written form of a duration, in the largest unit that is exact.
pub(super) fn duration_text(duration: Duration) -> String {
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

#[cfg(test)]
mod tests;
