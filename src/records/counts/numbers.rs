//! Texts and keys by number, each once.

use std::{
    cmp::Ordering,
    hash::{BuildHasher, Hash, Hasher},
};

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};

use crate::base::text::Text;

/// Texts by number. A number stays what it is.
#[derive(Debug, Default)]
pub(super) struct Names {
    numbers: HashTable<u32>,
    texts: Vec<Box<str>>,
    hasher: DefaultHashBuilder,
    /// Whether the case of ASCII letters does not count; the first spelling is shown then.
    is_in_any_case: bool,
}

/// Keys by number.
#[derive(Debug)]
pub(super) struct Keys<K> {
    numbers: HashMap<K, u32>,
    keys: Vec<K>,
}

impl Names {
    pub(super) fn in_any_case() -> Self {
        Self { is_in_any_case: true, ..Self::default() }
    }

    /// The number of the text, a new one for a new text.
    pub(super) fn number(&mut self, text: &str) -> u32 {
        let hash = self.hash(text);
        let Self { numbers, texts, hasher, is_in_any_case } = self;
        let is = |number: &u32| same(&texts[*number as usize], text, *is_in_any_case);
        if let Some(number) = numbers.find(hash, is) {
            return *number;
        }
        let number = texts.len() as u32; // a row of the database is longer than a number
        texts.push(text.into());
        let rehash = |number: &u32| hash_of(hasher, &texts[*number as usize], *is_in_any_case);
        numbers.insert_unique(hash, number, rehash);
        number
    }

    /// The number of a text that is known.
    pub(super) fn find(&self, text: &str) -> Option<u32> {
        let is = |number: &u32| same(self.get(*number), text, self.is_in_any_case);
        self.numbers.find(self.hash(text), is).copied()
    }

    pub(super) fn get(&self, number: u32) -> &str {
        self.texts.get(number as usize).map_or("", |text| text)
    }

    /// The text, as it is shown.
    pub(super) fn text(&self, number: u32) -> Text {
        Text::read_back(self.get(number).to_owned())
    }

    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }

    /// The order of two texts: by bytes, or by letters in any case.
    pub(super) fn compare(&self, one: u32, other: u32) -> Ordering {
        let (one, other) = (self.get(one).bytes(), self.get(other).bytes());
        match self.is_in_any_case {
            false => one.cmp(other),
            true => {
                let lower = |byte: u8| byte.to_ascii_lowercase();
                one.map(lower).cmp(other.map(lower))
            }
        }
    }

    fn hash(&self, text: &str) -> u64 {
        hash_of(&self.hasher, text, self.is_in_any_case)
    }
}

fn same(one: &str, other: &str, is_in_any_case: bool) -> bool {
    if is_in_any_case { one.eq_ignore_ascii_case(other) } else { one == other }
}

fn hash_of(hasher: &DefaultHashBuilder, text: &str, is_in_any_case: bool) -> u64 {
    if !is_in_any_case {
        return hasher.hash_one(text);
    }
    let mut state = hasher.build_hasher();
    text.bytes().for_each(|byte| state.write_u8(byte.to_ascii_lowercase()));
    state.finish()
}

impl<K> Default for Keys<K> {
    fn default() -> Self {
        Self { numbers: HashMap::new(), keys: Vec::new() }
    }
}

impl<K: Copy + Eq + Hash> Keys<K> {
    /// The number of the key, a new one for a new key.
    pub(super) fn number(&mut self, key: K) -> u32 {
        let Self { numbers, keys } = self;
        *numbers.entry(key).or_insert_with(|| {
            keys.push(key);
            keys.len() as u32 - 1 // a row of the database is longer than a number
        })
    }

    pub(super) fn get(&self, number: u32) -> Option<&K> {
        self.keys.get(number as usize)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &K> {
        self.keys.iter()
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }
}
