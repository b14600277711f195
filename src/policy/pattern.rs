//! A path pattern as the policy writes it.

use crate::{diagnostic::Diagnostic, escape::shown};

use super::{findings::Findings, shape::At};

/// A path pattern that is not empty and begins like one. A `$` inside it is a warning.
pub(super) fn read<'t>(text: &'t str, at: &At<'_>, findings: &mut Findings) -> Option<&'t str> {
    if text.is_empty() {
        findings.refuse(at, "an empty path matches nothing", "leave the entry out");
        return None;
    }
    if let Some(correction) = corrected(text) {
        let message = format!("'{}' does not begin with '/' or '*'", shown(text));
        findings.refuse(at, message, format!("write '{}'", shown(correction)));
        return None;
    }
    if text.trim_end_matches('$').contains('$') {
        let message = format!("a '$' inside '{}' stands for itself", shown(text));
        findings.add(
            at,
            Diagnostic::warning("policy.inner_dollar", message)
                .help("write it last to anchor the end, or as %24 for the character itself"),
        );
    }
    Some(text)
}

/// The path pattern that is probably meant by a URL, a query or a name; `None` if the text begins
/// like a pattern.
pub fn corrected(text: &str) -> Option<String> {
    if text.starts_with(['/', '*']) {
        return None;
    }
    Some(match (text.split_once("://"), text.strip_prefix('?')) {
        (Some((_, rest)), _) => rest.find('/').map_or("/", |at| &rest[at..]).to_owned(),
        (None, Some(_)) => format!("/*{text}"),
        (None, None) => format!("/{text}"),
    })
}
