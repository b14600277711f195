//! How the paths of two patterns relate: all of one within the other's, or some in common.
//!
//! A star takes any octets. So a pattern matches everything that another one matches if it matches
//! one path: the other's literals, with an octet in place of each star that no literal has. Only a
//! star can take that octet, and such a star takes any text in its place. The converse holds but for
//! patterns whose literals contain nearly every octet. Paths begin with `/`, so a star at the start
//! stands for a path's first octets.

use super::pattern::{Pattern, Shape};

/// The octet in place of a star. No literal has it, because it is no octet of a normal form.
const ANY: u8 = 0x01;

/// Paths that stand for all that a pattern matches.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Its literals, with [`ANY`] in place of its stars.
    path: Vec<u8>,
    /// The second path of a pattern that begins with a star and a `/`: there, that star is empty.
    bare: Option<Vec<u8>>,
}

impl Sample {
    /// The path that has all literals of the pattern.
    pub fn path(&self) -> &[u8] {
        &self.path
    }
}

impl Pattern {
    /// Whether this pattern matches every path that the pattern of `other` matches.
    pub fn includes(&self, other: &Sample) -> bool {
        self.matches(&other.path) && other.bare.as_ref().is_none_or(|bare| self.matches(bare))
    }

    /// The paths that stand for all that this pattern matches.
    pub fn sample(&self) -> Sample {
        let mut literals = self.literals();
        let prefix = literals.next().unwrap_or_default();
        let mut sample = prefix.to_vec();
        let mut bare = None;
        if sample.is_empty() && self.shape() != Shape::Exact {
            sample.push(b'/');
            bare = Some(Vec::new());
        }
        let mut has_literals = false;
        for literal in literals {
            sample.push(ANY);
            sample.extend_from_slice(literal);
            if let Some(bare) = &mut bare {
                if has_literals {
                    bare.push(ANY);
                }
                bare.extend_from_slice(literal);
            }
            has_literals = true;
        }
        if self.is_open() {
            sample.push(ANY);
            if let Some(bare) = &mut bare {
                bare.push(ANY);
            }
        }
        Sample { path: sample, bare: bare.filter(|bare| bare.starts_with(b"/")) }
    }

    /// Whether some path matches both patterns.
    pub fn overlaps(&self, other: &Self) -> bool {
        let common = self.prefix().len().min(other.prefix().len());
        if self.prefix().get(..common) != other.prefix().get(..common) {
            return false;
        }
        let (one, two) = (self.octets_and_stars(), other.octets_and_stars());
        // Both are read at once. `reached[at]` says whether the symbols of `two` up to `at` can match
        // the same text as those of `one` that were read.
        let mut reached = vec![false; two.len() + 1];
        reached[0] = true;
        skip_stars(&mut reached, &two);
        for symbol in &one {
            let mut next = vec![false; two.len() + 1];
            for (at, _) in reached.iter().enumerate().filter(|(_, is)| **is) {
                match (symbol, two.get(at)) {
                    // The star of `one` is empty, or takes what `two` has.
                    (None, _) => next[at..].fill(true),
                    (Some(_), Some(None)) => next[at] = true,
                    (Some(a), Some(Some(b))) if a == b => next[at + 1] = true,
                    (Some(_), _) => {}
                }
            }
            skip_stars(&mut next, &two);
            reached = next;
        }
        reached.last().copied().unwrap_or(false)
    }

    /// The literal octets in order, with `None` for a star. All paths begin with `/`, so a star at
    /// the start follows one.
    fn octets_and_stars(&self) -> Vec<Option<u8>> {
        let mut symbols = Vec::new();
        for (number, literal) in self.literals().enumerate() {
            if number > 0 {
                symbols.push(None);
            }
            symbols.extend(literal.iter().copied().map(Some));
        }
        if self.is_open() && symbols.last() != Some(&None) {
            symbols.push(None);
        }
        symbols
    }
}

/// Marks the places behind stars: a star may be empty.
fn skip_stars(reached: &mut [bool], symbols: &[Option<u8>]) {
    for (at, symbol) in symbols.iter().enumerate() {
        if reached[at] && symbol.is_none() {
            reached[at + 1] = true;
        }
    }
}
