//! The evasion forms of a path: those that an origin may make of the octets sent.
//!
//! The RFC is silent on them, because a crawler gains nothing by writing `/x/../private`. A proxy
//! that enforces the rules has to judge them: otherwise any rule could be evaded. There are four
//! steps, in the order in which servers take them. Each may be taken or not, so a path has at most
//! fifteen forms besides the letter:
//!
//! 1. `%2F`, `%5C` and `\` read as `/`,
//! 2. `;parameters` of a path segment dropped,
//! 3. slashes in a row merged,
//! 4. dot segments resolved (RFC 3986 §5.2.4).
//!
//! The steps change the path and never the query. Nothing is decoded twice. An overlong or otherwise
//! invalid UTF-8 sequence stays as it is: `%C0%AF` is no slash.

use memchr::memmem;

/// The steps of an origin that are judged besides the letter form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forms {
    /// `%2F`, `%5C` and `\` read as `/`.
    pub encoded_slashes: bool,
    /// `;parameters` of a path segment dropped.
    pub parameters: bool,
    /// Slashes in a row merged.
    pub merged_slashes: bool,
    /// Dot segments resolved.
    pub dot_segments: bool,
}

impl Forms {
    /// All steps: the strictest reading, and the default.
    pub const ALL: Self =
        Self { encoded_slashes: true, parameters: true, merged_slashes: true, dot_segments: true };

    /// No step: the letter form alone.
    pub const NONE: Self = Self {
        encoded_slashes: false,
        parameters: false,
        merged_slashes: false,
        dot_segments: false,
    };
}

impl Default for Forms {
    fn default() -> Self {
        Self::ALL
    }
}

/// One step on a path; `None` if it changes nothing.
type Step = fn(&[u8]) -> Option<Vec<u8>>;

/// Every form other than `letter` itself that these steps make of it.
pub(super) fn evasions(letter: &[u8], forms: Forms) -> Vec<Vec<u8>> {
    let step = |is_taken: bool, step: Step| is_taken.then_some(step);
    let steps = [
        step(forms.encoded_slashes, decode_slashes),
        step(forms.parameters, drop_parameters),
        step(forms.merged_slashes, merge_slashes),
        step(forms.dot_segments, resolve_dots),
    ];
    let cut = memchr::memchr(b'?', letter).unwrap_or(letter.len());
    let (path, query) = letter.split_at(cut);
    let mut found: Vec<Vec<u8>> = Vec::new();
    for step in steps.into_iter().flatten() {
        let made: Vec<_> =
            std::iter::once(path).chain(found.iter().map(Vec::as_slice)).filter_map(step).collect();
        for form in made {
            if form != path && !found.contains(&form) {
                found.push(form);
            }
        }
    }
    for form in &mut found {
        form.extend_from_slice(query);
    }
    found
}

/// `%2F` and `%5C` as `/`; a raw backslash is `%5C` in normal form.
fn decode_slashes(path: &[u8]) -> Option<Vec<u8>> {
    let is_slash = |at: usize| matches!(path.get(at..at + 3), Some(b"%2F" | b"%5C"));
    memchr::memchr_iter(b'%', path).find(|&at| is_slash(at))?;
    let mut out = Vec::with_capacity(path.len());
    let mut at = 0;
    while let Some(&octet) = path.get(at) {
        let slash = octet == b'%' && is_slash(at);
        out.push(if slash { b'/' } else { octet });
        at += if slash { 3 } else { 1 };
    }
    Some(out)
}

fn drop_parameters(path: &[u8]) -> Option<Vec<u8>> {
    memchr::memchr(b';', path)?;
    let mut out = Vec::with_capacity(path.len());
    for (index, segment) in path.split(|&octet| octet == b'/').enumerate() {
        if index > 0 {
            out.push(b'/');
        }
        out.extend_from_slice(segment.split(|&octet| octet == b';').next().unwrap_or_default());
    }
    Some(out)
}

fn merge_slashes(path: &[u8]) -> Option<Vec<u8>> {
    memmem::find(path, b"//")?;
    let mut out = path.to_vec();
    out.dedup_by(|octet, before| *octet == b'/' && *before == b'/');
    Some(out)
}

/// RFC 3986 §5.2.4 on a path that starts with `/`.
fn resolve_dots(path: &[u8]) -> Option<Vec<u8>> {
    let is_dots = |segment: &[u8]| matches!(segment, b"." | b"..");
    memmem::find(path, b"/.")?;
    let segments = || path.split(|&octet| octet == b'/').skip(1);
    if !segments().any(is_dots) {
        return None;
    }
    let mut out = Vec::with_capacity(path.len());
    let mut ends_in_dots = false;
    for segment in segments() {
        ends_in_dots = is_dots(segment);
        match segment {
            b"." => {}
            // Each octet is dropped at most once, so the whole is linear.
            b".." => out.truncate(memchr::memrchr(b'/', &out).unwrap_or(0)),
            _ => {
                out.push(b'/');
                out.extend_from_slice(segment);
            }
        }
    }
    if ends_in_dots {
        out.push(b'/');
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::robots::Target;

    #[test]
    fn evasion_forms_are_those_that_an_origin_may_see() {
        let found = |target: &str| {
            let target = Target::new(target.as_bytes());
            let forms = target.evasions().map(|form| String::from_utf8_lossy(form).into_owned());
            forms.collect::<Vec<_>>()
        };
        for (target, forms) in [
            ("/private/x", &[][..]),
            ("/.well-known/x", &[]),
            ("/a?u=http://x/../y;z", &[]),
            ("//private/x", &["/private/x"]),
            ("///private//x?//", &["/private/x?//"]),
            ("/./private/x", &["/private/x"]),
            ("/x/../private/x", &["/private/x"]),
            ("/%2e%2E/private/", &["/private/"]),
            ("/private%2fx", &["/private/x"]),
            ("/private%5cx", &["/private/x"]),
            ("/private\\x", &["/private/x"]),
            ("/private;j=1/x;k", &["/private/x"]),
            ("/%c0%afprivate/x", &[]),
            ("/%2570rivate", &[]),
            ("/a//../b", &["/a/../b", "/a/b", "/b"]),
            ("/a%2F..%2Fb", &["/a/../b", "/b"]),
            ("/a/b/..", &["/a/"]),
            ("/..", &["/"]),
            ("/a/..;x/b", &["/a/../b", "/b"]),
        ] {
            assert_eq!(found(target), forms, "{target}");
        }
        assert_eq!(Target::with_forms(b"//a/../b;c", Forms::NONE).evasions().count(), 0);
    }
}
