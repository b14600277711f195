//! One file for several editions, which allows what any of them allows.
//!
//! A request is no violation if an edition that the crawler may know allows it. So of many editions
//! only this matters: does any of them allow the path? The sum of two files answers that:
//!
//! - Its allow rules are those of both files.
//! - Its disallow rules are those that both files have, and those of one file whose paths another
//!   rule of the other file disallows.
//!
//! Suppose that the sum disallows a path by a rule. Both files disallow it as well: each has that
//! rule or one that covers it, and no allow rule of either is more specific. The reverse holds for
//! each rule that both files have. Where only parts of several rules overlap, the sum may allow a
//! path that each of the files disallows.
//!
//! An allow rule that spells `//` or `;` spares a path some of its evasion forms, but only where it
//! decides. In the sum, a longer allow rule of the other file may decide instead. So where one of them
//! spells such a thing, the sum has disallow rules only if both files have the same allow rules.
//!
//! A name that only one of the files has may follow another group there, which depends on the
//! crawler. The sum allows it everything. So editions with the same names are summed up first.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::formats::robots::{Directive, Group, MAX_BYTES, RobotsTxt, Rule, UserAgent};

/// The most octets of names and rules in a sum. Disallow rules make none longer than the longest
/// file, so only allow rules can exceed it.
const MOST_BYTES: usize = 2 * MAX_BYTES;
/// The octets of a line beside its name or pattern, counted low.
const LINE: usize = 8;

pub(super) fn either_allows(one: &RobotsTxt, other: &RobotsTxt) -> RobotsTxt {
    let (ours, theirs) = (groups_by_name(one), groups_by_name(other));
    // Names with the same groups share one, as they do in the files.
    let mut blocks: BTreeMap<[&[usize]; 2], Vec<&str>> = BTreeMap::new();
    let names: BTreeSet<&str> = ours.keys().chain(theirs.keys()).map(String::as_str).collect();
    for name in names {
        let places = [&ours, &theirs].map(|file| file.get(name).map(Vec::as_slice));
        // A name of one file alone has no rules.
        let places = match places {
            [Some(ours), Some(theirs)] => [ours, theirs],
            _ => [&[][..]; 2],
        };
        blocks.entry(places).or_default().push(name);
    }
    let groups = blocks.into_iter().map(|([ours, theirs], names)| {
        let user_agents =
            names.into_iter().map(|name| UserAgent { name: name.to_owned(), line: 0 }).collect();
        let files = [(one, ours), (other, theirs)].map(|(file, places)| {
            places.iter().filter_map(|place| file.groups.get(*place)).collect::<Vec<_>>()
        });
        Group { user_agents, ..sum(&files) }
    });
    RobotsTxt { groups: groups.collect(), ..RobotsTxt::default() }
}

/// The sum, or beyond [`MOST_BYTES`] a file that allows everything.
pub(super) fn bounded(sum: RobotsTxt) -> RobotsTxt {
    let size = |group: &Group| -> usize {
        let rules = group.rules.iter().map(|rule| rule.pattern.len() + LINE);
        let names = group.user_agents.iter().map(|one| one.name.len() + LINE);
        rules.chain(names).sum()
    };
    match sum.groups.iter().map(size).sum::<usize>() <= MOST_BYTES {
        true => sum,
        false => RobotsTxt::default(),
    }
}

/// The groups of each name, by number.
fn groups_by_name(file: &RobotsTxt) -> BTreeMap<String, Vec<usize>> {
    let mut names: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (number, group) in file.groups.iter().enumerate() {
        for user_agent in &group.user_agents {
            let name = user_agent.name.trim_matches([' ', '\t']).to_ascii_lowercase();
            let groups = names.entry(name).or_default();
            if groups.last() != Some(&number) {
                groups.push(number);
            }
        }
    }
    names
}

