//! A block of records in a few bytes each, which tells where the records of a filter are.
//!
//! A block is a range of sequence numbers. Its [`Summary`] has the combinations of names in its records,
//! their paths, and for each sequence number the combination and the path. So a search reads the names
//! and paths once for thousands of records, and nothing else of a block that has none of them.

pub(crate) use self::{
    builder::{Builder, Names, Summary},
    chosen::{Chosen, FORM_MARK, Search, positions},
};

mod builder; // records in, their summary out
mod chosen; // a filter, and what it chooses of a summary

#[cfg(test)]
mod tests;
