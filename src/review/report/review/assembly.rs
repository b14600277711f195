//! A review, made of the answers of the database.

use super::{
    answers::Answers,
    crawler_rows::crawlers,
    model::Review,
    table_rows::{days, operators, paths, rules},
};
use crate::{
    review::report::{Axis, Count, Tally},
    rules::crawlers::Catalogue,
};

impl<'c> Review<'c> {
    /// The review of these answers. Operators are those of the catalogue.
    pub(crate) fn of(answers: &Answers, catalogue: &'c Catalogue) -> Self {
        let Answers { span, site, now, before, times, first_counts } = answers;
        let axis = Axis::of(span, *first_counts);
        let crawlers = crawlers(answers, catalogue, axis);
        let mut bars = vec![Count::default(); axis.count()];
        for counted in times {
            let time = counted.key.get(1).and_then(|time| time.parse().ok());
            if let Some(bar) = time.and_then(|time| bars.get_mut(axis.bar(time)?)) {
                *bar += counted.into();
            }
        }
        Self {
            span: *span,
            site: site.clone(),
            is_compared: span.is_compared(*first_counts),
            first_counts: first_counts.filter(|first| *first > span.before),
            total: Tally::of(&now.crawlers),
            total_before: Tally::of(&before.crawlers),
            people: (now.people, before.people),
            rules: rules(&now.rules, &before.rules),
            paths: paths(&now.paths, &before.paths),
            days: days(span, *first_counts, times),
            operators: operators(&crawlers, &now.referrals, &before.referrals),
            crawlers,
            axis,
            bars,
        }
    }
}
