//! The pairs of rules that decide under two sets of rules, exactly.
//!
//! Both sets read a path together, octet by octet. A *state* has the places that the path so far
//! reaches in the patterns, and the best rule of each set that matches whatever follows. Paths that
//! lead to the same state have the same future, so each state is read once, and the shortest path to
//! it is known. Rules that a better one already overrules are left out of a state. Where both sets
//! have the same future, the search ends.
//!
//! Only paths in normal form are read (`normal`): any other is judged as the normal one.
//!
//! The number of states is that of the octets in literal patterns. With many patterns that begin with
//! a star, it can grow without bound, so a search has a limit of work.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
};

use crate::formats::robots::{Access, Directive, Pattern, Rule, Symbol, is_decoded};

/// The rank of no rule: worse than any other.
const NONE: u32 = u32::MAX;

/// Octets that stand for all that no pattern reads next, the plainest first.
const OTHERS: &[u8] =
    b"xyzabcdefghijklmnopqrstuvwXYZABCDEFGHIJKLMNOPQRSTUVW0123456789_-~.,;:@!()'+/=&?[]*$";
const HEX: &[u8] = b"0123456789ABCDEFabcdef";

/// The paths for which the same two rules decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Region<'r> {
    /// The rule of the first set; `None` if no rule matches.
    pub(super) before: Option<&'r Rule>,
    pub(super) after: Option<&'r Rule>,
    /// The shortest of these paths, with its query, in printable ASCII.
    pub path: String,
}

impl<'r> Region<'r> {
    /// The pattern of the more specific of the two rules, of equal ones that of the second.
    pub(super) fn pattern(&self) -> &'r str {
        let length = |rule: &Rule| Pattern::compile(rule.pattern.as_bytes()).specificity();
        let pattern = |rule: &'r Rule| rule.pattern.as_str();
        match (self.before, self.after) {
            (Some(before), Some(after)) if length(before) > length(after) => pattern(before),
            (_, Some(after)) => pattern(after),
            (before, None) => before.map_or("", pattern),
        }
    }
}

pub(super) fn access(rule: Option<&Rule>) -> Access {
    match rule.map(|rule| rule.directive) {
        Some(Directive::Disallow) => Access::Disallow,
        Some(Directive::Allow) | None => Access::Allow,
    }
}

/// All regions that the two sets judge differently, the one with the shortest path first. `None` if
/// the search takes more than `work` steps, which are taken from it.
pub(super) fn regions<'r>(sets: [Vec<&'r Rule>; 2], work: &mut usize) -> Option<Vec<Region<'r>>> {
    let machine = Machine::new(sets);
    let mut found: BTreeMap<[u32; 2], usize> = BTreeMap::new();
    let states = machine.explore(true, work, |best, state| {
        if machine.access(0, best) != machine.access(1, best) {
            found.entry(best).or_insert(state);
        }
        true
    })?;
    let mut found: Vec<_> = found.into_iter().map(|(best, state)| (state, best)).collect();
    found.sort_unstable();
    let region = |(state, best): (usize, [u32; 2])| Region {
        before: machine.rule(0, best),
        after: machine.rule(1, best),
        path: states.path(state),
    };
    Some(found.into_iter().map(region).collect())
}

/// Whether both sets disallow a path. `None` if the search takes too many steps.
pub(super) fn both_disallow(sets: [Vec<&Rule>; 2], work: &mut usize) -> Option<bool> {
    let machine = Machine::new(sets);
    let mut found = false;
    let is_closed = |side, best| machine.access(side, best) == Access::Disallow;
    machine.explore(false, work, |best, _| {
        found |= is_closed(0, best) && is_closed(1, best);
        !found
    })?;
    Some(found)
}

struct Machine<'r> {
    /// The symbols of all patterns, one pattern behind the other.
    symbols: Vec<Symbol>,
    owners: Vec<u32>,
    starts: Vec<u32>,
    /// The ranks of each pattern's rule in the two sets. The lower decides.
    ranks: Vec<[u32; 2]>,
    /// The rules of the two sets by rank. The first two are robots.txt itself, always allowed.
    rules: [Vec<Option<&'r Rule>>; 2],
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    /// The ranks of the best rules that match whatever follows.
    best: [u32; 2],
    /// The places in the patterns, ascending.
    places: Box<[u32]>,
    escape: Escape,
}

