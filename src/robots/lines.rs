//! The lines of a file as crawlers count them.

/// The lines of a file: they end in CR, LF or CRLF and nothing else. The end of the last one starts
/// no other.
pub fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        let (line, ending) = rest.split_at(end);
        rest = ending.strip_prefix(b"\r\n").or_else(|| ending.get(1..)).unwrap_or_default();
        Some(line)
    })
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn lines_end_in_cr_lf_or_both() {
        for (text, expected) in [
            ("", &[][..]),
            ("a", &["a"]),
            ("a\n", &["a"]),
            ("a\r\nb\rc\n\nd", &["a", "b", "c", "", "d"]),
            ("\r\r\n\u{85}\u{2028}", &["", "", "\u{85}\u{2028}"]),
        ] {
            let expected: Vec<&[u8]> = expected.iter().map(|line| line.as_bytes()).collect();
            assert_eq!(lines(text.as_bytes()).collect::<Vec<_>>(), expected, "{text:?}");
        }
    }
}
