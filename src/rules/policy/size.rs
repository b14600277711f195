//! Sizes in bytes as a policy writes them.

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
pub fn text(bytes: u64) -> String {
    let exact = UNITS.into_iter().find(|(_, unit)| bytes >= *unit && bytes.is_multiple_of(*unit));
    exact.map_or_else(|| bytes.to_string(), |(name, unit)| format!("{}{name}", bytes / unit))
}

/// Reads `500MiB`, `2GiB` or `1GB`.
pub(super) fn parse(text: &str) -> Option<u64> {
    let unit_at = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, name) = text.split_at(unit_at);
    let number: u64 = number.parse().ok()?;
    let (_, unit) = UNITS.into_iter().find(|(unit, _)| *unit == name.trim())?;
    number.checked_mul(unit)
}

#[cfg(test)]
mod tests;
