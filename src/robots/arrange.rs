//! A file in the arrangement that most parsers read as the RFC does, with the same verdicts.
//!
//! - Each name stands in one group. A crawler named in several groups gets the rules of all, as
//!   §2.2.1 merges them: many parsers read only one of the groups.
//! - No name comes before a longer one that contains it: many parsers take the first group whose
//!   name is a part of theirs. The group for `*` comes last. If the groups have no such order, a
//!   group is split in two, and nothing else is.
//! - The longest rule comes first, of equally long ones an allow rule: some parsers take the first
//!   rule that matches. Then the order is that of the file.
//! - Patterns are in normal form (§2.2.2), each once. An empty pattern is left out.
//!
//! A file that would be longer than crawlers have to read keeps its groups. So does the order of
//! more than [`MOST_NAMES`] names.

use std::{
    cmp::Reverse,
    collections::{BTreeSet, HashSet},
};

use super::{
    limits::LEAST_BYTES,
    merge::{Merged, Side, Source, joined},
    name, normal,
    pattern::Pattern,
    robots_txt::{Group, RobotsTxt, UserAgent},
};

/// The most names whose groups are ordered.
const MOST_NAMES: usize = 1_024;

/// The file in this arrangement, with the source of each rule: its group and its place in `file`.
pub fn arrange(file: &RobotsTxt) -> Merged {
    let joined = joined(file).unwrap_or_else(|_| {
        let source = |group| move |rule| Source { side: Side::Own, group, rule };
        let groups = file.groups.iter().enumerate();
        let sources = groups.map(|(at, group)| (0..group.rules.len()).map(source(at)).collect());
        Merged { sources: sources.collect(), file: file.clone() }
    });
    joined.arranged()
}

impl Merged {
    /// The merged file in this arrangement. Its names stand in one group each.
    #[must_use]
    pub fn arranged(self) -> Self {
        let Self { mut file, sources } = self;
        let groups = std::mem::take(&mut file.groups).into_iter().zip(sources);
        let groups: Vec<_> = groups.map(|(group, sources)| with_rules(group, sources)).collect();
        let of = |groups: Vec<(Group, Vec<Source>)>| {
            let (groups, sources) = groups.into_iter().unzip();
            Self { file: RobotsTxt { groups, ..file.clone() }, sources }
        };
        let ordered = of(Names::new(&groups).ordered(&groups));
        // Groups that are split may make the file too long.
        if ordered.file.to_string().len() > LEAST_BYTES { of(groups) } else { ordered }
    }
}

/// The group with its rules in order.
fn with_rules(mut group: Group, sources: Vec<Source>) -> (Group, Vec<Source>) {
    let mut known = HashSet::new();
    let rules = std::mem::take(&mut group.rules).into_iter().zip(sources);
    let rules = rules.filter(|(rule, _)| !rule.pattern.is_empty()).map(|(mut rule, source)| {
        rule.pattern = normal_text(&rule.pattern);
        let specificity = Pattern::compile(rule.pattern.as_bytes()).specificity();
        (Reverse(specificity), rule, source)
    });
    let mut rules: Vec<_> =
        rules.filter(|(_, rule, _)| known.insert((rule.directive, rule.pattern.clone()))).collect();
    rules.sort_by_key(|(specificity, rule, _)| (*specificity, rule.directive));
    let (rules, sources) = rules.into_iter().map(|(_, rule, source)| (rule, source)).unzip();
    group.rules = rules;
    (group, sources)
}

/// The pattern in normal form. A special character that stands for itself stays as it is written.
/// A pattern that would mean something else when read again stays as a whole: `/%%36%31`.
pub fn normal_text(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(&octet) = bytes.get(at) {
        let encoded = normal::octet_at(bytes, at);
        let end = if encoded.is_some() { at + 3 } else { at + 1 };
        match encoded {
            Some(special @ (b'*' | b'$')) => normal::push_encoded(&mut out, special),
            None if octet == b'*' && out.last() == Some(&b'*') => {}
            _ => normal::push_normal(&mut out, bytes.get(at..end).unwrap_or_default()),
        }
        at = end;
    }
    let read = |text: &[u8]| {
        let pattern = Pattern::compile(text);
        (pattern.symbols(), pattern.specificity())
    };
    match read(&out) == read(bytes) {
        true => out.into_iter().map(char::from).collect(),
        false => normal::ascii(bytes),
    }
}

/// The names of a file by number, and which contain which.
struct Names {
    /// The group of each name.
    group: Vec<usize>,
    /// For each name the longer ones that contain it.
    around: Vec<Vec<usize>>,
    /// For each name the shorter ones within it.
    within: Vec<Vec<usize>>,
    /// For each group its names that are not placed yet.
    waiting: Vec<Vec<usize>>,
    is_placed: Vec<bool>,
}

