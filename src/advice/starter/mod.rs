//! A first policy, made of a few answers.
//!
//! `Answers` go in: the site, a preset, and what is wanted of crawlers by purpose. `policy_text`
//! gives the text of a policy with comments and tests. It records violations and refuses nothing.
//! `suggest` reads from a page which preset fits the site.
//!
//! May use: crawlers, policy, text. Must not know: files, clocks, the network, the terminal.

mod answers; // presets and wishes; the answers as a policy; the questions, on any input and output

#[cfg(test)]
mod tests;

pub(crate) use self::answers::{Answers, Dialogue, Preset, Wish, policy_text, suggest};
