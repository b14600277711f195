//! The rules with wildcards, indexed by consecutive octets of the paths that they match.
//!
//! A path that a rule matches contains every literal of the rule, and so every *window* of a few
//! consecutive octets of it. Each rule is indexed by one window: the rarest among the rules of its
//! set, and of equally rare ones the widest. A search reads each window of the path, once for each
//! width, and finds the rules with that window: few, however many rules there are. Rules whose
//! literals are shorter than any window (`/*?`) are always tried. If there are several candidates,
//! each is first compared with the set of octets in the path.
//!
//! The rules of a window are tried best first, and only those that could beat the best so far. Each
//! is matched at most once for a path, however often its window occurs. So the time is linear in
//! the path, and at worst once more for each rule whose window the path contains.

use std::{cmp::Reverse, collections::HashMap};

use super::pattern::Pattern;

/// The widths of windows, in octets. Wide windows are rare in paths; short literals have only short
/// ones. A path is read once for each width that a file needs.
const WIDTHS: [usize; 3] = [8, 4, 3];

/// How many windows a search can mark without allocating.
const SEEN: usize = 32 * 64;

/// A set of patterns with wildcards, each with the rank of its rule; a lower rank is better.
#[derive(Debug)]
pub(super) struct Windows {
    /// The rules that are always tried, then those of each window; by rank within each.
    wild: Vec<Wild>,
    /// How many rules are always tried.
    always: usize,
    /// One for each of [`WIDTHS`].
    tables: [Table; WIDTHS.len()],
    /// How many windows there are in all tables.
    count: usize,
}

#[derive(Debug)]
struct Wild {
    rank: u32,
    /// The octets that a matching path contains, a bit each.
    octets: u128,
    pattern: Pattern,
}

/// The windows of one width.
#[derive(Debug, Default)]
struct Table {
    /// Sorted by window, so that a look-up is bounded whatever windows a file has.
    slots: Vec<Slot>,
    /// A bit for each hash of a window, which rejects most other windows at once.
    filter: Vec<u64>,
    /// How far a hash is shifted to get the number of its bit.
    shift: u32,
}

#[derive(Debug)]
struct Slot {
    octets: u64,
    /// The number of the window among those of all tables.
    number: usize,
    /// The first of its rules in `wild`.
    start: u32,
    /// The end of its rules in `wild`.
    end: u32,
}

/// Consecutive octets of a literal. Ordered by width, the widest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Window {
    /// The place of the width in [`WIDTHS`].
    width: usize,
    octets: u64,
}

impl Windows {
    pub(super) fn new(patterns: Vec<(u32, Pattern)>) -> Self {
        let mut counts: HashMap<Window, u32> = HashMap::new();
        for window in patterns.iter().flat_map(|(_, pattern)| windows_of(pattern)) {
            *counts.entry(window).or_default() += 1;
        }
        let rarest = |pattern: &Pattern| {
            // The one of the fewest rules, of these the widest, and of these the last: the end of a path
            // is more specific than its beginning.
            let rarity = |(place, window): &(usize, Window)| {
                (counts.get(window).copied(), window.width, Reverse(*place))
            };
            Some(windows_of(pattern).enumerate().min_by_key(rarity)?.1)
        };
        let mut rows: Vec<_> = patterns
            .into_iter()
            .map(|(rank, pattern)| (rarest(&pattern), Wild::new(rank, pattern)))
            .collect();
        rows.sort_by_key(|(window, wild)| (*window, wild.rank));
        let always = rows.partition_point(|(window, _)| window.is_none());
        let mut tables: [Table; WIDTHS.len()] = Default::default();
        let mut count = 0;
        for (at, (window, _)) in (0..u32::MAX).zip(&rows) {
            let Some(Window { width, octets }) = *window else { continue };
            let slots = &mut tables[width].slots;
            match slots.last_mut() {
                Some(slot) if slot.octets == octets => slot.end = at + 1,
                _ => {
                    slots.push(Slot { octets, number: count, start: at, end: at + 1 });
                    count += 1;
                }
            }
        }
        tables.iter_mut().for_each(Table::make_filter);
        let wild = rows.into_iter().map(|(_, wild)| wild).collect();
        Self { wild, always, tables, count }
    }