impl Names {
    fn new(groups: &[(Group, Vec<Source>)]) -> Self {
        let mut names: Vec<String> = Vec::new();
        let (mut group, mut waiting) = (Vec::new(), Vec::new());
        for (number, (one, _)) in groups.iter().enumerate() {
            let first = names.len();
            names.extend(one.user_agents.iter().map(key));
            group.resize(names.len(), number);
            waiting.push((first..names.len()).collect());
        }
        let mut around = vec![Vec::new(); names.len()];
        let mut within = vec![Vec::new(); names.len()];
        let compared = if names.len() > MOST_NAMES { &[][..] } else { &*names };
        for (long, name) in compared.iter().enumerate() {
            for (short, other) in compared.iter().enumerate() {
                if other.len() < name.len() && name.contains(other) {
                    around[short].push(long);
                    within[long].push(short);
                }
            }
        }
        let is_placed = vec![false; names.len()];
        Self { group, around, within, waiting, is_placed }
    }

    /// The groups in their order.
    fn ordered(mut self, groups: &[(Group, Vec<Source>)]) -> Vec<(Group, Vec<Source>)> {
        let mut ordered = Vec::with_capacity(groups.len());
        while self.is_placed.contains(&false) {
            let may_come = |names: &Vec<usize>| names.iter().all(|name| self.may_come(*name));
            let is_free = |names: &Vec<usize>| !names.is_empty() && may_come(names);
            let whole = self.waiting.iter().position(is_free);
            let whole = whole.map(|at| (at, std::mem::take(&mut self.waiting[at])));
            let Some((at, names)) = whole.or_else(|| self.split()) else { break };
            let Some((group, sources)) = groups.get(at) else { break };
            names.iter().for_each(|name| self.is_placed[*name] = true);
            ordered.push((self.part(group, at, names), sources.clone()));
        }
        ordered
    }

    /// Whether no name of another group has to come before this one.
    fn may_come(&self, name: usize) -> bool {
        let group = self.group[name];
        self.around[name].iter().all(|&one| self.is_placed[one] || self.group[one] == group)
    }

    /// A group of a circle, and its names that wait for no other: the longest of the circle is one.
    fn split(&mut self) -> Option<(usize, Vec<usize>)> {
        // Every group waits. The last one that no earlier one leads to is in a circle that waits
        // for no group outside of it.
        let (mut seen, mut last) = (BTreeSet::new(), None);
        for at in (0..self.waiting.len()).filter(|at| !self.waiting[*at].is_empty()) {
            if !seen.contains(&at) {
                last = Some(at);
                self.reach(at, &self.within, &mut seen);
            }
        }
        let mut circle = BTreeSet::new();
        self.reach(last?, &self.around, &mut circle);
        circle.into_iter().find_map(|at| {
            let names = self.waiting[at].iter();
            let (free, rest): (Vec<_>, Vec<_>) = names.partition(|name| self.may_come(**name));
            self.waiting[at] = rest;
            (!free.is_empty()).then_some((at, free))
        })
    }

    /// Adds a group and all that it leads to.
    fn reach(&self, from: usize, edges: &[Vec<usize>], seen: &mut BTreeSet<usize>) {
        let mut open = vec![from];
        while let Some(at) = open.pop() {
            if seen.insert(at) {
                let names = self.waiting[at].iter().flat_map(|name| &edges[*name]);
                let names = names.filter(|name| !self.is_placed[**name]);
                open.extend(names.map(|name| self.group[*name]));
            }
        }
    }

    /// The group with these of its names, a longer one before those within it.
    fn part(&self, group: &Group, at: usize, names: Vec<usize>) -> Group {
        let number = names.len();
        let mut order: Vec<usize> = Vec::with_capacity(number);
        for name in names {
            let inner = order.iter().position(|one| self.within[name].contains(one));
            order.insert(inner.unwrap_or(order.len()), name);
        }
        let mut part = group.clone();
        if number < group.user_agents.len() {
            part.comment.iter_mut().for_each(|line| *line = format!("{number} of: {line}"));
        }
        let first = self.group.partition_point(|other| *other < at);
        let user_agents = order.iter().filter_map(|name| group.user_agents.get(name - first));
        part.user_agents = user_agents.cloned().collect();
        part
    }
}

/// A name for comparisons. That for `*` is a part of every other.
fn key(user_agent: &UserAgent) -> String {
    let value = user_agent.name.trim_matches(name::SPACE);
    if name::is_star(value) { String::new() } else { value.to_ascii_lowercase() }
}
