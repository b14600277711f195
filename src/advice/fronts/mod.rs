//! Servers in front of Beadle: what to ask through them, and what they make of its answers.
//!
//! ```text
//! crawlers, questions ─▶ (somebody asks) ─▶ Seen and Expected ─▶ judge ─▶ Finding ─▶ Held ─▶ Trouble
//! ```
//! A front may keep, change or refuse what Beadle answers. Only a request that comes from outside shows
//! that. Nothing here knows how it gets there, nor the time.
//!
//! May use: robots, policy, escape. Must not know: rulebooks, fetches, any clock.

mod finding; // answers, compared with those that should come; the findings that hold, and their repairs
mod question; // the requests of a round, each with its client

pub(crate) use self::{
    finding::{Expected, Finding, Held, Seen, Trouble, judge},
    question::{Asker, Question, crawlers, questions},
};

#[cfg(test)]
mod tests;
