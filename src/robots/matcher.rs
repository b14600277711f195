//! The file compiled for judging: crawler, group, rule, verdict (§2.2.1, §2.2.2).
//!
//! **Group.** All groups that name the crawler's product token are one ([`Matcher::group`]); `name`
//! says when a line names it. Where none does, the groups for `*` apply, merged as well
//! ([`Matcher::star`]); where there is none either, everything is allowed. A group that names the
//! crawler replaces those for `*` even if it has no rules.
//!
//! **Rule.** Of the rules that match, the one with the most octets decides; of equally long ones
//! an allow rule; of equal ones the first in the file. No match allows, and so does an empty
//! pattern. `/robots.txt` is always allowed, whatever its query.
//!
//! **Form.** A [`Target`] is judged by its letter; if that is allowed, then by each form that an
//! origin may see, and one that is disallowed decides.
//!
//! **How.** Groups with the same names are compiled as one set of rules, ordered by precedence, so
//! that a rule's rank says which of two decides. A small set is tried in this order, most rules
//! being ruled out by the first octets alone; the first match is the answer. In a large set the
//! rules that their prefix decides are a tree (`trie`), and the others are filed under octets that
//! their paths must hold (`windows`). A verdict takes no lock and, as a rule, allocates nothing.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use super::{
    Directive, RobotsTxt, Rule,
    filed::{Filed, Key},
    name,
    pace::PaceRecord,
    path::{Target, is_robots_txt},
    pattern::{Pattern, Shape},
    trie::{self, Literal, Trie},
    windows::Windows,
};

/// Up to this many rules are tried one after the other.
const FEW: usize = 32;

/// A robots.txt compiled for judging. Immutable; share it behind an `Arc`.
#[derive(Debug)]
pub struct Matcher {
    sets: Vec<RuleSet>,
    /// For each scope the sets that it is made of, in the order of the file.
    scopes: Vec<Vec<usize>>,
    names: Filed<Scope>,
    star: Option<Scope>,
}

/// The merged groups that a crawler obeys: a small number that is good for one [`Matcher`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scope(u32);

/// Whether a path may be crawled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// It may.
    Allow,
    /// It must not.
    Disallow,
}

impl Access {
    /// The word in records: `allow` or `disallow`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Disallow => "disallow",
        }
    }
}

/// Which form of a path decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// The path as it was sent, as RFC 9309 reads it.
    Letter,
    /// What an origin may make of it; by its letter the path is allowed.
    Evasion,
}

/// The answer, and what gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict<'a> {
    /// The answer.
    pub access: Access,
    /// The rule that decided; `None` where no rule matches.
    pub rule: Option<&'a Rule>,
    /// The form that was disallowed, or the letter.
    pub form: Form,
}

/// A rule that matches a path, and how specific it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match<'a> {
    /// The rule.
    pub rule: &'a Rule,
    /// The octets of its pattern ([`Pattern::specificity`]).
    pub specificity: u32,
}

/// A verdict with what a reader wants to know about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation<'a> {
    /// The verdict.
    pub verdict: Verdict<'a>,
    /// The form of the path that it is about, in normal form.
    pub path: Vec<u8>,
    /// All rules that match that form, the deciding one first, then the runner-up.
    pub matches: Vec<Match<'a>>,
}

impl<'a> Explanation<'a> {
    /// The rule that would decide if the one that does weren't there.
    pub fn runner_up(&self) -> Option<Match<'a>> {
        self.matches.get(1).copied()
    }
}

impl Scope {
    pub(super) const fn number(self) -> usize {
        self.0 as usize
    }
}

impl Matcher {
    /// Compiles `robots`. To judge by what was published, and to have its line numbers, compile
    /// what [`super::parse`] reads back from the published bytes.
    pub fn new(robots: &RobotsTxt) -> Self {
        // Groups with the same names are one set. Merging by name alone would copy the rules of a
        // group for each of its names, which a hostile file could drive to any size.
        let mut members: BTreeMap<Vec<String>, Vec<usize>> = BTreeMap::new();
        for (number, group) in robots.groups.iter().enumerate() {
            let lower = |name: &str| {
                if name::is_star(name) { "*".into() } else { name.to_ascii_lowercase() }
            };
            let mut names: Vec<_> = group
                .user_agents
                .iter()
                .map(|ua| lower(ua.name.trim_matches(name::SPACE)))
                .collect();
            names.sort_unstable();
            names.dedup();
            members.entry(names).or_default().push(number);
        }
        let mut members: Vec<_> = members.into_values().collect();
        members.sort_unstable();
        let sets: Vec<_> = members.iter().map(|groups| RuleSet::new(robots, groups)).collect();

        let mut star = Vec::new();
        let mut named: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
        for (number, set) in sets.iter().enumerate() {
            for token in &set.tokens {
                if name::is_star(token) {
                    push_new(&mut star, number);
                }
                for (form, name) in name::forms(token).into_iter().enumerate() {
                    if let Some(name) = name {
                        let key = (form, name.to_ascii_lowercase().into());
                        push_new(named.entry(key).or_default(), number);
                    }
                }
            }
        }
        let mut scopes = Vec::new();
        let star = (!star.is_empty()).then(|| add_scope(&mut scopes, star));
        let names = named.into_iter().map(|(key, sets)| (key, add_scope(&mut scopes, sets)));
        let names = Filed::new(names.collect());
        Self { sets, scopes, names, star }
    }

