//! The codes of all findings of `beadle check`, with their meanings.
//!
//! The documentation lists them, and a comment in a file names them. A test compares them with the
//! sources.

use std::sync::LazyLock;

use crate::base::diagnostic::Rule;

/// The code and the meaning of each finding, in alphabetical order.
pub static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let lines = include_str!("../../../config/findings.txt").lines();
    let rules = lines.filter_map(|line| line.split_once(": "));
    rules.map(|(code, meaning)| Rule { code, meaning }).collect()
});
