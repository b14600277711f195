//! A table of names for a scan over words: one hash, one filter bit, and one comparison for the few
//! words that pass the filter.
//!
//! Nearly every word of nearly every User-Agent is no crawler's name (`Mozilla`, `Safari`, a phone
//! model). So the table is fast for misses: one bit per hash in an array that stays in the
//! processor's first cache, with the names behind it.

use std::{
    cmp::Reverse,
    collections::BTreeMap,
    sync::atomic::{AtomicU64, Ordering},
};

use crate::base::product_token::ProductToken;

use super::{
    entry::Match,
    words::{ENGINE, MIN_VERSIONED, Word, extent, is_inner, is_word},
};

/// The longest word to look up, in bytes.
const MAX_WORD: usize = ProductToken::MAX_LENGTH;
/// The shortest word that is a name, in bytes. A single letter is none, but a name of several words
/// may begin with one.
const MIN_WORD: usize = 2;
const FILTER_BITS: u32 = 16;

/// The number of a table. Copies of a table share it; no other table of the process has it. An empty
/// table has the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TableId(u64);

impl TableId {
    pub(super) fn new() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

/// Names in lower case, each with the number that its owner gave it.
#[derive(Clone, Debug, Default)]
pub(super) struct NameTable {
    /// One bit for each value of the top [`FILTER_BITS`] of a hash; empty in an empty table.
    filter: Box<[u64]>,
    /// Open addressing; a row's number and one more, so that 0 is free. Its length is a power of 2.
    slots: Box<[u32]>,
    rows: Vec<Row>,
    /// Longest first.
    prefixes: Vec<Prefix>,
    /// The first bytes of prefixes, and their second bytes: a bit for each, in both cases of letters.
    prefix_starts: [[u64; 4]; 2],
    /// Whether a name begins with one of the [`ENGINE`] words, so that none may be passed.
    pub(super) knows_engine: bool,
}

/// The owner's number for a name, and the places where the name counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) number: u16,
    pub(super) matching: Match,
}

#[derive(Clone, Debug)]
pub(super) struct Row {
    word: Box<[u8]>,
    /// The name that is this word alone.
    pub(super) whole: Option<Target>,
    /// The names of several words, longest first.
    phrases: Vec<Phrase>,
}

#[derive(Clone, Debug)]
pub(super) struct Phrase {
    /// The text behind the first word.
    pub(super) rest: Box<[u8]>,
    pub(super) target: Target,
}

#[derive(Clone, Debug)]
struct Prefix {
    text: Box<[u8]>,
    target: Target,
}

impl Target {
    pub(super) const fn new(number: u16, matching: Match) -> Self {
        Self { number, matching }
    }
}

impl NameTable {
    /// Builds the table of names in lower case. If a name has two targets, the first counts.
    pub(super) fn new(names: impl IntoIterator<Item = (Box<str>, Target)>) -> Self {
        let mut table = Self::default();
        let mut rows: BTreeMap<Vec<u8>, Row> = BTreeMap::new();
        for (name, target) in names {
            let bytes = name.as_bytes();
            match target.matching {
                Match::Never => continue,
                Match::Prefix => {
                    table.prefixes.push(Prefix { text: bytes.into(), target });
                    continue;
                }
                _ => {}
            }
            let (word, rest) = bytes.split_at(extent(bytes).length);
            let row = rows.entry(word.to_vec()).or_insert_with(|| Row {
                word: word.into(),
                whole: None,
                phrases: Vec::new(),
            });
            if rest.is_empty() {
                if word.len() >= MIN_WORD {
                    row.whole.get_or_insert(target);
                }
            } else {
                row.phrases.push(Phrase { rest: rest.into(), target });
            }
        }
        table.prefixes.sort_by_key(|prefix| Reverse(prefix.text.len()));
        for prefix in &table.prefixes {
            for (starts, byte) in table.prefix_starts.iter_mut().zip(&prefix.text) {
                for byte in [byte.to_ascii_lowercase(), byte.to_ascii_uppercase()] {
                    starts[usize::from(byte / 64)] |= 1 << (byte % 64);
                }
            }
        }
        table.rows = rows.into_values().collect();
        table.index();
        table.knows_engine = ENGINE
            .iter()
            .any(|word| table.find(word).is_some() || table.find_prefix(word).is_some());
        table
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.prefixes.is_empty()
    }