    /// The groups that name the crawler `name`: a product token, in any case, which may carry a
    /// version or a remark as user-agent lines do. Never those for `*`.
    pub fn group(&self, name: &str) -> Option<Scope> {
        self.names.find(name).next().copied()
    }

    /// Every group, merged by name as crawlers merge them.
    pub fn scopes(&self) -> impl Iterator<Item = Scope> + '_ {
        self.names.iter().map(|(_, scope)| *scope).chain(self.star)
    }

    /// The groups for `*`.
    pub fn star(&self) -> Option<Scope> {
        self.star
    }

    /// The names in the user-agent lines of the groups, as written, each once.
    pub fn tokens(&self, scope: Scope) -> Vec<&str> {
        let mut sets = self.sets_of(scope);
        if let (Some(only), None) = (sets.next(), sets.next()) {
            // The usual case; a set has each name once.
            return only.tokens.iter().map(|token| &**token).collect();
        }
        let mut known = BTreeSet::new();
        let tokens = self.sets_of(scope).flat_map(|set| &set.tokens).map(|token| &**token);
        tokens.filter(|token| known.insert(token.to_ascii_lowercase())).collect()
    }

    /// The record that asks for the strictest pace at a minute of the day (UTC, 0 to 1439).
    pub fn pace(&self, scope: Scope, minute_of_day: u16) -> Option<&PaceRecord> {
        PaceRecord::strictest(self.sets_of(scope).flat_map(|set| &set.paces), minute_of_day)
    }

    /// Judges `target` in all its forms: the letter, and if that is allowed, what an origin may
    /// see. The strictest counts.
    pub fn verdict(&self, scope: Scope, target: &Target<'_>) -> Verdict<'_> {
        let letter = self.verdict_letter(scope, target);
        if letter.access == Access::Disallow || target.is_robots_txt() {
            return letter;
        }
        target
            .evasions()
            .map(|form| self.judge(scope, form, Form::Evasion))
            .find(|verdict| verdict.access == Access::Disallow)
            .unwrap_or(letter)
    }

    /// Judges `target` by its letter alone, as RFC 9309 has it.
    pub fn verdict_letter(&self, scope: Scope, target: &Target<'_>) -> Verdict<'_> {
        self.judge(scope, target.letter(), Form::Letter)
    }

    /// The verdict with every rule that matches. Looks at each rule of the groups: not for the
    /// request path.
    pub fn explain(&self, scope: Scope, target: &Target<'_>) -> Explanation<'_> {
        let verdict = self.verdict(scope, target);
        let evasion = || {
            target
                .evasions()
                .find(|form| self.judge(scope, form, Form::Evasion).access == Access::Disallow)
        };
        let path = match verdict.form {
            Form::Letter => target.letter(),
            Form::Evasion => evasion().unwrap_or_else(|| target.letter()),
        };
        let mut matches: Vec<_> = match is_robots_txt(path) {
            true => Vec::new(),
            false => self.sets_of(scope).flat_map(|set| set.matches(path)).collect(),
        };
        matches.sort_by_key(|found| precedence(found.rule, found.specificity));
        Explanation { verdict, path: path.to_vec(), matches }
    }

    fn judge(&self, scope: Scope, path: &[u8], form: Form) -> Verdict<'_> {
        let rule = match is_robots_txt(path) {
            true => None,
            false => self
                .sets_of(scope)
                .filter_map(|set| set.best(path))
                .min_by_key(|ranked| precedence(&ranked.rule, ranked.specificity))
                .map(|ranked| &ranked.rule),
        };
        let access = match rule.map(|rule| rule.directive) {
            Some(Directive::Disallow) => Access::Disallow,
            Some(Directive::Allow) | None => Access::Allow,
        };
        Verdict { access, rule, form }
    }

    /// The names of all groups but those for `*`: by which form they count, lower case, whom they
    /// bind.
    pub(super) fn names(&self) -> impl Iterator<Item = (&Key, Scope)> {
        self.names.iter().map(|(key, scope)| (key, *scope))
    }

    /// One more than the greatest number of a scope.
    pub(super) fn scope_count(&self) -> usize {
        self.scopes.len()
    }

    /// The sets that a scope is made of, by number.
    pub(super) fn sets(&self, scope: Scope) -> &[usize] {
        self.scopes.get(scope.number()).map(Vec::as_slice).unwrap_or_default()
    }

    /// The rules of a scope.
    pub(super) fn rules(&self, scope: Scope) -> impl Iterator<Item = &Rule> {
        self.sets_of(scope).flat_map(|set| &set.rules).map(|ranked| &ranked.rule)
    }

    fn sets_of(&self, scope: Scope) -> impl Iterator<Item = &RuleSet> {
        self.sets(scope).iter().filter_map(|&set| self.sets.get(set))
    }
}

/// Whether the rules for `*` leave neither the first page open nor one that no rule speaks of.
pub fn closes_everything(robots: &RobotsTxt) -> bool {
    let matcher = Matcher::new(robots);
    matcher.star().is_some_and(|star| {
        [&b"/"[..], b"/some-page-or-other"].into_iter().all(|path| {
            let verdict = matcher.verdict_letter(star, &Target::new(path));
            verdict.access == Access::Disallow
        })
    })
}

/// The rules of groups that have the same names.
#[derive(Debug)]
struct RuleSet {
    tokens: Vec<Box<str>>,
    /// By precedence: a rule's place here is its rank.
    rules: Vec<Ranked>,
    paces: Vec<PaceRecord>,
    search: Search,
}

#[derive(Debug)]
struct Ranked {
    rule: Rule,
    specificity: u32,
}

#[derive(Debug)]
enum Search {
    /// Each rule in the order of rank.
    Each(Vec<Candidate>),
    /// By what the path begins with, and by what it holds.
    Index(Box<(Trie, Windows)>),
}

/// A rule as it is tried one by one.
#[derive(Debug)]
struct Candidate {
    /// The first octets that the path must begin with, and which bits of them count.
    head: u64,
    mask: u64,
    pattern: Pattern,
}

impl RuleSet {
    fn new(robots: &RobotsTxt, groups: &[usize]) -> Self {
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
        compiled.sort_by_key(|(rule, pattern)| {
            let (specificity, directive, _) = precedence(rule, pattern.specificity());
            (specificity, directive)
        });
        let rules = compiled
            .iter()
            .map(|(rule, pattern)| Ranked {
                rule: (*rule).clone(),
                specificity: pattern.specificity(),
            })
            .collect();
        let search = Search::new(compiled.into_iter().map(|(_, pattern)| pattern).collect());
        let paces = PaceRecord::that_matter(groups().flat_map(|group| &group.records));
        Self { tokens, rules, paces, search }
    }

    fn best(&self, path: &[u8]) -> Option<&Ranked> {
        let rank = match &self.search {
            Search::Each(candidates) => {
                let head = head(path);
                candidates.iter().position(|candidate| {
                    (head ^ candidate.head) & candidate.mask == 0 && candidate.pattern.matches(path)
                })?
            }
            Search::Index(index) => {
                let (trie, windows) = &**index;
                windows.best(path, trie.best(path)) as usize
            }
        };
        // The rank of no rule lies behind the end.
        self.rules.get(rank)
    }

    fn matches(&self, path: &[u8]) -> impl Iterator<Item = Match<'_>> {
        self.rules
            .iter()
            .filter(move |ranked| Pattern::compile(ranked.rule.pattern.as_bytes()).matches(path))
            .map(|ranked| Match { rule: &ranked.rule, specificity: ranked.specificity })
    }
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
}

impl Candidate {
    fn new(pattern: Pattern) -> Self {
        let bits = 8 * pattern.prefix().len().min(8);
        let mask = u64::MAX.checked_shl(64 - bits as u32).unwrap_or(0);
        Self { head: head(pattern.prefix()), mask, pattern }
    }
}

/// The first eight octets as a number, zeros behind the end.
fn head(text: &[u8]) -> u64 {
    match text.first_chunk() {
        Some(octets) => u64::from_be_bytes(*octets),
        None => text
            .iter()
            .enumerate()
            .fold(0, |head, (at, &octet)| head | u64::from(octet) << (56 - 8 * at)),
    }
}

/// What decides between rules that match: the lesser does.
fn precedence(rule: &Rule, specificity: u32) -> (Reverse<u32>, bool, u32) {
    (Reverse(specificity), rule.directive == Directive::Disallow, rule.line)
}

fn add_scope(scopes: &mut Vec<Vec<usize>>, sets: Vec<usize>) -> Scope {
    scopes.push(sets);
    Scope(u32::try_from(scopes.len() - 1).expect("a robots.txt has less than 4 GiB of names"))
}

fn push_new(list: &mut Vec<usize>, number: usize) {
    if list.last() != Some(&number) {
        list.push(number);
    }
}
