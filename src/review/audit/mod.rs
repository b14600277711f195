//! What a page and its site tell a crawler, all together.
//!
//! A [`Site`] and a [`Page`] go in: the answers to a few requests. An [`Audit`] comes out: the verdict
//! of robots.txt, the rules of `Robots-Tag`, `X-Robots-Tag` and `meta` elements, the places where they
//! contradict each other, and the signals about AI that the site sends.
//!
//! May use: robots, robots_tag, usage, crawlers, enforce, report, fetch, product_token, escape, text. Must not know:
//! files, clocks, the network, the place that a text goes to.

mod instructions; // everything about one page, and the answers for many crawlers
mod layout; // the audits as documents
mod page; // the answers to requests
mod said; // what each carrier says about crawling, training and search; what contradicts what
mod signals; // Content-Signal, Content-Usage, RSL, TDMRep, ai.txt

#[cfg(test)]
mod tests;

pub(crate) use self::{
    instructions::{Audit, Row, crawlers},
    layout::{contradictions, document, matrix as matrix_document},
    page::{Page, Site},
    said::Use,
};
