//! A table of names for a scan over words: one hash, one filter bit, and for the few words that
//! pass it one comparison.
//!
//! Nearly every word of nearly every User-Agent is no crawler's name (`Mozilla`, `Safari`, a phone
//! model), so the table is built for the miss: a bit per hash in an array that stays in the
//! processor's first cache, and the names themselves behind it.

use std::{cmp::Reverse, collections::BTreeMap};

use crate::product_token::ProductToken;

use super::{
    entry::Match,
    words::{is_word, word_length},
};

/// The longest word that is looked up, in bytes.
const MAX_WORD: usize = ProductToken::MAX_LENGTH;
/// The shortest: a single letter names nobody.
const MIN_WORD: usize = 2;
const FILTER_BITS: u32 = 16;

/// Names in lower case, each leading to the number that its owner gave it.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    /// One bit for each value of the top [`FILTER_BITS`] of a hash; empty where there are no names.
    filter: Box<[u64]>,
    /// Open addressing; a row's number and one more, so that 0 is free. Its length is a power of 2.
    slots: Box<[u32]>,
    rows: Vec<Row>,
    prefixes: Vec<(Box<[u8]>, Target)>,
    /// A bit for each byte with which a prefix begins, in either case of letters.
    prefix_starts: [u64; 4],
}

/// Where a name leads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    /// The number that the owner of the name gave.
    pub(super) number: u16,
    /// Where the name counts.
    pub(super) matching: Match,
}

impl Target {
    pub(super) const fn new(number: u16, matching: Match) -> Self {
        Self { number, matching }
    }
}

/// What the table knows of one word.
#[derive(Clone, Debug)]
pub(super) struct Row {
    word: Box<[u8]>,
    /// The word is a name by itself.
    pub(super) whole: Option<Target>,
    /// The word begins these phrases; longest first.
    phrases: Vec<(Box<[u8]>, Target)>,
}

impl Names {
    /// Builds the table of names given in lower case. Where a name leads to two targets, the first
    /// given counts.
    pub(super) fn new(names: impl IntoIterator<Item = (Box<str>, Target)>) -> Self {
        let mut table = Self::default();
        let mut rows: BTreeMap<Vec<u8>, Row> = BTreeMap::new();
        for (name, target) in names {
            let bytes = name.as_bytes();
            match target.matching {
                Match::Never => continue,
                Match::Prefix => {
                    table.prefixes.push((bytes.into(), target));
                    continue;
                }
                _ => {}
            }
            let (word, rest) = bytes.split_at(word_length(bytes));
            let row = rows.entry(word.to_vec()).or_insert_with(|| Row {
                word: word.into(),
                whole: None,
                phrases: Vec::new(),
            });
            if rest.is_empty() {
                row.whole.get_or_insert(target);
            } else {
                row.phrases.push((rest.into(), target));
            }
        }
        table.prefixes.sort_by_key(|(prefix, _)| Reverse(prefix.len()));
        for first in table.prefixes.iter().filter_map(|(prefix, _)| prefix.first()) {
            for byte in [first.to_ascii_lowercase(), first.to_ascii_uppercase()] {
                table.prefix_starts[usize::from(byte / 64)] |= 1 << (byte % 64);
            }
        }
        table.rows = rows.into_values().collect();
        table.index();
        table
    }

