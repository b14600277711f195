//! Violations, page by page and one by one, newest first; all of a filter as a stream, in the order of writing, as
//! the command line prints them.
//!
//! Of a stream, a page of records is read at a time, away from the runtime, and no question stays open meanwhile:
//! a slow reader holds neither memory nor the database. An export ends with the last record that was
//! there at its start. One that fails midway ends without the end of its body.

use std::{future::ready, io};

use axum::{
    body::Body,
    http::{HeaderValue, header},
    response::Response,
};
use futures_util::{StreamExt, stream};
use serde_json::json;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::{
    inquiry::{Inquiry, json, of_type},
    query::Cursor,
};
use crate::{
    desk::admin::problem::{Kind, Problem},
    records::{
        record::{Error, Filter, REASONS, Violation, csv},
        tally::Claimant,
        violations::{Store, jsonl},
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
            Err(Problem::new(Kind::NOT_FOUND, format!("no record with the id {id}: {why}")))
        }
    }
}

fn filter(inquiry: &Inquiry, store: &Store) -> Result<Filter, Problem> {
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

const AT_ONCE: usize = 500;

/// The most exports at a time; each holds a connection of the listener.
const MOST_EXPORTS: usize = 8;
static EXPORTS: Semaphore = Semaphore::const_new(MOST_EXPORTS);

type Push = fn(&mut Vec<u8>, &Violation);

pub(super) fn json_lines(inquiry: &Inquiry) -> Result<Response, Problem> {
    let name = HeaderValue::from_static("attachment; filename=\"violations.jsonl\"");
    export(inquiry, Vec::new(), jsonl::push, "application/jsonl", name)
}

pub(super) fn csv(inquiry: &Inquiry) -> Result<Response, Problem> {
    let name = HeaderValue::from_static("attachment; filename=\"violations.csv\"");
    let mut heading = Vec::new();
    csv::push_row(&mut heading, csv::fields());
    export(inquiry, heading, csv::push, "text/csv; charset=utf-8; header=present", name)
}

fn export(
    inquiry: &Inquiry,
    heading: Vec<u8>,
    push: Push,
    media_type: &'static str,
    name: HeaderValue,
) -> Result<Response, Problem> {
    let slot = EXPORTS.try_acquire().map_err(|_| {
        let detail = format!("{MOST_EXPORTS} exports run at a time (try again after one ended)");
        Problem::new(Kind::BUSY, detail)
    })?;
    let store = inquiry.store()?;
    let filter = filter(inquiry, &store)?;
    // What is written from now on belongs to the next export.
    let end = store.query(&Filter { limit: Some(0), ..Filter::default() })?.end;
    let filter = Filter {
        limit: Some(AT_ONCE),
        after_sequence: Some(0),
        before_sequence: Some(end.saturating_add(1)),
        ..filter
    };
    let mut pages = Pages { store, filter, push, is_over: false, _slot: slot };
    // A database that can't be read is a problem with a status, as long as nothing is sent.
    let first = pages.next(heading)?;
    let rest = stream::try_unfold(pages, next_page);
    let body = Body::from_stream(stream::once(ready(Ok(first))).chain(rest));
    let mut response = of_type(media_type, body);
    response.headers_mut().insert(header::CONTENT_DISPOSITION, name);
    Ok(response)
}

struct Pages {
    store: Store,
    filter: Filter,
    push: Push,
    is_over: bool,
    _slot: SemaphorePermit<'static>,
}

impl Pages {
    /// The lines of the next page, behind those that are there.
    fn next(&mut self, mut lines: Vec<u8>) -> Result<Vec<u8>, Error> {
        let listing = self.store.query(&self.filter)?;
        for (_, violation) in &listing.records {
            (self.push)(&mut lines, violation);
        }
        self.is_over = listing.records.len() < AT_ONCE;
        self.filter.after_sequence = Some(listing.end);
        Ok(lines)
    }
}

/// The lines of the next page; `None` after the last one. After an error the body breaks off: a
/// client must not take it for whole.
async fn next_page(mut pages: Pages) -> io::Result<Option<(Vec<u8>, Pages)>> {
    if pages.is_over {
        return Ok(None);
    }
    let read = tokio::task::spawn_blocking(move || {
        let lines = pages.next(Vec::new());
        (pages, lines)
    });
    match read.await? {
        (pages, Ok(lines)) => Ok(Some((lines, pages))),
        (_, Err(error)) => {
            tracing::warn!(code = error.code(), %error, "export of violations ended early");
            Err(io::Error::other(error))
        }
    }
}
