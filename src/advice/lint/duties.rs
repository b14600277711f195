//! Named groups that drop what `*` disallows: a crawler with a group of its own doesn't read `*`.
//!
//! A group says something about a rule of `*` if one of its rules matches all of the same paths, or
//! if it disallows a part of them. A group that opens everything in so many words is meant so, and
//! so is a group beside a `*` that closes everything: it lists who may come. A group without any rule
//! says neither.

use std::collections::BTreeSet;

use crate::{
    base::{
        diagnostic::{Diagnostic, Severity},
        escape::{first_of, shown},
    },
    formats::robots::{Directive, Group, Pattern, Scope},
    rules::policy::{Source, Spot},
};

use super::subject::{Findings, Ranked, Search, Subject, Written};

const NAMED: usize = 3;

pub(super) fn lint(subject: &Subject<'_>, findings: &mut Findings) {
    let star = subject.matcher.star();
    let of_star: Vec<Ranked<'_>> = star.map(|star| subject.ranked(star)).unwrap_or_default();
    let is_disallow = |one: &&Ranked<'_>| one.rule.directive == Directive::Disallow;
    let duties: Vec<Ranked<'_>> = of_star.iter().filter(is_disallow).copied().collect();
    for scope in subject.matcher.distinct_scopes() {
        if !subject.spend(subject.file.groups.len()) {
            return;
        }
        let Some((group, at)) = first_group(subject, scope).filter(|(group, _)| {
            let has_errors = subject.places.get(*group).is_some_and(|places| places.has_errors);
            Some(scope) != star && !has_errors
        }) else {
            continue;
        };
        let own = subject.ranked(scope);
        if opens_everything(subject, scope, &own) {
            continue;
        }
        let disallows = own.iter().any(|one| is_disallow(&one));
        let is_bare = is_bare(subject, scope);
        let dropped = if is_bare { duties.clone() } else { dropped(subject, &duties, &own) };
        let names = names(subject, scope);
        if !dropped.is_empty() {
            let finding = report(subject, &names, (disallows, is_bare), &dropped);
            findings.add(at, finding);
        } else if subject.written == Written::Policy(Source::Merge)
            && (is_bare || (!disallows && star.is_none()))
        {
            findings.add(at, report_origin(subject, &names, (group, is_bare)));
        }
    }
}

/// The rules of `*` about whose paths the rules of a group say nothing.
fn dropped<'s>(
    subject: &Subject<'_>,
    duties: &[Ranked<'s>],
    own: &[Ranked<'_>],
) -> Vec<Ranked<'s>> {
    // Those of which the group disallows a part.
    let search = Search::new(duties);
    let disallows = own.iter().filter(|one| one.rule.directive == Directive::Disallow);
    let in_part: BTreeSet<usize> =
        disallows.flat_map(|one| search.covering(subject, one)).collect();
    let search = Search::new(own);
    let is_dropped = |(at, duty): &(usize, &Ranked<'_>)| {
        !in_part.contains(at)
            && !is_everything(duty.pattern)
            && search.covering(subject, duty).is_empty()
    };
    let dropped: Vec<Ranked<'s>> =
        duties.iter().enumerate().filter(is_dropped).map(|(_, duty)| *duty).collect();
    // Without all comparisons, a rule only seems to be dropped.
    if subject.is_partial() { Vec::new() } else { dropped }
}

fn is_everything(pattern: &Pattern) -> bool {
    Pattern::new("/").is_ok_and(|all| pattern.includes(&all.sample()))
}

/// Whether a scope allows everything by a rule.
fn opens_everything(subject: &Subject<'_>, scope: Scope, own: &[Ranked<'_>]) -> bool {
    let says_so =
        |one: &Ranked<'_>| one.rule.directive == Directive::Allow && is_everything(one.pattern);
    let has_empty_rule = || {
        groups(subject, scope)
            .any(|(_, group)| group.rules.iter().any(|rule| rule.pattern.is_empty()))
    };
    own.iter().any(says_so) || (own.is_empty() && has_empty_rule())
}

fn is_bare(subject: &Subject<'_>, scope: Scope) -> bool {
    groups(subject, scope).all(|(_, group)| group.rules.is_empty() && group.records.is_empty())
}

