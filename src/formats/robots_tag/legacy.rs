//! `X-Robots-Tag`: the older field, in all forms that search engines document.
//!
//! ```text
//! noindex, nofollow                                     for all
//! googlebot: noindex, nofollow                          for one, up to the next name or the end
//! noindex, googlebot: nofollow, otherbot: noarchive     both
//! max-snippet:20, max-image-preview:large               a rule with a value looks like a name
//! unavailable_after: Friday, 25-Jun-10 15:00:00 GMT     a date has commas and colons of its own
//! ```
//! There is no grammar. The draft formally deprecates the name, and asks parsers to continue to read
//! it (§5.3). `none` is `noindex` and `nofollow`; `all`, `index` and `follow` have no effect.

use super::{
    findings::Findings,
    known_rules::{self, ValueKind},
    legacy_line::Line,
    rule::Rule,
    tag::{RobotsTag, Scope},
};
use crate::base::{diagnostic::Diagnostic, product_token::ProductToken};

/// The tag of a response's `X-Robots-Tag` lines, and the findings about them. Each line stands for
/// itself. A part that can't be read is left out, the rest counts.
pub fn read_legacy(lines: &[&[u8]]) -> (RobotsTag, Vec<Diagnostic>) {
    let mut findings = Findings::default();
    let tag = read_lines(lines, &mut findings);
    (tag, findings.into_vec())
}

/// The tag of these lines; each line stands for itself.
pub(super) fn read_lines(lines: &[&[u8]], findings: &mut Findings) -> RobotsTag {
    let mut read = Line::new(findings);
    for line in lines {
        read.start();
        for part in String::from_utf8_lossy(line).split(',') {
            read.part(part);
        }
    }
    read.finish()
}

/// Whether this syntax can express a rule.
pub(super) fn can_express(rule: &Rule) -> bool {
    match rule.kind() {
        // An unknown name before a colon is read as a crawler's.
        None | Some(ValueKind::None) => rule.value().is_none() && rule.name() != "*",
        Some(ValueKind::Number | ValueKind::Choice(_)) => {
            rule.value().is_none() || rule.fits_its_kind()
        }
        Some(ValueKind::Date) => {
            let text = rule.legacy();
            let (tag, _) = read_legacy(&[text.as_bytes()]);
            tag.rules_of(&Scope::Any) == std::slice::from_ref(rule)
        }
    }
}

/// Whether this syntax can name a crawler. It can't if the name reads as a rule with a value.
pub(super) fn can_name(token: &ProductToken) -> bool {
    !known_rules::takes_value(token.key()) && !token.key().contains(';')
}

/// The tag of rules for one scope, in which no part may name a crawler.
pub(super) fn read_rules(content: &str, scope: Scope, findings: &mut Findings) -> RobotsTag {
    let mut line = Line::for_scope(scope, findings);
    for part in content.split(',') {
        line.part(part);
    }
    line.finish()
}
