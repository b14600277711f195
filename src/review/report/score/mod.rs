//! The scorecard of one crawler: what it did in a span of time, measured on the operator's own sites.
//!
//! [`Answers`] of the database go in, a [`Score`] comes out. It is written as JSON, or as a
//! [`Document`](super::Document).

pub(crate) use self::{answers::Answers, json::json_line, layout::document, model::Score};

mod answers; // what the database is asked, and its answers
mod assembly; // a scorecard, made of the answers
mod json; // as a line of JSON
mod layout; // as a document
mod model; // the facts of a scorecard
mod reading; // how a crawler reads robots.txt
