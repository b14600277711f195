//! The evasion forms of a path: those that an origin may make of the octets sent.
//!
//! The RFC is silent on them, because a crawler gains nothing by writing `/x/../private`. A proxy
//! that enforces the rules has to judge them: otherwise any rule could be evaded. Servers take some
//! of these steps (`step`), each in an order of its own:
//!
//! 1. `%2F` read as `/`,
//! 2. `%5C` and `\` read as `/`,
//! 3. `%3B` read as `;`,
//! 4. `%uXXXX` decoded as UTF-16,
//! 5. `;parameters` of all path segments dropped,
//! 6. slashes in a row merged, all or those that begin the path,
//! 7. dot segments resolved (RFC 3986 §5.2.4),
//! 8. dot segments resolved that lead above the root, and back by the name of its folder,
//! 9. `//host` before the path dropped, as a reference without a scheme (RFC 3986 §4.2),
//! 10. what is encoded twice decoded again, if the origin is said to do it ([`Reading`]).
//!
//! The paths are the closure of the letter under these steps: each step may be taken or not, in any
//! order, any number of times. There are at most [`MAX_FORMS`] paths with [`MAX_OCTETS`] octets
//! together. A target that has more is cut, and then every rule applies to it.
//!
//! What doesn't bear on these steps is done to each path at last: other reserved characters decoded
//! (`%40` is `@`), a path that is not UTF-8 read as ISO-8859-1, an encoded line feed at the end
//! dropped, and the slashes at the end, unless the letter ends in a segment and one slash.
//!
//! From the letter alone, the last parameter of the last segment is dropped by itself.
//!
//! Two things make another letter, with paths of its own: an escape with careless digits (`%6@`), and
//! a `\` as sent where an encoded one is no slash.
//!
//! **Query.** The steps on slashes and segments change the path and never the query. In a query,
//! reserved characters are decoded, all at once, except those that delimit its parts: `%26`, `%3B`,
//! `%3D`, `%3F`, `%23` and `%2B` are data there, and no server reads them as what they encode.
//! Such a form counts only for rules that name the query ([`View`]): `?next=%2Fadmin%2F` does not ask
//! for `/*/admin/`. An empty query is dropped.
//!
//! **Encoded by the rules.** Where an allow rule decides for the letter and itself spells `%2B`,
//! `;` or `//`, the operator means the octets as they are. They stay, unless a step
//! would remove one.
//!
//! An overlong or otherwise invalid UTF-8 sequence stays as it is: `%C0%AF` is no slash.

mod decoding; // Ways of decoding.
mod query; // The forms of a query.
mod reading; // How an origin reads a path.
mod step; // One step on a path.

use std::ops::Range;

use self::step::STEPS;

pub use self::reading::Reading;

/// The most paths that are made of one letter.
pub const MAX_FORMS: usize = 32;

/// The most octets in these paths together, each with the query, unless the letter alone has more.
pub const MAX_OCTETS: usize = 256 * 1024;

/// The rules that a form is compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct View {
    /// Allow rules, and disallow rules that name the query.
    pub(super) is_of_queries: bool,
    /// Rules and form in lower case.
    pub(super) is_folded: bool,
}

/// A form of a target, path and query.
#[derive(Clone, Debug)]
pub(super) struct EvasionForm {
    pub(super) text: Vec<u8>,
    pub(super) view: View,
}

/// The forms other than the letter.
#[derive(Clone, Debug, Default)]
pub(super) struct Forms {
    pub(super) all: Vec<EvasionForm>,
    /// Whether there are more than are listed.
    pub(super) is_cut: bool,
}

impl Forms {
    /// The forms that an origin with this reading may make of `letter`, path and query in normal
    /// form.
    ///
    /// `by_backslash` is the letter where a `\` as sent is a slash.
    pub(super) fn new(letter: &[u8], by_backslash: Option<&[u8]>, reading: Reading) -> Self {
        let mut forms = Self::of(letter, reading);
        let loosely = decoding::decode_loosely(letter);
        for other in loosely.as_deref().into_iter().chain(by_backslash) {
            let Self { mut all, is_cut } = Self::of(other, reading);
            all.insert(0, EvasionForm { text: other.to_vec(), view: View::default() });
            all.retain(|form| {
                form.text != letter && forms.all.iter().all(|one| one.text != form.text)
            });
            forms.all.extend(all);
            forms.is_cut |= is_cut;
        }
        if reading.case_insensitive {
            let letter = EvasionForm { text: letter.to_vec(), view: View::default() };
            let folded = std::iter::once(&letter).chain(&forms.all).map(EvasionForm::folded);
            let folded: Vec<_> = folded.collect();
            forms.all.extend(folded);
        }
        forms
    }

