//! The forms of a query.

use super::{decoding, mark::Decoded};

/// `query` with its reserved characters decoded; `None` if that changes nothing.
pub(super) fn decode(query: &[u8], decoded: Decoded) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(query.len());
    let is_changed = decoding::replace_escapes(query, &mut out, |octet| {
        let is_decoded = (decoding::is_reserved(octet) || octet == b'/') && !is_data(octet);
        is_decoded.then(|| decoded.octet(octet))
    });
    is_changed.then_some(out)
}

/// What has a meaning between the parts of a query. Encoded, it belongs to a name or a value.
fn is_data(octet: u8) -> bool {
    b"&;=+".contains(&octet)
}

/// `query` without the spaces before the names of parameters, which PHP drops.
pub(super) fn trim_names(query: &[u8]) -> Option<Vec<u8>> {
    rename(query, |name, out| {
        let mut rest = name;
        while let Some(behind) = rest.strip_prefix(b"+").or_else(|| rest.strip_prefix(b"%20")) {
            rest = behind;
        }
        out.extend_from_slice(rest);
    })
}

/// `query` with the names that PHP gives to parameters: spaces, dots and a `[` without its `]` are
/// `_`. What stands between brackets stays.
pub(super) fn name_as_variables(query: &[u8]) -> Option<Vec<u8>> {
    rename(query, |name, out| {
        let mut rest = name;
        while let Some(&octet) = rest.first() {
            let length = match octet {
                b'[' if memchr::memchr(b']', rest).is_some() => break,
                b'%' if rest.starts_with(b"%20") => 3,
                _ => 1,
            };
            let is_replaced = length == 3 || b"+.[".contains(&octet);
            out.push(if is_replaced { b'_' } else { octet });
            rest = rest.get(length..).unwrap_or_default();
        }
        out.extend_from_slice(rest);
    })
}

/// `query` with each name of a parameter replaced; `None` if that changes nothing.
fn rename(query: &[u8], replace: impl Fn(&[u8], &mut Vec<u8>)) -> Option<Vec<u8>> {
    let parameters = query.strip_prefix(b"?")?;
    let mut out = Vec::with_capacity(query.len());
    for (number, parameter) in parameters.split(|&octet| octet == b'&').enumerate() {
        out.push(if number == 0 { b'?' } else { b'&' });
        let end = memchr::memchr(b'=', parameter).unwrap_or(parameter.len());
        let (name, value) = parameter.split_at(end);
        replace(name, &mut out);
        out.extend_from_slice(value);
    }
    (out != query).then_some(out)
}
