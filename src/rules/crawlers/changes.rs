//! The differences between two catalogue files, and their effect on verdicts.

use std::collections::HashMap;

use derive_more::Display;
use serde::Serialize;
use serde_json::Value;

use crate::base::escape;

use super::entry::{CatalogueFile, Entry, OperatorEntry};

/// The facts that change no verdict and no standing. Of a name, only the spelling in records differs, and
/// a control token, which governs uses, sends no requests.
const INFORMS: [&str; 6] =
    ["product_token", "operator", "governs", "documentation", "contact", "status"];

/// The differences between two catalogue files. All texts are escaped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Changes {
    /// Names of crawlers in the newer file only, in its order.
    pub new: Vec<String>,
    /// Names of crawlers in the older file only, in its order. A name that is now an alias is not
    /// gone.
    pub(crate) gone: Vec<String>,
    pub(crate) changed: Vec<Change>,
}

/// A fact that differs: `GPTBot: aliases was [A], is [A, B]`.
#[derive(Clone, Debug, Display, PartialEq, Eq, Serialize)]
#[display("{product_token}: {fact} was {}, is {}", or_nothing(was), or_nothing(is))]
pub struct Change {
    /// The crawler; for the fact `referrers`, the operator.
    pub product_token: String,
    pub(crate) fact: String,
    pub(crate) decides: bool,
    /// The older value; empty is unknown.
    pub(crate) was: String,
    pub(crate) is: String,
}

impl Changes {
    /// The differences in `newer`. Crawlers are equal if their names are, in any case of letters. A
    /// crawler whose name is now an alias of another counts as changed.
    pub(crate) fn between(older: &CatalogueFile, newer: &CatalogueFile) -> Self {
        let (before, after) = (by_name(&older.crawlers), by_name(&newer.crawlers));
        let mut changes = Self::default();
        for entry in &newer.crawlers {
            match before.get(&key(&entry.product_token)) {
                None => changes.new.push(escape::shown(&entry.product_token)),
                Some(old) => changes.compare(old, entry),
            }
        }
        for entry in &older.crawlers {
            match after.get(&key(&entry.product_token)) {
                None => changes.gone.push(escape::shown(&entry.product_token)),
                // Its own entry is gone; another entry has its name as an alias.
                Some(new) if !is_named(new, &entry.product_token) => changes.compare(entry, new),
                Some(_) => {}
            }
        }
        changes.compare_referrers(older, newer);
        changes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.new.is_empty() && self.gone.is_empty() && self.changed.is_empty()
    }

    fn compare_referrers(&mut self, older: &CatalogueFile, newer: &CatalogueFile) {
        let hosts = |file: &CatalogueFile, name: &str| {
            let operator = file.operators.iter().find(|one| one.name == name);
            operator.map_or_else(String::new, |one| text(&one.referrers.clone().into()))
        };
        let is_gone = |one: &&OperatorEntry| newer.operators.iter().all(|new| new.name != one.name);
        for OperatorEntry { name, .. } in
            newer.operators.iter().chain(older.operators.iter().filter(is_gone))
        {
            let (was, is) = (hosts(older, name), hosts(newer, name));
            if was != is {
                let product_token = escape::shown(name);
                let fact = "referrers".to_owned();
                self.changed.push(Change { product_token, fact, decides: false, was, is });
            }
        }
    }

    fn compare(&mut self, old: &Entry, new: &Entry) {
        for ((fact, was), (_, is)) in old.facts().into_iter().zip(new.facts()) {
            if was != is {
                self.changed.push(Change {
                    product_token: escape::shown(&old.product_token),
                    decides: !INFORMS.contains(&fact.as_str()),
                    fact,
                    was: text(&was),
                    is: text(&is),
                });
            }
        }
    }
}

fn or_nothing(text: &str) -> &str {
    if text.is_empty() { "-" } else { text }
}

/// Entries by token and alias. If two entries have a name, the one with the token counts.
fn by_name(entries: &[Entry]) -> HashMap<String, &Entry> {
    let aliases = entries.iter().flat_map(|entry| {
        entry.aliases.iter().chain(&entry.group_names).map(move |alias| (key(alias), entry))
    });
    aliases.chain(entries.iter().map(|entry| (key(&entry.product_token), entry))).collect()
}

fn is_named(entry: &Entry, name: &str) -> bool {
    key(&entry.product_token) == key(name)
}

fn key(name: &str) -> String {
    name.trim().to_ascii_lowercase()
}

/// A value as the file writes it, without quotation marks; empty if it is unknown.
fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => escape::shown(text),
        Value::Array(items) if items.is_empty() => String::new(),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(text).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn file(crawlers: Value) -> CatalogueFile {
        CatalogueFile {
            version: "2026-11-01".to_owned(),
            crawlers: serde_json::from_value(crawlers).expect("entries of the right form"),
            operators: Vec::new(),
        }
    }

    #[test]
    fn facts_that_change_verdicts_are_marked() {
        let older = file(json!([
            { "product_token": "Same", "aliases": ["Also"], "honours": { "robots_txt": "yes" } },
            { "product_token": "Gone" },
            { "product_token": "Joined", "kind": "user-triggered" },
            { "product_token": "Moved", "operator": "Old", "match": "word", "purpose": "seo" },
        ]));
        let newer = file(json!([
            { "product_token": "Moved", "operator": "New\u{202e}", "match": "product",
              "purpose": "seo", "falls_back_to": ["Same"] },
            { "product_token": "SAME", "aliases": ["Also"], "honours": { "robots_txt": "yes" } },
            { "product_token": "Host", "aliases": ["joined"] },
        ]));
        let changes = Changes::between(&older, &newer);
        assert_eq!(changes.new, ["Host"]);
        assert_eq!(changes.gone, ["Gone"]);
        let found: Vec<(String, bool)> =
            changes.changed.iter().map(|change| (change.to_string(), change.decides)).collect();
        let expected = [
            ("Moved: operator was Old, is New\\u{202e}", false),
            ("Moved: falls_back_to was -, is [Same]", true),
            ("Moved: match was word, is product", true),
            ("Same: product_token was Same, is SAME", false),
            ("Joined: product_token was Joined, is Host", false),
            ("Joined: aliases was -, is [joined]", true),
            ("Joined: kind was user-triggered, is crawler", true),
        ];
        let expected: Vec<_> = expected.map(|(text, decides)| (text.to_owned(), decides)).into();
        assert_eq!(found, expected);
        assert!(Changes::between(&older, &older).is_empty());
        let operators = |hosts: Value| {
            let operators = serde_json::from_value(hosts).expect("operators of the right form");
            CatalogueFile { operators, ..older.clone() }
        };
        let before = operators(json!([
            { "name": "A", "referrers": ["a.example"] }, { "name": "B", "referrers": ["b.example"] },
        ]));
        let after = operators(json!([{ "name": "A", "referrers": ["a.example", "c.example"] }]));
        let changed = Changes::between(&before, &after).changed;
        let told: Vec<_> = changed.iter().map(Change::to_string).collect();
        assert_eq!(
            told,
            [
                "A: referrers was [a.example], is [a.example, c.example]",
                "B: referrers was [b.example], is -",
            ]
        );
    }
}
