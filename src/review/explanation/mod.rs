//! The explanation of a decision: what the rules say about one request, and why.
//!
//! A [`Question`] goes in: a URL or path, a User-Agent and perhaps an address. [`explain`] asks the
//! gate for the decision that such a request would get. An [`Explanation`] comes out, as data (the
//! JSON of `beadle explain`) and as lines of text. `explain` on the command line and the desk print
//! the same one. Nobody sends the request, so nothing is counted, recorded, fetched or looked up.
//!
//! ```text
//! question   what an operator asks; a fault names the repair
//! answer     the question put to the gate
//! decision   the decision as data
//! text       the decision as lines
//! verdict    the rows and lines that a robots.txt alone also has
//! excerpt    the lines of a robots.txt around a rule
//! past       a recorded violation, explained by the stored edition
//! ```
//!
//! May use: gate, publication, enforce, crawlers, robots, usage, escape, record, tally, text. Must not know:
//! proxy, admin, cli, any clock, any socket.

mod answer; // a question put to the gate
mod decision; // the decision as data
mod decision_text; // the decision as lines
mod excerpt; // the lines around a rule
mod past; // a recorded violation
mod question; // what is asked, and its faults
mod verdict; // what a robots.txt alone says

pub(crate) use self::{
    answer::explain,
    decision::Explanation,
    excerpt::Excerpt,
    past::{Past, PastForms},
    question::{Fault, Question, Rungs},
    verdict::{Line, RuleRow, VerdictRow, group_lines},
};
