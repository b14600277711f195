//! The review of a span of time: what crawlers did, against the span before.
//!
//! [`Answers`] of the database go in, a [`Review`] comes out: crawlers, rules, paths and days, and
//! what stands out. It is written as JSON lines, or as a [`Document`](super::Document).

pub(crate) use self::{
    answers::{Answers, RULES_BY, rules},
    json::json_lines,
    layout::document,
    model::{CrawlerRow, Review},
};

mod answers; // what the database is asked, and its answers
mod json; // as JSON lines
mod layout; // as a document
mod model; // the facts of a review
