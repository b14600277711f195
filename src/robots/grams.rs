//! The rules with wildcards, indexed by three octets that their paths must hold.
//!
//! A path that a rule matches holds every literal of the rule, hence every three octets in a row
//! of them. Each rule is filed under the rarest such triple among the rules of its set; looking at
//! each triple of a path once brings up the few rules that are worth a closer look, however many
//! there are. Rules whose literals are all shorter (`/*?`) are looked at always. What is looked at
//! is first held against the set of octets in the path, and then matched for certain; the rules of
//! a triple are tried best first, and none is tried that couldn't beat what was found already.
//!
//! Each rule is matched at most once for a path, however often its triple stands there, so the
//! time is linear in the path for each rule at worst.

use std::collections::HashMap;

use super::pattern::Pattern;

/// How many triples are remembered as seen without allocating.
const SEEN: usize = 32 * 64;

/// A set of patterns with wildcards, each with the rank of its rule; a lower rank is better.
#[derive(Debug)]
pub(super) struct Grams {
    /// Those that are always tried, then those of each slot; by rank within each.
    wild: Vec<Wild>,
    /// How many are always tried.
    always: usize,
    /// In the order of their triples, which bounds a look-up whatever triples a file has.
    slots: Vec<Slot>,
    /// A bit for each hash of a triple that has a slot, so that most others are seen off at once.
    filed: Vec<u64>,
    /// How far a hash is shifted to number a bit.
    shift: u32,
}

#[derive(Debug)]
struct Wild {
    rank: u32,
    /// Octets that a matching path holds, a bit each.
    octets: u128,
    pattern: Pattern,
}

#[derive(Debug)]
struct Slot {
    gram: u32,
    start: u32,
    end: u32,
}

impl Grams {
    /// The index of `patterns`.
    pub(super) fn new(patterns: Vec<(u32, Pattern)>) -> Self {
        let mut counts: HashMap<u32, u32> = HashMap::new();
        for (_, pattern) in &patterns {
            for gram in pattern.literals().flat_map(grams) {
                *counts.entry(gram).or_default() += 1;
            }
        }
        let rarest = |pattern: &Pattern| {
            let rarity = |gram: &u32| counts.get(gram).copied().unwrap_or_default();
            pattern.literals().flat_map(grams).min_by_key(|gram| (rarity(gram), *gram))
        };
        let mut filed: Vec<_> = patterns
            .into_iter()
            .map(|(rank, pattern)| (rarest(&pattern), Wild::new(rank, pattern)))
            .collect();
        filed.sort_by_key(|(gram, wild)| (*gram, wild.rank));
        Self::of_filed(filed)
    }

    /// The index of patterns in the order of their triples, those without any first.
    fn of_filed(filed: Vec<(Option<u32>, Wild)>) -> Self {
        let always = filed.partition_point(|(gram, _)| gram.is_none());
        let mut slots: Vec<Slot> = Vec::new();
        let mut wild = Vec::with_capacity(filed.len());
        for (at, (gram, pattern)) in (0..u32::MAX).zip(filed) {
            wild.push(pattern);
            let Some(gram) = gram else { continue };
            match slots.last_mut() {
                Some(slot) if slot.gram == gram => slot.end = at + 1,
                _ => slots.push(Slot { gram, start: at, end: at + 1 }),
            }
        }
        // At least sixteen bits for each slot, and a word in any case.
        let bits = (slots.len() * 16).next_power_of_two().trailing_zeros().clamp(6, 31);
        let shift = u32::BITS - bits;
        let mut filed = vec![0; 1 << (bits - 6)];
        for slot in &slots {
            let bit = hash(slot.gram) >> shift;
            filed[bit as usize / 64] |= 1_u64 << (bit % 64);
        }
        Self { wild, always, slots, filed, shift }
    }

    /// The rank of the best rule that matches `path`, if it is better than `best`; else `best`.
    pub(super) fn best(&self, path: &[u8], mut best: u32) -> u32 {
        let mut held = None;
        let (always, _) = self.wild.split_at(self.always);
        if self.slots.is_empty() {
            return try_all(always, path, best, &mut held);
        }
        let mut seen = Seen::new();
        for gram in grams(path) {
            let bit = hash(gram) >> self.shift;
            if self.filed.get(bit as usize / 64).is_none_or(|word| word & (1 << (bit % 64)) == 0) {
                continue;
            }
            let Ok(number) = self.slots.binary_search_by_key(&gram, |slot| slot.gram) else {
                continue;
            };
            if let Some(slot) = self.slots.get(number)
                && seen.insert(number, self.slots.len())
            {
                let filed = self.wild.get(slot.start as usize..slot.end as usize);
                best = try_all(filed.unwrap_or_default(), path, best, &mut held);
            }
        }
        try_all(always, path, best, &mut held)
    }
}

