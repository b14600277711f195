//! A path pattern as the policy writes it.

use crate::{
    base::{
        diagnostic::{Diagnostic, Severity},
        escape::shown,
    },
    formats::robots::{self, Intent},
};

use super::shape::At;

/// A path pattern that is not empty and begins like one. A `$` inside it is a warning, and so is a
/// text that looks like a regular expression or a list.
pub(super) fn read<'t>(at: &At<'t>) -> Option<&'t str> {
    let text = at.text()?;
    if text.is_empty() {
        // RFC 9309's empty 'Disallow:' allows everything; without it, the group has no rules.
        let help = match at.path.contains(".disallow") {
            true => "leave the entry out; to allow everything, write 'allow: [\"/\"]'",
            false => "leave the entry out",
        };
        return at.refused("an empty path matches nothing", help);
    }
    let begins = text.starts_with(['/', '*']);
    if let Some(intent) = robots::intent(text) {
        // Some of these texts can't even be published, and no URL has a backslash.
        let is_regex = matches!(intent, Intent::Regex(_)) && text.contains('\\');
        let is_usable = begins && !text.contains(char::is_control) && !is_regex;
        let severity = if is_usable { Severity::Warning } else { Severity::Error };
        at.add(Diagnostic { severity, ..meant(text, intent) });
        return is_usable.then_some(text);
    }
    if !begins {
        let message = format!("'{}' does not begin with '/' or '*'", shown(text));
        let help = robots::corrected(text).map_or_else(
            || robots::BEGIN.to_owned(),
            |pattern| format!("write '{}'", shown(pattern)),
        );
        return at.refused(message, help);
    }
    if text.trim_end_matches('$').contains('$') {
        let message = format!("a '$' inside '{}' stands for itself", shown(text));
        let help = "write it last to anchor the end, or as %24 for the character itself";
        at.warn("policy.inner_dollar", message, help);
    }
    Some(text)
}

/// The finding about a text that says something else than is meant.
fn meant(text: &str, intent: Intent) -> Diagnostic {
    let list = |patterns: &[String]| {
        let quoted: Vec<String> =
            patterns.iter().map(|pattern| format!("\"{}\"", shown(pattern))).collect();
        quoted.join(", ")
    };
    match intent {
        Intent::List(paths) => {
            let message = format!("'{}' is one path; it looks like a list of paths", shown(text));
            Diagnostic::warning("policy.list_pattern", message)
                .help(format!("write an entry for each: {}", list(&paths)))
        }
        Intent::Regex(patterns) => {
            let message = format!(
                "'{}' looks like a regular expression; only '*' and a '$' at the end are special",
                shown(text)
            );
            Diagnostic::warning("policy.regex_pattern", message).help(match patterns.as_slice() {
                [] => robots::NO_REGEX.to_owned(),
                [only] => format!("for a regular expression, write \"{}\"", shown(only)),
                all => format!("for a regular expression, write an entry for each: {}", list(all)),
            })
        }
    }
}
