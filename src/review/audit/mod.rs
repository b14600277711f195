//! What a page and its site tell a crawler, all together.
//!
//! A [`Site`] and a [`Page`] go in: the answers to a few requests. An [`Audit`] comes out: the verdict
//! of robots.txt, the rules of `Robots-Tag`, `X-Robots-Tag` and `meta` elements, the places where they
//! contradict each other, and the signals about AI that the site sends.
//!
//! ```text
//! page          the answers            reading    everything about one page
//! source        the rules of one source
//! signals       Content-Signal, Content-Usage, RSL, TDMRep, ai.txt
//! said          what each carrier says about crawling, training and search
//! matrix        the answers for many crawlers
//! conflicts     what contradicts what  document   the audits as a document
//! ```
//!
//! May use: robots, robots_tag, usage, crawlers, enforce, report, fetch, product_token, escape. Must not know:
//! files, clocks, the network, the place that a text goes to.

mod conflicts; // what contradicts what
mod instructions; // everything about one page
mod layout; // the audits as a document
mod matrix; // the answers for many crawlers
mod page; // the answers to requests
mod said; // what carriers say about uses
mod signals; // signals about AI
mod source_rules; // the rules of one source

#[cfg(test)]
mod tests;

pub(crate) use self::{
    instructions::Audit,
    layout::{contradictions, document, matrix as matrix_document},
    matrix::{Row, crawlers},
    page::{Page, Site},
    said::Use,
};
