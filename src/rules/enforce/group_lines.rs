//! Lines that the policy adds to the groups of a robots.txt, by name.
//!
//! A crawler reads one group. So each group gets the lines of its names, and is divided where these
//! differ. A crawler that no group names gets one with the rules that bind it without one, if its lines
//! differ from those of the group that binds it.

use std::collections::BTreeSet;

use crate::{
    base::product_token::ProductToken,
    formats::robots::{self, Group, GroupIndex, GroupList, Record, UserAgent},
    rules::crawlers::{Catalogue, Class, Name},
};

use super::group::{group_names, is_bound_by_star};

pub(super) trait Lines {
    /// The names that get lines, even if no group names them.
    fn tokens(&self) -> BTreeSet<&str>;

    /// The lines for a name; `*` is the group for all.
    fn lines(&self, name: &str) -> Vec<Record>;

    /// Whether a group keeps the lines that it has.
    fn is_kept(&self, _group: &Group) -> bool {
        false
    }

    /// Whether a name gets no group for its lines alone.
    fn passes_over(&self, _name: Name<'_>) -> bool {
        false
    }
}

/// Names that share their lines, with what binds them.
struct Part {
    names: Vec<UserAgent>,
    bound_by: Option<GroupList>,
    records: Vec<Record>,
}

/// An arranged file with these lines. A file that would be longer than crawlers have to read stays as it is.
pub(super) fn add(
    merged: robots::Merged,
    lines: &impl Lines,
    star_binds: &[Class],
    catalogue: &Catalogue,
) -> robots::Merged {
    let old: Vec<_> = merged.file.groups.iter().zip(&merged.sources).collect();
    let mut groups = Vec::with_capacity(old.len());
    for &(group, sources) in &old {
        let parts = parts(group, lines);
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
            let is_new = |record: &&Record| !group.records.contains(record);
            new.records.extend(records.iter().filter(is_new).cloned());
            groups.push((new, sources.clone()));
        }
    }
    let index = GroupIndex::new(&merged.file.groups);
    let all = (&merged.file.groups[..], &index);
    for Part { names, bound_by, records } in unnamed(all, lines, star_binds, catalogue) {
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

/// The names of a group by the lines that they get.
fn parts(group: &Group, lines: &impl Lines) -> Vec<Part> {
    let mut parts = Vec::new();
    for user_agent in &group.user_agents {
        let records = match lines.is_kept(group) {
            true => Vec::new(),
            false => lines.lines(&user_agent.name),
        };
        join(&mut parts, user_agent.clone(), None, records);
    }
    parts
}

/// The crawlers with lines that no group names, if they get other lines than the group that binds them.
fn unnamed(
    (groups, index): (&[Group], &GroupIndex),
    lines: &impl Lines,
    star_binds: &[Class],
    catalogue: &Catalogue,
) -> Vec<Part> {
    let mut parts = Vec::new();
    for token in lines.tokens().into_iter().filter(|token| index.named(token).is_none()) {
        let Some(product_token) = ProductToken::new(token) else { continue };
        let name = catalogue.find(token).map_or(Name::Site(&product_token), Name::Known);
        let named = group_names(name).find_map(|one| Some((one, index.named(one)?)));
        let star = || Some(("*", index.star()?)).filter(|_| is_bound_by_star(star_binds, name));
        let bound_by = named.or_else(star);
        let records = lines.lines(token);
        let is_said = bound_by.is_some_and(|(group, list)| {
            let mut binding = index.groups(list).iter().filter_map(|at| groups.get(*at));
            binding.any(|group| lines.is_kept(group)) || lines.lines(group) == records
        });
        if let Ok(user_agent) = UserAgent::new(token)
            && !lines.passes_over(name)
            && !is_said
        {
            join(&mut parts, user_agent, bound_by.map(|(_, list)| list), records);
        }
    }
    parts
}

/// Adds a name to the part with these lines.
fn join(parts: &mut Vec<Part>, name: UserAgent, bound_by: Option<GroupList>, records: Vec<Record>) {
    let known = parts.iter_mut().find(|one| one.bound_by == bound_by && one.records == records);
    match known {
        Some(known) => known.names.push(name),
        None => parts.push(Part { names: vec![name], bound_by, records }),
    }
}
