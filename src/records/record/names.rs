//! The names in records: a name that a filter uses is among them, or a similar one is.

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

impl NameKind {
    /// The name of this kind in a record.
    pub(crate) const fn of(self, violation: &Violation) -> Option<&Text> {
        match self {
            Self::Site => Some(&violation.site),
            Self::ProductToken => Some(&violation.product_token),
            Self::Purpose => violation.purpose.as_ref(),
        }
    }
}
