//! The real origins behind the program: what each serves for a target as it is sent, and that no
//! spelling of a disallowed path gets there.
//!
//! `house` starts every origin that is installed. `agreement` compares each with its model
//! (`support/origin_models.rs`), `rows` has the spellings.

mod agreement; // each origin does what its model says
mod house; // every origin, running
mod rows; // what they serve when asked directly is refused by the program
