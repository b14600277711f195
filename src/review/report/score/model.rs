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
pub struct Score<'c> {
    /// The span.
    pub span: Span,
    /// The only site that counts.
    pub site: Option<String>,
    /// The product token.
    pub product_token: String,
    /// Its entry in the catalogue.
    pub entry: Option<&'c Crawler>,
    /// The span.
    pub now: Tally,
    /// The span before.
    pub before: Tally,
    /// The requests of its impostors in the span. They count nowhere else.
    pub impostors: Count,
    /// Whether anything was counted in the span before, of any crawler.
    pub is_compared: bool,
    /// The hour with the most requests.
    pub busiest: Option<(Timestamp, u64)>,
    /// How it reads robots.txt.
    pub reading: Reading,
    /// How it followed changes of robots.txt, the latest first.
    pub following: Vec<Following>,
    /// The bars of charts over time.
    pub axis: Axis,
    /// The counts for each bar.
    pub bars: Vec<Count>,
}

/// How a crawler reads robots.txt, under any name that it obeys there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Fetches in the span.
    pub fetches: u64,
    /// Hours of the span with a fetch.
    pub hours: u64,
    /// The time of the last fetch, as far as it is known.
    pub last: Option<Timestamp>,
    /// The usual time between two fetches by one network: the median of all networks.
    pub interval: Option<Duration>,
}

/// How a crawler followed one change of a site's robots.txt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Following {
    /// The site.
    pub site: Text,
    /// The new edition.
    pub edition: Text,
    /// The time of the change.
    pub from: Timestamp,
    /// The end of the edition's time in force, if it came within the span.
    pub until: Option<Timestamp>,
    /// The hours after which it had fetched the new edition; counts are kept by hour, so it may have
    /// been up to an hour earlier. `None` if it did not.
    pub hours: Option<u64>,
}
