//! Texts by number, and combinations of values by number, as the database knows them. A number stays what
//! it is.
//!
//! A series is what a request was (its kind) under a rule of an edition. Kinds are few, and so are rules;
//! series are many.

use std::{
    cmp::Ordering,
    hash::{Hash, Hasher},
};

use hashbrown::{DefaultHashBuilder, HashMap};
use indexmap::{Equivalent, IndexSet};

use super::{Dimension, cells::Pair};
use crate::{
    base::text::Text,
    records::tally::{Claimant, is_violation},
};

pub(crate) const KIND: [Dimension; 9] = [
    Dimension::Site,
    Dimension::Class,
    Dimension::ProductToken,
    Dimension::Purpose,
    Dimension::Standing,
    Dimension::Verdict,
    Dimension::Action,
    Dimension::Reason,
    Dimension::ReadState,
];
pub(crate) const RULE: [Dimension; 4] =
    [Dimension::Edition, Dimension::Directive, Dimension::Pattern, Dimension::Line];

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SeriesTexts<'a> {
    /// In the order of [`KIND`].
    pub(crate) kind: [&'a str; KIND.len()],
    /// In the order of [`RULE`], without the line.
    pub(crate) rule: [&'a str; RULE.len() - 1],
    pub(crate) line: u32,
}

/// The numbers of the values of a kind, in the order of [`KIND`].
pub(super) type Kind = [u32; KIND.len()];
/// The numbers of the values of a rule, in the order of [`RULE`]; the last one is the line itself.
pub(super) type Rule = [u32; RULE.len()];

#[derive(Debug, Default)]
pub(crate) struct AllSeries {
    /// The kind and the rule of each, by the id in the database.
    parts: HashMap<i64, Pair>,
    pub(super) kinds: Keys<Kind>,
    pub(super) rules: Keys<Rule>,
    /// Sites, product tokens and purposes.
    names: Keys<Name>,
    words: Keys<Box<str>>,
}

impl AllSeries {
    pub(crate) fn find(&self, id: i64) -> Option<Pair> {
        self.parts.get(&id).copied()
    }

    pub(crate) fn add(&mut self, id: i64, texts: &SeriesTexts<'_>) -> Pair {
        let mut kind = Kind::default();
        for ((number, dimension), text) in kind.iter_mut().zip(KIND).zip(texts.kind) {
            *number = match is_name(dimension) {
                true => number_of_name(&mut self.names, text),
                false => self::number(&mut self.words, text),
            };
        }
        let [edition, directive, pattern] = texts.rule.map(|text| number(&mut self.words, text));
        let rule = [edition, directive, pattern, texts.line];
        let [kind, rule] =
            [self.kinds.insert_full(kind).0, self.rules.insert_full(rule).0].map(|at| at as u32);
        self.parts.insert(id, (kind, rule));
        (kind, rule)
    }

    /// Forgets the ids: the database may give them again.
    pub(super) fn forget_ids(&mut self) {
        self.parts = HashMap::new();
    }

    /// The number of a wanted name; `None` if no series has it.
    pub(super) fn name(&self, name: &str) -> Option<u32> {
        find_name(&self.names, name)
    }

    pub(super) fn is_violation(&self, kind: &Kind) -> bool {
        is_violation(self.word(kind, Dimension::Action), self.word(kind, Dimension::Reason))
    }

    pub(super) fn claimant(&self, kind: &Kind) -> Claimant {
        Claimant::of(self.word(kind, Dimension::Standing))
    }

    fn word(&self, kind: &Kind, dimension: Dimension) -> &str {
        let at = KIND.iter().position(|one| *one == dimension);
        at.map_or("", |at| self.get(dimension, kind[at]))
    }

    fn get(&self, dimension: Dimension, number: u32) -> &str {
        match is_name(dimension) {
            true => &self.names[number as usize].0,
            false => &self.words[number as usize],
        }
    }

    /// The order of two values of a dimension. Of names, the case does not count.
    pub(super) fn compare(&self, dimension: Dimension, one: u32, other: u32) -> Ordering {
        if one == other || dimension == Dimension::Line {
            return one.cmp(&other);
        }
        let [one, other] = [one, other].map(|number| self.get(dimension, number).bytes());
        let lower = |byte: u8| byte.to_ascii_lowercase();
        match is_name(dimension) {
            true => one.map(lower).cmp(other.map(lower)),
            false => one.cmp(other),
        }
    }

    pub(super) fn text(&self, dimension: Dimension, number: u32) -> Text {
        match dimension {
            Dimension::Line => Text::from(number.to_string()),
            _ => Text::read_back(self.get(dimension, number).to_owned()),
        }
    }
}

/// Whether the case of the letters does not count.
const fn is_name(dimension: Dimension) -> bool {
    matches!(dimension, Dimension::Site | Dimension::ProductToken | Dimension::Purpose)
}

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

pub(super) fn number_of_name(names: &mut Keys<Name>, name: &str) -> u32 {
    let known = names.get_index_of(&Name(name));
    known.unwrap_or_else(|| names.insert_full(Name(name.into())).0) as u32
}

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
