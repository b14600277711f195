//! The other forms of a path: those that an origin may make of the octets sent.
//!
//! The RFC is silent on them. A polite crawler follows a link to `//private/x` that the letter
//! allows, so these forms are no violations. But a proxy that refuses closed paths has to know them:
//! otherwise any rule could be evaded. Servers take some of the steps in [`Steps`], each in an order of its
//! own, and decode again what is encoded twice, if the origin is said to do it ([`Reading`]).
//!
//! The paths are the closure of the letter under these steps: each step may be taken or not, in any
//! order, any number of times. An origin may be known to take only some of them ([`Steps`]); dot segments
//! are always resolved. There are at most [`MAX_FORMS`] paths with [`MAX_OCTETS`] octets
//! together. A target that has more is cut, and then every rule applies to it.
//!
//! What doesn't bear on these steps is done to each path at last: other reserved characters
//! decoded (`%40` is `@`), the last parameter of the last segment dropped by itself, a path that
//! is not UTF-8 read as ISO-8859-1 or without its invalid octets, an encoded line feed at the end
//! dropped, and the slashes at the end, unless the letter ends in a segment and one slash. These are
//! four times as many paths at most.
//!
//! Three things make another letter, with paths of its own: an escape with careless digits (`%6@`),
//! a `\` as sent where an encoded one is no slash, and a path that is not UTF-8, because the segment
//! that makes it so may be resolved away.
//!
//! **Query.** The steps on slashes and segments change the path and never the query. In a query,
//! reserved characters are decoded, all at once, except those that delimit its parts: `%26`, `%3B`,
//! `%3D`, `%3F`, `%23` and `%2B` are data there, and no server reads them as what they encode.
//! PHP gives parameters names of its own: spaces before a name are dropped, and `_` stands for a
//! space, a dot or a `[` without its `]` in it.
//! Such a form counts only for rules that name the query ([`View`]): `?next=%2Fadmin%2F` does not ask
//! for `/*/admin/`, and `?a.b=` only for what a rule calls `a_b`. An empty query is dropped.
//!
//! **Spelled by allow rules.** An allow rule also allows what an origin makes of its own spelling:
//! `Allow: /wiki/AC%2FDC` allows `/wiki/AC/DC` as a form of `//wiki/AC%2FDC`, where the slash was
//! decoded, but not as a form of `//wiki/AC/DC`. So where a form is disallowed and an allow rule
//! encodes something, all forms are made again with what is decoded marked (`mark`), and compared
//! with the rule as it is when decoded. Its length counts as written: of two rules that match the
//! letter and the form, the same one decides for both.
//! Where the allow rule that decides for the letter spells `;`, `%3B`, `//` or an empty query, these
//! stay as they are, unless a step would remove one.
//!
//! An overlong or otherwise invalid UTF-8 sequence is nothing else: `%C0%AF` is no slash.

mod closure; // The paths that the steps make.
mod decoding; // Ways of decoding.
mod mark; // Octets that stand for others.
mod step; // One step on a path.
mod steps; // The steps that an origin takes.

use std::ops::Range;

use self::{closure::Paths, mark::Decoded};

pub use self::{
    closure::{MAX_FORMS, MAX_OCTETS},
    steps::{Reading, Steps},
};

pub(super) use self::{
    decoding::{drop_invalid_utf8, mark_all},
    mark::release,
};

/// The rules that a form is compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct View {
    pub(super) of: Of,
    /// Rules and form in lower case.
    pub(super) is_folded: bool,
}

/// What was changed in a form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Of {
    /// The path: all rules count.
    #[default]
    Paths,
    /// The query: allow rules count, and disallow rules that name the query.
    Queries,
    /// Names in the query, which have a `_` now: of the latter only those that spell one.
    Names,
}

/// The forms other than the letter.
#[derive(Clone, Debug, Default)]
pub(super) struct Forms {
    families: Vec<Family>,
    /// Whether there are more than are listed.
    pub(super) is_cut: bool,
}

