//! The steps that servers take on a path, each on the whole of it.
//!
//! A path begins with `/` and is in normal form, without the query. It may contain octets above
//! ASCII: those that stand for a slash or a `;` are read as such (`mark`), no step changes the others.

use memchr::memmem;

use super::{
    decoding::{decode_backslashes, decode_semicolons, decode_slashes, decode_units},
    mark::{Decoded, MARKED_BACKSLASH, MARKED_SEMICOLON, MARKED_SLASH, is_semicolon, is_slash},
    steps::Steps,
};
use crate::formats::robots::normal;

/// One step on a path: writes what it makes of it, and returns whether it changed anything.
pub(super) type Step = fn(&[u8], &mut Vec<u8>, Decoded) -> bool;

/// All steps, in any order, each with the set that has it. Doubled slashes count twice: what stands
/// between two pairs may be a host.
pub(super) const STEPS: [(Steps, Step); 10] = [
    (Steps::DECODE_SLASH, decode_slashes),
    (Steps::DECODE_BACKSLASH, decode_backslashes),
    (Steps::DECODE_RESERVED, decode_semicolons),
    (Steps::DECODE_UNICODE, decode_units),
    (Steps::DROP_PARAMETERS, drop_parameters),
    (Steps::MERGE_SLASHES, merge_slashes),
    (Steps::MERGE_SLASHES, merge_first_slashes),
    (Steps::RESOLVE_DOTS, resolve_dots),
    (Steps::LEAVE_ROOT, climb),
    (Steps::DROP_AUTHORITY, drop_authority),
];

/// The steps that may change the path. A look at the octets in pairs, free of branches, tells that most
/// change nothing.
pub(super) fn due(path: &[u8]) -> Steps {
    let pairs = path.iter().zip(path.get(1..).unwrap_or_default());
    let [mut escaped, mut parameters, mut doubled, mut dotted] = [false; 4];
    for (&before, &octet) in pairs {
        escaped |= octet == b'%';
        parameters |= is_semicolon(octet);
        doubled |= is_slash(before) & is_slash(octet);
        dotted |= is_slash(before) & (octet == b'.');
    }
    let mut due = Steps::EMPTY;
    if parameters {
        due = due.with(Steps::DROP_PARAMETERS);
    }
    if doubled {
        due = due.with(Steps::MERGE_SLASHES).with(Steps::DROP_AUTHORITY);
    }
    if escaped {
        due = due.with(escapes(path));
    }
    if dotted {
        due = due.with(dots(path));
    }
    due
}

fn escapes(path: &[u8]) -> Steps {
    let step = |at: usize| match normal::octet_at(path, at) {
        Some(b'/') => Steps::DECODE_SLASH,
        Some(b'\\') => Steps::DECODE_BACKSLASH,
        Some(b';') => Steps::DECODE_RESERVED,
        None if path.get(at + 1) == Some(&b'u') => Steps::DECODE_UNICODE,
        _ => Steps::EMPTY,
    };
    memchr::memchr_iter(b'%', path).fold(Steps::EMPTY, |steps, at| steps.with(step(at)))
}

fn dots(path: &[u8]) -> Steps {
    let (mut depth, mut steps) = (0_usize, Steps::EMPTY);
    for (_, segment) in segments(path) {
        match segment {
            b"." => steps = steps.with(Steps::RESOLVE_DOTS),
            b".." => {
                let left = if depth == 0 { Steps::LEAVE_ROOT } else { Steps::RESOLVE_DOTS };
                steps = steps.with(Steps::RESOLVE_DOTS).with(left);
                depth = depth.saturating_sub(1);
            }
            _ => depth += 1,
        }
    }
    steps
}

/// The segments of a path, each with the slash before it.
fn segments(path: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    let mut slashes = memchr::memchr3_iter(b'/', MARKED_SLASH, MARKED_BACKSLASH, path).peekable();
    std::iter::from_fn(move || {
        let (&slash, rest) = path.get(slashes.next()?..)?.split_first()?;
        let end = slashes.peek().map_or(path.len(), |end| *end);
        Some((slash, rest.get(..(end + rest.len()).checked_sub(path.len())?)?))
    })
}

