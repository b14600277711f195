//! Secrets in a query, replaced before the target is recorded.
//!
//! Servers read queries in many ways. Some split at `;` or at a second `?`, some decode before they
//! split, some decode again and again. PHP and Rails read `token[]` and `user[token]` as `token`, PHP
//! also skips spaces and takes `.` for `_`. A parameter is secret if any server reads it so.

use std::borrow::Cow;

/// What stands for the value of a secret parameter.
pub const REDACTED: &str = "[redacted]";

/// How often a name is decoded. A name that is encoded more often hides what it says, so it is secret.
const MOST_DECODINGS: usize = 8;

/// The target with the values of the query parameters `names` (in any case) replaced. A value ends
/// at the next `&`.
///
/// Call it before [`Text::path`](crate::base::text::Text::path). Borrowed where there is nothing to replace.
pub fn redact_query<'a, T: AsRef<str>>(target: &'a [u8], names: &[T]) -> Cow<'a, [u8]> {
    if names.is_empty() {
        return target.into();
    }
    let (mut out, mut copied, mut at) = (Vec::new(), 0, 0);
    let mut place = Place::Path;
    while let Some((octet, mut end)) = decode(target, at) {
        place = match (octet, place) {
            (b'?', _) | (b'&' | b';', Place::Name(_) | Place::Value) => Place::Name(end),
            (b'=', Place::Name(start)) => {
                if is_secret(target.get(start..at).unwrap_or_default(), names) {
                    out.extend_from_slice(target.get(copied..end).unwrap_or_default());
                    out.extend_from_slice(REDACTED.as_bytes());
                    let value = target.get(end..).unwrap_or_default();
                    end += value.iter().position(|&b| b == b'&').unwrap_or(value.len());
                    copied = end;
                }
                Place::Value
            }
            _ => place,
        };
        at = end;
    }
    if copied == 0 {
        return target.into();
    }
    out.extend_from_slice(target.get(copied..).unwrap_or_default());
    out.into()
}

#[derive(Clone, Copy)]
enum Place {
    Path,
    Name(usize),
    Value,
}

/// Whether the name of a parameter, or a part of it, is one of `names`.
fn is_secret<T: AsRef<str>>(name: &[u8], names: &[T]) -> bool {
    let Some(plain) = decode_wholly(name) else { return true };
    let parts = plain.split(|b| matches!(b, b'[' | b']' | b'.'));
    parts.chain([&plain[..]]).any(|part| {
        let part = trim(part);
        !part.is_empty() && names.iter().any(|secret| is_same(part, secret.as_ref().as_bytes()))
    })
}

fn is_same(one: &[u8], other: &[u8]) -> bool {
    let fold = |octet: &u8| match octet {
        b'+' | b' ' | b'.' => b'_',
        other => other.to_ascii_lowercase(),
    };
    one.len() == other.len() && one.iter().map(fold).eq(other.iter().map(fold))
}

/// Without the spaces and control characters around it.
fn trim(name: &[u8]) -> &[u8] {
    let is_space = |b: &u8| *b <= b' ' || *b == b'+';
    let start = name.iter().position(|b| !is_space(b)).unwrap_or(name.len());
    let end = name.iter().rposition(|b| !is_space(b)).map_or(start, |last| last + 1);
    name.get(start..end).unwrap_or_default()
}

/// The name, decoded until nothing in it is encoded. `None` beyond [`MOST_DECODINGS`].
fn decode_wholly(name: &[u8]) -> Option<Cow<'_, [u8]>> {
    let mut plain = Cow::Borrowed(name);
    for _ in 0..=MOST_DECODINGS {
        let (mut once, mut at) = (Vec::with_capacity(plain.len()), 0);
        while let Some((octet, end)) = decode(&plain, at) {
            once.push(octet);
            at = end;
        }
        if once.len() == plain.len() {
            return Some(plain);
        }
        plain = once.into();
    }
    None
}

