//! What some parsers misread, each kind once, at its first place.
//!
//! The parsers are those of the tests in `.ci/long`, whose results the documentation shows.
//! [`robots::arrange`](crate::robots::arrange) avoids all of these kinds but the last.

use std::cmp::Reverse;

use crate::{diagnostic::Diagnostic, escape::shown, policy::Spot, robots::normal_text};

use super::{
    findings::Findings,
    subject::{Ruled, Subject},
};

/// The most names and rules that are compared with each other.
const MOST_COMPARED: usize = 1_000;
const FIRST_MATCH: &str = "Python's urllib (3.11) and robotexclusionrulesparser";

pub(super) fn lint(subject: &Subject<'_>, findings: &mut Findings) {
    let kinds = [names, last_group, order, spelling, wildcard];
    for (at, message, help) in kinds.into_iter().filter_map(|kind| kind(subject)) {
        findings.add(at, Diagnostic::note("lint.misread", message).help(help));
    }
}

type Misreading = Option<(Spot, String, String)>;

/// A name before a longer one that contains it.
fn names(subject: &Subject<'_>) -> Misreading {
    let groups = subject.file.groups.iter().zip(&subject.places).enumerate();
    let names = groups.flat_map(|(number, (group, places))| {
        let names = group.user_agents.iter().zip(&places.names);
        names.map(move |(one, at)| (number, one.name.trim().to_ascii_lowercase(), *at))
    });
    let names: Vec<_> = names.filter(|(_, name, _)| !name.is_empty() && name != "*").collect();
    for (place, (group, long, at)) in names.iter().enumerate().take(MOST_COMPARED) {
        let before = names.get(..place).unwrap_or_default();
        let is_part = |short: &str| short.len() < long.len() && long.contains(short);
        let found = before.iter().find(|(other, short, _)| other != group && is_part(short));
        if let Some((_, short, first)) = found {
            let (short, long) = (shown(short), shown(long));
            let message = format!(
                "'{short}' (line {}) stands before '{long}', which contains it: {FIRST_MATCH} give \
                 the rules of the first to both",
                first.line
            );
            return Some((*at, message, format!("write the group of '{long}' first")));
        }
    }
    None
}

/// A last group without any rule.
fn last_group(subject: &Subject<'_>) -> Misreading {
    let (group, places) = (subject.file.groups.last()?, subject.places.last()?);
    let is_alone = subject.file.groups.len() == 1;
    let at = *places.names.first().filter(|_| group.rules.is_empty() && !is_alone)?;
    let message = format!("the last group has no rules: {FIRST_MATCH} and robots-parser forget it");
    Some((at, message, "write an empty 'Disallow:' into it".to_owned()))
}

/// A rule before one of the other kind that decides on some of its paths.
fn order(subject: &Subject<'_>) -> Misreading {
    let rules: Vec<_> = subject.rules().map(|(_, rule)| rule).collect();
    let rank = |rule: &Ruled| {
        let specificity = rule.compiled.as_ref().map(|(pattern, _)| pattern.specificity());
        (Reverse(specificity), rule.directive)
    };
    for (place, later) in rules.iter().enumerate().take(MOST_COMPARED) {
        let Some((_, sample)) = &later.compiled else { continue };
        let before = rules.get(..place).unwrap_or_default();
        let before = before.iter().rev().take_while(|one| one.group == later.group);
        for earlier in before {
            let hides = || earlier.compiled.as_ref().is_some_and(|(one, _)| one.includes(sample));
            if earlier.directive != later.directive && rank(later) < rank(earlier) && hides() {
                let message = format!(
                    "{} decides, but {FIRST_MATCH} take the first rule that matches: {}",
                    later.quoted(),
                    earlier.quoted_with_line()
                );
                let help = "write longer rules first, and 'Allow' first of equally long ones";
                return Some((later.at, message, help.to_owned()));
            }
        }
    }
    None
}

/// A pattern that is not in normal form.
fn spelling(subject: &Subject<'_>) -> Misreading {
    let written = |text: &str| {
        let normal = normal_text(text);
        (normal != text).then_some(normal)
    };
    // A pattern with a space is reported already.
    let is_path = |rule: &Ruled| rule.compiled.is_some() && !rule.text.contains(' ');
    let mut rules = subject.rules().filter(|(_, rule)| is_path(rule));
    let (rule, normal) = rules.find_map(|(_, rule)| Some((rule, written(&rule.text)?)))?;
    let message = format!(
        "'{}' is not in normal form: some parsers compare it as it is written",
        shown(&rule.text)
    );
    Some((rule.at, message, format!("write '{}'", shown(&normal))))
}

/// A pattern with a wildcard.
fn wildcard(subject: &Subject<'_>) -> Misreading {
    let is_wild = |text: &str| text.contains('*') || text.ends_with('$');
    let is_found = |rule: &Ruled| rule.compiled.is_some() && is_wild(&rule.text);
    let (_, rule) = subject.rules().find(|(_, rule)| is_found(rule))?;
    let message = format!(
        "Python's urllib (3.11) has no wildcards: it reads '{}' as a path with these characters",
        shown(&rule.text)
    );
    let help = "write plain paths for what every crawler has to leave alone".to_owned();
    Some((rule.at, message, help))
}
