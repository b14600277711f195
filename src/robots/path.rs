//! A request's path in the forms that are judged.
//!
//! The *letter* form is what RFC 9309 §2.2.2 compares: path and query as they were sent, in
//! normal form, without the fragment; the empty path is `/`. Dot segments and doubled slashes stay
//! as they are, and `//x` is a path, not a host.
//!
//! The *evasion* forms are what an origin may make of the same octets. The RFC is silent on them,
//! because a crawler gains nothing by writing `/x/../private`; who holds crawlers to the rules
//! would lose everything. Four steps, in the order in which servers take them, each or none, so at
//! most fifteen forms besides the letter:
//!
//! 1. `%2F`, `%5C` and `\` read as `/`,
//! 2. `;parameters` of a path segment dropped,
//! 3. slashes in a row merged,
//! 4. dot segments resolved (RFC 3986 §5.2.4).
//!
//! The steps change the path and never the query. Nothing is decoded twice, and an overlong or
//! otherwise invalid UTF-8 sequence stays the octets it is: `%C0%AF` is no slash.
//!
//! Where the octets are in normal form and no step applies, which is the usual request, a
//! [`Target`] borrows them and nothing is allocated.

use std::borrow::Cow;

use memchr::memmem;

use super::normal;

/// How much of a target is judged, in octets; what lies behind is not looked at. Servers refuse
/// targets long before.
pub const MAX_LENGTH: usize = 64 * 1024;

/// The path and query of a request, ready to be judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target<'a> {
    letter: Cow<'a, [u8]>,
    evasions: Vec<Vec<u8>>,
}

/// Which of the things that an origin may do with a path are judged besides its letter.
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
    /// The strictest reading, and the default.
    pub const ALL: Self =
        Self { encoded_slashes: true, parameters: true, merged_slashes: true, dot_segments: true };

    /// The letter alone.
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

impl<'a> Target<'a> {
    /// The target of an HTTP request in origin-form (RFC 9112 §3.2.1), octets as received.
    pub fn new(target: &'a [u8]) -> Self {
        Self::with_forms(target, Forms::ALL)
    }

    /// Like [`Self::new`], judged in the letter form and in those that `forms` names.
    pub fn with_forms(target: &'a [u8], forms: Forms) -> Self {
        let target = target.get(..MAX_LENGTH).unwrap_or(target);
        if is_usual(target) {
            return Self { letter: Cow::Borrowed(target), evasions: Vec::new() };
        }
        let end = memchr::memchr(b'#', target).unwrap_or(target.len());
        let letter = match target.get(..end).unwrap_or_default() {
            written @ [b'/', ..] => normal::normalise(written),
            written => {
                let mut out = vec![b'/'];
                normal::push_normal(&mut out, written);
                Cow::Owned(out)
            }
        };
        let evasions = evasions(&letter, forms);
        Self { letter, evasions }
    }

    /// The target of `url`: an absolute URL, whose path and query are taken as they are written,
    /// or an origin-form target. In a text without scheme that doesn't start with `/`, what stands
    /// before the first `/` or `?` is taken for the host.
    pub fn of_url(url: &'a [u8]) -> Self {
        let rest = match memmem::find(url, b"://") {
            // A "://" behind the first "/", "?" or "#" is not that of a scheme.
            Some(at) if url.get(..at).is_some_and(is_scheme) => {
                url.get(at + 3..).unwrap_or_default()
            }
            _ if matches!(url.first(), Some(b'/' | b'?' | b'#') | None) => return Self::new(url),
            _ => url,
        };
        let path = rest.iter().position(|octet| matches!(octet, b'/' | b'?' | b'#'));
        Self::new(path.and_then(|at| rest.get(at..)).unwrap_or_default())
    }

    /// The letter form: what RFC 9309 compares with the rules.
    pub fn letter(&self) -> &[u8] {
        &self.letter
    }

    /// Whether the target is robots.txt itself, with any query, which is open to everybody (§2.2.2).
    pub fn is_robots_txt(&self) -> bool {
        is_robots_txt(&self.letter)
    }

    /// The forms that differ from the letter and that an origin may see.
    pub fn evasions(&self) -> impl Iterator<Item = &[u8]> {
        self.evasions.iter().map(Vec::as_slice)
    }
}

/// "The /robots.txt URI is implicitly allowed" (§2.2.2), with any query.
pub(super) fn is_robots_txt(path: &[u8]) -> bool {
    path.strip_prefix(b"/robots.txt").is_some_and(|rest| matches!(rest.first(), None | Some(b'?')))
}

/// How many octets [`is_usual`] looks at together.
const LANES: usize = 16;

/// Whether `target` is in normal form for certain and no step applies to it: it starts with `/`,
/// and holds no octet that is worth a closer look, nor `//` or `/.`.
fn is_usual(target: &[u8]) -> bool {
    let [b'/', octets @ ..] = target else { return false };
    // Each octet with the one before it.
    let (before, _) = target.split_at(octets.len());
    let (chunks, rest) = octets.as_chunks::<LANES>();
    let (chunks_before, rest_before) = before.as_chunks::<LANES>();
    if !chunks.iter().zip(chunks_before).all(|(octets, before)| are_usual(octets, before)) {
        return false;
    }
    match (octets.last_chunk::<LANES>(), before.last_chunk::<LANES>()) {
        (Some(octets), Some(before)) => are_usual(octets, before),
        _ => are_usual(rest, rest_before),
    }
}

