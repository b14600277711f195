//! The types of a policy: reads a [`Node`] as the value that a setting takes.
//!
//! Nothing here fails. A value of the wrong type becomes a finding that names its path
//! (`sites[0].enforcement.mode`), line, column and repair, and reading goes on.

use std::{collections::HashSet, ops::RangeInclusive, time::Duration};

use crate::base::{diagnostic::Diagnostic, escape::shown};

use super::{
    duration,
    findings::Findings,
    size,
    spelling::closest,
    yaml::{Key, Node, Value},
};

/// The shapes with a repair of their own.
const A_LIST: &str = "a list";
const A_MAPPING: &str = "a mapping of keys to values";

/// A node and the path that leads to it.
#[derive(Clone, Debug)]
pub(super) struct At<'n> {
    pub(super) node: &'n Node,
    pub(super) path: String,
}

impl Findings {
    /// Adds a finding about a value; its message begins with the value's path.
    pub(super) fn add(&mut self, at: &At<'_>, finding: Diagnostic) {
        let message = format!("{}: {}", at.path, finding.message);
        self.push(Diagnostic { message, ..finding.at(at.node.line, at.node.column) });
    }

    /// Refuses a value that the setting does not take.
    pub(super) fn refuse(
        &mut self,
        at: &At<'_>,
        message: impl AsRef<str>,
        help: impl Into<String>,
    ) {
        self.refuse_as("policy.bad_value", at, message, help);
    }

    /// Refuses a value, which is none then.
    pub(super) fn refused<T>(
        &mut self,
        at: &At<'_>,
        message: impl AsRef<str>,
        help: impl Into<String>,
    ) -> Option<T> {
        self.refuse(at, message, help);
        None
    }

    /// Refuses a value under this code. It is none then.
    pub(super) fn refused_as<T>(
        &mut self,
        code: &'static str,
        at: &At<'_>,
        message: impl AsRef<str>,
        help: impl Into<String>,
    ) -> Option<T> {
        self.refuse_as(code, at, message, help);
        None
    }

    /// Refuses a value, under this code.
    pub(super) fn refuse_as(
        &mut self,
        code: &'static str,
        at: &At<'_>,
        message: impl AsRef<str>,
        help: impl Into<String>,
    ) {
        let help = match &at.node.value {
            Value::Text(text) if has_variable(text) => {
                "write the value itself: a policy has no variables".to_owned()
            }
            _ => help.into(),
        };
        self.add(at, Diagnostic::error(code, message.as_ref()).help(help));
    }
}

/// Whether a text has the place of a variable, as a shell writes it.
fn has_variable(text: &str) -> bool {
    text.split_once("${").is_some_and(|(_, rest)| rest.contains('}'))
}

impl<'n> At<'n> {
    pub(super) fn root(node: &'n Node) -> Self {
        Self { node, path: String::new() }
    }

