//! Groups: names in several of them, names that no request has, records that their crawlers ignore.

use std::collections::BTreeMap;

use crate::{
    base::{diagnostic::Diagnostic, escape::shown},
    formats::robots::{Directive, Group},
    rules::{
        crawlers::{CrawlDelay, Kind},
        policy::Spot,
    },
};

use super::{findings::Findings, subject::Subject};

pub(super) fn lint(subject: &Subject<'_>, findings: &mut Findings) {
    for (group, places) in subject.file.groups.iter().zip(&subject.places) {
        for (record, at) in group.records.iter().zip(&places.records) {
            if record.name.eq_ignore_ascii_case("crawl-delay") {
                lint_delay(subject, group, *at, findings);
            }
        }
    }
}

/// A `Crawl-delay` that none of the group's crawlers follows.
fn lint_delay(subject: &Subject<'_>, group: &Group, at: Spot, findings: &mut Findings) {
    let ignores = |name: &str| {
        let crawler = subject.catalogue.find(name);
        crawler.is_some_and(|crawler| crawler.entry.honours.crawl_delay == Some(CrawlDelay::No))
    };
    let names = || group.user_agents.iter().map(|one| one.name.trim());
    if group.user_agents.is_empty() || !names().all(ignores) {
        return;
    }
    let first = names().next().map(shown).unwrap_or_default();
    let message = match group.user_agents.len() {
        1 => format!("{first} does not follow Crawl-delay"),
        several => format!("none of these {several} crawlers follows Crawl-delay, such as {first}"),
    };
    findings.add(at, Diagnostic::note("lint.ignored_delay", message).help("remove it"));
}

/// The lints of names that the reader of a policy has itself.
pub(super) fn lint_names(subject: &Subject<'_>, findings: &mut Findings) {
    let mut groups_of: BTreeMap<String, Vec<(usize, Spot)>> = BTreeMap::new();
    let groups = subject.file.groups.iter().zip(&subject.places).enumerate();
    for (number, (group, places)) in groups {
        for (user_agent, at) in group.user_agents.iter().zip(&places.names) {
            let name = user_agent.name.trim();
            let known = groups_of.entry(name.to_ascii_lowercase()).or_default();
            if known.is_empty() && is_control(subject, name) {
                let message = format!(
                    "{} never appears in a User-Agent: the rules limit what another crawler's copies \
                     are used for, and no request breaks them",
                    shown(name)
                );
                findings.add(*at, Diagnostic::note("lint.control_token", message));
            }
            if known.last().is_none_or(|(last, _)| *last != number) {
                known.push((number, *at));
            }
        }
    }
    subject.file.groups.iter().zip(&subject.places).for_each(|(group, places)| {
        lint_joined(group, &places.names, findings);
    });
    let mut reported = Vec::new();
    for (name, groups) in &groups_of {
        let (Some((first, _)), Some((last, at))) =
            (groups.first(), groups.get(1..).and_then(<[_]>::last))
        else {
            continue;
        };
        if !reported.contains(&(*first, *last)) && reported.len() < 100 {
            reported.push((*first, *last));
            lint_repeated(subject, name, groups, *at, findings);
        }
    }
}

/// A record between the names of a group. It ends no list of names (§2.1), but looks like it.
fn lint_joined(group: &Group, spots: &[Spot], findings: &mut Findings) {
    let names = group.user_agents.iter().zip(spots);
    for ((before, _), (after, at)) in names.clone().zip(names.skip(1)) {
        let is_between = |line: u32| before.line < line && line < after.line;
        let Some(record) = group.records.iter().find(|record| is_between(record.line)) else {
            continue;
        };
        let message = format!(
            "'{}' and '{}' share one group: only a rule ends a list of names, and '{}' is none",
            shown(before.name.trim()),
            shown(after.name.trim()),
            shown(&record.name)
        );
        findings.add(
            *at,
            Diagnostic::note("lint.joined_groups", message)
                .help("write an empty 'Disallow:' above this line to begin a new group"),
        );
    }
}

fn is_control(subject: &Subject<'_>, name: &str) -> bool {
    subject.catalogue.find(name).is_some_and(|crawler| crawler.kind() == Kind::Control)
}

/// A name in several groups: crawlers merge them (§2.2.1), but not all crawlers do.
fn lint_repeated(
    subject: &Subject<'_>,
    name: &str,
    groups: &[(usize, Spot)],
    at: Spot,
    findings: &mut Findings,
) {
    let lines: Vec<String> = groups.iter().take(8).map(|(_, at)| at.line.to_string()).collect();
    let lines = lines.join(", ");
    let shown = shown(name);
    let of = |number: usize| subject.file.groups.get(number);
    let all: Vec<&Group> = groups.iter().filter_map(|(number, _)| of(*number)).collect();
    let finding = match contradiction(&all) {
        Some(what) => {
            let message = format!(
                "'{shown}' stands in the groups of lines {lines}, which contradict each other: {what}"
            );
            Diagnostic::note("lint.contradicting_groups", message)
        }
        None => {
            let message = format!(
                "'{shown}' stands in the groups of lines {lines}: crawlers merge them, but not all do"
            );
            Diagnostic::note("lint.repeated_group", message)
        }
    };
    findings.add(at, finding.help("write one group with all of its rules"));
}

/// What one group says against another one.
fn contradiction(groups: &[&Group]) -> Option<String> {
    let disallows = |group: &Group| group.rules.iter().any(|rule| is_of(Directive::Disallow, rule));
    let opens = |group: &&&Group| {
        !group.rules.is_empty() && group.rules.iter().all(|rule| rule.pattern.is_empty())
    };
    if groups.iter().any(|group| opens(&group)) && groups.iter().any(|group| disallows(group)) {
        return Some("an empty rule of one opens nothing that the other disallows".to_owned());
    }
    let mut said: BTreeMap<&str, (usize, Directive)> = BTreeMap::new();
    for (number, group) in groups.iter().enumerate() {
        for rule in group.rules.iter().filter(|rule| !rule.pattern.is_empty()) {
            let (other, directive) = said.entry(&rule.pattern).or_insert((number, rule.directive));
            if *other != number && *directive != rule.directive {
                let pattern = shown(&rule.pattern);
                return Some(format!(
                    "one allows '{pattern}', the other disallows it, and allow wins"
                ));
            }
        }
    }
    None
}

fn is_of(directive: Directive, rule: &crate::formats::robots::Rule) -> bool {
    rule.directive == directive && !rule.pattern.is_empty()
}
