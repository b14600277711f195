//! A compiled path pattern, matched in time linear in the path (§2.2.2, §2.2.3).
//!
//! A pattern is cut at its stars into literal segments in normal form. The first segment must stand
//! at the start of the path. Each further one is searched from the end of the one before, leftmost
//! first, which is exact because a star matches any octets. The last segment of a pattern that ends
//! in `$` must stand at the end. So nothing is tried twice, and no pattern is slow. Stars in a row are
//! one star. A star at the end changes no match, but counts.

use std::ops::Range;

use memchr::memmem;

use super::normal;
use crate::base::{diagnostic::Diagnostic, escape};

/// A compiled path pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// The octets before the first star, which begin the path.
    prefix: Box<[u8]>,
    /// The segments between the stars, in order.
    middle: Box<[Segment]>,
    end: End,
    /// See [`Self::specificity`].
    specificity: u32,
}

#[derive(Clone, Debug)]
enum End {
    /// Nothing: more may follow.
    Open,
    /// The path ends with the prefix; there is no star.
    Exact,
    /// The path ends in this literal, after the last star.
    Tail(Box<[u8]>),
}

/// One symbol of a pattern, for a reader that goes through it octet by octet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Symbol {
    /// This octet.
    Octet(u8),
    /// Any octets, also none. An octet follows.
    Any,
    /// The end of the path; the last symbol.
    End,
    /// Whatever follows; the last symbol.
    Open,
}

#[derive(Clone, Debug)]
enum Segment {
    Octet(u8),
    /// Two or more octets: a prepared searcher, which stays fast if the first octet is frequent.
    Prepared(Box<memmem::Finder<'static>>),
}

impl Pattern {
    /// The pattern of `text`, which must start with `/` or `*`.
    ///
    /// # Errors
    /// `robots.pattern`: the empty pattern, one that starts with another octet and so matches no
    /// path, and one with control characters or `#`, which no robots.txt can contain.
    pub fn new(text: impl AsRef<[u8]>) -> Result<Self, Diagnostic> {
        let text = text.as_ref();
        let refuse = |what: &str, help: &str| {
            let shown = escape::shown(text);
            Err(Diagnostic::error("robots.pattern", format!("path pattern '{shown}' {what}"))
                .help(help))
        };
        if text.iter().any(u8::is_ascii_control) {
            return refuse("contains a control character", "percent-encode it, as in '%09'");
        }
        if text.contains(&b'#') {
            return refuse("contains a '#', which starts a comment", "write '%23'");
        }
        match text.first() {
            Some(b'/' | b'*') => Ok(Self::compile(text)),
            Some(_) => refuse("matches no path", "start it with '/' or '*'"),
            None => refuse("is empty", "write '/' for every path"),
        }
    }

    /// The pattern of any octets of a foreign file. The empty pattern would match every path with
    /// specificity 0, so callers skip it.
    pub fn compile(text: &[u8]) -> Self {
        let (text, anchored) = match text.split_last() {
            Some((b'$', rest)) => (rest, true),
            _ => (text, false),
        };
        let mut pieces = text.split(|&octet| octet == b'*');
        let prefix = normal_form(pieces.next().unwrap_or_default());
        let starts_open = text.contains(&b'*');
        let mut specificity = specificity_of(&prefix) + usize::from(anchored);
        let mut segments: Vec<Box<[u8]>> = Vec::new();
        for piece in pieces.filter(|piece| !piece.is_empty()) {
            let segment = normal_form(piece);
            specificity += 1 + specificity_of(&segment);
            segments.push(segment);
        }
        let ends_open = text.last() == Some(&b'*');
        specificity += usize::from(ends_open);
        let end = match (anchored, starts_open) {
            (true, false) => End::Exact,
            (true, true) if !ends_open => segments.pop().map_or(End::Open, End::Tail),
            _ => End::Open,
        };
        Self {
            prefix,
            middle: segments.into_iter().map(Segment::new).collect(),
            end,
            specificity: u32::try_from(specificity).unwrap_or(u32::MAX),
        }
    }

