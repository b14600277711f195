//! A list of crawlers that others maintain: robots.json of ai.robots.txt.
//!
//! It is an object with a member for each crawler, named by its product token. `operator` and
//! `function` are texts for people.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::entry::Purpose;

/// The longest name of an operator, in octets.
const MAX_OPERATOR: usize = 60;

/// Words of a `function`, and the purpose that they stand for. The first that occurs counts.
const PURPOSES: [(&str, Purpose); 10] = [
    ("train", Purpose::AiTraining),
    ("research", Purpose::AiTraining),
    ("search", Purpose::AiSearch),
    ("agent", Purpose::AiAgent),
    ("assistant", Purpose::AiUser),
    ("prompt", Purpose::AiUser),
    ("user", Purpose::AiUser),
    ("answer", Purpose::AiSearch),
    ("scrape", Purpose::AiTraining),
    ("data", Purpose::AiTraining),
];

/// A member of the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listed {
    /// The name as the list has it.
    pub name: String,
    /// The name without a version: a crawler reads its name up to it.
    pub product_token: String,
    /// The operator, where the list has a short name.
    pub(crate) operator: Option<String>,
    pub(crate) purpose: Purpose,
}

impl Listed {
    pub(super) fn is_same(&self, name: &str) -> bool {
        self.product_token.eq_ignore_ascii_case(name)
    }
}

/// Reads a list. A member that describes no crawler comes beside them.
///
/// # Errors
/// A sentence: the bytes are no such list.
pub fn read_list(bytes: &[u8]) -> Result<(Vec<Listed>, BTreeMap<String, Value>), String> {
    let members: BTreeMap<String, Value> = serde_json::from_slice(bytes)
        .map_err(|error| format!("no object with a member for each crawler ({error})"))?;
    let (mut crawlers, mut others): (Vec<Listed>, _) = (Vec::new(), BTreeMap::new());
    for (name, facts) in members {
        if !facts.is_object() {
            others.insert(name, facts);
            continue;
        }
        let text = |key: &str| facts.get(key).and_then(Value::as_str).unwrap_or_default();
        crawlers.push(Listed {
            product_token: name.split('/').next().unwrap_or_default().trim().to_owned(),
            operator: operator(text("operator")),
            purpose: purpose(text("function")),
            name,
        });
    }
    if crawlers.is_empty() { Err("it names no crawler".to_owned()) } else { Ok((crawlers, others)) }
}

/// The name in `[Name](https://…)` or at the beginning of a sentence.
fn operator(text: &str) -> Option<String> {
    let linked = text.strip_prefix('[').and_then(|rest| rest.split("](").next());
    let name = linked.unwrap_or_else(|| {
        let end = [",", " (", " that ", "."].iter().filter_map(|end| text.find(end)).min();
        &text[..end.unwrap_or(text.len())]
    });
    let is_name = !name.is_empty() && name.len() <= MAX_OPERATOR && !name.starts_with("Unclear");
    (is_name && !name.contains(char::is_control)).then(|| name.to_owned())
}

/// The purpose of a function; of one without a known word, AI use that the operator does not specify.
fn purpose(function: &str) -> Purpose {
    let function = function.to_ascii_lowercase();
    let found = PURPOSES.iter().find(|(word, _)| function.contains(word));
    found.map_or(Purpose::AiTraining, |(_, purpose)| *purpose)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_a_purpose_and_an_operator_a_short_name() {
        for (function, expected) in [
            ("AI Data Scrapers", Purpose::AiTraining),
            ("AI Data Providers", Purpose::AiTraining),
            ("AI model training.", Purpose::AiTraining),
            ("Scrapes data for search engine and LLM training", Purpose::AiTraining),
            ("AI research crawler", Purpose::AiTraining),
            ("AI Search Crawlers", Purpose::AiSearch),
            ("Search result generation.", Purpose::AiSearch),
            ("AI Agents", Purpose::AiAgent),
            ("AI Coding Agents", Purpose::AiAgent),
            ("AI Assistants", Purpose::AiUser),
            ("Takes action based on user prompts.", Purpose::AiUser),
            ("Unclear at this time.", Purpose::AiTraining),
            ("", Purpose::AiTraining),
        ] {
            assert_eq!(purpose(function), expected, "{function}");
        }
        let long = "x".repeat(61);
        for (text, expected) in [
            ("[Acme](https://acme.example)", Some("Acme")),
            ("Acme, a company of Acmes", Some("Acme")),
            ("Acme that indexes pages", Some("Acme")),
            ("Acme Inc (founded by A)", Some("Acme Inc")),
            ("Acme", Some("Acme")),
            ("Unclear at this time.", None),
            ("a\u{1b}[31m", None),
            (&long, None),
            ("", None),
        ] {
            assert_eq!(operator(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_list_is_an_object_of_objects() {
        let (crawlers, others) = read_list(
            br#"{ "B/1.0": { "operator": 7, "function": ["x"] }, "A": {}, "note": "text" }"#,
        )
        .expect("a list");
        let names: Vec<_> = crawlers.iter().map(|one| (&*one.name, &*one.product_token)).collect();
        assert_eq!(names, [("A", "A"), ("B/1.0", "B")]);
        assert_eq!(others, BTreeMap::from([("note".to_owned(), Value::from("text"))]));
        for bytes in ["", "[]", "<html>", "{}", r#"{ "note": "text" }"#, r#"{ "A": {} "#] {
            assert!(read_list(bytes.as_bytes()).is_err(), "{bytes}");
        }
    }
}
