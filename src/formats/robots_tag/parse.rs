//! The strict parser: `Robots-Tag` as a crawler reads it that follows the draft (§3.1.1).
//!
//! A field that the algorithms of RFC 9651 refuse is void as a whole.

use std::convert::Infallible;

use sfv::{
    BareItemFromInput, KeyRef, Parser,
    visitor::{
        EntryVisitor, Ignored, InnerListVisitor, ItemVisitor, ListVisitor, ParameterVisitor,
    },
};

use super::{
    findings::Findings,
    rule::Rule,
    tag::{MAX_BYTES, RobotsTag, Scope},
};
use crate::base::{diagnostic::Diagnostic, product_token::ProductToken, text::trimmed};

/// The tag of a response's `Robots-Tag` lines, and the findings about them.
///
/// The lines are combined with `, ` (RFC 9110 §5.3) and read as one List, so one bad octet voids
/// all of them. Only the first [`MAX_BYTES`] of the combined value are read; the member that the
/// limit cuts is ignored (§3.1.1). Rules are kept as they stand, known or unknown.
pub fn read(lines: &[&[u8]]) -> (RobotsTag, Vec<Diagnostic>) {
    let mut findings = Findings::default();
    let combined;
    let value = match lines {
        [] => return (RobotsTag::default(), Vec::new()),
        [line] => trimmed(line),
        lines => {
            combined = lines.iter().map(|line| trimmed(line)).collect::<Vec<_>>().join(&b", "[..]);
            &combined
        }
    };
    let value = within_limit(value, &mut findings);
    let tag = field(value, &mut findings).unwrap_or_else(|error| {
        findings.void(value, &error);
        RobotsTag::default()
    });
    (tag, findings.into_vec())
}

/// The tag of a List of product tokens with rules.
pub(super) fn field(value: &[u8], findings: &mut Findings) -> Result<RobotsTag, sfv::Error> {
    let before = findings.len();
    let members = Members { read: Vec::new(), findings: &mut *findings };
    match Parser::new(value).parse_list_with_visitor(members) {
        Ok(tag) => {
            findings.contradictions(&tag);
            Ok(tag)
        }
        Err(error) => {
            // The field is void, so findings about its first members help no operator.
            findings.truncate(before);
            Err(error)
        }
    }
}

/// The octets of `value` that are read: all, or those up to the last whole member within
/// [`MAX_BYTES`]. A member is whole if a comma follows it, which may be the first octet past the
/// limit.
pub(super) fn within_limit<'v>(value: &'v [u8], findings: &mut Findings) -> &'v [u8] {
    let Some((read, rest)) = value.split_at_checked(MAX_BYTES) else { return value };
    if rest.is_empty() {
        return value;
    }
    findings.warn("robots_tag.too_long", "", || {
        let length = value.len();
        format!(
            "Robots-Tag has {length} bytes; crawlers may ignore all after the first {MAX_BYTES}"
        )
    });
    let mut whole = 0;
    let mut quoted = false;
    let mut octets = read.iter().chain(rest.first()).enumerate();
    while let Some((at, octet)) = octets.next() {
        match octet {
            b'\\' if quoted => drop(octets.next()),
            b'"' => quoted = !quoted,
            // A comma after a comma ends no member.
            b',' if !quoted && (whole == 0 || !trimmed(&value[whole + 1..at]).is_empty()) => {
                whole = at
            }
            _ => {}
        }
    }
    &value[..whole]
}

/// The scope of a member's name. White space around the name makes it another name.
fn scope(name: &str) -> Option<Scope> {
    if name == "*" {
        return Some(Scope::Any);
    }
    ProductToken::new(name).filter(|token| token.as_str() == name).map(Scope::Token)
}

struct Members<'f> {
    read: Vec<(Scope, Vec<Rule>)>,
    findings: &'f mut Findings,
}

struct Member<'m, 'f>(&'m mut Members<'f>);

struct Rules<'m, 'f, 'de> {
    members: &'m mut Members<'f>,
    scope: Scope,
    parameters: Vec<(&'de str, BareItemFromInput<'de>)>,
}

impl<'de> ListVisitor<'de> for Members<'_> {
    type Out = RobotsTag;
    type Error = Infallible;

    fn entry(&mut self) -> Result<impl EntryVisitor<'de>, Infallible> {
        // The reborrow gives the member a lifetime of its own.
        Ok(Member(self))
    }

    fn finish(self) -> Result<RobotsTag, Infallible> {
        Ok(RobotsTag::of_members(self.read))
    }
}

impl<'de> EntryVisitor<'de> for Member<'_, '_> {
    type Error = Infallible;

    fn item(self) -> Result<impl ItemVisitor<'de>, Infallible> {
        Ok(self)
    }

    fn inner_list(self) -> Result<impl InnerListVisitor<'de>, Infallible> {
        self.0.findings.no_item();
        Ok(Ignored)
    }
}

impl<'de> ItemVisitor<'de> for Member<'_, '_> {
    type Out = Option<()>;
    type Error = Infallible;

    fn bare_item(
        self,
        item: BareItemFromInput<'de>,
    ) -> Result<impl ParameterVisitor<'de, Out = Option<()>>, Infallible> {
        // A product token is a string (§3.1.1). A Token can't begin with a digit, `-` or `_`, so
        // both types are read.
        let name = match &item {
            BareItemFromInput::Token(token) => token.as_str(),
            BareItemFromInput::String(text) => text.as_str(),
            _ => {
                self.0.findings.no_item();
                return Ok(None);
            }
        };
        let Some(scope) = scope(name) else {
            self.0.findings.no_product_token(name);
            return Ok(None);
        };
        Ok(Some(Rules { members: self.0, scope, parameters: Vec::with_capacity(4) }))
    }
}

impl<'de> ParameterVisitor<'de> for Rules<'_, '_, 'de> {
    type Out = ();
    type Error = Infallible;

    fn parameter(
        &mut self,
        key: &'de KeyRef,
        item: BareItemFromInput<'de>,
    ) -> Result<(), Infallible> {
        self.parameters.push((key.as_str(), item));
        Ok(())
    }

    fn finish(mut self) -> Result<(), Infallible> {
        let findings = &mut *self.members.findings;
        if let Scope::Token(token) = &self.scope {
            findings.member(token.as_str(), !self.parameters.is_empty());
        }
        // RFC 9651 §4.2.3.2: of a repeated key the last value counts. The sort is stable.
        self.parameters.sort_by_key(|(key, _)| *key);
        let mut rules = Vec::with_capacity(self.parameters.len());
        let mut parameters = self.parameters.into_iter().peekable();
        while let Some((key, item)) = parameters.next() {
            if parameters.peek().is_some_and(|(next, _)| *next == key) {
                findings.warn("robots_tag.repeated_rule", "", || {
                    format!("'{key}' stands twice in one member; the last one counts")
                });
                continue;
            }
            match Rule::of_parameter(key, item) {
                Some(rule) => {
                    findings.rule(&rule);
                    rules.push(rule);
                }
                // A rule that is not set lifts nothing.
                None => findings.add(|| {
                    let message = format!("'{key}=?0' has no effect: no rule lifts a restriction");
                    Diagnostic::note("robots_tag.unset_rule", message)
                }),
            }
        }
        self.members.read.push((self.scope, rules));
        Ok(())
    }
}
