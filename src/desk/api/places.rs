//! The paths that violations went to, and the networks that they came from.

use std::{cmp::Reverse, collections::HashMap};

use axum::response::Response;
use serde_json::json;

use super::{
    answer::json,
    inquiry::{Inquiry, text_of},
};
use crate::{
    base::text::Text,
    desk::admin::problem::Problem,
    records::{
        counts::{Place, Question},
        tally::{Claimant, PlaceKind},
    },
    review::report::terms::counted_spellings,
};

pub(super) const PARAMETERS: [&str; 5] = ["site", "crawler", "since", "until", "limit"];

/// The places of an answer: usually, and at most.
const PLACES: (usize, usize) = (100, 1_000);

pub(super) fn paths(inquiry: &Inquiry) -> Result<Response, Problem> {
    places(inquiry, PlaceKind::Path, ("path", "paths"))
}

pub(super) fn networks(inquiry: &Inquiry) -> Result<Response, Problem> {
    places(inquiry, PlaceKind::Network, ("network", "networks"))
}

/// The places of a kind with the most violations, most first, by its names for one and for several.
fn places(
    inquiry: &Inquiry,
    kind: PlaceKind,
    (one, several): (&str, &str),
) -> Result<Response, Problem> {
    let limit = inquiry.query.number("limit", PLACES.0, 1..=PLACES.1)?;
    let (span, store) = (inquiry.span()?, inquiry.store()?);
    let crawler = inquiry.crawler(&store)?;
    // The places of a crawler are without those of its impostors.
    let claimant = crawler.is_some().then_some(Claimant::Crawler);
    let question = Question { site: inquiry.site(&store)?, claimant, ..span.question() };
    let spellings = counted_spellings(crawler);
    // Only of one spelling the first ones are the first of all.
    let most = if spellings.len() == 1 { limit + 1 } else { usize::MAX };
    let mut sums: HashMap<Text, u64> = HashMap::new();
    for product_token in spellings {
        let question = Question { product_token, ..question.clone() };
        for Place { key, violations } in store.places(kind, &question, most)? {
            *sums.entry(key).or_default() += violations;
        }
    }
    let mut places: Vec<(Text, u64)> = sums.into_iter().collect();
    places.sort_by(|(a, one), (b, other)| (Reverse(one), &**a).cmp(&(Reverse(other), &**b)));
    let shown = places.iter().take(limit);
    let shown = shown.map(|(key, violations)| json!({ one: key, "violations": violations }));
    json(&json!({
        "from": text_of(span.from),
        "until": text_of(span.until),
        several: shown.collect::<Vec<_>>(),
        "more": places.len() > limit,
    }))
}
