//! One line of an origin's `Robots-Tag` as it was meant.
//!
//! A proxy that adds to a field it doesn't understand voids its own rules with it; one that drops
//! the line loses the site's. So a line that is no structured field is read for what it means, in
//! any case, in the syntax of the older field and in that of the draft's first text
//! (draft-illyes-repext-00 §2.1.1), and never sent on itself.

use super::{
    RobotsTag, Scope, known,
    legacy::{self, Line},
    lint::Findings,
    parse, rules,
};
use crate::diagnostic::Diagnostic;

/// What one line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineReading {
    /// What was understood.
    pub tag: RobotsTag,
    /// Whether the line is what it should be. Else it must not be sent on.
    pub valid: bool,
    /// What is wrong with it.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads one line of an origin's `Robots-Tag` before it is merged: a valid structured field is
/// taken as it is, anything else for what can be understood of it. Never fails; the limit of
/// [`super::MAX_BYTES`] holds for the line.
pub fn read_leniently(line: &[u8]) -> LineReading {
    let mut findings = Findings::default();
    let value = parse::within_limit(parse::trim(line), &mut findings);
    let (tag, valid) = match parse::field(value, &mut findings) {
        Ok(tag) => (tag.restricting(), true),
        Err(error) => {
            findings.void(value, &error);
            (understand(&String::from_utf8_lossy(value), &mut findings), false)
        }
    };
    LineReading { tag, valid, diagnostics: findings.into_vec() }
}

/// What a text means that is no structured field.
pub(super) fn understand(text: &str, findings: &mut Findings) -> RobotsTag {
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

/// A member of a List with mistakes, or what stands between two commas of the older syntax.
fn member(text: &str, line: &mut Line<'_>) {
    let mut parts = split(text, ';').map(str::trim);
    let head = parts.next().unwrap_or_default();
    if head.is_empty() {
        return;
    }
    let scope = if is_older_syntax(head, text.contains(';'), line) {
        match head.split_once('=') {
            // `max-snippet=20` among rules: the older syntax with the new sign.
            Some((name, value)) if legacy::takes_value(name.trim()) => {
                line.part("");
                line.rule(name, unquoted(value.trim()).as_deref().or(Some(value)));
            }
            _ => line.part(head),
        }
        None
    } else {
        line.part("");
        let name = unquoted(head).unwrap_or_else(|| head.to_owned());
        let Some(scope) = legacy::scope(&name).filter(|_| !name.contains('"')) else {
            // Nobody knows whom its rules are for.
            return line.findings.not_understood(head);
        };
        Some(scope)
    };
    for part in parts.filter(|part| !part.is_empty()) {
        let (name, value) = rules::split(part);
        match value.map(str::trim) {
            Some("?0") => {}
            Some("?1") | None => rule(line, scope.as_ref(), name, None),
            value => rule(line, scope.as_ref(), name, value),
        }
    }
}

fn rule(line: &mut Line<'_>, scope: Option<&Scope>, name: &str, value: Option<&str>) {
    match scope {
        Some(scope) => line.rule_for(scope.clone(), name, value),
        None => line.rule(name, value),
    }
}

/// Whether what begins a member goes on with the line (a rule, or a name before a colon) and does
/// not name whom the member's own rules are for.
fn is_older_syntax(head: &str, has_rules: bool, line: &Line<'_>) -> bool {
    let (name, value) = rules::split(head);
    let is_rule = known::lookup_any_case(name.trim()).is_some()
        && (value.is_none() || legacy::takes_value(name.trim()));
    let names_a_crawler = head.contains(':') && !head.starts_with('"');
    is_rule || names_a_crawler || line.continues(head) || (line.is_named && !has_rules)
}

/// A group of the first draft: `[token=] rule, rule`, where `*=` may be left out.
fn first_draft_group(group: &str, line: &mut Line<'_>) {
    line.start();
    let mut rest = group;
    if let Some((token, after)) = group.split_once('=')
        && !token.contains(',')
        && !legacy::takes_value(token.trim())
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

/// Whether a text is in the syntax of the first draft: groups between semicolons, `token=` before
/// their rules. In the present syntax nothing with `=` stands before the first semicolon.
pub(super) fn is_first_draft(text: &str) -> bool {
    let token_of = |group: &str| {
        let (token, _) = group.split_once('=')?;
        let token = token.trim();
        let is_token = !token.contains(['"', ',', ':']) && !legacy::takes_value(token);
        is_token.then_some(())
    };
    let mut groups = text.split(';');
    let first = groups.next().unwrap_or_default();
    let only_rules = || first.split(',').all(|part| known::lookup_any_case(part.trim()).is_some());
    token_of(first).is_some() || (only_rules() && groups.any(|group| token_of(group).is_some()))
}

/// The parts between separators that are not inside quotes.
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

/// The text of a quoted string.
fn unquoted(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    Some(inner.replace("\\\"", "\"").replace("\\\\", "\\"))
}
