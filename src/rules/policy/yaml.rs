//! A YAML document as a tree; every node has its line and column.
//!
//! Only this file uses the YAML crate. It accepts YAML 1.2 under tight budgets and refuses
//! duplicate keys. It knows no setting by name: a derived reader would stop at the first finding,
//! while [`super::shape`] collects them all.

use std::fmt;

use serde::de::{Deserialize, DeserializeOwned, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_yaml::{Budget, DuplicateKeyPolicy, Error, Options, Spanned};

use crate::base::diagnostic::Diagnostic;

/// The largest policy file, in bytes: 10,000 rules for each of 50 sites fit. It bounds the cost of a wrong
/// file name.
pub const MAX_BYTES: usize = 32 << 20;

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) value: Value,
    pub(super) spot: Spot,
}

/// The value of a node, by YAML's core schema.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(Key, Node)>),
}

#[derive(Clone, Debug)]
pub(super) struct Key {
    pub(super) text: String,
    pub(super) spot: Spot,
}

/// A line and a column of the policy file, from 1; 0 is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

impl Spot {
    fn of<T>(spanned: &Spanned<T>) -> Self {
        let at = &spanned.referenced;
        Self { line: narrow(at.line()), column: narrow(at.column()) }
    }
}

impl Node {
    pub(super) fn is_empty_list(&self) -> bool {
        matches!(&self.value, Value::List(items) if items.is_empty())
    }

    pub(super) fn is_text(&self, text: &str) -> bool {
        matches!(&self.value, Value::Text(found) if found == text)
    }
}

impl Value {
    pub(super) const fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "a boolean",
            Self::Integer(_) | Self::Float(_) => "a number",
            Self::Text(_) => "text",
            Self::List(_) => "a list",
            Self::Map(_) => "a mapping",
        }
    }
}

