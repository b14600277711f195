//! The rules of one source for one crawler, as they are written.

use serde::Serialize;

use crate::{
    base::product_token::ProductToken,
    formats::robots_tag::{Document, RobotsTag, Rule, Scope},
};

use super::page::Page;

#[derive(Clone, Debug, Serialize)]
pub(crate) struct RulesOf {
    /// `Robots-Tag`, `X-Robots-Tag`, or `meta`.
    pub(crate) source: &'static str,
    /// The rules for the crawler, also those without effect, such as `index`.
    pub(crate) rules: Vec<String>,
}

/// Rules without effect: they permit what is permitted anyway.
const PERMISSIONS: [&str; 4] = ["index", "follow", "archive", "all"];
/// Rules of `X-Robots-Tag` that take a value behind a colon.
const WITH_VALUES: [&str; 4] =
    ["max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"];

impl RulesOf {
    /// The rules of a tag for a crawler, with the permissions that the text of its source has.
    pub(super) fn new(
        source: &'static str,
        tag: &RobotsTag,
        permissions: Vec<String>,
        token: &ProductToken,
    ) -> Self {
        let is_for = |scope: &Scope| match scope {
            Scope::Any => true,
            Scope::Token(other) => other == token,
        };
        let rules = tag.scopes().filter(|(scope, _)| is_for(scope)).flat_map(|(_, rules)| rules);
        let mut rules: Vec<String> = rules.map(Rule::to_string).chain(permissions).collect();
        rules.sort();
        rules.dedup();
        Self { source, rules }
    }
}

/// The permissions in `Robots-Tag`: `*;index, ExampleBot;follow`.
pub(super) fn of_field(page: &Page, token: &ProductToken) -> Vec<String> {
    let mut found = Vec::new();
    for value in page.values("Robots-Tag") {
        let text = String::from_utf8_lossy(value).into_owned();
        for member in text.split(',') {
            let mut parts = member.split(';').map(str::trim);
            if is_for(parts.next().unwrap_or_default(), token) {
                found.extend(parts.filter_map(permission));
            }
        }
    }
    found
}

/// The permissions in `X-Robots-Tag`: `index, examplebot: follow`.
pub(super) fn of_older_field(page: &Page, token: &ProductToken) -> Vec<String> {
    let mut found = Vec::new();
    for value in page.values("X-Robots-Tag") {
        let text = String::from_utf8_lossy(value).into_owned();
        let mut applies = true;
        for part in text.split(',') {
            let named = part.split_once(':').map(|(name, rule)| (name.trim(), rule));
            let named = named.filter(|(name, _)| {
                !WITH_VALUES.iter().any(|rule| name.eq_ignore_ascii_case(rule))
            });
            if let Some((name, _)) = named {
                applies = is_for(name, token);
            }
            let rule = named.map_or(part, |(_, rule)| rule);
            found.extend(permission(rule.trim()).filter(|_| applies));
        }
    }
    found
}

/// The permissions in the elements of a document.
pub(super) fn of_document(document: &Document, token: &ProductToken) -> Vec<String> {
    let is_for = |scope: &Scope| match scope {
        Scope::Any => true,
        Scope::Token(other) => other == token,
    };
    let metas = document.metas.iter().filter(|meta| is_for(&meta.scope));
    metas
        .flat_map(|meta| meta.content.split(',').filter_map(|word| permission(word.trim())))
        .collect()
}

fn is_for(name: &str, token: &ProductToken) -> bool {
    name == "*" || name.trim_matches('"').eq_ignore_ascii_case(token.key())
}

fn permission(word: &str) -> Option<String> {
    let word = word.to_ascii_lowercase();
    PERMISSIONS.contains(&word.as_str()).then_some(word)
}
