//! The rows of crawlers.

use std::{cmp::Reverse, collections::HashMap};

use super::{
    answers::Answers,
    model::{CrawlerRow, NO_NAME},
};
use crate::{
    base::text::Text,
    records::{counts::Counted, tally::Claimant},
    review::report::{Axis, Tally},
    rules::crawlers::Catalogue,
};

/// One row for each product token, whatever its case, and one for its impostors; most violations first,
/// then most requests.
pub(super) fn crawlers<'c>(
    answers: &Answers,
    catalogue: &'c Catalogue,
    axis: Axis,
) -> Vec<CrawlerRow<'c>> {
    let mut rows: HashMap<(String, Claimant), CrawlerRow<'c>> = HashMap::new();
    // The standing comes third, in `TALLIED_BY` and in the counts over time.
    let mut of = |counted: &Counted, add: &dyn Fn(&mut CrawlerRow<'c>)| {
        let claimant = Claimant::of(counted.key.get(2).map_or("", Text::as_str));
        let token = match counted.key.first() {
            Some(token) if !token.is_empty() => token,
            _ => &NO_NAME,
        };
        let key = (token.to_ascii_lowercase(), claimant);
        add(rows.entry(key).or_insert_with(|| row((token, claimant), catalogue, axis)));
    };
    for counted in &answers.now.crawlers {
        of(counted, &|row| row.now.add(counted));
    }
    for counted in &answers.before.crawlers {
        of(counted, &|row| row.before.add(counted));
    }
    for counted in &answers.times {
        let time = counted.key.get(1).and_then(|time| time.parse().ok());
        of(counted, &|row| {
            if let Some(bar) = time.and_then(|time| row.bars.get_mut(axis.bar(time)?)) {
                *bar += counted.violations;
            }
        });
    }
    let mut rows: Vec<_> = rows.into_values().collect();
    let order = |row: &CrawlerRow<'_>| {
        let (now, before) = (row.now.all, row.before.all);
        let numbers = [now.violations, now.requests, before.violations, before.requests];
        (Reverse(numbers), row.product_token.clone(), row.claimant)
    };
    rows.sort_by_cached_key(order);
    rows
}

fn row<'c>(
    (token, claimant): (&Text, Claimant),
    catalogue: &'c Catalogue,
    axis: Axis,
) -> CrawlerRow<'c> {
    let entry = catalogue.find(token).filter(|_| *token != NO_NAME);
    let own = entry.map(|entry| entry.product_token().as_str());
    let spelling = own.filter(|own| own.eq_ignore_ascii_case(token));
    CrawlerRow {
        product_token: spelling.map_or_else(|| token.clone(), Text::from),
        claimant,
        entry,
        now: Tally::default(),
        before: Tally::default(),
        bars: vec![0; axis.count()],
    }
}