/// Whether the last octets begin a percent-encoded octet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Escape {
    None,
    /// `%`.
    Percent,
    /// `%` and a digit with this value.
    Digit(u8),
    /// `%` and a digit in lower case, which no normal form has before another.
    LowerDigit,
}

/// The states in the order of their shortest paths, each with the one before it and the last octet.
struct States(Vec<(usize, u8)>);

impl States {
    fn path(&self, mut state: usize) -> String {
        let mut octets = Vec::new();
        while let Some((before, octet)) = self.0.get(state).filter(|_| state > 0) {
            octets.push(char::from(*octet));
            state = *before;
        }
        octets.into_iter().rev().collect()
    }
}

impl<'r> Machine<'r> {
    fn new(sets: [Vec<&'r Rule>; 2]) -> Self {
        let mut machine = Self {
            symbols: Vec::new(),
            owners: Vec::new(),
            starts: Vec::new(),
            ranks: Vec::new(),
            rules: [vec![None; 2], vec![None; 2]],
        };
        machine.add(&Pattern::compile(b"/robots.txt$"), [0, 0]);
        machine.add(&Pattern::compile(b"/robots.txt?"), [1, 1]);
        let mut known: HashMap<(Directive, u32, Vec<Symbol>), usize> = HashMap::new();
        for (side, rules) in sets.into_iter().enumerate() {
            let is_some = |rule: &&Rule| !rule.pattern.is_empty();
            let compiled = rules.into_iter().filter(is_some);
            let mut compiled: Vec<_> =
                compiled.map(|rule| (rule, Pattern::compile(rule.pattern.as_bytes()))).collect();
            compiled.sort_by_key(|(rule, pattern)| {
                (Reverse(pattern.specificity()), rule.directive, rule.line)
            });
            for (rule, pattern) in compiled {
                let rank = u32::try_from(machine.rules[side].len()).unwrap_or(NONE - 1);
                machine.rules[side].push(Some(rule));
                let key = (rule.directive, pattern.specificity(), pattern.symbols());
                let place = *known.entry(key).or_insert_with(|| {
                    machine.add(&pattern, [NONE; 2]);
                    machine.ranks.len() - 1
                });
                if let Some(ranks) = machine.ranks.get_mut(place) {
                    ranks[side] = ranks[side].min(rank);
                }
            }
        }
        machine
    }

    fn add(&mut self, pattern: &Pattern, ranks: [u32; 2]) {
        let owner = self.ranks.len() as u32;
        self.starts.push(self.symbols.len() as u32);
        self.symbols.extend(pattern.symbols());
        self.owners.resize(self.symbols.len(), owner);
        self.ranks.push(ranks);
    }

    fn rule(&self, side: usize, best: [u32; 2]) -> Option<&'r Rule> {
        self.rules.get(side)?.get(*best.get(side)? as usize).copied().flatten()
    }

    fn access(&self, side: usize, best: [u32; 2]) -> Access {
        access(self.rule(side, best))
    }

    fn symbol(&self, place: u32) -> Symbol {
        self.symbols.get(place as usize).copied().unwrap_or(Symbol::End)
    }

    fn owner(&self, place: u32) -> u32 {
        self.owners.get(place as usize).copied().unwrap_or(0)
    }

    fn ranks(&self, place: u32) -> [u32; 2] {
        self.ranks.get(self.owner(place) as usize).copied().unwrap_or([NONE; 2])
    }

    /// Reads all paths. `visit` gets the ranks of the deciding rules for the path that ends at each
    /// state, and says whether to go on. With `skips_equal`, paths are left out from the point where
    /// both sets have the same future.
    fn explore(
        &self,
        skips_equal: bool,
        work: &mut usize,
        mut visit: impl FnMut([u32; 2], usize) -> bool,
    ) -> Option<States> {
        let empty = State { best: [NONE; 2], places: Box::default(), escape: Escape::None };
        let entered = self.starts.iter().copied();
        let begin = self.enter(&empty.best, entered, Escape::None);
        let (mut states, mut waiting) = (States(vec![(0, 0)]), vec![begin.clone()]);
        let mut known = HashMap::from([(begin, 0)]);
        let mut at = 0;
        while let Some(state) = waiting.get(at).cloned() {
            if at > 0 && !visit(self.decided(&state), at) {
                break;
            }
            if state.places.is_empty() || (at > 0 && skips_equal && self.is_equal(&state)) {
                at += 1;
                continue;
            }
            for (octet, next) in self.next(&state, at == 0, work)? {
                known.entry(next).or_insert_with_key(|next| {
                    states.0.push((at, octet));
                    waiting.push(next.clone());
                    waiting.len() - 1
                });
            }
            at += 1;
        }
        Some(states)
    }

