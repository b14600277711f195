//! The paths that the steps make of one path, in any order: different ones, one behind the other in one
//! buffer.

use std::ops::Range;

use super::{
    decoding::{self, drop_invalid_utf8},
    mark::Decoded,
    step::{self, STEPS, Step},
    steps::{Reading, Steps},
};

/// The most paths that are made of one letter.
pub const MAX_FORMS: usize = 32;

/// The most octets in these paths together, each with the query, unless the letter alone has more.
pub const MAX_OCTETS: usize = 256 * 1024;

/// The most paths with what is done to each at last.
const MAX_PATHS: usize = 4 * MAX_FORMS;

/// The path and all that origins make of it, and whether there is more.
///
/// Each path is followed by a query of `query` octets.
pub(super) fn paths(
    path: &[u8],
    query: usize,
    reading: Reading,
    decoded: Decoded,
) -> (Paths, bool) {
    let (mut found, mut is_cut) = closure(path, query, reading, decoded);
    let takes = |step| reading.steps.has(step);
    let has = |octet| memchr::memchr(octet, path).is_some();
    let has_escapes = has(b'%');
    let may_end_sooner = !step::has_plain_end(path);
    // Those of a row are taken on each path in turn.
    let rows: [&[(bool, Step)]; 6] = [
        &[(takes(Steps::DROP_PARAMETERS) && has(b';'), step::drop_last_parameter)],
        &[(takes(Steps::DECODE_RESERVED) && has_escapes, decoding::decode_reserved)],
        &[
            (takes(Steps::DECODE_LATIN_1) && has_escapes, |path, out, _| {
                decoding::read_latin_1(path, out)
            }),
            (takes(Steps::DROP_INVALID_UTF8) && has_escapes, |path, out, _| {
                drop_invalid_utf8(path, out)
            }),
        ],
        &[(takes(Steps::TRIM_LINE_FEED), step::trim_line_feed)],
        &[(takes(Steps::TRIM_SLASHES) && may_end_sooner, step::trim_slashes)],
        &[(takes(Steps::TRIM_DOTS), step::trim_dots)],
    ];
    let mut made = Vec::with_capacity(path.len());
    for row in rows {
        for at in 0..found.len() {
            for (_, step) in row.iter().filter(|(is_taken, _)| *is_taken) {
                made.clear();
                if step(found.get(at), &mut made, decoded) {
                    is_cut |= !found.add(&made, |count| count < MAX_PATHS);
                }
            }
        }
    }
    (found, is_cut)
}

fn closure(path: &[u8], query: usize, reading: Reading, decoded: Decoded) -> (Paths, bool) {
    let mut found = Paths::of(path);
    let mut octets = path.len() + query;
    let limit = MAX_OCTETS.max(octets);
    let mut add = |found: &mut Paths, path: &[u8]| {
        found.add(path, |count| {
            octets += path.len() + query;
            count < MAX_FORMS && octets <= limit
        })
    };
    let mut made = Vec::with_capacity(path.len());
    let mut next = 0;
    for times_decoded in 1..=reading.decode_depth.max(1) {
        if times_decoded > 1 {
            for known in 0..found.len() {
                for path in decoding::decode_again(found.get(known)) {
                    if !add(&mut found, &path) {
                        return (found, true);
                    }
                }
            }
        }
        while next < found.len() {
            let due = reading.steps.common(step::due(found.get(next)));
            for (kind, step) in STEPS {
                if !due.has(kind) {
                    continue;
                }
                made.clear();
                if step(found.get(next), &mut made, decoded) && !add(&mut found, &made) {
                    return (found, true);
                }
            }
            next += 1;
        }
    }
    (found, false)
}

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

    pub(super) fn remove_all(&mut self, others: &Self) {
        let octets = &self.octets;
        self.places.retain(|place| {
            let path = octets.get(place.range.clone()).unwrap_or_default();
            !others.contains(path, place.hash)
        });
    }

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
