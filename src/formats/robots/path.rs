//! The path and query of a request, in the forms that are judged.
//!
//! The *letter* is what RFC 9309 §2.2.2 compares: path and query as sent, in normal form, without the
//! fragment. The empty path is `/`. Doubled slashes stay as they are, and `//x` is a path, not a host.
//! Crawlers resolve dot segments before they compare and send (RFC 3986 §5.2.4), so a request is judged
//! with dot segments [resolved](Target::judged). The *other forms* are those that an origin may make of
//! the same octets (`evasion`).
//!
//! The usual request is in normal form and has no evasion form, or at most one with other names in the
//! query. A [`Target`] borrows its octets, and nothing is allocated.

use std::{borrow::Cow, cell::OnceCell};

use memchr::memmem;

use super::{
    evasion::{self, Forms, Reading, Steps, drop_invalid_utf8},
    normal,
    pattern::Pattern,
    rule::Rule,
};

/// How much of a target is judged, in octets. The rest is ignored; servers refuse targets long
/// before this limit.
pub const MAX_LENGTH: usize = 64 * 1024;

/// The path and query of a request, ready to be judged.
#[derive(Clone, Debug)]
pub struct Target<'a> {
    letter: Cow<'a, [u8]>,
    /// The letter with dot segments resolved, if it has any.
    pub(super) resolved: Option<Vec<u8>>,
    /// The letter where a `\` as sent is a slash, and one that was encoded is none.
    by_backslash: Option<Vec<u8>>,
    reading: Reading,
    kind: Kind,
    forms: OnceCell<Forms>,
}

/// What is known of a target without a look at its forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The letter is to be judged alone.
    Letter,
    /// Only the names in the query may have another form.
    Usual,
    /// There may be other forms.
    Suspect,
}

impl<'a> Target<'a> {
    /// The target of an HTTP request in origin-form (RFC 9112 §3.2.1), octets as received, for an
    /// origin of which nothing is known.
    pub fn new(target: &'a [u8]) -> Self {
        Self::read_by(target, Reading::default())
    }

    /// The target of a request for an origin with this reading.
    pub fn read_by(target: &'a [u8], reading: Reading) -> Self {
        let target = target.get(..MAX_LENGTH).unwrap_or(target);
        if is_usual(target) {
            let has_more = reading.case_insensitive || reading.steps.has(Steps::TRIM_DOTS);
            let kind = if has_more { Kind::Suspect } else { Kind::Usual };
            return Self::with(Cow::Borrowed(target), reading, kind);
        }
        let end = memchr::memchr(b'#', target).unwrap_or(target.len());
        let written = target.get(..end).unwrap_or_default();
        let path = memchr::memchr(b'?', written).and_then(|end| written.get(..end));
        let by_backslash = memchr::memchr(b'\\', path.unwrap_or(written)).map(|_| {
            let end = path.map_or(written.len(), <[u8]>::len);
            let slashes = |(at, &octet): (usize, &u8)| match octet {
                b'\\' if at < end => b'/',
                octet => octet,
            };
            let written: Vec<u8> = written.iter().enumerate().map(slashes).collect();
            letter(&written).into_owned()
        });
        let letter = letter(written);
        let resolved = evasion::resolved(&letter);
        Self { resolved, by_backslash, ..Self::with(letter, reading, Kind::Suspect) }
    }

    /// The letter of a target, without other forms.
    pub(crate) fn letter_of(target: &'a [u8]) -> Self {
        Self { kind: Kind::Letter, resolved: None, ..Self::new(target) }
    }

    const fn with(letter: Cow<'a, [u8]>, reading: Reading, kind: Kind) -> Self {
        Self { letter, resolved: None, by_backslash: None, reading, kind, forms: OnceCell::new() }
    }

    /// The target of a URL: see [`origin_form`].
    pub fn of_url(url: &'a [u8]) -> Self {
        Self::new(origin_form(url))
    }

    /// The letter as sent, with its dot segments.
    pub fn letter(&self) -> &[u8] {
        &self.letter
    }

    /// The letter with dot segments resolved: what a crawler compares with the rules.
    pub fn judged(&self) -> &[u8] {
        self.resolved.as_deref().unwrap_or(&self.letter)
    }

