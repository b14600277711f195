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
//! A file that would be longer than crawlers have to read, or have more than [`MOST_SPLITS`] split
//! groups, keeps its groups, and the group for `*` comes last.

use std::{
    cmp::Reverse,
    collections::{BTreeSet, HashSet},
};

use aho_corasick::AhoCorasick;

use super::{
    merge::{Merged, Side, Source, joined},
    name, normal,
    pattern::Pattern,
    robots_txt::{Group, LEAST_BYTES, RobotsTxt, UserAgent},
};
use crate::base::escape::push_percent;

/// The most groups that are split. A file of people needs a few; each costs a way through all groups.
const MOST_SPLITS: usize = 100;

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
        let ordered = Names::new(&groups).ordered(&groups).map(of);
        // Groups that are split may make the file too long.
        ordered.filter(|one| one.file.to_string().len() <= LEAST_BYTES).unwrap_or_else(|| {
            let is_for_star =
                |group: &Group| group.user_agents.iter().any(|one| key(one).is_empty());
            let (last, mut first): (Vec<_>, Vec<_>) =
                groups.into_iter().partition(|(group, _)| is_for_star(group));
            first.extend(last);
            of(first)
        })
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
            Some(special @ (b'*' | b'$')) => push_percent(&mut out, special),
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
    /// For each group the number of names of other groups that one of its names waits for, each as
    /// often as one does.
    waits: Vec<usize>,
    /// The groups that wait for no other.
    free: BTreeSet<usize>,
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
        let within = within(&names);
        let (mut around, mut waits) = (vec![Vec::new(); names.len()], vec![0; groups.len()]);
        for (long, short) in
            (0..).zip(&within).flat_map(|(long, all)| all.iter().map(move |one| (long, *one)))
        {
            around[short].push(long);
            waits[group[short]] += usize::from(group[short] != group[long]);
        }
        let is_placed = vec![false; names.len()];
        let free = (0..groups.len()).filter(|at| waits[*at] == 0).collect();
        Self { group, around, within, waiting, waits, free, is_placed }
    }

    /// The groups in their order; `None` if too many would be split.
    fn ordered(mut self, groups: &[(Group, Vec<Source>)]) -> Option<Vec<(Group, Vec<Source>)>> {
        let (mut ordered, mut splits) = (Vec::with_capacity(groups.len()), 0);
        loop {
            let (at, names) = match self.free.pop_first() {
                Some(at) => (at, std::mem::take(&mut self.waiting[at])),
                None if !self.is_placed.contains(&false) => return Some(ordered),
                None if splits == MOST_SPLITS => return None,
                None => self.split()?,
            };
            let (group, sources) = groups.get(at)?;
            splits += usize::from(!self.waiting[at].is_empty());
            names.iter().for_each(|name| self.place(*name));
            if !names.is_empty() {
                ordered.push((self.part(group, at, names), sources.clone()));
            }
        }
    }

    fn place(&mut self, name: usize) {
        self.is_placed[name] = true;
        for at in self.within[name].iter().map(|short| self.group[*short]) {
            if at != self.group[name] {
                self.waits[at] -= 1;
                if self.waits[at] == 0 {
                    self.free.insert(at);
                }
            }
        }
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
        let (mut open, mut order) = (BTreeSet::from_iter(names.iter().copied()), Vec::new());
        names.iter().for_each(|name| self.add(*name, &mut open, &mut order));
        let mut part = group.clone();
        if number < group.user_agents.len() {
            part.comment.iter_mut().for_each(|line| *line = format!("{number} of: {line}"));
        }
        let first = self.group.partition_point(|other| *other < at);
        let user_agents = order.iter().filter_map(|name| group.user_agents.get(name - first));
        part.user_agents = user_agents.cloned().collect();
        part
    }

    /// Moves an open name to the order, behind those around it.
    fn add(&self, name: usize, open: &mut BTreeSet<usize>, order: &mut Vec<usize>) {
        if open.remove(&name) {
            self.around[name].iter().for_each(|long| self.add(*long, open, order));
            order.push(name);
        }
    }
}

/// For each name the shorter ones within it, each once.
fn within(names: &[String]) -> Vec<Vec<usize>> {
    let mut within = vec![Vec::new(); names.len()];
    // Only a policy far beyond every limit has more names than a search can hold.
    let Ok(search) = AhoCorasick::new(names) else { return within };
    let mut seen_in = vec![usize::MAX; names.len()];
    for (long, name) in names.iter().enumerate() {
        for short in search.find_overlapping_iter(name).map(|found| found.pattern().as_usize()) {
            if names[short].len() < name.len() && seen_in[short] != long {
                seen_in[short] = long;
                within[long].push(short);
            }
        }
    }
    within
}

/// A name for comparisons. That for `*` is a part of every other.
fn key(user_agent: &UserAgent) -> String {
    let value = user_agent.name.trim_matches(name::SPACE);
    if name::is_star(value) { String::new() } else { value.to_ascii_lowercase() }
}
