//! A value of a policy: its node, its place, and the shape that the table of keys gives it.
//!
//! Nothing here fails. A value of the wrong type becomes a finding that names its path
//! (`sites[0].enforcement.mode`), line, column and repair, and reading goes on.

use std::{collections::HashSet, ops::RangeInclusive};

use crate::{
    base::{diagnostic::Diagnostic, escape::shown},
    rules::keys::{Form, POLICY, Shape},
};

use super::{
    findings::{Sink, closest},
    yaml::{Key, Node, Value},
};

/// The shapes with a repair of their own.
const A_LIST: &str = "a list";
const A_MAPPING: &str = "a mapping of keys to values";

static WHOLE: Shape = Shape::Section(&POLICY);

/// A node, the path that leads to it, and its shape.
#[derive(Clone, Debug)]
pub(super) struct At<'n> {
    pub(super) node: &'n Node,
    pub(super) path: String,
    pub(super) shape: &'static Shape,
    pub(super) sink: &'n Sink,
}

impl At<'_> {
    /// Adds a finding; its message begins with the value's path.
    pub(super) fn add(&self, finding: Diagnostic) {
        let message = format!("{}: {}", self.path, finding.message);
        self.push(Diagnostic { message, ..finding });
    }

    /// Adds a finding at the place of the value.
    pub(super) fn push(&self, finding: Diagnostic) {
        self.sink.push_at(self.node.spot, finding);
    }

    /// Adds a finding that is probably a mistake.
    pub(super) fn warn(&self, code: &'static str, why: impl Into<String>, help: impl Into<String>) {
        self.add(Diagnostic::warning(code, why).help(help));
    }

    /// Adds a finding for information.
    pub(super) fn note(&self, code: &'static str, why: impl Into<String>, help: impl Into<String>) {
        self.add(Diagnostic::note(code, why).help(help));
    }

    /// Refuses a value that the setting does not take.
    pub(super) fn refuse(&self, message: impl AsRef<str>, help: impl Into<String>) {
        self.refuse_as("policy.bad_value", message, help);
    }

    pub(super) fn refused<T>(&self, why: impl AsRef<str>, help: impl Into<String>) -> Option<T> {
        self.refused_as("policy.bad_value", why, help)
    }

    pub(super) fn refused_as<T>(
        &self,
        code: &'static str,
        message: impl AsRef<str>,
        help: impl Into<String>,
    ) -> Option<T> {
        self.refuse_as(code, message, help);
        None
    }

    pub(super) fn refuse_as(
        &self,
        code: &'static str,
        message: impl AsRef<str>,
        help: impl Into<String>,
    ) {
        let help = match &self.node.value {
            Value::Text(text) if has_variable(text) => {
                "write the value itself: a policy has no variables".to_owned()
            }
            _ => help.into(),
        };
        self.add(Diagnostic::error(code, message.as_ref()).help(help));
    }

    /// The value that was made of this one, or its finding.
    pub(super) fn accepted<T>(&self, made: Result<T, Diagnostic>) -> Option<T> {
        made.map_err(|finding| self.add(finding)).ok()
    }

    pub(super) fn mistyped<T>(&self, expected: &str) -> Option<T> {
        let found = &self.node.value;
        let help = match found {
            Value::Bool(_) | Value::Integer(_) | Value::Float(_) if expected == "text" => {
                "put it in quotation marks".to_owned()
            }
            Value::Null if self.path.ends_with(".disallow") => {
                "write the paths; to allow everything, write 'allow: [\"/\"]' in its place"
                    .to_owned()
            }
            Value::Null if expected == A_LIST => "write its items, or leave the key out".to_owned(),
            Value::Text(text) if expected == A_MAPPING && self.path.ends_with(".robots_txt") => {
                format!(
                    "write 'source: origin' below it to publish the origin's file; 'beadle import {}' \
                     writes the rules of a file as a policy",
                    shown(text)
                )
            }
            Value::Null => "write a value, in quotation marks where it is '~'".to_owned(),
            Value::Map(entries) if expected == "text" => match entries.as_slice() {
                [(key, _)] => format!("put it in quotation marks: '{}:…'", shown(&key.text)),
                _ => format!("write {expected}"),
            },
            _ => format!("write {expected}"),
        };
        let path = if self.path.is_empty() { "policy" } else { self.path.as_str() };
        let message = format!("{path}: expected {expected}, found {}", found.kind());
        self.push(Diagnostic::error("policy.wrong_type", message).help(help));
        None
    }
}

fn has_variable(text: &str) -> bool {
    text.split_once("${").is_some_and(|(_, rest)| rest.contains('}'))
}

impl<'n> At<'n> {
    pub(super) fn root(node: &'n Node, sink: &'n Sink) -> Self {
        Self { node, path: String::new(), shape: &WHOLE, sink }
    }

    pub(super) fn is_map(&self) -> bool {
        matches!(self.node.value, Value::Map(_))
    }

