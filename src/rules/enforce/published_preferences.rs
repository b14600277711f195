//! The preferences that robots.txt says: a line in each group that binds (draft-ietf-aipref-attach §3:
//! a crawler with a group of its own does not read `*`), and groups for control tokens.

use std::collections::BTreeSet;

use crate::{
    base::product_token::ProductToken,
    formats::robots::{
        self, Directive, Group, GroupIndex, Pattern, Record, Rule, Side, Source, UserAgent,
    },
    rules::{
        crawlers::{Catalogue, Class, Crawler, Kind, Purpose},
        policy::Preferences,
    },
};

use super::group_lines::{self, Lines};

/// The place of rules that come from an entry of the preferences: [`Source::rule`] is its number.
pub(super) const OF_PREFERENCES: usize = usize::MAX;

/// An arranged file with the preferences of a site.
pub fn publish_preferences(
    merged: robots::Merged,
    preferences: &Preferences,
    star_binds: &[Class],
    catalogue: &Catalogue,
) -> robots::Merged {
    if preferences.entries.is_empty() {
        return merged;
    }
    let mut file = merged;
    if preferences.closes_control_tokens {
        close_control_tokens(&mut file, preferences, catalogue);
    }
    let has_star = GroupIndex::new(&file.file.groups).star().is_some();
    if !has_star && !preferences.records(None).is_empty() {
        file.file.groups.push(group("*", Vec::new()));
        file.sources.push(Vec::new());
    }
    group_lines::add(file, preferences, star_binds, catalogue)
}

impl Lines for Preferences {
    fn tokens(&self) -> BTreeSet<&str> {
        let named = self.entries.iter().filter_map(|entry| entry.tokens.as_deref());
        named.flatten().map(ProductToken::as_str).collect()
    }

    fn lines(&self, name: &str) -> Vec<Record> {
        let name = name.trim();
        self.records(Some(name).filter(|name| *name != "*"))
    }
}

/// Adds a group for each control token that no group names, if some paths are closed to training. Without
/// one, `*` would bind it. So it keeps those rules of `*` that do not open what is closed.
fn close_control_tokens(
    file: &mut robots::Merged,
    preferences: &Preferences,
    catalogue: &Catalogue,
) {
    let index = GroupIndex::new(&file.file.groups);
    let star: Vec<usize> = index.star().map(|list| index.groups(list).to_vec()).unwrap_or_default();
    let governs = |crawler: &&Crawler| {
        crawler.kind() == Kind::Control && crawler.governs().contains(&Purpose::AiTraining)
    };
    for crawler in catalogue.iter().filter(governs) {
        let name = crawler.product_token().as_str();
        let closings = preferences.closings(name);
        if closings.is_empty() || index.named(name).is_some() {
            continue;
        }
        let compiled = |rule: &Rule| Pattern::compile(rule.pattern.as_bytes());
        let closed = closings.iter().filter(|(one, _)| one.directive == Directive::Disallow);
        let closed: Vec<Pattern> = closed.map(|(one, _)| compiled(one)).collect();
        let is_opened = |rule: &Rule| {
            let opens = |pattern: &Pattern, closed: &Pattern| {
                pattern.specificity() >= closed.specificity() && pattern.overlaps(closed)
            };
            let pattern = compiled(rule);
            rule.directive == Directive::Allow && closed.iter().any(|one| opens(&pattern, one))
        };
        let of_star = star.iter().flat_map(|&at| {
            let sources = file.sources.get(at).into_iter().flatten().copied();
            file.file.groups[at].rules.iter().cloned().zip(sources)
        });
        let of_star = of_star.filter(|(rule, _)| !is_opened(rule));
        let own = closings.iter().map(|(rule, number)| {
            let source = Source { side: Side::Own, group: OF_PREFERENCES, rule: *number };
            (rule.clone(), source)
        });
        let (rules, sources) = own.chain(of_star).unzip();
        file.file.groups.push(group(name, rules));
        file.sources.push(sources);
    }
}

fn group(name: &str, rules: Vec<Rule>) -> Group {
    let user_agents = UserAgent::new(name).into_iter().collect();
    Group { user_agents, rules, ..Group::default() }
}

#[cfg(test)]
mod tests;
