//! Sizes as people read them.

/// A size in the largest binary unit that it fills: `8.1 MiB`.
pub(super) fn shown(bytes: u64) -> String {
    let units = [("GiB", 1_u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match units.into_iter().find(|(_, unit)| bytes >= *unit) {
        Some((name, unit)) => format!("{:.1} {name}", bytes as f64 / unit as f64),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_the_largest_unit_that_they_fill() {
        for (bytes, expected) in [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (1024, "1.0 KiB"),
            (8 << 20, "8.0 MiB"),
            ((8 << 20) + 104_858, "8.1 MiB"),
            (5 << 30, "5.0 GiB"),
        ] {
            assert_eq!(shown(bytes), expected);
        }
    }
}
