//! The limits of the operator that robots.txt says: `Crawl-delay` and `Request-rate`.
//!
//! A crawler reads one group. So each group says the strictest limit that counts its crawlers. A crawler
//! that only a limit names gets a group with the rules that bind it without one. A group with a
//! `Crawl-delay` or `Request-rate` of its own keeps it. Crawlers that ignore `Crawl-delay` get no group
//! for it.

use std::collections::BTreeSet;

use crate::{
    base::product_token::ProductToken,
    formats::robots::{self, Group, GroupIndex, GroupList, Record, UserAgent},
    rules::{
        crawlers::{Catalogue, CrawlDelay, Kind, Name},
        policy::{Enforcement, RateLimit},
    },
};

use super::{
    group::{group_names, is_bound_by_star},
    limits::counts,
};

/// Names that share their lines, with what binds them.
struct Part {
    names: Vec<UserAgent>,
    bound_by: Option<GroupList>,
    records: Vec<Record>,
}

/// An arranged file with the published limits. A file that would be longer than crawlers have to read has
/// none of them.
pub fn publish_limits(
    merged: robots::Merged,
    enforcement: &Enforcement,
    catalogue: &Catalogue,
) -> robots::Merged {
    let limits = enforcement.rate_limits.iter().filter(|limit| limit.is_published);
    let limits = Limits { enforcement, catalogue, published: limits.collect() };
    if limits.published.is_empty() {
        return merged;
    }
    let old: Vec<_> = merged.file.groups.iter().zip(&merged.sources).collect();
    let mut groups = Vec::with_capacity(old.len());
    for &(group, sources) in &old {
        let parts = limits.parts(group);
        for Part { names, records, .. } in &parts {
            let part = |line: &String| match parts.len() {
                1 => line.clone(),
                _ => format!("{} of: {line}", names.len()),
            };
            let mut new = Group {
                user_agents: names.clone(),
                comment: group.comment.iter().map(part).collect(),
                ..group.clone()
            };
            new.records.extend_from_slice(records);
            groups.push((new, sources.clone()));
        }
    }
    let index = GroupIndex::new(&merged.file.groups);
    for Part { names, bound_by, records } in limits.unnamed(&merged.file.groups, &index) {
        let (mut new, mut new_sources) =
            (Group { user_agents: names, ..Group::default() }, Vec::new());
        let binding = bound_by.map(|list| index.groups(list)).unwrap_or_default();
        for (group, sources) in binding.iter().filter_map(|&at| old.get(at)) {
            new.rules.extend_from_slice(&group.rules);
            new.records.extend_from_slice(&group.records);
            new_sources.extend_from_slice(sources);
        }
        new.records.extend(records);
        groups.push((new, new_sources));
    }
    let (groups, sources) = groups.into_iter().unzip();
    let file = robots::RobotsTxt { groups, ..merged.file.clone() };
    match file.to_string().len() {
        length if length > robots::LEAST_BYTES => merged,
        _ => robots::Merged { file, sources }.arranged(),
    }
}

/// The limits that are published.
struct Limits<'a> {
    enforcement: &'a Enforcement,
    catalogue: &'a Catalogue,
    published: Vec<&'a RateLimit>,
}

impl Limits<'_> {
    /// The names of a group by the lines that they get.
    fn parts(&self, group: &Group) -> Vec<Part> {
        let mut parts = Vec::new();
        for user_agent in &group.user_agents {
            let records = match group.records.iter().any(is_pace) {
                true => Vec::new(),
                false => self.lines(&user_agent.name),
            };
            add(&mut parts, user_agent.clone(), None, records);
        }
        parts
    }

    /// The crawlers that limits name and no group does, if they get other lines than the group that
    /// binds them.
    fn unnamed(&self, groups: &[Group], index: &GroupIndex) -> Vec<Part> {
        let tokens: BTreeSet<&str> = self
            .published
            .iter()
            .flat_map(|one| one.tokens.iter().map(ProductToken::as_str))
            .collect();
        let mut parts = Vec::new();
        for token in tokens.into_iter().filter(|token| index.named(token).is_none()) {
            let Some(product_token) = ProductToken::new(token) else { continue };
            let name = self.name(&product_token);
            let is_deaf = name.known().is_some_and(|crawler| {
                crawler.kind() == Kind::Control
                    || crawler.honours().crawl_delay == Some(CrawlDelay::No)
            });
            let named = group_names(name).find_map(|one| Some((one, index.named(one)?)));
            let star = || {
                let list = index.star()?;
                is_bound_by_star(&self.enforcement.star_binds, name).then_some(("*", list))
            };
            let bound_by = named.or_else(star);
            let lines = self.lines(token);
            let is_said = bound_by.is_some_and(|(group, list)| {
                let mut binding = index.groups(list).iter().filter_map(|at| groups.get(*at));
                binding.any(|group| group.records.iter().any(is_pace)) || self.lines(group) == lines
            });
            if let Ok(user_agent) = UserAgent::new(token)
                && !is_deaf
                && !is_said
            {
                add(&mut parts, user_agent, bound_by.map(|(_, list)| list), lines);
            }
        }
        parts
    }

    /// The lines of the strictest limit that counts a name.
    fn lines(&self, name: &str) -> Vec<Record> {
        let name = name.trim();
        let token = ProductToken::new(name);
        let is_counted = |limit: &&&RateLimit| match &token {
            _ if name == "*" => limit.all,
            Some(token) => counts(limit, &self.enforcement.star_binds, self.name(token)),
            None => false,
        };
        let strictest = self.published.iter().filter(is_counted).reduce(|so_far, one| {
            let is_stricter = matches!((one.pace, so_far.pace), (Some(one), Some(so_far)) if one.is_stricter_than(so_far));
            if is_stricter { one } else { so_far }
        });
        strictest.map(|limit| limit.records()).unwrap_or_default()
    }

    fn name<'t>(&'t self, token: &'t ProductToken) -> Name<'t> {
        self.catalogue.find(token.as_str()).map_or(Name::Site(token), Name::Known)
    }
}

/// Adds a name to the part with these lines.
fn add(parts: &mut Vec<Part>, name: UserAgent, bound_by: Option<GroupList>, records: Vec<Record>) {
    let known = parts.iter_mut().find(|one| one.bound_by == bound_by && one.records == records);
    match known {
        Some(known) => known.names.push(name),
        None => parts.push(Part { names: vec![name], bound_by, records }),
    }
}

/// Whether a record sets a pace, or says that there is none.
fn is_pace(record: &Record) -> bool {
    ["crawl-delay", "request-rate"].iter().any(|name| record.name.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests;
