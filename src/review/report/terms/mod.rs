//! The terms of a question: names, times, path patterns and ids, as an operator writes them.
//!
//! Command line and admin listener read them here, so that both understand the same and refuse the
//! same. A refusal names the repair.

use derive_more::From;

pub(crate) use self::{
    names::{Names, Recorded, counted_spellings},
    value::{disorder, pattern, rule, time},
};
use crate::records::record;

pub(crate) mod id; // decision ids
mod names; // sites, crawlers and purposes
mod value; // times, days and ages, path patterns and rules

#[derive(Clone, Debug, From, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// A term means nothing; holds a sentence with the repair.
    Term(String),
    #[from]
    Store(record::Error),
}
