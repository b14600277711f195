//! Texts and keys by number, each once. A number stays what it is.

use std::hash::{Hash, Hasher};

use hashbrown::DefaultHashBuilder;
use indexmap::{Equivalent, IndexSet};

pub(super) type Keys<K> = IndexSet<K, DefaultHashBuilder>;

/// A name in any case of its ASCII letters. Its first spelling is shown.
#[derive(Debug)]
pub(super) struct Name<T = Box<str>>(pub(super) T);

/// The number of a text, a new one for a new text.
pub(super) fn number(texts: &mut Keys<Box<str>>, text: &str) -> u32 {
    let known = texts.get_index_of(text);
    // A row of the database is longer than a number.
    known.unwrap_or_else(|| texts.insert_full(text.into()).0) as u32
}

/// The number of a name, a new one for a new name.
pub(super) fn number_of_name(names: &mut Keys<Name>, name: &str) -> u32 {
    let known = names.get_index_of(&Name(name));
    known.unwrap_or_else(|| names.insert_full(Name(name.into())).0) as u32
}

/// The number of a name that is known.
pub(super) fn find_name(names: &Keys<Name>, name: &str) -> Option<u32> {
    names.get_index_of(&Name(name)).map(|number| number as u32)
}

impl<T: AsRef<str>> Hash for Name<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.as_ref().bytes().for_each(|byte| state.write_u8(byte.to_ascii_lowercase()));
    }
}

impl Equivalent<Name> for Name<&str> {
    fn equivalent(&self, known: &Name) -> bool {
        self.0.eq_ignore_ascii_case(&known.0)
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }
}

impl Eq for Name {}
