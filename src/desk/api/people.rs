//! People: one number for each site and hour, and the visits that operators of crawlers sent.

use axum::response::Response;
use serde_json::json;

use super::{
    answer::json,
    counts::{DAY, HOUR, Row, by},
    inquiry::{Inquiry, text_of},
};
use crate::{
    desk::admin::problem::Problem,
    records::counts::{Dimension, Question},
};

pub(super) const DIMENSIONS: [(&str, Dimension); 3] = [("site", Dimension::Site), HOUR, DAY];

pub(super) fn people(inquiry: &Inquiry) -> Result<Response, Problem> {
    let by = by(inquiry, &DIMENSIONS)?;
    let (span, store) = (inquiry.span()?, inquiry.store()?);
    let question = Question {
        by: by.iter().map(|(_, dimension)| *dimension).collect(),
        site: inquiry.site(&store)?,
        ..span.question()
    };
    let people = store.people(&question)?;
    let people = people.iter().map(|one| Row {
        by: &by,
        key: &one.key,
        numbers: [("requests", one.requests)],
    });
    json(&json!({
        "from": text_of(span.from),
        "until": text_of(span.until),
        "people": people.collect::<Vec<_>>(),
    }))
}

pub(super) fn referrals(inquiry: &Inquiry) -> Result<Response, Problem> {
    let (span, store) = (inquiry.span()?, inquiry.store()?);
    let question = Question { site: inquiry.site(&store)?, ..span.question() };
    let rows = store
        .referrals(&question)?
        .into_iter()
        .map(|one| json!({ "operator": one.operator, "site": one.site, "visits": one.visits }));
    json(&json!({
        "from": text_of(span.from),
        "until": text_of(span.until),
        "referrals": rows.collect::<Vec<_>>(),
    }))
}
