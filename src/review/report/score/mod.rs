//! The scorecard of one crawler: what it did in a span of time, measured on the operator's own sites.
//!
//! A [`Score`] is made of the answers of the database, and written as JSON or as a
//! [`Document`](super::Document).

pub(crate) use self::{
    layout::document,
    model::{Score, json_line},
};

mod layout; // as a document
mod model; // the facts of a scorecard, as the database answers, and the line of JSON
