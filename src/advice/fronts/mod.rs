//! Servers in front of Beadle: what to ask through them, and what they make of its answers.
//!
//! ```text
//! crawlers, questions ─▶ (somebody asks) ─▶ Seen and Expected ─▶ judge ─▶ Finding ─▶ Held ─▶ Trouble
//! ```
//! A front may keep, change or refuse what Beadle answers. Only a request that comes from outside shows
//! that. Nothing here knows how it gets there, nor the time.
//!
//! May use: robots, policy, escape. Must not know: rulebooks, fetches, any clock.

mod finding; // one answer, compared with the one that should come
mod held; // the findings that hold, and who met them
mod question; // the requests of a round, each with its client
mod repairs; // likely causes and what to do, by product

pub(crate) use self::{
    finding::{Expected, Finding, Seen, judge},
    held::{Held, Trouble},
    question::{Asker, Question, crawlers, questions},
};

#[cfg(test)]
mod tests;
