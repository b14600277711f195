//! Numbers as people read them.

/// With thin groups of three digits: `12 345`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 2);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// A part of a whole in percent, with one digit where it is small.
pub(super) fn share(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "–".to_owned();
    }
    let percent = part as f64 * 100.0 / whole as f64;
    match percent {
        0.0 => "0 %".to_owned(),
        small if small < 0.1 => "< 0.1 %".to_owned(),
        small if small < 10.0 => format!("{small:.1} %"),
        large => format!("{large:.0} %"),
    }
}

/// The change from one span to the next: `+12 %`, `new`, `as before`.
pub(super) fn change(now: u64, before: u64) -> String {
    match (now, before) {
        (0, 0) => "none before either".to_owned(),
        (_, 0) => "none before".to_owned(),
        (now, before) if now == before => "as before".to_owned(),
        (now, before) => {
            let percent = (now as f64 - before as f64) * 100.0 / before as f64;
            match percent.round() {
                0.0 => "about as before".to_owned(),
                much if much > 999.0 => {
                    format!("{:.0} times as before", now as f64 / before as f64)
                }
                some if some > 0.0 => format!("+{some:.0} % on before"),
                some => format!("−{:.0} % on before", -some),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        for (number, text) in
            [(0, "0"), (999, "999"), (1000, "1\u{202f}000"), (1234567, "1\u{202f}234\u{202f}567")]
        {
            assert_eq!(grouped(number), text);
        }
        for (part, whole, text) in [
            (0, 0, "–"),
            (0, 9, "0 %"),
            (1, 9999, "< 0.1 %"),
            (1, 40, "2.5 %"),
            (1, 3, "33 %"),
            (3, 3, "100 %"),
        ] {
            assert_eq!(share(part, whole), text);
        }
        for (now, before, text) in [
            (0, 0, "none before either"),
            (3, 0, "none before"),
            (3, 3, "as before"),
            (1000, 1001, "about as before"),
            (3, 2, "+50 % on before"),
            (1, 2, "−50 % on before"),
            (0, 2, "−100 % on before"),
            (40, 2, "20 times as before"),
        ] {
            assert_eq!(change(now, before), text);
        }
    }
}