/// The octet at `at`, decoded as often as it was percent-encoded, and its end.
fn decode(bytes: &[u8], at: usize) -> Option<(u8, usize)> {
    let digit = |at: usize| char::from(*bytes.get(at)?).to_digit(16);
    let pair = |at: usize| Some((digit(at)? * 16 + digit(at + 1)?) as u8);
    let first = *bytes.get(at)?;
    if first != b'%' {
        return Some((first, at + 1));
    }
    let mut digits = at + 1;
    while pair(digits) == Some(b'%') && pair(digits + 2).is_some() {
        digits += 2;
    }
    Some(pair(digits).map_or((first, at + 1), |octet| (octet, digits + 2)))
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
            ("/a?a=token", "/a?a=token"),
            ("/a?a=1&a=sid=2&b=3", "/a?a=1&a=sid=2&b=3"),
        ] {
            assert_eq!(redacted(target), kept);
            assert_eq!(redact_query::<&str>(target.as_bytes(), &[]), target.as_bytes());
        }
    }

    #[test]
    fn a_parameter_is_secret_if_any_server_reads_it_so() {
        for (target, kept) in [
            ("/a?token[]=x&b", "/a?token[]=[redacted]&b"),
            ("/a?token%5B%5D=x", "/a?token%5B%5D=[redacted]"),
            ("/a?user[token]=x", "/a?user[token]=[redacted]"),
            ("/a?user.token=x", "/a?user.token=[redacted]"),
            ("/a?token%3dx&b", "/a?token%3d[redacted]&b"),
            ("/a?token%3Dx=y", "/a?token%3D[redacted]"),
            ("/a?token%253dx", "/a?token%253d[redacted]"),
            ("/a?%2574oken=x", "/a?%2574oken=[redacted]"),
            ("/a?%25252574oken=x", "/a?%25252574oken=[redacted]"),
            ("/a?%25%37%34oken=x&b", "/a?%25%37%34oken=[redacted]&b"),
            ("/a?user%25%35%42sid%25%35%44=x", "/a?user%25%35%42sid%25%35%44=[redacted]"),
            ("/a?%25%37%34%25%36%66ken=x", "/a?%25%37%34%25%36%66ken=[redacted]"),
            ("/a?%25%37%34okens=x", "/a?%25%37%34okens=x"),
            ("/a?%zz%2=x&%=y", "/a?%zz%2=x&%=y"),
            ("/a?+token=x", "/a?+token=[redacted]"),
            ("/a?%20token%00=x", "/a?%20token%00=[redacted]"),
            ("/a?x?token=x", "/a?x?token=[redacted]"),
            ("/a?x%3Ftoken=x", "/a?x%3Ftoken=[redacted]"),
            ("/a?next=/b?token=x", "/a?next=/b?token=[redacted]"),
            ("/a%3Ftoken=x", "/a%3Ftoken=[redacted]"),
            ("/a?b=1;token=x;c&d", "/a?b=1;token=[redacted]&d"),
            ("/a?b=1;token=;x&d", "/a?b=1;token=[redacted]&d"),
            ("/a?;token=", "/a?;token=[redacted]"),
            ("/a?b=1%26token=x", "/a?b=1%26token=[redacted]"),
            ("/a?token=x%26y&d", "/a?token=[redacted]&d"),
            ("/a?API.Key=x&api+key=y", "/a?API.Key=[redacted]&api+key=[redacted]"),
            ("/a?TOKEN%5b0%5d%3dx", "/a?TOKEN%5b0%5d%3d[redacted]"),
        ] {
            assert_eq!(redacted(target), kept);
        }
    }

    #[test]
    fn a_name_is_secret_however_often_it_is_encoded() {
        // The first letter, with each octet encoded once more than before.
        let encode = |name: String| {
            let (first, rest) = name.split_at(name.len() - 4);
            first.bytes().map(|b| format!("%{b:02x}")).collect::<String>() + rest
        };
        let (mut token, mut other) = ("token".to_owned(), "other".to_owned());
        for times in 0..=MOST_DECODINGS + 2 {
            let is_read = times <= MOST_DECODINGS;
            for (name, is_secret) in [(&token, true), (&other, !is_read)] {
                let value = if is_secret { "[redacted]" } else { "x" };
                let target = format!("/a?{name}=x&b");
                assert_eq!(redacted(&target), format!("/a?{name}={value}&b"), "{times} times");
            }
            (token, other) = (encode(token), encode(other));
        }
    }

    #[test]
    fn a_target_of_any_length_takes_time_by_its_length() {
        for part in ["%", "%25", "%25%32%35=", "%2525=", "&", "=", "token=", "[", "?token[]="] {
            let target = ["/?", &part.repeat(100_000)].concat();
            redact_query(target.as_bytes(), &["token"]);
        }
    }

    fn redacted(target: &str) -> String {
        let names = ["Token", "sid", "api_key"];
        String::from_utf8(redact_query(target.as_bytes(), &names).into_owned()).unwrap()
    }
}
