//! Changes of a policy's text that keep every other byte of it. Pure.
//!
//! `put` writes an entry at the head of a list of a site, and `take` takes back what `put` wrote, to
//! the byte. An entry is one line that names one crawler, and ends in a comment by which it is known
//! again. What an alias, an anchor or a merge key shares with other places is refused: an edit there would
//! change more than it says.
//!
//! May use: nothing. Must not know: what a policy means, files, clocks.

use similar::TextDiff;

pub(crate) use self::{
    edits::{is_same_beside, put, section, take},
    entry::{Entry, List, quoted},
    layout::Refusal,
};

mod edits; // one edit, and the proof that nothing else changed
mod entry; // an entry of a list, where it goes in and out
mod layout; // the text as a tree; every node has its bytes

#[cfg(test)]
mod tests;

/// The difference of two texts of one file, as `patch` reads it; empty if there is none.
pub(crate) fn patch(file: &str, before: &str, after: &str) -> String {
    TextDiff::from_lines(before, after).unified_diff().header(file, file).to_string()
}
