//! The explanation of a decision: what the rules say about one request, and why.
//!
//! A [`Question`] goes in: a URL or path, a User-Agent and perhaps an address. [`explain`] asks the
//! gate for the decision that such a request would get. An [`Explanation`] comes out, as data (the
//! JSON of `beadle explain`) and as lines of text. `explain` on the command line and the desk print
//! the same one. Nobody sends the request, so nothing is counted, recorded, fetched or looked up.
//!
//! May use: gate, publication, enforce, crawlers, robots, usage, escape, record, tally, text. Must not know:
//! proxy, admin, cli, any clock, any socket.

mod answer; // a question put to the gate, and its faults; the decision as lines
mod decision; // the decision as data; what a robots.txt alone says
mod past; // a recorded violation

pub(crate) use self::{
    answer::{Fault, Question, Rungs, explain},
    decision::{Excerpt, Explanation, Line, RuleRow, VerdictRow, group_lines},
    past::{Past, PastForms},
};
