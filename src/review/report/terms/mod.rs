//! The terms of a question: names, times, path patterns and ids, as an operator writes them.
//!
//! Command line and admin listener read them here, so that both understand the same and refuse the
//! same. A refusal names the repair.

pub(crate) use self::{
    names::{Names, Recorded, counted_spellings},
    pattern::{pattern, rule},
    time::{disorder, time},
};
use crate::records::record;

pub(crate) mod id; // decision ids
mod names; // sites, crawlers and purposes
mod pattern; // path patterns and rules
mod time; // times, days and ages

/// Why a question can't be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// A term means nothing; holds a sentence with the repair.
    Term(String),
    /// The database can't be read.
    Store(record::Error),
}

impl From<record::Error> for Refusal {
    fn from(error: record::Error) -> Self {
        Self::Store(error)
    }
}
