//! Groups: names in several of them, names that no request has, records that their crawlers ignore, and crawlers
//! that a closed site lets in.
//!
//! Some crawlers obey only a group that names them, by their operators' documentation. Fetchers
//! that act for a person are no crawlers. Services that the site itself orders, such as uptime
//! monitors, are not meant: an operator wants them in.

use std::collections::BTreeMap;

use super::subject::{Findings, Subject};
use crate::{
    base::{
        diagnostic::{Diagnostic, Severity},
        escape::shown,
    },
    formats::robots::{Directive, Group, Rule, closes_everything},
    rules::{
        crawlers::{CrawlDelay, Crawler, Kind, Name},
        policy::{Enforcement, Mode, Spot},
    },
};

pub(super) fn lint(subject: &Subject<'_>, findings: &mut Findings) {
    for (group, record, at) in subject.records() {
        if record.name.eq_ignore_ascii_case("crawl-delay") {
            lint_delay(subject, group, at, findings);
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
    findings.note(at, "lint.ignored_delay", message, "remove it");
}

/// The lints of names that the reader of a policy has itself.
pub(super) fn lint_names(subject: &Subject<'_>, findings: &mut Findings) {
    let mut groups_of: BTreeMap<String, Vec<(usize, Spot)>> = BTreeMap::new();
    for (number, user_agent, at) in subject.names() {
        let name = user_agent.name.trim();
        let known = groups_of.entry(name.to_ascii_lowercase()).or_default();
        let crawler = subject.catalogue.find(name);
        if known.is_empty() && crawler.is_some_and(|one| one.kind() == Kind::Control) {
            let message = format!(
                "{} never appears in a User-Agent: the rules limit what another crawler's copies are \
                 used for, and no request breaks them",
                shown(name)
            );
            findings.add(at, Diagnostic::note("lint.control_token", message));
        }
        if known.last().is_none_or(|(last, _)| *last != number) {
            known.push((number, at));
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
        let help = "write an empty 'Disallow:' above this line to begin a new group";
        findings.note(*at, "lint.joined_groups", message, help);
    }
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
    let (code, what) = match contradiction(&all) {
        Some(what) => {
            ("lint.contradicting_groups", format!(", which contradict each other: {what}"))
        }
        None => ("lint.repeated_group", ": crawlers merge them, but not all do".to_owned()),
    };
    let message = format!("'{shown}' stands in the groups of lines {lines}{what}");
    findings.note(at, code, message, "write one group with all of its rules");
}

/// What one group says against another one.
fn contradiction(groups: &[&Group]) -> Option<String> {
    let is_disallow =
        |rule: &Rule| rule.directive == Directive::Disallow && !rule.pattern.is_empty();
    let disallows = |group: &&Group| group.rules.iter().any(is_disallow);
    let opens = |group: &&Group| {
        !group.rules.is_empty() && group.rules.iter().all(|rule| rule.pattern.is_empty())
    };
    if groups.iter().any(opens) && groups.iter().any(disallows) {
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

/// The crawlers that ignore `*` are few, so the message names them all.
pub(super) fn lint_openings(
    subject: &Subject<'_>,
    enforcement: Option<&Enforcement>,
    findings: &mut Findings,
) {
    if !closes_everything(&subject.file) {
        return;
    }
    let Some(star) = subject.matcher.star() else { return };
    let is_open = |crawler: &&Crawler| {
        crawler.is_identifiable()
            && subject.scope_of(crawler.product_token()).is_none()
            && !subject.is_bound_by_star(Name::Known(crawler))
    };
    let open: Vec<&Crawler> = subject.catalogue.iter().filter(is_open).collect();
    // Services that a site orders are programs, not crawlers.
    let ignores = |crawler: &&&Crawler| crawler.ignores_star() && !crawler.is_program();
    let crawlers: Vec<String> = open
        .iter()
        .filter(ignores)
        .map(|crawler| shown(crawler.product_token().as_str()))
        .collect();
    let is_fetcher =
        |crawler: &&&Crawler| crawler.kind() == Kind::UserTriggered && !crawler.ignores_star();
    let fetchers = open.iter().filter(is_fetcher).count();
    let mut who = Vec::new();
    if !crawlers.is_empty() {
        who.push(format!("crawlers that ignore '*' ({})", crawlers.join(", ")));
    }
    if fetchers > 0 {
        who.push(format!("{fetchers} fetchers that act for a person, such as ChatGPT-User"));
    }
    if who.is_empty() {
        return;
    }
    let message = format!("'*' closes the whole site, but does not bind {}", who.join(", nor "));
    let mut repairs = Vec::new();
    if !crawlers.is_empty() {
        repairs.push(match subject.is_policy() {
            true => format!("add to 'user_agents' of this group: {}", crawlers.join(", ")),
            false => format!("add a user-agent line to this group for {}", crawlers.join(", ")),
        });
    }
    if fetchers > 0 {
        repairs.push(match subject.is_policy() {
            true => "set 'enforcement.star_binds: [crawler, user-triggered, automation, none]'"
                .to_owned(),
            false => "name the fetchers too, or ask for a password".to_owned(),
        });
    }
    // Only an operator who refuses requests believes that the site is closed.
    let refuses = enforcement.is_some_and(|one| {
        one.ladder.is_some()
            || one.mode == Mode::Block
            || one.overrides.iter().any(|one| one.all && one.mode == Mode::Block)
    });
    let severity = if refuses { Severity::Warning } else { Severity::Note };
    let finding = Diagnostic::note("lint.not_closed", message).help(repairs.join("; "));
    // The place of the first `*`.
    let names = subject.matcher.tokens(star);
    let name = names.first().copied().unwrap_or("*");
    let place = subject.names().find(|(_, one, _)| one.name.trim() == name).map(|(.., at)| at);
    findings.add(place.unwrap_or_default(), Diagnostic { severity, ..finding });
}
