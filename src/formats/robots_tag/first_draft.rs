//! The syntax of the draft's first text (draft-illyes-repext-00 §2.1.1), recognised.

use super::known_rules::{self, takes_value};

/// Whether a text is in the syntax of the first draft: groups between semicolons, with `token=`
/// before their rules. In the present syntax no `=` stands before the first semicolon.
pub(super) fn is_first_draft(text: &str) -> bool {
    let token_of = |group: &str| {
        let (token, _) = group.split_once('=')?;
        let token = token.trim();
        let is_token = !token.contains(['"', ',', ':']) && !takes_value(token);
        is_token.then_some(())
    };
    let mut groups = text.split(';');
    let first = groups.next().unwrap_or_default();
    let only_rules =
        || first.split(',').all(|part| known_rules::lookup_any_case(part.trim()).is_some());
    token_of(first).is_some() || (only_rules() && groups.any(|group| token_of(group).is_some()))
}
