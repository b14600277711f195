//! Rows and lines that every explanation has: the verdict, the group and the rules.

use std::io::Write;

use serde::Serialize;

use crate::{
    cli::exit::Error,
    enforce::Site,
    escape,
    robots::{self, Matcher, Scope, Target},
};

/// The verdict for one target, as a JSON object.
#[derive(Serialize)]
pub(super) struct VerdictRow<'a> {
    pub(super) target: String,
    pub(super) path: String,
    pub(super) product_token: Option<&'a str>,
    pub(super) verdict: &'static str,
    pub(super) group: Option<Vec<&'a str>>,
    pub(super) rule: Option<RuleRow<'a>>,
}

/// The rule that decides.
#[derive(Serialize)]
pub(super) struct RuleRow<'a> {
    directive: &'static str,
    pattern: &'a str,
    line: u32,
}

impl<'a> RuleRow<'a> {
    pub(super) fn of(rule: &'a robots::Rule) -> Self {
        Self { directive: rule.directive.as_str(), pattern: &rule.pattern, line: rule.line }
    }
}

/// The lines for the group, the rule that decides, and the rule that it outranks.
pub(super) fn group_lines(
    out: &mut dyn Write,
    matcher: &Matcher,
    group: Scope,
    target: &Target<'_>,
    site: Option<&Site>,
) -> Result<(), Error> {
    const SHOWN: usize = 5;
    let tokens = matcher.tokens(group);
    let more = tokens.len().saturating_sub(SHOWN);
    let mut names = tokens.iter().take(SHOWN).map(escape::shown).collect::<Vec<_>>().join(", ");
    if more > 0 {
        names.push_str(&format!(" and {more} more"));
    }
    line(out, "group", &names)?;
    let explanation = matcher.explain(group, target);
    if explanation.is_cut {
        let note =
            "origins may read the path in too many ways, so every disallow rule applies to it";
        return line(out, "note", note);
    }
    if explanation.matches.is_empty() {
        return line(out, "rule", "none matches, so it is allowed");
    }
    for (number, matched) in explanation.matches.iter().take(2).enumerate() {
        let rule = matched.rule;
        let directive = rule.directive.field_name();
        let mut text = format!(
            "{directive}: {}   (robots.txt line {}, {} octet{})",
            escape::shown(&rule.pattern),
            rule.line,
            matched.specificity,
            if matched.specificity == 1 { "" } else { "s" }
        );
        if let Some(source) = site.and_then(|site| site.edition().source(rule.line)) {
            text.push_str(&format!(", {source}"));
        }
        line(out, if number == 0 { "rule" } else { "over" }, &text)?;
    }
    if let Some(path) = evasion_form(&explanation) {
        line(out, "note", &format!("an origin may read the path as {path}"))?;
    }
    Ok(())
}

/// The form of the path that is disallowed, if it is not the letter.
pub(super) fn evasion_form(explanation: &robots::Explanation<'_>) -> Option<String> {
    let is_evasion = explanation.verdict.form == robots::Form::Evasion && !explanation.is_cut;
    is_evasion.then(|| escape::text(&explanation.path))
}

/// A line of text with its label.
pub(super) fn line(out: &mut dyn Write, label: &str, value: &str) -> Result<(), Error> {
    Ok(writeln!(out, "  {label:<9} {value}")?)
}