    /// The target as sent, without other forms: what RFC 9309 judges.
    pub fn as_sent(&self) -> Target<'_> {
        Target { letter: Cow::Borrowed(&*self.letter), ..Target::letter_of(b"/") }
    }

    /// Whether the target is robots.txt itself, with any query: always allowed (§2.2.2).
    pub fn is_robots_txt(&self) -> bool {
        is_robots_txt(&self.letter)
    }

    /// The forms that differ from the letter and that an origin may see.
    pub fn evasions(&self) -> Vec<Vec<u8>> {
        let mut all = Vec::new();
        if let Some(forms) = self.forms(|| true) {
            forms.find_map(|text, _| {
                all.push(text.to_vec());
                None::<()>
            });
        }
        all
    }

    /// Whether the target has more forms than [`Self::evasions`] lists. Every rule applies to it.
    pub fn is_cut(&self) -> bool {
        self.forms(|| false).is_some_and(|forms| forms.is_cut)
    }

    /// The forms, which are made once. `names_query` says whether names in the query matter.
    pub(super) fn forms(&self, names_query: impl FnOnce() -> bool) -> Option<&Forms> {
        let may_differ = match self.kind {
            Kind::Letter => false,
            Kind::Usual => names_query() && names_variables(&self.letter),
            Kind::Suspect => true,
        };
        let by_backslash = self.by_backslash.as_deref();
        let make = || Forms::new(&self.letter, by_backslash, self.reading);
        may_differ.then(|| self.forms.get_or_init(make))
    }

    /// The forms where `rule` allows the letter and spells some of its octets, or, if `encodes`,
    /// where any allow rule encodes some. `None` if the letter has nothing of that kind.
    pub(super) fn forms_spelled_by(&self, rule: Option<&Rule>, encodes: bool) -> Option<Forms> {
        let rule = rule.filter(|rule| rule.spells_what_is_dropped());
        if rule.is_none() && !(encodes && memchr::memchr(b'%', &self.letter).is_some()) {
            return None;
        }
        let spelled = rule
            .map(|rule| Pattern::compile(rule.pattern.as_bytes()).literals_in(&self.letter))
            .unwrap_or_default();
        let by_backslash = self.by_backslash.as_deref();
        Some(Forms::marked(&self.letter, by_backslash, &spelled, self.reading))
    }
}

/// Whether a name in the query of a usual target may be another to PHP.
fn names_variables(target: &[u8]) -> bool {
    let query = memchr::memchr(b'?', target).and_then(|at| target.get(at..)).unwrap_or_default();
    memchr::memchr2(b'.', b'+', query).is_some()
}

/// A path and query in normal form.
fn letter(written: &[u8]) -> Cow<'_, [u8]> {
    if written.starts_with(b"/") {
        return normal::normalise(written);
    }
    let mut out = vec![b'/'];
    normal::push_normal(&mut out, written);
    Cow::Owned(out)
}

/// "The /robots.txt URI is implicitly allowed" (§2.2.2), with any query.
pub(super) fn is_robots_txt(path: &[u8]) -> bool {
    path.strip_prefix(b"/robots.txt").is_some_and(|rest| matches!(rest.first(), None | Some(b'?')))
}

/// How many octets [`is_usual`] examines together.
const LANES: usize = 16;

