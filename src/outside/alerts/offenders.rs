//! The crawlers that violated the rules of a site before.

use std::collections::BTreeSet;

/// A crawler that violated the rules of a site.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Offender {
    pub(crate) site: String,
    pub(crate) product_token: String,
}

impl Offender {
    /// An offender by the names of the site and the crawler, in any case.
    pub fn new(site: &str, product_token: &str) -> Self {
        Self { site: site.to_ascii_lowercase(), product_token: product_token.to_ascii_lowercase() }
    }
}

/// The known offenders, and the new ones that no event has told of.
#[derive(Debug, Default)]
pub(super) struct Offenders {
    pub(super) known: BTreeSet<Offender>,
    /// By site and product token as written.
    pub(super) untold: BTreeSet<(String, String)>,
}

impl Offenders {
    pub(super) fn note(&mut self, site: &str, product_token: &str) {
        if self.known.insert(Offender::new(site, product_token)) {
            self.untold.insert((site.to_owned(), product_token.to_owned()));
        }
    }

    pub(super) fn know(&mut self, site: &str, product_token: &str) {
        self.known.insert(Offender::new(site, product_token));
        self.untold.remove(&(site.to_owned(), product_token.to_owned()));
    }
}
