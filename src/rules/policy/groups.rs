//! The `groups` of a site's robots.txt: names, rules and other records.

use std::collections::{HashMap, HashSet};

use crate::{
    base::{diagnostic::Diagnostic, escape::shown},
    formats::robots::{self, Directive},
};

use super::{
    fields::Fields,
    mode::Source,
    names::{Named, Names},
    pattern,
    shape::At,
    yaml::{Spot, Value},
};

#[derive(Default)]
pub(super) struct Groups {
    source: Source,
    pub(super) groups: Vec<robots::Group>,
    pub(super) places: Vec<GroupPlaces>,
    pub(super) overriding: Vec<bool>,
    /// Records that the policy has in a group, although they apply to the whole site.
    pub(super) global_records: Vec<robots::Record>,
    /// The places of the groups of each name.
    named_at: HashMap<String, Vec<Spot>>,
    order: Vec<String>,
}

/// The places of a group's parts, each in the order of the group.
#[derive(Clone, Debug, Default)]
pub struct GroupPlaces {
    /// The entry of `user_agents` that has each name.
    pub(crate) names: Vec<Spot>,
    pub(crate) rules: Vec<Spot>,
    pub(crate) records: Vec<Spot>,
    /// Whether the group has errors, so that parts of it are missing.
    pub(crate) has_errors: bool,
}

impl Groups {
    pub(super) fn new(source: Source) -> Self {
        Self { source, ..Self::default() }
    }

    pub(super) fn read(&mut self, at: &At<'_>, names: &Names<'_>) {
        let Some(fields) = at.fields() else { return };
        let help = "write '[\"*\"]' or the crawlers' names";
        let Some(user_agents) = fields.require("user_agents", help) else { return };
        let known = at.sink.count();
        let mut group = robots::Group::default();
        let mut places = GroupPlaces::default();
        self.user_agents(&user_agents, &mut group, &mut places.names, names);
        // Old crawlers take the first rule that matches, so the exceptions come first.
        places.rules = rules(Directive::Allow, "allow", &fields, &mut group);
        places.rules.extend(rules(Directive::Disallow, "disallow", &fields, &mut group));
        warn_of_idle_disallow(&group, &places.rules, at);
        let delay = crawl_delay(&fields);
        let others = records(&fields, true);
        for (spot, record) in delay.into_iter().chain(others) {
            if record.is_global() {
                self.global_records.push(record);
            } else {
                group.records.push(record);
                places.records.push(spot);
            }
        }
        let overrides = self.overrides(&fields);
        places.has_errors = at.sink.has_errors_after(known);
        if !group.user_agents.is_empty() {
            self.groups.push(group);
            self.overriding.push(overrides);
            self.places.push(places);
        }
    }

    /// Whether the group replaces the origin's rules for the crawlers that it names.
    fn overrides(&self, fields: &Fields<'_>) -> bool {
        let overrides = fields.get("override");
        if let Some(at) = fields.take("override").filter(|_| overrides)
            && self.source == Source::Policy
        {
            let message = "there is nothing to override: the policy's rules are the only ones";
            let help = "remove it, or set 'source: merge' to add to the origin's rules";
            at.warn("policy.nothing_to_override", message, help);
        }
        overrides
    }

    fn user_agents(
        &mut self,
        at: &At<'_>,
        group: &mut robots::Group,
        spots: &mut Vec<Spot>,
        names: &Names<'_>,
    ) {
        let items = at.items();
        if items.is_empty() && matches!(at.node.value, Value::List(_)) {
            at.refuse("names no crawler", "write '[\"*\"]' or the crawlers' names");
        }
        items.iter().for_each(|item| names.note_control_token(item));
        let selected = names.selected(&items);
        for Named { written, tokens, .. } in &selected.named {
            if written.contains(':') {
                group.comment.push(format!("{written}, {} crawlers", tokens.len()));
            }
        }
        let mut seen = HashSet::new();
        let tokens =
            selected.named.iter().flat_map(|one| one.tokens.iter().map(|token| (token, one.at)));
        let tokens = tokens.filter(|(token, _)| seen.insert(*token));
        let tokens = tokens.map(|(token, spot)| (token.as_str(), spot));
        for (name, spot) in selected.star.map(|spot| ("*", spot)).into_iter().chain(tokens) {
            match robots::UserAgent::new(name) {
                Ok(user_agent) => {
                    group.user_agents.push(user_agent);
                    spots.push(spot);
                }
                Err(finding) => at.push(finding),
            }
            let key = name.to_ascii_lowercase();
            if !self.named_at.contains_key(&key) {
                self.order.push(name.to_owned());
            }
            self.named_at.entry(key).or_default().push(at.node.spot);
        }
    }

