//! Two policies or two robots.txt files, compared by their meaning for crawlers.
//!
//! [`files`] compares two robots.txt files, [`policies`] two policies with their rulebooks. A
//! [`Comparison`] comes out: a [`Row`] for each path pattern, action, pace, tag or setting that
//! changes, by site and by the crawlers that change alike. [`text`] is the same as lines.
//!
//! **Exact.** For verdicts, a row has the two rules that decide. A path is judged differently for a
//! crawler if and only if a row has its two rules. Where an exact search takes too long, the rows are
//! samples, and the comparison says so. Paths are compared as they are sent.
//!
//! May use: robots, usage, robots_tag, crawlers, policy, enforce, product_token, escape. Must not know:
//! files, clocks, the network, the place that a text goes to.

mod difference; // the differences of two files of rules
mod files; // two robots.txt files; an origin's rules that a policy replaces
mod regions; // the pairs of rules that decide under two sets of rules
mod row; // one change, and all of them as lines
mod settings; // what changes in settings and in the tags of responses
mod sites; // which sites of two policies belong together, and what changes for their clients
mod treatments; // the clients of two sites: the group, the treatment and the pace of each

#[cfg(test)]
mod difference_tests;
#[cfg(test)]
mod tests;

pub use self::{
    difference::{
        Difference, Differences, Judged, MAX_DIFFERENCES, differences, differences_within,
    },
    files::{KEEP_RULES, Replaced, files},
    row::{Comparison, Row, State, Told, text},
    sites::{Side, policies, policies_within},
};