/// Each path with each query.
#[derive(Clone, Debug)]
struct Family {
    paths: Paths,
    queries: Vec<(Vec<u8>, Of)>,
    is_folded: bool,
    /// Whether the first path with the first query is the letter itself.
    has_letter: bool,
}

impl Forms {
    /// The forms that an origin with this reading may make of `letter`, path and query in normal
    /// form.
    ///
    /// `by_backslash` is the letter where a `\` as sent is a slash.
    pub(super) fn new(letter: &[u8], by_backslash: Option<&[u8]>, reading: Reading) -> Self {
        Self::make(letter, by_backslash, reading, Decoded::Plain)
    }

    /// The same, with marks on what is decoded, and with the octets held back that the decisive allow
    /// rule spells in these parts of the letter, if no step would remove one.
    pub(super) fn marked(
        letter: &[u8],
        by_backslash: Option<&[u8]>,
        spelled: &[Range<usize>],
        reading: Reading,
    ) -> Self {
        let is_spelled = |from: usize, to: usize| {
            spelled.iter().any(|part| part.start <= from && to <= part.end)
        };
        let (held, count) = mark::hold(letter, is_spelled);
        let keeps_query = letter.ends_with(b"?") && is_spelled(letter.len() - 1, letter.len());
        let path = letter.split(|&octet| octet == b'?').next().unwrap_or_default();
        if (count > 0 || keeps_query) && by_backslash.is_none() && !step::has_hidden_dots(path) {
            let mut forms = Self::make(&held, None, reading, Decoded::Marked);
            let count_in = |family: &Family, path: &[u8]| {
                let query = family.queries.first().map(|(query, _)| mark::count_held(query));
                mark::count_held(path) + query.unwrap_or_default()
            };
            let families = &mut forms.families;
            if families.iter().all(|one| one.paths.iter().all(|path| count_in(one, path) == count))
            {
                for family in families {
                    family.queries.retain(|(query, _)| !keeps_query || query == b"?");
                }
                return forms;
            }
        }
        Self::make(letter, by_backslash, reading, Decoded::Marked)
    }

    fn make(
        letter: &[u8],
        by_backslash: Option<&[u8]>,
        reading: Reading,
        decoded: Decoded,
    ) -> Self {
        let (first, is_cut) = Family::of(letter, reading, decoded);
        let mut forms = Self { families: vec![Family { has_letter: true, ..first }], is_cut };
        let takes = |step| reading.steps.has(step);
        let loosely =
            takes(Steps::DECODE_UNICODE).then(|| decoding::decode_loosely(letter)).flatten();
        let latin_1 = reread(letter, decoding::read_latin_1);
        let is_invalid = latin_1.is_some() && takes(Steps::DROP_INVALID_UTF8);
        let valid = is_invalid.then(|| reread(letter, drop_invalid_utf8)).flatten();
        let latin_1 = latin_1.filter(|_| takes(Steps::DECODE_LATIN_1));
        let by_backslash = by_backslash.filter(|_| takes(Steps::READ_BACKSLASH));
        let others = [loosely.as_deref(), latin_1.as_deref(), valid.as_deref(), by_backslash];
        for other in others.into_iter().flatten() {
            let (family, is_cut) = Family::of(other, reading, decoded);
            let new = forms.families.iter().fold(vec![family], |new, known| {
                new.into_iter().flat_map(|family| family.without(known)).collect()
            });
            forms.families.extend(new);
            forms.is_cut |= is_cut;
        }
        if reading.case_insensitive {
            let folded: Vec<_> = forms.families.iter().map(Family::folded).collect();
            forms.families.extend(folded);
        }
        forms
    }

