//! What the database is asked for a scorecard, and its answers.

use jiff::Timestamp;

use crate::{
    report::Span,
    violations::{Counted, Dimension, Edition, Fetch},
};

/// By what counts are told apart to see what was read, and when.
pub const READ_BY: [Dimension; 4] =
    [Dimension::Hour, Dimension::Site, Dimension::Reason, Dimension::Edition];

/// The answers of the database about one crawler.
#[derive(Clone, Debug)]
pub struct Answers {
    /// The span of time.
    pub span: Span,
    /// The only site that was asked for.
    pub site: Option<String>,
    /// The product token.
    pub product_token: String,
    /// The counts of the span by [`TALLIED_BY`](crate::report::TALLIED_BY).
    pub now: Vec<Counted>,
    /// The counts of the span before.
    pub before: Vec<Counted>,
    /// The counts of the span by hour.
    pub hours: Vec<Counted>,
    /// The counts of both spans by [`READ_BY`], under every name that the crawler obeys in robots.txt:
    /// it may fetch the file under any of them.
    pub read: Vec<Counted>,
    /// The latest fetches under these names.
    pub fetches: Vec<Fetch>,
    /// The editions that were in force in both spans.
    pub editions: Vec<Edition>,
    /// The start of the first day with counts of any crawler, in both spans.
    pub first_counts: Option<Timestamp>,
}
