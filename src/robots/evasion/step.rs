//! The steps that servers take on a path, each on the whole of it.
//!
//! A path begins with `/` and is in normal form, without the query. It may contain octets above
//! ASCII, which stand for what no step may change.

use memchr::memmem;

use super::decoding::{decode_backslashes, decode_semicolons, decode_slashes, decode_units};

/// One step on a path; `None` if it changes nothing.
pub(super) type Step = fn(&[u8]) -> Option<Vec<u8>>;

/// All steps, in any order.
pub(super) const STEPS: [Step; 10] = [
    decode_slashes,
    decode_backslashes,
    decode_semicolons,
    decode_units,
    drop_parameters,
    merge_slashes,
    merge_first_slashes,
    resolve_dots,
    climb,
    drop_authority,
];

/// `;parameters` up to the end of their segment.
fn drop_parameters(path: &[u8]) -> Option<Vec<u8>> {
    let mut at = memchr::memchr(b';', path)?;
    let mut out = Vec::with_capacity(path.len());
    let mut rest = path;
    loop {
        let (kept, parameters) = rest.split_at(at);
        out.extend_from_slice(kept);
        let end = memchr::memchr(b'/', parameters).unwrap_or(parameters.len());
        rest = parameters.get(end..).unwrap_or_default();
        match memchr::memchr(b';', rest) {
            Some(next) => at = next,
            None => break,
        }
    }
    out.extend_from_slice(rest);
    Some(out)
}

/// The last of several `;parameters` of the last segment. Taken once, as the only step.
pub(super) fn drop_last_parameter(path: &[u8]) -> Option<Vec<u8>> {
    let last = memchr::memrchr(b';', path)?;
    let (kept, parameter) = path.split_at(last);
    memchr::memchr(b'/', parameter).is_none().then(|| kept.to_vec())
}

fn merge_slashes(path: &[u8]) -> Option<Vec<u8>> {
    let first = memmem::find(path, b"//")?;
    let (kept, rest) = path.split_at(first);
    let mut out = Vec::with_capacity(path.len());
    out.extend_from_slice(kept);
    let mut before = 0;
    for &octet in rest {
        if octet != b'/' || before != b'/' {
            out.push(octet);
        }
        before = octet;
    }
    Some(out)
}

/// The slashes that begin the path, and no others.
fn merge_first_slashes(path: &[u8]) -> Option<Vec<u8>> {
    let slashes = path.iter().take_while(|&&octet| octet == b'/').count();
    let others = path.get(slashes..).unwrap_or_default();
    (slashes > 1).then(|| [b"/", others].concat())
}

/// RFC 3986 §5.2.4. An empty segment is a segment: `/a//..` is `/a/`.
fn resolve_dots(path: &[u8]) -> Option<Vec<u8>> {
    has_dots(path).then(|| resolve(path, false).0)
}

/// The same for a path that leaves the root and comes back by the name of the root's own folder,
/// which only the origin knows: `/../www/a` is `/a`.
fn climb(path: &[u8]) -> Option<Vec<u8>> {
    let may_climb = has_dots(path) && memmem::find(path, b"/..").is_some();
    let (resolved, has_left) = may_climb.then(|| resolve(path, true))?;
    has_left.then_some(resolved)
}

fn has_dots(path: &[u8]) -> bool {
    memmem::find_iter(path, b"/.").any(|at| {
        let rest = path.get(at + 2..).unwrap_or_default();
        matches!(rest, [] | [b'/', ..] | [b'.'] | [b'.', b'/', ..])
    })
}

/// The path without dot segments, and whether it leaves the root. Each segment that follows leads
/// back if `by_name`; else the root has no parent.
fn resolve(path: &[u8], by_name: bool) -> (Vec<u8>, bool) {
    let mut out = Vec::with_capacity(path.len());
    let (mut above, mut has_left) = (0_usize, false);
    let mut ends_in_dots = false;
    for segment in path.split(|&octet| octet == b'/').skip(1) {
        ends_in_dots = matches!(segment, b"." | b"..");
        match segment {
            b"." => {}
            b".." if out.is_empty() => {
                has_left = true;
                above += usize::from(by_name);
            }
            // Each octet is dropped at most once, so the whole is linear.
            b".." => out.truncate(memchr::memrchr(b'/', &out).unwrap_or(0)),
            _ if above > 0 => above -= 1,
            _ => {
                out.push(b'/');
                out.extend_from_slice(segment);
            }
        }
    }
    if ends_in_dots || out.is_empty() {
        out.push(b'/');
    }
    (out, has_left)
}

/// The path without what servers drop at its end: a line feed, which the `$` of many a router's
/// patterns lets pass, and slashes if `drops_slashes`. `None` if there is nothing.
pub(super) fn end(path: &[u8], drops_slashes: bool) -> Option<&[u8]> {
    let kept = path.strip_suffix(b"%0A").unwrap_or(path);
    let slashes = kept.iter().rev().take_while(|octet| drops_slashes && **octet == b'/').count();
    let kept = kept.get(..kept.len() - slashes).filter(|kept| !kept.is_empty()).unwrap_or(kept);
    (kept.len() < path.len()).then_some(kept)
}

/// Whether the path ends in a segment, or in a segment and one slash, for whoever reads `%2F` and
/// `%5C` as slashes.
pub(super) fn has_plain_end(path: &[u8]) -> bool {
    let path = path.strip_suffix(b"/").unwrap_or(path);
    let start = memchr::memrchr(b'/', path).map_or(0, |at| at + 1);
    let last = path.get(start..).unwrap_or_default();
    let name = names(last).last().unwrap_or_default();
    !matches!(name, b"" | b"." | b"..") && memmem::find(last, b"%u").is_none()
}

/// Whether a part of the path is a dot segment for whoever decodes its slashes or drops parameters.
pub(super) fn has_hidden_dots(path: &[u8]) -> bool {
    path.split(|&octet| octet == b'/').flat_map(names).any(|name| matches!(name, b"." | b".."))
}

/// The names in a segment: its parts between encoded slashes, without parameters.
fn names(segment: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(segment);
    std::iter::from_fn(move || {
        let part = rest?;
        let is_slash = |at: &usize| matches!(part.get(*at..*at + 3), Some(b"%2F" | b"%5C"));
        let end = memchr::memchr_iter(b'%', part).find(is_slash);
        rest = end.and_then(|at| part.get(at + 3..));
        let name = part.get(..end.unwrap_or(part.len()))?;
        let parameters = memchr::memchr(b';', name).or_else(|| memmem::find(name, b"%3B"));
        name.get(..parameters.unwrap_or(name.len()))
    })
}

/// What follows the host of `//host/path`. Like a browser's parser it takes any number of slashes
/// for two.
fn drop_authority(path: &[u8]) -> Option<Vec<u8>> {
    let rest = path.strip_prefix(b"//")?;
    let host = rest.iter().position(|&octet| octet != b'/').unwrap_or(rest.len());
    let rest = rest.get(host..).unwrap_or_default();
    let end = memchr::memchr(b'/', rest).unwrap_or(rest.len());
    let path = rest.get(end..).unwrap_or_default();
    Some(if path.is_empty() { b"/".to_vec() } else { path.to_vec() })
}

#[cfg(test)]
mod tests;