impl Wild {
    fn new(rank: u32, pattern: Pattern) -> Self {
        let octets = pattern.literals().fold(0, |set, literal| set | octets_of(literal));
        Self { rank, octets, pattern }
    }
}

/// The best of `wild`, which are in order of rank, that beats `best`.
fn try_all(wild: &[Wild], path: &[u8], best: u32, held: &mut Option<u128>) -> u32 {
    let Some(first) = wild.first().filter(|first| first.rank < best) else { return best };
    // Few rules come this far on the usual path, so what the path holds is worked out late, and
    // only where it may save something.
    let held = if wild.len() == 1 && held.is_none() && path.len() <= 256 {
        first.octets
    } else {
        *held.get_or_insert_with(|| octets_of(path))
    };
    wild.iter()
        .take_while(|wild| wild.rank < best)
        .find(|wild| wild.octets & !held == 0 && wild.pattern.matches(path))
        .map_or(best, |wild| wild.rank)
}

/// Which slots were looked at for a path.
struct Seen {
    few: [u64; SEEN / 64],
    many: Vec<u64>,
}

impl Seen {
    fn new() -> Self {
        Self { few: [0; SEEN / 64], many: Vec::new() }
    }

    /// Whether `number` of `count` is new.
    fn insert(&mut self, number: usize, count: usize) -> bool {
        if count > SEEN && self.many.is_empty() {
            self.many = vec![0; count.div_ceil(64)];
        }
        let words = if count > SEEN { &mut self.many[..] } else { &mut self.few[..] };
        words.get_mut(number / 64).is_some_and(|word| {
            let bit = 1 << (number % 64);
            let new = *word & bit == 0;
            *word |= bit;
            new
        })
    }
}

/// Every three octets in a row, as a number.
fn grams(text: &[u8]) -> impl Iterator<Item = u32> {
    text.windows(3).map(|window| match *window {
        [a, b, c] => u32::from(a) << 16 | u32::from(b) << 8 | u32::from(c),
        _ => 0,
    })
}

fn hash(gram: u32) -> u32 {
    gram.wrapping_mul(0x9e37_79b1)
}

/// The set of octets in `text`, which is ASCII.
fn octets_of(text: &[u8]) -> u128 {
    text.iter().fold(0, |set, octet| set | 1 << (octet & 127))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(patterns: &[String]) -> Grams {
        let compiled = patterns.iter().map(|pattern| Pattern::compile(pattern.as_bytes()));
        Grams::new((0..).zip(compiled).collect())
    }

    #[test]
    fn ours_the_best_of_any_number_of_triples_is_found() {
        let patterns: Vec<_> =
            (0..3000).map(|n| format!("/*{n:04}-{}", "x".repeat(n % 3))).collect();
        let index = index(&patterns);
        for path in ["/0007-", "/a2999-xx", "/2998-x-0003-0002-xx", "/x", "/", "/12345-x"] {
            let expected = patterns
                .iter()
                .position(|pattern| Pattern::compile(pattern.as_bytes()).matches(path.as_bytes()))
                .map_or(u32::MAX, |rank| rank as u32);
            assert_eq!(index.best(path.as_bytes(), u32::MAX), expected, "{path}");
        }
        assert_eq!(index.best(b"/a2999-xx", 5), 5, "nothing that could not win is tried");
    }

    #[test]
    fn ours_rules_without_a_triple_are_always_tried() {
        let index = index(&["/*?".into(), "*/x*".into(), "/*abc".into()]);
        assert_eq!((index.always, index.slots.len()), (2, 1));
        for (path, rank) in [("/a?b", 0), ("/x/x", 1), ("/abc", 2), ("/", u32::MAX)] {
            assert_eq!(index.best(path.as_bytes(), u32::MAX), rank, "{path}");
        }
    }

    #[test]
    fn ours_a_slot_is_new_once() {
        for count in [1, SEEN, SEEN + 1, 3 * SEEN] {
            let mut seen = Seen::new();
            assert!(seen.insert(count - 1, count) && !seen.insert(count - 1, count));
        }
    }
}