    /// The rank of the best rule that matches `path`, if it is better than `best`; else `best`.
    pub(super) fn best(&self, path: &[u8], best: u32) -> u32 {
        let [wide, middle, narrow] = &self.tables;
        let mut search = Search { index: self, path, best, octets: None, seen: Seen::new() };
        search.read::<{ WIDTHS[0] }>(wide);
        search.read::<{ WIDTHS[1] }>(middle);
        search.read::<{ WIDTHS[2] }>(narrow);
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
    /// Fills the filter: at least sixteen bits for each window, and at least one word.
    fn make_filter(&mut self) {
        let bits = (self.slots.len() * 16).next_power_of_two().trailing_zeros().clamp(6, 31);
        self.shift = u64::BITS - bits;
        self.filter = vec![0; 1 << (bits - 6)];
        for slot in &self.slots {
            let bit = hash(slot.octets) >> self.shift;
            self.filter[(bit / 64) as usize] |= 1 << (bit % 64);
        }
    }

    fn find(&self, octets: u64) -> Option<&Slot> {
        let bit = hash(octets) >> self.shift;
        let word = self.filter.get((bit / 64) as usize)?;
        if word & (1 << (bit % 64)) == 0 {
            return None;
        }
        let at = self.slots.binary_search_by_key(&octets, |slot| slot.octets).ok()?;
        self.slots.get(at)
    }
}

/// The search for the best rule for one path.
struct Search<'a> {
    index: &'a Windows,
    path: &'a [u8],
    best: u32,
    /// The set of octets in the path, once it is needed.
    octets: Option<u128>,
    /// The windows whose rules were tried.
    seen: Seen,
}

impl Search<'_> {
    /// Tries the rules of each window of the path that the table has.
    fn read<const WIDTH: usize>(&mut self, table: &Table) {
        if table.slots.is_empty() {
            return;
        }
        for octets in windows::<WIDTH>(self.path) {
            if let Some(slot) = table.find(octets)
                && self.seen.insert(slot.number, self.index.count)
            {
                let wild = self.index.wild.get(slot.start as usize..slot.end as usize);
                self.try_all(wild.unwrap_or_default());
            }
        }
    }

    /// Tries these rules, which are in order of rank.
    fn try_all(&mut self, wild: &[Wild]) {
        let Some(first) = wild.first().filter(|first| first.rank < self.best) else { return };
        // Matching a single rule takes no longer than collecting the octets.
        let octets = match wild {
            [_] => first.octets,
            _ => *self.octets.get_or_insert_with(|| octets_of(self.path)),
        };
        let tried = wild.iter().take_while(|wild| wild.rank < self.best);
        let found = { tried }
            .find(|wild| wild.octets & !octets == 0 && wild.pattern.matches(self.path))
            .map(|wild| wild.rank);
        self.best = found.unwrap_or(self.best);
    }
}

/// The windows of a path so far, by number.
struct Seen {
    few: [u64; SEEN / 64],
    many: Vec<u64>,
}

impl Seen {
    fn new() -> Self {
        Self { few: [0; SEEN / 64], many: Vec::new() }
    }

    /// Adds `number`, one of `count`. Returns whether it is new.
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
fn windows_of(pattern: &Pattern) -> impl Iterator<Item = Window> {
    pattern.literals().flat_map(|literal| {
        let wide = windows::<{ WIDTHS[0] }>(literal).map(|octets| Window { width: 0, octets });
        let middle = windows::<{ WIDTHS[1] }>(literal).map(|octets| Window { width: 1, octets });
        let narrow = windows::<{ WIDTHS[2] }>(literal).map(|octets| Window { width: 2, octets });
        wide.chain(middle).chain(narrow)
    })
}

/// Each `WIDTH` consecutive octets, at most eight, as a number.
fn windows<const WIDTH: usize>(text: &[u8]) -> impl Iterator<Item = u64> {
    text.array_windows::<WIDTH>().map(|octets| {
        let mut number = [0; 8];
        number[..WIDTH].copy_from_slice(octets);
        u64::from_le_bytes(number)
    })
}

/// Knuth's multiplicative hash. Its upper bits are the well-mixed ones.
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
    fn the_best_rule_of_any_number_of_windows_is_found() {
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
    fn rules_are_indexed_by_their_rarest_window() {
        let patterns =
            ["/*?", "*/x*", "/*abc", "/a*/long-literal", "/b*/long-literal/c$", "/*wxyz"];
        let index = index(&patterns.map(str::to_owned));
        let slots = |width: usize| index.tables[width].slots.len();
        assert_eq!((index.always, slots(0), slots(1), slots(2)), (2, 2, 1, 1));
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
    fn windows_spread_over_the_filter() {
        let patterns: Vec<_> = (0..3000).map(|number| format!("/*/{number:06}")).collect();
        for table in index(&patterns).tables.iter().filter(|table| !table.slots.is_empty()) {
            let bits: u32 = table.filter.iter().map(|word| word.count_ones()).sum();
            assert!(bits as usize > table.slots.len() / 2, "{bits} for {}", table.slots.len());
        }
    }

    #[test]
    fn a_window_is_new_once() {
        for count in [1, SEEN, SEEN + 1, 3 * SEEN] {
            let mut seen = Seen::new();
            assert!(seen.insert(count - 1, count) && !seen.insert(count - 1, count));
        }
    }
}
