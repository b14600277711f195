//! The rules with wildcards, indexed by octets in a row that their paths must hold.
//!
//! A path that a rule matches holds every literal of the rule, hence every *window* of so many
//! octets in a row of them. Each rule is filed under one window: the rarest among the rules of its
//! set, and of equally rare ones the widest. Looking at each place of a path, once for each width,
//! brings up the rules whose window stands there, which are few, however many rules there are.
//! Rules whose literals are all shorter than any window (`/*?`) are looked at always. Where several
//! are looked at, each is held against the set of octets in the path before it is matched.
//!
//! The rules of a window are tried best first, and none is tried that couldn't beat what was found
//! already. Each is matched at most once for a path, however often its window stands there, so the
//! time is linear in the path, and at worst once more for each rule whose window the path holds.

use std::{cmp::Reverse, collections::HashMap};

use super::pattern::Pattern;

/// How many octets a window may have. Wide ones are rare in paths; short literals have only short
/// ones. A path is looked at once for each width that a file needs.
const WIDTHS: [usize; 3] = [8, 4, 3];

/// How many windows are remembered as seen without allocating.
const SEEN: usize = 32 * 64;

/// A set of patterns with wildcards, each with the rank of its rule; a lower rank is better.
#[derive(Debug)]
pub(super) struct Windows {
    /// Those that are always tried, then those of each window; by rank within each.
    wild: Vec<Wild>,
    /// How many are always tried.
    always: usize,
    /// For each of [`WIDTHS`].
    tables: [Table; WIDTHS.len()],
    /// How many windows there are in all tables.
    count: usize,
}

#[derive(Debug)]
struct Wild {
    rank: u32,
    /// Octets that a matching path holds, a bit each.
    octets: u128,
    pattern: Pattern,
}

/// The windows of one width.
#[derive(Debug, Default)]
struct Table {
    /// In the order of the windows, which bounds a look-up whatever windows a file has.
    slots: Vec<Slot>,
    /// A bit for each hash of a window, so that most others are seen off at once.
    filter: Vec<u64>,
    /// How far a hash is shifted to number a bit.
    shift: u32,
}

#[derive(Debug)]
struct Slot {
    window: u64,
    /// Its number among the windows of all tables.
    number: usize,
    /// Where its rules are.
    start: u32,
    end: u32,
}

/// Which of [`WIDTHS`], and the octets of the window as a number.
type Key = (usize, u64);

impl Windows {
    /// The index of `patterns`.
    pub(super) fn new(patterns: Vec<(u32, Pattern)>) -> Self {
        let mut counts: HashMap<Key, u32> = HashMap::new();
        for key in patterns.iter().flat_map(|(_, pattern)| keys(pattern)) {
            *counts.entry(key).or_default() += 1;
        }
        let rarest = |pattern: &Pattern| {
            // Of equally rare and wide ones the last: the end of a path says more than its
            // beginning.
            let order = |(at, key): &(usize, Key)| (counts.get(key), key.0, Reverse(*at));
            Some(keys(pattern).enumerate().min_by_key(order)?.1)
        };
        let mut filed: Vec<_> = patterns
            .into_iter()
            .map(|(rank, pattern)| (rarest(&pattern), Wild::new(rank, pattern)))
            .collect();
        filed.sort_by_key(|(key, wild)| (*key, wild.rank));
        let always = filed.partition_point(|(key, _)| key.is_none());
        let mut tables: [Table; WIDTHS.len()] = Default::default();
        let mut count = 0;
        for (at, (key, _)) in (0..u32::MAX).zip(&filed) {
            let Some((width, window)) = *key else { continue };
            let slots = &mut tables[width].slots;
            match slots.last_mut() {
                Some(slot) if slot.window == window => slot.end = at + 1,
                _ => {
                    slots.push(Slot { window, number: count, start: at, end: at + 1 });
                    count += 1;
                }
            }
        }
        tables.iter_mut().for_each(Table::make_filter);
        let wild = filed.into_iter().map(|(_, wild)| wild).collect();
        Self { wild, always, tables, count }
    }

    /// The rank of the best rule that matches `path`, if it is better than `best`; else `best`.
    pub(super) fn best(&self, path: &[u8], best: u32) -> u32 {
        let [wide, middle, narrow] = &self.tables;
        let mut search = Search { index: self, path, best, held: None, seen: Seen::new() };
        search.look_for::<{ WIDTHS[0] }>(wide);
        search.look_for::<{ WIDTHS[1] }>(middle);
        search.look_for::<{ WIDTHS[2] }>(narrow);
        let (always, _) = self.wild.split_at(self.always);
        search.try_all(always);
        search.best
    }
}

impl Wild {
    fn new(rank: u32, pattern: Pattern) -> Self {
        let octets = pattern.literals().fold(0, |set, literal| set | octets_of(literal));
        Self { rank, octets, pattern }
    }
}

impl Table {
    /// At least sixteen bits for each window, and a word in any case.
    fn make_filter(&mut self) {
        let bits = (self.slots.len() * 16).next_power_of_two().trailing_zeros().clamp(6, 31);
        self.shift = u64::BITS - bits;
        self.filter = vec![0; 1 << (bits - 6)];
        for slot in &self.slots {
            let bit = hash(slot.window) >> self.shift;
            self.filter[(bit / 64) as usize] |= 1 << (bit % 64);
        }
    }