    /// Whether a word with this [`hash()`] may be a name or begin with one; false for nearly all.
    #[inline]
    pub(super) fn may_know(&self, word: &[u8], hash: u64) -> bool {
        self.may_contain(hash) || self.may_begin(word)
    }

    /// Whether a word with this [`hash()`] may be the first of a name; false for nearly all.
    #[inline]
    pub(super) fn may_contain(&self, hash: u64) -> bool {
        let bit = (hash >> (64 - FILTER_BITS)) as usize;
        // An empty table has no filter, and no word passes.
        let bits = self.filter.get(bit / 64).copied().unwrap_or_default();
        bits >> (bit % 64) & 1 == 1
    }

    #[inline]
    fn may_begin(&self, word: &[u8]) -> bool {
        let [first, second, ..] = word else { return false };
        let [firsts, seconds] = &self.prefix_starts;
        let has =
            |starts: &[u64; 4], byte: u8| starts[usize::from(byte / 64)] >> (byte % 64) & 1 == 1;
        has(firsts, *first) && has(seconds, *second)
    }

    /// The names that begin with a word, in any case of letters.
    #[inline]
    pub(super) fn find(&self, word: &[u8]) -> Option<&Row> {
        self.find_hashed(word, hash(word))
    }

    /// The names that begin with the word of this [`hash()`]. Lookups in two tables share one hash.
    #[inline]
    pub(super) fn find_hashed(&self, word: &[u8], hash: u64) -> Option<&Row> {
        let is_looked_up = word.len() <= MAX_WORD && self.may_contain(hash);
        if is_looked_up { self.probe(hash, word) } else { None }
    }

    /// The longest prefix of a word that is shorter than the word.
    #[inline]
    pub(super) fn find_prefix(&self, word: &[u8]) -> Option<Target> {
        if !self.may_begin(word) {
            return None;
        }
        let begins = |prefix: &[u8]| {
            word.len() > prefix.len()
                && word.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
        };
        self.prefixes.iter().find(|prefix| begins(&prefix.text)).map(|prefix| prefix.target)
    }

    fn probe(&self, hash: u64, word: &[u8]) -> Option<&Row> {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        // The loop ends at a free slot: the table is at most a quarter full.
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
            row.phrases.sort_by_key(|phrase| Reverse(phrase.rest.len()));
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
    /// The longest phrase that continues with the text behind the word. A space in the name also
    /// matches the `+` of some servers' logs.
    #[inline]
    pub(super) fn phrase(&self, following: &[u8]) -> Option<&Phrase> {
        let continues = |rest: &[u8]| {
            let Some((text, after)) = following.split_at_checked(rest.len()) else {
                return false;
            };
            let same = text
                .iter()
                .zip(rest)
                .all(|(&b, &name)| b.to_ascii_lowercase() == name || (name == b' ' && b == b'+'));
            same && !after.first().is_some_and(|&b| is_word(b))
        };
        self.phrases.iter().find(|phrase| continues(&phrase.rest))
    }
}

/// A hash of a word that ignores the case of letters. Setting one bit in each byte folds the letters
/// and a few other bytes; the comparison distinguishes these afterwards.
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

#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    pub(super) number: u16,
    pub(super) end: usize,
}

/// The name that begins at this word. `hash` is the word's.
#[inline]
pub(super) fn find(names: &NameTable, text: &[u8], word: &Word, hash: u64) -> Option<Hit> {
    if names.is_empty() {
        return None;
    }
    let bytes = word.bytes(text);
    if let Some(row) = names.find_hashed(bytes, hash) {
        let following = text.get(word.end..).unwrap_or_default();
        if let Some(phrase) = row.phrase(following) {
            let whole = Word { end: word.end + phrase.rest.len(), ..*word };
            if counts(phrase.target.matching, text, &whole) {
                return Some(Hit { number: phrase.target.number, end: whole.end });
            }
        }
        if let Some(target) = row.whole {
            let hit = Hit { number: target.number, end: word.end };
            return counts(target.matching, text, word).then_some(hit);
        }
    }
    if let Some(target) = names.find_prefix(bytes) {
        return Some(Hit { number: target.number, end: word.end });
    }
    find_without_version(names, text, word)
}