/// The groups that a scope merges, with their numbers.
fn groups<'s>(subject: &'s Subject<'_>, scope: Scope) -> impl Iterator<Item = (usize, &'s Group)> {
    let names: Vec<String> =
        subject.matcher.tokens(scope).into_iter().map(str::to_ascii_lowercase).collect();
    let is_named = move |group: &Group| {
        let mut lower = group.user_agents.iter().map(|one| one.name.trim().to_ascii_lowercase());
        lower.any(|name| names.contains(&name))
    };
    subject.file.groups.iter().enumerate().filter(move |(_, group)| is_named(group))
}

/// The first group of a scope, and the place of its first name.
fn first_group(subject: &Subject<'_>, scope: Scope) -> Option<(usize, Spot)> {
    let (number, _) = groups(subject, scope).next()?;
    let spot = subject.places.get(number)?.names.first().copied();
    Some((number, spot.unwrap_or_default()))
}

fn names(subject: &Subject<'_>, scope: Scope) -> (String, bool) {
    match subject.matcher.tokens(scope).as_slice() {
        [only] => (format!("'{}'", shown(only)), false),
        [first, others @ ..] => {
            let others = others.len();
            let plural = if others == 1 { "" } else { "s" };
            (format!("'{}' and {others} other{plural}", shown(first)), true)
        }
        [] => ("the group".to_owned(), false),
    }
}

fn report(
    subject: &Subject<'_>,
    (names, are_several): &(String, bool),
    (disallows, is_bare): (bool, bool),
    dropped: &[Ranked<'_>],
) -> Diagnostic {
    let mut listed = dropped.to_vec();
    listed.sort_by_key(|one| one.number);
    let rules = first_of(listed.iter().map(|one| one.rule.quoted_with_line()), NAMED);
    let verb = if *are_several { "follow only their" } else { "follows only its" };
    let own = if is_bare { "own group, which has no rules" } else { "own group" };
    let message = format!("{names} {verb} {own}, so these rules of '*' don't apply: {rules}");
    // With rules of its own, the group is more likely meant as it is.
    let severity = if disallows { Severity::Note } else { subject.severity() };
    let patterns: Vec<String> =
        listed.iter().take(NAMED).map(|one| format!("\"{}\"", shown(&one.rule.text))).collect();
    let open = if subject.is_policy() { "'allow: [\"/\"]'" } else { "'Allow: /'" };
    let mut help = match (listed.len() > NAMED, subject.is_policy()) {
        (false, true) => {
            let patterns = patterns.join(", ");
            format!("add 'disallow: [{patterns}]' to the group, or {open} if it may fetch them")
        }
        (true, true) => format!(
            "repeat the {} rules in the group (by an anchor: 'disallow: &closed [...]' there, \
             'disallow: *closed' here), or add {open} if it may fetch them",
            listed.len()
        ),
        (_, false) => format!("repeat the rules in the group, or add {open} if it may fetch them"),
    };
    if is_bare {
        help.push_str("; without the group, '*' applies");
    }
    let finding = Diagnostic::note("lint.dropped_rules", message).help(help);
    Diagnostic { severity, ..finding }
}

/// A group that replaces the origin's rules by none.
fn report_origin(
    subject: &Subject<'_>,
    (names, are_several): &(String, bool),
    (group, is_bare): (usize, bool),
) -> Diagnostic {
    let overrides = subject.overriding.get(group).copied().unwrap_or(false);
    let (verb, own) = if *are_several { ("read", "their") } else { ("reads", "its") };
    let (what, severity) = match overrides {
        true => ("none of the rules of the origin's file", Severity::Warning),
        // A group that says nothing is hardly meant to open the site.
        false if is_bare => ("the '*' of the origin's file no longer", Severity::Warning),
        false => ("the '*' of the origin's file no longer", Severity::Note),
    };
    let message = format!(
        "{names} {verb} {what}, and {own} own group disallows nothing: whatever the origin's file \
         closes is open here"
    );
    let mut help =
        "add the paths to 'disallow' in this group, or 'allow: [\"/\"]' if that is meant"
            .to_owned();
    if is_bare && !overrides {
        help.push_str("; without the group, '*' applies");
    }
    let finding = Diagnostic::note("lint.dropped_rules", message).help(help);
    Diagnostic { severity, ..finding }
}