    /// The rules that decide about a path that ends here.
    fn decided(&self, state: &State) -> [u32; 2] {
        let ends = state.places.iter().filter(|&&place| self.symbol(place) == Symbol::End);
        ends.fold(state.best, |best, &place| lower(best, self.ranks(place)))
    }

    /// Whether both sets judge each path from here alike.
    fn is_equal(&self, state: &State) -> bool {
        let [before, after] = state.best;
        self.access(0, state.best) == self.access(1, state.best)
            && state.places.iter().all(|&place| {
                let [first, second] = self.ranks(place);
                (first < before) == (second < after)
            })
    }

    /// The states that one more octet leads to. A path begins with a slash.
    fn next(&self, state: &State, is_begin: bool, work: &mut usize) -> Option<Vec<(u8, State)>> {
        let mut stay = Vec::new();
        let mut moves: BTreeMap<u8, Vec<u32>> = BTreeMap::new();
        for &place in &state.places {
            match self.symbol(place) {
                Symbol::Octet(octet) => moves.entry(octet).or_default().push(place + 1),
                Symbol::Any => stay.push(place),
                Symbol::End | Symbol::Open => {}
            }
        }
        if is_begin {
            moves.retain(|&octet, _| octet == b'/');
            moves.entry(b'/').or_default();
        } else if state.escape != Escape::None {
            for &digit in HEX {
                moves.entry(digit).or_default();
            }
        }
        let other = OTHERS.iter().find(|octet| !is_begin && !moves.contains_key(octet));
        let other = other.map(|&octet| (octet, Vec::new()));
        let mut next = Vec::with_capacity(moves.len() + 1);
        for (octet, moved) in other.into_iter().chain(moves) {
            *work = work.checked_sub(1 + stay.len() + moved.len())?;
            let Some(escape) = state.escape.after(octet) else { continue };
            let entered = stay.iter().copied().chain(moved);
            next.push((octet, self.enter(&state.best, entered, escape)));
        }
        Some(next)
    }

    fn enter(&self, best: &[u32; 2], entered: impl Iterator<Item = u32>, escape: Escape) -> State {
        let (mut best, mut places) = (*best, Vec::new());
        for place in entered {
            match self.symbol(place) {
                Symbol::Open => best = lower(best, self.ranks(place)),
                Symbol::Any => places.extend([place, place + 1]),
                Symbol::Octet(_) | Symbol::End => places.push(place),
            }
        }
        places.retain(|&place| {
            let [before, after] = self.ranks(place);
            before < best[0] || after < best[1]
        });
        places.sort_unstable();
        places.dedup();
        // Behind a star, the places before it add nothing: the star reads whatever they read.
        let mut star = None;
        let mut kept: Vec<u32> = Vec::with_capacity(places.len());
        for &place in places.iter().rev() {
            let owner = self.owner(place);
            if star == Some(owner) {
                continue;
            }
            if self.symbol(place) == Symbol::Any {
                star = Some(owner);
            }
            kept.push(place);
        }
        kept.reverse();
        State { best, places: kept.into(), escape }
    }
}

impl Escape {
    /// The same after one more octet; `None` if no normal form has it there.
    fn after(self, octet: u8) -> Option<Self> {
        let digit = char::from(octet).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        match (self, digit) {
            _ if octet == b'%' => Some(Self::Percent),
            (Self::None, _) | (_, None) => Some(Self::None),
            (Self::Percent, Some(_)) if octet.is_ascii_lowercase() => Some(Self::LowerDigit),
            (Self::Percent, Some(digit)) => Some(Self::Digit(digit)),
            (Self::LowerDigit, Some(_)) => None,
            (Self::Digit(high), Some(low)) => {
                let is_normal = !octet.is_ascii_lowercase() && !is_decoded(high << 4 | low);
                is_normal.then_some(Self::None)
            }
        }
    }
}

fn lower(a: [u32; 2], b: [u32; 2]) -> [u32; 2] {
    [a[0].min(b[0]), a[1].min(b[1])]
}