/// Without a branch, for the compiler to take many octets at once.
fn are_usual(octets: &[u8], before: &[u8]) -> bool {
    let pairs = octets.iter().zip(before);
    !pairs.fold(false, |found, (&octet, &before)| {
        found | is_suspect(octet) | ((before == b'/') & (octet | 1 == b'/'))
    })
}

/// Whether an octet may have to be normalised, or may be one that a step works on. In few
/// operations, and so true for some that are nothing special: `!`, `$`, `[` and `~`.
const fn is_suspect(octet: u8) -> bool {
    (octet.wrapping_sub(b'&') > b'|' - b'&') // controls, space, ! " # $ % and } ~, 0x7F and above
        | (octet | 0x62 == b'~') // < > \ ^ | ~
        | (octet | 0x60 == b'{') // ; [ {
        | (octet == b'`')
}

fn is_scheme(text: &[u8]) -> bool {
    text.first().is_some_and(u8::is_ascii_alphabetic)
        && text.iter().all(|octet| octet.is_ascii_alphanumeric() || b"+-.".contains(octet))
}

type Step = fn(&[u8]) -> Option<Vec<u8>>;

/// Every form that some of the steps make of `letter` and that is not the letter.
fn evasions(letter: &[u8], forms: Forms) -> Vec<Vec<u8>> {
    let steps: [(bool, Step); 4] = [
        (forms.encoded_slashes, decode_slashes),
        (forms.parameters, drop_parameters),
        (forms.merged_slashes, merge_slashes),
        (forms.dot_segments, resolve_dots),
    ];
    let cut = memchr::memchr(b'?', letter).unwrap_or(letter.len());
    let (path, query) = letter.split_at(cut);
    let mut found: Vec<Vec<u8>> = Vec::new();
    for (_, step) in steps.into_iter().filter(|(wanted, _)| *wanted) {
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

    fn shown(forms: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Vec<String> {
        forms.into_iter().map(|form| String::from_utf8_lossy(form.as_ref()).into_owned()).collect()
    }

    #[test]
    fn rfc9309_2_2_2_the_letter_is_path_and_query_in_normal_form() {
        for (target, letter) in [
            ("", "/"),
            ("/", "/"),
            ("?a", "/?a"),
            ("/a?b=http://c/#d", "/a?b=http://c/"),
            ("/a#b?c", "/a"),
            ("//admin/x", "//admin/x"),
            ("/x/../y/./%2e%2E/z", "/x/../y/./../z"),
            ("/%70rivate/x", "/private/x"),
            ("/%2570rivate/x", "/%2570rivate/x"),
            ("/a;b=c", "/a;b=c"),
            ("/\u{30c4}", "/%E3%83%84"),
        ] {
            let target = Target::new(target.as_bytes());
            assert_eq!(shown([target.letter()]), [letter]);
        }
    }

    #[test]
    fn ours_path_and_query_of_a_url_are_taken_verbatim() {
        for (url, letter) in [
            ("http://www.example.com", "/"),
            ("http://www.example.com?q", "/?q"),
            ("http://user@example.com:80/path;params?query#fragment", "/path;params?query"),
            ("http://h//double/x", "//double/x"),
            ("//a/b/c", "//a/b/c"),
            ("/a?u=http://h/p", "/a?u=http://h/p"),
            ("/http://h/p", "/http://h/p"),
            ("example.com/a;b#c", "/a;b"),
            ("example.com?a", "/?a"),
            ("a", "/"),
        ] {
            assert_eq!(shown([Target::of_url(url.as_bytes()).letter()]), [letter], "{url}");
        }
    }

    #[test]
    fn ours_evasion_forms_are_what_an_origin_may_see() {
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
            assert_eq!(shown(Target::new(target.as_bytes()).evasions()), forms, "{target}");
        }
        assert_eq!(Target::with_forms(b"//a/../b;c", Forms::NONE).evasions().count(), 0);
    }

    #[test]
    fn ours_a_usual_target_is_borrowed() {
        for usual in ["/", "/a/b.html?c=d&e=/f", "/a.b/c-d_e~f", "/$*!'()+,=:@"] {
            let target = Target::new(usual.as_bytes());
            assert!(matches!(target.letter, Cow::Borrowed(_)) && target.evasions.is_empty());
        }
    }

    #[test]
    fn ours_what_looks_usual_is_in_normal_form_and_has_no_other() {
        for octet in 0..=255 {
            // At every place of a chunk, at its edges and behind the last.
            for length in [0, 1, 14, 15, 16, 31, 40] {
                for text in [&[octet][..], &[b'/', octet], &[octet, b'/']] {
                    let target =
                        [&b"/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"[..=length], text].concat();
                    let special = !normal::is_plain(octet) || b"#;".contains(&octet);
                    let pair =
                        memmem::find(&target, b"//").or_else(|| memmem::find(&target, b"/."));
                    let usual = !special && pair.is_none();
                    let excused = b"!$[~".contains(&octet);
                    assert_eq!(is_usual(&target), usual && !excused, "{octet:#x} in {length}");
                }
            }
        }
        assert!(is_usual(b"/") && !is_usual(b"") && !is_usual(b"a/"));
    }

    #[test]
    fn ours_hostile_targets_are_cut_and_linear() {
        let dots = "/a/..".repeat(13_200);
        let target = Target::new(dots.as_bytes());
        assert_eq!(target.letter().len(), MAX_LENGTH);
        let slashes = vec![b'/'; 1_000_000];
        assert_eq!(shown(Target::new(&slashes).evasions()), ["/"]);
    }
}