/// The rules and records of the sum of two groups, each in its parts.
fn sum([ours, theirs]: &[Vec<&Group>; 2]) -> Group {
    let (ours_set, theirs_set) = (Rules::of(ours), Rules::of(theirs));
    let allows_alike = ours_set.allows_all_of(theirs) && theirs_set.allows_all_of(ours);
    let is_spelled = rules(ours).chain(rules(theirs)).any(is_spelling_allow);
    let is_certain = allows_alike || !is_spelled;
    let kept = |rule: &&Rule, other: &Rules<'_>| match rule.directive {
        Directive::Allow => true,
        Directive::Disallow => is_certain && (other.has(rule) || other.covers(rule)),
    };
    let ours_kept = rules(ours).filter(|rule| kept(rule, &theirs_set));
    let theirs_kept = rules(theirs).filter(|rule| !ours_set.has(rule) && kept(rule, &ours_set));
    let rules = ours_kept.chain(theirs_kept).cloned().collect();
    // A pace counts only if both have it: an edition without it is the laxest.
    let records = |groups: &[&Group]| {
        groups.iter().flat_map(|group| group.records.clone()).collect::<Vec<_>>()
    };
    let (own, other) = (records(ours), records(theirs));
    let records = if own == other { own } else { Vec::new() };
    Group { rules, records, ..Group::default() }
}

/// Whether an allow rule spares the paths that it decides some of their evasion forms.
fn is_spelling_allow(rule: &Rule) -> bool {
    rule.directive == Directive::Allow && rule.spells_what_is_dropped()
}

fn rules<'a>(groups: &'a [&Group]) -> impl Iterator<Item = &'a Rule> {
    groups.iter().flat_map(|group| &group.rules).filter(|rule| !rule.pattern.is_empty())
}

/// The rules of a group for look-ups.
struct Rules<'a> {
    all: HashSet<(Directive, &'a str)>,
    /// The allow rules without wildcards and encoding.
    allowed: BTreeSet<&'a str>,
    /// Whether all allow rules are in `allowed`.
    is_plain: bool,
}

impl<'a> Rules<'a> {
    fn of(groups: &'a [&Group]) -> Self {
        let allows = || rules(groups).filter(|rule| rule.directive == Directive::Allow);
        Self {
            all: rules(groups).map(|rule| (rule.directive, rule.pattern.as_str())).collect(),
            allowed: allows().map(|rule| rule.pattern.as_str()).filter(|p| is_plain(p)).collect(),
            is_plain: allows().all(|rule| is_plain(&rule.pattern)),
        }
    }

    fn allows_all_of(&self, others: &[&Group]) -> bool {
        rules(others).all(|rule| rule.directive == Directive::Disallow || self.has(rule))
    }

    fn has(&self, rule: &Rule) -> bool {
        self.all.contains(&(rule.directive, rule.pattern.as_str()))
    }

    /// Whether these rules certainly disallow every path that this disallow rule decides: a shorter
    /// rule matches them all, and no allow rule of a length between both can match any.
    fn covers(&self, rule: &Rule) -> bool {
        let plain = rule.pattern.find(['*', '$', '%']).unwrap_or(rule.pattern.len());
        let Some(start) = rule.pattern.get(..plain).filter(|_| self.is_plain) else { return false };
        let is_disallowed = |length: &usize| {
            let prefix = start.get(..*length);
            prefix.is_some_and(|prefix| self.all.contains(&(Directive::Disallow, prefix)))
        };
        if !is_plain(start) {
            return false;
        }
        let Some(length) = (1..=start.len()).find(is_disallowed) else { return false };
        // An allow rule that can match begins the start of the rule, or the start begins it.
        let begins = (length..=start.len())
            .any(|length| start.get(..length).is_some_and(|prefix| self.allowed.contains(prefix)));
        let is_wild = plain < rule.pattern.len();
        let mut longer = self.allowed.range(start..).take_while(|allow| allow.starts_with(start));
        !(begins || is_wild && longer.next().is_some())
    }
}

/// Whether a pattern matches by its octets alone: no wildcard, no encoding.
fn is_plain(pattern: &str) -> bool {
    pattern.bytes().all(|octet| {
        octet.is_ascii_alphanumeric()
            || matches!(octet, b'/' | b'-' | b'.' | b'_' | b'~' | b'=' | b'&' | b'?')
    })
}

#[cfg(test)]
mod tests;
