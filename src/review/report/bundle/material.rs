//! The facts that a bundle is made of.

use jiff::Timestamp;

use crate::{
    records::{
        record::{ClockLeap, Edition, Fetch, Violation},
        tally::Claimant,
    },
    rules::{crawlers::Crawler, enforce::Stay, policy},
};

/// The most records in a bundle; the latest count.
pub(crate) const MAX_RECORDS: usize = 100_000;

/// What a bundle is about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) product_token: &'a str,
    /// The only site, as records have it.
    pub(crate) site: Option<&'a str>,
    /// Whether it is about the crawler or about its impostors.
    pub(crate) claimant: Claimant,
    pub(crate) since: Timestamp,
    pub(crate) until: Timestamp,
    /// The time at which the bundle is made.
    pub(crate) made: Timestamp,
}

/// The facts that a bundle is made of.
#[derive(Debug)]
pub(crate) struct Material<'a> {
    pub(crate) wanted: &'a Wanted<'a>,
    /// The catalogue's entry, if there is one.
    pub(crate) crawler: Option<&'a Crawler>,
    /// The records of the span, in the order of writing.
    pub(crate) records: Vec<Violation>,
    /// Whether earlier records of the span are left out, because there are too many.
    pub(crate) is_cut: bool,
    /// The counts by hour of the span; `None` where the database has none.
    pub(crate) counts: Option<Counts>,
    pub(crate) sites: Vec<Served<'a>>,
    /// The editions of all sites, one for each period in force.
    pub(crate) editions: Vec<Edition>,
    /// The fetches of robots.txt.
    pub(crate) fetches: Vec<Fetch>,
    pub(crate) leaps: Vec<ClockLeap>,
}

/// A site of the policy.
#[derive(Debug)]
pub(crate) struct Served<'a> {
    pub(crate) site: &'a policy::Site,
    /// The sites that its hosts belonged to before.
    pub(crate) inherited: Vec<Stay<'a>>,
    /// Whether `*` binds the crawler here, if no group names it.
    pub(crate) is_bound_by_star: bool,
}

/// The requests of the crawler in the hours of the span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Counts {
    pub(crate) requests: u64,
    pub(crate) violations: u64,
    /// The violations that are counted alone: there were more of a kind than are recorded.
    pub(crate) folded: u64,
    /// The violations that are counted alone, because records found no room.
    pub(crate) dropped: u64,
}