    /// The pattern with each literal replaced, and the same specificity.
    pub(super) fn map(self, replace: impl Fn(&[u8]) -> Vec<u8>) -> Self {
        let replaced = |octets: &[u8]| replace(octets).into_boxed_slice();
        let prefix = replaced(&self.prefix);
        let middle = self.middle.iter().map(|one| Segment::new(replaced(one.octets()))).collect();
        let end = match self.end {
            End::Tail(tail) => End::Tail(replaced(&tail)),
            end => end,
        };
        Self { prefix, middle, end, specificity: self.specificity }
    }

    /// Whether the pattern matches `path`: path and query in normal form, as
    /// [`Target`](super::Target) has them. Linear in the path's length; no allocation.
    pub fn matches(&self, path: &[u8]) -> bool {
        let Some(mut rest) = path.strip_prefix(&*self.prefix) else { return false };
        match &self.end {
            End::Open => {}
            End::Exact => return rest.is_empty(),
            End::Tail(tail) => match rest.strip_suffix(&**tail) {
                Some(before) => rest = before,
                None => return false,
            },
        }
        self.middle.iter().all(|segment| match segment.find(rest).and_then(|end| rest.get(end..)) {
            Some(behind) => {
                rest = behind;
                true
            }
            None => false,
        })
    }

    /// Where the literals of the pattern stand in `path`, which it matches.
    pub(super) fn literals_in(&self, path: &[u8]) -> Vec<Range<usize>> {
        let mut at = self.prefix.len();
        let mut found = Vec::with_capacity(2 + self.middle.len());
        found.push(0..at);
        for segment in &self.middle {
            let Some(end) = path.get(at..).and_then(|rest| segment.find(rest)) else { break };
            at += end;
            found.push(at - segment.octets().len()..at);
        }
        if let End::Tail(tail) = &self.end {
            found.push(path.len().saturating_sub(tail.len())..path.len());
        }
        found
    }

    /// How specific the pattern is: its octets in normal form (§2.2.2 "most octets").
    pub fn specificity(&self) -> u32 {
        self.specificity
    }

    /// A pattern that matches the same paths, as text in normal form.
    pub(crate) fn to_text(&self) -> String {
        let symbols = self.symbols().into_iter();
        let text = |symbol| match symbol {
            Symbol::Octet(b'*') => "%2A".to_owned(),
            Symbol::Octet(b'$') => "%24".to_owned(),
            Symbol::Octet(octet) => char::from(octet).to_string(),
            Symbol::Any => "*".to_owned(),
            Symbol::End => "$".to_owned(),
            Symbol::Open => String::new(),
        };
        let text: String = symbols.map(text).collect();
        if text.is_empty() { "*".to_owned() } else { text }
    }

    pub(crate) fn symbols(&self) -> Vec<Symbol> {
        let mut symbols = Vec::new();
        for (number, literal) in self.literals().enumerate() {
            if number > 0 {
                symbols.push(Symbol::Any);
            }
            symbols.extend(literal.iter().copied().map(Symbol::Octet));
        }
        symbols.push(match self.end {
            End::Open => Symbol::Open,
            End::Exact | End::Tail(_) => Symbol::End,
        });
        symbols
    }

    /// The octets that every matching path begins with, in normal form.
    pub fn prefix(&self) -> &[u8] {
        &self.prefix
    }

    /// The parts of the path that decide.
    pub(super) fn shape(&self) -> Shape {
        match &self.end {
            End::Exact => Shape::Exact,
            End::Open if self.middle.is_empty() => Shape::Prefix,
            End::Open | End::Tail(_) => Shape::Wild,
        }
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(self.end, End::Open)
    }

    /// The literals that every matching path contains, the prefix among them.
    pub fn literals(&self) -> impl Iterator<Item = &[u8]> {
        let tail = match &self.end {
            End::Tail(tail) => Some(&**tail),
            End::Open | End::Exact => None,
        };
        let middle = self.middle.iter().map(Segment::octets);
        [&*self.prefix].into_iter().chain(middle).chain(tail)
    }
}

/// The parts of a path that decide whether a pattern matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// The octets of the prefix alone.
    Prefix,
    /// The whole path, which must equal the prefix.
    Exact,
    /// The prefix and more.
    Wild,
}

impl Segment {
    fn new(octets: Box<[u8]>) -> Self {
        match *octets {
            [octet] => Self::Octet(octet),
            _ => Self::Prepared(Box::new(memmem::Finder::new(&octets).into_owned())),
        }
    }

