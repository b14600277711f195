//! Escapes for foreign bytes. Every foreign byte passes here before it reaches a terminal, a log
//! line or a record.
//!
//! The escapes are those of C and Rust strings (`\n`, `\x1b`, `\u{202e}`). A backslash is doubled,
//! so the original can be restored.

use std::{fmt::Write, path::Path};

/// The path of a file or folder, escaped as [`text`] is.
pub fn path(path: &Path) -> String {
    text(path.as_os_str().as_encoded_bytes())
}

/// The text of `bytes` on one line. Printable characters stay. Control characters, invisible ones,
/// ones that change the direction of a line, and bytes that are not UTF-8 are escaped.
pub fn text(bytes: &[u8]) -> String {
    bounded(bytes, usize::MAX)
}

/// The text of the first `limit` bytes at most, escaped as in [`text`]. The end counts the missing
/// bytes: `/aaaa…(+1000 bytes)`. A limit never splits a character.
pub fn bounded(bytes: &[u8], limit: usize) -> String {
    // Nearly every value is plain; a plain value is copied whole, not by character.
    if bytes.len() <= limit
        && bytes.iter().all(|&byte| is_printable(byte) && byte != b'\\')
        && let Ok(text) = str::from_utf8(bytes)
    {
        return text.to_owned();
    }
    let kept = &bytes[..cut(bytes, limit)];
    let mut out = String::with_capacity(kept.len());
    for chunk in kept.utf8_chunks() {
        for c in chunk.valid().chars() {
            push(&mut out, c);
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}"); // writing to a String cannot fail
        }
    }
    if kept.len() < bytes.len() {
        let _ = write!(out, "…(+{} bytes)", bytes.len() - kept.len());
    }
    out
}

/// The bytes of a text that [`text`] made of them. `None` if it is no such text.
pub fn original(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (plain, escape) = rest.split_at(at);
        bytes.extend_from_slice(plain.as_bytes());
        let (octet, length) = match escape.as_bytes().get(1)? {
            b'\\' => (b'\\', 2),
            b'n' => (b'\n', 2),
            b'r' => (b'\r', 2),
            b't' => (b'\t', 2),
            b'x' => (hex_octet(escape.as_bytes().get(2..4)?)?, 4),
            b'u' => {
                let (digits, after) = escape.get(2..)?.strip_prefix('{')?.split_once('}')?;
                let code =
                    u32::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'));
                let mut buffer = [0; 4];
                let character = char::from_u32(code?)?;
                bytes.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes());
                rest = after;
                continue;
            }
            _ => return None,
        };
        bytes.push(octet);
        rest = escape.get(length..)?;
    }
    bytes.extend_from_slice(rest.as_bytes());
    Some(bytes)
}

/// The octet of two hexadecimal digits.
#[inline]
pub fn hex_octet(digits: &[u8]) -> Option<u8> {
    let &[high, low] = digits else { return None };
    let digit = |digit: u8| char::from(digit).to_digit(16);
    u8::try_from(digit(high)? << 4 | digit(low)?).ok()
}

/// Octets as lower-case hexadecimal digits.
pub fn hex<'o>(octets: impl IntoIterator<Item = &'o u8>) -> String {
    let digit = |half: u8| char::from_digit(half.into(), 16).unwrap_or('0');
    octets.into_iter().flat_map(|octet| [digit(octet >> 4), digit(octet & 15)]).collect()
}

/// Appends `%XX`.
#[inline]
pub fn push_percent(out: &mut Vec<u8>, octet: u8) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    out.extend([b'%', HEX[usize::from(octet >> 4)], HEX[usize::from(octet & 15)]]);
}

/// `text` with the characters that `is_encoded` selects percent-encoded.
pub fn percent(text: &str, is_encoded: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_encoded(c) {
            for octet in c.encode_utf8(&mut [0; 4]).bytes() {
                let _ = write!(out, "%{octet:02X}"); // writing to a String cannot fail
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// The most bytes of a foreign value that a message quotes.
const SHOWN: usize = 200;

/// A foreign value as a message quotes it: escaped, 200 bytes at most.
pub fn shown(value: impl AsRef<[u8]>) -> String {
    bounded(value.as_ref(), SHOWN)
}

/// The text inside an HTML page, between tags or in a quoted attribute.
pub fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// The largest length up to `limit` that does not split a UTF-8 character.
fn cut(bytes: &[u8], limit: usize) -> usize {
    if bytes.len() <= limit {
        return bytes.len();
    }
    let is_continuation = |at: usize| bytes[at] & 0b1100_0000 == 0b1000_0000;
    // A character has at most three continuation bytes; more of them is not UTF-8 anyway.
    (limit.saturating_sub(3)..=limit).rev().find(|&at| !is_continuation(at)).unwrap_or(limit)
}

pub(crate) fn is_printable(byte: u8) -> bool {
    matches!(byte, b' '..=b'~')
}

fn push(out: &mut String, c: char) {
    match c {
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if c.is_ascii_control() => {
            let _ = write!(out, "\\x{:02x}", u32::from(c));
        }
        c if c.is_control() || is_invisible(c) => {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
        c => out.push(c),
    }
}

/// Whether a character has no glyph or changes the direction of the text after it.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{00ad}' | '\u{061c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// The first of some names, and how many others there are: `a, b and 3 more`.
pub fn first_of(names: impl IntoIterator<Item = String>, most: usize) -> String {
    let mut names = names.into_iter();
    let first: Vec<String> = names.by_ref().take(most).collect();
    match names.count() {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn control_sequences_are_escaped() {
        for (bytes, shown) in [
            (&b"plain /path?q=1"[..], "plain /path?q=1"),
            (b"\x1b[2J\x1b]0;pwn\x07", "\\x1b[2J\\x1b]0;pwn\\x07"),
            (b"a\r\nb\tc\x00\x7f", "a\\r\\nb\\tc\\x00\\x7f"),
            (b"back\\slash", "back\\\\slash"),
            (b"caf\xc3\xa9", "café"),
            (b"latin1 \xe9!", "latin1 \\xe9!"),
            (b"c1 \xc2\x9b", "c1 \\u{9b}"),
            ("rtl \u{202e}x".as_bytes(), "rtl \\u{202e}x"),
            ("zero\u{200b}width".as_bytes(), "zero\\u{200b}width"),
        ] {
            assert_eq!(text(bytes), shown);
        }
    }

    #[test]
    fn html_tags_and_quotes_are_escaped() {
        assert_eq!(html("<a href='x'>&\""), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;");
    }

    #[test]
    fn the_limit_counts_the_missing_bytes_and_splits_no_character() {
        assert_eq!(bounded(b"abcdef", 4), "abcd…(+2 bytes)");
        assert_eq!(bounded(b"abcdef", 6), "abcdef");
        assert_eq!(bounded("aé".as_bytes(), 2), "a…(+2 bytes)");
        assert_eq!(bounded(&[0x80; 9], 5), "\\x80\\x80\\x80\\x80\\x80…(+4 bytes)");
        assert_eq!(bounded(b"abc", 0), "…(+3 bytes)");
    }

    #[test]
    fn no_other_text_has_an_original() {
        for text in
            ["\\", "a\\q", "\\x1", "\\x+1", "\\u{", "\\u{}", "\\u{110000}", "\\u{+1}", "\\x1é"]
        {
            assert_eq!(original(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn the_original_of_any_text_is_restored(bytes: Vec<u8>, text: String) {
            prop_assert_eq!(original(&super::text(&bytes)), Some(bytes));
            prop_assert_eq!(original(&super::text(text.as_bytes())), Some(text.into_bytes()));
        }
    }
}