/// Whether `target` is certainly in normal form and has no evasion form: it starts with `/`, doesn't
/// end with `?`, and contains no suspect octet, no `//` and no `/.`.
fn is_usual(target: &[u8]) -> bool {
    let [b'/', octets @ ..] = target else { return false };
    if octets.last() == Some(&b'?') {
        return false;
    }
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

/// Free of branches, so that the compiler processes many octets at once.
fn are_usual(octets: &[u8], before: &[u8]) -> bool {
    let pairs = octets.iter().zip(before);
    !pairs.fold(false, |found, (&octet, &before)| {
        found | is_suspect(octet) | ((before == b'/') & (octet | 1 == b'/'))
    })
}

/// Whether normalisation or an evasion step may change the octet. Few operations, at the price of
/// some octets that nothing changes: `!`, `$`, `[` and `~`.
const fn is_suspect(octet: u8) -> bool {
    (octet.wrapping_sub(b'&') > b'|' - b'&') // controls, space, ! " # $ % and } ~, 0x7F and above
        | (octet | 0x62 == b'~') // < > \ ^ | ~
        | (octet | 0x60 == b'{') // ; [ {
        | (octet == b'`')
}

/// The path and query of a URL, as written: of an absolute URL, or of an origin-form target. In a
/// text without a scheme that doesn't start with `/`, the part before the first `/` or `?` is taken
/// for the host.
pub fn origin_form(url: &[u8]) -> &[u8] {
    let rest = match memmem::find(url, b"://") {
        // A "://" behind the first "/", "?" or "#" is not that of a scheme.
        Some(at) if url.get(..at).is_some_and(is_scheme) => url.get(at + 3..).unwrap_or_default(),
        _ if matches!(url.first(), Some(b'/' | b'?' | b'#') | None) => return url,
        _ => url,
    };
    let path = rest.iter().position(|octet| matches!(octet, b'/' | b'?' | b'#'));
    path.and_then(|at| rest.get(at..)).unwrap_or_default()
}

fn is_scheme(text: &[u8]) -> bool {
    text.first().is_some_and(u8::is_ascii_alphabetic)
        && text.iter().all(|octet| octet.is_ascii_alphanumeric() || b"+-.".contains(octet))
}

/// Whether every form of a target lies in `folder`, which ends with a slash: the target begins with
/// it, and has nothing that an origin may read as two dots.
pub fn stays_in(target: &[u8], folder: &str) -> bool {
    if !target.starts_with(folder.as_bytes()) {
        return false;
    }
    let target = Target::letter_of(target);
    let path = target.letter().split(|octet| *octet == b'?').next().unwrap_or_default();
    // One octet that is no percent sign, and nothing that only some decoders take for an escape.
    let is_one_octet = |at: usize| match path.get(at + 1..at + 3) {
        Some(b"25") => false,
        Some(digits) => digits.iter().all(u8::is_ascii_hexdigit),
        None => false,
    };
    // What some decoders drop may stand between two dots.
    let mut valid = Vec::with_capacity(path.len());
    drop_invalid_utf8(path, &mut valid);
    memmem::find(&valid, b"..").is_none() && memchr::memchr_iter(b'%', path).all(is_one_octet)
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
    fn path_and_query_of_a_url_are_taken_verbatim() {
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
    fn a_usual_target_is_borrowed() {
        for usual in ["/", "/a/b.html?c=d&e=/f", "/a.b/c-d_e~f", "/$*!'()+,=:@"] {
            let target = Target::new(usual.as_bytes());
            assert!(matches!(target.letter, Cow::Borrowed(_)) && target.evasions().is_empty());
        }
    }

    #[test]
    fn a_usual_target_is_in_normal_form_and_has_no_other_form() {
        for octet in 0..=255 {
            // At every place of a chunk, at its edges and after the last.
            for length in [0, 1, 14, 15, 16, 31, 40] {
                for text in [&[octet][..], &[b'/', octet], &[octet, b'/']] {
                    let target =
                        [&b"/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"[..=length], text].concat();
                    let special = !normal::is_plain(octet) || b"#;".contains(&octet);
                    let pair =
                        memmem::find(&target, b"//").or_else(|| memmem::find(&target, b"/."));
                    let usual = !special && pair.is_none();
                    let excused = b"!$[~".contains(&octet) || target.ends_with(b"?");
                    assert_eq!(is_usual(&target), usual && !excused, "{octet:#x} in {length}");
                }
            }
        }
        assert!(is_usual(b"/") && !is_usual(b"") && !is_usual(b"a/"));
    }

    #[test]
    fn a_long_target_is_cut() {
        let dots = "/a/..".repeat(13_200);
        assert_eq!(Target::new(dots.as_bytes()).letter().len(), MAX_LENGTH);
    }
}

#[cfg(test)]
mod folder_tests {
    use proptest::prelude::*;

    use super::*;
    use crate::formats::robots::{Reading, Steps};

    #[test]
    fn a_target_stays_in_its_folder_if_no_form_can_lead_out() {
        for (target, stays) in [
            ("/docs/a", true),
            ("/docs/", true),
            ("/docs/a//b;c/%2Fd%5C%40?u=../..&%u", true),
            ("/docs/a.b/.c/d./%2e", true),
            ("/docs", false),
            ("/docsx/a", false),
            ("//docs/a", false),
            ("/d%6Fcs/a", false),
            ("/docs/../a", false),
            ("/docs/%2e%2E/a", false),
            ("/docs/..%2Fa", false),
            ("/docs/.%2e;/a", false),
            ("/docs/a..b", false),
            ("/docs/.%E9%2e;/a", false),
            ("/docs/caf%C3%A9.html", true),
            ("/docs/%252e%252e/a", false),
            ("/docs/%u002e%u002e/a", false),
            ("/docs/a%6?/../b", false),
            ("/docs/%2>%2>/a", false),
            ("/docs/%", false),
        ] {
            assert_eq!(stays_in(target.as_bytes(), "/docs/"), stays, "{target}");
        }
    }

    proptest! {
        #[test]
        fn every_form_of_a_target_that_stays_lies_in_the_folder(
            pieces in prop::collection::vec(
                prop::sample::select(vec![
                    "/", "//", "a", ".", ";", "%2f", "%5C", "\\", "%3b", "%2e", "%252e", "%u002e", "%6?",
                    "%0A", "%20", "%E9", "?", "A",
                ]),
                0..9,
            ),
        ) {
            let target = format!("/docs/{}", pieces.concat());
            let steps = Steps::ALL.with(Steps::TRIM_DOTS);
            let reading = Reading { case_insensitive: true, decode_depth: 3, steps };
            let stays = stays_in(target.as_bytes(), "/docs/");
            for form in Target::read_by(target.as_bytes(), reading).evasions() {
                let path = form.split(|octet| *octet == b'?').next().unwrap_or_default();
                let is_in = path == b"/docs" || path.starts_with(b"/docs/");
                prop_assert!(!stays || is_in, "{target}: {}", form.escape_ascii());
            }
        }
    }
}
