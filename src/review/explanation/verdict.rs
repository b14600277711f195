//! What every explanation has: the verdict, the group and the rules.

use std::fmt;

use serde::Serialize;

use crate::{
    base::escape,
    formats::robots::{self, Matcher, Scope, Target},
    rules::enforce::Site,
};

/// The verdict for one target.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct VerdictRow {
    /// The target as the operator wrote it.
    pub(crate) target: String,
    pub(crate) path: String,
    /// The judged name.
    pub(crate) product_token: Option<String>,
    /// `allow` or `disallow`.
    pub(crate) verdict: &'static str,
    pub(crate) group: Option<Vec<String>>,
    pub(crate) rule: Option<RuleRow>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct RuleRow {
    /// `allow` or `disallow`.
    pub(crate) directive: &'static str,
    pub(crate) pattern: String,
    pub(crate) line: u32,
}

impl RuleRow {
    pub(crate) fn of(rule: &robots::Rule) -> Self {
        let robots::Rule { directive, pattern, line, .. } = rule;
        Self { directive: directive.as_str(), pattern: pattern.clone(), line: *line }
    }
}

/// A line of text with its label. An empty label continues the line before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) label: &'static str,
    /// The text; foreign octets in it are escaped.
    pub(crate) value: String,
}

impl Line {
    pub(crate) fn new(label: &'static str, value: impl Into<String>) -> Self {
        Self { label, value: value.into() }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { label, value } = self;
        write!(f, "  {label:<9} {value}")
    }
}

/// The lines for the group, the rule that decides, and the rule that it outranks. `site` knows the
/// sources of the rules.
pub(crate) fn group_lines(
    matcher: &Matcher,
    group: Scope,
    target: &Target<'_>,
    site: Option<&Site>,
) -> Vec<Line> {
    const SHOWN: usize = 5;
    let names = escape::first_of(matcher.tokens(group).iter().map(escape::shown), SHOWN);
    let mut lines = vec![Line::new("group", names)];
    let explanation = matcher.explain(group, target);
    if explanation.is_cut {
        let note =
            "origins may read the path in too many ways, so every disallow rule applies to it";
        lines.push(Line::new("note", note));
        return lines;
    }
    if explanation.matches.is_empty() {
        lines.push(Line::new("rule", "none matches, so it is allowed"));
        return lines;
    }
    for (number, matched) in explanation.matches.iter().take(2).enumerate() {
        let mut text = rule_text(matched);
        if let Some(source) = site.and_then(|site| site.edition().source(matched.rule.line)) {
            text.push_str(&format!(", {source}"));
        }
        lines.push(Line::new(if number == 0 { "rule" } else { "over" }, text));
    }
    if let Some(path) = other_form(&explanation) {
        let note = format!("allowed as written, but an origin may read the path as {path}");
        lines.push(Line::new("note", note));
    }
    lines
}

pub(crate) fn rule_text(robots::Match { rule, specificity }: &robots::Match<'_>) -> String {
    format!(
        "{}: {}   (robots.txt line {}, {specificity} octet{})",
        rule.directive.field_name(),
        escape::shown(&rule.pattern),
        rule.line,
        if *specificity == 1 { "" } else { "s" }
    )
}

/// The form of the path that is disallowed, if it is not the letter.
pub(super) fn other_form(explanation: &robots::Explanation<'_>) -> Option<String> {
    let is_other = explanation.verdict.form == robots::Form::Other && !explanation.is_cut;
    is_other.then(|| escape::text(&explanation.path))
}