    /// Warns of a name in several groups. Crawlers merge them (§2.2.1), which an operator may not
    /// expect.
    pub(super) fn report_merged(&self, at: &At<'_>) {
        let mut reported = Vec::new();
        for name in &self.order {
            let places =
                self.named_at.get(&name.to_ascii_lowercase()).map_or(&[][..], Vec::as_slice);
            let [first, .., last] = places else { continue };
            if reported.contains(&(first, last)) {
                continue;
            }
            reported.push((first, last));
            let (name, first, line) = (shown(name), first.line, last.line);
            let message = format!(
                "'{name}' stands in the groups of lines {first} and {line}: crawlers merge them into one"
            );
            let help = "name it in one group only, unless it should obey the rules of both";
            let finding = Diagnostic::warning("policy.merged_groups", message).help(help);
            at.sink.push_at(*last, finding);
        }
    }
}

/// Reads a list of path patterns into the group; returns the line and column of each rule.
fn rules(
    directive: Directive,
    key: &str,
    fields: &Fields<'_>,
    group: &mut robots::Group,
) -> Vec<Spot> {
    let mut places = Vec::new();
    for at in fields.list(key) {
        let Some(pattern) = pattern::read(&at) else { continue };
        let Some(rule) = at.accepted(robots::Rule::new(directive, pattern)) else { continue };
        if rule.pattern != pattern && robots::intent(pattern).is_none() {
            let message = format!("written as '{}'", rule.pattern);
            at.add(Diagnostic::note("policy.percent_encoded", message));
        }
        group.rules.push(rule);
        places.push(at.node.spot);
    }
    places
}

/// Warns of a path that is both allowed and disallowed: allow wins (§2.2.2).
fn warn_of_idle_disallow(group: &robots::Group, places: &[Spot], at: &At<'_>) {
    let allowed: Vec<&str> = group
        .rules
        .iter()
        .filter(|rule| rule.directive == Directive::Allow)
        .map(|rule| rule.pattern.as_str())
        .collect();
    for (rule, spot) in group.rules.iter().zip(places) {
        if rule.directive == Directive::Disallow && allowed.contains(&rule.pattern.as_str()) {
            let message =
                format!("'{}' is both allowed and disallowed: allow wins", shown(&rule.pattern));
            let help = "remove one of the two (RFC 9309 section 2.2.2)";
            at.sink.push_at(*spot, Diagnostic::warning("policy.allow_wins", message).help(help));
        }
    }
}

fn crawl_delay(fields: &Fields<'_>) -> Option<(Spot, robots::Record)> {
    let at = fields.take("crawl_delay")?;
    let seconds = match &at.node.value {
        Value::Integer(n) if (0..=86_400).contains(n) => n.to_string(),
        Value::Float(n) if (0.0..=86_400.0).contains(n) => n.to_string(),
        _ => {
            return at.refused("not a number of seconds", "write a number from 0 to 86400");
        }
    };
    Some((at.node.spot, robots::Record::new("Crawl-delay", &seconds).ok()?))
}

/// Reads `records`, a list of `Name: value`, with the places of their names; `in_group` for those of
/// a group.
pub(super) fn records(fields: &Fields<'_>, in_group: bool) -> Vec<(Spot, robots::Record)> {
    let mut records = Vec::new();
    for item in fields.list("records") {
        if let Value::Text(text) = &item.node.value {
            let message = format!("'{}' is not a name with a value", shown(text));
            item.refuse(message, "write '- Name: value'");
            continue;
        }
        for (key, at) in item.entries() {
            let Some(value) = at.as_written() else { continue };
            match robots::Record::new(&key.text, &value) {
                Ok(record) => {
                    if let Some(finding) = record.check(in_group) {
                        at.add(finding);
                    }
                    records.push((key.spot, record));
                }
                Err(finding) => {
                    let is_rule = ["allow", "disallow", "user-agent"]
                        .iter()
                        .any(|name| key.text.eq_ignore_ascii_case(name));
                    let finding = if is_rule {
                        finding.help("write it as a group: 'groups' with 'user_agents' and rules")
                    } else {
                        finding
                    };
                    let message = format!("{}: {}", at.path, finding.message);
                    at.sink.push_at(key.spot, Diagnostic { message, ..finding });
                }
            }
        }
    }
    records
}