    /// Where the first occurrence in `text` ends.
    fn find(&self, text: &[u8]) -> Option<usize> {
        match self {
            // In a hostile pattern, a long row of stars, the segments stand close together.
            Self::Octet(octet) => {
                let near = text.iter().take(4).position(|other| other == octet);
                Some(near.or_else(|| memchr::memchr(*octet, text))? + 1)
            }
            Self::Prepared(finder) => Some(finder.find(text)? + finder.needle().len()),
        }
    }

    fn octets(&self) -> &[u8] {
        match self {
            Self::Octet(octet) => std::slice::from_ref(octet),
            Self::Prepared(finder) => finder.needle(),
        }
    }
}

fn normal_form(piece: &[u8]) -> Box<[u8]> {
    normal::normalise(piece).into_owned().into()
}

/// The length of a literal in normal form as the RFC writes it, `*` and `$` encoded.
fn specificity_of(literal: &[u8]) -> usize {
    literal.len() + 2 * memchr::memchr2_iter(b'*', b'$', literal).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, path: &str, matches: bool) {
        let path = normal::normalise(path.as_bytes());
        assert_eq!(
            Pattern::compile(pattern.as_bytes()).matches(&path),
            matches,
            "{pattern} {path:?}"
        );
    }

    #[test]
    fn rfc9309_2_2_3_special_characters() {
        for (pattern, path, matches) in [
            ("/this/path/exactly$", "/this/path/exactly", true),
            ("/this/path/exactly$", "/this/path/exactly/not", false),
            ("/this/*/exactly", "/this/is/not/quite/exactly", true),
            ("/this/*/exactly", "/this//exactly", true),
            ("/this/*/exactly", "/this/exactly", false),
            ("/path/file-with-a-%2A.html", "/path/file-with-a-*.html", true),
            ("/path/file-with-a-%2A.html", "/path/file-with-a-b.html", false),
            ("/path/foo-%24", "/path/foo-$", true),
            ("/path/foo-%24", "/path/foo-%24/more", true),
            ("/path/foo-%24", "/path/foo-", false),
        ] {
            check(pattern, path, matches);
        }
    }

    #[test]
    fn stars_and_dollars_at_the_edges() {
        for (pattern, path, matches) in [
            ("*", "/", true),
            ("*$", "/x", true),
            ("$", "/", false),
            ("/$", "/", true),
            ("/$", "/x", false),
            ("/*$", "/x", true),
            ("/a$b", "/a$bc", true),
            ("/a$b", "/ab", false),
            ("/a$$", "/a$", true),
            ("/a**b", "/axb", true),
            ("/*ab$", "/abab", true),
            ("/*ab$", "/abx", false),
            ("/ab*ab$", "/ab", false),
            ("/ab*b$", "/ab", false),
            ("/*a*b*c", "/xaxbxc?", true),
            ("*.gif$", "/x.gif", true),
            ("*.gif$", "/x.gif?1", false),
            ("private", "/private", false),
            ("/*?sid=", "/a?b&?sid=", true),
            ("/*aab*longliteral*z$", "/aaab-longlongliteral-z", true),
            ("/*aab*longliteral*z$", "/aaab-longlitera-z", false),
            ("/FISH", "/fish", false),
        ] {
            check(pattern, path, matches);
        }
    }

    #[test]
    fn rfc9309_2_2_2_specificity_counts_octets() {
        for (pattern, octets) in [
            ("/", 1),
            ("/*", 2),
            ("/***", 2),
            ("/a**b$", 5),
            ("/\u{30c4}", 10),
            ("/%62", 2),
            ("/a b", 6),
            ("/%2a", 4),
            ("/a$b", 6),
            ("*$", 2),
            ("/page*$", 7),
        ] {
            assert_eq!(Pattern::compile(pattern.as_bytes()).specificity(), octets, "{pattern}");
        }
    }

    #[test]
    fn patterns_that_no_file_can_contain_are_refused() {
        for text in ["", "private", "$", "/a\n/b", "/a#b", "/\0"] {
            assert_eq!(Pattern::new(text).expect_err("refused").code, "robots.pattern", "{text:?}");
        }
        assert!(Pattern::new("/\u{e9}t\u{e9}").is_ok() && Pattern::new("*.gif$").is_ok());
    }
}
