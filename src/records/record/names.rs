//! The names in records: a name that a filter uses is among them, or a similar one is.

use std::collections::BTreeSet;

use crate::{base::text::Text, records::record::Violation};

/// The most names that a lookup returns.
pub(crate) const MOST_NAMES: usize = 10_000;

/// A kind of name by which records can be filtered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind {
    /// The site.
    Site,
    /// The judged product token.
    ProductToken,
    /// The crawler's purpose.
    Purpose,
}

/// The result of a lookup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameFound {
    /// The name is there.
    Itself,
    /// The name is not there; these are (10,000 at most).
    Others(Vec<String>),
}

/// Looks for a name while names come by.
#[derive(Debug)]
pub(crate) struct NameSearch<'n> {
    kind: NameKind,
    wanted: &'n str,
    others: BTreeSet<Text>,
}

impl<'n> NameSearch<'n> {
    pub(crate) const fn new(kind: NameKind, wanted: &'n str) -> Self {
        Self { kind, wanted, others: BTreeSet::new() }
    }

    /// Whether the record has the name.
    pub(crate) fn finds(&mut self, violation: &Violation) -> bool {
        let name = match self.kind {
            NameKind::Site => &violation.site,
            NameKind::ProductToken => &violation.product_token,
            NameKind::Purpose => match &violation.purpose {
                Some(purpose) => purpose,
                None => return false,
            },
        };
        if name.eq_ignore_ascii_case(self.wanted) {
            return true;
        }
        if self.others.len() < MOST_NAMES && !self.others.contains(name) {
            self.others.insert(name.clone());
        }
        false
    }

    pub(crate) fn others(self) -> NameFound {
        NameFound::Others(self.others.iter().map(Text::to_string).collect())
    }
}
