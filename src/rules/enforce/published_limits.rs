//! The limits of the operator that robots.txt says: `Crawl-delay` and `Request-rate`.
//!
//! A crawler reads one group. So each group says the strictest limit that counts its crawlers. A crawler
//! that only a limit names gets a group with the rules that bind it without one. A group with a
//! `Crawl-delay` or `Request-rate` of its own keeps it. Crawlers that ignore `Crawl-delay` get no group
//! for it.

use std::collections::BTreeSet;

use crate::{
    base::product_token::ProductToken,
    formats::robots::{self, Group, Record},
    rules::{
        crawlers::{Catalogue, CrawlDelay, Kind, Name},
        policy::{Enforcement, RateLimit},
    },
};

use super::{
    group_lines::{self, Lines},
    limits::counts,
};

/// An arranged file with the published limits. A file that would be longer than crawlers have to read has
/// none of them.
pub fn publish_limits(
    merged: robots::Merged,
    enforcement: &Enforcement,
    catalogue: &Catalogue,
) -> robots::Merged {
    let limits = enforcement.rate_limits.iter().filter(|limit| limit.is_published);
    let limits = Limits { enforcement, catalogue, published: limits.collect() };
    if limits.published.is_empty() {
        return merged;
    }
    group_lines::add(merged, &limits, &enforcement.star_binds, catalogue)
}

struct Limits<'a> {
    enforcement: &'a Enforcement,
    catalogue: &'a Catalogue,
    published: Vec<&'a RateLimit>,
}

impl Lines for Limits<'_> {
    fn tokens(&self) -> BTreeSet<&str> {
        self.published.iter().flat_map(|one| one.tokens.iter().map(ProductToken::as_str)).collect()
    }

    fn passes_over(&self, name: Name<'_>) -> bool {
        name.known().is_some_and(|crawler| {
            crawler.kind() == Kind::Control
                || crawler.entry.honours.crawl_delay == Some(CrawlDelay::No)
        })
    }

    fn is_kept(&self, group: &Group) -> bool {
        group.records.iter().any(is_pace)
    }

    /// The lines of the strictest limit that counts a name.
    fn lines(&self, name: &str) -> Vec<Record> {
        let name = name.trim();
        let token = ProductToken::new(name);
        let is_counted = |limit: &&&RateLimit| match &token {
            _ if name == "*" => limit.all,
            Some(token) => {
                let known = self.catalogue.find(token.as_str());
                let name = known.map_or(Name::Site(token), Name::Known);
                counts(limit, &self.enforcement.star_binds, name)
            }
            None => false,
        };
        let strictest = self.published.iter().filter(is_counted).reduce(|so_far, one| {
            let is_stricter = matches!((one.pace, so_far.pace), (Some(one), Some(so_far)) if one.is_stricter_than(so_far));
            if is_stricter { one } else { so_far }
        });
        strictest.map(|limit| limit.records()).unwrap_or_default()
    }
}

/// Whether a record sets a pace, or says that there is none.
fn is_pace(record: &Record) -> bool {
    ["crawl-delay", "request-rate"].iter().any(|name| record.name.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests;
