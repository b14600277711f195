//! Rules that never decide, and rules that decide as others would.
//!
//! A rule is compared with each other rule of the groups in which it stands. A rule that several
//! others cover only together is not found.

use std::collections::BTreeMap;

use crate::{
    base::diagnostic::{Diagnostic, Severity},
    formats::robots::Directive,
    rules::policy::Source,
};

use super::subject::{Findings, Ranked, Ruled, Search, Subject, Written};

/// Why a rule has no effect.
#[derive(Clone, Copy)]
enum Idle<'s> {
    /// This one matches all of its paths, and decides first.
    Unreachable(&'s Ruled),
    /// This one says the same about all of its paths.
    Redundant(&'s Ruled),
    /// Nothing disallows the paths that it allows.
    NoException,
}

pub(super) fn lint(subject: &Subject<'_>, findings: &mut Findings) {
    // How many scopes have each rule, and why it is idle in those where it is.
    let mut scopes: BTreeMap<usize, usize> = BTreeMap::new();
    let mut idle: BTreeMap<usize, Vec<Idle<'_>>> = BTreeMap::new();
    for scope in subject.matcher.distinct_scopes() {
        let ranked = subject.ranked(scope);
        let scoped = Scoped::new(&ranked);
        for (at, one) in ranked.iter().enumerate() {
            *scopes.entry(one.number).or_default() += 1;
            if let Some(why) = scoped.why_idle(subject, at) {
                idle.entry(one.number).or_default().push(why);
            }
        }
    }
    for (number, rule) in subject.rules() {
        let reasons = idle.get(&number).map(Vec::as_slice).unwrap_or_default();
        if let Some(why) = reasons.first().filter(|_| scopes.get(&number) == Some(&reasons.len())) {
            report(subject, rule, *why, findings);
        }
        lint_empty(subject, rule, findings);
    }
}

/// The rules of a scope, and where those of each kind are.
struct Scoped<'r, 's> {
    ranked: &'r [Ranked<'s>],
    search: Search<'r, 's>,
    /// The places of the rules that allow, and of those that disallow.
    allows: Vec<usize>,
    disallows: Vec<usize>,
}

impl<'r, 's> Scoped<'r, 's> {
    fn new(ranked: &'r [Ranked<'s>]) -> Self {
        let of = |directive: Directive| {
            let rules = ranked.iter().enumerate();
            rules.filter(|(_, one)| one.rule.directive == directive).map(|(at, _)| at).collect()
        };
        let (allows, disallows) = (of(Directive::Allow), of(Directive::Disallow));
        Self { ranked, search: Search::new(ranked), allows, disallows }
    }

    fn why_idle(&self, subject: &Subject<'_>, at: usize) -> Option<Idle<'s>> {
        let one = self.ranked.get(at)?;
        let mut covering = self.search.covering(subject, one);
        covering.retain(|other| *other != at);
        let rule = |at: usize| self.ranked.get(at).map(|one| one.rule);
        if let Some(first) = covering.first().filter(|other| **other < at) {
            return rule(*first).map(Idle::Unreachable);
        }
        // The origin's rules, or rules with errors, may stand between those of the policy.
        if subject.written == Written::Policy(Source::Merge) || !subject.is_whole() {
            return None;
        }
        let opposite = match one.rule.directive {
            Directive::Allow => &self.disallows,
            Directive::Disallow => &self.allows,
        };
        let is_between = |from: usize, until: usize| {
            let start = opposite.partition_point(|other| *other <= from);
            let others = opposite.get(start..).unwrap_or_default();
            let mut others = others.iter().take_while(move |other| **other < until);
            others.any(|other| {
                let other = self.ranked.get(*other);
                !subject.spend(1) || other.is_some_and(|other| other.pattern.overlaps(one.pattern))
            })
        };
        let same = covering
            .iter()
            .copied()
            .find(|other| rule(*other).is_some_and(|other| other.directive == one.rule.directive));
        if let Some(same) = same.filter(|same| !is_between(at, *same)) {
            return rule(same).map(Idle::Redundant);
        }
        let is_exception = one.rule.directive == Directive::Allow
            && !self.disallows.is_empty()
            && !matches!(one.rule.text.as_str(), "/" | "*" | "/*");
        (is_exception && !is_between(at, usize::MAX)).then_some(Idle::NoException)
    }
}

fn report(subject: &Subject<'_>, rule: &Ruled, why: Idle<'_>, findings: &mut Findings) {
    let quoted = rule.quoted();
    let finding = match why {
        Idle::Unreachable(by) if by.directive == rule.directive && by.text == rule.text => {
            let message = format!("{quoted} stands in line {} already", by.at.line);
            Diagnostic::note("lint.repeated_rule", message).help("remove one of the two")
        }
        // The reader of a policy says so.
        Idle::Unreachable(by)
            if subject.is_policy() && by.text == rule.text && by.group == rule.group =>
        {
            return;
        }
        Idle::Unreachable(by) => {
            let message = format!(
                "{quoted} never decides: {} comes before it on every path",
                by.quoted_with_line()
            );
            let severity =
                if by.directive == rule.directive { Severity::Note } else { subject.severity() };
            let help = "remove the one that is not meant; the longer rule decides, and allow if both \
                        are equally long";
            Diagnostic { severity, ..Diagnostic::note("lint.unreachable_rule", message).help(help) }
        }
        Idle::Redundant(by) => {
            let message =
                format!("{quoted} changes nothing: {} says the same", by.quoted_with_line());
            Diagnostic::note("lint.redundant_rule", message).help("remove it")
        }
        Idle::NoException => {
            let message =
                format!("{quoted} changes nothing: no shorter rule disallows these paths");
            Diagnostic::note("lint.idle_allow", message)
                .help("remove it, or correct the rule to which it is an exception")
        }
    };
    findings.add(rule.at, finding);
}

/// A line without a path beside other rules.
fn lint_empty(subject: &Subject<'_>, rule: &Ruled, findings: &mut Findings) {
    let has_others = || {
        let group = subject.file.groups.get(rule.group);
        group.is_some_and(|group| group.rules.iter().any(|one| !one.pattern.is_empty()))
    };
    if rule.text.is_empty() && has_others() {
        let name = rule.directive.field_name();
        let message = format!("an empty '{name}' has no effect: the other rules of the group stay");
        findings.note(rule.at, "lint.empty_rule", message, "remove the line");
    }
}
