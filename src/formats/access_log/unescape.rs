//! Escapes in logs: nginx writes `\x22` (or JSON's `\"`), Apache `\"`, `\\` and `\xhh`.

use std::borrow::Cow;

use memchr::memchr;

use crate::base::escape::hex_octet;

/// A text of a line, as it stands there or without its escapes.
pub(super) type Text<'l> = Cow<'l, [u8]>;

/// The text without escapes. What is no escape stays as it is.
pub(super) fn unescape(bytes: &[u8]) -> Text<'_> {
    replaced(bytes, b'\\', push_escaped)
}

/// Octets written as a marker and two digits: `%20` by CloudFront, `#22` by HAProxy.
pub(super) fn percent_decoded(bytes: &[u8], marker: u8) -> Text<'_> {
    replaced(bytes, marker, push_octet)
}

/// The text without the escapes that begin with `marker`. `push` appends what one stands for, and returns
/// the text behind it.
fn replaced(
    bytes: &[u8],
    marker: u8,
    push: for<'t> fn(&mut Vec<u8>, &'t [u8]) -> Option<&'t [u8]>,
) -> Text<'_> {
    if memchr(marker, bytes).is_none() {
        return Cow::Borrowed(bytes);
    }
    let (mut out, mut rest) = (Vec::with_capacity(bytes.len()), bytes);
    while let Some(at) = memchr(marker, rest) {
        let (plain, escape) = rest.split_at(at);
        out.extend_from_slice(plain);
        let behind = escape.get(1..).unwrap_or_default();
        rest = push(&mut out, behind).unwrap_or_else(|| {
            out.push(marker);
            behind
        });
    }
    out.extend_from_slice(rest);
    Cow::Owned(out)
}

fn push_escaped<'t>(out: &mut Vec<u8>, text: &'t [u8]) -> Option<&'t [u8]> {
    match text {
        [b'x', digits @ ..] => push_octet(out, digits),
        [b'u', digits @ ..] => {
            let (digits, rest) = digits.split_at_checked(4)?;
            let octets = [digits.get(..2)?, digits.get(2..)?].map(hex_octet);
            let number = u32::from(octets[0]?) << 8 | u32::from(octets[1]?);
            out.extend(char::from_u32(number)?.encode_utf8(&mut [0; 4]).as_bytes());
            Some(rest)
        }
        [escaped, rest @ ..] => {
            out.push(simple(*escaped)?);
            Some(rest)
        }
        [] => None,
    }
}

fn push_octet<'t>(out: &mut Vec<u8>, digits: &'t [u8]) -> Option<&'t [u8]> {
    let (digits, rest) = digits.split_at_checked(2)?;
    out.push(hex_octet(digits)?);
    Some(rest)
}

const fn simple(escaped: u8) -> Option<u8> {
    Some(match escaped {
        b'"' | b'\\' | b'/' => escaped,
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'b' => 8,
        b'f' => 12,
        b'v' => 11,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_of_all_servers_are_undone() {
        for (text, expected) in [
            ("plain", "plain"),
            (r"a\x22b\x5C\x5cc", "a\"b\\\\c"),
            (r#"a\"b\\c"#, "a\"b\\c"),
            (r"\n\t\r", "\n\t\r"),
            (r"\u0041\u00e9", "A\u{e9}"),
            (r"\q \x2 \xzz \u12", r"\q \x2 \xzz \u12"),
            ("end\\", "end\\"),
        ] {
            assert_eq!(unescape(text.as_bytes()), expected.as_bytes(), "{text}");
        }
        assert_eq!(percent_decoded(b"a%20b%zz%2", b'%'), &b"a b%zz%2"[..]);
        assert_eq!(percent_decoded(b"a#22b", b'#'), &b"a\"b"[..]);
    }
}
