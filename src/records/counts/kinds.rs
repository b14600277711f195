//! Combinations of values by number, as the database knows them.
//!
//! A series is what a request was (its kind) under a rule of an edition. Kinds are few, and so are rules;
//! series are many.

use hashbrown::HashMap;

use super::{
    Dimension,
    numbers::{Keys, Names},
};
use crate::{
    base::text::Text,
    records::tally::{Claimant, is_violation},
};

/// The values of a kind of request.
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
/// The values of a rule.
pub(crate) const RULE: [Dimension; 4] =
    [Dimension::Edition, Dimension::Directive, Dimension::Pattern, Dimension::Line];

/// The values of a series.
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

/// The known series.
#[derive(Debug)]
pub(super) struct AllSeries {
    /// The kind and the rule of each, by the id in the database.
    parts: HashMap<i64, (u32, u32)>,
    kinds: Keys<Kind>,
    rules: Keys<Rule>,
    /// Sites, product tokens and purposes.
    names: Names,
    words: Names,
}

impl Default for AllSeries {
    fn default() -> Self {
        Self {
            parts: HashMap::new(),
            kinds: Keys::default(),
            rules: Keys::default(),
            names: Names::in_any_case(),
            words: Names::default(),
        }
    }
}

impl AllSeries {
    /// The kind and the rule of a series.
    pub(super) fn find(&self, id: i64) -> Option<(u32, u32)> {
        self.parts.get(&id).copied()
    }

    /// Takes in a series of the database.
    pub(super) fn add(&mut self, id: i64, texts: &SeriesTexts<'_>) {
        let mut kind = Kind::default();
        for ((number, dimension), text) in kind.iter_mut().zip(KIND).zip(texts.kind) {
            *number =
                if is_name(dimension) { &mut self.names } else { &mut self.words }.number(text);
        }
        let mut rule = Rule::default();
        for (number, text) in rule.iter_mut().zip(texts.rule) {
            *number = self.words.number(text);
        }
        rule[RULE.len() - 1] = texts.line;
        self.parts.insert(id, (self.kinds.number(kind), self.rules.number(rule)));
    }

    /// Forgets the ids: the database may give them again.
    pub(super) fn forget_ids(&mut self) {
        self.parts = HashMap::new();
    }

    pub(super) const fn kinds(&self) -> &Keys<Kind> {
        &self.kinds
    }

    pub(super) const fn rules(&self) -> &Keys<Rule> {
        &self.rules
    }

    /// The number of a wanted name; `None` if no series has it.
    pub(super) fn name(&self, name: &str) -> Option<u32> {
        self.names.find(name)
    }

    /// Whether requests of this kind are violations.
    pub(super) fn is_violation(&self, kind: &Kind) -> bool {
        is_violation(self.word(kind, Dimension::Action), self.word(kind, Dimension::Reason))
    }

    /// Who the requests of a kind count for.
    pub(super) fn claimant(&self, kind: &Kind) -> Claimant {
        Claimant::of(self.word(kind, Dimension::Standing))
    }

    fn word(&self, kind: &Kind, dimension: Dimension) -> &str {
        let at = KIND.iter().position(|one| *one == dimension);
        at.map_or("", |at| self.words.get(kind[at]))
    }

    /// The texts of a dimension; none for a line.
    pub(super) fn texts(&self, dimension: Dimension) -> Option<&Names> {
        match dimension {
            Dimension::Line | Dimension::Hour | Dimension::Day => None,
            name if is_name(name) => Some(&self.names),
            _ => Some(&self.words),
        }
    }

    /// The value of a dimension, as it is shown.
    pub(super) fn text(&self, dimension: Dimension, number: u32) -> Text {
        match self.texts(dimension) {
            Some(names) => names.text(number),
            None => Text::from(number.to_string()),
        }
    }
}

/// Whether the case of the letters does not count.
const fn is_name(dimension: Dimension) -> bool {
    matches!(dimension, Dimension::Site | Dimension::ProductToken | Dimension::Purpose)
}
