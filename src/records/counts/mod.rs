//! Counts by hour in memory, and the questions that they answer.
//!
//! A `Table` takes in the counts of hours as the database has them, and answers a [`Question`] by going
//! through numbers alone: a combination of values is a number, and its texts are looked at once for each
//! question. So an answer about months of a busy site takes milliseconds.
//!
//! May use: tally, record, text. Must not know: violations, the disk, any clock.

pub(crate) use self::{
    cells::Gathered,
    kinds::SeriesTexts,
    table::{Part, Table},
};
pub use self::{
    question::{Counted, Dimension, Place, Question, Referral},
    table::CountsInMemory,
};

mod answer; // the answer to a question
mod cells; // the counts of an hour as numbers
mod hours; // hours, and sums of days
mod kinds; // texts and combinations of values by number
mod question; // what is asked, and how it is answered
mod table; // the hours that were taken in

#[cfg(test)]
mod tests;
