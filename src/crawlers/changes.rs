//! What is different between two states of the catalogue, and whether it changes verdicts.

use std::{collections::HashMap, fmt};

use serde::Serialize;

use crate::escape;

use super::entry::{CatalogueFile, Entry};

/// The differences between two catalogue files. All texts in it are escaped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Changes {
    /// Names of crawlers that are in the newer file alone, in its order.
    pub new: Vec<String>,
    /// Names of crawlers that are in the older file alone, as a token or an alias, in its order.
    pub gone: Vec<String>,
    /// Facts that are not the same, in the order of the newer file.
    pub changed: Vec<Change>,
}

/// A fact that is not what it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The crawler.
    pub product_token: String,
    /// The key of the fact, as the file has it.
    pub fact: &'static str,
    /// Whether verdicts or standings can come out otherwise by it.
    pub decides: bool,
    /// What it was; empty is unknown.
    pub was: String,
    /// What it is.
    pub is: String,
}

impl Changes {
    /// What is different in `newer`. Crawlers are the same where their names are, in any case of
    /// letters; one whose name has become another's alias counts as changed.
    pub fn between(older: &CatalogueFile, newer: &CatalogueFile) -> Self {
        let (before, after) = (by_name(&older.crawlers), by_name(&newer.crawlers));
        let mut changes = Self::default();
        for entry in &newer.crawlers {
            match before.get(&key(&entry.product_token)) {
                None => changes.new.push(shown(&entry.product_token)),
                Some(old) => changes.compare(old, entry),
            }
        }
        for entry in &older.crawlers {
            match after.get(&key(&entry.product_token)) {
                None => changes.gone.push(shown(&entry.product_token)),
                // Its own entry is gone, its name is kept by another.
                Some(new) if !is_named(new, &entry.product_token) => changes.compare(entry, new),
                Some(_) => {}
            }
        }
        changes
    }

    /// Whether nothing is different.
    pub fn is_empty(&self) -> bool {
        self.new.is_empty() && self.gone.is_empty() && self.changed.is_empty()
    }

    fn compare(&mut self, old: &Entry, new: &Entry) {
        for (was, is) in facts(old).into_iter().zip(facts(new)) {
            if was.value != is.value {
                self.changed.push(Change {
                    product_token: shown(&old.product_token),
                    fact: is.key,
                    decides: is.decides,
                    was: was.value,
                    is: is.value,
                });
            }
        }
    }
}

/// `GPTBot: aliases was [A], is [A, B]`.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or_nothing =
            |text: &'_ str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
        let (was, is) = (or_nothing(&self.was), or_nothing(&self.is));
        write!(f, "{}: {} was {was}, is {is}", self.product_token, self.fact)
    }
}

/// One fact as text.
struct Fact {
    key: &'static str,
    decides: bool,
    value: String,
}

/// All facts of an entry, in the order of its keys. The pattern has no `..`: a fact that is added
/// is compared, or this does not compile.
fn facts(entry: &Entry) -> [Fact; 18] {
    let Entry {
        product_token,
        aliases,
        operator,
        purpose,
        kind,
        documentation,
        honours,
        falls_back_to,
        ignores_star,
        borrows,
        status,
        phrases,
        user_agent_pattern,
        matching,
        ip_ranges,
        ip_format,
        reverse_dns,
        signature_agent,
    } = entry;
    let decides = |key: &'static str, value: String| Fact { key, decides: true, value };
    let tells = |key: &'static str, value: String| Fact { key, decides: false, value };
    [
        // The spelling alone: it stands in records.
        tells("product_token", shown(product_token)),
        decides("aliases", list(aliases)),
        tells("operator", text(operator.as_deref())),
        // A policy's sets are made of purposes.
        decides("purpose", word(purpose)),
        decides("kind", word(kind)),
        tells("documentation", text(documentation.as_deref())),
        // Who says that it keeps to Crawl-delay is held to it.
        decides("honours", word(honours)),
        decides("falls_back_to", list(falls_back_to)),
        decides("ignores_star", word(ignores_star)),
        decides("borrows", list(borrows)),
        tells("status", word(status)),
        decides("phrases", list(phrases)),
        decides("user_agent_pattern", text(user_agent_pattern.as_deref())),
        decides("match", word(matching)),
        decides("ip_ranges", list(ip_ranges)),
        decides("ip_format", text(ip_format.as_deref())),
        decides("reverse_dns", list(reverse_dns)),
        decides("signature_agent", text(signature_agent.as_deref())),
    ]
}

/// Tokens and aliases; of a name that two have, the token counts.
fn by_name(entries: &[Entry]) -> HashMap<String, &Entry> {
    let aliases =
        entries.iter().flat_map(|entry| entry.aliases.iter().map(move |alias| (key(alias), entry)));
    aliases.chain(entries.iter().map(|entry| (key(&entry.product_token), entry))).collect()
}

fn is_named(entry: &Entry, name: &str) -> bool {
    key(&entry.product_token) == key(name)
}

fn key(name: &str) -> String {
    name.trim().to_ascii_lowercase()
}

fn shown(value: &str) -> String {
    escape::bounded(value.as_bytes(), 200)
}

fn text(value: Option<&str>) -> String {
    value.map(shown).unwrap_or_default()
}

fn list(values: &[String]) -> String {
    if values.is_empty() {
        return String::new();
    }
    format!("[{}]", values.iter().map(|value| shown(value)).collect::<Vec<_>>().join(", "))
}

/// A word of ours as the file writes it, a mapping as JSON.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        Ok(value) => value.to_string(),
        Err(_) => String::new(),
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
        }
    }

    #[test]
    fn ours_what_decides_is_told_from_what_does_not() {
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
        let told: Vec<(String, bool)> =
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
        assert_eq!(told, expected);
        assert!(Changes::between(&older, &older).is_empty());
    }
}
