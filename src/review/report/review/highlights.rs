//! What stands out in a review.

use std::cmp::{Ordering, Reverse};

use super::model::{CrawlerRow, NO_NAME, Review};
use crate::{records::tally::Claimant, review::report::Tally, rules::crawlers::Class};

/// A crawler with fewer judged requests is not compared by its behaviour.
pub(super) const LEAST_JUDGED: u64 = 100;
/// The crawlers that behave best break the rules with one request in this number at most.
const BEST: u64 = 20;
/// The most crawlers of each kind that stand out.
const MOST: usize = 5;

impl<'c> Review<'c> {
    /// Crawlers with violations now and none in the span before, most first.
    pub(crate) fn new_offenders(&self) -> Vec<&CrawlerRow<'c>> {
        let is_new =
            |row: &&CrawlerRow<'_>| row.now.all.violations > 0 && row.before.all.violations == 0;
        self.own().filter(|_| self.is_compared).filter(is_new).collect()
    }

    /// The crawler whose number of violations changed most, up or down.
    pub(crate) fn biggest_change(&self) -> Option<&CrawlerRow<'c>> {
        let change =
            |row: &&CrawlerRow<'_>| row.now.all.violations.abs_diff(row.before.all.violations);
        let changing = self.own().filter(|_| self.is_compared);
        // Of equal changes, the first one: with more violations now.
        changing.filter(|row| change(row) > 0).rev().max_by_key(change)
    }

    /// The crawlers that keep to the rules best: the lowest share of requests that the rules
    /// disallow or that came too soon, then the most requests.
    pub(crate) fn best_behaved(&self) -> Vec<&CrawlerRow<'c>> {
        let is_crawler = |row: &&CrawlerRow<'_>| {
            let class = row.now.class();
            class.is_some_and(|class| class.as_str() == Class::Crawler.as_str())
                && row.product_token != NO_NAME
                && row.now.judged >= LEAST_JUDGED
                && row.now.broken <= row.now.judged / BEST
        };
        let mut rows: Vec<_> = self.own().filter(is_crawler).collect();
        rows.sort_by(|a, b| {
            by_share(&a.now, &b.now).then(Reverse(a.now.judged).cmp(&Reverse(b.now.judged)))
        });
        rows.truncate(MOST);
        rows
    }

    /// The crawlers without their impostors.
    fn own(&self) -> impl DoubleEndedIterator<Item = &CrawlerRow<'c>> {
        self.crawlers.iter().filter(|row| row.claimant == Claimant::Crawler)
    }
}

/// Compares the shares of broken rules exactly.
fn by_share(a: &Tally, b: &Tally) -> Ordering {
    let product = |broken: u64, judged: u64| u128::from(broken) * u128::from(judged);
    product(a.broken, b.judged).cmp(&product(b.broken, a.judged))
}
