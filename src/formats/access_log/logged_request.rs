//! The request line: `GET /path HTTP/1.1`.

use std::borrow::Cow;

use memchr::{memchr, memrchr};

use super::unescape::Text;

/// Method and target. `None` for what is no request line: `-`, octets of TLS, a word.
pub(super) fn split(line: Text<'_>) -> Option<(Text<'_>, Text<'_>)> {
    match line {
        Cow::Borrowed(line) => {
            let (method, target) = parts(line)?;
            Some((Cow::Borrowed(method), Cow::Borrowed(target)))
        }
        Cow::Owned(line) => {
            let (method, target) = parts(&line)?;
            Some((Cow::Owned(method.to_vec()), Cow::Owned(target.to_vec())))
        }
    }
}

fn parts(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let first = memchr(b' ', line)?;
    let (method, rest) = (line.get(..first)?, line.get(first + 1..)?);
    // A lenient server logs a target with spaces; the version comes last. HTTP/0.9 has none.
    let target = match memrchr(b' ', rest) {
        Some(last) if rest.get(last + 1..)?.starts_with(b"HTTP/") => rest.get(..last)?,
        _ => rest,
    };
    let is_method = !method.is_empty()
        && method.len() <= 32
        && method.iter().all(|&b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b));
    (is_method && !target.is_empty()).then_some((method, target))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc9112_3_a_request_line_has_method_and_target() {
        for (line, expected) in [
            ("GET / HTTP/1.1", Some(("GET", "/"))),
            ("GET /a b HTTP/1.0", Some(("GET", "/a b"))),
            ("GET /old", Some(("GET", "/old"))),
            ("GET http://a.example/x HTTP/1.1", Some(("GET", "http://a.example/x"))),
            ("PROPFIND /dav HTTP/2.0", Some(("PROPFIND", "/dav"))),
            ("-", None),
            ("", None),
            ("\u{16}\u{3}\u{1} \u{2} x", None),
            ("GET ", None),
            (" / HTTP/1.1", None),
        ] {
            let found = split(Cow::Borrowed(line.as_bytes()));
            let expected = expected.map(|(method, target)| {
                (Cow::Borrowed(method.as_bytes()), Cow::Borrowed(target.as_bytes()))
            });
            assert_eq!(found, expected, "{line:?}");
        }
    }
}
