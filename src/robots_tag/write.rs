//! A robots tag written: one valid structured field, or lines of the older syntax.
//!
//! The two 2026 texts of the draft differ in whether a crawler that is named still follows `*`. So
//! the rules of `*` are repeated with every token: both readings then say the same. Keys are in
//! lower case, nothing stands twice, and the field is never longer than a crawler has to read.

use sfv::{ItemSerializer, KeyRef, Parser, StringRef, TokenRef};

use super::{MAX_BYTES, RobotsTag, Rule, Scope, Value, ValueKind, legacy};
use crate::{diagnostic::Diagnostic, escape};

/// A field that was written within [`MAX_BYTES`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The field's value; `None` where there is nothing to say, because an empty List is not sent
    /// (RFC 9651 §4.1).
    pub value: Option<String>,
    /// Whether all of it found room. Else members were left out from the end.
    pub complete: bool,
}

impl RobotsTag {
    /// The value of one `Robots-Tag` field: `*` first, then the tokens sorted. `None` where the
    /// tag is empty. At most [`MAX_BYTES`] long: what doesn't fit is left out from the end, rule
    /// by rule; [`Self::field_len`] tells beforehand.
    pub fn to_field(&self) -> Option<String> {
        self.to_field_keeping(&Self::default()).value
    }

    /// The same of a union that `ours` is a part of: what doesn't fit is left out of the rest.
    pub fn to_field_keeping(&self, ours: &Self) -> Field {
        let mut list = List::new(MAX_BYTES);
        if self.scopes().all(|(scope, _)| list.push(scope, &self.said_to(scope))) {
            return Field { value: list.into_value(), complete: true };
        }
        // Too long: without the repetition of `*`, our own rules first, the rest as far as it fits.
        let mut list = List::new(MAX_BYTES);
        let mut complete = true;
        for (scope, rules) in ours.scopes() {
            complete &= list.push_some(scope, &rules.iter().collect::<Vec<_>>());
        }
        for (scope, rules) in self.scopes() {
            let ours = ours.rules_of(scope);
            let rest = rules.iter().filter(|rule| ours.binary_search(rule).is_err());
            complete &= list.push_some(scope, &rest.collect::<Vec<_>>());
        }
        Field { value: list.into_value(), complete }
    }

    /// How long the whole field is, in octets, were there no limit. The time grows with the result.
    pub fn field_len(&self) -> usize {
        let mut list = List::new(usize::MAX);
        for (scope, _) in self.scopes() {
            list.push(scope, &self.said_to(scope));
        }
        list.text.len()
    }

    /// The values of the `X-Robots-Tag` field lines, one for each scope: `noindex, nosnippet` and
    /// `googlebot: noarchive`. What that syntax can't say is left out;
    /// [`Self::unsayable_in_legacy`] names it.
    pub fn to_legacy(&self) -> Vec<String> {
        self.scopes().filter_map(|(scope, rules)| legacy_line(scope, rules)).collect()
    }

    /// What the syntax of `X-Robots-Tag` has no way to say: an unknown rule with a value (it reads
    /// as a crawler's name), a date that readers would split, a token that reads as a rule. The
    /// structured field can say everything.
    pub fn unsayable_in_legacy(&self) -> Vec<Diagnostic> {
        let mut findings = Vec::new();
        let mut unsayable = |what: String| {
            let message = format!("X-Robots-Tag has no way to say {what}");
            findings.push(
                Diagnostic::warning("robots_tag.unsayable", message)
                    .help("it is left out there; Robots-Tag has it"),
            );
        };
        for (scope, rules) in self.scopes() {
            if let Scope::Token(token) = scope
                && !legacy::can_name(token)
            {
                unsayable(format!("anything to '{}'", escape::text(token.as_str().as_bytes())));
                continue;
            }
            for rule in rules.iter().filter(|rule| !legacy::can_say(rule)) {
                unsayable(format!("'{}'", escape::text(rule.to_string().as_bytes())));
            }
        }
        findings
    }

    fn said_to(&self, scope: &Scope) -> Vec<&Rule> {
        match scope {
            Scope::Any => self.restrictions(None),
            Scope::Token(token) => self.restrictions(Some(token)),
        }
    }
}

/// A date stands last: readers that don't know its commas lose nothing behind it.
fn legacy_line(scope: &Scope, rules: &[Rule]) -> Option<String> {
    let is_date = |rule: &&Rule| rule.kind() == Some(ValueKind::Date);
    let sayable = || rules.iter().filter(|rule| legacy::can_say(rule));
    let mut line = match scope {
        Scope::Any => String::new(),
        Scope::Token(token) if legacy::can_name(token) => format!("{token}: "),
        Scope::Token(_) => return None,
    };
    let prefix = line.len();
    for rule in sayable().filter(|rule| !is_date(rule)).chain(sayable().filter(is_date)) {
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

    /// Adds these rules for a scope; tells whether they fitted, and adds none where they don't.
    /// A name that stands again with another value needs a member of its own, because in one
    /// member the last would count.
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

    /// Adds as many of these rules as fit; tells whether all did.
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
        let name = match scope {
            Scope::Any => "*",
            Scope::Token(token) => token.as_str(),
        };
        let item = ItemSerializer::with_buffer(&mut self.text);
        let mut parameters = match TokenRef::from_str(name) {
            Ok(token) => item.bare_item(token),
            Err(_) => item
                .bare_item(StringRef::from_str(name).expect("a product token is printable ASCII")),
        };
        for rule in rules {
            let key = KeyRef::from_str(rule.name()).expect("a rule's name is a key");
            parameters =
                match rule.value() {
                    None => parameters.parameter(key, true),
                    Some(Value::Integer(number)) => {
                        let number = sfv::Integer::try_from(*number);
                        parameters
                            .parameter(key, number.expect("a rule's number has 15 digits at most"))
                    }
                    Some(Value::Token(text)) => parameters
                        .parameter(key, TokenRef::from_str(text).expect("held as a Token")),
                    Some(Value::Text(text)) => parameters
                        .parameter(key, StringRef::from_str(text).expect("printable ASCII")),
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
