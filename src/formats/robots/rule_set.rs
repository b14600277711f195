//! The rules of groups with the same names, compiled for one look-up (§2.2.2).
//!
//! Rules are ordered by precedence, so the place of a rule is its rank: of two rules the lower rank
//! decides. A small set tries its rules in this order, and most fail on their first octets. A large
//! set has a tree of the rules that their prefix decides (`trie`), and an index of the others by
//! octets in their paths (`windows`).

use std::{cmp::Reverse, collections::BTreeSet, sync::OnceLock};

use super::{
    evasion::{Of, View, mark_all},
    name,
    pace_record::{PaceRecord, UsageRecord},
    pattern::{Pattern, Shape},
    robots_txt::RobotsTxt,
    rule::{Directive, Match, Rule},
    trie::{self, Literal, Trie},
    windows::Windows,
};

/// The largest set whose rules are tried one by one.
const FEW: usize = 32;

/// The rules of groups with the same names.
#[derive(Debug)]
pub(super) struct RuleSet {
    /// The names as first written, each once.
    pub(super) tokens: Vec<Box<str>>,
    pub(super) rules: Vec<Ranked>,
    pub(super) paces: Vec<PaceRecord>,
    pub(super) usages: Vec<UsageRecord>,
    search: Search,
    /// The rules as they are compared with forms of other views, compiled when one is judged.
    views: [OnceLock<Part>; 5],
    /// Whether a disallow rule names the query.
    pub(super) names_query: bool,
    /// Whether an allow rule encodes what an origin may decode.
    pub(super) encodes: bool,
    /// These rules as they are when decoded and marked, and in lower case; by specificity as written.
    decoded: [OnceLock<Part>; 2],
}

/// Some of the rules of a set, each with a number of its own: its rank, or its specificity.
#[derive(Debug)]
struct Part {
    numbers: Vec<u32>,
    search: Search,
}

#[derive(Debug)]
pub(super) struct Ranked {
    pub(super) rule: Rule,
    pub(super) specificity: u32,
}

/// The order of rules that match; the least decides. §2.2.2: the most octets, of equally long rules
/// allow; of equal rules, the first in the file.
pub(super) type Precedence = (Weight, u32);

/// The weight of a rule, whatever its place in the file.
type Weight = (Reverse<u32>, Directive);

#[derive(Debug)]
enum Search {
    /// One by one, in order of rank.
    Each(Vec<Candidate>),
    /// By the octets that the path begins with, and by those that it contains.
    Index(Box<(Trie, Windows)>),
}

#[derive(Debug)]
struct Candidate {
    /// The first octets that a matching path has, as a number.
    head: u64,
    /// The bits of `head` that count.
    mask: u64,
    pattern: Pattern,
}

impl RuleSet {
    /// The set of these groups of `robots`, given by number.
    pub(super) fn new(robots: &RobotsTxt, groups: &[usize]) -> Self {
        let groups = || groups.iter().filter_map(|&group| robots.groups.get(group));
        let mut tokens: Vec<Box<str>> = Vec::new();
        let mut known = BTreeSet::new();
        for name in groups()
            .flat_map(|group| &group.user_agents)
            .map(|ua| ua.name.trim_matches(name::SPACE))
        {
            if known.insert(name.to_ascii_lowercase()) {
                tokens.push(name.into());
            }
        }
        let rules = groups().flat_map(|group| &group.rules).filter(|rule| !rule.pattern.is_empty());
        let mut compiled: Vec<_> =
            rules.map(|rule| (rule, Pattern::compile(rule.pattern.as_bytes()))).collect();
        // The sort is stable: of equal rules the first in the file comes first.
        compiled.sort_by_key(|(rule, pattern)| weight(rule, pattern.specificity()));
        let rules: Vec<_> = compiled
            .iter()
            .map(|(rule, pattern)| Ranked {
                rule: (*rule).clone(),
                specificity: pattern.specificity(),
            })
            .collect();
        let of_queries = View { of: Of::Queries, ..View::default() };
        let is_disallow = |ranked: &&Ranked| ranked.rule.directive == Directive::Disallow;
        let names_query = rules.iter().filter(is_disallow).any(|ranked| ranked.is_in(of_queries));
        let encodes = rules.iter().any(Ranked::encodes);
        let search = Search::new(compiled.into_iter().map(|(_, pattern)| pattern).collect());
        let records = || groups().flat_map(|group| &group.records);
        let paces = PaceRecord::candidates(records());
        let usages = records().filter_map(UsageRecord::of).collect();
        Self {
            tokens,
            rules,
            paces,
            usages,
            search,
            views: Default::default(),
            names_query,
            encodes,
            decoded: Default::default(),
        }
    }

    /// The rule that decides for `path`.
    #[inline]
    pub(super) fn best(&self, path: &[u8]) -> Option<&Ranked> {
        // The rank that stands for no rule is past the end.
        self.rules.get(self.search.best(path)?)
    }

    /// The rule that decides for a form with this view.
    pub(super) fn best_of(&self, view: View, path: &[u8]) -> Option<&Ranked> {
        let number = match (view.of, view.is_folded) {
            (Of::Paths, false) => return self.best(path),
            (Of::Paths, true) => 0,
            (Of::Queries, false) => 1,
            (Of::Queries, true) => 2,
            (Of::Names, false) => 3,
            (Of::Names, true) => 4,
        };
        let part = self.views.get(number)?.get_or_init(|| self.part(view));
        self.rules.get(part.best(path)? as usize)
    }

