//! The rules of a scope that match all paths of another rule, found by their octets.
//!
//! Such a rule begins with a part of the other one's first octets, and its literals stand in the
//! other one. So few rules have to be compared.

use std::collections::{BTreeSet, HashMap};

use super::subject::{Ranked, Subject};

/// The rules of a scope by their first octets.
pub(super) struct Search<'r, 's> {
    ranked: &'r [Ranked<'s>],
    by_prefix: HashMap<&'s [u8], Vec<(usize, Option<Gram>)>>,
    lengths: BTreeSet<usize>,
}

/// Three octets in a row, as a place in a set.
#[derive(Clone, Copy, Debug)]
struct Gram(usize);

/// All rows of three octets in a text.
#[derive(Clone, Debug)]
struct Grams([u64; 16]);

impl<'r, 's> Search<'r, 's> {
    pub(super) fn new(ranked: &'r [Ranked<'s>]) -> Self {
        let mut by_prefix: HashMap<&[u8], Vec<_>> = HashMap::new();
        let mut lengths = BTreeSet::new();
        for (at, one) in ranked.iter().enumerate() {
            let prefix = one.pattern.prefix();
            let longest = one.pattern.literals().max_by_key(|literal| literal.len());
            let gram = longest.and_then(<[u8]>::first_chunk).map(Gram::of);
            by_prefix.entry(prefix).or_default().push((at, gram));
            lengths.insert(prefix.len());
        }
        Self { ranked, by_prefix, lengths }
    }

    /// The places of the rules that match all paths of `one`, which may be among them.
    pub(super) fn covering(&self, subject: &Subject<'_>, one: &Ranked<'_>) -> Vec<usize> {
        let prefix = one.pattern.prefix();
        // All paths begin with `/`, so those of a pattern without a prefix do.
        let prefix = if prefix.is_empty() { b"/" } else { prefix };
        let grams = Grams::of(one.sample.path());
        let mut found = Vec::new();
        for length in self.lengths.range(..=prefix.len()) {
            let Some(others) = prefix.get(..*length).and_then(|key| self.by_prefix.get(key)) else {
                continue;
            };
            if !subject.spend((others.len() + length).div_ceil(64)) {
                return found;
            }
            for (at, gram) in others {
                let may_cover = gram.is_none_or(|gram| grams.contains(gram));
                let covers = may_cover
                    && subject.spend(1)
                    && self.ranked.get(*at).is_some_and(|other| other.pattern.includes(one.sample));
                found.extend(covers.then_some(*at));
            }
        }
        found.sort_unstable();
        found
    }
}

impl Gram {
    fn of(octets: &[u8; 3]) -> Self {
        let [a, b, c] = octets.map(usize::from);
        Self((a * 31 * 31 + b * 31 + c) % 1024)
    }
}

impl Grams {
    fn of(text: &[u8]) -> Self {
        let mut grams = [0; 16];
        for row in text.windows(3) {
            if let Some(Gram(at)) = row.first_chunk().map(Gram::of) {
                grams[at / 64] |= 1 << (at % 64);
            }
        }
        Self(grams)
    }

    fn contains(&self, Gram(at): Gram) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
    }
}
