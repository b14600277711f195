//! The normal form of octets, in which rules and request targets are compared (§2.2.2; RFC 3986 §2.3).
//!
//! Here `%2A` and `%24` are decoded to `*` and `$`. In a target these are ordinary octets; from a rule the
//! wildcard and the end mark were removed before (§2.2.3). The result is printable ASCII. UTF-8 plays no
//! part: invalid sequences are octets like others.

use std::borrow::Cow;

use crate::base::escape::{hex_octet, push_percent};

/// `bytes` in normal form; borrowed if they are already normal.
pub(super) fn normalise(bytes: &[u8]) -> Cow<'_, [u8]> {
    let mut at = 0;
    while let Some(&octet) = bytes.get(at) {
        at += match (is_plain(octet), escape_at(bytes, at)) {
            (true, _) => 1,
            (false, Some(Escape { octet, upper: true })) if !is_decoded(octet) => 3,
            (false, None) if octet == b'%' => 1,
            (false, _) => {
                let (normal, rest) = bytes.split_at(at);
                let mut out = Vec::with_capacity(bytes.len() + 16);
                out.extend_from_slice(normal);
                push_normal(&mut out, rest);
                return Cow::Owned(out);
            }
        };
    }
    Cow::Borrowed(bytes)
}

/// Appends the normal form of `bytes` to `out`.
pub(super) fn push_normal(out: &mut Vec<u8>, bytes: &[u8]) {
    let mut at = 0;
    while let Some(&octet) = bytes.get(at) {
        at += match (is_plain(octet), escape_at(bytes, at)) {
            (false, Some(escape)) if is_decoded(escape.octet) => {
                out.push(escape.octet);
                3
            }
            (false, Some(escape)) => {
                push_percent(out, escape.octet);
                3
            }
            (false, None) if octet != b'%' => {
                push_percent(out, octet);
                1
            }
            _ => {
                out.push(octet);
                1
            }
        };
    }
}

/// `bytes` as Beadle writes them: all octets outside printable ASCII, the space and `#` are
/// percent-encoded, the rest is as written.
pub fn ascii(bytes: &[u8]) -> String {
    let mut out = Vec::with_capacity(bytes.len());
    for &octet in bytes {
        match octet {
            b'!'..=b'~' if octet != b'#' => out.push(octet),
            _ => push_percent(&mut out, octet),
        }
    }
    out.into_iter().map(char::from).collect()
}

/// `bytes` as text, with octets that are not UTF-8 percent-encoded.
pub(super) fn text(bytes: &[u8]) -> String {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(bytes.len() + 16);
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        out.push_str(&ascii(chunk.invalid()));
    }
    out
}

/// Whether an octet always stands for itself in normal form. `%` depends on the octets after it.
pub(super) const fn is_plain(octet: u8) -> bool {
    matches!(octet, b'!'..=b'~')
        && !matches!(octet, b'"' | b'%' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}')
}

struct Escape {
    octet: u8,
    /// Whether both hex digits are upper case, or no letters.
    upper: bool,
}

/// The `%XX` at `at`, if there is one.
fn escape_at(bytes: &[u8], at: usize) -> Option<Escape> {
    let &[b'%', high, low] = bytes.get(at..at + 3)? else { return None };
    let octet = hex_octet(&[high, low])?;
    Some(Escape { octet, upper: !high.is_ascii_lowercase() && !low.is_ascii_lowercase() })
}

/// The octet that is encoded at `at`, if one is.
pub(super) fn octet_at(bytes: &[u8], at: usize) -> Option<u8> {
    escape_at(bytes, at).map(|escape| escape.octet)
}

/// Whether a percent-encoded octet is decoded.
pub fn is_decoded(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || b"-._~*$".contains(&octet)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rfc9309_2_2_2_octets_are_compared_in_one_form() {
        for (written, normal) in [
            ("/foo/bar?baz=quz", "/foo/bar?baz=quz"),
            ("/foo/bar/\u{30c4}", "/foo/bar/%E3%83%84"),
            ("/foo/bar/%E3%83%84", "/foo/bar/%E3%83%84"),
            ("/foo/bar/%e3%83%84", "/foo/bar/%E3%83%84"),
            ("/foo/bar/%62%61%7A", "/foo/bar/baz"),
            ("/%7Emak/%2d%2E%5f", "/~mak/-._"),
            ("/a%2fb%3F%23", "/a%2Fb%3F%23"),
            ("/a%3cb", "/a%3Cb"),
            ("/a<b c\"\\^`{|}", "/a%3Cb%20c%22%5C%5E%60%7B%7C%7D"),
            ("/%2a%24*$", "/*$*$"),
            ("/%2561", "/%2561"),
            ("/%zz%a%", "/%zz%a%"),
            ("/%%61", "/%a"),
            ("/\u{7f}\u{1}", "/%7F%01"),
        ] {
            assert_eq!(normalise(written.as_bytes()), normal.as_bytes(), "{written}");
        }
        assert_eq!(normalise(b"/\xfc%fc"), &b"/%FC%FC"[..]);
        assert_eq!(normalise(b"/%c0%afx"), &b"/%C0%AFx"[..]);
    }

    #[test]
    fn normal_octets_are_borrowed() {
        for written in ["/", "/a/b.html?x=1&y=%2F", "/%zz", "/%E3%83%84"] {
            assert!(matches!(normalise(written.as_bytes()), Cow::Borrowed(_)), "{written}");
        }
    }

    proptest! {
        #[test]
        fn both_functions_agree_and_the_form_is_printable(bytes: Vec<u8>) {
            let mut pushed = Vec::new();
            push_normal(&mut pushed, &bytes);
            prop_assert_eq!(&*normalise(&bytes), &pushed[..]);
            prop_assert!(pushed.iter().all(|b| matches!(b, b'!'..=b'~')));
        }
    }
}
