//! `fetches.json`: the crawler's fetches of robots.txt.

use serde::{Deserialize, Serialize};

use crate::records::record::Fetch;

use super::window::Time;

/// The fetches of one site's robots.txt from one network, as far as they are kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Row {
    pub(super) site: String,
    /// The name under which the crawler fetched.
    pub(super) product_token: String,
    pub(super) network: String,
    pub(super) standing: String,
    /// The edition of the last fetch.
    pub(super) edition: String,
    pub(super) first: Time,
    pub(super) last: Time,
    pub(super) count: u64,
    /// The usual time between two fetches, in seconds.
    pub(super) interval: Option<u64>,
}

impl Row {
    pub(super) fn of(fetch: &Fetch) -> Self {
        Self {
            site: fetch.site.to_string(),
            product_token: fetch.product_token.to_string(),
            network: fetch.network.to_string(),
            standing: fetch.standing.to_string(),
            edition: fetch.edition.to_string(),
            first: Time(fetch.first),
            last: Time(fetch.last),
            count: fetch.count,
            interval: fetch.interval.map(|interval| interval.as_secs()),
        }
    }
}

/// The fetches of these sites under any of the names, in the order of their last time.
pub(super) fn rows(fetches: &[Fetch], sites: &[&str], names: &[String]) -> Vec<Row> {
    let is_name =
        |fetch: &Fetch| names.iter().any(|name| name.eq_ignore_ascii_case(&fetch.product_token));
    let is_site = |fetch: &Fetch| sites.iter().any(|site| fetch.site.eq_ignore_ascii_case(site));
    let wanted = fetches.iter().filter(|fetch| is_site(fetch) && is_name(fetch));
    let mut rows: Vec<Row> = wanted.map(Row::of).collect();
    rows.sort_by(|a, b| (a.last, &a.site, &a.network).cmp(&(b.last, &b.site, &b.network)));
    rows
}
