//! The ways in which servers decode a path or a query, each on the whole of it, and the names that they read
//! in a query.
//!
//! What decodes one kind of escape leaves the others as they are. Each function writes what it makes,
//! and returns whether it changed anything.

use memchr::memmem;

use super::mark::{self, Decoded};
use crate::formats::robots::normal;

/// `%2F` as `/`.
pub(super) fn decode_slashes(path: &[u8], out: &mut Vec<u8>, decoded: Decoded) -> bool {
    replace_escapes(path, out, |octet| (octet == b'/').then(|| decoded.octet(octet)))
}

/// `%5C` as `/`; a raw backslash is `%5C` in normal form.
pub(super) fn decode_backslashes(path: &[u8], out: &mut Vec<u8>, decoded: Decoded) -> bool {
    replace_escapes(path, out, |octet| (octet == b'\\').then(|| decoded.octet(octet)))
}

/// `%3B` as `;`.
pub(super) fn decode_semicolons(path: &[u8], out: &mut Vec<u8>, decoded: Decoded) -> bool {
    replace_escapes(path, out, |octet| (octet == b';').then(|| decoded.octet(octet)))
}

/// Reserved characters decoded, all but the slash and those that would end the path.
pub(super) fn decode_reserved(path: &[u8], out: &mut Vec<u8>, decoded: Decoded) -> bool {
    replace_escapes(path, out, |octet| is_reserved(octet).then(|| decoded.octet(octet)))
}

/// `%uXXXX` as UTF-16, in pairs where they are needed.
pub(super) fn decode_units(path: &[u8], out: &mut Vec<u8>, _: Decoded) -> bool {
    let unit = |at: usize| match path.get(at..at + 6)? {
        [b'%', b'u', digits @ ..] => {
            let digits = digits.iter().map(|&digit| char::from(digit).to_digit(16));
            let unit = digits.reduce(|all, digit| Some(all? << 4 | digit?)).flatten();
            unit.and_then(|unit| u16::try_from(unit).ok())
        }
        _ => None,
    };
    let character = |at: usize| {
        let units = [unit(at)?, unit(at + 6).unwrap_or_default()];
        let decoded = char::decode_utf16(units).next()?.ok()?;
        Some((decoded, 6 * decoded.len_utf16()))
    };
    let mut copied = 0;
    for at in memmem::find_iter(path, b"%u") {
        if let Some((decoded, length)) = character(at).filter(|_| copied <= at) {
            out.extend_from_slice(path.get(copied..at).unwrap_or_default());
            push_character(out, decoded);
            copied = at + length;
        }
    }
    out.extend_from_slice(path.get(copied..).unwrap_or_default());
    copied > 0
}

/// A path that is not UTF-8, read as ISO-8859-1: `%E9` is `%C3%A9`.
pub(super) fn read_latin_1(path: &[u8], out: &mut Vec<u8>) -> bool {
    let octets = high_octets(path);
    // Only rows of escapes count: what stands between them is ASCII, or stands for it.
    let mut rows = octets.chunk_by(|(before, _), (at, _)| before + 3 == *at);
    let is_text = |row: &[(usize, u8)]| {
        let row: Vec<u8> = row.iter().map(|(_, octet)| *octet).collect();
        std::str::from_utf8(&row).is_ok()
    };
    if rows.all(is_text) {
        return false;
    }
    let mut copied = 0;
    for (at, octet) in octets {
        out.extend_from_slice(path.get(copied..at).unwrap_or_default());
        push_character(out, char::from(octet));
        copied = at + 3;
    }
    out.extend_from_slice(path.get(copied..).unwrap_or_default());
    true
}

/// A path without the octets that are not UTF-8: `/pri%ADvate` is `/private`.
pub(in crate::formats::robots) fn drop_invalid_utf8(path: &[u8], out: &mut Vec<u8>) -> bool {
    let octets = high_octets(path);
    let mut copied = 0;
    for row in octets.chunk_by(|(before, _), (at, _)| before + 3 == *at) {
        let mut at = row.first().map_or(0, |(start, _)| *start);
        let row: Vec<u8> = row.iter().map(|(_, octet)| *octet).collect();
        for chunk in row.utf8_chunks() {
            at += 3 * chunk.valid().len();
            if !chunk.invalid().is_empty() {
                out.extend_from_slice(path.get(copied..at).unwrap_or_default());
                at += 3 * chunk.invalid().len();
                copied = at;
            }
        }
    }
    out.extend_from_slice(path.get(copied..).unwrap_or_default());
    copied > 0
}

/// The escapes of octets above ASCII, with their places.
fn high_octets(path: &[u8]) -> Vec<(usize, u8)> {
    let escapes = memchr::memchr_iter(b'%', path);
    let octets = escapes.filter_map(|at| normal::octet_at(path, at).map(|octet| (at, octet)));
    octets.filter(|(_, octet)| !octet.is_ascii()).collect()
}

/// Appends a character in normal form.
fn push_character(out: &mut Vec<u8>, character: char) {
    normal::push_normal(out, character.encode_utf8(&mut [0; 4]).as_bytes());
}

