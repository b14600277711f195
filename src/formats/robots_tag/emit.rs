//! A robots tag as text: one valid structured field, or lines of the older syntax.
//!
//! The two 2026 texts of the draft differ in whether a named crawler still follows `*`. So the rules
//! of `*` are repeated with every token, and both readings agree. Keys are in lower case, no rule is
//! repeated within a scope, and the field is never longer than a crawler has to read.

use sfv::{ItemSerializer, KeyRef, Parser, StringRef, TokenRef};

use super::{
    known_rules::ValueKind,
    legacy,
    rule::{Rule, Value},
    tag::{MAX_BYTES, RobotsTag, Scope},
};
use crate::base::{diagnostic::Diagnostic, escape, product_token::ProductToken};

/// A field of at most [`MAX_BYTES`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The field's value; `None` for an empty tag, because an empty List is not sent (RFC 9651 §4.1).
    pub value: Option<String>,
    /// Whether all rules fit. Otherwise members were left out from the end.
    pub complete: bool,
}

impl RobotsTag {
    /// The value of one `Robots-Tag` field: `*` first, then the tokens sorted. `None` for an empty
    /// tag. At most [`MAX_BYTES`] long: rules that don't fit are left out from the end, one by one.
    /// [`Self::field_len`] gives the full length.
    pub fn to_field(&self) -> Option<String> {
        self.to_field_keeping(&Self::default()).value
    }

    /// The field of a union that contains `own`. Rules of `own` are left out last.
    pub(crate) fn to_field_keeping(&self, own: &Self) -> Field {
        let mut list = List::new(MAX_BYTES);
        // The rules of `*` are repeated with each token.
        let rules_in = |scope: &Scope| self.restrictions(scope.token());
        if self.scopes().all(|(scope, _)| list.push(scope, &rules_in(scope))) {
            return Field { value: list.into_value(), complete: true };
        }
        // Too long: without the repetition of `*`, first `own`, then as much of the rest as fits.
        let mut list = List::new(MAX_BYTES);
        let mut complete = true;
        for (scope, rules) in own.scopes() {
            complete &= list.push_some(scope, &rules.iter().collect::<Vec<_>>());
        }
        for (scope, rules) in self.scopes() {
            let own = own.rules_of(scope);
            let rest = rules.iter().filter(|rule| own.binary_search(rule).is_err());
            complete &= list.push_some(scope, &rest.collect::<Vec<_>>());
        }
        Field { value: list.into_value(), complete }
    }

    /// The length of the field without a limit, in octets. The time grows with the result.
    pub fn field_len(&self) -> usize {
        let mut list = List::new(usize::MAX);
        for (scope, _) in self.scopes() {
            list.push(scope, &self.restrictions(scope.token()));
        }
        list.text.len()
    }

    /// The values of the `X-Robots-Tag` field lines, one for each scope: `noindex, nosnippet` and
    /// `googlebot: noarchive`. Rules that this syntax can't express are left out;
    /// [`Self::unsayable_in_legacy`] names them.
    pub fn to_legacy(&self) -> Vec<String> {
        self.scopes().filter_map(|(scope, rules)| legacy_line(scope, rules)).collect()
    }

    /// A finding for each rule that `X-Robots-Tag` can't express: an unknown rule with a value (its
    /// name reads as a crawler's), a date that readers would split, the rules for a crawler whose
    /// name reads as a rule. The structured field can express them all. Each finding is there once.
    pub fn unsayable_in_legacy(&self) -> Vec<Diagnostic> {
        let mut findings = Vec::new();
        let mut unsayable = |what: String| {
            let message = format!("X-Robots-Tag can't express {what}");
            let finding = Diagnostic::warning("robots_tag.unsayable", message)
                .help("X-Robots-Tag leaves it out; Robots-Tag has it");
            if !findings.contains(&finding) {
                findings.push(finding);
            }
        };
        for (scope, rules) in self.scopes() {
            if let Scope::Token(token) = scope
                && !legacy::can_name(token)
            {
                unsayable(format!("rules for '{}'", escape::text(token.as_str().as_bytes())));
                continue;
            }
            for rule in rules.iter().filter(|rule| !legacy::can_express(rule)) {
                unsayable(format!("'{}'", escape::text(rule.to_string().as_bytes())));
            }
        }
        findings
    }
}

