//! A path pattern as in a rule of robots.txt, for many recorded paths.

use memchr::memmem::Finder;

use crate::base::escape;

/// A path pattern: from the start, with `*` for any characters and `$` for the end (RFC 9309 §2.2.3).
/// It compares recorded texts, without decoding.
#[derive(Clone, Debug)]
pub(crate) struct PathPattern {
    /// The piece before the first star. Every matching path begins with it.
    first: Vec<u8>,
    pieces: Vec<Finder<'static>>,
    end: End,
}

#[derive(Clone, Debug)]
enum End {
    Anything,
    Nothing,
    /// The path ends with this.
    With(Vec<u8>),
}

/// A way through sorted paths. Of each path, it looks only at what differs from the one before.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    pattern: &'a PathPattern,
    /// How much of the pattern's first piece the path before has.
    common: usize,
    /// The path before, if it has the whole first piece and more than that is asked for.
    path: Vec<u8>,
    /// The ends of the pieces that were found in it.
    ends: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Match,
    NoMatch,
    /// Neither this path nor a later one matches.
    Over,
}

impl PathPattern {
    pub(crate) fn new(pattern: &str) -> Self {
        // Recorded paths are escaped, so the pattern must be too.
        let pattern = escape::text(pattern.as_bytes());
        let (pattern, is_anchored) = match pattern.strip_suffix('$') {
            Some(pattern) => (pattern, true),
            None => (pattern.as_str(), false),
        };
        let mut pieces: Vec<&[u8]> = pattern.split('*').map(str::as_bytes).collect();
        let end = match is_anchored {
            true if pieces.len() == 1 => End::Nothing,
            true => End::With(pieces.pop().unwrap_or_default().to_vec()),
            false => End::Anything,
        };
        let first = pieces.first().map_or_else(Vec::new, |first| first.to_vec());
        let pieces = pieces.iter().skip(1).map(|piece| Finder::new(piece).into_owned()).collect();
        Self { first, pieces, end }
    }

    /// The pattern of all paths with this beginning, which is a recorded text.
    pub(crate) fn beginning(text: &str) -> Self {
        Self { first: text.as_bytes().to_vec(), pieces: Vec::new(), end: End::Anything }
    }

    pub(crate) fn matches(&self, path: &str) -> bool {
        let path = path.as_bytes();
        path.starts_with(&self.first) && self.find(path, self.first.len(), &mut Vec::new(), 0)
    }

    /// Finds the pieces behind those with these ends, each as far left as it goes: exact for `*`, and
    /// linear. The next one does not end at or before `known`.
    fn find(&self, path: &[u8], first: usize, ends: &mut Vec<usize>, known: usize) -> bool {
        let mut at = ends.last().copied().unwrap_or(first);
        for piece in &self.pieces[ends.len()..] {
            let length = piece.needle().len();
            let start = match known > at && length > 0 {
                true => at.max((known + 1).saturating_sub(length)).min(path.len()),
                false => at,
            };
            let Some(found) = piece.find(&path[start..]) else { return false };
            at = start + found + length;
            ends.push(at);
        }
        match &self.end {
            End::Anything => true,
            End::Nothing => at == path.len(),
            End::With(end) => path[at..].ends_with(end),
        }
    }
}

impl<'a> Walk<'a> {
    pub(super) const fn new(pattern: &'a PathPattern) -> Self {
        Self { pattern, common: 0, path: Vec::new(), ends: Vec::new() }
    }

    /// The next path: `rest` follows the bytes that it shares with the one before.
    pub(super) fn step(&mut self, shared: usize, rest: &[u8]) -> Step {
        let first = self.pattern.first.as_slice();
        if shared < self.common {
            // It differs within the first piece, and sorts behind all paths that have the piece.
            return Step::Over;
        }
        let was_within = self.common < first.len();
        if was_within {
            if shared > self.common {
                return Step::NoMatch;
            }
            let wanted = &first[self.common..];
            let same = rest.iter().zip(wanted).take_while(|(a, b)| a == b).count();
            self.common += same;
            if same < wanted.len() {
                let is_behind = rest.get(same).is_some_and(|&byte| byte > wanted[same]);
                return if is_behind { Step::Over } else { Step::NoMatch };
            }
        }
        let is_match = match (&self.pattern.end, self.pattern.pieces.is_empty()) {
            (End::Anything, true) => true,
            (End::Nothing, true) => shared + rest.len() == first.len(),
            _ => self.find(shared, rest, was_within),
        };
        if is_match { Step::Match } else { Step::NoMatch }
    }

    fn find(&mut self, shared: usize, rest: &[u8], is_first: bool) -> bool {
        let Self { pattern, path, ends, .. } = self;
        let mut known = shared;
        if is_first {
            // The paths before were not kept. What they shared with this one is in the first piece.
            path.clear();
            path.extend_from_slice(&pattern.first[..shared]);
            known = 0;
        }
        path.truncate(shared);
        path.extend_from_slice(rest);
        while ends.last().is_some_and(|end| *end > shared) {
            ends.pop();
        }
        pattern.find(path, pattern.first.len(), ends, known)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn paths_match_as_robots_txt_matches_them() {
        for (pattern, path, matches) in [
            ("/", "/a", true),
            ("", "/a", true),
            ("/a", "/ab", true),
            ("/a$", "/ab", false),
            ("/a$", "/a", true),
            ("*.pdf$", "/x.pdf.pdf", true),
            ("*.pdf$", "/x.pdf?y", false),
            ("/*/b*c$", "/a/b/bc", true),
            ("/a*", "/a", true),
            ("/a*$", "/abc", true),
            ("/a%2f", "/a%2F", false),
            ("/[a-c]?", "/b1", false),
            ("/tab\there", "/tab\\there", true),
        ] {
            assert_eq!(PathPattern::new(pattern).matches(path), matches, "{pattern} {path}");
        }
    }

    /// The definition, read literally.
    fn naive(pattern: &[u8], path: &[u8]) -> bool {
        match pattern {
            [] => true,
            [b'$'] => path.is_empty(),
            [b'*', rest @ ..] => (0..=path.len()).any(|at| naive(rest, &path[at..])),
            [first, rest @ ..] => path.first() == Some(first) && naive(rest, &path[1..]),
        }
    }

    proptest! {
        #[test]
        fn paths_match_as_in_a_naive_matcher(pattern in "[ab*]{0,8}[$]?", path in "[ab]{0,12}") {
            let expected = naive(pattern.as_bytes(), path.as_bytes());
            prop_assert_eq!(PathPattern::new(&pattern).matches(&path), expected);
        }

        #[test]
        fn a_walk_matches_as_each_path_alone(
            pattern in "[ab*]{0,6}[$]?",
            paths in prop::collection::btree_set("[ab]{0,7}", 0..40),
        ) {
            let pattern = PathPattern::new(&pattern);
            let (mut walk, mut before, mut is_over) = (Walk::new(&pattern), String::new(), false);
            for path in paths {
                let shared = before.bytes().zip(path.bytes()).take_while(|(a, b)| a == b).count();
                let step = match is_over {
                    true => Step::Over,
                    false => walk.step(shared, &path.as_bytes()[shared..]),
                };
                is_over |= step == Step::Over;
                prop_assert_eq!(step == Step::Match, pattern.matches(&path), "{}", path);
                before = path;
            }
        }
    }
}
