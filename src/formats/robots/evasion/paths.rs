//! A list of different paths, one behind the other in one buffer.

use std::ops::Range;

/// Different paths, in the order in which they were found.
#[derive(Clone, Debug, Default)]
pub(super) struct Paths {
    octets: Vec<u8>,
    places: Vec<Place>,
}

#[derive(Clone, Debug)]
struct Place {
    range: Range<usize>,
    hash: u64,
}

impl Paths {
    /// The list of `path` alone, with room for more.
    pub(super) fn of(path: &[u8]) -> Self {
        let mut octets = Vec::with_capacity(8 * path.len().clamp(16, 512));
        octets.extend_from_slice(path);
        let mut places = Vec::with_capacity(8);
        places.push(Place { range: 0..path.len(), hash: hash(path) });
        Self { octets, places }
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// The path at a place; the empty one if there is none.
    pub(super) fn get(&self, at: usize) -> &[u8] {
        self.places.get(at).and_then(|place| self.octets.get(place.range.clone())).unwrap_or(b"")
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|at| self.get(at))
    }

    fn contains(&self, path: &[u8], hash: u64) -> bool {
        let mut known = self.places.iter().filter(|place| place.hash == hash);
        known.any(|place| self.octets.get(place.range.clone()) == Some(path))
    }

    /// Adds a path that is new, if `fits` says so. Returns whether it is known or was added.
    pub(super) fn add(&mut self, path: &[u8], fits: impl FnOnce(usize) -> bool) -> bool {
        let hash = hash(path);
        if self.contains(path, hash) {
            return true;
        }
        let fits = fits(self.len());
        if fits {
            let start = self.octets.len();
            self.octets.extend_from_slice(path);
            self.places.push(Place { range: start..self.octets.len(), hash });
        }
        fits
    }

    /// Removes the paths that another list has.
    pub(super) fn remove_all(&mut self, others: &Self) {
        let octets = &self.octets;
        self.places.retain(|place| {
            let path = octets.get(place.range.clone()).unwrap_or_default();
            !others.contains(path, place.hash)
        });
    }

    /// The list in lower case.
    pub(super) fn folded(&self) -> Self {
        let mut folded = Self::default();
        for path in self.iter() {
            folded.add(&path.to_ascii_lowercase(), |_| true);
        }
        folded
    }

    pub(super) fn longest(&self) -> usize {
        self.places.iter().map(|place| place.range.len()).max().unwrap_or_default()
    }
}

/// A hash of eight octets at a time. Equal hashes are followed by a comparison, so a client that
/// makes paths collide gains no more than the bound on their number.
fn hash(path: &[u8]) -> u64 {
    let (words, rest) = path.as_chunks::<8>();
    let mix =
        |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let hash =
        words.iter().fold(path.len() as u64, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    rest.iter().fold(hash, |hash, octet| mix(hash, u64::from(*octet)))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn paths_that_differ_by_an_octet_differ_in_their_hashes() {
        let paths = (0..1000).map(|number| format!("/some/{number:03}/path/to/a/page"));
        let hashes: HashSet<u64> = paths.map(|path| hash(path.as_bytes())).collect();
        assert_eq!(hashes.len(), 1000);
    }
}
