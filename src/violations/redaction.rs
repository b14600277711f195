//! Secrets in a query, replaced before the target is recorded.

use std::borrow::Cow;

/// The target with the values of the query parameters `names` (in any case) replaced. Names are
/// compared decoded, as a server reads them.
///
/// Call it before [`Text::path`](super::Text::path). Borrowed where there is nothing to replace.
pub fn redact_query<'a, T: AsRef<str>>(target: &'a [u8], names: &[T]) -> Cow<'a, [u8]> {
    let Some(mark) = target.iter().position(|&b| b == b'?') else { return target.into() };
    let (path, query) = target.split_at(mark + 1);
    let is_secret = |name: &[u8]| {
        let name = decode(name);
        names.iter().any(|secret| name.eq_ignore_ascii_case(secret.as_ref().as_bytes()))
    };
    let name_of = |pair: &[u8]| pair.iter().position(|&b| b == b'=');
    let hides = |pair: &[u8]| name_of(pair).is_some_and(|at| is_secret(&pair[..at]));
    if names.is_empty() || !query.split(|&b| b == b'&').any(hides) {
        return target.into();
    }
    let mut out = path.to_vec();
    for (index, pair) in query.split(|&b| b == b'&').enumerate() {
        if index > 0 {
            out.push(b'&');
        }
        match name_of(pair) {
            Some(at) if is_secret(&pair[..at]) => {
                out.extend_from_slice(&pair[..=at]);
                out.extend_from_slice(b"[redacted]");
            }
            _ => out.extend_from_slice(pair),
        }
    }
    out.into()
}

/// A parameter's name with its percent-encoded octets decoded, once.
fn decode(name: &[u8]) -> Vec<u8> {
    let digit = |b: Option<&u8>| b.and_then(|&b| char::from(b).to_digit(16));
    let mut out = Vec::with_capacity(name.len());
    let mut at = 0;
    while let Some(&byte) = name.get(at) {
        match (byte, digit(name.get(at + 1)), digit(name.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            _ => {
                out.push(byte);
                at += 1;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_in_a_query_are_replaced() {
        for (target, kept) in [
            ("/a?token=x&b=1", "/a?token=[redacted]&b=1"),
            ("/a?b=1&TOKEN=x=y", "/a?b=1&TOKEN=[redacted]"),
            ("/a?tok%65n=x", "/a?tok%65n=[redacted]"),
            ("/a?token", "/a?token"),
            ("/a?tokens=1&x", "/a?tokens=1&x"),
            ("/token=1", "/token=1"),
            ("/a?%", "/a?%"),
            ("/a?&&sid=&", "/a?&&sid=[redacted]&"),
        ] {
            assert_eq!(redact_query(target.as_bytes(), &["token", "sid"]), kept.as_bytes());
            assert_eq!(redact_query::<&str>(target.as_bytes(), &[]), target.as_bytes());
        }
    }
}
