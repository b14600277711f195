//! All violations of a filter as a stream, in the order of writing, as the command line prints them.
//!
//! A page of records is read at a time, away from the runtime, and no question stays open meanwhile:
//! a slow reader holds neither memory nor the database. An export ends with the last record that was
//! there at its start. One that fails midway ends without the end of its body.

use std::{future::ready, io};

use axum::{
    body::Body,
    http::{HeaderValue, header},
    response::Response,
};
use futures_util::{StreamExt, stream};
use tokio::sync::{Semaphore, SemaphorePermit};

use super::{answer::of_type, inquiry::Inquiry, records::filter};
use crate::{
    desk::admin::problem::{Kind, Problem},
    records::{
        record::{Error, Filter, Violation, csv},
        violations::{Store, jsonl},
    },
};

/// The records that are read at a time.
const PAGE: usize = 500;

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
        Problem::new(Kind::Busy, detail)
    })?;
    let store = inquiry.store()?;
    let filter = filter(inquiry, &store)?;
    // What is written from now on belongs to the next export.
    let end = store.query(&Filter { limit: Some(0), ..Filter::default() })?.end;
    let filter = Filter {
        limit: Some(PAGE),
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
        self.is_over = listing.records.len() < PAGE;
        self.filter.after_sequence = Some(listing.end);
        Ok(lines)
    }
}

/// The lines of the next page; `None` after the last one. After an error the body breaks off, so that
/// nobody takes it for whole.
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
