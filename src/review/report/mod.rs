//! Documents made of stored facts.
//!
//! [`bundle`] is the evidence of violations that an operator of a site sends to the operator of a
//! crawler, and its verification. [`review`] compares what crawlers did in a span of time with the
//! span before, [`score`] is about one crawler. Documents are written by [`text()`], [`markdown()`] and
//! [`html()`]. Questions are asked in [`terms`].
//!
//! May use: counts, record, tally, text, violations, robots, crawlers, enforce, policy,
//! escape, version. Must not know: clocks, files, the network, the place that a document goes to.

pub(crate) use self::{
    client_total::{Count, TALLIED_BY, Tally},
    document::{Cell, Document, Section, Table},
    edition::EditionRow,
    grid::Screen,
    html::html,
    impostors::Impostors,
    markdown::markdown,
    span::{Axis, Span},
    terminal::text,
};

pub(crate) mod bundle; // the evidence of violations, as files that verify alone
pub(crate) mod grid; // rows of cells that fit a width
pub(crate) mod number; // numbers as people read them
pub(crate) mod review; // a span of time against the one before
pub(crate) mod score; // the scorecard of one crawler
pub(crate) mod terms; // the terms of a question: names, times, patterns, ids

mod client_total; // the requests of one client name
mod document; // a document of tables
mod edition; // an edition as JSON
mod html; // a document as HTML
mod impostors; // the crawlers that impostors claim to be
mod markdown; // a document as Markdown
mod span; // a span of whole hours
mod terminal; // a document as text