/// The name in a word with a version attached: `trendictionbot0.5.0`, `Wordup-1`, `feedly.com`.
#[inline]
fn find_without_version(names: &NameTable, text: &[u8], word: &Word) -> Option<Hit> {
    let bytes = word.bytes(text);
    if !word.may_have_version(text) {
        return None;
    }
    let whole = |name: &[u8]| {
        let target = names.find(name)?.whole?;
        let fits = match target.matching {
            Match::Word | Match::Version => true,
            Match::Start | Match::Named => word.ordinal == 0,
            _ => false,
        };
        fits.then_some(Hit { number: target.number, end: word.end })
    };
    let dot = bytes.iter().position(|&b| is_inner(b));
    let before_dot = &bytes[..dot.unwrap_or(bytes.len())];
    if dot.is_some()
        && let Some(found) = whole(before_dot)
    {
        return Some(found);
    }
    let ends_in_version = before_dot.last().is_some_and(u8::is_ascii_digit);
    if !ends_in_version {
        return None;
    }
    let digits = before_dot.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let name = &before_dot[..before_dot.len() - digits];
    let name = name
        .strip_suffix(b"-v")
        .or_else(|| name.strip_suffix(b"-"))
        .or_else(|| name.strip_suffix(b"_"))
        .unwrap_or(name);
    if name.len() < MIN_VERSIONED { None } else { whole(name) }
}

/// The number of the name behind a `/`: `agent/Nutch-1.7`.
#[inline]
pub(super) fn find_in_version(names: &NameTable, word: &[u8]) -> Option<u16> {
    let name = word.split(|b| matches!(b, b'-' | b'.')).next().unwrap_or_default();
    let target = names.find(name)?.whole?;
    (target.matching == Match::Version).then_some(target.number)
}

#[inline]
fn counts(matching: Match, text: &[u8], word: &Word) -> bool {
    match matching {
        Match::Word | Match::Version => true,
        Match::Product => is_product(text, word) || word.is_whole(text),
        Match::Start => word.is_first(text),
        Match::Named => word.is_first(text) || is_product(text, word),
        Match::Linked => is_followed_by_link(text, word) || word.is_whole(text),
        Match::Alone => word.ordinal == 0 && is_alone(text, word),
        Match::Prefix | Match::Never => false,
    }
}

/// Whether a version stands behind the name: `Name/1`, or `) Name 4.1` at the end of the text.
fn is_product(text: &[u8], word: &Word) -> bool {
    let rest = text.get(word.end..).unwrap_or_default();
    match rest {
        [b'/', ..] => true,
        [b' ', b'0'..=b'9', version @ ..] => {
            let before = text.get(..word.start).unwrap_or_default();
            before.ends_with(b") ")
                && version.contains(&b'.')
                && version.iter().all(|&b| b.is_ascii_digit() || b == b'.')
        }
        _ => false,
    }
}

/// Whether a link stands right behind the version: `Name/0.2 (+https://…`, `(compatible; Name/1.0;
/// +https://…` or `(compatible; Name/1.0 https://…`.
fn is_followed_by_link(text: &[u8], word: &Word) -> bool {
    let before = text.get(..word.start).unwrap_or_default().trim_ascii_end();
    let rest = text.get(word.end..).unwrap_or_default();
    let version = rest.iter().take_while(|&&b| matches!(b, b'/' | b'.') || is_word(b)).count();
    let rest = rest.get(version..).unwrap_or_default();
    let rest = if word.ordinal == 0 {
        rest.trim_ascii_start().strip_prefix(b"(")
    } else if before.ends_with(b"compatible;") {
        let separators = rest.iter().take_while(|&&b| matches!(b, b';' | b' ' | b'(')).count();
        rest.get(separators..).filter(|_| separators > 0)
    } else {
        None
    };
    rest.is_some_and(|rest| rest.starts_with(b"+http") || rest.starts_with(b"http"))
}

/// Whether the name is the whole User-Agent but for a version of digits and the letter of a platform:
/// `Name`, `Name/2.1`, `Name/2.1 A`.
fn is_alone(text: &[u8], word: &Word) -> bool {
    let rest = text.get(word.end..).unwrap_or_default();
    let version = match rest {
        [version @ .., b' ' | b'/', letter] if letter.is_ascii_alphabetic() => version,
        _ => rest,
    };
    version.iter().all(|b| b"/.0123456789 ".contains(b))
}
