//! robots.json of ai.robots.txt as rules.

use crate::rules::crawlers::read_list;

use super::draft::{Draft, Group, Item, Loss};

/// Reads the names. The source disallows every path for all of them.
pub(super) fn read(bytes: &[u8]) -> Result<Draft, String> {
    let (crawlers, others) = read_list(bytes)?;
    let mut draft = Draft::default();
    let odd = others
        .iter()
        .map(|(name, text)| Loss::new(name, text.to_string(), "it describes no crawler"));
    draft.losses.extend(odd);
    let mut names: Vec<Item> = Vec::new();
    for one in &crawlers {
        let token = &*one.product_token;
        if token.len() < one.name.len() {
            let why = format!("a version is no part of the name; the rules are for '{token}'");
            draft.losses.push(Loss::new(&one.name, &one.name, why));
        }
        if !names.iter().any(|other| other.text.eq_ignore_ascii_case(token)) {
            names.push(Item::new(token, &one.name));
        }
    }
    let disallow = vec![Item::new("/", "every crawler")];
    draft.groups.push(Group { disallow, ..Group::of(names) });
    Ok(draft)
}
