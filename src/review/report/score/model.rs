//! The facts of a scorecard.

use std::time::Duration;

use jiff::Timestamp;

use crate::{
    base::text::Text,
    review::report::{Axis, Count, Span, Tally},
    rules::crawlers::Crawler,
};

/// What one crawler did in a span, and in the one before.
#[derive(Clone, Debug)]
pub(crate) struct Score<'c> {
    pub(crate) span: Span,
    /// The only site that counts.
    pub(crate) site: Option<String>,
    pub(crate) product_token: String,
    /// Its entry in the catalogue.
    pub(crate) entry: Option<&'c Crawler>,
    pub(crate) now: Tally,
    pub(crate) before: Tally,
    /// The requests of its impostors in the span. They count nowhere else.
    pub(crate) impostors: Count,
    /// Whether anything was counted in the span before, of any crawler.
    pub(crate) is_compared: bool,
    /// The hour with the most requests.
    pub(crate) busiest: Option<(Timestamp, u64)>,
    /// How it reads robots.txt.
    pub(crate) reading: Reading,
    /// How it followed changes of robots.txt, the latest first.
    pub(crate) following: Vec<Following>,
    /// The bars of charts over time.
    pub(crate) axis: Axis,
    /// The counts for each bar.
    pub(crate) bars: Vec<Count>,
}

/// How a crawler reads robots.txt, under any name that it obeys there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    /// Fetches in the span.
    pub(crate) fetches: u64,
    /// Hours of the span with a fetch.
    pub(crate) hours: u64,
    /// The time of the last fetch, as far as it is known.
    pub(crate) last: Option<Timestamp>,
    /// The usual time between two fetches by one network: the median of all networks.
    pub(crate) interval: Option<Duration>,
}

/// How a crawler followed one change of a site's robots.txt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Following {
    pub(crate) site: Text,
    /// The new edition.
    pub(crate) edition: Text,
    /// The time of the change.
    pub(crate) from: Timestamp,
    /// The end of the edition's time in force, if it came within the span.
    pub(crate) until: Option<Timestamp>,
    /// The hours after which it had fetched the new edition; counts are kept by hour, so it may have
    /// been up to an hour earlier. `None` if it did not.
    pub(crate) hours: Option<u64>,
}
