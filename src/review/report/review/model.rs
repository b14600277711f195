//! The facts of a review, and what stands out in them.

use std::{
    cmp::{Ordering, Reverse},
    collections::BTreeMap,
};

use jiff::Timestamp;

use crate::{
    base::text::Text,
    records::tally::Claimant,
    review::report::{Axis, Count, Span, Tally},
    rules::crawlers::{Class, Crawler},
};

/// The product token of clients without a name, as in records.
pub(super) const NO_NAME: Text = Text::word("-");

/// What crawlers did in a span, and in the one before.
#[derive(Clone, Debug)]
pub(crate) struct Review<'c> {
    pub(crate) span: Span,
    pub(crate) site: Option<String>,
    /// Whether anything was counted in the span before; else nothing is compared.
    pub(crate) is_compared: bool,
    /// The start of the first day with counts, if the span before began earlier.
    pub(crate) first_counts: Option<Timestamp>,
    pub(crate) total: Tally,
    pub(crate) total_before: Tally,
    /// The requests of people: now, and before.
    pub(crate) people: (u64, u64),
    /// Crawlers and other programs, most violations first, then most requests.
    pub(crate) crawlers: Vec<CrawlerRow<'c>>,
    /// Rules that were broken now or before, most violations first.
    pub(crate) rules: Vec<RuleRow>,
    pub(crate) paths: Vec<PathRow>,
    /// The requests of each day within the span, by its start in UTC.
    pub(crate) days: BTreeMap<Timestamp, Count>,
    pub(crate) axis: Axis,
    pub(crate) bars: Vec<Count>,
    /// Operators of crawlers, most requests first.
    pub(crate) operators: Vec<OperatorRow>,
}

/// A crawler or another program, or the impostors of a crawler.
#[derive(Clone, Debug)]
pub(crate) struct CrawlerRow<'c> {
    /// The product token; `-` is a client without a name.
    pub(crate) product_token: Text,
    /// Who the requests count for: the crawler, or its impostors.
    pub(crate) claimant: Claimant,
    pub(crate) entry: Option<&'c Crawler>,
    pub(crate) now: Tally,
    pub(crate) before: Tally,
    /// Violations for each bar of [`Review::axis`].
    pub(crate) bars: Vec<u64>,
}

/// A rule of a site, or the reason of violations where no rule is broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RuleRow {
    pub(crate) site: Text,
    /// The directive; empty where no rule is broken.
    pub(crate) directive: Text,
    pub(crate) pattern: Text,
    /// The line, if it was the same in all editions.
    pub(crate) line: Option<u32>,
    /// The code of the reason, where no rule is broken.
    pub(crate) reason: Option<Text>,
    /// Requests that the rule decided, and the violations among them.
    pub(crate) now: Count,
    pub(crate) before: Count,
}

/// A path that violations went to, without its query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathRow {
    /// The path; `…` stands for those beyond the limit of an hour.
    pub(crate) path: Text,
    pub(crate) now: u64,
    /// Violations in the span before; `None` if there were too many paths to tell.
    pub(crate) before: Option<u64>,
}

/// What an operator of crawlers took and gave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Exchange {
    /// Requests of its crawlers, without those that evidence contradicted.
    pub(crate) requests: u64,
    pub(crate) visits: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OperatorRow {
    pub(crate) operator: String,
    pub(crate) now: Exchange,
    pub(crate) before: Exchange,
}

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

    fn own(&self) -> impl DoubleEndedIterator<Item = &CrawlerRow<'c>> {
        self.crawlers.iter().filter(|row| row.claimant == Claimant::Crawler)
    }
}

/// Compares the shares of broken rules exactly.
fn by_share(a: &Tally, b: &Tally) -> Ordering {
    let product = |broken: u64, judged: u64| u128::from(broken) * u128::from(judged);
    product(a.broken, b.judged).cmp(&product(b.broken, a.judged))
}
