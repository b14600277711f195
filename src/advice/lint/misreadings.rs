//! What some parsers misread, each kind once, at its first place.
//!
//! The parsers are those of the tests in `.ci/long`, whose results the documentation shows.
//! [`robots::arrange`](crate::formats::robots::arrange) avoids all of these kinds but the last three.

use std::cmp::Reverse;

use crate::{base::escape::shown, formats::robots::normal_text, rules::policy::Spot};

use super::subject::{Findings, Ruled, Subject};

/// The most names and rules that are compared with each other.
const MOST_COMPARED: usize = 1_000;

/// The parsers that misread each kind, by the columns of the table in the documentation.
pub const MISREADERS: [(&str, &[&str]); 7] = [
    (NAMES, &["robotexclusionrulesparser", URLLIB]),
    (LAST_GROUP, &["robotexclusionrulesparser", "robots-parser", URLLIB]),
    (ORDER, &["robotexclusionrulesparser", URLLIB]),
    (
        SPELLING,
        &[
            "fast-robots",
            GOOGLE,
            "robots-parser",
            "robots-txt-guard",
            "robots-txt-parser",
            "texting_robots",
        ],
    ),
    (WILDCARD, &[URLLIB]),
    (PART, &["Protego", "robotexclusionrulesparser", "robots-txt-guard", URLLIB]),
    (DIGITS, &[GOOGLE, "robotspy"]),
];
const NAMES: &str = "a name before a longer one";
const LAST_GROUP: &str = "a last group without rules";
const ORDER: &str = "a short rule before a longer one";
const SPELLING: &str = "another spelling";
const WILDCARD: &str = "wildcards";
const PART: &str = "a part of another crawler's name";
const DIGITS: &str = "a name with digits";
const URLLIB: &str = "urllib (Python 3.11)";
const GOOGLE: &str = "gpyrobotstxt";

/// Adds each kind once, at its first place in these files.
pub(super) fn lint(subjects: &[Subject<'_>], findings: &mut Findings) {
    for kind in [names, last_group, order, spelling, wildcard, part, digits] {
        if let Some((at, message, help)) = subjects.iter().find_map(kind) {
            findings.note(at, "lint.misread", message, &help);
        }
    }
}

/// The parsers that misread a kind, as a part of a sentence.
fn parsers(kind: &str) -> String {
    let found = MISREADERS.iter().find(|(one, _)| *one == kind);
    match found.map_or(&[][..], |(_, parsers)| parsers) {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        parsers => parsers.concat(),
    }
}

type Misreading = Option<(Spot, String, String)>;

/// A name before a longer one that contains it.
fn names(subject: &Subject<'_>) -> Misreading {
    let names = subject.names();
    let names = names.map(|(number, one, at)| (number, one.name.trim().to_ascii_lowercase(), at));
    let names: Vec<_> = names.filter(|(_, name, _)| !name.is_empty() && name != "*").collect();
    for (place, (group, long, at)) in names.iter().enumerate().take(MOST_COMPARED) {
        let before = names.get(..place).unwrap_or_default();
        let is_part = |short: &str| short.len() < long.len() && long.contains(short);
        let found = before.iter().find(|(other, short, _)| other != group && is_part(short));
        if let Some((_, short, first)) = found {
            let (short, long) = (shown(short), shown(long));
            let message = format!(
                "'{short}' (line {}) stands before '{long}', which contains it: {} give the rules of \
                 the first to both",
                first.line,
                parsers(NAMES)
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
    let message = format!("the last group has no rules: {} forget it", parsers(LAST_GROUP));
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
                    "{} decides, but {} take the first rule that matches: {}",
                    later.quoted(),
                    parsers(ORDER),
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
        "'{}' is not in normal form: {} compare it as it is written",
        shown(&rule.text),
        parsers(SPELLING)
    );
    Some((rule.at, message, format!("write '{}'", shown(&normal))))
}

fn wildcard(subject: &Subject<'_>) -> Misreading {
    let is_wild = |text: &str| text.contains('*') || text.ends_with('$');
    let is_found = |rule: &Ruled| rule.compiled.is_some() && is_wild(&rule.text);
    let (_, rule) = subject.rules().find(|(_, rule)| is_found(rule))?;
    let message = format!(
        "{} has no wildcards: it reads '{}' as a path with these characters",
        parsers(WILDCARD),
        shown(&rule.text)
    );
    let help = "write plain paths for what every crawler has to leave alone".to_owned();
    Some((rule.at, message, help))
}

/// A name that no crawler has, with which the name of a crawler without a group begins.
fn part(subject: &Subject<'_>) -> Misreading {
    let begins = |long: &str, name: &str| {
        let begin = long.get(..name.len());
        long.len() > name.len() && begin.is_some_and(|begin| begin.eq_ignore_ascii_case(name))
    };
    let mut unknown = names_of(subject).filter(|(name, _)| subject.catalogue.find(name).is_none());
    let (name, long, at) = unknown.find_map(|(name, at)| {
        let tokens = subject.catalogue.iter().map(|crawler| crawler.product_token().as_str());
        let mut longer = tokens.filter(|long| begins(long, name));
        let has_group = |long: &str| subject.matcher.group(long).is_some();
        Some((name, longer.find(|long| !has_group(long))?, at))
    })?;
    let (shown, parsers) = (shown(name), parsers(PART));
    let message = format!("'{long}' begins with '{shown}': {parsers} apply this group to it");
    Some((at, message, "name each crawler by its whole product token".to_owned()))
}

/// A name with digits, which RFC 9309 §2.2.1 has none of.
fn digits(subject: &Subject<'_>) -> Misreading {
    let is_digit = |c: char| c.is_ascii_digit();
    let (name, at) = names_of(subject).find(|(name, _)| name.contains(is_digit))?;
    let read = name.split(is_digit).next().unwrap_or_default();
    let (name, read, parsers) = (shown(name), shown(read), parsers(DIGITS));
    let message = format!("'{name}' has digits: {parsers} read it as '{read}'");
    let help = "write what every crawler has to leave alone into the group for '*', too";
    Some((at, message, help.to_owned()))
}

/// The names of the groups, but for `*`.
fn names_of<'s>(subject: &'s Subject<'_>) -> impl Iterator<Item = (&'s str, Spot)> {
    let names = subject.names().map(|(_, one, at)| (one.name.trim(), at));
    names.filter(|(name, _)| !name.is_empty() && *name != "*").take(MOST_COMPARED)
}
