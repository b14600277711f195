//! Lines that the policy adds to the groups of a robots.txt, by name: limits and preferences.
//!
//! A crawler reads one group. So each group gets the lines of its names, and is divided where these
//! differ. A crawler that no group names gets one with the rules that bind it without one, if its lines
//! differ from those of the group that binds it.
//!
//! Of the limits of the operator (`Crawl-delay` and `Request-rate`), each group says the strictest that
//! counts its crawlers. A group with such a line of its own keeps it. Crawlers that ignore `Crawl-delay`
//! get no group for it. The preferences are a line in each group that binds
//! (draft-ietf-aipref-attach §3: a crawler with a group of its own does not read `*`), and groups for
//! control tokens.

use std::collections::BTreeSet;

use crate::{
    base::product_token::ProductToken,
    formats::robots::{
        self, Directive, Group, GroupIndex, GroupList, Pattern, Record, Rule, Side, Source,
        UserAgent,
    },
    rules::{
        crawlers::{Catalogue, Class, CrawlDelay, Crawler, Kind, Name, Purpose},
        policy::{Enforcement, Preferences, RateLimit},
    },
};

use super::{
    overrides::{group_names, is_bound_by_star},
    pace::counts,
};

trait Lines {
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
fn add(
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

fn join(parts: &mut Vec<Part>, name: UserAgent, bound_by: Option<GroupList>, records: Vec<Record>) {
    let known = parts.iter_mut().find(|one| one.bound_by == bound_by && one.records == records);
    match known {
        Some(known) => known.names.push(name),
        None => parts.push(Part { names: vec![name], bound_by, records }),
    }
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
    add(merged, &limits, &enforcement.star_binds, catalogue)
}

struct Limits<'a> {
    enforcement: &'a Enforcement,
    catalogue: &'a Catalogue,
    published: Vec<&'a RateLimit>,
}

impl Lines for Limits<'_> {
    fn tokens(&self) -> BTreeSet<&str> {
        self.published.iter().flat_map(|one| one.tokens.iter().map(ProductToken::as_str)).collect()
    }

    fn passes_over(&self, name: Name<'_>) -> bool {
        name.known().is_some_and(|crawler| {
            crawler.kind() == Kind::Control
                || crawler.entry.honours.crawl_delay == Some(CrawlDelay::No)
        })
    }

    fn is_kept(&self, group: &Group) -> bool {
        group.records.iter().any(is_pace)
    }

    /// The lines of the strictest limit that counts a name.
    fn lines(&self, name: &str) -> Vec<Record> {
        let name = name.trim();
        let token = ProductToken::new(name);
        let is_counted = |limit: &&&RateLimit| match &token {
            _ if name == "*" => limit.all,
            Some(token) => {
                let known = self.catalogue.find(token.as_str());
                let name = known.map_or(Name::Site(token), Name::Known);
                counts(limit, &self.enforcement.star_binds, name)
            }
            None => false,
        };
        let strictest = self.published.iter().filter(is_counted).reduce(|so_far, one| {
            let is_stricter = matches!((one.pace, so_far.pace), (Some(one), Some(so_far)) if one.is_stricter_than(so_far));
            if is_stricter { one } else { so_far }
        });
        strictest.map(|limit| limit.records()).unwrap_or_default()
    }
}

/// Whether a record sets a pace, or says that there is none.
fn is_pace(record: &Record) -> bool {
    ["crawl-delay", "request-rate"].iter().any(|name| record.name.eq_ignore_ascii_case(name))
}

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
    add(file, preferences, star_binds, catalogue)
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
mod limit_tests;
#[cfg(test)]
mod preference_tests;