/// `;parameters` up to the end of their segment.
fn drop_parameters(path: &[u8], out: &mut Vec<u8>, _: Decoded) -> bool {
    let mut rest = path;
    while let Some(at) = memchr::memchr2(b';', MARKED_SEMICOLON, rest) {
        let (kept, parameters) = rest.split_at(at);
        out.extend_from_slice(kept);
        let end = memchr::memchr3(b'/', MARKED_SLASH, MARKED_BACKSLASH, parameters);
        rest = parameters.get(end.unwrap_or(parameters.len())..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    out.len() < path.len()
}

/// The last of several `;parameters` of the last segment.
pub(super) fn drop_last_parameter(path: &[u8], out: &mut Vec<u8>, _: Decoded) -> bool {
    let last = memchr::memrchr(b';', path).map(|last| path.split_at(last));
    let kept = last.filter(|(_, parameter)| memchr::memchr(b'/', parameter).is_none());
    kept.is_some_and(|(kept, _)| {
        out.extend_from_slice(kept);
        true
    })
}

fn merge_slashes(path: &[u8], out: &mut Vec<u8>, _: Decoded) -> bool {
    let (mut copied, mut behind) = (0, usize::MAX);
    for at in memchr::memchr3_iter(b'/', MARKED_SLASH, MARKED_BACKSLASH, path) {
        if at == behind {
            out.extend_from_slice(path.get(copied..at).unwrap_or_default());
            copied = at + 1;
        }
        behind = at + 1;
    }
    out.extend_from_slice(path.get(copied..).unwrap_or_default());
    out.len() < path.len()
}

/// The slashes that begin the path, and no others.
fn merge_first_slashes(path: &[u8], out: &mut Vec<u8>, _: Decoded) -> bool {
    let (others, slashes) = after_slashes(path);
    out.extend(path.first());
    out.extend_from_slice(others);
    slashes > 1
}

/// The path behind the slashes that begin it, and how many they are.
fn after_slashes(path: &[u8]) -> (&[u8], usize) {
    let slashes = path.iter().take_while(|&&octet| is_slash(octet)).count();
    (path.get(slashes..).unwrap_or_default(), slashes)
}

/// The path with dot segments resolved, if it has any.
pub(super) fn without_dots(path: &[u8]) -> Option<Vec<u8>> {
    (memmem::find(path, b"/.").is_some() && dots(path).has(Steps::RESOLVE_DOTS)).then(|| {
        let mut resolved = Vec::with_capacity(path.len());
        resolve(path, &mut resolved, false);
        resolved
    })
}

/// RFC 3986 §5.2.4. An empty segment is a segment: `/a//..` is `/a/`.
fn resolve_dots(path: &[u8], out: &mut Vec<u8>, _: Decoded) -> bool {
    resolve(path, out, false)
}

/// The same for a path that leaves the root and comes back by the name of the root's own folder,
/// which only the origin knows: `/../www/a` is `/a`.
fn climb(path: &[u8], out: &mut Vec<u8>, _: Decoded) -> bool {
    resolve(path, out, true)
}

/// The path without dot segments. Where it leaves the root, each segment that follows leads back if
/// `by_name`; else the root has no parent.
fn resolve(path: &[u8], out: &mut Vec<u8>, by_name: bool) -> bool {
    let mut above = 0_usize;
    let mut ends_in_dots = false;
    for (slash, segment) in segments(path) {
        let is_after_dots = ends_in_dots;
        ends_in_dots = matches!(segment, b"." | b"..");
        match segment {
            b"." => {}
            b".." if out.is_empty() => above += usize::from(by_name),
            // Each octet is dropped at most once, so the whole is linear.
            b".." => {
                let last = memchr::memrchr3(b'/', MARKED_SLASH, MARKED_BACKSLASH, out);
                out.truncate(last.unwrap_or(0));
            }
            _ if above > 0 => above -= 1,
            _ => {
                // The slash behind a dot segment goes with it.
                out.push(if is_after_dots { b'/' } else { slash });
                out.extend_from_slice(segment);
            }
        }
    }
    if ends_in_dots || out.is_empty() {
        out.push(b'/');
    }
    true
}

/// A line feed at the end, which the `$` of many a router's patterns lets pass.
pub(super) fn trim_line_feed(path: &[u8], out: &mut Vec<u8>, _: Decoded) -> bool {
    let kept = path.strip_suffix(b"%0A").unwrap_or_default();
    out.extend_from_slice(kept);
    !kept.is_empty()
}

/// The slashes at the end, unless there is nothing else.
pub(super) fn trim_slashes(path: &[u8], out: &mut Vec<u8>, _: Decoded) -> bool {
    let slashes = path.iter().rev().take_while(|octet| is_slash(**octet)).count();
    out.extend_from_slice(&path[..path.len() - slashes]);
    slashes > 0 && !out.is_empty()
}

/// The dots and the encoded spaces at the end, unless they are a dot segment.
pub(super) fn trim_dots(path: &[u8], out: &mut Vec<u8>, _: Decoded) -> bool {
    let mut kept = path;
    while let Some(rest) = kept.strip_suffix(b".").or_else(|| kept.strip_suffix(b"%20")) {
        kept = rest;
    }
    out.extend_from_slice(kept);
    kept.len() < path.len() && !kept.ends_with(b"/")
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
fn drop_authority(path: &[u8], out: &mut Vec<u8>, _: Decoded) -> bool {
    let (rest, slashes) = after_slashes(path);
    let end = memchr::memchr3(b'/', MARKED_SLASH, MARKED_BACKSLASH, rest);
    out.extend_from_slice(end.and_then(|end| rest.get(end..)).unwrap_or(b"/"));
    slashes > 1
}

#[cfg(test)]
mod tests;