/// Reads one YAML document. It is refused if it is not UTF-8, not YAML or over a budget, or has a key twice.
pub(super) fn read(bytes: &[u8]) -> Result<Node, Diagnostic> {
    if bytes.len() > MAX_BYTES {
        let message = format!("the policy is larger than {} MiB", MAX_BYTES >> 20);
        return Err(Diagnostic::error("policy.too_large", message)
            .help("split the sites over several instances, or check that this is the right file"));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let (read, rest) = bytes.split_at(error.valid_up_to());
        let line = 1 + read.iter().filter(|&&b| b == b'\n').count();
        let is_character = |octet: &&u8| **octet & 0b1100_0000 != 0b1000_0000;
        let before = read.iter().rev().take_while(|&&b| b != b'\n');
        let column = 1 + before.filter(is_character).count();
        let byte = rest.first().copied().unwrap_or_default();
        let message = format!("0x{byte:02X} (byte {}) is not UTF-8", read.len() + 1);
        Diagnostic::error("policy.not_utf8", message)
            .at(u32::try_from(line).unwrap_or(0), u32::try_from(column).unwrap_or(0))
            .help("save the file as UTF-8")
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    serde_yaml::from_str_with_options::<Spanned<Content>>(text, options(POLICY_NODES))
        .map(node)
        .map_err(|error| finding(text, &error))
}

pub(super) fn read_typed<T: DeserializeOwned>(text: &str) -> Result<T, Diagnostic> {
    serde_yaml::from_str_with_options(text, options(CATALOGUE_NODES))
        .map_err(|error| finding(text, &error))
}

/// A million rules fit; a billion laughs do not.
const POLICY_NODES: usize = 1_100_000;
const CATALOGUE_NODES: usize = 150_000;
const REPLAYED: usize = 10_000;

fn options(max_nodes: usize) -> Options {
    serde_yaml::options! {
        strict_booleans: true,
        duplicate_keys: DuplicateKeyPolicy::Error,
        with_snippet: false,
        budget: Some(budget(max_nodes)),
        alias_limits: serde_yaml::alias_limits! {
            max_total_replayed_events: REPLAYED,
            max_replay_stack_depth: 8,
            max_alias_expansions_per_anchor: 1_000,
        },
    }
}

fn budget(max_nodes: usize) -> Budget {
    let mut budget = Budget::default();
    budget.max_nodes = max_nodes;
    budget.max_events = max_nodes * 3;
    budget.max_depth = 32;
    budget.max_documents = 1;
    budget.max_anchors = 100;
    budget.max_aliases = 1_000;
    budget.max_total_scalar_bytes = 2 * MAX_BYTES;
    budget
}

/// The crate's error as a finding: its message in the words of this room.
fn finding(text: &str, error: &Error) -> Diagnostic {
    let error = error.without_snippet();
    let place = error.location().map_or((0, 0), |at| (narrow(at.line()), narrow(at.column())));
    let told = |code, message: String, help: &str, (line, column)| {
        Diagnostic::error(code, message).at(line, column).help(help)
    };
    if let Error::DuplicateMappingKey { key, .. } = error {
        let message = key.as_ref().map_or_else(
            || "a key is written twice".to_owned(),
            |key| format!("key '{key}' is written twice"),
        );
        return told("policy.duplicate_key", message, "keep one of the two", place);
    }
    let message = first_line(&error.to_string());
    if message.contains("Documents") || message.contains("multiple documents") {
        let help = "keep one document in the file, without a line '---' inside";
        return told("policy.not_yaml", "a second document begins".to_owned(), help, place);
    }
    // The crate wraps a broken budget inside an alias, so only the message shows it.
    if ["budget", "limit exceeded", "overflow"].iter().any(|word| message.contains(word)) {
        let message = "the file is nested too deep or expands to too much".to_owned();
        let help = "write the values out instead of nesting lists or aliases";
        return told("policy.too_complex", message, help, place);
    }
    if let Some(at) = indenting_tab(text, place.0).filter(|_| has_tab(&message)) {
        let message = "not valid YAML: the indentation has a tab".to_owned();
        return told("policy.not_yaml", message, "indent with spaces", at);
    }
    told("policy.not_yaml", format!("not valid YAML: {message}"), repair(&message), place)
}

/// Line and column of the first tab in an indentation, from a line on. The crate names the line before
/// where a text may go on.
fn indenting_tab(text: &str, from: u32) -> Option<(u32, u32)> {
    let lines = (1..).zip(text.lines()).skip_while(|(number, _)| *number < from);
    let mut tabs = lines.filter_map(|(number, line)| {
        let at = line.find(|c: char| c != ' ')?;
        line[at..].starts_with('\t').then(|| (number, narrow(at as u64 + 1)))
    });
    tabs.next()
}

fn has_tab(message: &str) -> bool {
    message.split(|c: char| !c.is_alphanumeric()).any(|word| matches!(word, "tab" | "tabs"))
}

/// The repair for the most frequent syntax errors.
fn repair(message: &str) -> &'static str {
    if has_tab(message) {
        "indent with spaces; YAML allows no tabs there"
    } else if message.contains("alias") {
        "quote a star: \"*\""
    } else if message.contains("quote") {
        "close the quotation mark"
    } else {
        "check the indentation, and quote values that begin with *, &, !, %, @ or `"
    }
}

/// The message without the place at its end.
fn first_line(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    let line = line.strip_prefix("error: ").unwrap_or(line);
    let end = line.rfind(" at line ").unwrap_or(line.len());
    crate::base::escape::text(line[..end].trim_end_matches(['.', ' ']).as_bytes())
}

fn narrow(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

fn node(spanned: Spanned<Content>) -> Node {
    Node { spot: Spot::of(&spanned), value: spanned.value.0 }
}

/// A node's value on its way in; `Spanned` adds the position around it.
struct Content(Value);

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor).map(Content)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any YAML value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, b: bool) -> Result<Value, E> {
        Ok(Value::Bool(b))
    }

    fn visit_i64<E>(self, n: i64) -> Result<Value, E> {
        Ok(Value::Integer(n))
    }

    #[expect(clippy::cast_precision_loss, reason = "no setting reaches 2^53")]
    fn visit_u64<E>(self, n: u64) -> Result<Value, E> {
        Ok(i64::try_from(n).map_or(Value::Float(n as f64), Value::Integer))
    }

    fn visit_f64<E>(self, n: f64) -> Result<Value, E> {
        Ok(Value::Float(n))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element::<Spanned<Content>>()? {
            list.push(node(item));
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Vec::new();
        while let Some(key) = entries.next_key::<Spanned<String>>()? {
            let spot = Spot::of(&key);
            let mut value = node(entries.next_value::<Spanned<Content>>()?);
            // What is not there has the place of its key, or a finding would show the next line.
            if matches!(value.value, Value::Null) {
                value.spot = spot;
            }
            map.push((Key { text: key.value, spot }, value));
        }
        Ok(Value::Map(map))
    }
}