    /// What `judge` says of the first form of which it says anything.
    ///
    /// Each query is copied once, and each path into the place before it.
    pub(super) fn find_map<T>(&self, mut judge: impl FnMut(&[u8], View) -> Option<T>) -> Option<T> {
        let mut text = Vec::new();
        for family in &self.families {
            let gap = family.paths.longest();
            for (number, (query, of)) in family.queries.iter().enumerate() {
                let view = View { of: *of, is_folded: family.is_folded };
                text.clear();
                text.resize(gap, 0);
                text.extend_from_slice(query);
                let skipped = usize::from(family.has_letter && number == 0);
                for path in family.paths.iter().skip(skipped) {
                    let (before, _) = text.split_at_mut(gap);
                    let start = gap - path.len();
                    before.get_mut(start..)?.copy_from_slice(path);
                    if let Some(found) = judge(text.get(start..)?, view) {
                        return Some(found);
                    }
                }
            }
        }
        None
    }
}

impl Family {
    /// The paths and queries that origins make of a letter, and whether there are more.
    fn of(letter: &[u8], reading: Reading, decoded: Decoded) -> (Self, bool) {
        let (path, query) = path_and_query(letter);
        let (paths, is_cut) = closure::paths(path, query.len(), reading, decoded);
        let takes = |step| reading.steps.has(step);
        let mut queries = vec![(query.to_vec(), Of::Paths)];
        if query == b"?" && takes(Steps::DROP_EMPTY_QUERY) {
            queries.push((Vec::new(), Of::Paths));
        }
        let names = takes(Steps::NAME_VARIABLES);
        let literal = decoding::decode_query(query, decoded);
        let trimmed = decoding::trim_names(literal.as_deref().unwrap_or(query)).filter(|_| names);
        let last = trimmed.as_deref().or(literal.as_deref()).unwrap_or(query);
        let named = decoding::name_as_variables(last).map(|named| (named, Of::Names));
        let named = named.filter(|_| names);
        let literal = literal.filter(|_| takes(Steps::DECODE_QUERY));
        let decoded = literal.into_iter().chain(trimmed).map(|query| (query, Of::Queries));
        queries.extend(decoded.chain(named));
        (Self { paths, queries, is_folded: false, has_letter: false }, is_cut)
    }

    /// The forms that another family does not have. A path has no `?`, and a query begins with one. So
    /// what both have is each common path with each common query.
    fn without(mut self, known: &Self) -> impl Iterator<Item = Self> {
        let (common, own): (Vec<_>, Vec<_>) =
            self.queries.drain(..).partition(|query| known.queries.contains(query));
        let rest = (!own.is_empty()).then(|| Self { queries: own, ..self.clone() });
        self.paths.remove_all(&known.paths);
        let left = (!common.is_empty()).then_some(Self { queries: common, ..self });
        left.into_iter().chain(rest)
    }

    fn folded(&self) -> Self {
        let lower = |(query, of): &(Vec<u8>, Of)| (query.to_ascii_lowercase(), *of);
        Self {
            paths: self.paths.folded(),
            queries: self.queries.iter().map(lower).collect(),
            is_folded: true,
            has_letter: false,
        }
    }
}

/// The path of a letter, and its query from the `?` on.
fn path_and_query(letter: &[u8]) -> (&[u8], &[u8]) {
    letter.split_at(memchr::memchr(b'?', letter).unwrap_or(letter.len()))
}

/// The letter with dot segments resolved, if its path has any.
pub(super) fn resolved(letter: &[u8]) -> Option<Vec<u8>> {
    let (path, query) = path_and_query(letter);
    let mut resolved = step::without_dots(path)?;
    resolved.extend_from_slice(query);
    Some(resolved)
}

/// The letter with a path that is not UTF-8 read in a way.
fn reread(letter: &[u8], read_path: fn(&[u8], &mut Vec<u8>) -> bool) -> Option<Vec<u8>> {
    let (path, query) = path_and_query(letter);
    memchr::memchr(b'%', path)?;
    let mut read = Vec::with_capacity(letter.len() * 2);
    read_path(path, &mut read).then(|| {
        read.extend_from_slice(query);
        read
    })
}

#[cfg(test)]
mod tests;