/// `%XX` and `%uXXXX` decoded whose digits are not all digits, by the arithmetic of some decoders: they take `:`
/// to `?` for 10 to 15, and `@` and `` ` `` for 9. Of a path and its query: a `?` may be a digit.
pub(super) fn decode_loosely(target: &[u8]) -> Option<Vec<u8>> {
    let digit = |octet: u8| match octet {
        b'0'..=b'?' => Some(octet - b'0'),
        b'@'..=b'F' => Some(octet - b'@' + 9),
        b'a'..=b'f' => Some(octet - b'a' + 10),
        _ => None,
    };
    let are_careless = |digits: &[u8]| !digits.iter().all(u8::is_ascii_hexdigit);
    // Where a `?` is the first digit, the octet is beyond ASCII: only dot segments make use of it, and
    // wildcards. Links such as `/sale-50%?fbclid=…` are too common to be read so for the latter.
    let climbs = memmem::find(target, b"/..").is_some();
    let number = |digits: &[u8]| {
        let is_name = digits.first() != Some(&b'?') || climbs;
        let add = |sum: u32, octet: &u8| Some(sum << 4 | u32::from(digit(*octet)?));
        digits.iter().try_fold(0, add).filter(|_| is_name && are_careless(digits))
    };
    // In normal form a backtick is itself an escape.
    let escape = |at: usize| {
        let (start, end) = if target.get(at + 1) == Some(&b'u') { (2, 6) } else { (1, 3) };
        let number = number(target.get(at + start..at + end)?)?;
        (target.get(at) == Some(&b'%')).then_some((number, end))
    };
    memchr::memchr_iter(b'%', target).find(|&at| escape(at).is_some())?;
    let mut out = Vec::with_capacity(target.len());
    let mut at = 0;
    while let Some(&octet) = target.get(at) {
        match escape(at) {
            Some((number, length)) => {
                match u8::try_from(number) {
                    // A character of the path, no end of it.
                    Ok(b'?') => out.extend_from_slice(b"%3F"),
                    Ok(octet) => normal::push_normal(&mut out, &[octet]),
                    // Half a pair is nothing.
                    Err(_) => {
                        if let Some(character) = char::from_u32(number) {
                            push_character(&mut out, character);
                        }
                    }
                }
                at += length;
            }
            None => {
                out.push(octet);
                at += 1;
            }
        }
    }
    Some(out)
}

/// What a second decoding makes of a path: `%25XX` decoded, and before that the path perhaps ended by
/// an encoded `?`, `#`, space or control character, which the next server takes for the end.
pub(super) fn decode_again(path: &[u8]) -> Vec<Vec<u8>> {
    let ends = |octet: u8| octet <= b' ' || b"#?\x7f".contains(&octet);
    let end = memchr::memchr_iter(b'%', path).find_map(|at| {
        normal::octet_at(path, at).filter(|octet| ends(*octet)).map(|octet| (at, octet))
    });
    let cut = end.and_then(|(at, _)| path.get(..at)).map(<[u8]>::to_vec);
    let with_query = end.filter(|(_, octet)| *octet == b'?').map(|(at, _)| {
        let (path, query) = path.split_at(at);
        [path, b"?", query.get(3..).unwrap_or_default()].concat()
    });
    let ended: Vec<_> = [cut, with_query].into_iter().flatten().collect();
    let decoded: Vec<_> = std::iter::once(path)
        .chain(ended.iter().map(Vec::as_slice))
        .filter_map(decode_percent_signs)
        .collect();
    decoded.into_iter().chain(ended).collect()
}

/// `%25XX` as `%XX`, in normal form.
fn decode_percent_signs(path: &[u8]) -> Option<Vec<u8>> {
    memmem::find(path, b"%25")?;
    let mut out = Vec::with_capacity(path.len());
    let mut at = 0;
    while let Some(&octet) = path.get(at) {
        let escape = (path.get(at..at + 3) == Some(b"%25")).then(|| path.get(at + 3..at + 5));
        match escape.flatten() {
            Some(&[high, low]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                normal::push_normal(&mut out, &[b'%', high, low]);
                at += 5;
            }
            _ => {
                out.push(octet);
                at += 1;
            }
        }
    }
    Some(out)
}

/// `text` with all that can be decoded marked, whether a step decoded it or not.
pub(in crate::formats::robots) fn mark_all(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let is_marked = |octet: u8| is_reserved(octet) || b"/\\".contains(&octet);
    let mark = |octet| is_marked(octet).then(|| Decoded::Marked.octet(octet));
    if !replace_escapes(text, &mut out, mark) {
        out.extend_from_slice(text);
    }
    for octet in &mut out {
        *octet = mark::unhold(*octet);
    }
    out
}

/// `text` with the escapes replaced for which there is a replacement. Writes nothing if there is none.
pub(super) fn replace_escapes(
    text: &[u8],
    out: &mut Vec<u8>,
    replacement: impl Fn(u8) -> Option<u8>,
) -> bool {
    let mut copied = 0;
    for at in memchr::memchr_iter(b'%', text) {
        if let Some(octet) = normal::octet_at(text, at).and_then(&replacement) {
            out.extend_from_slice(text.get(copied..at).unwrap_or_default());
            out.push(octet);
            copied = at + 3;
        }
    }
    if copied > 0 {
        out.extend_from_slice(text.get(copied..).unwrap_or_default());
    }
    copied > 0
}

/// RFC 3986 §2.2, but for the slash, the delimiters `?` and `#`, and `*` and `$`, which the normal
/// form decodes.
pub(super) fn is_reserved(octet: u8) -> bool {
    b":[]@!&'()+,;=".contains(&octet)
}

/// `query` with its reserved characters decoded; `None` if that changes nothing.
pub(super) fn decode_query(query: &[u8], decoded: Decoded) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(query.len());
    let is_changed = replace_escapes(query, &mut out, |octet| {
        let is_decoded = (is_reserved(octet) || octet == b'/') && !is_data(octet);
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
