//! Sizes in bytes as a policy writes them.

/// The units, the largest first.
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
mod tests {
    use super::*;

    #[test]
    fn sizes_have_a_unit() {
        for (text, expected) in [
            ("500MiB", Some(500 << 20)),
            ("2 GiB", Some(2 << 30)),
            ("1GB", Some(1_000_000_000)),
            ("20000kB", Some(20_000_000)),
            ("16384KiB", Some(16 << 20)),
            ("1TiB", Some(1 << 40)),
            ("2", None),
            ("-2GiB", None),
            ("1.5GiB", None),
            ("2G", None),
            ("2gib", None),
            ("", None),
            ("GiB", None),
            ("99999999999TiB", None),
        ] {
            assert_eq!(parse(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_size_is_written_in_the_largest_exact_unit() {
        for written in ["2GiB", "16MiB", "500MB", "3TB", "1025KiB"] {
            assert_eq!(text(parse(written).expect("a size")), written);
        }
        assert_eq!((text(1 << 41), text(7)), ("2TiB".to_owned(), "7".to_owned()));
    }
}
