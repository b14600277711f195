//! The limits of a robots.txt: how much of it is read, in whole lines, and how many findings are kept.

/// How much of a file is read, in octets. §2.5 requires at least [`LEAST_BYTES`].
pub const MAX_BYTES: usize = 512 * 1024;

/// How much of a file every crawler has to read, in octets (§2.5). Only some crawlers read more.
pub const LEAST_BYTES: usize = 500 * 1024;

/// How many findings are kept. One more counts the others (`robots.more_findings`).
pub const MAX_FINDINGS: usize = 1000;

/// The whole lines within the first `most` octets of a longer file. A part of a line is another line:
/// `Allow: /private` cut off after the slash allows everything.
pub fn whole_lines(bytes: &[u8], most: usize) -> &[u8] {
    let read = bytes.get(..most).unwrap_or(bytes);
    let end = memchr::memrchr2(b'\n', b'\r', read).map_or(0, |at| at + 1);
    read.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::whole_lines;

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
}