    pub(super) fn nodes(&self) -> Option<&'n [(Key, Node)]> {
        match &self.node.value {
            Value::Map(entries) => Some(entries),
            _ => self.mistyped(A_MAPPING),
        }
    }

    /// The entries of a mapping whose keys are the operator's own.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&'n Key, Self)> {
        let (path, shape, sink) = (self.path.clone(), self.shape.item(), self.sink);
        let at = move |node, key: &Key| At { node, path: join(&path, &key.text), shape, sink };
        self.nodes().unwrap_or_default().iter().map(move |(key, node)| (key, at(node, key)))
    }

    /// The value of `key` in a mapping; the mapping itself if it has no such key.
    pub(super) fn child(&self, key: &str) -> Self {
        self.find(key).unwrap_or_else(|| self.clone())
    }

    pub(super) fn find(&self, key: &str) -> Option<Self> {
        let Value::Map(entries) = &self.node.value else { return None };
        let (_, node) = entries.iter().find(|(k, _)| k.text == key)?;
        let known = self.shape.sections().into_iter().find_map(|section| section.key(key));
        let shape = known.map_or(self.shape, |key| &key.shape);
        Some(Self { node, path: join(&self.path, key), shape, sink: self.sink })
    }

    /// The items of a list, or the value itself.
    pub(super) fn elements(&self) -> Vec<Self> {
        let (shape, sink) = (self.shape.item(), self.sink);
        match &self.node.value {
            Value::List(items) => items
                .iter()
                .enumerate()
                .map(|(i, node)| Self { node, path: format!("{}[{i}]", self.path), shape, sink })
                .collect(),
            _ => vec![Self { shape, ..self.clone() }],
        }
    }

    /// The items of a list; a single value stands for a list of one.
    pub(super) fn items(&self) -> Vec<Self> {
        match &self.node.value {
            Value::List(_) | Value::Text(_) | Value::Integer(_) => self.elements(),
            _ => self.mistyped(A_LIST).unwrap_or_default(),
        }
    }

    pub(super) fn text(&self) -> Option<&'n str> {
        match &self.node.value {
            Value::Text(text) => Some(text),
            _ => self.mistyped("text"),
        }
    }

    /// The value of a text. Where `parse` finds none, the refusal is the text with this fault.
    pub(super) fn parsed<T>(
        &self,
        parse: impl FnOnce(&'n str) -> Option<T>,
        fault: &str,
        help: &str,
    ) -> Option<T> {
        let text = self.text()?;
        let refused = || self.refused(format!("'{}' {fault}", shown(text)), help);
        parse(text).or_else(refused)
    }

    /// A text, or a number as text.
    pub(super) fn as_written(&self) -> Option<String> {
        match &self.node.value {
            Value::Integer(n) => Some(n.to_string()),
            Value::Float(n) => Some(n.to_string()),
            _ => self.text().map(str::to_owned),
        }
    }

    pub(super) fn integer(&self, range: RangeInclusive<i64>) -> Option<i64> {
        match &self.node.value {
            Value::Integer(n) if range.contains(n) => Some(*n),
            Value::Integer(n) => {
                let help = format!("write a number from {} to {}", range.start(), range.end());
                self.refused(format!("{n} is out of range"), help)
            }
            _ => self.mistyped("a whole number"),
        }
    }

    /// One of the numbers that the table has for the value.
    pub(super) fn number(&self, fault: &str, help: &str) -> Option<u16> {
        let number = self.integer(100..=599)?;
        match self.shape {
            Shape::OneNumber(known) if known.contains(&number) => u16::try_from(number).ok(),
            _ => self.refused(format!("{number} {fault}"), help),
        }
    }

    /// A number with its unit, within the limits of the table. `what` is its name and an example.
    pub(super) fn measure<T: PartialOrd>(
        &self,
        what: (&str, &str),
        parse: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let (name, example) = what;
        let (least, most) = match self.shape {
            Shape::Form(Form { least, most, .. }) => (*least, *most),
            _ => ("", ""),
        };
        let help = format!("write a {name} with its unit, from {least} to {most}");
        let text = match &self.node.value {
            Value::Text(text) => text,
            Value::Integer(n) => return self.refused(format!("{n} has no unit"), help),
            _ => return self.mistyped(&format!("a {name} such as {example}")),
        };
        let is_within = |found: &T| {
            parse(least).is_some_and(|least| *found >= least)
                && parse(most).is_some_and(|most| *found <= most)
        };
        match parse(text) {
            Some(found) if is_within(&found) => Some(found),
            Some(_) => self.refused(format!("'{}' is out of range", shown(text)), help),
            None => self.refused(format!("'{}' is not a {name}", shown(text)), help),
        }
    }

    /// One of the words that the table has for the value.
    pub(super) fn word(&self) -> Option<&'static str> {
        let words: &'static [&'static str] = match self.shape {
            Shape::Choice(words) => words,
            _ => &[],
        };
        // An unquoted `off` is text here, although YAML 1.1 reads it as a boolean.
        let Value::Text(text) = &self.node.value else {
            return self.mistyped(&format!("one of {}", words.join(", ")));
        };
        if let Some(word) = words.iter().find(|word| *word == text) {
            return Some(word);
        }
        let help = closest(text, words.iter().copied()).map_or_else(
            || format!("write one of {}", words.join(", ")),
            |word| format!("did you mean '{word}'? (one of {})", words.join(", ")),
        );
        self.refused(format!("unknown value '{}'", shown(text)), help)
    }
}

pub(super) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{}", shown(key)) }
}

/// The first of `items` whose key an earlier item has.
pub(super) fn duplicate<T, K: Eq + std::hash::Hash>(
    items: &[T],
    key: impl Fn(&T) -> K,
) -> Option<&T> {
    let mut seen = HashSet::with_capacity(items.len());
    items.iter().find(|item| !seen.insert(key(item)))
}
