//! What the database is asked for a review, and its answers.

use jiff::Timestamp;

use crate::{
    report::Span,
    violations::{Counted, Dimension, Place, Referral},
};

/// By what counts are told apart for rules.
pub const RULES_BY: [Dimension; 5] =
    [Dimension::Site, Dimension::Directive, Dimension::Pattern, Dimension::Line, Dimension::Reason];
/// By what counts are told apart to find the first day with counts.
pub const FIRST_BY: [Dimension; 1] = [Dimension::Day];

/// The paths that a review shows at most.
const MOST_PATHS: usize = 1_000;
/// The paths of the time before among which they are looked for.
const MOST_PATHS_BEFORE: usize = 100_000;

/// How many paths the database is asked for: in the span, and in the one before.
pub const fn most_paths() -> (usize, usize) {
    (MOST_PATHS, MOST_PATHS_BEFORE)
}

/// The answers of the database.
#[derive(Clone, Debug)]
pub struct Answers {
    /// The span of time.
    pub span: Span,
    /// The only site that was asked for.
    pub site: Option<String>,
    /// The answers about the span.
    pub now: Period,
    /// The answers about the span before.
    pub before: Period,
    /// The counts of the span by product token and [`Span::period`], in this order.
    pub times: Vec<Counted>,
    /// The start of the first day with counts, in both spans.
    pub first_counts: Option<Timestamp>,
}

/// The answers about one span.
#[derive(Clone, Debug, Default)]
pub struct Period {
    /// The counts by [`TALLIED_BY`](crate::report::TALLIED_BY).
    pub crawlers: Vec<Counted>,
    /// The counts by [`RULES_BY`].
    pub rules: Vec<Counted>,
    /// The paths with the most violations, up to [`most_paths`].
    pub paths: Vec<Place>,
    /// The requests of people.
    pub people: u64,
    /// The visits of people that operators of crawlers sent.
    pub referrals: Vec<Referral>,
}
