//! One line of an origin's `Robots-Tag` or `X-Robots-Tag`, read leniently.
//!
//! A proxy that adds rules to an invalid field voids its own rules. A proxy that drops an invalid
//! line loses the site's rules. So Beadle reads an invalid line as its author probably meant it: in
//! any case, in the syntax of the older field, and in that of the draft's first text
//! (draft-illyes-repext-00 §2.1.1). The line itself is never sent on.

use super::{
    findings::Findings,
    known_rules::{self, is_first_draft, takes_value},
    legacy::{self, Line},
    parse, rule,
    tag::{RobotsTag, Scope},
};
use crate::base::{diagnostic::Diagnostic, text::trimmed};

/// The reading of one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineReading {
    /// The rules that were understood.
    pub tag: RobotsTag,
    /// Whether the line is valid. An invalid line must not be sent on.
    pub valid: bool,
    /// The findings about the line.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads one line of an origin's `Robots-Tag` before the merge. A valid structured field is taken as
/// it is. Of any other line, the parts that can be understood are taken. Never fails. The limit of
/// [`MAX_BYTES`](super::MAX_BYTES) applies to the line.
pub fn read_leniently(line: &[u8]) -> LineReading {
    let mut findings = Findings::default();
    let value = parse::within_limit(trimmed(line), &mut findings);
    let (tag, valid) = match parse::field(value, &mut findings) {
        Ok(tag) => (tag.restricting(), true),
        Err(error) => {
            findings.void(value, &error);
            (understand(&String::from_utf8_lossy(value), &mut findings), false)
        }
    };
    LineReading { tag, valid, diagnostics: findings.into_vec() }
}

/// Reads the lines of an origin's `X-Robots-Tag` before the merge. Lines in the syntax of the new
/// field are understood too.
pub fn read_legacy_leniently(lines: &[&[u8]]) -> LineReading {
    let mut findings = Findings::default();
    let (old, new): (Vec<&[u8]>, Vec<&[u8]>) =
        lines.iter().partition(|line| !line.iter().any(|octet| b";=".contains(octet)));
    let mut tag = legacy::read_lines(&old, &mut findings);
    for line in &new {
        let text = String::from_utf8_lossy(line);
        findings.not_understood(&text);
        tag = tag.merge(understand(&text, &mut findings));
    }
    let findings = findings.into_vec();
    let valid = findings.iter().all(|finding| finding.code != "robots_tag.not_understood");
    LineReading { tag, valid, diagnostics: findings }
}

/// The rules in a text that is no structured field.
fn understand(text: &str, findings: &mut Findings) -> RobotsTag {
    let mut line = Line::new(findings);
    if is_first_draft(text) {
        for group in split(text, ';') {
            first_draft_group(group, &mut line);
        }
    } else {
        for member in split(text, ',') {
            self::member(member, &mut line);
        }
    }
    line.finish()
}

/// Reads a member of an invalid List, or a part of the older syntax.
fn member(text: &str, line: &mut Line<'_>) {
    let mut parts = split(text, ';').map(str::trim);
    let head = parts.next().unwrap_or_default();
    if head.is_empty() {
        return;
    }
    let scope = if is_older_syntax(head, text.contains(';'), line) {
        match head.split_once('=') {
            // `max-snippet=20` among rules: the older syntax with the sign of the new one.
            Some((name, value)) if takes_value(name.trim()) => {
                line.part("");
                line.rule(name, unquoted(value.trim()).as_deref().or(Some(value)));
            }
            _ => line.part(head),
        }
        None
    } else {
        line.part("");
        let name = unquoted(head).unwrap_or_else(|| head.to_owned());
        let Some(scope) = Scope::of_name(&name).filter(|_| !name.contains('"')) else {
            // The crawler of these rules is unknown.
            return line.findings.not_understood(head);
        };
        Some(scope)
    };
    for part in parts.filter(|part| !part.is_empty()) {
        let (name, value) = rule::split(part);
        match value.map(str::trim) {
            Some("?0") => {}
            Some("?1") | None => add_rule(line, scope.as_ref(), name, None),
            value => add_rule(line, scope.as_ref(), name, value),
        }
    }
}

fn add_rule(line: &mut Line<'_>, scope: Option<&Scope>, name: &str, value: Option<&str>) {
    match scope {
        Some(scope) => line.rule_for(scope.clone(), name, value),
        None => line.rule(name, value),
    }
}

/// Whether a member continues the older syntax, with a rule or a name before a colon at its
/// beginning. Otherwise it begins with the crawler of its own rules.
fn is_older_syntax(head: &str, has_rules: bool, line: &Line<'_>) -> bool {
    let (name, value) = rule::split(head);
    let is_rule = known_rules::lookup_any_case(name.trim()).is_some()
        && (value.is_none() || takes_value(name.trim()));
    let names_a_crawler = head.contains(':') && !head.starts_with('"');
    is_rule || names_a_crawler || line.continues(head) || (line.is_named && !has_rules)
}

/// Reads a group of the first draft: `[token=] rule, rule`, where `*=` may be left out.
fn first_draft_group(group: &str, line: &mut Line<'_>) {
    line.start();
    let mut rest = group;
    if let Some((token, after)) = group.split_once('=')
        && !token.contains(',')
        && !takes_value(token.trim())
    {
        line.name(token.trim());
        rest = after;
    }
    for part in rest.split(',') {
        match part.split_once('=') {
            Some((name, value)) => line.rule(name, Some(value)),
            None => line.part(part),
        }
    }
}

/// The parts between separators outside quotes.
fn split(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    let mut escaped = false;
    text.split(move |c| {
        let is_escaped = std::mem::take(&mut escaped);
        match c {
            '\\' if quoted && !is_escaped => escaped = true,
            '"' if !is_escaped => quoted = !quoted,
            _ => {}
        }
        c == separator && !quoted
    })
}

/// The text of a quoted string; `None` for any other text.
fn unquoted(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    Some(inner.replace("\\\"", "\"").replace("\\\\", "\\"))
}