    fn find(&self, window: u64) -> Option<&Slot> {
        let bit = hash(window) >> self.shift;
        let word = self.filter.get((bit / 64) as usize)?;
        if word & (1 << (bit % 64)) == 0 {
            return None;
        }
        let at = self.slots.binary_search_by_key(&window, |slot| slot.window).ok()?;
        self.slots.get(at)
    }
}

/// The search for the best rule for one path.
struct Search<'a> {
    index: &'a Windows,
    path: &'a [u8],
    best: u32,
    /// The set of octets in the path, worked out when it is asked for.
    held: Option<u128>,
    seen: Seen,
}

impl Search<'_> {
    fn look_for<const WIDTH: usize>(&mut self, table: &Table) {
        if table.slots.is_empty() {
            return;
        }
        for window in windows::<WIDTH>(self.path) {
            if let Some(slot) = table.find(window)
                && self.seen.insert(slot.number, self.index.count)
            {
                let filed = self.index.wild.get(slot.start as usize..slot.end as usize);
                self.try_all(filed.unwrap_or_default());
            }
        }
    }

    /// Tries `wild`, which are in order of rank.
    fn try_all(&mut self, wild: &[Wild]) {
        let Some(first) = wild.first().filter(|first| first.rank < self.best) else { return };
        // A single rule is matched in the time that it takes to look at the octets.
        let held = match wild {
            [_] => first.octets,
            _ => *self.held.get_or_insert_with(|| octets_of(self.path)),
        };
        let tried = wild.iter().take_while(|wild| wild.rank < self.best);
        let found = { tried }
            .find(|wild| wild.octets & !held == 0 && wild.pattern.matches(self.path))
            .map(|wild| wild.rank);
        self.best = found.unwrap_or(self.best);
    }
}

/// Which windows were found in a path.
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

/// The windows of every width in the literals of `pattern`, in their order.
fn keys(pattern: &Pattern) -> impl Iterator<Item = Key> {
    pattern.literals().flat_map(|literal| {
        let wide = windows::<{ WIDTHS[0] }>(literal).map(|window| (0, window));
        let middle = windows::<{ WIDTHS[1] }>(literal).map(|window| (1, window));
        let narrow = windows::<{ WIDTHS[2] }>(literal).map(|window| (2, window));
        wide.chain(middle).chain(narrow)
    })
}

/// Every `WIDTH` octets in a row, at most eight, as a number.
fn windows<const WIDTH: usize>(text: &[u8]) -> impl Iterator<Item = u64> {
    text.array_windows::<WIDTH>().map(|octets| {
        let mut number = [0; 8];
        number[..WIDTH].copy_from_slice(octets);
        u64::from_le_bytes(number)
    })
}

/// Knuth's multiplicative hash; its upper bits are the good ones.
fn hash(window: u64) -> u64 {
    window.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The set of octets in `text`, which is ASCII.
fn octets_of(text: &[u8]) -> u128 {
    text.iter().fold(0, |set, octet| set | 1 << (octet & 127))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(patterns: &[String]) -> Windows {
        let compiled = patterns.iter().map(|pattern| Pattern::compile(pattern.as_bytes()));
        Windows::new((0..).zip(compiled).collect())
    }

    #[test]
    fn ours_the_best_of_any_number_of_windows_is_found() {
        for suffix in ["", "-x", "-wide-window"] {
            let patterns: Vec<_> = (0..3000)
                .map(|n| format!("/*{n:03}{}", suffix.get(..n % 13).unwrap_or(suffix)))
                .collect();
            let index = index(&patterns);
            for path in
                ["/0007-", "/a2999-x", "/2998-x-0003-0002-wide-window", "/x", "/", "/12345-w"]
            {
                let matches = |pattern: &String| {
                    Pattern::compile(pattern.as_bytes()).matches(path.as_bytes())
                };
                let expected = patterns.iter().position(matches);
                let expected = expected.map_or(u32::MAX, |rank| rank as u32);
                assert_eq!(index.best(path.as_bytes(), u32::MAX), expected, "{path}");
            }
            let better = index.best(b"/a299-wide-window", u32::MAX);
            assert_eq!(index.best(b"/a299-wide-window", better), better, "none that couldn't win");
        }
    }

    #[test]
    fn ours_rules_are_filed_under_their_rarest_window() {
        let patterns =
            ["/*?", "*/x*", "/*abc", "/a*/long-literal", "/b*/long-literal/c$", "/*wxyz"];
        let index = index(&patterns.map(str::to_owned));
        let filed = |width: usize| index.tables[width].slots.len();
        assert_eq!((index.always, filed(0), filed(1), filed(2)), (2, 2, 1, 1));
        for (path, rank) in [
            ("/a?b", 0),
            ("/x/x", 1),
            ("/abc", 2),
            ("/a/long-literal", 3),
            ("/b/long-literal/c", 4),
            ("/vwxyz", 5),
            ("/", u32::MAX),
        ] {
            assert_eq!(index.best(path.as_bytes(), u32::MAX), rank, "{path}");
        }
    }

    #[test]
    fn ours_a_window_is_new_once() {
        for count in [1, SEEN, SEEN + 1, 3 * SEEN] {
            let mut seen = Seen::new();
            assert!(seen.insert(count - 1, count) && !seen.insert(count - 1, count));
        }
    }
}