/// The line for a scope. Dates stand last: readers that stop at their commas lose no other rule.
fn legacy_line(scope: &Scope, rules: &[Rule]) -> Option<String> {
    let is_date = |rule: &&Rule| rule.kind() == Some(ValueKind::Date);
    let expressible = || rules.iter().filter(|rule| legacy::can_express(rule));
    let mut line = match scope {
        Scope::Any => String::new(),
        Scope::Token(token) if legacy::can_name(token) => format!("{token}: "),
        Scope::Token(_) => return None,
    };
    let prefix = line.len();
    for rule in expressible().filter(|rule| !is_date(rule)).chain(expressible().filter(is_date)) {
        if line.len() > prefix {
            line.push_str(", ");
        }
        match rule.value() {
            None => line.push_str(rule.name()),
            Some(_) => line.push_str(&rule.legacy()),
        }
    }
    (line.len() > prefix).then_some(line)
}

/// A List (RFC 9651 §4.1.1) that grows by whole members up to a limit in octets.
struct List {
    text: String,
    limit: usize,
}

impl List {
    fn new(limit: usize) -> Self {
        Self { text: String::with_capacity(64), limit }
    }

    /// Adds these rules for a scope if they fit, and returns whether they do. A rule with a repeated
    /// name needs a member of its own, because in one member only the last value counts.
    fn push(&mut self, scope: &Scope, rules: &[&Rule]) -> bool {
        let start = self.text.len();
        let mut previous = "";
        let mut repeats = false;
        let first = rules.iter().copied().filter(|rule| {
            let is_new = std::mem::replace(&mut previous, rule.name()) != rule.name();
            repeats |= !is_new;
            is_new
        });
        self.member(scope, first);
        if repeats {
            let again = rules.windows(2).filter_map(|pair| match pair {
                [before, rule] if before.name() == rule.name() => Some(*rule),
                _ => None,
            });
            for rule in again {
                if self.text.len() > self.limit {
                    break;
                }
                self.member(scope, std::iter::once(rule));
            }
        }
        let fits = self.text.len() <= self.limit;
        if !fits {
            self.text.truncate(start);
        }
        fits
    }

    /// Adds as many of these rules as fit. Returns whether all did.
    fn push_some(&mut self, scope: &Scope, rules: &[&Rule]) -> bool {
        if rules.is_empty() || self.push(scope, rules) {
            return true;
        }
        for rule in rules {
            if !self.push(scope, &[rule]) {
                break;
            }
        }
        false
    }

    fn member<'r>(&mut self, scope: &Scope, rules: impl Iterator<Item = &'r Rule>) {
        if !self.text.is_empty() {
            self.text.push_str(", ");
        }
        let name = scope.token().map_or("*", ProductToken::as_str);
        let item = ItemSerializer::with_buffer(&mut self.text);
        let mut parameters = match TokenRef::from_str(name) {
            Ok(token) => item.bare_item(token),
            Err(_) => item
                .bare_item(StringRef::from_str(name).expect("a product token is printable ASCII")),
        };
        for rule in rules {
            let key = KeyRef::from_str(rule.name()).expect("a rule's name is a key");
            parameters = match rule.value() {
                None => parameters.parameter(key, true),
                Some(Value::Integer(number)) => {
                    let number = sfv::Integer::try_from(*number);
                    parameters
                        .parameter(key, number.expect("a rule's number has 15 digits at most"))
                }
                Some(Value::Token(text)) => parameters
                    .parameter(key, TokenRef::from_str(text).expect("the value is a Token")),
                Some(Value::Text(text)) => {
                    parameters.parameter(key, StringRef::from_str(text).expect("printable ASCII"))
                }
                Some(Value::Other(text)) => {
                    let item = Parser::new(&**text).parse::<sfv::Item>();
                    let item = item.expect("kept as it was serialised").bare_item;
                    parameters.parameter(key, &item)
                }
            };
        }
    }

    fn into_value(self) -> Option<String> {
        (!self.text.is_empty()).then_some(self.text)
    }
}
