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

/// The whole lines within the first `most` octets of a longer file. A part of a line is another line:
/// `Allow: /private` cut off after the slash allows everything.
pub fn whole_lines(bytes: &[u8], most: usize) -> &[u8] {
    let read = bytes.get(..most).unwrap_or(bytes);
    let end = memchr::memrchr2(b'\n', b'\r', read).map_or(0, |at| at + 1);
    read.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{lines, whole_lines};

    #[test]
    fn rfc9309_2_5_a_longer_file_is_cut_between_two_lines() {
        for (text, most, expected) in [
            ("Allow: /a\nAllow: /private", 18, "Allow: /a\n"),
            ("a\r\nb", 2, "a\r"),
            ("a\nb", 2, "a\n"),
            ("a\nb", 9, "a\n"),
            ("abc", 2, ""),
        ] {
            assert_eq!(whole_lines(text.as_bytes(), most), expected.as_bytes(), "{text:?} {most}");
        }
    }

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
