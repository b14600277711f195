//! Violations, page by page and one by one, newest first.

use axum::response::Response;
use serde_json::json;

use super::{answer::json, cursor::Cursor, inquiry::Inquiry};
use crate::{
    desk::admin::problem::{Kind, Problem},
    records::{
        record::{Filter, REASONS, Violation},
        tally::Claimant,
        violations::Store,
    },
    review::report::terms::{self, id},
};

/// The records on a page: usually, and at most.
const PAGE: (usize, usize) = (100, 1_000);

/// The actions that leave a record.
const ACTIONS: [&str; 3] = ["log", "throttle", "block"];

pub(super) fn page(inquiry: &Inquiry) -> Result<Response, Problem> {
    let limit = inquiry.query.number("limit", PAGE.0, 1..=PAGE.1)?;
    let cursor = Cursor::read(&inquiry.query)?;
    let store = inquiry.store()?;
    let mut filter = filter(inquiry, &store)?;
    if let Some(Cursor { before, since, until }) = cursor {
        filter = Filter { before_sequence: Some(before), since, until, ..filter };
    }
    // One more than the page has tells whether there are older ones.
    filter.limit = Some(limit + 1);
    let listing = store.query(&filter)?;
    let has_older = listing.records.len() > limit;
    let shown = listing.records.get(usize::from(has_older)..).unwrap_or_default();
    let first = shown.first().filter(|_| has_older);
    let next = first.map(|(sequence, _)| {
        let Filter { since, until, .. } = filter;
        Cursor { before: *sequence, since, until }.text(&inquiry.query)
    });
    let violations: Vec<&Violation> = shown.iter().rev().map(|(_, violation)| violation).collect();
    json(&json!({ "violations": violations, "next": next }))
}

pub(super) fn one(inquiry: &Inquiry) -> Result<Response, Problem> {
    let id = id::read(inquiry.part(0)).map_err(Problem::of_path)?;
    let filter = Filter { id: Some(id.clone()), limit: Some(1), ..Filter::default() };
    match inquiry.store()?.query(&filter)?.records.first() {
        Some((_, violation)) => json(violation),
        None => {
            let why = id::absence(&id, Some(inquiry.view.retention), inquiry.now);
            Err(Problem::new(Kind::NotFound, format!("no record with the id {id}: {why}")))
        }
    }
}

pub(super) fn filter(inquiry: &Inquiry, store: &Store) -> Result<Filter, Problem> {
    let (since, until) = inquiry.times()?;
    let claimant = inquiry.query.word("impostors", &Claimant::WORDS)?;
    Ok(Filter {
        rule: inquiry.read("rule", terms::rule)?,
        site: inquiry.site(store)?,
        product_token: inquiry.crawler(store)?,
        purpose: inquiry.purpose(store)?,
        path: inquiry.read("path", terms::pattern)?,
        exact_path: inquiry.query.text("exact_path").map(str::to_owned),
        claimant: claimant.as_deref().and_then(Claimant::of_word),
        action: inquiry.query.word("action", &ACTIONS)?,
        reason: inquiry.query.word("reason", &REASONS)?,
        since,
        until,
        ..Filter::default()
    })
}
