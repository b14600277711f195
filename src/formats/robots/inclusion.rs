//! How the paths of two patterns relate: all of one within the other's, or some in common.
//!
//! A star takes any octets. So a pattern matches everything that another one matches if it matches
//! one path: the other's literals, with an octet in place of each star that no literal has. Only a
//! star can take that octet, and such a star takes any text in its place. The converse holds but for
//! patterns whose literals contain nearly every octet. Paths begin with `/`, so a star at the start
//! stands for a path's first octets.

use super::pattern::{Pattern, Shape, Symbol};

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
    pub(crate) fn sample(&self) -> Sample {
        let mut literals = self.literals();
        let mut path = literals.next().unwrap_or_default().to_vec();
        let begins_with_star = path.is_empty() && self.shape() != Shape::Exact;
        if begins_with_star {
            path.push(b'/');
        }
        for literal in literals {
            path.push(ANY);
            path.extend_from_slice(literal);
        }
        if self.is_open() {
            path.push(ANY);
        }
        // Without the slash and the first star.
        let bare = path.get(2..).filter(|bare| begins_with_star && bare.starts_with(b"/"));
        Sample { bare: bare.map(<[u8]>::to_vec), path }
    }

    /// Whether some path matches both patterns.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        let common = self.prefix().len().min(other.prefix().len());
        if self.prefix().get(..common) != other.prefix().get(..common) {
            return false;
        }
        // All paths begin with `/`, so a star at the start follows one.
        let (mut one, mut two) = (self.symbols(), other.symbols());
        one.retain(|symbol| *symbol != Symbol::End);
        two.retain(|symbol| *symbol != Symbol::End);
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
                    (Symbol::Any | Symbol::Open, _) => next[at..].fill(true),
                    (_, Some(Symbol::Any | Symbol::Open)) => next[at] = true,
                    (octet, Some(same)) if octet == same => next[at + 1] = true,
                    _ => {}
                }
            }
            skip_stars(&mut next, &two);
            reached = next;
        }
        reached.last().copied().unwrap_or(false)
    }
}

/// Marks the places behind stars: a star may be empty.
fn skip_stars(reached: &mut [bool], symbols: &[Symbol]) {
    for (at, symbol) in symbols.iter().enumerate() {
        if reached[at] && matches!(symbol, Symbol::Any | Symbol::Open) {
            reached[at + 1] = true;
        }
    }
}
