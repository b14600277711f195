//! The real origins behind the program: what each serves for a target as it is sent, and that no
//! spelling of a disallowed path gets there.
//!
//! `house` starts every origin that is installed. `agreement` compares each with its model
//! (`support/origin_models.rs`), `probe` asks each how it reads paths, `rows` has the spellings.

mod agreement; // each origin does what its model says
mod house; // every origin, running
mod probe; // what each origin answers when it is asked
mod rows; // what they serve when asked directly is refused by the program
