//! How an origin reads paths, by its own answers: which forms of a page to ask for, and what the
//! answers say.
//!
//! ```text
//! Plan: questions about a page ─▶ (somebody asks) ─▶ Answer ─▶ Plan::next … ─▶ Plan::read ─▶ Found
//! ```
//! The first two questions are the page itself, the third is a page that does not exist. An answer that
//! equals the page says that the origin takes the step. An answer with a status of 400 or more, or that
//! of the missing page, says that it does not. Any other answer says nothing: a page may show the path
//! that it was asked by, and a redirect leads to a path that is judged by itself.
//!
//! A plan ends at the first answer by which a firewall or an overloaded server may speak. Then nothing
//! is known ([`Obstacle`]), and all forms count.
//!
//! What can't be asked counts as before: steps on the query, on octets that the page's path doesn't have,
//! a `\` as sent, and the name of the root's folder. A line feed is not asked for: an origin that decodes it
//! may break the connection to the server behind it. Dot segments are asked for behind an encoded slash
//! alone, as they belong to the letter.
//!
//! May use: robots, escape. Must not know: the policy, the client, any clock.

mod found; // what the answers say
mod plan; // the questions, and one answer

pub use self::{
    found::Found,
    plan::{Answer, MOST_BYTES, MOST_REQUESTS, Obstacle, Plan},
};

#[cfg(test)]
mod tests;
