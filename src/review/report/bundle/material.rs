//! The facts that a bundle is made of.

use jiff::Timestamp;

use crate::{
    records::record::{ClockLeap, Edition, Fetch, Violation},
    rules::{crawlers::Crawler, enforce::Stay, policy},
};

/// The most records in a bundle; the latest count.
pub const MAX_RECORDS: usize = 100_000;

/// The facts that a bundle is made of.
#[derive(Debug)]
pub struct Material<'a> {
    /// The product token of all records.
    pub product_token: &'a str,
    /// The catalogue's entry, if there is one.
    pub crawler: Option<&'a Crawler>,
    /// The only site, if the records are of one by choice.
    pub site: Option<&'a str>,
    /// The start of the span.
    pub since: Timestamp,
    /// The end of the span.
    pub until: Timestamp,
    /// The time at which the bundle is made.
    pub made: Timestamp,
    /// The records of the span, in the order of writing.
    pub records: Vec<Violation>,
    /// Whether earlier records of the span are left out, because there are too many.
    pub is_cut: bool,
    /// The counts by hour of the span; `None` where the database has none.
    pub counts: Option<Counts>,
    /// The sites of the policy.
    pub sites: Vec<Served<'a>>,
    /// The editions of all sites, one for each period in force.
    pub editions: Vec<Edition>,
    /// The fetches of robots.txt.
    pub fetches: Vec<Fetch>,
    /// The jumps of the clock.
    pub leaps: Vec<ClockLeap>,
}

/// A site of the policy.
#[derive(Debug)]
pub struct Served<'a> {
    /// Its settings.
    pub site: &'a policy::Site,
    /// The sites that its hosts belonged to before.
    pub inherited: Vec<Stay<'a>>,
    /// Whether `*` binds the crawler here, if no group names it.
    pub is_bound_by_star: bool,
}

/// The requests of the crawler in the hours of the span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Counts {
    /// All requests.
    pub requests: u64,
    /// The violations among them.
    pub violations: u64,
    /// The violations that are counted alone: there were more of a kind than are recorded.
    pub folded: u64,
    /// The violations that are counted alone, because records found no room.
    pub dropped: u64,
}