    /// Whether the table holds no name at all.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.prefixes.is_empty()
    }

    /// Whether a word of this [`hash()`] may be a name or begin with one; false for nearly all.
    #[inline]
    pub(super) fn may_know(&self, word: &[u8], hash: u64) -> bool {
        self.may_hold(hash) || word.first().is_some_and(|first| self.may_begin(*first))
    }

    #[inline]
    fn may_hold(&self, hash: u64) -> bool {
        let bit = (hash >> (64 - FILTER_BITS)) as usize;
        // An empty table has no filter, and nothing passes.
        let bits = self.filter.get(bit / 64).copied().unwrap_or_default();
        bits >> (bit % 64) & 1 == 1
    }

    #[inline]
    fn may_begin(&self, first: u8) -> bool {
        self.prefix_starts[usize::from(first / 64)] >> (first % 64) & 1 == 1
    }

    /// What is known of a word, in any case of letters.
    #[inline]
    pub(super) fn find(&self, word: &[u8]) -> Option<&Row> {
        self.find_hashed(word, hash(word))
    }

    /// The same of a word whose [`hash()`] is known: two tables need only one.
    #[inline]
    pub(super) fn find_hashed(&self, word: &[u8], hash: u64) -> Option<&Row> {
        if word.len() < MIN_WORD || word.len() > MAX_WORD {
            return None;
        }
        if !self.may_hold(hash) {
            return None;
        }
        self.probe(hash, word)
    }

    /// The longest prefix name that a word begins with and goes beyond.
    #[inline]
    pub(super) fn find_prefix(&self, word: &[u8]) -> Option<Target> {
        let first = *word.first()?;
        if !self.may_begin(first) {
            return None;
        }
        let begins = |prefix: &[u8]| {
            word.len() > prefix.len()
                && word.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
        };
        self.prefixes.iter().find(|(prefix, _)| begins(prefix)).map(|&(_, target)| target)
    }

    fn probe(&self, hash: u64, word: &[u8]) -> Option<&Row> {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        // A slot is always free: the table is at most a quarter full.
        while let Some(row) = self.slots[at].checked_sub(1) {
            let row = &self.rows[row as usize];
            if row.word.eq_ignore_ascii_case(word) {
                return Some(row);
            }
            at = (at + 1) & mask;
        }
        None
    }

    fn index(&mut self) {
        if self.rows.is_empty() {
            return;
        }
        let mut filter = vec![0u64; 1 << (FILTER_BITS - 6)];
        let mut slots = vec![0u32; (self.rows.len() * 4).next_power_of_two()];
        let mask = slots.len() - 1;
        for (number, row) in (1u32..).zip(&mut self.rows) {
            row.phrases.sort_by_key(|(rest, _)| Reverse(rest.len()));
            let hash = hash(&row.word);
            let bit = (hash >> (64 - FILTER_BITS)) as usize;
            filter[bit / 64] |= 1 << (bit % 64);
            let mut at = hash as usize & mask;
            while slots[at] != 0 {
                at = (at + 1) & mask;
            }
            slots[at] = number;
        }
        self.filter = filter.into();
        self.slots = slots.into();
    }
}

impl Row {
    /// The longest phrase that goes on with what follows the word, and the number of bytes it takes
    /// there. A space in the name also stands for the `+` that some servers' logs put for it.
    #[inline]
    pub(super) fn phrase(&self, following: &[u8]) -> Option<(Target, usize)> {
        let goes_on = |rest: &[u8]| {
            let Some((text, after)) = following.split_at_checked(rest.len()) else {
                return false;
            };
            let same = text
                .iter()
                .zip(rest)
                .all(|(&b, &name)| b.to_ascii_lowercase() == name || (name == b' ' && b == b'+'));
            same && !after.first().is_some_and(|&b| is_word(b))
        };
        let (rest, target) = self.phrases.iter().find(|(rest, _)| goes_on(rest))?;
        Some((*target, rest.len()))
    }
}

/// A hash of a word without regard to the case of letters. Setting one bit in each byte folds the
/// letters, and a few other bytes that the comparison tells apart afterwards.
#[inline]
pub(super) fn hash(word: &[u8]) -> u64 {
    const FOLD: u64 = 0x2020_2020_2020_2020;
    const MULTIPLY: u64 = 0x9e37_79b9_7f4a_7c15; // 2^64 divided by the golden ratio
    let (first, last) = if let (Some(&first), Some(&last)) =
        (word.first_chunk::<8>(), word.last_chunk::<8>())
    {
        (u64::from_le_bytes(first), u64::from_le_bytes(last))
    } else if let (Some(&first), Some(&last)) = (word.first_chunk::<4>(), word.last_chunk::<4>()) {
        (u64::from(u32::from_le_bytes(first)), u64::from(u32::from_le_bytes(last)))
    } else {
        (word.iter().fold(0, |folded, &b| folded << 8 | u64::from(b)), 0)
    };
    let sum = (first | FOLD) ^ (last | FOLD).rotate_left(23) ^ (word.len() as u64) << 56;
    let mixed = sum.wrapping_mul(MULTIPLY);
    (mixed ^ mixed >> 32).wrapping_mul(MULTIPLY)
}
