//! Escapes in logs: nginx writes `\x22` (or JSON's `\"`), Apache `\"`, `\\` and `\xhh`.

use std::borrow::Cow;

use memchr::memchr;

/// A text of a line, as it stands there or without its escapes.
pub(super) type Text<'l> = Cow<'l, [u8]>;

/// The text without escapes. What is no escape stays as it is.
pub(super) fn unescape(bytes: &[u8]) -> Cow<'_, [u8]> {
    let Some(first) = memchr(b'\\', bytes) else { return Cow::Borrowed(bytes) };
    let (plain, mut rest) = bytes.split_at(first);
    let mut out = plain.to_vec();
    while let [byte, tail @ ..] = rest {
        let (octets, after) = match (byte, tail) {
            (b'\\', [b'x', high, low, after @ ..]) => match (hex(*high), hex(*low)) {
                (Some(high), Some(low)) => (Octets::One(high << 4 | low), after),
                _ => (Octets::One(b'\\'), tail),
            },
            (b'\\', [b'u', digits @ ..]) => match digits.split_at_checked(4) {
                Some((four, after)) => match character(four) {
                    Some(c) => (Octets::Character(c), after),
                    None => (Octets::One(b'\\'), tail),
                },
                None => (Octets::One(b'\\'), tail),
            },
            (b'\\', [escaped, after @ ..]) => match simple(*escaped) {
                Some(octet) => (Octets::One(octet), after),
                None => (Octets::One(b'\\'), tail),
            },
            (octet, after) => (Octets::One(*octet), after),
        };
        match octets {
            Octets::One(octet) => out.push(octet),
            Octets::Character(c) => out.extend(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
        rest = after;
    }
    Cow::Owned(out)
}

enum Octets {
    One(u8),
    Character(char),
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

fn character(digits: &[u8]) -> Option<char> {
    let number = digits
        .iter()
        .try_fold(0_u32, |number, digit| Some(number << 4 | u32::from(hex(*digit)?)))?;
    char::from_u32(number)
}

pub(super) fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// Octets written as a marker and two digits: `%20` by CloudFront, `#22` by HAProxy.
pub(super) fn percent_decoded(bytes: &[u8], marker: u8) -> Cow<'_, [u8]> {
    let Some(first) = memchr(marker, bytes) else { return Cow::Borrowed(bytes) };
    let (plain, mut rest) = bytes.split_at(first);
    let mut out = plain.to_vec();
    while let [byte, tail @ ..] = rest {
        let decoded = match tail {
            [high, low, after @ ..] if *byte == marker => {
                hex(*high).zip(hex(*low)).map(|(high, low)| (high << 4 | low, after))
            }
            _ => None,
        };
        let (octet, after) = decoded.unwrap_or((*byte, tail));
        out.push(octet);
        rest = after;
    }
    Cow::Owned(out)
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
