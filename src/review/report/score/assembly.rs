//! A scorecard, made of the answers of the database.

use super::{
    answers::Answers,
    model::Score,
    reading::{following, reading},
};
use crate::{
    records::counts::Counted,
    review::report::{Axis, Count, Tally},
    rules::crawlers::Catalogue,
};

impl<'c> Score<'c> {
    /// The scorecard of these answers.
    pub(crate) fn of(answers: &Answers, catalogue: &'c Catalogue) -> Self {
        let Answers { span, site, product_token, now, before, impostors, hours, .. } = answers;
        let first_counts = answers.first_counts;
        let axis = Axis::of(span, first_counts);
        let mut bars = vec![Count::default(); axis.count()];
        let mut busiest = None;
        for counted in hours {
            let Some(hour) = counted.key.first().and_then(|hour| hour.parse().ok()) else {
                continue;
            };
            if let Some(bar) = axis.bar(hour).and_then(|bar| bars.get_mut(bar)) {
                *bar += counted.into();
            }
            if busiest.is_none_or(|(_, most)| counted.requests > most) {
                busiest = Some((hour, counted.requests));
            }
        }
        Self {
            span: *span,
            site: site.clone(),
            product_token: product_token.clone(),
            entry: catalogue.find(product_token),
            now: tally(now),
            before: tally(before),
            impostors: *impostors,
            is_compared: span.is_compared(first_counts),
            busiest,
            reading: reading(answers),
            following: following(answers),
            axis,
            bars,
        }
    }
}

fn tally(counted: &[Counted]) -> Tally {
    let mut tally = Tally::default();
    counted.iter().for_each(|one| tally.add(one));
    tally
}
