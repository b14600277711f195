//! robots.json of ai.robots.txt: an object with a member for each crawler, named by its product token.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    draft::{Draft, Group, Item},
    loss::Loss,
};

/// Reads the names. The source disallows every path for all of them.
pub(super) fn read(bytes: &[u8]) -> Result<Draft, String> {
    let crawlers: BTreeMap<String, Value> = serde_json::from_slice(bytes)
        .map_err(|error| format!("no object with a member for each crawler ({error})"))?;
    let mut draft = Draft::default();
    let mut names: Vec<Item> = Vec::new();
    for (name, facts) in &crawlers {
        if !facts.is_object() {
            draft.losses.push(Loss::new(name, facts.to_string(), "it describes no crawler"));
            continue;
        }
        // A crawler reads its name up to a version.
        let token = name.split('/').next().unwrap_or_default().trim();
        if token.len() < name.len() {
            let why = format!("a version is no part of the name; the rules are for '{token}'");
            draft.losses.push(Loss::new(name, name, why));
        }
        if !names.iter().any(|other| other.text.eq_ignore_ascii_case(token)) {
            names.push(Item::new(token, name));
        }
    }
    if names.is_empty() {
        return Err("it names no crawler".to_owned());
    }
    let disallow = vec![Item::new("/", "every crawler")];
    draft.groups.push(Group { disallow, ..Group::of(names) });
    Ok(draft)
}
