//! Numbers as people read them.

/// With groups of three digits: `12,345`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 2);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A part of a whole in percent, with one decimal where it is small; `-` of nothing.
pub(crate) fn share(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "-".to_owned();
    }
    match part as f64 * 100.0 / whole as f64 {
        0.0 => "0%".to_owned(),
        tiny if tiny < 0.1 => "<0.1%".to_owned(),
        small if small < 9.95 => format!("{small:.1}%"),
        // Not all is not 100%.
        large if part < whole && large > 99.5 => ">99%".to_owned(),
        large => format!("{large:.0}%"),
    }
}

/// The change to now from before: `+12%`, `new`, `same`.
pub(crate) fn change(now: u64, before: u64) -> String {
    if now == before {
        return if now == 0 { "-" } else { "same" }.to_owned();
    }
    if before == 0 {
        return "new".to_owned();
    }
    let percent = (now as f64 - before as f64) * 100.0 / before as f64;
    match percent {
        much if much >= 999.5 => format!("x{:.0}", now as f64 / before as f64),
        little if little.abs() < 0.5 => if little > 0.0 { "+<1%" } else { "-<1%" }.to_owned(),
        // Some are left.
        nearly if now > 0 && nearly < -99.5 => "-99%".to_owned(),
        percent => format!("{percent:+.0}%"),
    }
}

/// A part of a whole in whole percent, as the length of a bar: something is never an empty bar.
pub(crate) fn percent(part: u64, whole: u64) -> u64 {
    if part == 0 || whole == 0 {
        return 0;
    }
    let percent = (part as f64 * 100.0 / whole as f64).round() as u64;
    percent.clamp(1, 100)
}

/// How many times one number is the other, with two decimals; `None` of nothing.
pub(crate) fn quotient(number: u64, by: u64) -> Option<f64> {
    (by > 0).then(|| (number as f64 / by as f64 * 100.0).round() / 100.0)
}

/// How many times one number is the other, with one decimal where it is small: `4,115`, `1.5`.
pub(crate) fn ratio(number: u64, by: u64) -> Option<String> {
    let ratio = quotient(number, by)?;
    Some(if ratio < 9.95 { format!("{ratio:.1}") } else { grouped(ratio.round() as u64) })
}

/// A number with its noun: `1 violation`, `2 violations`.
pub(crate) fn count(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1234567, "1,234,567"),
            (u64::MAX, "18,446,744,073,709,551,615"),
        ] {
            assert_eq!(grouped(number), text);
        }
        for (part, whole, text) in [
            (0, 0, "-"),
            (0, 9, "0%"),
            (1, 9999, "<0.1%"),
            (1, 40, "2.5%"),
            (1, 3, "33%"),
            (9999, 10000, ">99%"),
            (3, 3, "100%"),
        ] {
            assert_eq!(share(part, whole), text);
        }
        for (now, before, text) in [
            (0, 0, "-"),
            (3, 0, "new"),
            (3, 3, "same"),
            (1000, 1001, "-<1%"),
            (1001, 1000, "+<1%"),
            (3, 2, "+50%"),
            (1, 2, "-50%"),
            (1, 2000, "-99%"),
            (0, 2, "-100%"),
            (40, 2, "x20"),
            (0, u64::MAX, "-100%"),
        ] {
            assert_eq!(change(now, before), text);
        }
        for (part, whole, length) in
            [(0, 0, 0), (0, 9, 0), (1, u64::MAX, 1), (1, 3, 33), (9, 3, 100)]
        {
            assert_eq!(percent(part, whole), length);
        }
        assert_eq!(ratio(1, 0), None);
        assert_eq!(ratio(3, 2).as_deref(), Some("1.5"));
        assert_eq!(ratio(41_150, 10).as_deref(), Some("4,115"));
        assert_eq!((count(1, "visit"), count(0, "visit")), ("1 visit".into(), "0 visits".into()));
    }
}