    /// The specificity of the allow rule that allows this marked form as what it itself encodes.
    pub(super) fn allows_decoded(&self, is_folded: bool, marked: &[u8]) -> Option<u32> {
        let decoded = self.decoded.get(usize::from(is_folded)).filter(|_| self.encodes)?;
        decoded.get_or_init(|| self.decoded(is_folded)).best(marked)
    }

    /// The disallow rule that decides before the others.
    pub(super) fn first_disallow(&self) -> Option<&Ranked> {
        self.rules.iter().find(|ranked| ranked.rule.directive == Directive::Disallow)
    }

    /// All rules that match a form with this view, by rank. Tries each rule, so it is not for the
    /// request path.
    pub(super) fn matches(&self, view: View, path: &[u8]) -> impl Iterator<Item = Match<'_>> {
        self.rules
            .iter()
            .filter(move |ranked| ranked.is_in(view) && ranked.pattern(view).matches(path))
            .map(|ranked| Match { rule: &ranked.rule, specificity: ranked.specificity })
    }

    fn part(&self, view: View) -> Part {
        let seen = (0..).zip(&self.rules).filter(|(_, ranked)| ranked.is_in(view));
        let (numbers, patterns) = seen.map(|(rank, ranked)| (rank, ranked.pattern(view))).unzip();
        Part { numbers, search: Search::new(patterns) }
    }

    fn decoded(&self, is_folded: bool) -> Part {
        let view = View { is_folded, ..View::default() };
        let encoding = self.rules.iter().filter(|ranked| ranked.encodes());
        let patterns: Vec<_> = encoding.map(|ranked| ranked.pattern(view).map(mark_all)).collect();
        let numbers = patterns.iter().map(Pattern::specificity).collect();
        Part { numbers, search: Search::new(patterns) }
    }
}

impl Ranked {
    /// The place of the rule among others that match.
    #[inline]
    pub(super) fn precedence(&self) -> Precedence {
        precedence(&self.rule, self.specificity)
    }

    /// Whether the rule is compared with forms of this view.
    fn is_in(&self, view: View) -> bool {
        let pattern = &self.rule.pattern;
        // Without a `?`, what stands before the `&`, `=` or `[` must be no path.
        let names_query = || {
            let delimiter = pattern.find(['&', '=', '[']).and_then(|at| pattern.get(1..at));
            pattern.contains('?') || delimiter.is_some_and(|before| !before.contains('/'))
        };
        match (self.rule.directive, view.of) {
            (Directive::Allow, _) | (_, Of::Paths) => true,
            (Directive::Disallow, Of::Queries) => names_query(),
            (Directive::Disallow, Of::Names) => names_query() && pattern.contains('_'),
        }
    }

    /// Whether the rule allows and encodes what an origin may decode.
    fn encodes(&self) -> bool {
        let pattern = self.rule.pattern.as_bytes();
        self.rule.directive == Directive::Allow
            && pattern.contains(&b'%')
            && mark_all(pattern) != pattern
    }

    fn pattern(&self, view: View) -> Pattern {
        match view.is_folded {
            true => Pattern::compile(self.rule.pattern.as_bytes()).map(<[u8]>::to_ascii_lowercase),
            false => Pattern::compile(self.rule.pattern.as_bytes()),
        }
    }
}

impl Part {
    /// The number of the rule that decides for `path`.
    fn best(&self, path: &[u8]) -> Option<u32> {
        self.numbers.get(self.search.best(path)?).copied()
    }
}

/// The weight of a rule whose pattern has this specificity.
const fn weight(rule: &Rule, specificity: u32) -> Weight {
    (Reverse(specificity), rule.directive)
}

pub(super) const fn precedence(rule: &Rule, specificity: u32) -> Precedence {
    (weight(rule, specificity), rule.line)
}

impl Search {
    /// The search among `patterns`, which are in order of rank.
    fn new(patterns: Vec<Pattern>) -> Self {
        if patterns.len() <= FEW {
            return Self::Each(patterns.into_iter().map(Candidate::new).collect());
        }
        let ranked = (0..trie::NONE).zip(&patterns);
        let literals =
            ranked.filter(|(_, pattern)| pattern.shape() != Shape::Wild).map(|(rank, pattern)| {
                Literal { octets: pattern.prefix(), exact: pattern.shape() == Shape::Exact, rank }
            });
        let trie = Trie::new(literals.collect());
        let ranked = (0..trie::NONE).zip(patterns);
        let wild = ranked.filter(|(_, pattern)| pattern.shape() == Shape::Wild);
        Self::Index(Box::new((trie, Windows::new(wild.collect()))))
    }

    /// The rank of the rule that decides, or one past the end.
    #[inline]
    fn best(&self, path: &[u8]) -> Option<usize> {
        match self {
            Self::Each(candidates) => {
                let head = head(path);
                candidates.iter().position(|candidate| {
                    (head ^ candidate.head) & candidate.mask == 0 && candidate.pattern.matches(path)
                })
            }
            Self::Index(index) => {
                let (trie, windows) = &**index;
                Some(windows.best(path, trie.best(path)) as usize)
            }
        }
    }
}

impl Candidate {
    fn new(pattern: Pattern) -> Self {
        let bits = 8 * pattern.prefix().len().min(8);
        let mask = u64::MAX.checked_shl(64 - bits as u32).unwrap_or(0);
        Self { head: head(pattern.prefix()), mask, pattern }
    }
}

/// The first eight octets as a number, padded with zeros.
fn head(text: &[u8]) -> u64 {
    match text.first_chunk() {
        Some(octets) => u64::from_be_bytes(*octets),
        None => text
            .iter()
            .enumerate()
            .fold(0, |head, (at, &octet)| head | u64::from(octet) << (56 - 8 * at)),
    }
}
