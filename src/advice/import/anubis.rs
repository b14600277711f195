//! Bot policies of Anubis, in YAML or JSON.
//!
//! Rules are tried in order. ALLOW and DENY end the search, WEIGH does not, CHALLENGE asks for a proof
//! of work. A rule matches by User-Agent, path, fields, address or an expression, or by several of
//! them together.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_yaml::Spanned;

use super::{
    draft::{Draft, Loss},
    regex::{self, Found, Piece},
    sequence::{Effect, Sequence},
};

type Map = BTreeMap<String, Value>;

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

pub(super) fn read(bytes: &[u8]) -> Result<Draft, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| format!("no UTF-8 ({error})"))?;
    let rules: Vec<Spanned<Map>> = match serde_yaml::from_str::<File>(text) {
        Ok(file) => file.bots,
        Err(error) => serde_yaml::from_str(text)
            .map_err(|_| format!("neither a file with 'bots' nor a list of rules ({error})"))?,
    };
    let mut ordered = Sequence::new();
    let settings: Map = serde_yaml::from_str(text).unwrap_or_default();
    for key in settings.keys().filter(|key| *key != "bots") {
        let why = "a setting of Anubis alone";
        ordered.lose(key.as_str(), key, why);
    }
    for rule in &rules {
        let line = rule.referenced.line();
        read_rule(&rule.value, &format!("line {line}"), &mut ordered);
    }
    Ok(ordered.into_draft("user_agent_regex"))
}

fn read_rule(rule: &Map, place: &str, ordered: &mut Sequence) {
    let text = |key: &str| rule.get(key).and_then(Value::as_str).map(str::trim);
    let name = text("name").unwrap_or("a rule");
    if let Some(file) = text("import") {
        let why = "it names another file: import that file too, and merge the groups";
        return ordered.lose(place, file, why);
    }
    let action = text("action").unwrap_or_default();
    let effect = match action {
        "ALLOW" => Effect::Allow,
        "DENY" => Effect::Refuse,
        other => {
            let why = match other {
                "CHALLENGE" => "Beadle has no challenge: it allows, records, slows down or refuses",
                "WEIGH" => "Beadle has no weights: a rule allows or disallows",
                _ => &format!("the action '{other}' is not known"),
            };
            return ordered.lose(place, name, why);
        }
    };
    let condition = OTHER_CONDITIONS.iter().find(|(key, _)| rule.contains_key(*key));
    if let Some((key, why)) = condition {
        return ordered.lose(place, format!("{name}: {key}"), *why);
    }
    let known = ["user_agent_regex", "path_regex"];
    let is_known = |key: &&String| known.contains(&key.as_str()) || IDLE.contains(&key.as_str());
    if let Some(key) = rule.keys().find(|key| !is_known(key)) {
        let why = "Beadle has no such condition";
        return ordered.lose(place, format!("{name}: {key}"), why);
    }
    let mut list = Vec::new();
    if let Some(regex) = text("path_regex") {
        let (found, losses) = patterns_of(regex, place);
        ordered.losses.extend(losses);
        if found.is_empty() {
            return;
        }
        let is_all = found.iter().any(|path| path == "/");
        list = if is_all { Vec::new() } else { found };
    }
    match text("user_agent_regex") {
        Some(regex) => ordered.add_expression(regex, false, &list, effect, place),
        None if text("path_regex").is_some() => ordered.add_for_all(&list, effect, place),
        None => ordered.lose(place, name, "it has no condition"),
    }
}

/// The patterns of an expression, and what is lost of it. The expression sees the path without its
/// query.
fn patterns_of(text: &str, place: &str) -> (Vec<String>, Vec<Loss>) {
    let expression = match regex::read(text) {
        Ok(expression) => expression,
        Err(why) => {
            let why = format!("{why}: no list of paths, so no path pattern follows from it");
            return (Vec::new(), vec![Loss::new(place, text, why)]);
        }
    };
    let mut losses = Vec::new();
    if expression.has_dot {
        let why = "a '.' without a backslash stands for any character; it is read as a dot";
        losses.push(Loss::new(place, text, why));
    }
    if expression.ignores_case {
        let why = "the source ignores case in paths; path patterns do not";
        losses.push(Loss::new(place, text, why));
    }
    (expression.found.iter().flat_map(patterns).collect(), losses)
}

/// The patterns of one text. A `$` also stands before a query.
fn patterns(found: &Found) -> Vec<String> {
    let mut pattern = String::new();
    let starts_open = !found.at_start && found.pieces.first() != Some(&Piece::Star);
    if starts_open {
        pattern.push('*');
    }
    for piece in &found.pieces {
        match piece {
            Piece::Star => pattern.push('*'),
            // The signs of patterns are encoded.
            Piece::Text(text) => text.chars().for_each(|c| match c {
                '%' | '*' | '$' | '#' => pattern.push_str(&format!("%{:02X}", u32::from(c))),
                c => pattern.push(c),
            }),
        }
    }
    let pattern = if pattern.is_empty() { "/".to_owned() } else { pattern };
    let ends_open = !found.at_end || found.pieces.last() == Some(&Piece::Star);
    let pattern = match pattern.trim_end_matches('*') {
        "" => "/".to_owned(),
        trimmed if ends_open => trimmed.to_owned(),
        _ => pattern,
    };
    match ends_open {
        true => vec![pattern],
        false => vec![format!("{pattern}$"), format!("{pattern}?")],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_become_patterns() {
        for (text, expected) in [
            (r"^/\.well-known/.*$", &["/.well-known/"][..]),
            (r"^/robots\.txt$", &["/robots.txt$", "/robots.txt?"]),
            ("wp-login", &["*wp-login"]),
            ("^/(a|b)/", &["/a/", "/b/"]),
            (r"^/.*\.php$", &["/*.php$", "/*.php?"]),
            (".*", &["/"]),
            ("^/", &["/"]),
            ("/admin/[0-9]+", &[]),
        ] {
            assert_eq!(patterns_of(text, "line 1").0, expected, "{text}");
        }
    }
}
