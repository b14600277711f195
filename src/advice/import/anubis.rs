//! Bot policies of Anubis, in YAML or JSON.
//!
//! Rules are tried in order. ALLOW and DENY end the search, WEIGH does not, CHALLENGE asks for a proof
//! of work. A rule matches by User-Agent, path, fields, address or an expression, or by several of
//! them together.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_yaml::Spanned;

use crate::rules::{crawlers::Catalogue, policy};

use super::{
    draft::Draft,
    loss::Loss,
    paths, product_tokens,
    sequence::{Effect, Sequence},
};

type Map = BTreeMap<String, Value>;

/// A whole file.
#[derive(serde::Deserialize)]
struct File {
    bots: Vec<Spanned<Map>>,
}

/// Keys of a rule that describe it without deciding.
const IDLE: [&str; 3] = ["name", "action", "challenge"];
/// Keys of a rule by which it matches, and that a policy does not have, each with the reason.
const OTHER_CONDITIONS: [(&str, &str); 5] = [
    ("headers_regex", "Beadle judges by User-Agent and path, not by other fields"),
    (
        "remote_addresses",
        "Beadle verifies crawlers by their operators' lists: see the section 'evidence'",
    ),
    ("expression", "an expression is a program; no list of names or paths follows from it"),
    ("geoip", "Beadle does not judge by country"),
    ("asns", "Beadle does not judge by network"),
];

/// Reads the rules.
pub(super) fn read(bytes: &[u8]) -> Result<Draft, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| format!("no UTF-8 ({error})"))?;
    let rules: Vec<Spanned<Map>> = match serde_yaml::from_str::<File>(text) {
        Ok(file) => file.bots,
        Err(error) => serde_yaml::from_str(text)
            .map_err(|_| format!("neither a file with 'bots' nor a list of rules ({error})"))?,
    };
    let catalogue = policy::built_in_catalogue();
    let mut ordered = Sequence::default();
    let settings: Map = serde_yaml::from_str(text).unwrap_or_default();
    for key in settings.keys().filter(|key| *key != "bots") {
        let why = "a setting of Anubis alone";
        ordered.losses.push(Loss::new(key.as_str(), key, why));
    }
    for rule in &rules {
        let line = rule.referenced.line();
        read_rule(&rule.value, &format!("line {line}"), &catalogue, &mut ordered);
    }
    let followers = product_tokens::followers(&catalogue, &ordered.tokens());
    ordered.losses.extend(followers);
    ordered.losses.extend(general(&ordered));
    Ok(ordered.into_draft())
}

/// What is different about every rule.
fn general(ordered: &Sequence) -> Option<Loss> {
    let why = "the source finds names inside longer words, Beadle as whole product tokens";
    (!ordered.tokens().is_empty()).then(|| Loss::new("every rule", "user_agent_regex", why))
}

fn read_rule(rule: &Map, place: &str, catalogue: &Catalogue, ordered: &mut Sequence) {
    let text = |key: &str| rule.get(key).and_then(Value::as_str).map(str::trim);
    let name = text("name").unwrap_or("a rule");
    if let Some(file) = text("import") {
        let why = "it names another file: import that file too, and merge the groups";
        return ordered.losses.push(Loss::new(place, file, why));
    }
    let action = text("action").unwrap_or_default();
    let effect = match action {
        "ALLOW" => Effect::Allow,
        "DENY" => Effect::Refuse,
        "CHALLENGE" => {
            let why = "Beadle has no challenge: it allows, records, slows down or refuses";
            return ordered.losses.push(Loss::new(place, name, why));
        }
        "WEIGH" => {
            let why = "Beadle has no weights: a rule allows or disallows";
            return ordered.losses.push(Loss::new(place, name, why));
        }
        other => {
            let why = format!("the action '{other}' is not known");
            return ordered.losses.push(Loss::new(place, name, why));
        }
    };
    let condition = OTHER_CONDITIONS.iter().find(|(key, _)| rule.contains_key(*key));
    if let Some((key, why)) = condition {
        return ordered.losses.push(Loss::new(place, format!("{name}: {key}"), *why));
    }
    let known = ["user_agent_regex", "path_regex"];
    let is_known = |key: &&String| known.contains(&key.as_str()) || IDLE.contains(&key.as_str());
    if let Some(key) = rule.keys().find(|key| !is_known(key)) {
        let why = "Beadle has no such condition";
        return ordered.losses.push(Loss::new(place, format!("{name}: {key}"), why));
    }
    let mut list = Vec::new();
    if let Some(regex) = text("path_regex") {
        let (found, losses) = paths::of_expression(regex, place);
        ordered.losses.extend(losses);
        if found.is_empty() {
            return;
        }
        let is_all = found.iter().any(|path| path == "/");
        list = if is_all { Vec::new() } else { found };
    }
    match text("user_agent_regex") {
        Some(regex) => {
            let (tokens, losses) = product_tokens::of_expression(catalogue, regex, place, false);
            ordered.losses.extend(losses);
            ordered.add(&tokens, &list, effect, place);
        }
        None if text("path_regex").is_some() => ordered.add_for_all(&list, effect, place),
        None => ordered.losses.push(Loss::new(place, name, "it has no condition")),
    }
}
