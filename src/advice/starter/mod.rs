//! A first policy, made of a few answers.
//!
//! `Answers` go in: the site, a preset, and what is wanted of crawlers by purpose. `policy_text`
//! gives the text of a policy with comments and tests. It records violations and refuses nothing.
//! `suggest` reads from a page which preset fits the site.
//!
//! ```text
//! preset    the policies of examples/presets, and the sign by which a site is known
//! wish      what is wanted of crawlers with a purpose
//! dialogue  the questions, on any input and output
//! text      the answers as a policy
//! ```
//!
//! May use: crawlers, policy, text. Must not know: files, clocks, the network, the terminal.

mod answers; // the answers as a policy
mod dialogue; // questions and answers
mod preset; // a policy for a kind of site
mod wish; // what is wanted of crawlers with a purpose

#[cfg(test)]
mod tests;

pub(crate) use self::{
    answers::{Answers, policy_text},
    dialogue::Dialogue,
    preset::{Preset, suggest},
    wish::Wish,
};
