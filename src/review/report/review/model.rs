//! The facts of a review.

use jiff::Timestamp;

use crate::{
    base::text::Text,
    records::tally::Claimant,
    review::report::{Axis, Count, Span, Tally},
    rules::crawlers::Crawler,
};

/// The product token of clients without a name, as in records.
pub(super) const NO_NAME: Text = Text::word("-");

/// What crawlers did in a span, and in the one before.
#[derive(Clone, Debug)]
pub struct Review<'c> {
    /// The span.
    pub span: Span,
    /// The only site that counts.
    pub site: Option<String>,
    /// Whether anything was counted in the span before; else nothing is compared.
    pub is_compared: bool,
    /// The start of the first day with counts, if the span before began earlier.
    pub first_counts: Option<Timestamp>,
    /// All crawlers and other programs.
    pub total: Tally,
    /// All of the span before.
    pub total_before: Tally,
    /// The requests of people: now, and before.
    pub people: (u64, u64),
    /// Crawlers and other programs, most violations first, then most requests.
    pub crawlers: Vec<CrawlerRow<'c>>,
    /// Rules that were broken now or before, most violations first.
    pub rules: Vec<RuleRow>,
    /// Paths with violations, most first.
    pub paths: Vec<PathRow>,
    /// The days of the span.
    pub days: Vec<DayRow>,
    /// The bars of charts over time.
    pub axis: Axis,
    /// The counts of all crawlers for each bar.
    pub bars: Vec<Count>,
    /// Operators of crawlers, most requests first.
    pub operators: Vec<OperatorRow>,
}

/// A crawler or another program, or the impostors of a crawler.
#[derive(Clone, Debug)]
pub struct CrawlerRow<'c> {
    /// The product token; `-` is a client without a name.
    pub product_token: Text,
    /// Who the requests count for: the crawler, or its impostors.
    pub claimant: Claimant,
    /// Its entry in the catalogue.
    pub entry: Option<&'c Crawler>,
    /// The span.
    pub now: Tally,
    /// The span before.
    pub before: Tally,
    /// Violations for each bar of [`Review::axis`].
    pub bars: Vec<u64>,
}

/// A rule of a site, or the reason of violations where no rule is broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleRow {
    /// The site.
    pub site: Text,
    /// The directive; empty where no rule is broken.
    pub directive: Text,
    /// The path pattern.
    pub pattern: Text,
    /// The line, if it was the same in all editions.
    pub line: Option<u32>,
    /// The code of the reason, where no rule is broken.
    pub reason: Option<Text>,
    /// Requests that the rule decided, and the violations among them.
    pub now: Count,
    /// The span before.
    pub before: Count,
}

/// A path that violations went to, without its query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathRow {
    /// The path; `…` stands for those beyond the limit of an hour.
    pub path: Text,
    /// Violations.
    pub now: u64,
    /// Violations in the span before; `None` if there were too many paths to tell.
    pub before: Option<u64>,
}

/// A day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DayRow {
    /// Its start in UTC.
    pub day: Timestamp,
    /// The requests of that day within the span.
    pub count: Count,
}

/// What an operator of crawlers took and gave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    /// Requests of its crawlers, without those that evidence contradicted.
    pub requests: u64,
    /// Visits of people that its pages sent.
    pub visits: u64,
}

/// An operator of crawlers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorRow {
    /// Its name in the catalogue.
    pub operator: String,
    /// The span.
    pub now: Exchange,
    /// The span before.
    pub before: Exchange,
}