    /// The entries of a mapping whose keys are the operator's own.
    pub(super) fn entries(&self, findings: &mut Findings) -> Option<&'n [(Key, Node)]> {
        match &self.node.value {
            Value::Map(entries) => Some(entries),
            other => self.mistyped(A_MAPPING, other, findings),
        }
    }

    /// The value of `key` in a mapping; the mapping itself if it has no such key.
    pub(super) fn child(&self, key: &str) -> Self {
        let Value::Map(entries) = &self.node.value else { return self.clone() };
        let found = entries.iter().find(|(k, _)| k.text == key);
        found.map_or_else(|| self.clone(), |(_, node)| Self { node, path: join(&self.path, key) })
    }

    /// The items of a list, or the value itself.
    pub(super) fn elements(&self) -> Vec<Self> {
        match &self.node.value {
            Value::List(items) => items
                .iter()
                .enumerate()
                .map(|(i, node)| Self { node, path: format!("{}[{i}]", self.path) })
                .collect(),
            _ => vec![self.clone()],
        }
    }

    /// The items of a list; a single value stands for a list of one.
    pub(super) fn items(&self, findings: &mut Findings) -> Vec<Self> {
        match &self.node.value {
            Value::List(_) | Value::Text(_) | Value::Integer(_) => self.elements(),
            other => self.mistyped(A_LIST, other, findings).unwrap_or_default(),
        }
    }

    pub(super) fn text(&self, findings: &mut Findings) -> Option<&'n str> {
        match &self.node.value {
            Value::Text(text) => Some(text),
            other => self.mistyped("text", other, findings),
        }
    }

    /// The value of a text. Where `parse` finds none, the refusal is the text with this fault.
    pub(super) fn parsed<T>(
        &self,
        parse: impl FnOnce(&'n str) -> Option<T>,
        fault: &str,
        help: &str,
        findings: &mut Findings,
    ) -> Option<T> {
        let text = self.text(findings)?;
        let found = parse(text);
        if found.is_none() {
            findings.refuse(self, format!("'{}' {fault}", shown(text)), help);
        }
        found
    }

    /// A text, or a number as text.
    pub(super) fn as_written(&self, findings: &mut Findings) -> Option<String> {
        match &self.node.value {
            Value::Integer(n) => Some(n.to_string()),
            Value::Float(n) => Some(n.to_string()),
            _ => self.owned_text(findings),
        }
    }

    pub(super) fn owned_text(&self, findings: &mut Findings) -> Option<String> {
        self.text(findings).map(str::to_owned)
    }

    pub(super) fn boolean(&self, findings: &mut Findings) -> Option<bool> {
        match &self.node.value {
            Value::Bool(b) => Some(*b),
            other => self.mistyped("true or false", other, findings),
        }
    }

    /// A whole number in `range`.
    pub(super) fn integer(
        &self,
        range: RangeInclusive<i64>,
        findings: &mut Findings,
    ) -> Option<i64> {
        match &self.node.value {
            Value::Integer(n) if range.contains(n) => Some(*n),
            Value::Integer(n) => {
                let help = format!("write a number from {} to {}", range.start(), range.end());
                findings.refused(self, format!("{n} is out of range"), help)
            }
            other => self.mistyped("a whole number", other, findings),
        }
    }

    /// A duration with its unit (`500ms`, `30s`, `24h`, `90d`) in `range`.
    pub(super) fn duration(
        &self,
        range: RangeInclusive<Duration>,
        findings: &mut Findings,
    ) -> Option<Duration> {
        let (least, most) = (duration::text(*range.start()), duration::text(*range.end()));
        let help = format!("write a time with its unit, from {least} to {most}");
        let found = self.measure(("time", "30s"), &help, duration::parse, findings)?;
        self.within(&range, found, help, findings)
    }

    /// A size with its unit (`500MiB`, `2GiB`, `1GB`) in `range`.
    pub(super) fn size(&self, range: RangeInclusive<u64>, findings: &mut Findings) -> Option<u64> {
        let (least, most) = (size::text(*range.start()), size::text(*range.end()));
        let help = format!("write a size with its unit, from {least} to {most}");
        let found = self.measure(("size", "2GiB"), &help, size::parse, findings)?;
        self.within(&range, found, help, findings)
    }

    /// A number with its unit; `what` is its name and an example.
    fn measure<T>(
        &self,
        what: (&str, &str),
        help: &str,
        parse: impl FnOnce(&str) -> Option<T>,
        findings: &mut Findings,
    ) -> Option<T> {
        let (name, example) = what;
        let text = match &self.node.value {
            Value::Text(text) => text,
            Value::Integer(n) => {
                return findings.refused(self, format!("{n} has no unit"), help);
            }
            other => {
                return self.mistyped(&format!("a {name} such as {example}"), other, findings);
            }
        };
        let found = parse(text);
        if found.is_none() {
            findings.refuse(self, format!("'{}' is not a {name}", shown(text)), help);
        }
        found
    }

    fn within<T: PartialOrd>(
        &self,
        range: &RangeInclusive<T>,
        found: T,
        help: String,
        findings: &mut Findings,
    ) -> Option<T> {
        if range.contains(&found) {
            return Some(found);
        }
        if let Value::Text(text) = &self.node.value {
            findings.refuse(self, format!("'{}' is out of range", shown(text)), help);
        }
        None
    }

    /// One of a few words.
    pub(super) fn choice<T: Copy>(
        &self,
        choices: &[(&str, T)],
        findings: &mut Findings,
    ) -> Option<T> {
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        // An unquoted `off` is text here, although YAML 1.1 reads it as a boolean.
        let Value::Text(text) = &self.node.value else {
            return self.mistyped(
                &format!("one of {}", words.join(", ")),
                &self.node.value,
                findings,
            );
        };
        if let Some((_, choice)) = choices.iter().find(|(word, _)| word == text) {
            return Some(*choice);
        }
        let help = closest(text, words.iter().copied()).map_or_else(
            || format!("write one of {}", words.join(", ")),
            |word| format!("did you mean '{word}'? (one of {})", words.join(", ")),
        );
        findings.refused(self, format!("unknown value '{}'", shown(text)), help)
    }

    fn mistyped<T>(&self, expected: &str, found: &Value, findings: &mut Findings) -> Option<T> {
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
        let finding = Diagnostic::error("policy.wrong_type", message);
        findings.push(finding.at(self.node.line, self.node.column).help(help));
        None
    }
}

/// The path of `key` inside `path`.
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