    /// The forms in their own case.
    fn of(letter: &[u8], reading: Reading) -> Self {
        let cut = memchr::memchr(b'?', letter).unwrap_or(letter.len());
        let (path, query) = letter.split_at(cut);
        let (mut paths, is_cut) = closure(path, query.len(), reading);
        paths.extend(step::drop_last_parameter(path));
        let decoded = query::decode(query);
        let may_end_sooner = !step::has_plain_end(path);
        let plain = View::default();
        let of_queries = View { is_of_queries: true, ..plain };
        let mut all: Vec<EvasionForm> = Vec::with_capacity(paths.len());
        let mut add = |path: &[u8], query: &[u8], view: View| {
            let text = [path, query].concat();
            if text != letter && all.iter().all(|form| form.text != text) {
                all.push(EvasionForm { text, view });
            }
        };
        for path in &paths {
            let reserved = decoding::decode_reserved(path);
            let latin_1 = decoding::read_latin_1(reserved.as_ref().unwrap_or(path));
            for path in [Some(path), reserved.as_ref(), latin_1.as_ref()].into_iter().flatten() {
                let end = step::end(path, may_end_sooner);
                for path in std::iter::once(&**path).chain(end) {
                    add(path, query, plain);
                    if query == b"?" {
                        add(path, b"", plain);
                    }
                    if let Some(query) = &decoded {
                        add(path, query, of_queries);
                    }
                }
            }
        }
        Self { all, is_cut }
    }

    /// The same, where an allow rule spells these parts of the letter. `None` if it spells nothing
    /// that a step would change, or if a step would remove it.
    pub(super) fn with_spelled(
        letter: &[u8],
        spelled: &[Range<usize>],
        reading: Reading,
    ) -> Option<Self> {
        let (held, count) = hold(letter, spelled);
        // An empty query that the rule spells.
        let end = letter.len().saturating_sub(1);
        let keeps_query = letter.ends_with(b"?")
            && spelled.iter().any(|part| part.start <= end && letter.len() <= part.end);
        let path = letter.split(|&octet| octet == b'?').next().unwrap_or_default();
        if (count == 0 && !keeps_query) || step::has_hidden_dots(path) {
            return None;
        }
        let mut forms = Self::new(&held, None, reading);
        let held_in = |form: &EvasionForm| form.text.iter().filter(|o| !o.is_ascii()).count();
        if forms.all.iter().any(|form| held_in(form) != count) {
            return None;
        }
        forms.all.retain(|form| !keeps_query || form.text.ends_with(b"?"));
        for form in &mut forms.all {
            form.text = release(&form.text, form.view.is_folded);
        }
        Some(forms)
    }
}

impl EvasionForm {
    fn folded(&self) -> Self {
        let view = View { is_folded: true, ..self.view };
        Self { text: self.text.to_ascii_lowercase(), view }
    }
}

/// The path and all that the steps make of it, and whether there is more.
///
/// Each path is followed by a query of `query` octets.
fn closure(path: &[u8], query: usize, reading: Reading) -> (Vec<Vec<u8>>, bool) {
    let mut found = vec![path.to_vec()];
    let mut octets = path.len() + query;
    let limit = MAX_OCTETS.max(octets);
    let mut add = |found: &mut Vec<Vec<u8>>, path: Vec<u8>| {
        if found.contains(&path) {
            return true;
        }
        octets += path.len() + query;
        let fits = found.len() < MAX_FORMS && octets <= limit;
        if fits {
            found.push(path);
        }
        fits
    };
    let mut next = 0;
    for times_decoded in 1..=reading.decode_depth.max(1) {
        if times_decoded > 1 {
            for known in 0..found.len() {
                for path in decoding::decode_again(&found[known]) {
                    if !add(&mut found, path) {
                        return (found, true);
                    }
                }
            }
        }
        while next < found.len() {
            for step in STEPS {
                if let Some(path) = step(&found[next])
                    && !add(&mut found, path)
                {
                    return (found, true);
                }
            }
            next += 1;
        }
    }
    (found, false)
}

/// `letter` with what the steps would change in the spelled parts held back, and how often.
fn hold(letter: &[u8], spelled: &[Range<usize>]) -> (Vec<u8>, usize) {
    let is_spelled =
        |from: usize, to: usize| spelled.iter().any(|part| part.start <= from && to <= part.end);
    let mut out = Vec::with_capacity(letter.len());
    let (mut at, mut count) = (0, 0);
    while let Some(&octet) = letter.get(at) {
        let before = at.checked_sub(1).and_then(|before| letter.get(before));
        let held = match (octet, decoding::escape_at(letter, at)) {
            (b'%', Some(reserved)) if is_spelled(at, at + 3) => Some((reserved | ENCODED, 3)),
            (b';', _) if is_spelled(at, at + 1) => Some((SEMICOLON, 1)),
            (b'/', _) if before == Some(&b'/') && is_spelled(at - 1, at + 1) => Some((SLASH, 1)),
            _ => None,
        };
        count += usize::from(held.is_some());
        let (octet, width) = held.unwrap_or((octet, 1));
        out.push(octet);
        at += width;
    }
    (out, count)
}

// A text in normal form is ASCII. Above it no step looks, so these stand for what is held back.
const SEMICOLON: u8 = 0x80;
const SLASH: u8 = 0x81;
/// With a printable octet: its escape.
const ENCODED: u8 = 0x80;

/// `form` with what was held back.
fn release(form: &[u8], is_folded: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(form.len() + 16);
    for &octet in form {
        match octet {
            SEMICOLON => out.push(b';'),
            SLASH => out.push(b'/'),
            _ if octet.is_ascii() => out.push(octet),
            held => decoding::push_escape(&mut out, held & !ENCODED, is_folded),
        }
    }
    out
}

#[cfg(test)]
mod tests;
